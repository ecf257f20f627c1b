/* SPDX-License-Identifier: MIT */
/*
 * fork_blocking.c - forked children and their parents block, in every way and
 * at any depth: each child runs once, its parent sees what it did, and nothing
 * hangs; in runtimes of each kind.
 */
#include "conformance/task/ways.h"

#include <stdlib.h>

enum { NR_ROOTS = 4 };

/* ---- runtimes of each kind ------------------------------------------------ */

static void play_in(const struct sley_config *config, void (*play)(void))
{
	struct sley *rt = start_with(config);

	play();
	stop(rt);
}

/* Also with three workers: an odd one, and not one for each CPU. */
static void in_each_kind(void (*play)(void))
{
	test_timeout(60);
	for (int kind = 0; kind < 4; kind++) {
		struct sley_config config = *test_config();

		config.migratable = kind & 1;
		config.no_membarrier = kind & 2;
		play_in(&config, play);
		if (config.workers == 2) {
			config.workers = 3;
			play_in(&config, play);
		}
	}
}

/* ---- each way --------------------------------------------------------------- */

static void grow_trees(enum way way, unsigned int depth)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[NR_ROOTS];
	struct branch root[NR_ROOTS];
	struct ways ways;

	ways_begin(&ways, false);
	for (int i = 0; i < NR_ROOTS; i++) {
		root[i] = (struct branch){ .ways = &ways,
					   .way = way,
					   .depth = depth };
		sley_spawn(&group, &task[i], branch_grow, &root[i]);
	}
	sley_join(&group);
	for (int i = 0; i < NR_ROOTS; i++) {
		CHECK_EQ(root[i].runs, 1);
		CHECK_EQ(root[i].nr, branch_count(depth));
	}
	ways_end(&ways);
}

