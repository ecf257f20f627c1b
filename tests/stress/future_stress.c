/* SPDX-License-Identifier: MIT */
/*
 * future_stress.c - futures that several try to complete while several wait,
 * for one, any and all of them, with deadlines and cancels.
 *
 * One of those who complete a future wins, and everybody sees what that one
 * gave.  The futures are in shared memory, which is gone with the last who
 * knows them: whoever touches one after that is seen by a sanitizer.
 */
#include "stress/crowd.h"

#define NR_FUTURES 4
#define NR_LOOPS 40

struct promise {
	struct sley_future future[NR_FUTURES];
	int value[NR_FUTURES][2];   /* plain: the winner's is published */
	atomic_int won[NR_FUTURES]; /* by how many                      */
};

static void complete(struct promise *p, int i, int who)
{
	int err;

	p->value[i][who] = 1000 + i;
	dawdle();
	err = who || !one_in(8)
		      ? sley_future_set(&p->future[i], &p->value[i][who])
		      : sley_future_fail(&p->future[i], -EIO);
	CHECK(err == 0 || err == -EALREADY);
	if (!err)
		atomic_fetch_add(&p->won[i], 1);
}

static void complete_all(void *arg)
{
	struct promise *p = arg;

	for (int i = 0; i < NR_FUTURES; i++)
		complete(p, i, 0);
	sley_shared_unref(p);
}

static void complete_backwards(void *arg)
{
	struct promise *p = arg;

	for (int i = NR_FUTURES - 1; i >= 0; i--)
		complete(p, i, 1);
	sley_shared_unref(p);
}

static void check_value(const struct promise *p, int i)
{
	void *value = NULL;
	int err = sley_future_get(&p->future[i], &value);

	CHECK(sley_future_is_done(&p->future[i]));
	if (err)
		CHECK_EQ(err, -EIO);
	else
		CHECK_EQ(*(int *)value, 1000 + i);
}

/* Which of them is done now; or an error. */
static int wait_somehow(struct promise *p)
{
	struct sley_future *all[NR_FUTURES];
	int i = (int)test_random(NR_FUTURES), err;

	for (int k = 0; k < NR_FUTURES; k++)
		all[k] = &p->future[k];
	switch (test_random(5)) {
	case 0:
		err = sley_future_wait(all[i]);
		return err ? err : i;
	case 1:
		err = sley_future_wait_until(all[i], soon());
		return err ? err : i;
	case 2:
		return sley_future_wait_any(all, NR_FUTURES);
	case 3:
		return sley_future_wait_any_until(all, NR_FUTURES, soon());
	default:
		err = sley_future_wait_all_until(all, NR_FUTURES, soon());
		return err ? err : i;
	}
}

/* Somebody to complete them, twice, and then to wait for it. */
static int promise_and_wait(void *scene, unsigned int index)
{
	struct promise *p = SLEY_SHARED(struct promise);
	struct sley *rt = scene;
	int i;

	(void)index;
	CHECK(p);
	CHECK_EQ(sley_schedule_on(rt, complete_all, sley_shared_ref(p), NULL),
		 0);
	CHECK_EQ(sley_schedule_on(rt, complete_backwards, sley_shared_ref(p),
				  NULL),
		 0);
	do
		i = wait_somehow(p);
	while (i == -ETIMEDOUT);
	if (i >= 0)
		check_value(p, i);
	if (one_in(2) && sley_future_wait(&p->future[0]) == 0)
		CHECK_LE(atomic_load(&p->won[0]), 1);
	sley_shared_unref(p);
	return i < 0 ? i : 0;
}

static void play(void)
{
	struct crowd crowd = { .act = promise_and_wait,
			       .scene = sley_current(),
			       .nr_tasks = 12,
			       .nr_threads = 3,
			       .rounds = NR_LOOPS,
			       .cancels = true };

	crowd_run(&crowd);
}

STRESS(a_future_is_completed_once_for_all, play);
