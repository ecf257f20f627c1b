/* SPDX-License-Identifier: MIT */
/*
 * ways.h - all the ways in which a task may block, for trees of forked children
 * that do so in the middle of everything.
 *
 * Each blocks for a short time, whoever else does: nobody needs another one of
 * the tree to come by, so that a tree that hangs is a mistake of the library.
 */
#ifndef SLEY_TESTS_CONFORMANCE_TASK_WAYS_H
#define SLEY_TESTS_CONFORMANCE_TASK_WAYS_H

#include "conformance/bound.h"

enum way {
	WAY_NONE,
	WAY_YIELD,
	WAY_MUTEX,
	WAY_CHAN,
	WAY_SLEEP,
	WAY_CALL,
	WAY_REGION,
	WAY_EVENT,
	WAY_GROUP,
	WAY_SELECT,
	NR_WAYS,
	WAY_ANY = NR_WAYS, /* each time another one */
};

/* What they share. */
struct ways {
	struct sley_mutex mutex;
	long under_mutex; /* plain: the lock protects it    */
	atomic_long locked, sent, calls;
	struct sley_chan *chan; /* has room for one               */
	struct sley_chan *quiet;
	bool cancels; /* somebody cancels: waits may fail */
};

static inline void ways_begin(struct ways *ways, bool cancels)
{
	*ways = (struct ways){ .mutex = SLEY_MUTEX_INIT, .cancels = cancels };
	CHECK_EQ(sley_chan_create(&ways->chan, sizeof(int), 1), 0);
	CHECK_EQ(sley_chan_create(&ways->quiet, sizeof(int), 1), 0);
}

static inline void ways_end(struct ways *ways)
{
	int value;

	CHECK_EQ(ways->under_mutex, ways->locked);
	CHECK_EQ(sley_chan_try_recv(ways->chan, &value), -EAGAIN);
	sley_chan_destroy(ways->chan);
	sley_chan_destroy(ways->quiet);
}

/* True: it was not cancelled. */
static inline bool way_went(const struct ways *ways, int err)
{
	CHECK(err == 0 || (ways->cancels && err == -ECANCELED));
	return err == 0;
}

static inline void way_mutex(struct ways *ways)
{
	long before;

	sley_mutex_lock(&ways->mutex);
	before = ways->under_mutex;
	sley_yield();
	ways->under_mutex = before + 1;
	sley_mutex_unlock(&ways->mutex);
	atomic_fetch_add(&ways->locked, 1);
}

/* Everybody takes out as many as it has put in: one is there. */
static inline void way_chan(struct ways *ways)
{
	int value = 1;

	if (!way_went(ways, sley_chan_send(ways->chan, &value)))
		return;
	atomic_fetch_add(&ways->sent, 1);
	sley_yield();
	if (!way_went(ways, sley_chan_recv(ways->chan, &value)))
		CHECK_EQ(sley_chan_try_recv(ways->chan, &value), 0);
}

static inline void way_count_call(void *arg)
{
	struct ways *ways = arg;

	atomic_fetch_add(&ways->calls, 1);
}

static inline void way_region(struct ways *ways)
{
	int err = sley_blocking_begin();

	CHECK(err == 0 || err == -EAGAIN);
	way_count_call(ways);
	sley_blocking_end();
}

static inline void way_set_event(void *arg)
{
	sley_event_set(arg);
}

static inline void way_event(struct ways *ways)
{
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, way_set_event, &event);
	(void)way_went(ways, sley_event_wait(&event));
	sley_join(&group);
}

static inline void way_fork_one(void *arg)
{
	struct sley_forked child;
	atomic_int ran = 0;

	sley_fork(&child, count_task, &ran);
	sley_yield();
	sley_fork_join(&child);
	CHECK_EQ(ran, 1);
	count_task(arg);
}

/* Tasks that fork, too. */
static inline void way_group(struct ways *ways)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[2];
	atomic_int ran = 0;

	for (int i = 0; i < 2; i++)
		sley_spawn(&group, &task[i], way_fork_one, &ran);
	sley_join(&group);
	CHECK(ran == 2 || ways->cancels);
}

static inline void way_send(void *arg)
{
	int value = 7, err = sley_chan_send(arg, &value);

	CHECK(err == 0 || err == -ECANCELED);
}

static inline void way_select(struct ways *ways)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_chan *chan;
	struct sley_task task;
	int value = 0, which;

	CHECK_EQ(sley_chan_create(&chan, sizeof(int), 1), 0);
	sley_spawn(&group, &task, way_send, chan);
	which = sley_select(
		(struct sley_case[]){ SLEY_CASE_RECV(ways->quiet, &value),
				      SLEY_CASE_RECV(chan, &value) },
		2);
	if (which == 1)
		CHECK_EQ(value, 7);
	else
		CHECK(ways->cancels && which == -ECANCELED);
	sley_join(&group);
	sley_chan_destroy(chan);
}

/* The calling task blocks. */
static inline void way_block(struct ways *ways, enum way way)
{
	if (way == WAY_ANY)
		way = (enum way)test_random(NR_WAYS);
	switch (way) {
	case WAY_YIELD:
		sley_yield();
		break;
	case WAY_MUTEX:
		way_mutex(ways);
		break;
	case WAY_CHAN:
		way_chan(ways);
		break;
	case WAY_SLEEP:
		(void)way_went(ways, sley_sleep(test_random(100) * SLEY_USEC));
		break;
	case WAY_CALL:
		(void)way_went(ways, sley_blocking_call(way_count_call, ways));
		break;
	case WAY_REGION:
		way_region(ways);
		break;
	case WAY_EVENT:
		way_event(ways);
		break;
	case WAY_GROUP:
		way_group(ways);
		break;
	case WAY_SELECT:
		way_select(ways);
		break;
	default:
		break;
	}
}

/* ---- a tree of them ------------------------------------------------------ */

#define BRANCHES 3

/* Plain: what a child writes is published by its join. */
struct branch {
	struct ways *ways;
	enum way way;
	unsigned int depth;
	unsigned int runs;
	unsigned long nr; /* it, and all below it */
};

static inline bool one_of_two(void)
{
	return test_random(2);
}

/* Blocks before it forks, between forks and before it joins, or does not. */
static inline void branch_grow(void *arg)
{
	struct branch *branch = arg, child[BRANCHES];
	struct sley_forked fork[BRANCHES];
	unsigned int nr = branch->depth ? BRANCHES : 0;

	branch->runs++;
	if (one_of_two())
		way_block(branch->ways, branch->way);
	for (unsigned int i = 0; i < nr; i++) {
		child[i] = (struct branch){ .ways = branch->ways,
					    .way = branch->way,
					    .depth = branch->depth - 1 };
		sley_fork(&fork[i], branch_grow, &child[i]);
		if (i == 1 && one_of_two())
			way_block(branch->ways, branch->way);
	}
	if (one_of_two())
		way_block(branch->ways, branch->way);
	branch->nr = 1;
	for (unsigned int i = nr; i-- > 0;) {
		sley_fork_join(&fork[i]);
		CHECK_EQ(child[i].runs, 1);
		branch->nr += child[i].nr;
	}
}

/* How many there are in a tree. */
static inline unsigned long branch_count(unsigned int depth)
{
	return depth ? 1 + BRANCHES * branch_count(depth - 1) : 1;
}

#endif