#define WAY(name, way)                                                         \
	static void play_##name(void)                                          \
	{                                                                      \
		grow_trees(way, test_is_slow() ? 2 : 4);                       \
	}                                                                      \
	TEST_WORKERS(fork_children_block_by_##name)                            \
	{                                                                      \
		in_each_kind(play_##name);                                     \
	}

WAY(nothing, WAY_NONE)
WAY(yielding, WAY_YIELD)
WAY(a_mutex, WAY_MUTEX)
WAY(a_channel, WAY_CHAN)
WAY(sleeping, WAY_SLEEP)
WAY(a_blocking_call, WAY_CALL)
WAY(a_blocking_region, WAY_REGION)
WAY(an_event, WAY_EVENT)
WAY(a_nested_group, WAY_GROUP)
WAY(a_select, WAY_SELECT)

static void play_any(void)
{
	grow_trees(WAY_ANY, test_is_slow() ? 3 : 6);
}

TEST_WORKERS(fork_children_block_in_any_way_at_any_depth)
{
	in_each_kind(play_any);
}

/* ---- a child that was resumed ------------------------------------------------ */

struct resumed {
	struct sley_event go;
	atomic_int waiting, ran;
	unsigned int depth;
};

/* Each generation waits for the same event, then forks the next. */
static void wait_and_fork(void *arg)
{
	struct resumed *r = arg, below = { .go = SLEY_EVENT_INIT };
	struct sley_forked child[2];

	atomic_fetch_add(&r->waiting, 1);
	CHECK_EQ(sley_event_wait(&r->go), 0);
	if (r->depth) {
		below.depth = r->depth - 1;
		for (int i = 0; i < 2; i++)
			sley_fork(&child[i], wait_and_fork, &below);
		/* Both wait, here or elsewhere, before they may go on. */
		while (atomic_load(&below.waiting) < 2)
			sley_yield();
		sley_event_set(&below.go);
		for (int i = 2; i-- > 0;)
			sley_fork_join(&child[i]);
		CHECK_EQ(below.ran, 2);
	}
	atomic_fetch_add(&r->ran, 1);
}

static void play_resumed(void)
{
	struct resumed r = { .go = SLEY_EVENT_INIT, .depth = 5 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[2];

	for (int i = 0; i < 2; i++)
		sley_spawn(&group, &task[i], wait_and_fork, &r);
	while (atomic_load(&r.waiting) < 2)
		CHECK_EQ(sley_sleep(SLEY_USEC), 0);
	sley_event_set(&r.go);
	sley_join(&group);
	CHECK_EQ(r.ran, 2);
}

TEST_WORKERS(fork_a_child_that_was_blocked_and_resumed_forks)
{
	in_each_kind(play_resumed);
}

/* ---- children that wait for each other ---------------------------------------- */

struct relay {
	struct sley_chan *chan[9];
	atomic_int next;
};

/* Takes from the one before it, which is in another child. */
static void pass_on(void *arg)
{
	struct relay *relay = arg;
	int i = atomic_fetch_add(&relay->next, 1), value;

	CHECK_EQ(sley_chan_recv(relay->chan[i], &value), 0);
	value++;
	CHECK_EQ(sley_chan_send(relay->chan[i + 1], &value), 0);
}

/*
 * The parent is the last of a chain of its own children: it blocks in the
 * middle of them, and each of them must get a stack.
 */
static void run_relay(void *arg)
{
	struct sley_forked child[8];
	struct relay relay = { .next = 0 };
	int value = 0;

	for (int i = 0; i < 9; i++)
		CHECK_EQ(sley_chan_create(&relay.chan[i], sizeof(int), 0), 0);
	for (int i = 0; i < 8; i++)
		sley_fork(&child[i], pass_on, &relay);
	CHECK_EQ(sley_chan_send(relay.chan[0], &value), 0);
	CHECK_EQ(sley_chan_recv(relay.chan[8], &value), 0);
	CHECK_EQ(value, 8);
	for (int i = 8; i-- > 0;)
		sley_fork_join(&child[i]);
	for (int i = 0; i < 9; i++)
		sley_chan_destroy(relay.chan[i]);
	count_task(arg);
}

static void play_relay(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[8];
	atomic_int done = 0;

	for (int i = 0; i < 8; i++)
		sley_spawn(&group, &task[i], run_relay, &done);
	sley_join(&group);
	CHECK_EQ(done, 8);
}

TEST_WORKERS(fork_children_that_need_each_other_all_get_a_stack)
{
	in_each_kind(play_relay);
}

/* ---- between children and others ------------------------------------------------ */

struct handover {
	struct sley_mutex mutex;
	struct sley_event inside, leave;
	int value; /* plain */
};

static void hold_the_mutex(void *arg)
{
	struct handover *h = arg;

	sley_mutex_lock(&h->mutex);
	sley_event_set(&h->inside);
	CHECK_EQ(sley_event_wait(&h->leave), 0);
	h->value = 1;
	sley_mutex_unlock(&h->mutex);
}

/*
 * A child holds a lock that its parent wants before it joins it; the child is
 * blocked itself, and only the parent's other child lets it go.
 */
static void let_go(void *arg)
{
	struct handover *h = arg;

	CHECK_EQ(sley_event_wait(&h->inside), 0);
	sley_event_set(&h->leave);
}

static void want_the_mutex(void *arg)
{
	struct handover h = { .mutex = SLEY_MUTEX_INIT,
			      .inside = SLEY_EVENT_INIT,
			      .leave = SLEY_EVENT_INIT };
	struct sley_forked holder, other;

	sley_fork(&holder, hold_the_mutex, &h);
	sley_fork(&other, let_go, &h);
	CHECK_EQ(sley_event_wait(&h.inside), 0);
	sley_mutex_lock(&h.mutex);
	CHECK_EQ(h.value, 1);
	sley_mutex_unlock(&h.mutex);
	sley_fork_join(&other);
	sley_fork_join(&holder);
	count_task(arg);
}

static void play_handover(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[16];
	atomic_int done = 0;

	for (int i = 0; i < 16; i++)
		sley_spawn(&group, &task[i], want_the_mutex, &done);
	sley_join(&group);
	CHECK_EQ(done, 16);
}

TEST_WORKERS(fork_a_parent_waits_for_what_its_unjoined_child_holds)
{
	in_each_kind(play_handover);
}

/* A deadline that passes while the child is elsewhere, and the join later. */
static void give_up_first(void *arg)
{
	struct sley_event never = SLEY_EVENT_INIT, done = SLEY_EVENT_INIT;
	struct sley_forked child;

	sley_fork(&child, way_set_event, &done);
	CHECK_EQ(sley_event_wait_until(&never, sley_now() + SLEY_MSEC),
		 -ETIMEDOUT);
	CHECK_EQ(sley_event_wait(&done), 0);
	sley_fork_join(&child);
	count_task(arg);
}

static void play_give_up(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[16];
	atomic_int done = 0;

	for (int i = 0; i < 16; i++)
		sley_spawn(&group, &task[i], give_up_first, &done);
	sley_join(&group);
	CHECK_EQ(done, 16);
}

TEST_WORKERS(fork_a_parent_whose_wait_timed_out_joins_its_child)
{
	in_each_kind(play_give_up);
}
