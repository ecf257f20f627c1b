/* SPDX-License-Identifier: MIT */
/*
 * loading.c - modules and policies from files: C10, C43.
 *
 * PLUGINS is the folder of the files; a test copies them to a folder of its own, whose
 * rights it can change.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "conformance/bound.h"

struct lines {
	char text[4096];
	size_t length;
};

static void report(void *self, const char *line)
{
	struct lines *lines = self;

	lines->length += (size_t)snprintf(lines->text + lines->length,
					  sizeof(lines->text) - lines->length,
					  "%s\n", line);
	CHECK_LT(lines->length, sizeof(lines->text));
}

struct loading {
	char dir[64];
	struct lines lines;
	struct sley *rt;
	struct sley_router *router;
};

static void copy(const struct loading *l, const char *from, const char *to,
		 mode_t mode)
{
	char path[256], command[600];

	snprintf(path, sizeof(path), "%s/%s", l->dir, to);
	snprintf(command, sizeof(command), "cp %s/%s %s", PLUGINS, from, path);
	CHECK_EQ(system(command), 0);
	CHECK_EQ(chmod(path, mode), 0);
}

static void begin(struct loading *l)
{
	struct sley_config config = *test_config();

	*l = (struct loading){ .dir = "/tmp/sley-loading.XXXXXX" };
	CHECK(mkdtemp(l->dir) != NULL);
	config.workers = 2;
	config.report = report;
	config.report_self = &l->lines;
	l->rt = start_with(&config);
}

static int create(struct loading *l, const char *policy)
{
	return sley_router_create(l->rt, &l->router,
				  SLEY_ROUTER_OPTIONS(.policy = policy,
						      .directories = l->dir));
}

static void end(struct loading *l)
{
	char command[100];

	CHECK_EQ(sley_router_destroy(l->router), 0);
	stop(l->rt);
	snprintf(command, sizeof(command), "rm -rf %s", l->dir);
	CHECK_EQ(system(command), 0);
}

static int open_pool(struct loading *l, const char *module,
		     struct sley_pool **pool)
{
	return sley_pool_open(l->router, pool, "p",
			      SLEY_POOL_OPTIONS(.module = module));
}

static void check_answer(struct sley_pool *pool)
{
	char out[16] = "";

	CHECK_EQ(sley_pool_call(pool,
				SLEY_REQUEST(.out = out,
					     .out_size = sizeof(out)),
				NULL),
		 0);
	CHECK_STR(out, "plugin");
	sley_pool_close(pool);
}

static void open_in_task(void *arg)
{
	struct sley_pool *pool = NULL;

	CHECK_EQ(open_pool(arg, "plugin", &pool), 0);
	check_answer(pool);
}

TEST(c43_a_module_is_a_file_in_a_folder)
{
	struct loading l;
	struct sley_pool *pool = NULL;

	begin(&l);
	copy(&l, "plugin.so", "plugin.so", 0755);
	CHECK_EQ(create(&l, NULL), 0);
	CHECK_EQ(open_pool(&l, "plugin", &pool), 0);
	check_answer(pool);
	CHECK_EQ(open_pool(&l, "unknown", &pool), -EEXIST);
	CHECK_STR(l.lines.text, "");
	end(&l);
}

/* The new file has the name of the old. */
static void replace(struct loading *l, const char *from)
{
	char command[300];

	copy(l, from, "new", 0755);
	snprintf(command, sizeof(command), "mv %s/new %s/plugin.so", l->dir,
		 l->dir);
	CHECK_EQ(system(command), 0);
}

