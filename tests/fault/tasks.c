/* SPDX-License-Identifier: MIT */
/*
 * tasks.c - tasks: spawning, forking, blocking, cancelling, their locals.
 */
#include "fault/sweep.h"

#include "core/task/slot.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_int nr_ran;

static void count(void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_ran, 1);
}

/* A runtime, and the calling thread bound to it; NULL: it could not be. */
static struct sley *start_bound(int workers)
{
	struct sley *rt = trial_start(workers);

	if (rt && !TRY(sley_bind(rt), -ENOMEM)) {
		trial_stop(rt);
		return NULL;
	}
	trial_mark();
	return rt;
}

static void stop_bound(struct sley *rt)
{
	sley_unbind(rt);
	trial_stop(rt);
}

/* Run @root as a task of a runtime. */
static void as_task(int workers, sley_fn *root)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_bound(workers);
	struct sley_task task;

	if (!rt)
		return;
	sley_spawn(&group, &task, root, NULL);
	sley_join(&group);
	stop_bound(rt);
}

/* ---- spawning ------------------------------------------------------------------ */

static void wait_a_little(void *arg)
{
	CHECK_EQ(sley_sleep(100000), 0);
	count(arg);
}

struct foreign {
	struct sley *rt;
	int nr_accepted;
};

/* Neither bound nor a worker. */
static void *spawn_as_foreign(void *arg)
{
	struct foreign *f = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[4];
	struct sley_waker waker;

	f->nr_accepted +=
		TRY(sley_spawn_on(f->rt, &group, &tasks[0], count, NULL, NULL),
		    -ENOMEM);
	f->nr_accepted +=
		TRY(sley_spawn_on(f->rt, &group, &tasks[1], wait_a_little, NULL,
				  SLEY_OPTIONS(.stack_kib = 512)),
		    -ENOMEM);
	f->nr_accepted +=
		TRY(sley_spawn_on(f->rt, &group, &tasks[2], count, NULL,
				  SLEY_OPTIONS(.waker = &waker)),
		    -ENOMEM);
	f->nr_accepted += TRY(
		sley_spawn_on(f->rt, &group, &tasks[3], wait_a_little, NULL,
			      SLEY_OPTIONS(.waker = &waker, .stack_kib = 512)),
		-ENOMEM);
	f->nr_accepted += TRY(
		sley_schedule_on(f->rt, wait_a_little, NULL, NULL), -ENOMEM);
	f->nr_accepted += TRY(sley_schedule_on(f->rt, wait_a_little, NULL,
					       SLEY_OPTIONS(.stack_kib = 512)),
			      -ENOMEM);
	sley_join(&group);
	return NULL;
}

