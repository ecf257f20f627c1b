/* SPDX-License-Identifier: MIT */
/*
 * core_place.c - tasks that a worker moves to its own ring are made known: a worker
 * that sleeps, and has missed them on their way, is woken for them.
 *
 * Two tasks are queued as a sleeper leaves them that has missed them: nobody was
 * told.  The worker that is awake takes both in a batch and runs the first, which
 * waits until another worker has run the second.  It counts turns meanwhile, so
 * that the monitor does not take its worker for one that is held, and stays out.
 */
#include <sley/sley.h>
#include <stdatomic.h>

#include "core/sched/place.h"
#include "core/task/spawn.h"
#include "core/sched/worker.h"
#include "harness/test.h"

static struct sley_group group;
static struct sley_task root, pair[2];
static struct worker *first_by;
static _Atomic(struct worker *) second_by;

static void first(void *arg)
{
	uint64_t end = sley_now() + 5 * SLEY_SEC;

	(void)arg;
	first_by = worker_current();
	while (!second_by && sley_now() < end)
		counter_add(&first_by->counters.turns, 1);
	CHECK(second_by != NULL);
}

static void second(void *arg)
{
	(void)arg;
	second_by = worker_current();
}

static struct sley_task *build(struct worker *worker, int i, sley_fn *fn)
{
	pair[i] = (struct sley_task){ .fn = fn, .group = &group };
	task_build(&pair[i], LEVEL_DEFAULT, worker->task_flags);
	group_add(&group);
	drain_count_spawned(worker);
	return &pair[i];
}

static void push_spill(struct worker *worker, struct sley_task *task)
{
	task->next = NULL;
	runq_spill_chain(&worker->rt->runq, task);
}

static void push_lane(struct worker *worker, struct sley_task *task)
{
	push_list_push(&worker->lane, task_node(task));
}

static void (*push)(struct worker *worker, struct sley_task *task);

/* The worker picks the two as soon as this has ended. */
static void queue_both(void *arg)
{
	struct worker *worker = worker_current();
	struct worker *other = worker->rt->worker[1 - worker->index];
	uint64_t asleep = UINT64_MAX;

	(void)arg;
	/* It looks once more after it has taken its seat. */
	while (sley_now() < asleep) {
		counter_add(&worker->counters.turns, 1);
		if (!idle_is_parked(&other->seat))
			asleep = UINT64_MAX;
		else if (asleep == UINT64_MAX)
			asleep = sley_now() + 50 * SLEY_MSEC;
	}
	push(worker, build(worker, 0, first));
	push(worker, build(worker, 1, second));
}

static void run_both(void)
{
	struct sley *rt;

	group = (struct sley_group)SLEY_GROUP_INIT;
	CHECK_EQ(sley_create(&rt, SLEY_CONFIG(.workers = 2)), 0);
	CHECK_EQ(sley_bind(rt), 0);
	sley_spawn(&group, &root, queue_both, NULL);
	sley_join(&group);
	CHECK(second_by != first_by);
	sley_unbind(rt);
	CHECK_EQ(sley_destroy(rt), 0);
}

TEST(a_batch_from_the_spill_is_made_known)
{
	push = push_spill;
	run_both();
}

TEST(the_rest_of_a_lane_is_made_known)
{
	push = push_lane;
	run_both();
}
