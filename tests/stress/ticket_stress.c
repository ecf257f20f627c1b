/* SPDX-License-Identifier: MIT */
/*
 * ticket_stress.c - tickets taken, waited for, dropped and hung with tasks by
 * tasks and plain threads at the same time.
 *
 * Tickets live on stacks and in memory that is freed as soon as the rules allow.
 * Whatever is done while a ticket is called is plain: two called at a time would
 * be a race, which ThreadSanitizer sees, and a count that does not match.
 */
#include "stress/stress.h"

#include <stdlib.h>

#define NR_TASKS 8
#define NR_THREADS 2

struct scene {
	struct sley_ticket_queue *queue;
	uint64_t turns; /* plain: by whose ticket is called */
	atomic_uint_least64_t nr_turns;
	atomic_bool over;
};

static void take_turn(struct scene *s)
{
	s->turns++;
	atomic_fetch_add(&s->nr_turns, 1);
}

/* ---- on the stack ---------------------------------------------------------- */

static void use_one(struct scene *s)
{
	struct sley_ticket ticket;

	sley_ticket_take(s->queue, &ticket);
	dawdle();
	if (one_in(8)) {
		sley_ticket_done(&ticket); /* out of order */
		return;
	}
	if (one_in(4)) {
		if (sley_ticket_wait_until(&ticket, soon()) == 0)
			take_turn(s);
	} else {
		CHECK_EQ(sley_ticket_wait(&ticket), 0);
		take_turn(s);
	}
	sley_ticket_done(&ticket);
	memset((void *)&ticket, 0xff, sizeof(ticket));
}

static void use_three(struct scene *s)
{
	struct sley_ticket ticket[3];

	sley_ticket_take_n(s->queue, ticket, 3);
	dawdle();
	sley_ticket_done(&ticket[1]);
	CHECK_EQ(sley_ticket_wait(&ticket[0]), 0);
	take_turn(s);
	CHECK(sley_ticket_unref(&ticket[0]));
	/* It may be called already: the one between is done. */
	CHECK_EQ(sley_ticket_wait(&ticket[2]), 0);
	take_turn(s);
	CHECK(sley_ticket_unref(&ticket[2]));
	memset((void *)ticket, 0xff, sizeof(ticket));
}

/* ---- tasks that are hung on ------------------------------------------------- */

struct hung {
	struct scene *scene;
	struct sley_ticket ticket[2];
	struct sley_task task[3];
	int nr; /* plain: they run one after the other */
};

static void one_of_several(void *arg)
{
	struct hung *h = arg;

	h->nr++;
	dawdle();
	take_turn(h->scene);
}

static void the_last(void *arg)
{
	struct hung *h = arg;

	h->nr++;
	take_turn(h->scene);
	sley_ticket_done(&h->ticket[1]);
}

/* The first ticket holds the second back until three are hung on. */
static void hang_three(struct scene *s)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct hung h = { .scene = s };
	bool cancels = one_in(4);

	sley_ticket_take_n(s->queue, h.ticket, 2);
	sley_ticket_on_call(&h.ticket[1], &group, &h.task[0], one_of_several,
			    &h);
	sley_ticket_on_call(&h.ticket[1], &group, &h.task[1], one_of_several,
			    &h);
	sley_ticket_on_call(&h.ticket[1], &group, &h.task[2], the_last, &h);
	if (cancels)
		sley_cancel(&h.task[test_random(2)]);
	CHECK_EQ(sley_ticket_wait(&h.ticket[0]), 0);
	take_turn(s);
	sley_ticket_done(&h.ticket[0]);
	sley_join(&group);
	CHECK_EQ(h.nr, cancels ? 2 : 3);
	memset((void *)&h, 0xff, sizeof(h));
}

/* It may be called at any moment. */
static void hang_one(struct scene *s)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct hung h = { .scene = s };

	sley_ticket_take(s->queue, &h.ticket[1]);
	dawdle();
	sley_ticket_on_call(&h.ticket[1], &group, &h.task[0], the_last, &h);
	sley_join(&group);
	CHECK_EQ(h.nr, 1);
	memset((void *)&h, 0xff, sizeof(h));
}

/* ---- all at once ------------------------------------------------------------- */

static void use_tickets(void *arg)
{
	struct scene *s = arg;

	while (!atomic_load(&s->over)) {
		switch (test_random(4)) {
		case 0:
			use_one(s);
			break;
		case 1:
			use_three(s);
			break;
		case 2:
			hang_three(s);
			break;
		default:
			hang_one(s);
			break;
		}
	}
}

static void *use_tickets_in_thread(void *arg)
{
	struct scene *s = arg;

	while (!atomic_load(&s->over)) {
		if (one_in(2))
			use_one(s);
		else
			use_three(s);
	}
	return NULL;
}

static void stress(const struct sley_config *config)
{
	struct sley *rt = start_with(config);
	struct scene s = { .queue = calloc(1, sizeof(*s.queue)) };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[NR_TASKS];
	pthread_t threads[NR_THREADS];
	uint64_t end = stress_end();

	CHECK(s.queue != NULL);
	for (int i = 0; i < NR_TASKS; i++)
		sley_spawn(&group, &tasks[i], use_tickets, &s);
	for (int i = 0; i < NR_THREADS; i++)
		threads[i] = test_thread(use_tickets_in_thread, &s);
	CHECK_EQ(sley_sleep_until(end), 0);
	atomic_store(&s.over, true);
	sley_join(&group);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(s.turns, s.nr_turns);
	CHECK_GT(s.turns, 0);
	test_count(s.turns);
	CHECK(!s.queue->first);
	free(s.queue);
	stop(rt);
}

TEST(tickets_between_tasks_and_threads)
{
	struct sley_config config = stress_config();

	stress(&config);
}

TEST(tickets_between_tasks_that_move)
{
	struct sley_config config = stress_config_migratable();

	stress(&config);
}

TEST(tickets_in_a_single_threaded_runtime)
{
	struct sley_config config = config_of(SLEY_SINGLE);

	stress(&config);
}
