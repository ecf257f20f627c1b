/* SPDX-License-Identifier: MIT */
/*
 * pipeline.c - items through stages: order, how many at a time, and that none
 * is lost.
 */
#include "conformance/bound.h"

#define NR_MAX 1000

/* What becomes of the items, which are numbered from 0. */
struct scene {
	int nr;   /* how many are made */
	int made; /* by the first stage, one at a time */
	int busy; /* in a serial stage; plain, as whoever is there is alone */
	int last; /* number in an ordered stage */
	struct item {
		int number;
		int stage;        /* that it was in last        */
		atomic_int ended; /* taken by the last, dropped */
	} item[NR_MAX];
	atomic_int under_way, most;
	int fail_stage, fail_number; /* where a stage fails */
	int skip;                    /* every which item ends early */
	bool naps;
	struct sley_event all_in;
	struct sley_task *cancel;
};

static void set_scene(struct scene *s, int nr)
{
	memset(s, 0, sizeof(*s));
	s->nr = nr;
	s->last = -1;
	s->fail_stage = -1;
}

static int visit(struct scene *s, struct item *item, int stage)
{
	CHECK_EQ(item->stage, stage - 1);
	CHECK_EQ(item->ended, 0);
	if (s->fail_stage == stage && s->fail_number == item->number)
		return -EIO;
	item->stage = stage;
	if (s->naps && test_random(8) == 0)
		(void)!sley_sleep(test_random(50) * SLEY_USEC);
	return 0;
}

static int make(void **slot, void *arg)
{
	struct scene *s = arg;
	struct item *item;
	int n;

	CHECK(*slot == NULL);
	CHECK_EQ(s->busy++, 0);
	if (s->made == s->nr) {
		s->busy--;
		return 0;
	}
	if (s->fail_stage == 0 && s->fail_number == s->made) {
		s->busy--;
		return -EIO;
	}
	item = &s->item[s->made];
	item->number = s->made++;
	n = atomic_fetch_add(&s->under_way, 1) + 1;
	if (n > s->most)
		s->most = n;
	s->busy--;
	*slot = item;
	return 0;
}

static int work(void **slot, void *arg)
{
	struct scene *s = arg;
	struct item *item = *slot;
	int err = visit(s, item, 1);

	if (!err && s->cancel && item->number == s->nr / 2)
		sley_cancel(s->cancel);
	if (!err && s->skip && item->number % s->skip == 0) {
		atomic_fetch_add(&item->ended, 1);
		atomic_fetch_sub(&s->under_way, 1);
		*slot = NULL;
	}
	return err;
}

static int in_turn(void **slot, void *arg)
{
	struct scene *s = arg;
	struct item *item = *slot;

	CHECK_GT(item->number, s->last);
	s->last = item->number;
	return visit(s, item, 2);
}

/* Ends the item. */
static int finish(void **slot, void *arg)
{
	struct scene *s = arg;
	struct item *item = *slot;
	int err = visit(s, item, 3);

	if (err)
		return err;
	atomic_fetch_add(&item->ended, 1);
	atomic_fetch_sub(&s->under_way, 1);
	return 0;
}

/* By the stage that made it, and no other. */
static void drop(struct scene *s, struct item *item, int stage)
{
	CHECK_EQ(item->stage, stage);
	CHECK_EQ(atomic_fetch_add(&item->ended, 1), 0);
	atomic_fetch_sub(&s->under_way, 1);
}

static void drop_made(void *item, void *arg)
{
	drop(arg, item, 0);
}

static void drop_worked(void *item, void *arg)
{
	drop(arg, item, 1);
}

static void drop_ordered(void *item, void *arg)
{
	drop(arg, item, 2);
}

static int run_scene(struct scene *s, uint32_t tokens)
{
	const struct sley_stage stages[] = {
		{ make, s, SLEY_STAGE_ORDERED, drop_made },
		{ work, s, SLEY_STAGE_PARALLEL, drop_worked },
		{ in_turn, s, SLEY_STAGE_ORDERED, drop_ordered },
		{ finish, s, SLEY_STAGE_SERIAL, NULL },
	};
	int err = sley_pipeline_with(stages, ARRAY_SIZE(stages), tokens, NULL);

	CHECK_EQ(s->under_way, 0);
	for (int i = 0; i < s->made; i++)
		CHECK_EQ(s->item[i].ended, 1);
	return err;
}

static const uint32_t token_counts[] = { 1, 2, 3, 8, 100, 0 };

TEST_WORKERS(pipeline_items_come_in_order_after_a_parallel_stage)
{
	static struct scene s;
	struct sley *rt = start();

	for (size_t i = 0; i < ARRAY_SIZE(token_counts); i++) {
		for (int naps = 0; naps < 2; naps++) {
			set_scene(&s, naps ? 200 : NR_MAX);
			s.naps = naps;
			CHECK_EQ(run_scene(&s, token_counts[i]), 0);
			CHECK_EQ(s.made, s.nr);
			CHECK_EQ(s.last, s.nr - 1);
			if (token_counts[i])
				CHECK_LE(s.most, (int)token_counts[i]);
		}
	}
	stop(rt);
}

