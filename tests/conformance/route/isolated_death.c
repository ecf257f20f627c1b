/* SPDX-License-Identifier: MIT */
/*
 * isolated_death.c - containers in subprocesses that crash, hang or are given up: R-C15.
 */
#include "conformance/route/fragile.h"

/* ---- crashes --------------------------------------------------------------------------------- */

TEST_WORKERS(rc15_a_crash_fails_its_request_and_nothing_else)
{
	struct sley_request held;
	struct scene s;

	begin(&s, 2);
	submit(&s, &held, HOLD, 1, NULL);
	await_begun(1);
	for (int way = SEGV; way < NR_WAYS; way++) {
		CHECK_EQ(code_of(&s, COUNT, 0, 0), 1);
		CHECK_EQ(code_of(&s, DIE, 0, way), SLEY_ECHILD);
		/* A new life, with a state of its own. */
		CHECK_EQ(code_of(&s, COUNT, 0, 0), 1);
		CHECK_EQ(code_of(&s, DIE, 0, way), SLEY_ECHILD);
	}
	CHECK(!sley_request_is_done(&held));
	atomic_store(&shared->gate, 1);
	CHECK_EQ(await(&held), 0);
	CHECK_EQ(code_of(&s, COUNT, 0, 0), 1);
	CHECK_EQ(atomic_load(&shared->created), 2 + 2 * (NR_WAYS - 1));
	end(&s);
}

TEST(rc15_a_crash_is_told_with_its_reason)
{
	struct scene s;

	begin(&s, 2);
	CHECK_EQ(code_of(&s, DIE, 1, KILL), SLEY_ECHILD);
	CHECK_STR(lines,
		  "request \"die\" to container 1 of \"p\" failed: p was "
		  "killed by signal 9 (Killed); a new one is started\n");
	end(&s);
}

TEST_WORKERS(rc15_requests_that_had_not_begun_run_in_the_next_life)
{
	struct sley_request first, request[8];
	struct scene s;
	int way = ABORT;

	begin(&s, 1);
	submit(&s, &first, HOLD, 0, &way);
	await_begun(1);
	for (int i = 0; i < 8; i++)
		submit(&s, &request[i], COUNT, 0, NULL);
	CHECK_EQ(sley_sleep(10 * SLEY_MSEC), 0);
	atomic_store(&shared->gate, 1);
	CHECK_EQ(await(&first), SLEY_ECHILD);
	for (int i = 0; i < 8; i++)
		CHECK_GT(await(&request[i]), 0);
	CHECK_EQ(code_of(&s, COUNT, 0, 0), 9);
	CHECK_EQ(atomic_load(&shared->created), 2);
	end(&s);
}

TEST_WORKERS(rc15_a_broadcast_with_a_crash_has_its_code)
{
	struct sley_request_spec spec;
	struct scene s;
	int in = 2; /* container 1 dies */

	begin(&s, 3);
	spec = spec_of(SAY_ID, 0, &in);
	spec.query = sley_query_broadcast();
	CHECK_EQ(sley_pool_call(s.pool, &spec, NULL), -EMSGSIZE);
	spec.out = &(uint64_t){ 0 };
	spec.out_size = sizeof(uint64_t);
	CHECK_EQ(sley_pool_call(s.pool, &spec, NULL), SLEY_ECHILD);
	in = 0;
	CHECK_EQ(sley_pool_call(s.pool, &spec, NULL), 0);
	end(&s);
}

static void check_phase(struct sley_pool *pool, uint32_t id, uint32_t phase)
{
	struct sley_container_stats stats = SLEY_CONTAINER_STATS_INIT;

	CHECK_EQ(sley_container_inspect(pool, id, &stats), 0);
	CHECK_EQ(stats.phase, phase);
	CHECK_EQ(stats.inside, 0);
}

static void check_answer(struct sley_pool *pool, const char *query,
			 const char *part)
{
	char text[1024];

	CHECK_GT(sley_pool_inspect_json(pool, query, text, sizeof(text)), 0);
	CHECK(strstr(text, part));
}

/* Of two containers one is down. */
static void inspect_one_down(struct sley_pool *pool)
{
	struct sley_pool_stats stats = SLEY_POOL_STATS_INIT;

	check_phase(pool, 0, SLEY_CONTAINER_DOWN);
	check_phase(pool, 1, SLEY_CONTAINER_OPEN);
	CHECK_EQ(sley_pool_inspect(pool, &stats), 0);
	CHECK_EQ(stats.open, 1);
	CHECK_EQ(stats.down, 1);
	check_answer(pool, "pool_stats", "\"down\":1");
	check_answer(pool, "container_stats:0", "\"phase\":\"down\"");
	check_answer(pool, "container_stats:1", "\"phase\":\"open\"");
}

