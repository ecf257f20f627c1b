/* SPDX-License-Identifier: MIT */
/*
 * parallel_how.c - src/parallel/how.c: options, where the work runs, when it stops.
 */
#include "conformance/bound.h"

#include "parallel/how.h"

TEST(how_nothing_given_is_the_default)
{
	struct how how;

	CHECK_EQ(how_read(&how, NULL), 0);
	CHECK(how.own_level);
	CHECK(!how.ordered);
	CHECK_EQ(how.grain, 0);
	CHECK(how.stoppable);
	CHECK(!how_stopped(&how));
	CHECK_EQ(how_workers(&how), 1);
	how_default(&how);
	CHECK(!how.stoppable);
}

TEST(how_fields_are_read)
{
	struct how how;

	CHECK_EQ(how_read(&how, SLEY_HOW(.priority = -3, .grain = 7,
					 .ordered = true)),
		 0);
	CHECK(!how.own_level);
	CHECK_EQ(how.level, LEVEL_DEFAULT - 3);
	CHECK_EQ(how.grain, 7);
	CHECK(how.ordered);
}

TEST(how_bad_options_are_refused)
{
	struct newer {
		struct sley_how how;
		uint64_t more;
	} newer = { .how = sley_how_default() };
	struct sley_how none = { .grain = 1 };
	struct how how;

	CHECK_EQ(how_read(&how, SLEY_HOW(.priority = 32)), SLEY_EPRIORITY);
	CHECK_EQ(how_read(&how, SLEY_HOW(.priority = -33)), SLEY_EPRIORITY);
	CHECK_EQ(how_read(&how, &none), -EINVAL);
	newer.how.size = sizeof(newer);
	CHECK_EQ(how_read(&how, &newer.how), 0);
	newer.more = 1;
	CHECK_EQ(how_read(&how, &newer.how), -E2BIG);
}

/* ---- where ---------------------------------------------------------------- */

struct visit {
	struct how how;
	int times;
	pid_t thread;
	const struct sley_task *task;
	unsigned int level;
	uint64_t tree;
	atomic_int children;
};

static void look_around(void *arg)
{
	struct visit *v = arg;
	struct worker *worker = worker_current();
	struct sley_forked child[2];

	v->times++;
	v->thread = gettid();
	v->task = worker ? worker->strand->task : NULL;
	v->level = v->task ? task_level(v->task) : 0;
	v->tree = tree_current();
	how_fork(&v->how, &child[0], count_task, &v->children);
	how_fork(&v->how, &child[1], count_task, &v->children);
	how_join(&v->how, &child[1]);
	how_join(&v->how, &child[0]);
}

static void check_visit(struct visit *v)
{
	v->times = 0;
	atomic_store(&v->children, 0);
	how_run(&v->how, look_around, v);
	CHECK_EQ(v->times, 1);
	CHECK_EQ(v->children, 2);
	CHECK_EQ(v->tree, tree_current());
}

TEST(how_without_a_runtime_all_is_done_in_place)
{
	struct visit v;

	how_default(&v.how);
	check_visit(&v);
	CHECK_EQ(v.thread, gettid());
	CHECK(v.task == NULL);
	CHECK_EQ(how_read(&v.how, SLEY_HOW(.priority = 3)), 0);
	check_visit(&v);
	CHECK_EQ(v.thread, gettid());
}

TEST_WORKERS(how_a_bound_thread_has_a_task_do_it)
{
	struct sley *rt = start();
	struct visit v;

	how_default(&v.how);
	check_visit(&v);
	CHECK(v.task != NULL);
	CHECK_EQ(v.level, LEVEL_DEFAULT);
	CHECK_EQ(v.thread == gettid(), is_single());
	CHECK_EQ(how_read(&v.how, SLEY_HOW(.priority = 9)), 0);
	check_visit(&v);
	CHECK_EQ(v.level, LEVEL_DEFAULT + 9);
	stop(rt);
}

static void visit_from_a_task(void *arg)
{
	const struct sley_task *self = worker_current()->strand->task;
	struct visit v;

	(void)arg;
	how_default(&v.how);
	check_visit(&v);
	CHECK(v.task == self);
	CHECK_EQ(how_read(&v.how, NULL), 0);
	CHECK(v.how.caller == worker_current()->strand);
	check_visit(&v);
	CHECK(v.task == self);
	CHECK_EQ(how_read(&v.how, SLEY_HOW(.priority = -4)), 0);
	check_visit(&v);
	CHECK_EQ(v.level, LEVEL_DEFAULT - 4);
	CHECK_EQ(v.task == self, task_level(self) == LEVEL_DEFAULT - 4);
}

TEST_WORKERS(how_a_task_of_the_right_level_does_it_itself)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[2];

	sley_spawn(&group, &task[0], visit_from_a_task, NULL);
	CHECK_EQ(sley_spawn_with(&group, &task[1], visit_from_a_task, NULL,
				 SLEY_OPTIONS(.priority = -4)),
		 0);
	sley_join(&group);
	stop(rt);
}

/* In a single-threaded runtime nobody else could do it. */
static void visit_from_a_region(void *arg)
{
	struct visit v;

	(void)arg;
	CHECK_EQ(sley_blocking_begin(), 0);
	how_default(&v.how);
	check_visit(&v);
	CHECK_EQ(v.level, is_single() ? 0 : LEVEL_DEFAULT + 2);
	sley_blocking_end();
}

TEST_WORKERS(how_in_a_blocking_region_a_task_of_its_level_does_it)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	CHECK_EQ(sley_spawn_with(&group, &task, visit_from_a_region, NULL,
				 SLEY_OPTIONS(.priority = 2)),
		 0);
	sley_join(&group);
	stop(rt);
}

/* ---- when it stops -------------------------------------------------------- */

struct stop {
	struct how how;
	struct sley_event begun, cancelled;
};

static void look_beside(void *arg)
{
	struct stop *s = arg;

	CHECK(how_stopped(&s->how));
}

static void look_whether_stopped(void *arg)
{
	struct stop *s = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task beside;
	struct how shielded;

	CHECK_EQ(how_read(&s->how, NULL), 0);
	how_default(&shielded);
	CHECK(!how_stopped(&s->how));
	sley_event_set(&s->begun);
	(void)!sley_event_wait(&s->cancelled);
	CHECK(how_stopped(&s->how));
	CHECK(!how_stopped(&shielded));
	/* Another task, which nobody has cancelled, sees the same. */
	sley_spawn(&group, &beside, look_beside, s);
	sley_join(&group);
}

TEST_WORKERS(how_it_stops_when_the_caller_is_cancelled)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct stop s = { .how.grain = 0 };

	sley_spawn(&group, &task, look_whether_stopped, &s);
	CHECK_EQ(sley_event_wait(&s.begun), 0);
	sley_cancel(&task);
	sley_join(&group);
	stop(rt);
}

TEST_WORKERS(how_it_stops_when_all_is_cancelled_and_runs_all_the_same)
{
	struct sley *rt = start();
	struct visit v;

	sley_cancel_all(rt);
	CHECK_EQ(how_read(&v.how, NULL), 0);
	CHECK(how_stopped(&v.how));
	check_visit(&v);
	how_default(&v.how);
	CHECK(!how_stopped(&v.how));
	check_visit(&v);
	stop(rt);
}
