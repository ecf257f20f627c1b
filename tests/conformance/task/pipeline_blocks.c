/* SPDX-License-Identifier: MIT */
/*
 * pipeline_blocks.c - stages that block their thread: they hold no worker, and
 * their items go on with any worker.
 */
#include "conformance/bound.h"

#define NR_ITEMS 60

struct scene {
	int made;
	int last;          /* number in the ordered stage            */
	atomic_int inside; /* items in the blocking stage right now  */
	atomic_int most;   /* of them at once                        */
	atomic_int ended[NR_ITEMS];
	int meet;        /* the first so many wait for each other  */
	int fail_number; /* where the blocking stage fails; -1     */
	struct sley_task *cancel;
	int cancel_number; /* where the caller is cancelled          */
	int number[NR_ITEMS];
};

static void set_scene(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	s->last = -1;
	s->fail_number = -1;
	s->cancel_number = -1;
	for (int i = 0; i < NR_ITEMS; i++)
		s->number[i] = i;
}

static int make(void **item, void *arg)
{
	struct scene *s = arg;

	CHECK_EQ(sley_worker(), -1);
	if (s->made < NR_ITEMS)
		*item = &s->number[s->made++];
	return 0;
}

/* Blocks its thread until the others that are to meet it are here, too. */
static int meet(void **item, void *arg)
{
	struct scene *s = arg;
	int number = *(int *)*item, n = atomic_fetch_add(&s->inside, 1) + 1;

	CHECK_EQ(sley_worker(), -1);
	if (n > s->most)
		s->most = n;
	while (number < s->meet && s->most < s->meet)
		usleep(100);
	if (number == s->cancel_number)
		sley_cancel(s->cancel);
	atomic_fetch_sub(&s->inside, 1);
	return number == s->fail_number ? -EIO : 0;
}

static int finish(void **item, void *arg)
{
	struct scene *s = arg;
	int number = *(int *)*item;

	CHECK_GT(number, s->last);
	s->last = number;
	CHECK_EQ(atomic_fetch_add(&s->ended[number], 1), 0);
	return 0;
}

static void drop(void *item, void *arg)
{
	struct scene *s = arg;

	CHECK_EQ(atomic_fetch_add(&s->ended[*(int *)item], 1), 0);
}

static int run_scene(struct scene *s, uint32_t mode, uint32_t tokens)
{
	const struct sley_stage stages[] = {
		{ make, s, SLEY_STAGE_ORDERED | SLEY_STAGE_BLOCKS, drop },
		{ meet, s, mode | SLEY_STAGE_BLOCKS, drop },
		{ finish, s, SLEY_STAGE_ORDERED, NULL },
	};
	int err = sley_pipeline_with(stages, 3, tokens, NULL);

	for (int i = 0; i < s->made; i++)
		CHECK_EQ(s->ended[i], 1);
	return err;
}

TEST_WORKERS(pipeline_stages_that_block_hold_no_worker)
{
	static struct scene s;
	struct sley *rt = start();

	/* As many at once as there are tokens, whatever the workers. */
	set_scene(&s);
	s.meet = is_single() ? 1 : 6;
	CHECK_EQ(run_scene(&s, SLEY_STAGE_PARALLEL, 6), 0);
	CHECK_EQ(s.last, NR_ITEMS - 1);
	if (!is_single())
		CHECK_EQ(s.most, 6);
	stop(rt);
}

TEST_WORKERS(pipeline_stages_that_block_keep_their_mode)
{
	static const uint32_t modes[] = { SLEY_STAGE_ORDERED,
					  SLEY_STAGE_SERIAL };
	static struct scene s;
	struct sley *rt = start();

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		for (uint32_t tokens = 1; tokens <= 9; tokens += 4) {
			set_scene(&s);
			CHECK_EQ(run_scene(&s, modes[i], tokens), 0);
			CHECK_EQ(s.most, 1);
			CHECK_EQ(s.last, NR_ITEMS - 1);
		}
	}
	stop(rt);
}