TEST_WORKERS(rc15_a_container_that_is_down_is_inspected_as_such)
{
	struct scene s;

	begin_with(&s, *SLEY_POOL_OPTIONS(.containers = 2, .max_restarts = 2));
	for (int i = 0; i < 3; i++)
		CHECK_EQ(code_of(&s, DIE, 0, KILL), SLEY_ECHILD);
	CHECK_EQ(code_of(&s, COUNT, 0, 0), SLEY_ECHILD);
	CHECK_EQ(code_of(&s, COUNT, 1, 0), 1);
	inspect_one_down(s.pool);
	/* What its keeper does comes first. */
	CHECK_EQ(sley_container_drain_until(s.pool, 0, SLEY_FOREVER), 0);
	check_phase(s.pool, 0, SLEY_CONTAINER_DRAINED);
	CHECK_EQ(sley_container_open(s.pool, 0), 0);
	inspect_one_down(s.pool);
	CHECK_EQ(sley_pool_destroy(s.pool), 0);
	check_phase(s.pool, 0, SLEY_CONTAINER_GONE);
	end(&s);
}

TEST_WORKERS(rc15_a_container_that_dies_too_often_is_down_alone)
{
	struct scene s;

	begin_with(&s, *SLEY_POOL_OPTIONS(.containers = 2, .max_restarts = 2));
	for (int i = 0; i < 3; i++)
		CHECK_EQ(code_of(&s, DIE, 0, KILL), SLEY_ECHILD);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(code_of(&s, COUNT, 0, 0), SLEY_ECHILD);
	check_line("stays down until the pool is destroyed and opened again\n");
	lines[0] = '\0';
	CHECK_EQ(code_of(&s, COUNT, 0, 0), SLEY_ECHILD);
	CHECK_STR(lines, "");
	CHECK_EQ(code_of(&s, COUNT, 1, 0), 1);
	CHECK_EQ(sley_pool_flush_until(s.pool, SLEY_FOREVER), 0);
	CHECK_EQ(atomic_load(&shared->created), 4);
	/* As the line says. */
	CHECK_EQ(sley_pool_destroy(s.pool), 0);
	sley_pool_close(s.pool);
	CHECK_EQ(sley_pool_open(s.router, &s.pool, "p",
				SLEY_POOL_OPTIONS(.module = "fragile",
						  .isolated = true)),
		 0);
	CHECK_EQ(code_of(&s, COUNT, 0, 0), 1);
	CHECK_EQ(atomic_load(&shared->destroyed), 1);
	end(&s);
}

TEST(rc15_a_crash_in_create_is_an_error_of_the_pool)
{
	struct sley_pool *pool = NULL;
	struct scene s;

	begin(&s, 1);
	for (int way = SEGV; way < NR_WAYS; way++) {
		atomic_store(&shared->way, way);
		atomic_store(&shared->dies_in, 3);
		CHECK_EQ(sley_pool_open(s.router, &pool, "q",
					SLEY_POOL_OPTIONS(.module = "fragile",
							  .containers = 4,
							  .isolated = true)),
			 SLEY_ECHILD);
		/* Those before it were destroyed, and the name is free. */
		CHECK_EQ(atomic_load(&shared->destroyed), 2 * way);
	}
	atomic_store(&shared->dies_in, 0);
	atomic_store(&shared->refuses_in, 1);
	CHECK_EQ(sley_pool_open(s.router, &pool, "q",
				SLEY_POOL_OPTIONS(.module = "fragile",
						  .isolated = true)),
		 -ENODEV);
	CHECK_EQ(code_of(&s, COUNT, 0, 0), 1);
	end(&s);
}

TEST(rc15_a_crash_in_a_later_create_takes_the_container_down)
{
	struct scene s;

	begin_with(&s, *SLEY_POOL_OPTIONS(.containers = 2, .max_restarts = 3));
	atomic_store(&shared->way, ABORT);
	atomic_store(&shared->dies_in, 2);
	CHECK_EQ(code_of(&s, DIE, 1, ABORT), SLEY_ECHILD);
	CHECK_EQ(code_of(&s, COUNT, 1, 0), SLEY_ECHILD);
	CHECK_EQ(code_of(&s, COUNT, 0, 0), 1);
	CHECK_EQ(atomic_load(&shared->created), 2 + 3);
	end(&s);
	CHECK_STR(strstr(lines, "stays down") ? "" : lines, "");
}

