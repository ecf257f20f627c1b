/* SPDX-License-Identifier: MIT */
/*
 * config_start.c - a runtime, a policy and pools as a file says: C10, C51.
 *
 * PLUGINS is the folder of the shared objects of ../route/loading.c.
 */
#include "conformance/config/said.h"

#include <sley/file_module.h>
#include <sley/kv.h>
#include <sley/param.h>
#include <sys/stat.h>

/* ---- a module that tells what it was given ------------------------------------------ */

static atomic_int nr_alive;
static char got[256]; /* .params of the last pool */

static int create(void **self, const struct sley_container_info *info)
{
	uint64_t limit = 0;
	int err = sley_param_number(info->params, info->params_size, "limit",
				    &limit);

	if (err && err != -ENOENT)
		return err;
	snprintf(got, sizeof(got), "%.*s", (int)info->params_size,
		 info->params ? (const char *)info->params : "");
	atomic_fetch_add(&nr_alive, 1);
	*self = &nr_alive;
	return 0;
}

static void destroy(void *self)
{
	atomic_fetch_sub((atomic_int *)self, 1);
}

static int answer(void *self, struct sley_request *request)
{
	(void)self;
	return sley_request_answer(request, "here", 5);
}

static const struct sley_method methods[] = {
	{ .name = "answer", .run = answer },
};

static const struct sley_module module = {
	SLEY_MODULE_HEAD("teller"), .methods = methods, .nr_methods = 1,
	.create = create,           .destroy = destroy,
};

/* ---- starting ----------------------------------------------------------------------- */

struct started {
	struct said said;
	struct sley_config_file *file;
	struct sley *rt;
	struct sley_router *router;
};

static int start_text(struct started *s, const char *text)
{
	const struct sley_config_file_options options = options_of(&s->said);

	(void)test_config(); /* no thread may be left */
	*s = (struct started){ .file = NULL };
	CHECK_EQ(sley_config_file_parse(&s->file, "t", text, strlen(text),
					&options),
		 0);
	return sley_config_file_start(s->file, &s->rt, &s->router);
}

static void end(struct started *s)
{
	CHECK_EQ(sley_router_destroy(s->router), 0);
	CHECK_EQ(sley_destroy(s->rt), 0);
	CHECK_EQ(atomic_load(&nr_alive), 0);
}

static void check_answer(struct started *s, const char *name, uint32_t nr)
{
	struct sley_pool *pool = NULL;
	char out[8] = "";

	CHECK_EQ(sley_pool_open(s->router, &pool, name, NULL), 0);
	CHECK_EQ(sley_pool_nr_containers(pool), nr);
	CHECK_EQ(sley_pool_call(pool,
				SLEY_REQUEST(.out = out,
					     .out_size = sizeof(out)),
				NULL),
		 0);
	CHECK_STR(out, "here");
	sley_pool_close(pool);
}

TEST(c51_a_file_starts_a_runtime_and_its_pools)
{
	struct started s;
	struct sley_config config = { .size = sizeof(config) };

	CHECK_EQ(start_text(&s,
			    "runtime:\n"
			    "  num_threads: 3\n"
			    "  tick_us: 300\n"
			    "compose:\n"
			    "- { mod_name: teller, pool_name: one }\n"
			    "- mod_name: teller\n"
			    "  pool_name: two\n"
			    "  containers: 4\n"
			    "  params: { limit: 100, deep: { er: x y } }\n"),
		 0);
	CHECK_EQ(sley_router_add(s.router, &module), 0);
	CHECK_EQ(sley_config_file_compose(s.file, s.router), 0);
	CHECK_STR(got, "limit=100\ndeep.er=x y\n");
	/* Nothing of the file is used from here on. */
	sley_config_file_free(s.file);
	CHECK_EQ(sley_get_config(s.rt, &config), 0);
	CHECK_EQ(config.workers, 3);
	CHECK_EQ(config.tick_us, 300);
	CHECK_EQ(atomic_load(&nr_alive), 5);
	check_answer(&s, "one", 1);
	check_answer(&s, "two", 4);
	CHECK_STR(s.said.text, "");
	end(&s);
}

static void compose_in_task(void *arg)
{
	struct started *s = arg;

	CHECK_EQ(sley_config_file_compose(s->file, s->router), 0);
}

TEST(c51_a_task_may_compose)
{
	struct started s;

	CHECK_EQ(start_text(&s, "compose: [ { mod_name: teller, pool_name: p, "
				"containers: 2 } ]"),
		 0);
	CHECK_EQ(sley_router_add(s.router, &module), 0);
	CHECK_EQ(sley_bind(s.rt), 0);
	run_task(compose_in_task, &s);
	sley_unbind(s.rt);
	/* The pool is there: the same again changes nothing. */
	CHECK_EQ(sley_config_file_compose(s.file, s.router), 0);
	CHECK_EQ(atomic_load(&nr_alive), 2);
	sley_config_file_free(s.file);
	end(&s);
}

