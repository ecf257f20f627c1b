/* SPDX-License-Identifier: MIT */
/*
 * isolated.c - pools whose containers are in subprocesses; and which cannot be.
 */
#include "conformance/route/fragile.h"

/* ---- there and back -------------------------------------------------------------------------- */

TEST_WORKERS(each_isolated_container_is_in_a_process_of_its_own)
{
	struct scene s;
	pid_t pid[2];

	begin(&s, 2);
	for (uint32_t i = 0; i < 2; i++) {
		pid[i] = pid_of(&s, i, false);
		CHECK_GT(pid[i], 0);
		CHECK_NE(pid[i], getpid());
		CHECK_EQ(pid[i], isolated_pid(&s.pool->container[i]));
	}
	CHECK_NE(pid[0], pid[1]);
	/* A state is kept from request to request, by each of them. */
	for (int i = 1; i < 4; i++)
		CHECK_EQ(code_of(&s, COUNT, 1, 0), i);
	CHECK_EQ(code_of(&s, COUNT, 0, 0), 1);
	CHECK_EQ(code_of(&s, HOLE, 0, 0), -ENOSYS);
	CHECK_EQ(atomic_load(&shared->created), 2);
	CHECK_EQ(sley_pool_destroy(s.pool), 0);
	CHECK_EQ(atomic_load(&shared->destroyed), 2);
	CHECK_EQ(code_of(&s, COUNT, 0, 0), -ENOENT);
	CHECK_STR(lines, "");
	end(&s);
}

TEST_WORKERS(an_answer_that_is_too_long_is_an_error_of_the_method)
{
	static char out[4096];
	int nr = sizeof(out);
	struct scene s;
	size_t size;

	begin(&s, 1);
	for (int i = 0; i < 2; i++, nr++) {
		CHECK_EQ(sley_pool_call(
				 s.pool,
				 SLEY_REQUEST(.method = ANSWER, .in = &nr,
					      .in_size = sizeof(nr), .out = out,
					      .out_size = sizeof(out)),
				 &size),
			 i ? -EMSGSIZE : 0);
		CHECK_EQ(size, i ? 0 : nr);
	}
	end(&s);
}

TEST_WORKERS(requests_without_an_end_and_forgotten_ones_are_completed)
{
	struct sley_request request[40];
	struct scene s;

	begin(&s, 2);
	/* More than the ring of a subprocess has slots. */
	for (uint32_t i = 0; i < ARRAY_SIZE(request); i++) {
		submit(&s, &request[i], ECHO, i % 2, NULL);
		CHECK_EQ(sley_submit_and_forget(
				 s.pool, SLEY_REQUEST(.method = ECHO, .in = "x",
						      .in_size = 1)),
			 0);
	}
	for (uint32_t i = 0; i < ARRAY_SIZE(request); i++)
		CHECK_EQ(await(&request[i]), 0);
	CHECK_EQ(sley_pool_flush_until(s.pool, SLEY_FOREVER), 0);
	CHECK_GE(atomic_load(&shared->begun), (int)ARRAY_SIZE(request));
	end(&s);
}

TEST(create_gets_its_parameters_in_each_life)
{
	int first = 100;
	struct scene s;

	begin_with(&s, *SLEY_POOL_OPTIONS(.params = &first,
					  .params_size = sizeof(first)));
	first = 0; /* borrowed for the call only */
	CHECK_EQ(code_of(&s, COUNT, 0, 0), 101);
	CHECK_EQ(code_of(&s, DIE, 0, ABORT), SLEY_ECHILD);
	CHECK_EQ(code_of(&s, COUNT, 0, 0), 101);
	end(&s);
}