TEST_WORKERS(rc15_a_subprocess_that_writes_nonsense_is_killed)
{
	struct scene s;

	begin(&s, 2);
	CHECK_EQ(code_of(&s, SCRIBBLE, 0, 0), SLEY_ECHILD);
	check_line("was killed: what it wrote makes no sense");
	CHECK_EQ(code_of(&s, COUNT, 0, 0), 1);
	CHECK_EQ(code_of(&s, COUNT, 1, 0), 1);
	end(&s);
}

TEST_WORKERS(rc15_random_nonsense_of_a_subprocess_hurts_no_other)
{
	const int nr_rounds = test_scale(64);
	struct sley_pool_options options = {
		.size = sizeof(options),
		.containers = 2,
		.max_restarts = 1000,
		/* It may also forget to answer. */
		.limit_ns = 200 * SLEY_MSEC,
	};
	uint64_t out[8];
	struct scene s;
	size_t size;

	begin_with(&s, options);
	for (int i = 0; i < nr_rounds; i++) {
		int seed = (int)(test_random(1 << 18) << test_random(12));
		struct sley_request_spec spec = spec_of(SCRIBBLE, 0, &seed);

		spec.out = out;
		spec.out_size = sizeof(out);
		/* Any code may come: it is the code of a liar. */
		(void)!sley_pool_call(s.pool, &spec, &size);
		CHECK_LE(size, sizeof(out));
		CHECK_EQ(code_of(&s, COUNT, 1, 0), i + 1);
	}
	end(&s);
}

TEST_WORKERS(rc15_without_a_fork_server_all_containers_are_down)
{
	struct sley_request held;
	struct scene s;
	pid_t server;

	begin(&s, 2);
	server = pid_of(&s, 0, true);
	submit(&s, &held, HOLD, 1, NULL);
	await_begun(1);
	CHECK_EQ(kill(server, SIGKILL), 0);
	CHECK_EQ(await(&held), SLEY_ECHILD);
	for (uint32_t i = 0; i < 2; i++)
		CHECK_EQ(code_of(&s, COUNT, i, 0), SLEY_ECHILD);
	CHECK_EQ(sley_pool_flush_until(s.pool, SLEY_FOREVER), 0);
	end(&s);
}

/* ---- hangs, deadlines, cancels ------------------------------------------------------------------ */

TEST_WORKERS(a_method_that_hangs_is_given_up_at_the_deadline)
{
	struct scene s;
	struct sley_request_spec spec;

	begin(&s, 2);
	spec = spec_of(HOLD, 0, NULL);
	for (int i = 0; i < 2; i++) {
		spec.deadline_ns = sley_after(20 * SLEY_MSEC);
		CHECK_EQ(sley_pool_call(s.pool, &spec, NULL), -ETIMEDOUT);
		CHECK_GE(sley_now(), spec.deadline_ns);
	}
	CHECK_EQ(code_of(&s, COUNT, 1, 0), 1);
	/* Its container serves again when the method has ended. */
	atomic_store(&shared->gate, 1);
	CHECK_EQ(code_of(&s, COUNT, 0, 0), 1);
	CHECK_EQ(atomic_load(&shared->created), 2);
	end(&s);
}

TEST(a_pool_ends_although_a_request_that_was_given_up_hangs)
{
	struct scene s;
	struct sley_request_spec spec;

	begin(&s, 2);
	spec = spec_of(HOLD, 0, NULL);
	spec.deadline_ns = sley_after(20 * SLEY_MSEC);
	CHECK_EQ(sley_pool_call(s.pool, &spec, NULL), -ETIMEDOUT);
	CHECK_EQ(sley_pool_destroy(s.pool), 0);
	CHECK_STR(lines, "container 0 of \"p\" is killed without destroy(): it "
			 "still runs a request that was given up\n");
	CHECK_EQ(atomic_load(&shared->destroyed), 1);
	end(&s);
}

TEST_WORKERS(a_method_that_takes_longer_than_the_limit_is_killed)
{
	struct scene s;

	begin_with(&s, *SLEY_POOL_OPTIONS(.containers = 2,
					  .limit_ns = 500 * SLEY_MSEC));
	CHECK_EQ(code_of(&s, HOLD, 0, 0), SLEY_ECHILD);
	check_line("a call took longer than 500 ms");
	CHECK_EQ(code_of(&s, COUNT, 0, 0), 1);
	CHECK_EQ(code_of(&s, COUNT, 1, 0), 1);
	end(&s);
}