TEST_WORKERS(pipeline_stages_that_block_may_fail)
{
	static struct scene s;
	struct sley *rt = start();

	set_scene(&s);
	s.fail_number = 20;
	CHECK_EQ(run_scene(&s, SLEY_STAGE_PARALLEL, 4), -EIO);
	/* At most 4 items are under way, and number 20 is one of them. */
	CHECK_LT(s.last, 20);
	CHECK_GE(s.last, 20 - 4);
	CHECK_GT(s.made, 20);
	CHECK_LE(s.made, 20 + 4);
	stop(rt);
}

struct caller {
	struct sley_task task;
	struct scene scene;
	int result;
};

static void run_and_tell(void *arg)
{
	struct caller *caller = arg;

	caller->result = run_scene(&caller->scene, SLEY_STAGE_PARALLEL, 4);
}

TEST_WORKERS(pipeline_stages_that_block_end_when_their_caller_is_cancelled)
{
	static struct caller caller;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();

	set_scene(&caller.scene);
	caller.scene.cancel = &caller.task;
	caller.scene.cancel_number = 30;
	sley_spawn(&group, &caller.task, run_and_tell, &caller);
	sley_join(&group);
	CHECK_EQ(caller.result, -ECANCELED);
	CHECK_GT(caller.scene.made, 30);
	CHECK_LE(caller.scene.made, 30 + 4);
	stop(rt);
}

TEST(pipeline_stages_that_block_need_no_runtime)
{
	static struct scene s;

	set_scene(&s);
	CHECK_EQ(run_scene(&s, SLEY_STAGE_PARALLEL, 4), 0);
	CHECK_EQ(s.last, NR_ITEMS - 1);
}

/* ---- where the item goes on -------------------------------------------------- */

/*
 * Each item finds the worker that brought it to the blocking stage held when it
 * comes out, so it can only go on with another one.  With two items and three
 * workers both of their runners wait for a held worker.
 */
#define NR_PASSAGES 2
#define NR_WORKERS_MAX 64

struct passage {
	struct crossing *all;
	int worker; /* that carried the item to the blocking stage */
	struct sley_task holder;
};

struct crossing {
	int nr, made;
	atomic_int through;
	atomic_bool held[NR_WORKERS_MAX];
	struct sley_group group;
	struct passage item[NR_PASSAGES];
};

static void hold_worker(void *arg)
{
	struct crossing *all = arg;

	all->held[sley_worker()] = true;
	while (all->through < all->nr)
		usleep(100);
}

/* What holds this worker starts when the runner steps aside. */
static int make_passage(void **slot, void *arg)
{
	struct crossing *all = arg;
	struct passage *item = &all->item[all->made];

	if (all->made == all->nr)
		return 0;
	all->made++;
	*slot = item;
	item->all = all;
	item->worker = sley_worker();
	return sley_spawn_with(&all->group, &item->holder, hold_worker, all,
			       SLEY_OPTIONS(.pinned = true));
}

static int await_holder(void **slot, void *arg)
{
	const struct passage *item = *slot;

	(void)arg;
	while (!item->all->held[item->worker])
		usleep(100);
	return 0;
}

static int pass(void **slot, void *arg)
{
	const struct passage *item = *slot;

	(void)arg;
	CHECK_NE(sley_worker(), item->worker);
	item->all->through++;
	return 0;
}

TEST_WORKERS(pipeline_items_go_on_anywhere_after_a_stage_that_blocks)
{
	static struct crossing all;
	const struct sley_stage stages[] = {
		{ make_passage, &all, SLEY_STAGE_ORDERED, NULL },
		{ await_holder, NULL, SLEY_STAGE_PARALLEL | SLEY_STAGE_BLOCKS,
		  NULL },
		{ pass, NULL, SLEY_STAGE_SERIAL, NULL },
	};
	struct sley *rt;

	if (nr_runners() < 2)
		return;
	rt = start();
	memset(&all, 0, sizeof(all));
	all.nr = nr_runners() > 2 ? NR_PASSAGES : 1;
	CHECK_EQ(sley_pipeline(stages, 3, 2), 0);
	CHECK_EQ(all.through, all.nr);
	sley_join(&all.group);
	stop(rt);
}
