/* SPDX-License-Identifier: MIT */
/*
 * mutex_holder.c - a mutex is released by the task or thread that holds it, and
 * what is not is said at the call, with the name of the holder (ADR 21).
 */
#include "conformance/bound.h"

#include <sys/wait.h>

/* ---- the holder, wherever its code runs --------------------------------------------- */

static void lock_it(void *arg)
{
	sley_mutex_lock(arg);
}

static void unlock_it(void *arg)
{
	sley_mutex_unlock(arg);
}

static void *unlock_in_thread(void *arg)
{
	sley_mutex_unlock(arg);
	return NULL;
}

/* A task of its own, named as in messages, that has ended on return. */
static void run_named(const char *name, sley_fn *fn, void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	CHECK_EQ(sley_spawn_with(&group, &task, fn, arg,
				 SLEY_OPTIONS(.name = name)),
		 0);
	sley_join(&group);
}

static void hold_across_blocking(void *arg)
{
	struct sley_mutex *mutex = arg;

	/* Locked here, released there, and the other way round. */
	sley_mutex_lock(mutex);
	CHECK_EQ(sley_blocking_call(unlock_it, mutex), 0);
	CHECK_EQ(sley_blocking_call(lock_it, mutex), 0);
	CHECK(!sley_mutex_try_lock(mutex));
	CHECK_EQ(sley_blocking_begin(), 0);
	sley_mutex_unlock(mutex);
	sley_mutex_lock(mutex);
	sley_blocking_end();
	sley_mutex_unlock(mutex);
	CHECK_EQ(sley_blocking_begin(), 0);
	CHECK(sley_mutex_try_lock(mutex));
	sley_blocking_end();
	sley_mutex_unlock(mutex);
}

TEST_WORKERS(mutex_is_held_by_the_task_in_blocking_calls_and_regions)
{
	struct sley_mutex mutex = SLEY_MUTEX_INIT;
	struct sley *rt = start();

	run_named("blocks", hold_across_blocking, &mutex);
	CHECK(sley_mutex_try_lock(&mutex));
	/* The same from bound code, which may run tasks itself. */
	CHECK_EQ(sley_blocking_call(unlock_it, &mutex), 0);
	CHECK_EQ(sley_blocking_call(lock_it, &mutex), 0);
	sley_mutex_unlock(&mutex);
	stop(rt);
}

TEST_WORKERS(mutex_is_held_by_the_thread_across_bind_and_unbind)
{
	struct sley_mutex before = SLEY_MUTEX_INIT, bound = SLEY_MUTEX_INIT;
	struct sley *rt;

	sley_mutex_lock(&before);
	rt = start();
	sley_mutex_unlock(&before);
	sley_mutex_lock(&bound);
	stop(rt);
	sley_mutex_unlock(&bound);
	CHECK(sley_mutex_try_lock(&before));
	CHECK(sley_mutex_try_lock(&bound));
}

static void yield_while_holding(void *arg)
{
	struct sley_mutex *mutex = arg;

	for (int i = 0; i < 100; i++) {
		sley_mutex_lock(mutex);
		sley_yield();
		CHECK(!sley_mutex_try_lock(mutex));
		sley_mutex_unlock(mutex);
	}
}

TEST_WORKERS(mutex_is_held_by_a_task_that_changes_its_worker)
{
	struct sley_config config = *test_config();
	struct sley_mutex mutex = SLEY_MUTEX_INIT;
	struct sley *rt;

	config.migratable = !is_single();
	rt = start_with(&config);
	run_tasks(8, yield_while_holding, &mutex);
	CHECK(sley_mutex_try_lock(&mutex));
	stop(rt);
}

/* ---- a process: each turn may be on another fiber -------------------------------------- */

static struct sley_mutex turned;
static atomic_int nr_turns;

static enum sley_step lock_then_unlock(void *self, struct sley_msg *const *msg,
				       size_t nr, struct sley_out *out)
{
	int *turn = self;

	(void)msg;
	(void)nr;
	if ((*turn)++ % 2 == 0)
		sley_mutex_lock(&turned);
	else
		sley_mutex_unlock(&turned);
	atomic_fetch_add(&nr_turns, 1);
	return *turn < 200 ? SLEY_CONTINUE : sley_out_done(out, 0);
}

static const struct sley_behaviour turning = {
	.name = "turning",
	.size = sizeof(int),
	.step = lock_then_unlock,
};

