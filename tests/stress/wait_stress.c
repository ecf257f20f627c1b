/* SPDX-License-Identifier: MIT */
/*
 * wait_stress.c - every way to wait, decided by wake, deadline and cancel at
 * about the same time, in tasks and in plain threads.
 *
 * A wake that goes to a waiter who has given up is a wake lost: then somebody
 * without a deadline waits for ever, and the test times out.  A wake that
 * counts twice lets two into a section for one.
 */
#include "stress/crowd.h"

#include <sched.h>

#define NR_TASKS 12
#define NR_THREADS 3
#define NR_LOOPS 60

struct scene {
	struct sley_mutex mutex;
	struct sley_event turn[2]; /* automatic: a lock each      */
	struct sley_cond cond;
	uint64_t locked;        /* plain: under the mutex         */
	uint64_t inside[2];     /* plain: under the turn          */
	uint64_t tokens, given; /* plain: under the mutex         */
	uint64_t taken;         /* plain: under the mutex         */
	atomic_uint_least64_t nr_locked, nr_inside[2];
	atomic_int takers; /* that have not got their tokens yet   */
};

/* ---- what there is to wait for ------------------------------------------- */

static int use_mutex(struct scene *s)
{
	int err = 0;

	if (one_in(2))
		sley_mutex_lock(&s->mutex);
	else
		err = sley_mutex_lock_until(&s->mutex, soon());
	if (err)
		return err;
	s->locked++;
	dawdle();
	sley_mutex_unlock(&s->mutex);
	atomic_fetch_add(&s->nr_locked, 1);
	return 0;
}

static int take_turn(struct scene *s)
{
	struct sley_event *both[] = { &s->turn[0], &s->turn[1] };
	int i = (int)test_random(2), err;

	switch (test_random(4)) {
	case 0:
		err = sley_event_wait(&s->turn[i]);
		break;
	case 1:
		err = sley_event_wait_until(&s->turn[i], soon());
		break;
	case 2:
		i = err = sley_event_wait_any(both, 2);
		break;
	default:
		i = err = sley_event_wait_any_until(both, 2, soon());
		break;
	}
	if (err < 0)
		return err;
	s->inside[i]++;
	dawdle();
	sley_event_set(&s->turn[i]);
	atomic_fetch_add(&s->nr_inside[i], 1);
	return 0;
}

/* A token; @patient waits for ever. */
static int take_token(struct scene *s, bool patient)
{
	uint64_t deadline = patient ? SLEY_FOREVER : soon();
	int err = 0;

	sley_mutex_lock(&s->mutex);
	while (!s->tokens && !err)
		err = sley_cond_wait_until(&s->cond, &s->mutex, deadline);
	if (!err) {
		s->tokens--;
		s->taken++;
	}
	/* It was not woken, or there is nothing for it; the next may look. */
	sley_mutex_unlock(&s->mutex);
	return err;
}

static void put_token(struct scene *s)
{
	sley_mutex_lock(&s->mutex);
	s->tokens++;
	s->given++;
	if (one_in(16))
		sley_cond_notify_all(&s->cond);
	else
		sley_cond_notify_one(&s->cond);
	sley_mutex_unlock(&s->mutex);
}

static void done_soon(void *arg)
{
	dawdle();
	(void)sley_waitgroup_done(arg);
}

/* The wait group is gone as soon as the wait returns. */
static int wait_for_others(void)
{
	struct sley_waitgroup wg = SLEY_WAITGROUP_INIT;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[3];
	int err, join_err;

	sley_waitgroup_add(&wg, ARRAY_SIZE(tasks));
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		sley_spawn(&group, &tasks[i], done_soon, &wg);
	err = one_in(2) ? sley_waitgroup_wait_until(&wg, soon())
			: sley_waitgroup_wait(&wg);
	join_err = sley_join_until(&group, soon());
	if (join_err)
		sley_join(&group);
	return err;
}

/* ---- those who wait --------------------------------------------------------- */

static int do_one(void *scene, unsigned int index)
{
	struct scene *s = scene;

	(void)index;
	switch (test_random(4)) {
	case 0:
		return use_mutex(s);
	case 1:
		return take_turn(s);
	case 2:
		return take_token(s, false);
	default:
		return sley_current() ? wait_for_others() : use_mutex(s);
	}
}

/* Is not cancelled, and waits for ever. */
static void take_patiently(void *arg)
{
	struct scene *s = arg;

	for (int i = 0; i < NR_LOOPS; i++)
		CHECK_EQ(take_token(s, true), 0);
	atomic_fetch_sub(&s->takers, 1);
}

static void *take_in_thread(void *arg)
{
	take_patiently(arg);
	return NULL;
}

static void *give(void *arg)
{
	struct scene *s = arg;

	while (atomic_load(&s->takers)) {
		put_token(s);
		if (one_in(4))
			sched_yield();
	}
	return NULL;
}

static void check_scene(struct scene *s)
{
	CHECK(sley_mutex_try_lock(&s->mutex));
	CHECK_EQ(s->locked, atomic_load(&s->nr_locked));
	CHECK_EQ(s->given, s->taken + s->tokens);
	for (int i = 0; i < 2; i++) {
		CHECK(sley_event_try(&s->turn[i]));
		CHECK_EQ(s->inside[i], atomic_load(&s->nr_inside[i]));
	}
}

static void play(void)
{
	static struct scene s;
	struct crowd crowd = { .act = do_one,
			       .scene = &s,
			       .nr_tasks = NR_TASKS,
			       .nr_threads = NR_THREADS,
			       .rounds = NR_LOOPS,
			       .cancels = true };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task patient[2];
	pthread_t taker, giver;

	memset(&s, 0, sizeof(s));
	sley_event_init(&s.turn[0], true, true);
	sley_event_init(&s.turn[1], true, true);
	atomic_store(&s.takers, 3);
	for (size_t i = 0; i < ARRAY_SIZE(patient); i++)
		sley_spawn(&group, &patient[i], take_patiently, &s);
	taker = test_thread(take_in_thread, &s);
	giver = test_thread(give, &s);
	crowd_run(&crowd);
	sley_join(&group);
	pthread_join(taker, NULL);
	pthread_join(giver, NULL);
	check_scene(&s);
}

STRESS(no_wake_is_lost_or_counts_twice, play);
