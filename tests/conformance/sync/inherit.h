/* SPDX-License-Identifier: MIT */
/*
 * inherit.h - the scenes of the tests in which an urgent task waits for a task of a low
 * level: R-U9, U-T10.
 *
 * In each scene a task of a low level holds, or will do, what an urgent task waits for,
 * and tasks of the default level, the hogs, never leave their workers but by a yield.
 * So a worker with a hog never comes to the task of the low level, unless that task is
 * lent the level of its waiter.  The hogs end when the urgent task has what it wants; if
 * that does not happen, they fail the test.
 */
#ifndef SLEY_TESTS_CONFORMANCE_SYNC_INHERIT_H
#define SLEY_TESTS_CONFORMANCE_SYNC_INHERIT_H

#include "conformance/bound.h"

enum { URGENT = -10, HOG = 0, LOW = 10, LOWER = 20, LOWEST = 30 };

struct scene {
	struct sley_group group;
	struct sley_mutex mutex, inner, innermost;
	struct sley_event event;
	struct sley_task low, mid, lowest, urgent, hogs[128], extra[2];
	struct sley_task *holder; /* whose level is set              */
	atomic_int stage;         /* of the scene                    */
	atomic_bool started, done;
	atomic_int rounds;   /* of all hogs                     */
	atomic_int progress; /* of the holder                   */
	int seen;            /* of that, by the urgent task     */
	sley_fn *urgent_fn;
	int before; /* the level of the task that goes before the holder */
	int order[4];
	int nr_order;
};

static inline void spawn_at(struct scene *s, struct sley_task *task,
			    sley_fn *fn, int priority)
{
	CHECK_EQ(sley_spawn_with(&s->group, task, fn, s,
				 SLEY_OPTIONS(.priority = priority)),
		 0);
}

/* Yields; the urgent task comes when the holder has yielded, too. */
static inline void hog(void *arg)
{
	uint64_t end_ns = sley_now() + 30 * SLEY_SEC;
	struct scene *s = arg;

	while (!atomic_load(&s->done)) {
		atomic_fetch_add(&s->rounds, 1);
		if (atomic_load(&s->stage) &&
		    !atomic_exchange(&s->started, true))
			spawn_at(s, &s->urgent, s->urgent_fn, URGENT);
		CHECK(sley_now() < end_ns);
		sley_yield();
	}
}

static inline void spawn_hogs(struct scene *s)
{
	int nr = nr_runners() * 2;

	for (int i = 0; i < nr; i++)
		sley_spawn(&s->group, &s->hogs[i], hog, s);
}

static inline void finish(struct scene *s)
{
	atomic_store(&s->done, true);
	sley_event_set(&s->event);
}

static inline void yield_some(struct scene *s)
{
	atomic_store(&s->stage, 1);
	for (int i = 0; i < 100; i++)
		sley_yield();
}

static inline void hold_and_count(void *arg)
{
	struct scene *s = arg;

	sley_mutex_lock(&s->mutex);
	spawn_hogs(s);
	atomic_store(&s->stage, 1);
	while (!atomic_load(&s->done)) {
		atomic_fetch_add(&s->progress, 1);
		sley_yield();
	}
	sley_mutex_unlock(&s->mutex);
}

/* The hogs go round so often, and the holder does not run. */
static inline void check_holder_stays(struct scene *s)
{
	int rounds = atomic_load(&s->rounds);

	s->seen = atomic_load(&s->progress);
	while (atomic_load(&s->rounds) - rounds < 1000)
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	CHECK_EQ(atomic_load(&s->progress), s->seen);
}

#endif