TEST(c43_a_new_file_of_a_module_is_found_by_a_refresh)
{
	struct sley_pool *pool = NULL;
	struct loading l;

	begin(&l);
	copy(&l, "plugin.so", "plugin.so", 0755);
	CHECK_EQ(create(&l, NULL), 0);
	CHECK_EQ(sley_router_refresh(l.router), 0);
	CHECK_EQ(open_pool(&l, "plugin", &pool), 0);
	CHECK_EQ(sley_router_refresh(l.router), 0);
	CHECK_EQ(sley_container_drain_until(pool, 0, SLEY_FOREVER), 0);
	CHECK_EQ(sley_container_upgrade_to(pool, 0, 2), -ESRCH);
	for (uint32_t version = 2; version < 4; version++) {
		replace(&l, version == 2 ? "plugin2.so" : "plugin3.so");
		CHECK_EQ(sley_router_refresh(l.router), 1);
		CHECK_EQ(sley_router_refresh(l.router), 0);
		CHECK_EQ(sley_container_upgrade_to(pool, 0, version), 0);
	}
	CHECK_EQ(sley_container_open(pool, 0), 0);
	CHECK_STR(l.lines.text, "");
	check_answer(pool);
	end(&l);
}

TEST(c43_a_refresh_says_what_is_wrong_with_a_file)
{
	struct sley_pool *pool = NULL;
	struct loading l;

	begin(&l);
	copy(&l, "plugin.so", "plugin.so", 0755);
	CHECK_EQ(create(&l, NULL), 0);
	CHECK_EQ(open_pool(&l, "plugin", &pool), 0);
	replace(&l, "plugin.so"); /* another file, the same version */
	CHECK_EQ(sley_router_refresh(l.router), -EEXIST);
	CHECK(strstr(l.lines.text, "count .version up") != NULL);
	replace(&l, "nothing.so");
	CHECK_EQ(sley_router_refresh(l.router), -ELIBBAD);
	replace(&l, "plugin2.so");
	CHECK_EQ(sley_router_refresh(l.router), 1);
	check_answer(pool);
	/* The default hook puts "sley: " in front. */
	CHECK(!strstr(l.lines.text, "sley: "));
	end(&l);
}

TEST(c43_a_module_is_loaded_by_a_task)
{
	struct loading l;

	begin(&l);
	copy(&l, "plugin.so", "plugin.so", 0755);
	CHECK_EQ(create(&l, NULL), 0);
	run_task(open_in_task, &l);
	end(&l);
}

/* As a source that may be a file, too: this one is compiled in. */
static int answer(void *self, struct sley_request *request)
{
	(void)self;
	return sley_request_answer(request, "mine", sizeof("mine"));
}

static const struct sley_method methods[] = {
	{ .name = "answer", .run = answer },
};

SLEY_MODULE("plugin", .methods = methods, .nr_methods = 1);

TEST(c43_a_module_that_was_added_comes_before_a_file_of_its_name)
{
	struct loading l;
	struct sley_pool *pool = NULL;
	char out[16] = "";

	begin(&l);
	copy(&l, "plugin.so", "plugin.so", 0775); /* would be refused */
	CHECK_EQ(create(&l, NULL), 0);
	CHECK_EQ(sley_router_add(l.router, &sley_module_table), 0);
	CHECK_EQ(open_pool(&l, "plugin", &pool), 0);
	CHECK_EQ(sley_pool_call(pool,
				SLEY_REQUEST(.out = out,
					     .out_size = sizeof(out)),
				NULL),
		 0);
	CHECK_STR(out, "mine");
	CHECK_STR(l.lines.text, "");
	sley_pool_close(pool);
	end(&l);
}

TEST(c43_a_name_that_is_a_path_is_no_file)
{
	struct loading l;
	struct sley_pool *pool = NULL;

	begin(&l);
	copy(&l, "plugin.so", "plugin.so", 0755);
	copy(&l, "plugin.so", ".so", 0755);
	CHECK_EQ(create(&l, NULL), 0);
	CHECK_EQ(open_pool(&l, "./plugin", &pool), -ENOENT);
	CHECK_EQ(open_pool(&l, "../plugin", &pool), -ENOENT);
	CHECK_EQ(open_pool(&l, "/tmp/plugin", &pool), -ENOENT);
	CHECK_EQ(open_pool(&l, "", &pool), -ENOENT);
	CHECK_EQ(open_pool(&l, "plugin.so", &pool), -ENOENT);
	CHECK_STR(l.lines.text, "");
	end(&l);
}