TEST_WORKERS(the_waits_of_a_method_end_at_the_deadline_there)
{
	struct scene s;
	struct sley_request_spec spec;

	begin(&s, 1);
	spec = spec_of(NAP, 0, NULL);
	spec.deadline_ns = sley_after(20 * SLEY_MSEC);
	CHECK_EQ(sley_pool_call(s.pool, &spec, NULL), -ETIMEDOUT);
	/* Else it would have to wait for a minute. */
	CHECK_EQ(code_of(&s, COUNT, 0, 0), 1);
	spec.deadline_ns = 1;
	CHECK_EQ(sley_pool_call(s.pool, &spec, NULL), -ETIMEDOUT);
	end(&s);
}

TEST_WORKERS(a_cancelled_request_is_given_up)
{
	struct sley_request begun, behind;
	struct scene s;

	begin(&s, 1);
	submit(&s, &begun, HOLD, 0, NULL);
	await_begun(1);
	submit(&s, &behind, COUNT, 0, NULL);
	CHECK_EQ(sley_sleep(3 * SLEY_MSEC), 0);
	sley_request_cancel(&behind);
	CHECK_EQ(await(&behind), -ECANCELED);
	sley_request_cancel(&begun);
	CHECK_EQ(await(&begun), -ECANCELED);
	atomic_store(&shared->gate, 1);
	CHECK_GT(code_of(&s, COUNT, 0, 0), 0);
	end(&s);
}

struct ender {
	struct scene *s;
	struct sley_task task;
	struct sley_group group;
	atomic_bool over;
};

static void destroy_pool(void *arg)
{
	struct ender *ender = arg;

	CHECK_EQ(sley_pool_destroy(ender->s->pool), 0);
	atomic_store(&ender->over, true);
}

/* How many containers take no requests any more. */
static uint32_t nr_gone(struct sley_pool *pool)
{
	struct sley_pool_stats stats = SLEY_POOL_STATS_INIT;

	CHECK_EQ(sley_pool_inspect(pool, &stats), 0);
	return stats.gone;
}

TEST_WORKERS(a_pool_that_is_destroyed_while_busy_completes_its_requests)
{
	struct sley_request held[2], request[4];
	struct ender ender = { .group = SLEY_GROUP_INIT };
	struct scene s;

	begin(&s, 2);
	ender.s = &s;
	for (uint32_t i = 0; i < 2; i++)
		submit(&s, &held[i], HOLD, i, NULL);
	await_begun(2);
	for (uint32_t i = 0; i < 4; i++)
		submit(&s, &request[i], COUNT, i % 2, NULL);
	sley_spawn(&ender.group, &ender.task, destroy_pool, &ender);
	/* An earlier request would be accepted, and wait for the gate. */
	CHECK_SOON(nr_gone(s.pool) == 2);
	CHECK(!atomic_load(&ender.over));
	CHECK_EQ(code_of(&s, COUNT, 0, 0), -ENOENT);
	atomic_store(&shared->gate, 1);
	sley_join(&ender.group);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(await(&held[i]), 0);
	for (int i = 0; i < 4; i++)
		CHECK_GT(await(&request[i]), 0);
	CHECK_EQ(atomic_load(&shared->destroyed), 2);
	end(&s);
}

/* In a task that is cancelled all its waits fail, but not the end of a pool. */
static int destroy_cancelled(void *arg)
{
	struct scene *s = arg;

	CHECK_EQ(sley_sleep(60 * SLEY_SEC), -ECANCELED);
	CHECK_EQ(sley_pool_destroy(s->pool), 0);
	CHECK_EQ(atomic_load(&shared->destroyed), 1);
	return 0;
}

static void destroy_in_scope(void *arg)
{
	struct sley_scope scope;
	struct sley_task task;

	sley_scope_open(&scope);
	sley_scope_spawn(&scope, &task, destroy_cancelled, arg);
	sley_yield();
	sley_scope_cancel(&scope);
	CHECK_EQ(sley_scope_close(&scope), -ECANCELED);
}

TEST(a_task_that_is_cancelled_destroys_a_pool_all_the_same)
{
	struct scene s;

	begin(&s, 1);
	/* Longer than the time to stop of a subprocess. */
	atomic_store(&shared->end_ms, 1300);
	run_task(destroy_in_scope, &s);
	end(&s);
}

TEST(a_pool_whose_destroy_crashes_ends_without_a_new_life)
{
	struct scene s;

	begin(&s, 2);
	atomic_store(&shared->dies_at_end, 1);
	CHECK_EQ(sley_pool_destroy(s.pool), 0);
	CHECK_EQ(atomic_load(&shared->destroyed), 2);
	CHECK_EQ(atomic_load(&shared->created), 2);
	end(&s);
}
