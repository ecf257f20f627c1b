/* SPDX-License-Identifier: MIT */
/*
 * hazard_threads.c - fiber hazards: what belongs to a thread and not to a task.
 *
 * A task that ends its thread, mutexes that have a thread as their owner, the
 * locks of stdio, destructors of thread-locals.
 */
#include <stdio.h>
#include <stdlib.h>

#include "conformance/bound.h"
#include "fiber/sanitize.h"

TEST_PROOF("hazard")

static void run_in_task(const struct sley_config *config, sley_fn *fn)
{
	struct sley *rt = start_with(config);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	CHECK_EQ(sley_spawn_with(&group, &task, fn, NULL,
				 SLEY_OPTIONS(.name = "quitter")),
		 0);
	sley_join(&group);
	stop(rt);
}

/* ---- pthread_exit(), pthread_cancel() ----------------------------------------- */

static void exit_thread(void *arg)
{
	(void)arg;
	sley_yield();
	pthread_exit(NULL);
}

/* ThreadSanitizer asserts that a thread ends on its own stack. */
static void skip_thread_sanitizer(void)
{
#ifdef SANITIZE_THREAD
	test_skip("ThreadSanitizer notices first");
#endif
}

#define EXIT_SAID "the thread of task \"quitter\" ended"

TEST_ABORTS(threads_pthread_exit_in_a_task_is_reported, EXIT_SAID)
{
	struct sley_config config = config_of(2);

	skip_thread_sanitizer();
	run_in_task(&config, exit_thread);
}

TEST_ABORTS(threads_pthread_exit_in_a_single_threaded_runtime_is_reported,
	    EXIT_SAID)
{
	struct sley_config config = config_of(SLEY_SINGLE);

	skip_thread_sanitizer();
	run_in_task(&config, exit_thread);
}

static void exit_in_call(void *arg)
{
	CHECK_EQ(sley_blocking_call(exit_thread, arg), 0);
}

TEST_ABORTS(threads_pthread_exit_in_a_blocking_call_is_reported,
	    "a thread that serves a runtime ended")
{
	struct sley_config config = config_of(2);

	run_in_task(&config, exit_in_call);
}

static void exit_in_region(void *arg)
{
	CHECK_EQ(sley_blocking_begin(), 0);
	exit_thread(arg);
}

TEST_ABORTS(threads_pthread_exit_in_a_blocking_region_is_reported, EXIT_SAID)
{
	struct sley_config config = config_of(2);

	skip_thread_sanitizer();
	run_in_task(&config, exit_in_region);
}

static void cancel_myself(void *arg)
{
	CHECK_EQ(pthread_cancel(pthread_self()), 0);
	pthread_testcancel();
	sley_yield();
	pthread_testcancel();
	count_task(arg);
}

static void cancel_in_call(void *arg)
{
	CHECK_EQ(sley_blocking_call(cancel_myself, arg), 0);
}

/* In a thread of its own: after the unbind it is as before, and ends. */
static void *cancel_in_tasks(void *arg)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[2];

	sley_spawn(&group, &task[0], cancel_myself, arg);
	sley_spawn(&group, &task[1], cancel_in_call, arg);
	sley_join(&group);
	stop(rt);
	pthread_testcancel();
	return NULL;
}

TEST_WORKERS(threads_that_run_tasks_are_not_cancelled)
{
	atomic_int ran = 0;
	pthread_t thread;
	void *result;

	/* It unwinds with a library that is loaded for it: not in the test. */
	thread = test_thread(cancel_in_tasks, &ran);
	CHECK_EQ(pthread_join(thread, &result), 0);
	CHECK_EQ(ran, 2);
	CHECK(result == (is_single() ? PTHREAD_CANCELED : NULL));
}

/* Somebody has cancelled it, and it takes down its runtime. */
static void *destroy_when_cancelled(void *arg)
{
	struct sley *rt = start();

	CHECK_EQ(pthread_cancel(pthread_self()), 0);
	stop(rt);
	atomic_store((atomic_int *)arg, 1);
	pthread_testcancel();
	return NULL;
}

TEST_WORKERS(threads_that_destroy_a_runtime_are_not_cancelled)
{
	atomic_int destroyed = 0;
	pthread_t thread = test_thread(destroy_when_cancelled, &destroyed);
	void *result;

	CHECK_EQ(pthread_join(thread, &result), 0);
	CHECK_EQ(destroyed, 1);
	CHECK(result == PTHREAD_CANCELED);
}

/* ---- mutexes of pthread over a wait -------------------------------------------- */

struct held {
	pthread_mutex_t mutex;
	struct sley_event held, tried;
	int err_of_other, err_of_unlock;
	bool moved;
};

static void hold_over_a_wait(void *arg)
{
	struct held *h = arg;
	pid_t before = gettid();

	CHECK_EQ(pthread_mutex_lock(&h->mutex), 0);
	sley_event_set(&h->held);
	CHECK_EQ(sley_event_wait(&h->tried), 0);
	h->moved = gettid() != before;
	h->err_of_unlock = pthread_mutex_unlock(&h->mutex);
}

