/* SPDX-License-Identifier: MIT */
/*
 * task_pipeline.c - the level at which stages run.
 */
#include "core/sched/worker.h"
#include "harness/test.h"

#include <sley/sley.h>

struct scene {
	int made;
	uint32_t level;
};

static int make(void **item, void *arg)
{
	struct scene *s = arg;

	CHECK_EQ(task_level(worker_current()->strand->task), s->level);
	if (s->made++ < 50)
		*item = s;
	return 0;
}

static int look(void **item, void *arg)
{
	struct scene *s = *item;

	(void)arg;
	CHECK_EQ(task_level(worker_current()->strand->task), s->level);
	sley_yield();
	return 0;
}

static const struct sley_stage stages[] = {
	{ make, NULL, SLEY_STAGE_ORDERED, NULL },
	{ look, NULL, SLEY_STAGE_PARALLEL, NULL },
};

static void check_level(int priority, int wanted)
{
	struct scene s = { .level = (uint32_t)(wanted + LEVEL_DEFAULT) };
	struct sley_stage mine[2] = { stages[0], stages[1] };

	mine[0].arg = &s;
	CHECK_EQ(sley_pipeline_with(mine, 2, 5, SLEY_HOW(.priority = priority)),
		 0);
	CHECK_EQ(s.made > 50, true);
}

static void from_a_task(void *arg)
{
	(void)arg;
	check_level(0, 4);
	check_level(-7, -7);
	check_level(4, 4);
}

TEST_WORKERS(pipeline_stages_run_with_the_priority_asked_for_or_the_callers)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct sley *rt;

	CHECK_EQ(sley_create(&rt, test_config()), 0);
	CHECK_EQ(sley_bind(rt), 0);
	CHECK_EQ(sley_spawn_with(&group, &task, from_a_task, NULL,
				 SLEY_OPTIONS(.priority = 4)),
		 0);
	sley_join(&group);
	check_level(-7, -7);
	check_level(0, 0);
	sley_unbind(rt);
	CHECK_EQ(sley_destroy(rt), 0);
}
