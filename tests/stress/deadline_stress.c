/* SPDX-License-Identifier: MIT */
/*
 * deadline_stress.c - wakes that come just when a deadline passes.
 *
 * Pairs of tasks and threads: one waits until a point in time, the other sets
 * the event at about the same point.  The wait ends once, as woken or as timed
 * out, and the unit of an automatic event is with the waiter or still in the
 * event, never both and never nowhere.  No deadline fires early.
 */
#include "stress/crowd.h"

#define NR_LOOPS 100
#define NR_PAIRS 8

struct pair {
	struct sley_event event; /* automatic                        */
	atomic_uint_least64_t at_ns;
	atomic_uint_least64_t nr_set;
	uint64_t nr_taken; /* plain: the waiter's                    */
};

struct pairs {
	struct pair pair[NR_PAIRS];
};

static void wait_once(struct pair *pair)
{
	uint64_t at_ns = sley_now() + 1 + test_random(100 * SLEY_USEC);
	int err;

	atomic_store(&pair->at_ns, at_ns);
	err = sley_event_wait_until(&pair->event, at_ns);
	if (err == -ETIMEDOUT)
		CHECK_GE(sley_now(), at_ns);
	else
		CHECK_EQ(err, 0);
	pair->nr_taken += !err;
}

static void sleep_once(void)
{
	uint64_t until_ns = sley_now() + test_random(50 * SLEY_USEC);

	CHECK_EQ(sley_sleep_until(until_ns), 0);
	CHECK_GE(sley_now(), until_ns);
}

/* Even indices wait; the next odd one sets. */
static int meet(void *scene, unsigned int index)
{
	struct pairs *pairs = scene;
	struct pair *pair = &pairs->pair[index / 2];
	uint64_t at_ns = atomic_load(&pair->at_ns);

	if (index % 2 == 0) {
		wait_once(pair);
		if (one_in(4))
			sleep_once();
		return 0;
	}
	if (sley_now() < at_ns && sley_current())
		CHECK_EQ(sley_sleep_until(at_ns - test_random(SLEY_USEC)), 0);
	atomic_fetch_add(&pair->nr_set, !sley_event_try(&pair->event));
	sley_event_set(&pair->event);
	return 0;
}

static void play(void)
{
	static struct pairs pairs;
	struct crowd crowd = { .act = meet,
			       .scene = &pairs,
			       .nr_tasks = 2 * (NR_PAIRS - 1),
			       .nr_threads = 2,
			       .rounds = NR_LOOPS };

	memset((void *)&pairs, 0, sizeof(pairs));
	for (int i = 0; i < NR_PAIRS; i++)
		sley_event_init(&pairs.pair[i].event, true, false);
	crowd_run(&crowd);
	for (int i = 0; i < NR_PAIRS; i++) {
		struct pair *pair = &pairs.pair[i];

		/* What was put in and not taken is still there. */
		CHECK_EQ(atomic_load(&pair->nr_set),
			 pair->nr_taken + sley_event_try(&pair->event));
	}
}

STRESS(a_wake_at_the_deadline_is_taken_or_left, play);
