/* SPDX-License-Identifier: MIT */
/*
 * scan.c - for each element, the sum of all that came before.
 *
 * The range is cut into blocks.  Each block is added up, then written, once the sum
 * of all blocks before it is known; in between the block stays in the cache of the
 * core.
 *
 *     block     0        1        2        3        4        5
 *             WRITTEN  WRITING  SUMMED   SUMMING  SUMMING  FRESH
 *                                          │                 │
 *                                        front             fresh
 *
 * Lanes take blocks from the left.  A block whose sum is done waits until the sums
 * of all earlier blocks are done.  As these were taken earlier that is usually so,
 * and the lane of the block goes on to write the block.  If not, the lane takes
 * another block.  The lane that brings the front past the waiting block leaves that
 * block to the next lane that asks: no lane ever waits, so the scan needs no more
 * workers than happen to come.
 *
 * .value[i] is the sum of all before block i, once the front is there; before
 * that, the sum of block i - 1, once block i - 1 is SUMMED.
 *
 * A lane that finds a fresh block at the front writes the block without adding it
 * up first: the sum comes out of the writing.  That is the cheapest way, and lets
 * the front move, so it comes first; meanwhile the other lanes add up the blocks
 * ahead.  Not if ordered: the sums would have other bits.
 *
 * A lane forks the next lane before it begins, so there are as many lanes as
 * workers have time.  The functions of the user may block, so they are called
 * without the lock: one lane at a time moves the front.
 *
 * The table of blocks is in the frame of the call.  Ranges that need a larger table
 * are done in stretches, one after the other.
 *
 * Rejected: two passes over the whole range, which go through memory twice; a
 * chain of lanes that wait for each other, which a lane that is not scheduled
 * holds up; memory for a table of any size, which may not be there.
 */
#include "base/assert.h"
#include "lf/spin.h"
#include "parallel/split.h"

#include <errno.h>
#include <sley/scan.h>
#include <string.h>

/* Elements of a block, at most, unless the grain says more. */
#define BLOCK_MOST 16384

#define TABLE_BYTES 2048
#define TABLE_BLOCKS 255

_Static_assert(TABLE_BLOCKS == TABLE_BYTES / 8 - 1,
	       "there is a mark for each block");

struct scan {
	struct split split; /* its pieces are written in place */
	sley_scan_fn *write;
};

enum block_state {
	BLOCK_FRESH,
	BLOCK_SUMMING, /* also: is being written without a sum         */
	BLOCK_SUMMED,  /* behind the front: may be written             */
	BLOCK_WRITING, /* or written                                   */
};

/* A value that a lane works with, outside of the table. */
struct value {
	_Alignas(16) unsigned char bytes[SLEY_REDUCTION_MAX];
};

/* A stretch of the range, which fits the table. */
struct stretch {
	struct scan *scan;
	size_t begin, end;
	size_t block; /* elements in each; the last block has the rest, too */
	unsigned int nr;

	struct spinlock lock; /* for the members below               */
	unsigned int fresh;   /* blocks that were taken                */
	unsigned int front;   /* its value, and all before, are final  */
	unsigned int waiting; /* SUMMED behind the front               */
	unsigned int forked;  /* lanes that were ever forked           */
	bool moving;          /* a lane moves the front                */
	unsigned char state[TABLE_BLOCKS];
	size_t stride; /* see stride_of() */
	_Alignas(16) unsigned char value[TABLE_BYTES];
};

/* Bytes from value to value: aligned to 16, small ones to 8. */
static size_t stride_of(const struct sley_reduction *sum)
{
	return sum->size <= 8 ? 8 : (sum->size + 15) / 16 * 16;
}

static void *value_at(struct stretch *s, unsigned int i)
{
	return s->value + i * s->stride;
}

static size_t block_begin(const struct stretch *s, unsigned int i)
{
	return s->begin + i * s->block;
}

static size_t block_end(const struct stretch *s, unsigned int i)
{
	return i + 1 == s->nr ? s->end : block_begin(s, i + 1);
}

/* ---- under the lock ------------------------------------------------------- */