TEST_WORKERS(dynamic_queries_broadcasts_and_monitors_work)
{
	struct scene s;
	uint64_t ids = 0;
	char text[32];
	int in = 7;

	begin(&s, 3);
	CHECK_EQ(sley_pool_call(s.pool,
				SLEY_REQUEST(.method = SAY_ID, .in = &in,
					     .in_size = sizeof(in),
					     .query = sley_query_dynamic(),
					     .out = &ids,
					     .out_size = sizeof(ids)),
				NULL),
		 0);
	CHECK_EQ(ids, 7 % 3);
	CHECK_EQ(sley_pool_call(s.pool,
				SLEY_REQUEST(.method = SAY_ID,
					     .query = sley_query_broadcast(),
					     .out = &ids,
					     .out_size = sizeof(ids)),
				NULL),
		 0);
	CHECK_EQ(ids, 12);
	CHECK_EQ(code_of(&s, COUNT, 2, 0), 1);
	CHECK_EQ(s.pool->module->monitor(s.pool->container[2].self, "count",
					 text, sizeof(text)),
		 11);
	CHECK_STR(text, "{\"count\":1}");
	/* As snprintf(): the whole length, and a text that is cut. */
	CHECK_EQ(s.pool->module->monitor(s.pool->container[2].self, "count",
					 text, 6),
		 11);
	CHECK_STR(text, "{\"cou");
	CHECK_EQ(s.pool->module->monitor(s.pool->container[2].self, "x", text,
					 sizeof(text)),
		 -ENOENT);
	end(&s);
}

TEST_WORKERS(a_method_reaches_its_own_container_and_no_other)
{
	struct scene s;

	begin(&s, 2);
	CHECK_EQ(code_of(&s, CALL, 1, 1), 1);
	CHECK_EQ(code_of(&s, COUNT, 1, 0), 2);
	CHECK_EQ(code_of(&s, CALL, 1, 0), -ENOENT);
	CHECK_EQ(code_of(&s, CALL, 1, 2), -ENXIO);
	end(&s);
}

TEST_WORKERS(a_flush_asks_the_subprocess_for_its_work)
{
	struct scene s;

	begin(&s, 1);
	atomic_store(&shared->work, 1000000);
	CHECK_EQ(sley_pool_flush_until(s.pool, sley_after(20 * SLEY_MSEC)),
		 -ETIMEDOUT);
	atomic_store(&shared->work, 3);
	CHECK_EQ(sley_pool_flush_until(s.pool, SLEY_FOREVER), 0);
	CHECK_LE(atomic_load(&shared->work), 0);
	end(&s);
}

TEST_WORKERS(an_isolated_container_is_drained_and_not_upgraded)
{
	struct sley_module newer = fragile_module;
	struct sley_request late;
	struct scene s;

	begin(&s, 2);
	newer.version++;
	CHECK_EQ(code_of(&s, COUNT, 1, 0), 1);
	CHECK_EQ(sley_container_drain_until(s.pool, 1, SLEY_FOREVER), 0);
	CHECK_EQ(sley_container_upgrade(s.pool, 1, &newer), -EOPNOTSUPP);
	submit(&s, &late, COUNT, 1, NULL);
	CHECK_EQ(sley_request_wait_until(&late, sley_after(3 * SLEY_MSEC)),
		 -ETIMEDOUT);
	CHECK_EQ(sley_container_open(s.pool, 1), 0);
	CHECK_EQ(await(&late), 2);
	end(&s);
}

/* ---- what cannot be isolated ---------------------------------------------------------------------- */

static int open_isolated(struct scene *s, const char *name)
{
	return sley_pool_open(s->router, &s->pool, "p",
			      SLEY_POOL_OPTIONS(.module = name, .containers = 2,
						.isolated = true));
}

static void refused(struct scene *s, const struct sley_module *table,
		    const char *line)
{
	lines[0] = '\0';
	CHECK_EQ(sley_router_add(s->router, table), 0);
	CHECK_EQ(open_isolated(s, table->name), -EOPNOTSUPP);
	check_line(line);
	/* The same is no problem here. */
	CHECK_EQ(sley_pool_open(s->router, &s->pool, "here",
				SLEY_POOL_OPTIONS(.module = table->name)),
		 0);
	CHECK_EQ(sley_pool_open(s->router, &s->pool, "here",
				SLEY_POOL_OPTIONS(.isolated = true)),
		 -EEXIST);
	CHECK_EQ(sley_pool_destroy(s->pool), 0);
	sley_pool_close(s->pool);
	s->pool = NULL;
}

static void stop_router(struct scene *s)
{
	CHECK_EQ(sley_router_destroy(s->router), 0);
	stop(s->rt);
}

