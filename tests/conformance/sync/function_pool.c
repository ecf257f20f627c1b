/* SPDX-License-Identifier: MIT */
/*
 * function_pool.c - calls of one function, so many at a time: W44.
 *
 * Such a pool is two semaphores, and who calls does the work (examples,
 * 27_function_pool.c).  service.c is the same with processes.
 */
#include "conformance/bound.h"

/* ---- two semaphores --------------------------------------------------------------- */

struct object_pool {
	struct sley_sem room, workers;
	uint32_t limit;
	sley_actor_fn *fn;
	atomic_int running, most, begun, done;
};

static void pool_init(struct object_pool *pool, sley_actor_fn *fn,
		      uint32_t nr_workers, uint32_t nr_waiting)
{
	*pool = (struct object_pool){ .limit = nr_workers + nr_waiting,
				      .fn = fn };
	sley_sem_init(&pool->room, pool->limit);
	sley_sem_init(&pool->workers, nr_workers);
}

static int pool_serve(struct object_pool *pool, void *arg)
{
	int running = atomic_fetch_add(&pool->running, 1) + 1;
	int most = pool->most, err;

	while (most < running &&
	       !atomic_compare_exchange_weak(&pool->most, &most, running))
		;
	pool->begun++;
	err = pool->fn(arg);
	pool->done++;
	pool->running--;
	return err;
}

static int pool_call(struct object_pool *pool, void *arg, uint64_t deadline_ns)
{
	int err;

	if (!sley_sem_try_acquire(&pool->room, 1))
		return -EAGAIN;
	err = sley_sem_acquire_until(&pool->workers, 1, deadline_ns);
	if (!err) {
		err = pool_serve(pool, arg);
		sley_sem_release(&pool->workers, 1);
	}
	sley_sem_release(&pool->room, 1);
	return err;
}

static int pool_stop(struct object_pool *pool, uint64_t deadline_ns)
{
	return sley_sem_acquire_until(&pool->room, pool->limit, deadline_ns);
}

/* Callers, as many as there may be, and what became of their calls. */
struct callers {
	struct object_pool pool;
	struct sley_event go; /* for who is in the function */
	struct sley_group group;
	struct sley_task task[64];
	int nr;
	atomic_int answered, refused, failed;
	atomic_bool stopped;
};

static struct callers callers;

static int wait_for_go(void *arg)
{
	(void)arg;
	return sley_event_wait(&callers.go);
}

static int dawdle(void *arg)
{
	(void)arg;
	sley_yield();
	return 0;
}

static void note(int err)
{
	if (err == 0)
		callers.answered++;
	else if (err == -EAGAIN)
		callers.refused++;
	else
		callers.failed++;
}

static void call_once(void *arg)
{
	note(pool_call(&callers.pool, arg, SLEY_FOREVER));
}

static struct sley *begin(sley_actor_fn *fn, uint32_t nr_workers,
			  uint32_t nr_waiting)
{
	memset(&callers, 0, sizeof(callers));
	pool_init(&callers.pool, fn, nr_workers, nr_waiting);
	return start();
}

static void call_by_tasks(int nr)
{
	for (int i = 0; i < nr; i++)
		sley_spawn(&callers.group, &callers.task[callers.nr++],
			   call_once, NULL);
}

/* As many as there are workers are in the function, others wait. */
static void fill(int nr_workers, int nr_waiting)
{
	uint32_t left =
		callers.pool.limit - (uint32_t)(nr_workers + nr_waiting);

	call_by_tasks(nr_workers + nr_waiting);
	CHECK_SOON(callers.pool.begun == nr_workers);
	CHECK_SOON(sley_sem_value(&callers.pool.room) == left);
}

static void finish(struct sley *rt)
{
	sley_event_set(&callers.go);
	sley_join(&callers.group);
	CHECK_EQ(callers.pool.running, 0);
	CHECK_EQ(callers.pool.begun, callers.pool.done);
	stop(rt);
}

static void check_full(int nr_workers, int nr_waiting)
{
	struct sley *rt =
		begin(wait_for_go, (uint32_t)nr_workers, (uint32_t)nr_waiting);

	fill(nr_workers, nr_waiting);
	/* From a plain thread, from a task, and with all the time there is. */
	CHECK_EQ(pool_call(&callers.pool, NULL, SLEY_FOREVER), -EAGAIN);
	call_by_tasks(3);
	CHECK_SOON(callers.refused == 3);
	CHECK_EQ(callers.pool.begun, nr_workers);
	finish(rt);
	CHECK_EQ(callers.answered, nr_workers + nr_waiting);
	CHECK_EQ(callers.pool.most, nr_workers);
}

TEST_WORKERS(w44_so_many_run_so_many_wait_and_others_are_refused)
{
	check_full(1, 0);
	check_full(1, 3);
	check_full(2, 5);
	check_full(16, 32);
}

TEST_WORKERS(w44_who_waits_too_long_was_not_served)
{
	struct sley *rt = begin(wait_for_go, 2, 3);

	fill(2, 2);
	CHECK_EQ(pool_call(&callers.pool, NULL, in_ms(2)), -ETIMEDOUT);
	CHECK_EQ(callers.pool.begun, 2);
	/* Its place is free again. */
	call_by_tasks(1);
	CHECK_SOON(sley_sem_value(&callers.pool.room) == 0);
	finish(rt);
	CHECK_EQ(callers.answered, 5);
	CHECK_EQ(callers.pool.begun, 5);
}

static int call_in_scope(void *arg)
{
	return pool_call(&callers.pool, arg, SLEY_FOREVER);
}