enum job_kind {
	JOB_NONE,
	JOB_SUM,   /* then mark the block SUMMED           */
	JOB_WRITE, /* the sum before the block is known    */
	JOB_BOTH,  /* the same, and yields the next sum    */
};

struct job {
	enum job_kind kind;
	unsigned int block;
};

static struct job begin_writing(struct stretch *s, unsigned int i)
{
	s->state[i] = BLOCK_WRITING;
	s->waiting--;
	return (struct job){ JOB_WRITE, i };
}

/* A block that waits to be written; @last, if @last waits. */
static struct job take_waiting(struct stretch *s, unsigned int last)
{
	unsigned int i = 0;

	if (last < s->front && s->state[last] == BLOCK_SUMMED)
		return begin_writing(s, last);
	while (s->state[i] != BLOCK_SUMMED)
		i++;
	sley_assert(i < s->front);
	return begin_writing(s, i);
}

static struct job take_fresh(struct stretch *s, enum job_kind kind)
{
	s->state[s->fresh] = BLOCK_SUMMING;
	return (struct job){ kind, s->fresh++ };
}

static struct job next_job(struct stretch *s, unsigned int last)
{
	if (s->fresh < s->nr && s->fresh == s->front &&
	    !s->scan->split.how.ordered)
		return take_fresh(s, JOB_BOTH);
	if (s->waiting)
		return take_waiting(s, last);
	if (s->fresh < s->nr)
		return take_fresh(s, JOB_SUM);
	return (struct job){ JOB_NONE, 0 };
}

static bool front_can_move(const struct stretch *s)
{
	return s->front < s->nr && s->state[s->front] == BLOCK_SUMMED;
}

/* As far as possible; without the lock while the user's function adds. */
static void move_front(struct stretch *s)
{
	const struct sley_reduction *sum = s->scan->split.sum;

	if (s->moving)
		return;
	s->moving = true;
	while (front_can_move(s)) {
		void *sum_of = value_at(s, s->front + 1);
		struct value value;

		memcpy(&value, value_at(s, s->front), sum->size);
		spin_unlock(&s->lock);
		sum->combine(&value, sum_of, s->scan->split.arg);
		spin_lock(&s->lock);
		memcpy(sum_of, &value, sum->size);
		s->front++;
		s->waiting++;
	}
	s->moving = false;
}

/* ---- lanes ------------------------------------------------------------------ */

static void add_up(struct stretch *s, unsigned int i)
{
	const struct sley_reduction *sum = s->scan->split.sum;
	struct value value;

	sum->init(&value, s->scan->split.arg);
	sum->add(&value, block_begin(s, i), block_end(s, i),
		 s->scan->split.arg);
	spin_lock(&s->lock);
	memcpy(value_at(s, i + 1), &value, sum->size);
	s->state[i] = BLOCK_SUMMED;
	move_front(s);
}

/* Returns with the lock. */
static void write_block(struct stretch *s, struct job job)
{
	const struct sley_reduction *sum = s->scan->split.sum;
	struct value value;

	memcpy(&value, value_at(s, job.block), sum->size);
	s->scan->write(&value, block_begin(s, job.block),
		       block_end(s, job.block), s->scan->split.arg);
	spin_lock(&s->lock);
	if (job.kind == JOB_WRITE)
		return;
	memcpy(value_at(s, job.block + 1), &value, sum->size);
	s->state[job.block] = BLOCK_WRITING;
	s->front++;
	move_front(s);
}

/* Do all jobs; with the lock, before and after. */
static void work(struct stretch *s)
{
	struct job job = { JOB_NONE, 0 };

	while ((job = next_job(s, job.block)).kind != JOB_NONE) {
		spin_unlock(&s->lock);
		if (split_leave_out(&s->scan->split, s->begin)) {
			spin_lock(&s->lock);
			return;
		}
		if (job.kind == JOB_SUM)
			add_up(s, job.block);
		else
			write_block(s, job);
	}
}

static bool wants_a_lane(const struct stretch *s)
{
	return s->fresh + 1 < s->nr &&
	       s->forked + 1 < how_workers(&s->scan->split.how);
}

static void lane(void *arg);