TEST(without_a_fork_server_there_is_no_isolated_pool)
{
	struct scene s;

	begin_router(&s);
	CHECK_EQ(open_isolated(&s, "fragile"), -EOPNOTSUPP);
	CHECK_STR(lines, "the pool \"p\" cannot be isolated: there is no "
			 "fork server: call sley_subprocesses_init() first in "
			 "main()\n");
	stop_router(&s);
}

TEST(a_module_that_came_after_the_fork_server_is_refused)
{
	static struct sley_module late, changed;
	const char *line = "make its table static, or make the module a file";
	struct sley_module *mapped;
	struct scene s;

	changed = fragile_module;
	changed.name = "changed";
	begin_processes();
	begin_router(&s);
	changed.version++;
	late = fragile_module;
	late.name = "late";
	mapped = mmap(NULL, sizeof(*mapped), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(mapped != MAP_FAILED);
	*mapped = fragile_module;
	mapped->name = "mapped";
	refused(&s, mapped, line);
	refused(&s, &late, line);
	refused(&s, &changed, line);
	stop_router(&s);
	munmap(mapped, sizeof(*mapped));
	end_processes();
}

TEST(a_module_that_schedules_by_its_state_is_refused)
{
	static struct sley_module stateful;
	struct scene s;

	stateful = fragile_module;
	stateful.name = "stateful";
	stateful.flags = 0;
	begin_processes();
	begin_router(&s);
	refused(&s, &stateful, "set SLEY_MODULE_STATELESS");
	stop_router(&s);
	end_processes();
}

static int open_with(struct scene *s, const char *name, size_t params_size)
{
	static char params[SLEY_SUBPROCESS_DATA_MAX + 1];

	return sley_pool_open(s->router, &s->pool, name,
			      SLEY_POOL_OPTIONS(.module = "fragile",
						.isolated = true,
						.params = params,
						.params_size = params_size));
}

TEST(parameters_that_do_not_fit_are_refused)
{
	struct scene s;

	begin_processes();
	begin_router(&s);
	CHECK_EQ(open_with(&s, "p", SLEY_SUBPROCESS_DATA_MAX + 1), -EMSGSIZE);
	CHECK_EQ(open_with(&s, "p", 4000), -EMSGSIZE);
	CHECK_EQ(open_with(&s, "p", 3900), 0);
	end(&s);
}

/* ---- modules that are files ------------------------------------------------------------------------ */

static void copy_plugin(const char *dir)
{
	char command[600];

	snprintf(command, sizeof(command),
		 "cp %s/plugin.so %s && chmod 755 %s"
		 "/plugin.so",
		 PLUGINS, dir, dir);
	CHECK_EQ(system(command), 0);
}

static void check_plugin(struct sley_pool *pool, int code)
{
	char out[16] = "";

	CHECK_EQ(sley_pool_call(pool,
				SLEY_REQUEST(.out = out,
					     .out_size = sizeof(out)),
				NULL),
		 code);
	CHECK_STR(out, code ? "" : "plugin");
}

TEST(a_module_that_is_a_file_is_loaded_in_each_life)
{
	char dir[] = "/tmp/sley-isolated.XXXXXX", path[64];
	struct sley_config config = *test_config();
	struct scene s;

	begin_processes();
	CHECK(mkdtemp(dir) != NULL);
	copy_plugin(dir);
	config.report = take_line;
	s.rt = start_with(&config);
	CHECK_EQ(sley_router_create(s.rt, &s.router,
				    SLEY_ROUTER_OPTIONS(.directories = dir)),
		 0);
	CHECK_EQ(sley_pool_open(s.router, &s.pool, "p",
				SLEY_POOL_OPTIONS(.module = "plugin",
						  .isolated = true,
						  .max_restarts = 2)),
		 0);
	check_plugin(s.pool, 0);
	CHECK_EQ(kill(isolated_pid(&s.pool->container[0]), SIGKILL), 0);
	check_plugin(s.pool, 0);
	/* Without its file the container stays down. */
	snprintf(path, sizeof(path), "%s/plugin.so", dir);
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(rmdir(dir), 0);
	CHECK_EQ(kill(isolated_pid(&s.pool->container[0]), SIGKILL), 0);
	CHECK_EVENTUALLY(isolated_pid(&s.pool->container[0]) == 0);
	check_plugin(s.pool, SLEY_ECHILD);
	end(&s);
}
