/* SPDX-License-Identifier: MIT */
/*
 * lock.h - what every lock promises to tasks, whichever way it is taken.
 */
#ifndef SLEY_TESTS_CONFORMANCE_SYNC_LOCK_H
#define SLEY_TESTS_CONFORMANCE_SYNC_LOCK_H

#include "conformance/bound.h"

union lock {
	struct sley_mutex mutex;
	struct sley_rwlock rwlock;
};

/* A mutex is taken in one way; a reader-writer lock is read, or written. */
struct way {
	void (*lock)(union lock *lock);
	void (*unlock)(union lock *lock);
};

/* ---- a task that waits for the lock leaves its worker to others ------------ */

struct held {
	union lock lock;
	const struct way *way; /* of the holder */
	atomic_int others;     /* that have run */
	atomic_bool held;
};

struct waiter {
	struct sley_task task;
	struct held *held;
	const struct way *way;
};

/* Goes on only when others have run on this very worker. */
static inline void sleep_while_holding(void *arg)
{
	struct held *h = arg;

	h->way->lock(&h->lock);
	atomic_store(&h->held, true);
	while (atomic_load(&h->others) < 10)
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	h->way->unlock(&h->lock);
}

static inline void wait_for_the_holder(void *arg)
{
	struct waiter *w = arg;

	w->way->lock(&w->held->lock);
	CHECK_EQ(w->held->others, 10);
	w->way->unlock(&w->held->lock);
}

/*
 * A task holds the lock in the way of the holder; 20 tasks wait, in one way and the
 * other by turns; then 10 tasks run, and only then the holder releases the lock.
 * Once the first waiter waits, no task gets the lock: @is_taken says so.
 */
static inline void check_waiters_suspend(const struct way *holder,
					 const struct way *even,
					 const struct way *odd,
					 bool (*is_taken)(union lock *lock))
{
	struct held h = { .way = holder };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task, others[10];
	struct sley *rt = start();
	struct waiter waiters[20];

	sley_spawn(&group, &task, sleep_while_holding, &h);
	if (is_single())
		CHECK_EQ(sley_run_one(rt), 1);
	CHECK_EVENTUALLY(atomic_load(&h.held));
	for (int i = 0; i < 20; i++) {
		waiters[i].held = &h;
		waiters[i].way = i % 2 ? odd : even;
		sley_spawn(&group, &waiters[i].task, wait_for_the_holder,
			   &waiters[i]);
		/* A step may be one of the holder, which looks now and then. */
		while (is_single() && !is_taken(&h.lock))
			(void)sley_run_one(rt);
		CHECK_EVENTUALLY(is_taken(&h.lock));
	}
	for (int i = 0; i < 10; i++)
		sley_spawn(&group, &others[i], count_task, &h.others);
	sley_join(&group);
	stop(rt);
}

/* ---- a task that comes again and again overtakes no waiter ------------------ */

struct greedy {
	union lock lock;
	const struct way *greedy, *patient;
	atomic_bool done;
	atomic_int nr; /* times that the patient task got the lock */
};

static inline void lock_all_the_time(void *arg)
{
	struct greedy *g = arg;

	while (!atomic_load(&g->done)) {
		g->greedy->lock(&g->lock);
		sley_yield();
		g->greedy->unlock(&g->lock);
	}
}

static inline void lock_patiently(void *arg)
{
	struct greedy *g = arg;

	for (int i = 0; i < 50; i++) {
		g->patient->lock(&g->lock);
		atomic_fetch_add(&g->nr, 1);
		g->patient->unlock(&g->lock);
	}
	atomic_store(&g->done, true);
}

static inline void check_no_starvation(const struct way *greedy,
				       const struct way *patient)
{
	struct greedy g = { .greedy = greedy, .patient = patient };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[4];
	struct sley *rt = start();

	for (int i = 0; i < 3; i++)
		sley_spawn(&group, &tasks[i], lock_all_the_time, &g);
	sley_spawn(&group, &tasks[3], lock_patiently, &g);
	sley_join(&group);
	CHECK_EQ(g.nr, 50);
	stop(rt);
}

/* ---- the last unlock touches nothing that the other side may free ----------- */

struct brief {
	union lock lock;
	struct sley_group group;
	struct sley_task task;
	const struct way *way;
};

static inline void lock_once(void *arg)
{
	struct brief *b = arg;

	b->way->lock(&b->lock);
	b->way->unlock(&b->lock);
}

static inline void check_on_a_stack_that_returns(const struct way *holder,
						 const struct way *waiter)
{
	struct sley *rt = start();

	for (int i = 0; i < test_scale(3000); i++) {
		struct brief b = { .way = waiter };

		holder->lock(&b.lock);
		sley_spawn(&b.group, &b.task, lock_once, &b);
		if (i % 2)
			sley_yield();
		holder->unlock(&b.lock);
		sley_join(&b.group);
		spoil(&b, sizeof(b));
	}
	stop(rt);
}

#endif