static void cancel_a_caller(void *arg)
{
	struct sley_scope scope;
	struct sley_task task;

	(void)arg;
	sley_scope_open(&scope);
	sley_scope_spawn(&scope, &task, call_in_scope, NULL);
	while (sley_sem_value(&callers.pool.room))
		sley_yield();
	sley_scope_cancel(&scope);
	CHECK_EQ(sley_scope_close(&scope), -ECANCELED);
}

TEST_WORKERS(w44_a_caller_that_is_cancelled_while_it_waits_was_not_served)
{
	struct sley *rt = begin(wait_for_go, 1, 1);

	call_by_tasks(1);
	CHECK_SOON(callers.pool.begun == 1);
	run_task(cancel_a_caller, NULL);
	CHECK_EQ(callers.pool.begun, 1);
	CHECK_EQ(sley_sem_value(&callers.pool.room), 1);
	finish(rt);
	CHECK_EQ(callers.answered, 1);
}

static int fail(void *arg)
{
	(void)arg;
	return -EDOM;
}

TEST_WORKERS(w44_a_function_that_fails_says_so_to_its_caller_alone)
{
	struct sley *rt = begin(fail, 2, 2);

	for (int i = 0; i < 20; i++)
		CHECK_EQ(pool_call(&callers.pool, NULL, SLEY_FOREVER), -EDOM);
	callers.pool.fn = dawdle;
	CHECK_EQ(pool_call(&callers.pool, NULL, SLEY_FOREVER), 0);
	finish(rt);
}

static int call_again(void *arg)
{
	int *depth = arg;

	if (!*depth)
		return 0;
	*depth -= 1;
	return pool_call(&callers.pool, depth, in_ms(5));
}

TEST_WORKERS(w44_the_function_may_call_its_own_pool)
{
	for (uint32_t nr_workers = 1; nr_workers <= 4; nr_workers++) {
		struct sley *rt = begin(call_again, nr_workers, 1);
		int depth = (int)nr_workers - 1;

		CHECK_EQ(pool_call(&callers.pool, &depth, SLEY_FOREVER), 0);
		/* One deeper and it waits for itself: but not for ever. */
		depth = (int)nr_workers;
		CHECK_EQ(pool_call(&callers.pool, &depth, SLEY_FOREVER),
			 -ETIMEDOUT);
		CHECK_EQ(sley_sem_value(&callers.pool.room), nr_workers + 1);
		CHECK_EQ(sley_sem_value(&callers.pool.workers), nr_workers);
		finish(rt);
	}
}

/* ---- the end ----------------------------------------------------------------------- */

TEST_WORKERS(w44_a_stop_that_gives_up_leaves_the_pool_as_it_was)
{
	struct sley *rt = begin(wait_for_go, 2, 3);

	fill(2, 2);
	CHECK_EQ(pool_stop(&callers.pool, in_ms(2)), -ETIMEDOUT);
	call_by_tasks(1);
	CHECK_SOON(sley_sem_value(&callers.pool.room) == 0);
	sley_event_set(&callers.go);
	CHECK_EQ(pool_stop(&callers.pool, SLEY_FOREVER), 0);
	CHECK_EQ(callers.pool.done, 5);
	CHECK_EQ(pool_call(&callers.pool, NULL, SLEY_FOREVER), -EAGAIN);
	finish(rt);
	CHECK_EQ(callers.answered, 5);
}

static void stop_pool(void *arg)
{
	CHECK_EQ(pool_stop(&callers.pool, SLEY_FOREVER), 0);
	/* All that were let in have been served, and have left. */
	CHECK_EQ(callers.pool.running, 0);
	*(int *)arg = callers.pool.begun;
}

TEST_WORKERS(w44_a_stop_waits_for_those_inside_and_lets_nobody_in)
{
	struct sley *rt = begin(wait_for_go, 2, 3);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	int served = 0;

	fill(2, 2);
	sley_spawn(&group, &task, stop_pool, &served);
	/* There is room for one; but from some moment on not for it. */
	CHECK_SOON(pool_call(&callers.pool, NULL, in_ms(1)) == -EAGAIN);
	for (int i = 0; i < 20; i++)
		CHECK_EQ(pool_call(&callers.pool, NULL, SLEY_FOREVER), -EAGAIN);
	sley_event_set(&callers.go);
	sley_join(&group);
	CHECK_EQ(served, 4);
	finish(rt);
	CHECK_EQ(callers.answered, 4);
}

static void call_until_stopped(void *arg)
{
	while (!callers.stopped) {
		int err = pool_call(&callers.pool, arg, SLEY_FOREVER);

		note(err);
		if (err)
			sley_yield();
	}
}

static void *call_by_thread(void *arg)
{
	call_until_stopped(arg);
	return NULL;
}

static void *stop_by_thread(void *arg)
{
	int *served = arg;

	CHECK_EVENTUALLY(callers.answered > 100);
	CHECK_EQ(pool_stop(&callers.pool, SLEY_FOREVER), 0);
	CHECK_EQ(callers.pool.running, 0);
	*served = callers.pool.begun;
	test_nap_ms(1);
	callers.stopped = true;
	return NULL;
}

TEST_WORKERS(w44_each_call_is_answered_or_refused_whenever_the_stop_comes)
{
	for (int i = 0; i < test_scale(20); i++) {
		struct sley *rt = begin(dawdle, 3, 4);
		int served = 0;
		pthread_t thread = test_thread(stop_by_thread, &served);

		run_beside(call_until_stopped, call_by_thread, NULL);
		pthread_join(thread, NULL);
		CHECK_EQ(callers.failed, 0);
		CHECK_EQ(callers.answered, callers.pool.begun);
		/* Nobody was served after the stop. */
		CHECK_EQ(callers.pool.begun, served);
		CHECK(callers.pool.most <= 3);
		finish(rt);
	}
}
