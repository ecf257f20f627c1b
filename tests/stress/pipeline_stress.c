/* SPDX-License-Identifier: MIT */
/*
 * pipeline_stress.c - pipelines of random shape whose stages block, end items,
 * fail and are cancelled; several at the same time.
 *
 * What an ordered or serial stage keeps is plain: two items there at a time
 * would be a race.  Each item is counted where it ends.
 */
#include "stress/stress.h"

#define NR_STAGES 6
#define NR_LINES 3

struct line {
	struct sley_task task;
	int nr;
	int fail_at; /* visit number; 0: none */
	bool cancel;
	atomic_int visits, out;
	struct stage {
		struct line *line;
		enum sley_stage_mode mode;
		long last; /* number of the item, plain */
	} stage[NR_STAGES];
};

struct item {
	long number;
	struct line *line;
};

static int visit(struct stage *stage, const struct item *item)
{
	struct line *line = stage->line;
	int visits = atomic_fetch_add(&line->visits, 1) + 1;

	if (stage->mode == SLEY_STAGE_ORDERED)
		CHECK_GT(item->number, stage->last);
	if (stage->mode != SLEY_STAGE_PARALLEL)
		stage->last = item->number;
	dawdle();
	if (stage->mode != SLEY_STAGE_PARALLEL)
		CHECK_EQ(stage->last, item->number);
	if (visits != line->fail_at)
		return 0;
	if (!line->cancel)
		return -EIO;
	sley_cancel(&line->task);
	return 0;
}

static void end_item(struct item *item)
{
	atomic_fetch_sub(&item->line->out, 1);
	free(item);
}

static void drop(void *item, void *arg)
{
	(void)arg;
	end_item(item);
}

static int make(void **slot, void *arg)
{
	struct stage *stage = arg;
	struct line *line = stage->line;
	struct item *item;

	if (++stage->last > line->nr)
		return 0;
	item = malloc(sizeof(*item));
	*item = (struct item){ stage->last, line };
	atomic_fetch_add(&line->out, 1);
	*slot = item;
	return 0;
}

static int pass(void **slot, void *arg)
{
	int err = visit(arg, *slot);

	if (!err && one_in(16)) {
		end_item(*slot);
		*slot = NULL;
	}
	return err;
}

static int finish(void **slot, void *arg)
{
	int err = visit(arg, *slot);

	if (!err)
		end_item(*slot);
	return err;
}

static void run_line(void *arg)
{
	struct line *line = arg;
	struct sley_stage stages[NR_STAGES];
	size_t nr = 2 + test_random(NR_STAGES - 1);
	bool struck;
	int err;

	for (size_t i = 0; i < nr; i++) {
		struct stage *stage = &line->stage[i];

		stage->line = line;
		if (i)
			stage->mode = (enum sley_stage_mode)test_random(3);
		stages[i] =
			(struct sley_stage){ pass, stage, stage->mode, drop };
	}
	stages[0].fn = make;
	stages[nr - 1].fn = finish;
	err = sley_pipeline_with(stages, nr, (uint32_t)test_random(12), NULL);
	struck = line->fail_at && atomic_load(&line->visits) >= line->fail_at;
	/* A cancel may come too late; a failure does not. */
	if (line->cancel)
		CHECK(err == 0 || (err == -ECANCELED && struck));
	else
		CHECK_EQ(err, struck ? -EIO : 0);
	CHECK_EQ(line->out, 0);
	if (!err)
		CHECK_EQ(line->stage[0].last > line->nr, true);
}

static void play(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct line line[NR_LINES];

	memset(line, 0, sizeof(line));
	for (int i = 0; i < NR_LINES; i++) {
		line[i].nr = (int)test_random(200);
		if (one_in(2))
			line[i].fail_at = 1 + (int)test_random(400);
		line[i].cancel = one_in(2);
		sley_spawn(&group, &line[i].task, run_line, &line[i]);
	}
	sley_join(&group);
	test_count(NR_LINES);
}

STRESS(pipeline_lines_of_any_shape, play);
