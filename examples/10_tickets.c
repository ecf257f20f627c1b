/* SPDX-License-Identifier: MIT */
/*
 * 10_tickets.c - work side by side, results in order.
 *
 * Each task looks for primes in a separate range and then waits for its ticket:
 * ranges are printed in the order in which the tickets were taken.
 *
 *   cc 10_tickets.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>

#define NR_RANGES 20
#define RANGE 10000

static struct range {
	struct sley_ticket ticket;
	struct sley_task task;
} ranges[NR_RANGES];
static int total; /* plain: one ticket is called at a time */

static void search(void *arg)
{
	struct range *r = arg;
	int first = (int)(r - ranges) * RANGE, nr = 0, largest = 0, d;

	for (int n = first < 2 ? 2 : first; n < first + RANGE; n++) {
		for (d = 2; d * d <= n && n % d; d++)
			;
		if (d * d > n) {
			nr++;
			largest = n;
		}
	}
	if (sley_ticket_wait(&r->ticket) == 0)
		printf("%4d primes up to %6d, the largest is %6d\n", nr,
		       first + RANGE, largest);
	total += nr;
	sley_ticket_done(&r->ticket);
}

static void root(void *arg)
{
	struct sley_ticket_queue queue = SLEY_TICKET_QUEUE_INIT;
	struct sley_group group = SLEY_GROUP_INIT;

	(void)arg;
	for (int i = 0; i < NR_RANGES; i++) {
		sley_ticket_take(&queue, &ranges[i].ticket);
		sley_spawn(&group, &ranges[i].task, search, &ranges[i]);
	}
	sley_join(&group);
}

int main(void)
{
	return sley_run(NULL, root, NULL) != 0 || total != 17984;
}