SCENARIO(foreign_threads_spawn)
{
	struct foreign f[2] = { { 0 } };
	struct sley *rt = trial_start(2);
	pthread_t threads[2];

	if (!rt)
		return;
	trial_mark();
	for (int i = 0; i < 2; i++) {
		f[i].rt = rt;
		threads[i] = test_thread(spawn_as_foreign, &f[i]);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	trial_stop(rt);
	CHECK_EQ(atomic_load(&nr_ran), f[0].nr_accepted + f[1].nr_accepted);
	CHECK_EQ(sley_nr_wakers(), 0);
}

/* Enough for a second chunk of the slab. */
static void schedule_many(void *arg)
{
	int nr_accepted = 0;

	(void)arg;
	for (int i = 0; i < 2000; i++)
		nr_accepted += TRY(sley_schedule(count, NULL), -ENOMEM);
	CHECK_EVENTUALLY(atomic_load(&nr_ran) == nr_accepted);
}

SCENARIO(detached_tasks)
{
	as_task(2, schedule_many);
}

/* ---- fork and join ---------------------------------------------------------------- */

static void forks(void *arg)
{
	int depth = *(int *)arg, less = depth - 1;
	struct sley_forked a, b;

	if (depth == 0) {
		count(NULL);
		return;
	}
	sley_fork(&a, forks, &less);
	sley_fork(&b, forks, &less);
	sley_fork_join(&b);
	sley_fork_join(&a);
}

#define NR_CHILDREN 200 /* more than the first storage has room for */

/* Gives others the time to steal it; if they cannot, the parent runs it. */
static void wait_and_join(struct sley_forked *child, int before)
{
	for (int i = 0; i < 100 && atomic_load(&nr_ran) == before; i++)
		test_nap_ms(1);
	sley_fork_join(child);
}

static void fork_and_wait(void)
{
	struct sley_forked child;
	int before = atomic_load(&nr_ran);

	sley_fork(&child, count, NULL);
	wait_and_join(&child, before);
}

static void hold_a_worker(void *arg)
{
	atomic_int *held = arg;
	int not_yet = 0;

	/* Started late, it finds that the worker is not needed any more. */
	if (!atomic_compare_exchange_strong(held, &not_yet, 1))
		return;
	while (atomic_load(held) == 1)
		;
}

/* The other worker is busy while the child is forked: it is kept private. */
static void fork_in_private_and_wait(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct sley_forked child;
	atomic_int held = 0;
	int before = atomic_load(&nr_ran);

	sley_spawn(&group, &task, hold_a_worker, &held);
	for (int i = 0; i < 100 && !atomic_load(&held); i++)
		test_nap_ms(1);
	sley_fork(&child, count, NULL);
	atomic_store(&held, 2);
	wait_and_join(&child, before);
	sley_join(&group);
}

static void fork_many(void *arg)
{
	struct sley_forked children[NR_CHILDREN];
	int depth = 6, expected = 65 + NR_CHILDREN;

	(void)arg;
	fork_and_wait();
	if (sley_nr_workers(sley_current()) > 1) {
		fork_in_private_and_wait();
		expected++;
	}
	forks(&depth);
	for (int i = 0; i < NR_CHILDREN; i++)
		sley_fork(&children[i], count, NULL);
	for (int i = NR_CHILDREN; i-- > 0;)
		sley_fork_join(&children[i]);
	CHECK_EQ(atomic_load(&nr_ran), expected);
}

SCENARIO(forks_and_joins)
{
	as_task(2, fork_many);
}

/* Its own worker takes what a parent has left behind. */
static void fork_and_sleep(void *arg)
{
	struct sley_forked child;

	sley_fork(&child, count, arg);
	CHECK_EQ(sley_sleep(100000), 0);
	sley_fork_join(&child);
	atomic_fetch_sub(&nr_ran, 1);
}

/* It does not matter which of the two goes first. */
static void fork_and_sleep_twice(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task urgent;

	CHECK_EQ(sley_spawn_with(&group, &urgent, fork_and_sleep, arg,
				 SLEY_OPTIONS(.priority = -1)),
		 0);
	fork_and_sleep(arg);
	sley_join(&group);
	CHECK_EQ(atomic_load(&nr_ran), 0);
}

SCENARIO(forks_left_behind)
{
	as_task(1, fork_and_sleep_twice);
}

enum { NR_URGENT = 40 };

/* Keeps its stack until the task that forks has done its work. */
static void wait_urgently(void *arg)
{
	CHECK_EQ(sley_event_wait(arg), 0);
	count(NULL);
}

/* Each fork gives way to an urgent task, if there is a stack for it. */
static void fork_among_urgent(void *arg)
{
	static struct sley_task urgent[NR_URGENT];
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_forked child;

	(void)arg;
	for (int i = 0; i < NR_URGENT; i++) {
		CHECK_EQ(sley_spawn_with(&group, &urgent[i], wait_urgently,
					 &event, SLEY_OPTIONS(.priority = -1)),
			 0);
		sley_fork(&child, count, NULL);
		sley_fork_join(&child);
	}
	sley_event_set(&event);
	sley_join(&group);
	CHECK_EQ(atomic_load(&nr_ran), 2 * NR_URGENT);
	atomic_store(&nr_ran, 0);
}

SCENARIO(forks_among_urgent_tasks)
{
	as_task(1, fork_among_urgent);
}

SCENARIO(forks_and_joins_of_a_bound_thread)
{
	struct sley *rt = start_bound(2);

	if (!rt)
		return;
	fork_many(NULL);
	stop_bound(rt);
}

SCENARIO(forks_and_joins_without_workers)
{
	as_task(SLEY_SINGLE, fork_many);
}

static void meet(void *arg)
{
	CHECK_GE(sley_barrier_wait(arg), 0);
	count(NULL);
}

static void parallel(void *arg)
{
	struct sley_invocation calls[20];
	struct sley_barrier barrier;

	(void)arg;
	sley_barrier_init(&barrier, 20);
	for (int i = 0; i < 20; i++)
		calls[i] = (struct sley_invocation){ meet, &barrier };
	CHECK_EQ(sley_parallelize(calls, 20), 0);
	CHECK_EQ(atomic_load(&nr_ran), 20);
}

/* All must run at the same time: each needs a stack. */
SCENARIO(parallelized_calls_that_meet)
{
	as_task(2, parallel);
}

/* ---- blocking ------------------------------------------------------------------------- */

struct blocked {
	struct sley_event event;
	atomic_int waiting;
};

static void block(void *arg)
{
	struct blocked *b = arg;

	atomic_fetch_add(&b->waiting, 1);
	CHECK_EQ(sley_event_wait(&b->event), 0);
	count(NULL);
}

static void block_many(struct sley *rt, int nr)
{
	struct blocked b = { SLEY_EVENT_INIT, 0 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task *tasks = calloc((size_t)nr, sizeof(*tasks));

	CHECK(tasks);
	for (int i = 0; i < nr; i++)
		sley_spawn(&group, &tasks[i], block, &b);
	while (atomic_load(&b.waiting) < nr) {
		if (sley_nr_workers(rt) == 0)
			sley_yield();
		else
			test_nap_ms(1);
	}
	sley_event_set(&b.event);
	sley_join(&group);
	CHECK_EQ(atomic_load(&nr_ran), nr);
	free(tasks);
}

/* Where it takes stacks from is a matter of the first few, and of chunks. */
SCENARIO(ten_thousand_blocked_fibers)
{
	struct sley *rt = start_bound(2);

	if (!rt)
		return;
	block_many(rt, trial_is_full() ? test_scale(10000) : 500);
	stop_bound(rt);
}

SCENARIO(blocked_fibers_without_workers)
{
	struct sley *rt = start_bound(SLEY_SINGLE);

	if (!rt)
		return;
	block_many(rt, trial_is_full() ? 200 : 70);
	stop_bound(rt);
}

SCENARIO(blocked_fibers_that_migrate)
{
	struct sley_config config = trial_config(3);
	struct sley *rt;

	config.migratable = true;
	config.stack_cache = 1;
	rt = trial_create(&config);
	if (!rt)
		return;
	if (TRY(sley_bind(rt), -ENOMEM)) {
		trial_mark();
		block_many(rt, 100);
		sley_unbind(rt);
	}
	trial_stop(rt);
}

/* The monitor gives the pages of the stacks back. */
SCENARIO(an_idle_time_after_a_burst)
{
	struct sley_config config = trial_config(1);
	struct sley *rt;

	config.stack_cache = 1;
	rt = trial_create(&config);
	if (!rt)
		return;
	if (TRY(sley_bind(rt), -ENOMEM)) {
		trial_mark();
		block_many(rt, 30);
		test_nap_ms(30);
		sley_unbind(rt);
	}
	trial_stop(rt);
}

SCENARIO(blocked_fibers_guarded_by_protection)
{
	struct sley_config config = trial_config(1);
	struct sley *rt;

	config.no_guard_advice = true;
	config.no_membarrier = true;
	rt = trial_create(&config);
	if (!rt)
		return;
	if (TRY(sley_bind(rt), -ENOMEM)) {
		trial_mark();
		block_many(rt, 100);
		sley_unbind(rt);
	}
	trial_stop(rt);
}

/* A step that cannot be made is not the end of the tasks. */
SCENARIO(steps_of_tasks_that_block)
{
	struct blocked b = { SLEY_EVENT_INIT, 0 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_bound(SLEY_SINGLE);
	struct sley_task tasks[4];
	bool stepped = true;

	if (!rt)
		return;
	for (int i = 0; i < 4; i++)
		sley_spawn(&group, &tasks[i], block, &b);
	while (stepped && atomic_load(&b.waiting) < 4)
		stepped = TRY(sley_run_one(rt), -ENOMEM);
	CHECK(!stepped || atomic_load(&b.waiting) == 4);
	sley_event_set(&b.event);
	sley_join(&group);
	CHECK_EQ(atomic_load(&nr_ran), 4);
	stop_bound(rt);
}

/* ---- time -------------------------------------------------------------------------------- */

static void wait_until(void *arg)
{
	CHECK_EQ(sley_event_wait_until(arg, sley_now() + 300000), -ETIMEDOUT);
	wait_a_little(NULL);
}

SCENARIO(timers)
{
	struct sley_event never = SLEY_EVENT_INIT;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_bound(2);
	struct sley_task tasks[50];

	if (!rt)
		return;
	for (int i = 0; i < 50; i++)
		sley_spawn(&group, &tasks[i], wait_until, &never);
	CHECK_EQ(sley_sleep(500000), 0);
	sley_join(&group);
	CHECK_EQ(atomic_load(&nr_ran), 50);
	stop_bound(rt);
}

/* ---- the end ------------------------------------------------------------------------------ */

static void wait_for_cancel(void *arg)
{
	struct blocked *b = arg;

	atomic_fetch_add(&b->waiting, 1);
	CHECK_EQ(sley_event_wait(&b->event), -ECANCELED);
	count(NULL);
}

SCENARIO(cancel_all)
{
	struct blocked b = { SLEY_EVENT_INIT, 0 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_bound(2);
	struct sley_task tasks[20];
	int nr_dropped = 0;

	if (!rt)
		return;
	for (int i = 0; i < 20; i++)
		sley_spawn(&group, &tasks[i], wait_for_cancel, &b);
	while (atomic_load(&b.waiting) < 1)
		test_nap_ms(1);
	sley_cancel_all(rt);
	sley_join(&group);
	for (int i = 0; i < 20; i++)
		nr_dropped += sley_task_status(&tasks[i]) == -ECANCELED;
	CHECK_EQ(atomic_load(&nr_ran) + nr_dropped, 20);
	stop_bound(rt);
}

static void ignore_report(void *self, const char *line)
{
	if (strstr(line, "the runtime still waits for"))
		atomic_fetch_add((atomic_int *)self, 1);
	else
		trial_note_report(NULL, line);
}

/* It says who is left, and can be asked again. */
SCENARIO(shutdown_while_busy)
{
	struct blocked b = { SLEY_EVENT_INIT, 0 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_config config = trial_config(2);
	atomic_int nr_lines = 0;
	struct sley_task tasks[5];
	struct sley *rt;
	int nr = 0;

	config.report = ignore_report;
	config.report_self = &nr_lines;
	rt = trial_create(&config);
	if (!rt)
		return;
	trial_mark();
	for (; nr < 5; nr++) {
		if (!TRY(sley_spawn_on(rt, &group, &tasks[nr], block, &b, NULL),
			 -ENOMEM))
			break;
	}
	CHECK_EQ(sley_destroy_until(rt, sley_now() + 2000000), -ETIMEDOUT);
	CHECK_GE(atomic_load(&nr_lines), 1);
	sley_event_set(&b.event);
	trial_stop(rt);
	CHECK_EQ(atomic_load(&nr_ran), nr);
}

/* ---- what a task has -------------------------------------------------------------------------- */

static atomic_int nr_values;

static void destroy_value(void *value)
{
	(void)value;
	atomic_fetch_sub(&nr_values, 1);
}

#define NR_LOCALS 20 /* more than one chunk */

static struct sley_local locals[NR_LOCALS];

static void set_locals(void *arg)
{
	static char value;

	for (int i = 0; i < NR_LOCALS; i++) {
		locals[i].destroy = destroy_value;
		if (!TRY(sley_local_set(&locals[i], &value), -ENOMEM))
			continue;
		atomic_fetch_add(&nr_values, 1);
		CHECK(sley_local_get(&locals[i]) == &value);
	}
	count(arg);
}

static void *thread_with_locals(void *arg)
{
	set_locals(arg);
	return NULL;
}

SCENARIO(locals_of_tasks)
{
	as_task(2, set_locals);
	CHECK_EQ(atomic_load(&nr_values), 0);
}

SCENARIO(locals_of_threads)
{
	for (int i = 0; i < 2; i++)
		pthread_join(test_thread(thread_with_locals, NULL), NULL);
	CHECK_EQ(atomic_load(&nr_ran), 2);
	CHECK_EQ(atomic_load(&nr_values), 0);
}

static struct sley_waker sleeper;
static atomic_bool known;

static void suspend(void *arg)
{
	if (!TRY(sley_waker_self(&sleeper), -ENOMEM)) {
		atomic_store(&known, true);
		return;
	}
	atomic_store(&known, true);
	CHECK_EQ(sley_suspend(), 0);
	count(arg);
}

#define NR_KEYS (SLOT_CHUNK_FIRST + 10)

static void wake_and_meet(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	static uint64_t keys[NR_KEYS];
	struct sley_task task;

	(void)arg;
	sley_spawn(&group, &task, suspend, NULL);
	while (!atomic_load(&known))
		sley_yield();
	if (sleeper.id)
		CHECK_EQ(sley_wake(&sleeper), 0);
	sley_join(&group);
	CHECK_EQ(atomic_load(&nr_ran), sleeper.id != 0);
	for (unsigned i = 0; i < NR_KEYS; i++) {
		if (!TRY(sley_key_create(&keys[i]), -ENOMEM))
			keys[i] = 0;
	}
	for (unsigned i = 0; i < NR_KEYS; i++) {
		if (!keys[i])
			continue;
		CHECK_EQ(sley_key_wake(keys[i]), 0);
		CHECK_EQ(sley_key_wait(keys[i]), 0);
		CHECK_EQ(sley_key_destroy(keys[i]), 0);
	}
}

SCENARIO(wakers_and_keys)
{
	as_task(2, wake_and_meet);
	CHECK_EQ(sley_nr_wakers(), 0);
}
