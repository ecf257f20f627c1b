/* SPDX-License-Identifier: MIT */
/*
 * sync_stress.c - a semaphore, a barrier and a once whose waiters give up, by
 * deadline and by cancel, while others come and go.
 *
 * A unit that goes to a waiter who has given up is a unit lost: then somebody
 * without a deadline waits for ever, and the test times out.
 */
#include "stress/crowd.h"

#define NR_LOOPS 200

/* ---- semaphore ------------------------------------------------------------------ */

enum { UNITS = 4 };

struct room {
	struct sley_sem sem;
	atomic_uint inside;
};

static int visit(void *scene, unsigned int index)
{
	struct room *r = scene;
	uint32_t n = 1 + (uint32_t)test_random(UNITS);
	int err;

	(void)index;
	if (one_in(8))
		err = sley_sem_try_acquire(&r->sem, n) ? 0 : -EAGAIN;
	else
		err = sley_sem_acquire_until(&r->sem, n,
					     one_in(4) ? SLEY_FOREVER : soon());
	if (err)
		return err;
	CHECK_LE(atomic_fetch_add(&r->inside, n) + n, UNITS);
	dawdle();
	atomic_fetch_sub(&r->inside, n);
	sley_sem_release(&r->sem, n);
	return 0;
}

static void visit_all(void)
{
	struct room r = { .sem = SLEY_SEM_INIT(UNITS) };
	struct crowd crowd = { .act = visit,
			       .scene = &r,
			       .nr_tasks = 16,
			       .nr_threads = 2,
			       .rounds = NR_LOOPS,
			       .cancels = true };

	crowd_run(&crowd);
	CHECK_EQ(sley_sem_value(&r.sem), UNITS);
	CHECK(sley_sem_try_acquire(&r.sem, UNITS));
}

STRESS(a_semaphore_loses_no_unit, visit_all);

/* ---- barrier --------------------------------------------------------------------- */

enum { PARTIES = 3 };

struct meeting {
	struct sley_barrier barrier;
	atomic_int last, passed;
};

static int meet(void *scene, unsigned int index)
{
	struct meeting *m = scene;
	int result = sley_barrier_wait_until(&m->barrier, soon());

	(void)index;
	atomic_fetch_add(&m->last, result == 1);
	atomic_fetch_add(&m->passed, result == 0);
	return result == 1 ? 0 : result;
}

static void meet_all(void)
{
	struct meeting m = { .barrier = SLEY_BARRIER_INIT(PARTIES) };
	struct crowd crowd = { .act = meet,
			       .scene = &m,
			       .nr_tasks = 8,
			       .nr_threads = 2,
			       .rounds = NR_LOOPS,
			       .cancels = true };

	crowd_run(&crowd);
	/* Nobody passes but in threes. */
	CHECK_GT(atomic_load(&m.last), 0);
	CHECK_EQ(atomic_load(&m.passed), (PARTIES - 1) * atomic_load(&m.last));
}

STRESS(a_barrier_lets_pass_by_threes, meet_all);

/* ---- once ------------------------------------------------------------------------- */

enum { NR_ONCES = NR_LOOPS };

struct first_times {
	struct sley_once_flag once[NR_ONCES];
	uint64_t made[NR_ONCES]; /* plain: by the one who is first */
	atomic_uint nr_begun[NR_ONCES];
	uint64_t next[CROWD_MAX];
};

struct first_time {
	struct first_times *all;
	uint64_t i;
};

static void make(void *arg)
{
	struct first_time *first = arg;

	CHECK_EQ(atomic_fetch_add(&first->all->nr_begun[first->i], 1), 0);
	dawdle();
	first->all->made[first->i]++;
}

/* All of them come to the same ones, one after the other. */
static int be_first(void *scene, unsigned int index)
{
	struct first_times *all = scene;
	struct first_time first = { all, all->next[index] };
	struct sley_once_flag *once = &all->once[first.i];
	int err = 0;

	if (one_in(2))
		sley_once(once, make, &first);
	else
		err = sley_once_until(once, make, &first, soon());
	if (err)
		return err;
	CHECK(sley_once_done(once));
	CHECK_EQ(all->made[first.i], 1);
	if (++all->next[index] == NR_ONCES)
		return -EPIPE;
	return 0;
}

static void be_first_all(void)
{
	static struct first_times all;
	struct crowd crowd = { .act = be_first,
			       .scene = &all,
			       .nr_tasks = 12,
			       .nr_threads = 3,
			       .cancels = true };

	memset((void *)&all, 0, sizeof(all));
	crowd_run(&crowd);
	/* The threads came to all of them. */
	for (int i = 0; i < NR_ONCES; i++)
		CHECK_EQ(all.made[i], 1);
}

STRESS(a_once_is_made_once, be_first_all);
