/* SPDX-License-Identifier: MIT */
/*
 * yield.c - a task that yields goes behind all that its worker could run.
 *
 * One yield is enough for everything that was ready to have its turn: that is
 * counted, for each kind of ready task.  The tasks are on one worker; the others,
 * if there are any, are held, so that nobody steals and the count is exact.  Where
 * others steal, what was stolen starts elsewhere; then only the end is counted.
 */
#include "conformance/bound.h"

enum { MANY = 1000, MORE = 5000 }; /* a ring holds 1024 */

static struct sley_task tasks[MORE], woken[MANY];
static struct sley_group group;
static atomic_int nr_started;

static void start_one(void *arg)
{
	(void)arg;
	nr_started++;
}

/* @fn as a task of @priority on a worker that nobody steals from. */
static void run_alone_as(sley_fn *fn, int priority)
{
	struct sley_task holder[64], root;
	struct sley_group holders = SLEY_GROUP_INIT, roots = SLEY_GROUP_INIT;
	struct gate gate = { 0 };
	struct sley *rt = start();
	int nr_held = nr_runners() - 1;

	CHECK_LE(nr_held, (int)ARRAY_SIZE(holder));
	group = (struct sley_group)SLEY_GROUP_INIT;
	nr_started = 0;
	for (int i = 0; i < nr_held; i++)
		sley_spawn(&holders, &holder[i], gate_task, &gate);
	CHECK_SOON(gate.held == nr_held);
	CHECK_EQ(sley_spawn_with(&roots, &root, fn, NULL,
				 SLEY_OPTIONS(.priority = priority)),
		 0);
	sley_join(&roots);
	gate_open(&gate);
	sley_join(&holders);
	stop(rt);
}

static void run_alone(sley_fn *fn)
{
	run_alone_as(fn, 0);
}

/* ---- what is spawned -------------------------------------------------------------- */

static void spawn_some(int nr, const struct sley_options *options)
{
	for (int i = 0; i < nr; i++)
		CHECK_EQ(sley_spawn_with(&group, &tasks[i], start_one, NULL,
					 options),
			 0);
}

static void yield_behind_many(void *arg)
{
	(void)arg;
	spawn_some(MANY, NULL);
	sley_yield();
	CHECK_EQ(nr_started, MANY);
	sley_join(&group);
}

TEST_WORKERS(a_yield_lets_all_that_was_spawned_start)
{
	run_alone(yield_behind_many);
}

/* More than fit into the worker's own queue. */
static void yield_behind_more(void *arg)
{
	(void)arg;
	spawn_some(MORE, NULL);
	sley_yield();
	CHECK_EQ(nr_started, MORE);
	sley_join(&group);
}

TEST_WORKERS(a_yield_lets_all_start_that_had_to_go_elsewhere)
{
	run_alone(yield_behind_more);
}

static void yield_behind_pinned(void *arg)
{
	(void)arg;
	spawn_some(MANY, SLEY_OPTIONS(.pinned = true));
	sley_yield();
	CHECK_EQ(nr_started, MANY);
	sley_join(&group);
}

TEST_WORKERS(a_yield_lets_all_that_is_pinned_start)
{
	run_alone(yield_behind_pinned);
}

/* A bound thread of a single-threaded runtime is a task like the others. */
TEST(a_yield_of_the_bound_thread_lets_all_start)
{
	struct sley *rt = start_single();

	group = (struct sley_group)SLEY_GROUP_INIT;
	yield_behind_more(NULL);
	stop(rt);
}

/* ---- priorities ------------------------------------------------------------------- */

static int own, other; /* priorities */

static void yield_by_priority(void *arg)
{
	(void)arg;
	spawn_some(MANY, SLEY_OPTIONS(.priority = other));
	sley_yield();
	CHECK_EQ(nr_started, MANY);
	sley_join(&group);
}

TEST_WORKERS(a_yield_lets_all_of_its_own_and_higher_priority_start)
{
	static const int priority[] = { SLEY_PRIORITY_MIN, -3, 0, 3,
					SLEY_PRIORITY_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(priority); i++) {
		for (size_t k = 0; k <= i; k++) {
			own = priority[i];
			other = priority[k];
			run_alone_as(yield_by_priority, own);
		}
	}
}

/* What is less urgent than the default waits until nothing else is ready. */
static void yield_above_low(void *arg)
{
	(void)arg;
	spawn_some(MANY, SLEY_OPTIONS(.priority = other));
	for (int i = 0; i < MANY; i++)
		sley_yield();
	CHECK_EQ(nr_started, 0);
	sley_join(&group);
	CHECK_EQ(nr_started, MANY);
}

TEST_WORKERS(a_yield_lets_nothing_of_lower_than_default_priority_start)
{
	other = 1;
	run_alone_as(yield_above_low, 0);
	other = 4;
	run_alone_as(yield_above_low, 3);
}

/* The priority of a task changes while it waits to go on, and of what it waits for. */
static struct sley_task changed;
static bool changed_went_on;

static void yield_once(void *arg)
{
	(void)arg;
	sley_yield();
	changed_went_on = true;
}

static void change_while_yielding(void *arg)
{
	(void)arg;
	changed_went_on = false;
	sley_spawn(&group, &changed, yield_once, NULL);
	sley_yield();
	spawn_some(MANY, NULL);
	for (int i = 0; i < MANY; i += 2)
		CHECK_EQ(sley_set_priority(&tasks[i], -1), 0);
	CHECK_EQ(sley_set_priority(&changed, -2), 0);
	sley_yield();
	CHECK(changed_went_on);
	CHECK_EQ(nr_started, MANY);
	sley_join(&group);
}

TEST_WORKERS(a_yield_lets_all_start_whose_priority_changes)
{
	run_alone(change_while_yielding);
}