TEST(c51_a_pool_that_cannot_be_made_is_named_with_its_line)
{
	struct started s;
	struct sley_pool *pool = NULL;

	CHECK_EQ(start_text(&s, "compose:\n"
				"- mod_name: teller\n"
				"  pool_name: good\n"
				"- mod_name: nobody\n"
				"  pool_name: bad\n"
				"- mod_name: teller\n"
				"  pool_name: never\n"),
		 0);
	CHECK_EQ(sley_router_add(s.router, &module), 0);
	CHECK_EQ(sley_config_file_compose(s.file, s.router), -ENOENT);
	CHECK_STR(s.said.text,
		  "t:4:3: the pool 'bad' is not made: there is no module "
		  "'nobody', none that was added, and no file nobody.so in "
		  "'directories' (none)\n");
	CHECK_EQ(atomic_load(&nr_alive), 1);
	CHECK_EQ(sley_pool_open(s.router, &pool, "good", NULL), 0);
	sley_pool_close(pool);
	CHECK_EQ(sley_pool_open(s.router, &pool, "never", NULL), -ENOENT);
	sley_config_file_free(s.file);
	end(&s);
}

TEST(c51_parameters_that_the_module_refuses_are_named_with_their_pool)
{
	struct started s;
	struct sley_pool *pool = NULL;

	CHECK_EQ(start_text(&s, "compose:\n"
				"- mod_name: teller\n"
				"  pool_name: bad\n"
				"  containers: 2\n"
				"  params: { limit: lots }\n"),
		 0);
	CHECK_EQ(sley_router_add(s.router, &module), 0);
	CHECK_EQ(sley_config_file_compose(s.file, s.router), -EINVAL);
	CHECK_STR(s.said.text, "t:2:3: the pool 'bad' of the module 'teller' "
			       "is not made: Invalid argument; look at "
			       "'params': the module refuses a name that it "
			       "does not know, or a value\n");
	/* A pool of that name that is another one. */
	s.said = (struct said){ .nr = 0 };
	CHECK_EQ(sley_pool_open(s.router, &pool, "bad",
				SLEY_POOL_OPTIONS(.module = "teller")),
		 0);
	CHECK_EQ(sley_config_file_compose(s.file, s.router), -EEXIST);
	CHECK_STR(s.said.text,
		  "t:2:3: the pool 'bad' is not made: there is one of that "
		  "name with another module, or another number of "
		  "containers\n");
	sley_pool_close(pool);
	sley_config_file_free(s.file);
	end(&s);
}

TEST(c51_a_runtime_that_does_not_start_leaves_nothing)
{
	struct started s;

	/* No machine has that CPU, and nothing else. */
	CHECK_EQ(start_text(&s, "runtime: { cpus: 4095 }"), SLEY_ECPUS);
	CHECK(strstr(s.said.text, "t: the runtime does not start: ") ==
	      s.said.text);
	CHECK(!s.rt && !s.router);
	sley_config_file_free(s.file);
}

TEST(c51_modules_of_the_library_take_the_params_of_a_file)
{
	struct started s;

	CHECK_EQ(start_text(&s, "compose:\n"
				"  - mod_name: kv\n"
				"    pool_name: sessions\n"
				"    containers: 2\n"
				"    params: { max_bytes: 1000000 }\n"
				"  - mod_name: file\n"
				"    pool_name: pictures\n"
				"    params:\n"
				"      root: /tmp\n"
				"      writable: Yes\n"
				"      max_open: 64\n"),
		 0);
	CHECK_EQ(sley_router_add(s.router, &sley_kv_module), 0);
	CHECK_EQ(sley_router_add(s.router, &sley_file_module), 0);
	CHECK_EQ(sley_config_file_compose(s.file, s.router), 0);
	CHECK_STR(s.said.text, "");
	sley_config_file_free(s.file);
	end(&s);
}

/* ---- the load ----------------------------------------------------------------------- */

TEST(c33_the_learning_rate_of_the_file_is_that_of_the_router)
{
	struct started s;

	CHECK_EQ(start_text(&s, "runtime:\n  num_threads: 1\n"
				"  learning_rate: 0.75\n"),
		 0);
	CHECK(sley_router_learning_rate(s.router) == 0.75);
	end(&s);
	sley_config_file_free(s.file);
}

/* ---- the policy --------------------------------------------------------------------- */

/* A folder of our own with the policy "my_scheduler". */
static void make_folder(char *dir, size_t size)
{
	char command[600];

	snprintf(dir, size, "/tmp/sley-config.XXXXXX");
	CHECK(mkdtemp(dir) != NULL);
	snprintf(command, sizeof(command),
		 "cp %s/my_scheduler.so %s/ && chmod 755 %s/my_scheduler.so",
		 PLUGINS, dir, dir);
	CHECK_EQ(system(command), 0);
}

static void remove_folder(const char *dir)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	CHECK_EQ(system(command), 0);
}