static void forked_lane(void *arg)
{
	struct stretch *s = arg;
	struct how_before before = how_enter(&s->scan->split.how);

	lane(s);
	how_leave(before);
}

static void lane(void *arg)
{
	struct stretch *s = arg;
	const struct how *how = &s->scan->split.how;
	struct sley_forked next;
	bool forks;

	spin_lock(&s->lock);
	forks = wants_a_lane(s);
	if (forks) {
		s->forked++;
		spin_unlock(&s->lock);
		how_fork(how, &next, forked_lane, s);
		spin_lock(&s->lock);
	}
	work(s);
	spin_unlock(&s->lock);
	if (forks)
		how_join(how, &next);
}

/* ---- stretches ----------------------------------------------------------------- */

/* No block is shorter than @block, unless there is only one. */
static unsigned int nr_blocks(size_t length, size_t block)
{
	return length < block ? 1 : (unsigned int)(length / block);
}

/* @value: the sum before @begin; on return, the sum before @end. */
static void run_stretch(struct scan *scan, size_t begin, size_t end,
			size_t block, void *value)
{
	size_t size = scan->split.sum->size;
	struct stretch s = {
		.scan = scan,
		.begin = begin,
		.end = end,
		.block = block,
		.nr = nr_blocks(end - begin, block),
		.stride = stride_of(scan->split.sum),
	};

	memcpy(s.value, value, size);
	lane(&s);
	memcpy(value, value_at(&s, s.nr), size);
}

static size_t block_length(const struct split *split)
{
	if (split->how.grain || split->grain < BLOCK_MOST)
		return split->grain;
	return BLOCK_MOST;
}

/* There is one value more than blocks. */
static size_t blocks_in_table(const struct sley_reduction *sum)
{
	return TABLE_BYTES / stride_of(sum) - 1;
}

static void scan_rest(struct split *split, size_t begin, size_t end,
		      void *value)
{
	struct scan *scan = container_of(split, struct scan, split);
	size_t block = block_length(split);
	size_t nr = blocks_in_table(split->sum);
	size_t most = block <= SIZE_MAX / nr ? block * nr : SIZE_MAX;

	while (begin < end && !split_leave_out(split, begin)) {
		size_t left = end - begin;
		/* Nothing shorter than a block stays behind. */
		size_t length = left < most || left - most < block ? left
								   : most;

		run_stretch(scan, begin, begin + length, block, value);
		begin += length;
	}
}

/* ---- the generic form -------------------------------------------------------------- */

static void write_first(struct split *split, size_t begin, size_t end,
			void *value)
{
	struct scan *scan = container_of(split, struct scan, split);

	scan->write(value, begin, end, split->arg);
}

static int scan_run(struct scan *scan, size_t begin, size_t end)
{
	struct split *split = &scan->split;
	struct value value;

	split->piece = write_first;
	split->rest = scan_rest;
	split->sum->init(&value, split->arg);
	return split_run(split, begin, end, &value);
}

static bool size_allowed(const struct sley_reduction *sum)
{
	return sum->size >= 1 && sum->size <= SLEY_REDUCTION_MAX;
}

void sley_scan(size_t begin, size_t end, const struct sley_reduction *sum,
	       sley_scan_fn *write, void *arg)
{
	struct scan scan = {
		.split = { .sum = sum, .arg = arg },
		.write = write,
	};

	sley_check_fn(write && sum->init && sum->add && sum->combine);
	sley_check(size_allowed(sum),
		   "a value of a reduction has 1 to SLEY_REDUCTION_MAX bytes");
	how_default(&scan.split.how);
	(void)!scan_run(&scan, begin, end);
}

int sley_scan_with(size_t begin, size_t end, const struct sley_reduction *sum,
		   sley_scan_fn *write, void *arg, const struct sley_how *how)
{
	struct scan scan = {
		.split = { .sum = sum, .arg = arg },
		.write = write,
	};
	int err = size_allowed(sum) ? how_read(&scan.split.how, how) : -EINVAL;

	sley_check_fn(write && sum->init && sum->add && sum->combine);
	return err ? err : scan_run(&scan, begin, end);
}
