/* SPDX-License-Identifier: MIT */
/*
 * parallel_scan.c - src/parallel/scan.c: lanes that take blocks from one table.
 *
 * The values are ranges, which can be joined with their right neighbour only:
 * each write must find the very range from the beginning to its block.  Every
 * block is added up at most once and written once, by any lane.  The table and the
 * marks of the blocks are plain: an access that the lock does not order is a race.
 *
 * Complete for two lanes over one block and over two; and over two that are both
 * added up first, which begins where each lane has taken one.  A third block is
 * too much: it doubles what each lane may do.  A third lane would do what the
 * second does.  Not here: how lanes are forked (core_steal.c), and cancelling,
 * which ends the lanes between blocks.
 */
#include "explorer.h"

#include "never.h"
#include "selves.h"
#include "parallel/scan.c"

struct range {
	size_t begin, end;
};

static struct stretch stretch;
static struct scan scan;
static struct ledger {
	int added[4], written[4];
} ledger;

/* ---- the rest of the library ------------------------------------------------ */

void how_default(struct how *how)
{
	(void)how;
	never();
}

int how_read(struct how *how, const struct sley_how *given)
{
	(void)how;
	(void)given;
	never();
	return 0;
}

int split_run(struct split *split, size_t begin, size_t end, void *value)
{
	(void)split;
	(void)begin;
	(void)end;
	(void)value;
	never();
	return 0;
}

bool split_leave_out(struct split *split, size_t at)
{
	(void)split;
	(void)at;
	return false;
}

static struct sley_forks nobodys;
__thread struct sley_forks *sley_forks_current;

struct sley_forks *sley_forks_slow(void)
{
	never();
	return &nobodys;
}

struct sley_forks *sley_fork_slow(struct sley_forked *child)
{
	(void)child;
	never();
	return &nobodys;
}

void sley_fork_join_slow(struct sley_forked *child)
{
	(void)child;
	never();
}

/* ---- the functions of the user ------------------------------------------------ */

static void range_init(void *value, void *arg)
{
	struct range *range = value;

	(void)arg;
	*range = (struct range){ 0, 0 };
}

static void range_join(struct range *range, size_t begin, size_t end)
{
	if (range->end == range->begin)
		range->begin = begin;
	else
		MODEL_CHECK(range->end == begin);
	range->end = end;
}

static void range_add(void *value, size_t begin, size_t end, void *arg)
{
	(void)arg;
	MODEL_CHECK(end == begin + 1);
	MODEL_CHECK(ledger.added[begin]++ == 0);
	range_join(value, begin, end);
}

static void range_combine(void *value, const void *right, void *arg)
{
	const struct range *range = right;

	(void)arg;
	range_join(value, range->begin, range->end);
}

static void range_write(void *before, size_t begin, size_t end, void *arg)
{
	struct range *range = before;

	(void)arg;
	MODEL_CHECK(range->begin == 0);
	MODEL_CHECK(range->end == begin);
	MODEL_CHECK(ledger.written[begin]++ == 0);
	range_join(range, begin, end);
}

static const struct sley_reduction ranges = {
	.size = sizeof(struct range),
	.init = range_init,
	.add = range_add,
	.combine = range_combine,
};

/* ---- the models ------------------------------------------------------------------ */

static void begin_with(unsigned int nr, bool ordered)
{
	scan = (struct scan){ .split.sum = &ranges, .write = range_write };
	scan.split.how.ordered = ordered;
	stretch = (struct stretch){
		.scan = &scan,
		.end = nr,
		.block = 1,
		.nr = nr,
		.stride = sizeof(struct range),
	};
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	model_name(&stretch.lock.word, "lock");
}

static void begin_one(void)
{
	begin_with(1, false);
}

static void begin_two(void)
{
	begin_with(2, false);
}

/* Each lane has taken a block, and is about to add it up. */
static void begin_in_the_middle(void)
{
	begin_with(2, true);
	stretch.fresh = 2;
	stretch.state[0] = stretch.state[1] = BLOCK_SUMMING;
}

static void run_lane(int id)
{
	(void)id;
	lane(&stretch);
}

static void run_from_the_middle(int id)
{
	add_up(&stretch, (unsigned int)id);
	work(&stretch);
	spin_unlock(&stretch.lock);
}

static void all_is_written(void)
{
	const struct range *range = value_at(&stretch, stretch.nr);

	for (unsigned int i = 0; i < stretch.nr; i++) {
		MODEL_CHECK(ledger.written[i] == 1);
		MODEL_CHECK(ledger.added[i] == 1 || !scan.split.how.ordered);
	}
	MODEL_CHECK(range->begin == 0 && range->end == stretch.nr);
	MODEL_CHECK(stretch.front == stretch.nr);
	MODEL_CHECK(stretch.waiting == 0);
}

MODEL(one_block_for_two_lanes, .setup = begin_one,
      .threads = { run_lane, run_lane }, .finish = all_is_written);

MODEL(two_blocks_for_two_lanes, .setup = begin_two,
      .threads = { run_lane, run_lane }, .finish = all_is_written);

MODEL(two_blocks_all_added_up, .setup = begin_in_the_middle,
      .threads = { run_from_the_middle, run_from_the_middle },
      .finish = all_is_written);