TEST_WORKERS(mutex_is_held_by_a_process_from_turn_to_turn)
{
	struct sley *rt = start();

	for (int i = 0; i < 4; i++)
		CHECK_EQ(sley_process_spawn(NULL, &turning, NULL, 0, NULL), 0);
	/* Tasks on the fibers that those turns have left. */
	while (atomic_load(&nr_turns) < 800) {
		run_named("between", yield_while_holding, &turned);
		sley_yield();
	}
	CHECK(sley_mutex_try_lock(&turned));
	stop(rt);
}

/* ---- fork() --------------------------------------------------------------------------- */

static void check_child(struct sley_mutex *held)
{
	pid_t pid = fork();
	int status;

	CHECK_GE(pid, 0);
	if (!pid) {
		/* As a handler of pthread_atfork() would. */
		sley_mutex_unlock(held);
		sley_mutex_lock(held);
		sley_mutex_unlock(held);
		_exit(sley_mutex_try_lock(held) ? 0 : 1);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

static void fork_while_holding(void *arg)
{
	sley_mutex_lock(arg);
	check_child(arg);
	sley_mutex_unlock(arg);
}

TEST_WORKERS(mutex_is_held_in_the_child_of_a_fork_by_what_forked)
{
	struct sley_mutex mutex = SLEY_MUTEX_INIT;
	struct sley *rt;

	fork_while_holding(&mutex);
	rt = start();
	fork_while_holding(&mutex);
	run_named("forks", fork_while_holding, &mutex);
	stop(rt);
	CHECK(sley_mutex_try_lock(&mutex));
}

/* ---- misuse: locked twice ------------------------------------------------------------------ */

static void lock_twice(void *arg)
{
	sley_mutex_lock(arg);
	sley_mutex_lock(arg);
}

TEST_ABORTS(mutex_locked_twice_by_a_task_aborts,
	    "sley: misuse in sley_mutex_lock: task \"twice\" "
	    "(function ")
{
	struct sley_mutex mutex = SLEY_MUTEX_INIT;

	(void)start();
	run_named("twice", lock_twice, &mutex);
}

TEST_ABORTS(mutex_locked_twice_would_wait_for_itself,
	    ") already holds this mutex and locks it again: it would wait for "
	    "itself")
{
	struct sley_mutex mutex = SLEY_MUTEX_INIT;

	lock_twice(&mutex);
}

TEST_ABORTS(mutex_locked_twice_by_a_thread_aborts,
	    "sley: misuse in sley_mutex_lock: thread ")
{
	struct sley_mutex mutex = SLEY_MUTEX_INIT;

	lock_twice(&mutex);
}

TEST_ABORTS(mutex_locked_twice_by_a_bound_thread_aborts,
	    "sley: misuse in sley_mutex_lock: thread ")
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct sley_mutex mutex = SLEY_MUTEX_INIT;

	(void)start_with(&config);
	lock_twice(&mutex);
}

static void lock_twice_in_region(void *arg)
{
	sley_mutex_lock(arg);
	CHECK_EQ(sley_blocking_call(lock_it, arg), 0);
}

TEST_ABORTS(mutex_locked_twice_with_the_help_of_a_blocking_call_aborts,
	    "sley: misuse in sley_mutex_lock: task "
	    "\"calls\" (function ")
{
	struct sley_mutex mutex = SLEY_MUTEX_INIT;

	(void)start();
	run_named("calls", lock_twice_in_region, &mutex);
}

TEST_ABORTS(mutex_locked_twice_with_a_deadline_aborts,
	    "sley: misuse in sley_mutex_lock_until: thread ")
{
	struct sley_mutex mutex = SLEY_MUTEX_INIT;
	int err;

	CHECK_EQ(sley_mutex_lock_until(&mutex, 0), 0);
	err = sley_mutex_lock_until(&mutex, 0);
	(void)err;
}

struct handed {
	struct sley_mutex mutex;
	struct sley_cond cond;
	atomic_bool waits;
};

static void lock_what_was_handed_over(void *arg)
{
	struct handed *h = arg;

	atomic_store(&h->waits, true);
	sley_mutex_lock(&h->mutex);
	sley_mutex_lock(&h->mutex);
}

/* The waiter did not take it: the release wrote its name into the word. */
TEST_ABORTS(mutex_locked_again_after_it_was_handed_over_aborts,
	    "sley: misuse in sley_mutex_lock: task "
	    "\"heir\" (function ")
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_with(&config);
	struct handed h = { .mutex = SLEY_MUTEX_INIT };
	struct sley_task task;

	sley_mutex_lock(&h.mutex);
	CHECK_EQ(sley_spawn_with(&group, &task, lock_what_was_handed_over, &h,
				 SLEY_OPTIONS(.name = "heir")),
		 0);
	CHECK_EQ(sley_run_one(rt), 1);
	CHECK(atomic_load(&h.waits));
	sley_mutex_unlock(&h.mutex);
	sley_join(&group);
}