/* ---- what is woken ------------------------------------------------------------------ */

static struct sley_event all;
static int nr_waiting;

static void wait_and_count(void *arg)
{
	(void)arg;
	nr_waiting++;
	CHECK_EQ(sley_event_wait(&all), 0);
	nr_started++;
}

static void yield_behind_woken(void *arg)
{
	(void)arg;
	nr_waiting = 0;
	sley_event_init(&all, false, false);
	for (int i = 0; i < MANY; i++)
		sley_spawn(&group, &woken[i], wait_and_count, NULL);
	sley_yield();
	CHECK_EQ(nr_waiting, MANY);
	spawn_some(MANY, NULL);
	sley_event_set(&all);
	sley_yield();
	CHECK_EQ(nr_started, 2 * MANY);
	sley_join(&group);
}

TEST_WORKERS(a_yield_lets_all_that_was_woken_go_on)
{
	run_alone(yield_behind_woken);
}

/* ---- those who poll ------------------------------------------------------------------ */

static bool polled;

static void poll_on(void *arg)
{
	(void)arg;
	while (!polled)
		sley_yield();
}

/* A task that polls starts another one, beside two that poll as well. */
static void start_beside_pollers(void *arg)
{
	const struct sley_options *options = SLEY_OPTIONS(.priority = own);
	struct sley_group pollers = SLEY_GROUP_INIT;
	struct sley_task poller[2];

	(void)arg;
	polled = false;
	for (int i = 0; i < 2; i++)
		CHECK_EQ(sley_spawn_with(&pollers, &poller[i], poll_on, NULL,
					 options),
			 0);
	sley_yield();
	for (int i = 0; i < MANY; i++) {
		CHECK_EQ(sley_spawn_with(&group, &tasks[i], start_one, NULL,
					 options),
			 0);
		sley_yield();
		CHECK_EQ(nr_started, i + 1);
	}
	polled = true;
	sley_join(&pollers);
	sley_join(&group);
}

TEST_WORKERS(a_new_task_starts_beside_two_that_poll)
{
	own = 0;
	run_alone(start_beside_pollers);
}

/* New tasks of another priority are in a queue that all workers share. */
TEST_WORKERS(a_new_task_starts_beside_two_of_its_priority_that_poll)
{
	for (own = -1; own <= 1; own += 2)
		run_alone_as(start_beside_pollers, own);
}

/* ---- and it has its turn again --------------------------------------------------------- */

enum { BREEDERS = 4 };

static bool bred; /* no more of them */

/* Never out of new tasks: as soon as two have ended there are two others. */
static void breed(void *arg)
{
	struct sley_task pair[2];

	(void)arg;
	while (!bred) {
		struct sley_group both = SLEY_GROUP_INIT;

		sley_spawn(&both, &pair[0], start_one, NULL);
		sley_spawn(&both, &pair[1], start_one, NULL);
		sley_join(&both);
	}
}

static void yield_beside_breeders(void *arg)
{
	(void)arg;
	bred = false;
	for (int i = 0; i < BREEDERS; i++)
		sley_spawn(&group, &tasks[i], breed, NULL);
	sley_yield();
	for (int i = 0; i < MANY; i++) {
		int before = nr_started;

		sley_yield();
		/* What came while these ran is behind the yield. */
		CHECK_LE(nr_started - before, 4 * BREEDERS);
	}
	CHECK_GE(nr_started, BREEDERS * MANY);
	bred = true;
	sley_join(&group);
}

TEST_WORKERS(who_yields_goes_on_before_what_comes_later)
{
	run_alone(yield_beside_breeders);
}

/* With nothing else to do there is nothing to wait for. */
static void yield_alone(void *arg)
{
	(void)arg;
	for (int i = 0; i < 100 * MANY; i++)
		sley_yield();
}

TEST_WORKERS(a_yield_with_nothing_ready_returns)
{
	run_alone(yield_alone);
}

/* ---- forked children ------------------------------------------------------------------- */

static void fork_and_wait(void *arg)
{
	struct sley_forked child[10];

	(void)arg;
	for (int i = 0; i < 10; i++)
		sley_fork(&child[i], start_one, NULL);
	CHECK_EQ(sley_event_wait(&all), 0);
	for (int i = 9; i >= 0; i--)
		sley_fork_join(&child[i]);
}

/* Whose parent waits: one of them for each yield, also beside another that polls. */
static void yield_behind_children(void *arg)
{
	struct sley_group pollers = SLEY_GROUP_INIT;
	struct sley_task poller, parent;

	(void)arg;
	polled = false;
	sley_event_init(&all, false, false);
	sley_spawn(&pollers, &poller, poll_on, NULL);
	sley_spawn(&group, &parent, fork_and_wait, NULL);
	sley_yield();
	for (int i = 0; i < 10; i++)
		sley_yield();
	CHECK_EQ(nr_started, 10);
	polled = true;
	sley_event_set(&all);
	sley_join(&pollers);
	sley_join(&group);
}

TEST_WORKERS(a_yield_lets_a_forked_child_start_whose_parent_waits)
{
	run_alone(yield_behind_children);
}

/* ---- where others steal ------------------------------------------------------------------- */

static void yield_until_all_started(void *arg)
{
	(void)arg;
	for (int round = 0; round < 50; round++) {
		nr_started = 0;
		spawn_some(MANY, NULL);
		sley_yield();
		CHECK_SOON(nr_started == MANY);
		sley_join(&group);
	}
}

TEST_WORKERS(where_others_steal_all_start_as_well)
{
	struct sley_group roots = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sley_task root;

	group = (struct sley_group)SLEY_GROUP_INIT;
	sley_spawn(&roots, &root, yield_until_all_started, NULL);
	sley_join(&roots);
	stop(rt);
}
