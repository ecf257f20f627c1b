/* SPDX-License-Identifier: MIT */
/*
 * plan_stress.c - a plan is run by many at once, whose nodes fail and block, while
 * runs are cancelled, given up at their deadlines, and find no memory.
 *
 * Each run has a parameter of its own, in which its nodes are written down.  A node
 * runs once, or it is skipped for a reason; what the run returns is what happened; and
 * when all is over a run in which nothing fails is as good as the first.
 */
#include "stress/stress.h"

#include <sley/error.h>
#include <sley/plan.h>

#define NR_NODES 120
#define NR_WIDE 80 /* the first of them come after one node, and before one */
#define NR_BEFORE 2

/* The nodes, as they were recorded. */
static int before[NR_NODES][NR_BEFORE]; /* -1: nobody */
static struct sley_plan *plan;

/* A run, by its parameter. */
struct course {
	int fails_at; /* -1: nobody */
	bool nested;
	bool rests;              /* some of its nodes block */
	atomic_int nr_cancelled; /* nodes that saw it */
	atomic_int state[NR_NODES];
};

enum { NEW, RUNNING, WELL, FAILED };

static int run_course(struct course *course, uint64_t deadline_ns);

static void check_before(struct course *course, int nr)
{
	for (int i = 0; i < NR_BEFORE; i++) {
		if (before[nr][i] >= 0)
			CHECK_EQ(atomic_load(&course->state[before[nr][i]]),
				 WELL);
	}
}

static int rest(struct course *course)
{
	int err = sley_sleep(test_random(50 * SLEY_USEC));

	CHECK(!err || err == -ECANCELED);
	if (err)
		atomic_fetch_add(&course->nr_cancelled, 1);
	return err;
}

/* A node that runs the plan it is of. */
static void run_another(void)
{
	struct course inner = { .fails_at = -1, .nested = true };
	int err = run_course(&inner, SLEY_FOREVER);

	CHECK(!err || err == -ECANCELED || err == -ENOMEM);
}

static int run_node(void *arg)
{
	int nr = *(const int *)arg, err = 0;
	struct course *course = sley_plan_param();

	CHECK_EQ(atomic_exchange(&course->state[nr], RUNNING), NEW);
	check_before(course, nr);
	if (course->rests && one_in(8))
		err = rest(course);
	if (!course->nested && one_in(2000))
		run_another();
	if (!err && nr == course->fails_at)
		err = -EIO;
	atomic_store(&course->state[nr], err ? FAILED : WELL);
	return err;
}

static void record(int nr, sley_node *id)
{
	sley_node after[NR_BEFORE];
	uint32_t found = 0;

	for (int i = 0; i < NR_BEFORE; i++) {
		int from = -1;

		if (nr && nr < NR_WIDE)
			from = 0;
		else if (nr && one_in(2))
			from = (int)test_random((uint64_t)nr);
		before[nr][i] = from;
		if (from >= 0)
			after[found++] = id[from];
	}
	CHECK_EQ(sley_plan_add(plan, &id[nr],
			       SLEY_NODE_SPEC(.fn = run_node, .arg = &nr,
					      .arg_size = sizeof(nr),
					      .after = after, .nr_after = found,
					      .priority = one_in(16) ? -1 : 0)),
		 0);
}

/* Each is skipped because of another one, or because the run was cancelled. */
static void check_course(struct course *course, bool cancelled)
{
	for (int nr = 0; nr < NR_NODES; nr++) {
		int state = atomic_load(&course->state[nr]);
		bool reason = cancelled;

		CHECK_NE(state, RUNNING);
		for (int i = 0; i < NR_BEFORE; i++)
			reason |= before[nr][i] >= 0 &&
				  atomic_load(&course->state[before[nr][i]]) !=
					  WELL;
		if (state == NEW)
			CHECK(reason);
	}
}

static int run_course(struct course *course, uint64_t deadline_ns)
{
	int err = deadline_ns == SLEY_FOREVER
			  ? sley_plan_run(plan, course)
			  : sley_plan_run_until(plan, course, deadline_ns);
	bool failed = course->fails_at >= 0 &&
		      atomic_load(&course->state[course->fails_at]) == FAILED;

	switch (err) {
	case 0:
		CHECK(!failed);
		check_course(course, false);
		for (int nr = 0; nr < NR_NODES; nr++)
			CHECK_EQ(atomic_load(&course->state[nr]), WELL);
		break;
	case -EIO:
		CHECK(failed);
		/* Somebody may have cancelled it as well. */
		check_course(course, true);
		break;
	case -ENOMEM:
		for (int nr = 0; nr < NR_NODES; nr++)
			CHECK_EQ(atomic_load(&course->state[nr]), NEW);
		break;
	default:
		CHECK(err == -ECANCELED ||
		      (err == -ETIMEDOUT && deadline_ns != SLEY_FOREVER));
		check_course(course, true);
	}
	test_count(NR_NODES);
	return err;
}

static void run_some(void *arg)
{
	(void)arg;
	for (int i = 0; i < 10; i++) {
		struct course course = { .fails_at = -1, .rests = one_in(2) };

		if (one_in(2))
			course.fails_at = (int)test_random(NR_NODES);
		(void)run_course(&course, one_in(4) ? soon() : SLEY_FOREVER);
		if (one_in(20))
			sley_plan_cancel(plan);
		if (one_in(20))
			test_fail_allocation_after((int64_t)test_random(2));
		else
			test_fail_allocation_after(-1);
	}
}

static void *run_some_as_thread(void *arg)
{
	run_some(arg);
	return NULL;
}

static void play(void)
{
	struct course clean = { .fails_at = -1, .rests = true };
	sley_node id[NR_NODES];

	CHECK_EQ(sley_plan_create(&plan, NULL), 0);
	for (int nr = 0; nr < NR_NODES; nr++)
		record(nr, id);
	CHECK_EQ(sley_plan_seal(plan), 0);
	for (int i = 0; i < 3; i++)
		run_beside(run_some, run_some_as_thread, NULL);
	test_fail_allocation_after(-1);
	CHECK_EQ(run_course(&clean, SLEY_FOREVER), 0);
	for (int nr = 0; nr < NR_NODES; nr++)
		CHECK_EQ(sley_plan_outcome(plan, id[nr], NULL),
			 SLEY_OUTCOME_SUCCESS);
	sley_plan_destroy(plan);
}

STRESS(plans_in_a_storm_run_each_node_once, play);

/* ---- nodes that nobody waits for, and that block --------------------------------- */

static int rests_sometimes(void *arg)
{
	(void)arg;
	return one_in(2) ? 0 : sley_sleep(test_random(100 * SLEY_USEC));
}

static void play_sinks(void)
{
	CHECK_EQ(sley_plan_create(&plan, NULL), 0);
	for (int i = 0; i < 20; i++)
		CHECK_EQ(sley_plan_add(plan, NULL,
				       SLEY_NODE_SPEC(.fn = rests_sometimes)),
			 0);
	CHECK_EQ(sley_plan_seal(plan), 0);
	for (int i = 0; i < 50; i++)
		CHECK_EQ(sley_plan_run(plan, NULL), 0);
	test_count(20 * 50);
	sley_plan_destroy(plan);
}

STRESS(plans_end_although_their_nodes_block, play_sinks);
