/* SPDX-License-Identifier: MIT */
/*
 * fork_priority.c - a forked child has the priority that its parent had when it
 * forked it, wherever it runs.
 *
 * One worker, so that the order is exact: a parent that blocks leaves its child
 * to be picked among all that is ready.
 */
#include "conformance/bound.h"

enum { NR_OTHERS = 500, URGENT = SLEY_PRIORITY_MIN, LOW = SLEY_PRIORITY_MAX };

struct play {
	struct sley_group group, others;
	struct sley_task parent, other[NR_OTHERS];
	struct sley_event forked; /* the parent is about to block       */
	struct sley_event inside; /* the child has begun                */
	struct sley_event go;     /* the child may go on                */
	struct sley_event ended;
	int priority;
	bool late;      /* set by the parent itself, not when spawned */
	bool blocks;    /* the child waits for go                     */
	int nr_others;  /* that have run                              */
	int when_begun; /* as many had when the child began, or ended */
	int when_ended;
	bool root_first; /* the root went on before the child          */
};

static void be_another(void *arg)
{
	struct play *play = arg;

	play->nr_others++;
}

static void be_the_child(void *arg)
{
	struct play *play = arg;

	play->when_begun = play->nr_others;
	sley_event_set(&play->inside);
	if (play->blocks)
		CHECK_EQ(sley_event_wait(&play->go), 0);
	play->when_ended = play->nr_others;
	sley_event_set(&play->ended);
}

static void be_the_parent(void *arg)
{
	struct play *play = arg;
	struct sley_forked child;

	if (play->late)
		CHECK_EQ(sley_set_priority(&play->parent, play->priority), 0);
	sley_fork(&child, be_the_child, play);
	sley_event_set(&play->forked);
	CHECK_EQ(sley_event_wait(&play->ended), 0);
	sley_fork_join(&child);
}

/* Of default priority. */
static void be_the_root(void *arg)
{
	struct play *play = arg;
	struct sley_options options = { .size = sizeof(options) };

	options.priority = play->late ? 0 : play->priority;
	CHECK_EQ(sley_spawn_with(&play->group, &play->parent, be_the_parent,
				 play, &options),
		 0);
	CHECK_EQ(sley_event_wait(play->blocks ? &play->inside : &play->forked),
		 0);
	play->root_first = !sley_event_is_set(&play->inside);
	for (int i = 0; i < NR_OTHERS; i++)
		sley_spawn(&play->others, &play->other[i], be_another, play);
	sley_event_set(&play->go);
	sley_join(&play->others);
	sley_join(&play->group);
}

static void perform(struct play *play, int workers)
{
	struct sley_config config = config_of(workers);
	struct sley *rt = start_with(&config);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task root;

	sley_spawn(&group, &root, be_the_root, play);
	sley_join(&group);
	stop(rt);
	CHECK_EQ(play->nr_others, NR_OTHERS);
}

static void check_urgent(bool late, int workers)
{
	static struct play play;

	play = (struct play){ .priority = URGENT, .late = late };
	perform(&play, workers);
	CHECK(!play.root_first);
	CHECK_EQ(play.when_ended, 0);
}

static void check_low(bool late, int workers)
{
	static struct play play;

	play = (struct play){ .priority = LOW, .late = late };
	perform(&play, workers);
	CHECK(play.root_first);
	CHECK_EQ(play.when_begun, NR_OTHERS);
}

static void check_woken(bool late, int workers)
{
	static struct play play;

	play = (struct play){ .priority = LOW, .late = late, .blocks = true };
	perform(&play, workers);
	CHECK_EQ(play.when_begun, 0);
	CHECK_EQ(play.when_ended, NR_OTHERS);
}

#define PRIORITY(name, check)                                                  \
	TEST(fork_##name)                                                      \
	{                                                                      \
		check(false, 1);                                               \
	}                                                                      \
	TEST(fork_##name##_single_threaded)                                    \
	{                                                                      \
		check(false, SLEY_SINGLE);                                     \
	}                                                                      \
	TEST(fork_##name##_also_if_it_was_set_later)                           \
	{                                                                      \
		check(true, 1);                                                \
		check(true, SLEY_SINGLE);                                      \
	}

PRIORITY(the_child_of_an_urgent_parent_goes_first, check_urgent)
PRIORITY(the_child_of_a_low_parent_goes_last, check_low)
PRIORITY(a_child_that_is_woken_has_the_level_of_its_parent, check_woken)
