/* SPDX-License-Identifier: MIT */
/*
 * 08_select.c - one task that waits for several channels at once.
 *
 * The task adds up the numbers that come in and, at the same time, sends the sum so
 * far to the task that asks.
 *
 *   cc 08_select.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>

static struct sley_chan *numbers, *sums;

static void generate(void *arg)
{
	for (long x = 1; x <= *(long *)arg; x++)
		sley_chan_send(numbers, &x);
	sley_chan_close(numbers);
}

static void ask(void *arg)
{
	long sum;

	while (sley_chan_recv(sums, &sum) == 0)
		++*(long *)arg;
}

static void root(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[2];
	long x, last = 1000, asked = 0, *sum = arg;
	struct sley_case cases[] = { SLEY_CASE_RECV(numbers, &x),
				     SLEY_CASE_SEND(sums, sum) };

	sley_spawn(&group, &tasks[0], generate, &last);
	sley_spawn(&group, &tasks[1], ask, &asked);
	while (cases[0].status == 0) /* -EPIPE: closed */
		if (sley_select(cases, 2) == 0 && cases[0].status == 0)
			*sum += x;
	sley_chan_close(sums);
	sley_join(&group);
	printf("asked %ld times; in the end it was %ld\n", asked, *sum);
}

int main(void)
{
	long sum = 0;

	if (sley_chan_create(&numbers, sizeof(long), 0) ||
	    sley_chan_create(&sums, sizeof(long), 0) ||
	    sley_run(NULL, root, &sum))
		return 1;
	sley_chan_destroy(numbers);
	sley_chan_destroy(sums);
	return sum != 500500;
}