static void run_in_task(void *arg)
{
	struct scene *s = arg;

	CHECK_EQ(run_scene(s, 4), 0);
	CHECK_EQ(s->last, s->nr - 1);
}

TEST_WORKERS(pipeline_several_at_a_time_from_tasks)
{
	static struct scene s[4];
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[4];
	struct sley *rt = start();

	for (int i = 0; i < 4; i++) {
		set_scene(&s[i], 150);
		s[i].naps = true;
		sley_spawn(&group, &task[i], run_in_task, &s[i]);
	}
	sley_join(&group);
	stop(rt);
}

TEST(pipeline_without_a_runtime)
{
	static struct scene s;

	for (size_t i = 0; i < ARRAY_SIZE(token_counts); i++) {
		set_scene(&s, 100);
		CHECK_EQ(run_scene(&s, token_counts[i]), 0);
		CHECK_EQ(s.most, 1);
		CHECK_EQ(s.last, 99);
	}
}

TEST_WORKERS(pipeline_items_may_end_early)
{
	static struct scene s;
	struct sley *rt = start();

	for (int skip = 1; skip < 5; skip++) {
		set_scene(&s, 300);
		s.skip = skip;
		s.naps = true;
		CHECK_EQ(run_scene(&s, 5), 0);
		CHECK_EQ(s.last, skip == 1 ? -1 : 299 - (299 % skip == 0));
	}
	stop(rt);
}

/* ---- how many at a time ---------------------------------------------------- */

/* All tokens meet here before any goes on: with one worker, too. */
static int wait_for_all(void **slot, void *arg)
{
	struct scene *s = arg;
	int tokens = s->skip;

	(void)slot;
	if (atomic_load(&s->under_way) == tokens)
		sley_event_set(&s->all_in);
	CHECK_EQ(sley_event_wait(&s->all_in), 0);
	return 0;
}

static int give_back(void **slot, void *arg)
{
	struct scene *s = arg;

	(void)slot;
	atomic_fetch_sub(&s->under_way, 1);
	return 0;
}

TEST_WORKERS(pipeline_as_many_are_under_way_as_tokens_and_no_more)
{
	static struct scene s;
	struct sley *rt = start();

	for (int tokens = 1; tokens < 40; tokens += 3) {
		const struct sley_stage stages[] = {
			{ make, &s, SLEY_STAGE_SERIAL, NULL },
			{ wait_for_all, &s, SLEY_STAGE_PARALLEL, NULL },
			{ give_back, &s, SLEY_STAGE_ORDERED, NULL },
		};

		set_scene(&s, 100);
		s.skip = tokens;
		CHECK_EQ(sley_pipeline(stages, 3, (uint32_t)tokens), 0);
		CHECK_EQ(s.most, tokens);
		CHECK_EQ(s.under_way, 0);
	}
	stop(rt);
}

static int count_alone(void **slot, void *arg)
{
	struct scene *s = arg;

	(void)slot;
	CHECK_EQ(s->busy++, 0);
	sley_yield();
	CHECK_EQ(s->busy--, 1);
	s->last++;
	return 0;
}

TEST_WORKERS(pipeline_a_serial_stage_has_one_item_at_a_time)
{
	static struct scene s, count;
	struct sley *rt = start();
	const struct sley_stage stages[] = {
		{ make, &s, SLEY_STAGE_ORDERED, NULL },
		{ work, &s, SLEY_STAGE_PARALLEL, NULL },
		{ count_alone, &count, SLEY_STAGE_SERIAL, NULL },
	};

	set_scene(&s, 200);
	set_scene(&count, 0);
	s.naps = true;
	CHECK_EQ(sley_pipeline(stages, 3, 16), 0);
	CHECK_EQ(count.last, 199);
	stop(rt);
}

TEST_WORKERS(pipeline_of_one_stage_calls_it_until_the_end)
{
	static struct scene s;
	struct sley *rt = start();
	const struct sley_stage stages[] = {
		{ make, &s, SLEY_STAGE_ORDERED, NULL },
	};

	set_scene(&s, NR_MAX);
	CHECK_EQ(sley_pipeline(stages, 1, 0), 0);
	CHECK_EQ(s.made, NR_MAX);
	set_scene(&s, 0);
	CHECK_EQ(sley_pipeline(stages, 1, 0), 0);
	stop(rt);
}

static int nest(void **slot, void *arg)
{
	static struct scene inner[20];
	struct scene *s = &inner[((struct item *)*slot)->number];

	set_scene(s, 20);
	CHECK_EQ(run_scene(s, 3), 0);
	CHECK_EQ(s->last, 19);
	atomic_fetch_sub(&((struct scene *)arg)->under_way, 1);
	return 0;
}

TEST_WORKERS(pipeline_inside_of_a_pipeline)
{
	static struct scene s;
	struct sley *rt = start();
	const struct sley_stage stages[] = {
		{ make, &s, SLEY_STAGE_ORDERED, NULL },
		{ nest, &s, SLEY_STAGE_PARALLEL, NULL },
	};

	set_scene(&s, 20);
	CHECK_EQ(sley_pipeline(stages, 2, 4), 0);
	CHECK_EQ(s.under_way, 0);
	stop(rt);
}