/* my_scheduler sends all requests to the last worker. */
static void check_policy(struct started *s)
{
	struct sley_pool *pool = NULL;
	struct sley_request request;

	CHECK_EQ(sley_router_add(s->router, &module), 0);
	CHECK_EQ(sley_pool_open(s->router, &pool, "p",
				SLEY_POOL_OPTIONS(.module = "teller")),
		 0);
	CHECK_EQ(sley_submit(pool, &request, SLEY_REQUEST(.enqueue = true)), 0);
	CHECK_EQ(request.worker, 3);
	CHECK_EQ(sley_request_wait(&request), 0);
	sley_pool_close(pool);
}

TEST(c10_the_block_of_the_seed_loads_its_policy)
{
	struct started s;
	char dir[64];

	make_folder(dir, sizeof(dir));
	setenv("SLEY_DIRECTORIES", dir, 1);
	CHECK_EQ(start_text(&s, "runtime:\n"
				"  local_sched: \"my_scheduler\"\n"
				"  num_threads: 4\n"
				"  queue_depth: 1024\n"),
		 0);
	CHECK_EQ(s.said.nr, 1); /* about queue_depth */
	sley_config_file_free(s.file);
	check_policy(&s);
	end(&s);
	remove_folder(dir);
}

TEST(c51_an_isolated_pool_of_a_program_without_subprocesses_says_why)
{
	struct started s;

	CHECK_EQ(start_text(&s, "compose:\n"
				"- mod_name: teller\n"
				"  pool_name: apart\n"
				"  isolated: true\n"),
		 0);
	CHECK_EQ(sley_router_add(s.router, &module), 0);
	CHECK_EQ(sley_config_file_compose(s.file, s.router), -EOPNOTSUPP);
	CHECK_STR(s.said.text,
		  "the pool \"apart\" cannot be isolated: there is no fork "
		  "server: call sley_subprocesses_init() first in main()\n"
		  "t:2:3: the pool 'apart' of the module 'teller' is not made: "
		  "Operation not supported; 'isolated' wants a program that "
		  "calls sley_subprocesses_init() first in main(), and a "
		  "module that can be in another process\n");
	sley_config_file_free(s.file);
	end(&s);
}

TEST(c10_an_unknown_policy_is_named_with_its_line)
{
	struct started s;

	CHECK_EQ(start_text(&s, "runtime:\n"
				"  num_threads: 2\n"
				"  local_sched: mine\n"
				"  directories: /nowhere\n"),
		 -ENOENT);
	CHECK_STR(s.said.text,
		  "there is no policy \"mine\": none that is built in "
		  "(default, local, none, steal, prio), and no file mine.so in "
		  ".directories (/nowhere)\n"
		  "t:3:16: the policy 'mine' does not start: No such file or "
		  "directory\n");
	CHECK(!s.rt && !s.router);
	sley_config_file_free(s.file);
	setenv("SLEY_LOCAL_SCHED", "theirs", 1);
	CHECK_EQ(start_text(&s, "runtime: { local_sched: none }"), -ENOENT);
	CHECK_STR(s.said.text,
		  "there is no policy \"theirs\": none that is built in "
		  "(default, local, none, steal, prio), and no file theirs.so "
		  "in .directories (none)\n"
		  "$SLEY_LOCAL_SCHED: the policy 'theirs' does not start: No "
		  "such file or directory\n");
	sley_config_file_free(s.file);
}

TEST(c10_a_policy_that_others_may_change_is_not_loaded)
{
	struct started s;
	char dir[64], text[256], path[128];

	make_folder(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/my_scheduler.so", dir);
	CHECK_EQ(chmod(path, 0777), 0);
	snprintf(text, sizeof(text),
		 "runtime: { local_sched: my_scheduler, directories: %s }",
		 dir);
	CHECK_EQ(start_text(&s, text), -EPERM);
	CHECK(strstr(s.said.text, "users other than root") != NULL);
	CHECK(strstr(s.said.text, "t:1:25: the policy 'my_scheduler' does not "
				  "start: ") != NULL);
	sley_config_file_free(s.file);
	remove_folder(dir);
}

TEST(c10_every_policy_that_is_built_in_starts_from_a_file)
{
	static const char *const names[] = { "default", "local", "none" };
	struct started s;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char text[64];

		snprintf(text, sizeof(text), "runtime: { local_sched: %s }",
			 names[i]);
		CHECK_EQ(start_text(&s, text), 0);
		sley_config_file_free(s.file);
		end(&s);
	}
}

static void *load_often(void *arg)
{
	static const char text[] = "compose: [{mod_name: a, pool_name: b}]";

	(void)arg;
	for (int i = 0; i < test_scale(200); i++) {
		struct sley_config_file *file = NULL;

		CHECK_EQ(sley_config_file_parse(&file, "t", text, strlen(text),
						NULL),
			 0);
		CHECK_STR(sley_config_file_pool(file, 0)->name, "b");
		sley_config_file_free(file);
	}
	return NULL;
}

TEST(c51_several_threads_read_files_at_a_time)
{
	run_threads(4, load_often, NULL);
}