static void lock_after_a_condition(void *arg)
{
	struct handed *h = arg;

	sley_mutex_lock(&h->mutex);
	CHECK_EQ(sley_cond_wait_until(&h->cond, &h->mutex, in_ms(1)),
		 -ETIMEDOUT);
	sley_mutex_lock(&h->mutex);
}

TEST_ABORTS(mutex_locked_again_after_a_condition_gave_it_back_aborts,
	    "sley: misuse in sley_mutex_lock: task "
	    "\"waited\" (function ")
{
	struct handed h = { .mutex = SLEY_MUTEX_INIT, .cond = SLEY_COND_INIT };

	(void)start();
	run_named("waited", lock_after_a_condition, &h);
}

/* ---- misuse: released by another ----------------------------------------------------------- */

static void hold_and_let_release(void *arg)
{
	sley_mutex_lock(arg);
	run_named("releaser", unlock_it, arg);
}

TEST_ABORTS(mutex_released_by_another_task_aborts,
	    "sley: misuse in sley_mutex_unlock: only the holder may unlock "
	    "a mutex: this one is held by task \"keeper\" (function ")
{
	struct sley_mutex mutex = SLEY_MUTEX_INIT;

	(void)start();
	run_named("keeper", hold_and_let_release, &mutex);
}

static void hold_and_let_thread_release(void *arg)
{
	sley_mutex_lock(arg);
	pthread_join(test_thread(unlock_in_thread, arg), NULL);
}

TEST_ABORTS(mutex_released_by_a_thread_aborts,
	    "this one is held by task \"keeper\" (function ")
{
	struct sley_mutex mutex = SLEY_MUTEX_INIT;

	(void)start();
	run_named("keeper", hold_and_let_thread_release, &mutex);
}

TEST_ABORTS(mutex_of_a_thread_released_by_a_task_aborts,
	    "sley: misuse in sley_mutex_unlock: only the holder may unlock "
	    "a mutex: this one is held by thread ")
{
	struct sley_mutex mutex = SLEY_MUTEX_INIT;

	(void)start();
	sley_mutex_lock(&mutex);
	run_named("releaser", unlock_it, &mutex);
}

struct family {
	struct sley_mutex mutex;
	atomic_bool stolen;
};

static void release_as_child(void *arg)
{
	struct family *f = arg;

	atomic_store(&f->stolen, true);
	sley_mutex_unlock(&f->mutex);
}

static void hold_as_parent(void *arg)
{
	struct family *f = arg;
	struct sley_forked child;

	sley_mutex_lock(&f->mutex);
	sley_fork(&child, release_as_child, f);
	/* It computes on: only a thief can run the child now. */
	while (!atomic_load(&f->stolen))
		test_nap_ms(1);
	sley_fork_join(&child);
}

TEST_ABORTS(mutex_released_by_a_stolen_child_aborts,
	    "this one is held by task \"parent\" (function ")
{
	struct family f = { .mutex = SLEY_MUTEX_INIT };

	(void)start();
	run_named("parent", hold_as_parent, &f);
}

TEST_ABORTS(mutex_wait_without_the_mutex_names_the_holder,
	    "only the holder may unlock a mutex: this one is held by thread ")
{
	struct handed h = { .mutex = SLEY_MUTEX_INIT, .cond = SLEY_COND_INIT };
	int err;

	lock_for_ever(&h.mutex);
	err = sley_cond_wait_until(&h.cond, &h.mutex, in_ms(1));
	(void)err;
}

/* ---- misuse: never released ------------------------------------------------------------------ */

TEST_ABORTS(mutex_that_an_ended_task_left_locked_is_told_to_the_waiter,
	    "sley: misuse in sley_mutex_lock: a task that has ended "
	    "still holds this mutex")
{
	struct sley_mutex mutex = SLEY_MUTEX_INIT;

	(void)start();
	run_named("forgets", lock_it, &mutex);
	sley_mutex_lock(&mutex);
}

/* The runtime, and all that could tell the name, are gone. */
TEST_ABORTS(mutex_of_a_destroyed_runtime_is_not_released_by_others,
	    "only the holder may unlock a mutex: this one is held by a task")
{
	struct sley_mutex mutex = SLEY_MUTEX_INIT;
	struct sley *rt = start();

	run_named("forgets", lock_it, &mutex);
	stop(rt);
	sley_mutex_unlock(&mutex);
}