/* ---- ends before the end --------------------------------------------------- */

TEST_WORKERS(pipeline_a_stage_that_fails_ends_it_and_no_item_is_lost)
{
	static struct scene s;
	struct sley *rt = start();

	for (int stage = 0; stage < 4; stage++) {
		for (int number = 0; number < 100; number += 33) {
			set_scene(&s, 500);
			s.naps = true;
			s.fail_stage = stage;
			s.fail_number = number;
			CHECK_EQ(run_scene(&s, 7), -EIO);
			CHECK_GE(s.made, number);
			/* None comes past it before the ordered stage. */
			if (stage < 3)
				CHECK_LE(s.made, number + 7);
		}
	}
	stop(rt);
}

struct caller {
	struct scene scene;
	struct sley_task task;
	int result;
	struct sley *rt;
};

static void run_and_tell(void *arg)
{
	struct caller *caller = arg;

	caller->result = run_scene(&caller->scene, 5);
}

static void run_shielded(void *arg)
{
	struct caller *caller = arg;
	struct scene *s = &caller->scene;
	const struct sley_stage stages[] = {
		{ make, s, SLEY_STAGE_ORDERED, drop_made },
		{ work, s, SLEY_STAGE_PARALLEL, drop_worked },
		{ in_turn, s, SLEY_STAGE_ORDERED, drop_ordered },
	};

	caller->result = sley_pipeline(stages, 3, 5);
}

TEST_WORKERS(pipeline_ends_when_its_caller_is_cancelled)
{
	static struct caller caller;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();

	set_scene(&caller.scene, 400);
	caller.scene.cancel = &caller.task;
	sley_spawn(&group, &caller.task, run_and_tell, &caller);
	sley_join(&group);
	CHECK_EQ(caller.result, -ECANCELED);
	CHECK_GT(caller.scene.made, 200);
	CHECK_LE(caller.scene.made, 206);
	/* The short form does not. */
	set_scene(&caller.scene, 400);
	caller.scene.cancel = &caller.task;
	sley_spawn(&group, &caller.task, run_shielded, &caller);
	sley_join(&group);
	CHECK_EQ(caller.result, 0);
	CHECK_EQ(caller.scene.last, 399);
	stop(rt);
}

static void run_when_all_is_cancelled(void *arg)
{
	struct caller *caller = arg;

	sley_cancel_all(caller->rt);
	run_shielded(arg);
	CHECK_EQ(caller->result, 0);
	CHECK_EQ(caller->scene.last, 99);
	set_scene(&caller->scene, 100);
	CHECK_EQ(run_scene(&caller->scene, 5), -ECANCELED);
}

TEST_WORKERS(pipeline_goes_on_when_everything_is_cancelled)
{
	static struct caller caller;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();

	set_scene(&caller.scene, 100);
	caller.rt = rt;
	sley_spawn(&group, &caller.task, run_when_all_is_cancelled, &caller);
	sley_join(&group);
	stop(rt);
}

/* ---- options, and what it refuses ------------------------------------------ */

TEST_WORKERS(pipeline_without_memory_has_one_token)
{
	static struct scene s;
	struct sley *rt = start();

	set_scene(&s, 50);
	test_fail_allocation_after(0);
	CHECK_EQ(run_scene(&s, 8), 0);
	test_fail_allocation_after(-1);
	CHECK_EQ(s.most, 1);
	CHECK_EQ(s.last, 49);
	stop(rt);
}

TEST_WORKERS(pipeline_says_what_is_wrong)
{
	struct sley *rt = start();
	static struct scene s;
	struct sley_stage stages[] = {
		{ make, &s, SLEY_STAGE_ORDERED, NULL },
		{ work, &s, SLEY_STAGE_ORDERED, NULL },
	};

	CHECK_EQ(sley_pipeline(stages, 0, 1), -EINVAL);
	CHECK_EQ(sley_pipeline(stages, SLEY_PIPELINE_STAGES_MAX + 1, 1),
		 -EINVAL);
	CHECK_EQ(sley_pipeline(stages, 2, SLEY_PIPELINE_TOKENS_MAX + 1),
		 -EINVAL);
	CHECK_EQ(sley_pipeline_with(stages, 2, 1, SLEY_HOW(.priority = 99)),
		 SLEY_EPRIORITY);
	stages[1].mode = (enum sley_stage_mode)3;
	CHECK_EQ(sley_pipeline_with(stages, 2, 1, NULL), -EINVAL);
	stages[1].mode = SLEY_STAGE_PARALLEL;
	stages[1].fn = NULL;
	CHECK_EQ(sley_pipeline(stages, 2, 1), -EINVAL);
	stages[1].fn = work;
	stages[0].mode = SLEY_STAGE_PARALLEL;
	CHECK_EQ(sley_pipeline(stages, 2, 1), -EINVAL);
	CHECK_EQ(s.made, 0);
	stop(rt);
}