TEST(c43_a_file_that_others_may_change_is_refused_and_named)
{
	struct loading l;
	struct sley_pool *pool = NULL;

	begin(&l);
	copy(&l, "plugin.so", "plugin.so", 0775);
	CHECK_EQ(create(&l, NULL), 0);
	CHECK_EQ(open_pool(&l, "plugin", &pool), -EPERM);
	CHECK(strstr(l.lines.text, "plugin.so;") != NULL);
	copy(&l, "plugin.so", "plugin.so", 0757);
	CHECK_EQ(open_pool(&l, "plugin", &pool), -EPERM);
	copy(&l, "plugin.so", "plugin.so", 0755);
	/* The folder is writable; with the sticky bit that does no harm. */
	l.lines = (struct lines){ .length = 0 };
	CHECK_EQ(chmod(l.dir, 0777), 0);
	CHECK_EQ(open_pool(&l, "plugin", &pool), -EPERM);
	CHECK(strstr(l.lines.text, l.dir) != NULL);
	CHECK(strstr(l.lines.text, "plugin.so") == NULL);
	CHECK_EQ(chmod(l.dir, 01777), 0);
	CHECK_EQ(open_pool(&l, "plugin", &pool), 0);
	check_answer(pool);
	end(&l);
}

TEST(c43_a_file_of_another_user_is_refused)
{
	struct loading l;
	struct sley_pool *pool = NULL;
	char path[128];

	if (geteuid() != 0)
		test_skip("only root can give a file away");
	begin(&l);
	copy(&l, "plugin.so", "plugin.so", 0755);
	snprintf(path, sizeof(path), "%s/plugin.so", l.dir);
	CHECK_EQ(chown(path, 12345, 12345), 0);
	CHECK_EQ(create(&l, NULL), 0);
	CHECK_EQ(open_pool(&l, "plugin", &pool), -EPERM);
	end(&l);
}

TEST(c43_a_file_that_is_no_module_is_refused_with_the_reason)
{
	struct loading l;
	struct sley_pool *pool = NULL;

	begin(&l);
	copy(&l, "nothing.so", "nothing.so", 0755);
	copy(&l, "plugin.so", "other.so", 0755);
	CHECK_EQ(create(&l, NULL), 0);
	CHECK_EQ(open_pool(&l, "nothing", &pool), -ELIBBAD);
	CHECK(strstr(l.lines.text, "sley_module_table: its source ends with "
				   "SLEY_MODULE(...)") != NULL);
	CHECK_EQ(open_pool(&l, "other", &pool), -ELIBBAD);
	CHECK(strstr(l.lines.text, "another name, \"plugin\"") != NULL);
	copy(&l, "../loading.txt", "text.so", 0755);
	CHECK_EQ(open_pool(&l, "text", &pool), -ELIBBAD);
	CHECK(strstr(l.lines.text, "\"text\" is not loaded") != NULL);
	/* The default hook puts "sley: " in front. */
	CHECK(!strstr(l.lines.text, "sley: "));
	end(&l);
}

TEST(c10_a_policy_is_a_file_in_a_folder)
{
	struct loading l;
	struct sley_pool *pool = NULL;
	struct sley_request request;

	begin(&l);
	copy(&l, "plugin.so", "plugin.so", 0755);
	copy(&l, "last.so", "last.so", 0755);
	CHECK_EQ(create(&l, "missing"), -ENOENT);
	CHECK_EQ(create(&l, "plugin"), -ELIBBAD);
	CHECK(strstr(l.lines.text, "sley_policy_table: its source ends with "
				   "SLEY_POLICY(...)") != NULL);
	CHECK_EQ(create(&l, "last"), 0);
	CHECK_EQ(open_pool(&l, "plugin", &pool), 0);
	CHECK_EQ(sley_submit(pool, &request, SLEY_REQUEST(.enqueue = true)), 0);
	CHECK_EQ(request.worker, 1);
	CHECK_EQ(sley_request_wait(&request), 0);
	sley_pool_close(pool);
	end(&l);
}
