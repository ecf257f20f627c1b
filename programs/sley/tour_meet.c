/* SPDX-License-Identifier: MIT */
/*
 * tour_meet.c - stops of the tour: select, reader-writer lock, tickets, and
 * calls that hold a thread.
 */
#include "tour.h"

#include "screen.h"

#include <sley/sley.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- select ------------------------------------------------------------------- */

#define NR_SENDERS 3
#define NR_VALUES 10000L

struct sender {
	struct sley_task task;
	struct sley_chan *chan;
};

static void send_values(void *arg)
{
	struct sender *sender = arg;

	for (long i = 0; i < NR_VALUES; i++)
		sley_chan_send(sender->chan, &i);
}

/* Receives the values of all senders; returns the sum. */
static long receive_values(struct sender *sender, struct outcome *out)
{
	struct sley_case cases[NR_SENDERS];
	long value[NR_SENDERS], sum = 0;

	for (int i = 0; i < NR_SENDERS; i++)
		cases[i] = (struct sley_case)SLEY_CASE_RECV(sender[i].chan,
							    &value[i]);
	for (long nr = 0; nr < NR_SENDERS * NR_VALUES; nr++) {
		int which = sley_select_until(cases, NR_SENDERS,
					      sley_after(10 * SLEY_SEC));

		if (which < 0) {
			outcome_trouble(out, "select: %s",
					sley_strerror(which));
			break;
		}
		sum += value[which];
	}
	return sum;
}

void tour_select(struct outcome *out)
{
	struct sender sender[NR_SENDERS];
	struct sley_group group = SLEY_GROUP_INIT;
	char each[SCREEN_NUMBER_SIZE];
	long sum;

	for (int i = 0; i < NR_SENDERS; i++) {
		int err = sley_chan_create(&sender[i].chan, sizeof(long), 0);

		if (err) {
			outcome_trouble(out, "channel: %s", sley_strerror(err));
			return;
		}
	}
	outcome_start(out);
	for (int i = 0; i < NR_SENDERS; i++)
		sley_spawn(&group, &sender[i].task, send_values, &sender[i]);
	sum = receive_values(sender, out);
	sley_join(&group);
	outcome_stop(out);
	for (int i = 0; i < NR_SENDERS; i++)
		sley_chan_destroy(sender[i].chan);
	if (sum != NR_SENDERS * NR_VALUES * (NR_VALUES - 1) / 2)
		outcome_trouble(out, "the values add up to %ld", sum);
	outcome_result(out, "%s a value",
		       screen_time(each,
				   outcome_ns(out) / (NR_SENDERS * NR_VALUES)));
}

/* ---- readers and writers ---------------------------------------------------------- */

#define NR_READERS 6
#define NR_WRITERS 2
#define NR_TURNS 5000

struct page {
	struct sley_rwlock lock;
	long left, right; /* always equal */
	atomic_long torn;
};

static void read_page(void *arg)
{
	struct page *page = arg;

	for (int i = 0; i < NR_TURNS; i++) {
		sley_rwlock_read_lock(&page->lock);
		if (page->left != page->right)
			atomic_fetch_add(&page->torn, 1);
		sley_rwlock_read_unlock(&page->lock);
		if (i % 64 == 0)
			sley_yield();
	}
}

static void write_page(void *arg)
{
	struct page *page = arg;

	for (int i = 0; i < NR_TURNS; i++) {
		sley_rwlock_write_lock(&page->lock);
		page->left++;
		page->right++;
		sley_rwlock_write_unlock(&page->lock);
		if (i % 64 == 0)
			sley_yield();
	}
}

void tour_rwlock(struct outcome *out)
{
	struct page page = { .lock = SLEY_RWLOCK_INIT };
	struct sley_task task[NR_READERS + NR_WRITERS];
	struct sley_group group = SLEY_GROUP_INIT;
	char each[SCREEN_NUMBER_SIZE];

	outcome_start(out);
	for (int i = 0; i < NR_READERS + NR_WRITERS; i++)
		sley_spawn(&group, &task[i],
			   i < NR_READERS ? read_page : write_page, &page);
	sley_join(&group);
	outcome_stop(out);
	if (page.torn)
		outcome_trouble(out, "%ld torn reads", (long)page.torn);
	if (page.left != NR_WRITERS * NR_TURNS)
		outcome_trouble(out, "%ld of %d writes", page.left,
				NR_WRITERS * NR_TURNS);
	outcome_result(out, "%s a turn",
		       screen_time(each, outcome_ns(out) /
						 (NR_READERS + NR_WRITERS) /
						 NR_TURNS));
}

/* ---- tickets ------------------------------------------------------------------------ */

#define NR_TICKETS 1000

struct customer {
	struct sley_task task;
	struct sley_ticket ticket;
	int number;
	int *served; /* the number of customers served before */
	bool in_turn;
};

static void be_served(void *arg)
{
	struct customer *customer = arg;

	if (sley_ticket_wait(&customer->ticket) == 0)
		customer->in_turn = *customer->served == customer->number;
	++*customer->served;
	sley_ticket_done(&customer->ticket);
}

void tour_tickets(struct outcome *out)
{
	struct customer *customer = tour_alloc(NR_TICKETS, sizeof(*customer));
	struct sley_ticket_queue queue = SLEY_TICKET_QUEUE_INIT;
	struct sley_group group = SLEY_GROUP_INIT;
	int served = 0, in_turn = 0;

	for (int i = 0; i < NR_TICKETS; i++) {
		customer[i].number = i;
		customer[i].served = &served;
		sley_ticket_take(&queue, &customer[i].ticket);
	}
	outcome_start(out);
	for (int i = NR_TICKETS; i-- > 0;) /* the last customer comes first */
		sley_spawn(&group, &customer[i].task, be_served, &customer[i]);
	sley_join(&group);
	outcome_stop(out);
	for (int i = 0; i < NR_TICKETS; i++)
		in_turn += customer[i].in_turn;
	free(customer);
	if (in_turn != NR_TICKETS)
		outcome_trouble(out, "%d of %d in turn", in_turn, NR_TICKETS);
	outcome_result(out, "all in turn");
}

/* ---- calls that hold a thread --------------------------------------------------------- */

#define NR_CALLS 20
#define CALL_MS 20

static void hold_the_thread(void *arg)
{
	(void)arg;
	usleep(CALL_MS * 1000);
}

static void call_and_wait(void *arg)
{
	atomic_int *nr_made = arg;

	if (sley_blocking_call(hold_the_thread, NULL) == 0)
		atomic_fetch_add(nr_made, 1);
}

void tour_calls(struct outcome *out)
{
	struct sley_task task[NR_CALLS];
	struct sley_group group = SLEY_GROUP_INIT;
	atomic_int nr_made = 0;

	outcome_start(out);
	for (int i = 0; i < NR_CALLS; i++)
		sley_spawn(&group, &task[i], call_and_wait, &nr_made);
	sley_join(&group);
	outcome_stop(out);
	if (nr_made != NR_CALLS)
		outcome_trouble(out, "%d of %d calls were made", (int)nr_made,
				NR_CALLS);
	if (outcome_ns(out) > NR_CALLS * CALL_MS * 1e6)
		outcome_trouble(out, "one call after the other");
	outcome_result(out, "side by side");
}