static void try_meanwhile(void *arg)
{
	struct held *h = arg;

	CHECK_EQ(sley_event_wait(&h->held), 0);
	h->err_of_other = pthread_mutex_lock(&h->mutex);
	if (!h->err_of_other)
		CHECK_EQ(pthread_mutex_unlock(&h->mutex), 0);
	sley_event_set(&h->tried);
}

static void hold_and_try(struct held *h, struct sley_config *config)
{
	pthread_mutexattr_t type;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[2];
	struct sley *rt = start_with(config);

	CHECK_EQ(pthread_mutexattr_init(&type), 0);
	CHECK_EQ(pthread_mutexattr_settype(&type, PTHREAD_MUTEX_ERRORCHECK), 0);
	CHECK_EQ(pthread_mutex_init(&h->mutex, &type), 0);
	sley_spawn(&group, &task[0], hold_over_a_wait, h);
	sley_spawn(&group, &task[1], try_meanwhile, h);
	sley_join(&group);
	CHECK_EQ(pthread_mutex_destroy(&h->mutex), 0);
	pthread_mutexattr_destroy(&type);
	stop(rt);
}

/*
 * The mutex takes both tasks for one owner: with a plain mutex the worker would
 * now hang for ever.  docs/TLS.md forbids it; a checking mutex tells.
 */
TEST(locks_a_pthread_mutex_over_a_wait_is_a_deadlock_of_the_worker)
{
	struct sley_config config = config_of(1);
	struct held h = { .held = SLEY_EVENT_INIT };

	if (test_sanitizer())
		test_skip("ThreadSanitizer reports the double lock itself");
	hold_and_try(&h, &config);
	CHECK_EQ(h.err_of_other, EDEADLK);
	CHECK(!h.moved);
	/* In a runtime that is not migratable the owner is still the owner. */
	CHECK_EQ(h.err_of_unlock, 0);
}

struct summed {
	pthread_mutex_t mutex;
	int sum; /* under the mutex */
};

static void lock_between_waits(void *arg)
{
	struct summed *s = arg;

	for (int i = 0; i < 50; i++) {
		CHECK_EQ(pthread_mutex_lock(&s->mutex), 0);
		s->sum++;
		CHECK_EQ(pthread_mutex_unlock(&s->mutex), 0);
		sley_yield();
	}
}

static void *lock_on_a_thread(void *arg)
{
	lock_between_waits(arg);
	return NULL;
}

static void lock_everywhere(bool migratable)
{
	struct sley_config config = *test_config();
	struct summed s = { PTHREAD_MUTEX_INITIALIZER, 0 };
	struct sley *rt;

	config.migratable = migratable;
	rt = start_with(&config);
	run_beside(lock_between_waits, lock_on_a_thread, &s);
	CHECK_EQ(s.sum, 12 * 50);
	stop(rt);
}

TEST_WORKERS(locks_a_pthread_mutex_between_waits_is_right)
{
	lock_everywhere(false);
}

TEST_WORKERS(locks_a_pthread_mutex_between_waits_is_right_where_tasks_move)
{
	lock_everywhere(true);
}

/* ---- stdio ----------------------------------------------------------------------- */

static void print_lines(void *file)
{
	for (int i = 0; i < 50; i++) {
		CHECK_GT(fprintf(file, "%s %s %s\n", "one", "whole", "line"),
			 0);
		sley_yield();
	}
}

TEST_WORKERS(locks_of_stdio_keep_lines_whole)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[20];
	FILE *file = tmpfile();
	char line[64];
	int nr = 0;

	CHECK(file);
	for (int i = 0; i < 20; i++)
		sley_spawn(&group, &task[i], print_lines, file);
	sley_join(&group);
	rewind(file);
	for (; fgets(line, sizeof(line), file); nr++)
		CHECK_STR(line, "one whole line\n");
	CHECK_EQ(nr, 20 * 50);
	fclose(file);
	stop(rt);
}

/* ---- thread-locals with destructors ------------------------------------------------ */

static pthread_key_t key;
static atomic_int nr_destroyed;

static void destroy_value(void *value)
{
	free(value);
	atomic_fetch_add(&nr_destroyed, 1);
}

static void set_value(void *arg)
{
	sley_yield();
	if (!pthread_getspecific(key)) {
		CHECK_EQ(pthread_setspecific(key, malloc(10)), 0);
		count_task(arg);
	}
	sley_yield();
	CHECK(pthread_getspecific(key));
}

/* Not when the task ends: when its worker does, before destroy returns. */
TEST_WORKERS(threads_destroy_their_specific_values_when_the_worker_ends)
{
	struct sley *rt;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[50];
	atomic_int nr_set = 0;

	if (is_single())
		test_skip("there are no worker threads");
	CHECK_EQ(pthread_key_create(&key, destroy_value), 0);
	rt = start();
	for (size_t i = 0; i < ARRAY_SIZE(task); i++)
		sley_spawn(&group, &task[i], set_value, &nr_set);
	sley_join(&group);
	CHECK_EQ(nr_destroyed, 0);
	stop(rt);
	CHECK_GE(nr_set, 1);
	CHECK_EQ(nr_destroyed, nr_set);
	pthread_key_delete(key);
}
