/* SPDX-License-Identifier: MIT */
/*
 * admin.c - <sley/admin.h>: C44 without its node methods, and C45.
 */
#include "conformance/json.h"
#include "conformance/modules/admin_cases.h"
#include "conformance/route/routing.h"

#include <stdio.h>

/* A routing with a pool "admin", and the event that says "stop". */
struct administered {
	struct routing r;
	struct sley_pool *admin;
	struct sley_event stop;
};

static void admin_start(struct administered *a, uint32_t containers)
{
	*a = (struct administered){ .r = routing_start(2, "default") };
	CHECK_EQ(sley_router_add(a->r.router, &sley_admin_module), 0);
	CHECK_EQ(sley_pool_open(
			 a->r.router, &a->admin, "admin",
			 SLEY_POOL_OPTIONS(.module = "admin",
					   .containers = containers,
					   .params = SLEY_ADMIN_PARAMS(
							   .stop = &a->stop),
					   .params_size = sizeof(
						   struct sley_admin_params))),
		 0);
	memset(&probe_counts, 0, sizeof(probe_counts));
}

static void admin_stop(struct administered *a)
{
	sley_pool_close(a->admin);
	routing_stop(&a->r);
}

static int make_pool(struct sley_pool *admin, const char *pool,
		     const char *module, uint32_t containers)
{
	struct sley_admin_make in = { .containers = containers };

	strncpy(in.pool, pool, sizeof(in.pool) - 1);
	strncpy(in.module, module, sizeof(in.module) - 1);
	return admin_ask(admin, SLEY_ADMIN_MAKE, &in, sizeof(in));
}

/* ---- pools ----------------------------------------------------------------------------- */

static void make_and_destroy(void *arg)
{
	struct administered *a = arg;
	struct sley_pool *pool = NULL;

	CHECK_EQ(make_pool(a->admin, "q", "probe", 3), 0);
	CHECK_EQ(make_pool(a->admin, "q", "probe", 3), 0);
	CHECK_EQ(make_pool(a->admin, "q", "", 0), 0);
	CHECK_EQ(atomic_load(&probe_counts.created), 3);
	CHECK_EQ(sley_pool_open(a->r.router, &pool, "q", NULL), 0);
	CHECK_EQ(sley_pool_nr_containers(pool), 3);
	CHECK_EQ(code_of(pool, PROBE_ECHO, sley_query_id(2)), 0);
	/* What does not fit. */
	CHECK_EQ(make_pool(a->admin, "q", "probe", 2), -EEXIST);
	CHECK_EQ(make_pool(a->admin, "q", "admin", 3), -EEXIST);
	CHECK_EQ(make_pool(a->admin, "z", "", 1), -ENOENT);
	CHECK_EQ(make_pool(a->admin, "z", "unknown", 1), -ENOENT);
	CHECK_EQ(make_pool(a->admin, "", "probe", 1), -EINVAL);
	CHECK_EQ(make_pool(a->admin, "z", "probe", SLEY_CONTAINERS_MAX + 1),
		 -E2BIG);
	atomic_store(&probe_counts.create_fails_at, 1);
	CHECK_EQ(make_pool(a->admin, "z", "probe", 1), -EIO);
	atomic_store(&probe_counts.create_fails_at, 0);

	CHECK_EQ(admin_ask_pool(a->admin, SLEY_ADMIN_DESTROY, "q", 0), 0);
	CHECK_EQ(atomic_load(&probe_counts.destroyed), 3);
	CHECK_EQ(code_of(pool, PROBE_ECHO, sley_query_local()), -ENOENT);
	CHECK_EQ(admin_ask_pool(a->admin, SLEY_ADMIN_DESTROY, "q", 0), -ENOENT);
	sley_pool_close(pool);
}

TEST_WORKERS(c44_pools_are_made_and_destroyed_by_requests)
{
	struct administered a;

	admin_start(&a, 1);
	run_task(make_and_destroy, &a);
	memset(&probe_counts, 0, sizeof(probe_counts));
	make_and_destroy(&a);
	admin_stop(&a);
}

/* create() is told the bytes behind the struct. */
static int check_params(void **self, const struct sley_container_info *info)
{
	*self = NULL;
	return info->params_size == 5 && !memcmp(info->params, "12345", 5)
		       ? 0
		       : -EPROTO;
}

TEST(c44_the_params_of_a_pool_follow_the_request)
{
	struct sley_module module = probe_module;
	struct {
		struct sley_admin_make make;
		char params[5];
	} in = { .make = { .pool = "q", .module = "strict" },
		 .params = "12345" };
	struct administered a;

	module.name = "strict";
	module.create = check_params;
	module.destroy = NULL;
	admin_start(&a, 1);
	CHECK_EQ(sley_router_add(a.r.router, &module), 0);
	CHECK_EQ(admin_ask(a.admin, SLEY_ADMIN_MAKE, &in, sizeof(in.make)),
		 -EPROTO);
	CHECK_EQ(admin_ask(a.admin, SLEY_ADMIN_MAKE, &in, sizeof(in.make) + 5),
		 0);
	admin_stop(&a);
}

TEST_WORKERS(c44_an_unknown_pool_container_or_method_completes_with_a_code)
{
	struct administered a;

	admin_start(&a, 1);
	admin_refuses_the_unknown(a.admin, "p");
	admin_stop(&a);
}

/* ---- bad requests ---------------------------------------------------------------------- */

TEST(c44_a_request_of_another_size_or_without_an_end_is_refused)
{
	char bytes[512];
	struct administered a;

	admin_start(&a, 1);
	/* No name has its 0, in any size. */
	memset(bytes, 'x', sizeof(bytes));
	for (uint32_t method = SLEY_ADMIN_MAKE; method <= SLEY_ADMIN_STOP;
	     method++)
		for (size_t size = method < SLEY_ADMIN_LIST ? 0 : 1;
		     size <= sizeof(bytes); size++)
			CHECK_EQ(admin_ask(a.admin, method, bytes, size),
				 -EINVAL);
	/* All zero: the name is empty. */
	memset(bytes, 0, sizeof(bytes));
	for (uint32_t method = SLEY_ADMIN_MAKE; method <= SLEY_ADMIN_UPGRADE;
	     method++)
		for (size_t size = 0; size <= sizeof(bytes); size++)
			CHECK_EQ(admin_ask(a.admin, method, bytes, size),
				 -EINVAL);
	admin_stop(&a);
}

TEST(c44_a_byte_too_many_or_too_few_is_refused)
{
	struct administered a;

	admin_start(&a, 1);
	admin_refuses_other_sizes(a.admin, "p");
	admin_stop(&a);
}

/* Their params are addresses. */
TEST(c44_no_request_gives_params_to_an_admin_pool)
{
	struct {
		struct sley_admin_make make;
		struct sley_admin_params params;
	} in = { { .pool = "b", .module = "admin" },
		 { .size = sizeof(in.params) } };
	struct administered a;

	admin_start(&a, 1);
	CHECK_EQ(admin_ask(a.admin, SLEY_ADMIN_MAKE, &in, sizeof(in)), -EPERM);
	CHECK_EQ(admin_ask(a.admin, SLEY_ADMIN_MAKE, &in.make, sizeof(in.make)),
		 0);
	admin_stop(&a);
}

TEST(c44_reserved_fields_must_be_zero)
{
	struct sley_admin_target target = { .pool = "p", .reserved = { 0, 1 } };
	struct sley_admin_make make = { .pool = "p", .reserved = 1 };
	struct sley_admin_query query = { .query = "pool_stats",
					  .reserved = { 1 } };
	struct sley_pool *pool = NULL;
	struct administered a;

	admin_start(&a, 1);
	CHECK_EQ(admin_ask(a.admin, SLEY_ADMIN_FLUSH, &target, sizeof(target)),
		 -EINVAL);
	CHECK_EQ(admin_ask(a.admin, SLEY_ADMIN_MAKE, &make, sizeof(make)),
		 -EINVAL);
	make = (struct sley_admin_make){ .pool = "p", .flags = 4 };
	CHECK_EQ(admin_ask(a.admin, SLEY_ADMIN_MAKE, &make, sizeof(make)),
		 -EINVAL);
	CHECK_EQ(admin_ask(a.admin, SLEY_ADMIN_INSPECT, &query, sizeof(query)),
		 -EINVAL);
	CHECK_EQ(sley_pool_open(a.r.router, &pool, "second",
				SLEY_POOL_OPTIONS(.module = "admin",
						  .params = "xx",
						  .params_size = 2)),
		 -EINVAL);
	CHECK_EQ(sley_pool_open(
			 a.r.router, &pool, "second",
			 SLEY_POOL_OPTIONS(.module = "admin",
					   .params = SLEY_ADMIN_PARAMS(
							   .reserved = { 7 }),
					   .params_size = sizeof(
						   struct sley_admin_params))),
		 -E2BIG);
	admin_stop(&a);
}

/* ---- flushes --------------------------------------------------------------------------- */

struct flusher {
	struct administered *a;
	struct sley_group group;
	struct sley_task task;
	atomic_bool over;
};

static void flush(void *arg)
{
	struct flusher *flusher = arg;

	CHECK_EQ(admin_ask_pool(flusher->a->admin, SLEY_ADMIN_FLUSH, "p", 0),
		 0);
	atomic_store(&flusher->over, true);
}

/* The module counts nothing: the library does. */
static void flush_busy(void *arg)
{
	struct flusher flusher = { .a = arg };
	struct sley_event event = SLEY_EVENT_INIT, *in = &event;
	struct sley_request request[3];

	for (uint32_t i = 0; i < 3; i++)
		submit_waiter(flusher.a->r.pool, &request[i], &in, i % 2);
	sley_spawn(&flusher.group, &flusher.task, flush, &flusher);
	CHECK_EQ(sley_sleep_until(in_ms(5)), 0);
	CHECK(!atomic_load(&flusher.over));
	sley_event_set(&event);
	sley_join(&flusher.group);
	CHECK_EQ(atomic_load(&probe_counts.running), 0);
	for (uint32_t i = 0; i < 3; i++)
		CHECK_EQ(sley_request_wait(&request[i]), 0);
}

TEST_WORKERS(c45_a_flush_waits_for_requests_that_the_module_does_not_count)
{
	struct administered a;

	admin_start(&a, 1);
	run_task(flush_busy, &a);
	admin_stop(&a);
}

static atomic_int work_left;

static uint64_t work_remaining(void *self)
{
	(void)self;
	return (uint64_t)atomic_load(&work_left);
}

static void finish_work(void *arg)
{
	struct flusher *flusher = arg;

	CHECK_EQ(sley_sleep_until(in_ms(5)), 0);
	CHECK(!atomic_load(&flusher->over));
	atomic_store(&work_left, 0);
}

static void flush_work(void *arg)
{
	struct flusher flusher = { .a = arg };
	struct sley_task worker;

	atomic_store(&work_left, 3);
	sley_spawn(&flusher.group, &worker, finish_work, &flusher);
	CHECK_EQ(admin_ask_pool(flusher.a->admin, SLEY_ADMIN_FLUSH, "w", 0), 0);
	CHECK_EQ(atomic_load(&work_left), 0);
	atomic_store(&flusher.over, true);
	sley_join(&flusher.group);
}

TEST_WORKERS(c45_a_flush_waits_for_work_that_the_module_adds)
{
	struct sley_module module = probe_module;
	struct administered a;

	module.name = "works";
	module.work_remaining = work_remaining;
	admin_start(&a, 1);
	CHECK_EQ(sley_router_add(a.r.router, &module), 0);
	CHECK_EQ(make_pool(a.admin, "w", "works", 2), 0);
	run_task(flush_work, &a);
	admin_stop(&a);
}

/* It is inside of the admin pool itself. */
TEST_WORKERS(c45_a_flush_of_the_admin_pool_by_itself_does_not_hang)
{
	struct administered a;

	admin_start(&a, 2);
	CHECK_EQ(admin_ask_pool(a.admin, SLEY_ADMIN_FLUSH, "admin", 0),
		 -EDEADLK);
	CHECK_EQ(admin_ask_pool(a.admin, SLEY_ADMIN_DRAIN, "admin", 1),
		 -EDEADLK);
	CHECK_EQ(admin_ask_pool(a.admin, SLEY_ADMIN_DESTROY, "admin", 0),
		 -EDEADLK);
	/* The program can. */
	CHECK_EQ(sley_pool_flush_until(a.admin, in_ms(10000)), 0);
	CHECK_EQ(sley_container_drain_until(a.admin, 1, in_ms(10000)), 0);
	CHECK_EQ(admin_ask_pool(a.admin, SLEY_ADMIN_OPEN, "admin", 1), 0);
	admin_stop(&a);
}

/* A request with a deadline, or one that is cancelled, ends its flush or drain. */
static void give_up(void *arg)
{
	struct administered *a = arg;
	struct sley_admin_target in = { .pool = "p", .container = 1 };
	struct sley_event event = SLEY_EVENT_INIT, *wait = &event;
	struct sley_request holder, request;

	submit_waiter(a->r.pool, &holder, &wait, 1);
	for (uint32_t method = SLEY_ADMIN_FLUSH; method <= SLEY_ADMIN_DRAIN;
	     method++) {
		CHECK_EQ(sley_pool_call(a->admin,
					SLEY_REQUEST(.method = method,
						     .in = &in,
						     .in_size = sizeof(in),
						     .deadline_ns = in_ms(3)),
					NULL),
			 -ETIMEDOUT);
		CHECK_EQ(sley_submit(a->admin, &request,
				     SLEY_REQUEST(.method = method, .in = &in,
						  .in_size = sizeof(in))),
			 0);
		CHECK_EQ(sley_request_wait_until(&request, in_ms(3)),
			 -ETIMEDOUT);
		sley_request_cancel(&request);
		CHECK_EQ(sley_request_wait(&request), 0);
		CHECK_EQ(sley_request_code(&request), -ECANCELED);
		/* The container takes requests again. */
		CHECK_EQ(code_of(a->r.pool, PROBE_ECHO,
				 sley_query_within(sley_query_id(1), 0)),
			 0);
	}
	sley_event_set(&event);
	CHECK_EQ(sley_request_wait(&holder), 0);
}

TEST_WORKERS(c44_a_deadline_or_a_cancel_ends_a_flush_and_a_drain)
{
	struct administered a;

	admin_start(&a, 1);
	run_task(give_up, &a);
	admin_stop(&a);
}

/* ---- containers ------------------------------------------------------------------------ */

static int upgrade(void **self, uint32_t from,
		   const struct sley_container_info *info)
{
	(void)self;
	(void)info;
	return from == 1 ? 0 : -EPROTO;
}

TEST_WORKERS(c44_containers_are_drained_upgraded_and_opened)
{
	struct sley_admin_target in = { .pool = "p",
					.container = 1,
					.version = 2 };
	struct sley_module newer = probe_module;
	struct administered a;

	newer.version = 2;
	newer.upgrade = upgrade;
	admin_start(&a, 1);
	CHECK_EQ(admin_ask(a.admin, SLEY_ADMIN_UPGRADE, &in, sizeof(in)),
		 -ESRCH);
	CHECK_EQ(sley_router_add(a.r.router, &newer), 0);
	admin_upgrades_a_container(a.admin, a.r.pool, PROBE_ECHO);
	admin_stop(&a);
}

/* ---- questions ------------------------------------------------------------------------- */

static char text[1 << 16];

static int inspect(struct sley_pool *admin, const char *pool, const char *query,
		   size_t room)
{
	struct sley_admin_query in = { 0 };
	size_t size = 0;
	int code;

	strncpy(in.pool, pool, sizeof(in.pool) - 1);
	strncpy(in.query, query, sizeof(in.query) - 1);
	code = sley_pool_call(admin,
			      SLEY_REQUEST(.method = SLEY_ADMIN_INSPECT,
					   .in = &in, .in_size = sizeof(in),
					   .out = text, .out_size = room),
			      &size);
	text[size] = '\0';
	return code;
}

TEST_WORKERS(c49_the_admin_pool_answers_the_queries)
{
	struct administered a;
	size_t length;

	admin_start(&a, 1);
	CHECK_EQ(inspect(a.admin, "p", "pool_stats", sizeof(text) - 1), 0);
	CHECK_STR(skip_value(text), "");
	/* The request has a handle while it looks. */
	CHECK(strstr(text, "\"handles\":2,\"containers\":2,\"open\":2") !=
	      NULL);
	CHECK_EQ(inspect(a.admin, "admin", "container_stats:0",
			 sizeof(text) - 1),
		 0);
	CHECK_STR(text, "{\"id\":0,\"phase\":\"open\",\"version\":1,"
			"\"inside\":1,\"groups\":0}");
	length = strlen(text);
	CHECK_EQ(inspect(a.admin, "admin", "container_stats:0", length),
		 -EMSGSIZE);
	CHECK_EQ(inspect(a.admin, "admin", "container_stats:0", length + 1), 0);
	CHECK_EQ(inspect(a.admin, "admin", "container_stats:0", 0), -EMSGSIZE);
	CHECK_EQ(inspect(a.admin, "", "worker_stats", sizeof(text) - 1), 0);
	CHECK_STR(skip_value(text), "");
	CHECK_EQ(inspect(a.admin, "", "system_stats", sizeof(text) - 1), 0);
	CHECK(strstr(text, "\"pools\":[\"p\",\"admin\"]") != NULL);
	CHECK_EQ(inspect(a.admin, "", "unknown", sizeof(text) - 1), -ENOENT);
	CHECK_EQ(inspect(a.admin, "p", "unknown", sizeof(text) - 1), -ENOENT);
	CHECK_EQ(inspect(a.admin, "p", "container_stats:2", 9), -ENXIO);
	admin_stop(&a);
}

TEST_WORKERS(c44_the_names_of_all_pools)
{
	struct sley_pool_name names[3] = { 0 };
	struct administered a;
	size_t size = 0;

	admin_start(&a, 1);
	CHECK_EQ(sley_pool_call(a.admin,
				SLEY_REQUEST(.method = SLEY_ADMIN_LIST,
					     .out = names,
					     .out_size = sizeof(names)),
				&size),
		 0);
	CHECK_EQ(size, 2 * sizeof(names[0]));
	CHECK_STR(names[0].text, "p");
	CHECK_STR(names[1].text, "admin");
	CHECK_EQ(sley_pool_call(
			 a.admin,
			 SLEY_REQUEST(.method = SLEY_ADMIN_LIST, .out = names,
				      .out_size = 2 * sizeof(*names) - 1),
			 &size),
		 -EMSGSIZE);
	CHECK_EQ(admin_ask(a.admin, SLEY_ADMIN_LIST, NULL, 0), -EMSGSIZE);
	admin_stop(&a);
}

TEST_WORKERS(c49_the_methods_of_a_pool_have_names)
{
	struct administered a;

	admin_start(&a, 1);
	CHECK_EQ(inspect(a.admin, "admin", "methods", sizeof(text) - 1), 0);
	CHECK_STR(text, "{\"module\":\"admin\",\"methods\":[\"make\","
			"\"destroy\",\"flush\",\"drain\",\"open\","
			"\"upgrade\",\"inspect\",\"list\",\"stop\","
			"\"refresh\"]}");
	admin_stop(&a);
}

/* ---- pools that are kept --------------------------------------------------------------- */

struct kept {
	char name[64];
	struct sley_pool_options options;
	char params[8];
	int nr_kept, nr_forgotten, answer;
};

static int keep(void *keeper, const char *name,
		const struct sley_pool_options *options)
{
	struct kept *kept = keeper;

	kept->nr_kept++;
	kept->options = *options;
	snprintf(kept->name, sizeof(kept->name), "%s", name);
	memcpy(kept->params, options->params, options->params_size);
	return kept->answer;
}

static int forget(void *keeper, const char *name)
{
	struct kept *kept = keeper;

	CHECK_STR(name, kept->name);
	kept->nr_forgotten++;
	return kept->answer;
}

static int make_kept(struct sley_pool *admin, const char *pool, uint32_t flags)
{
	struct {
		struct sley_admin_make make;
		char params[4];
	} in = { .make = { .module = "probe", .containers = 3, .flags = flags },
		 .params = "abc" };

	strncpy(in.make.pool, pool, sizeof(in.make.pool) - 1);
	return admin_ask(admin, SLEY_ADMIN_MAKE, &in, sizeof(in));
}

TEST(c52_a_pool_that_is_kept_is_told_to_the_program_and_so_is_its_end)
{
	struct kept kept = { 0 };
	struct sley_pool *keeper;
	struct administered a;

	admin_start(&a, 1);
	CHECK_EQ(make_kept(a.admin, "k", SLEY_ADMIN_KEEP), -EOPNOTSUPP);
	CHECK_EQ(admin_ask_pool(a.admin, SLEY_ADMIN_DESTROY, "k", 0), -ENOENT);
	CHECK_EQ(sley_pool_open(
			 a.r.router, &keeper, "keeper",
			 SLEY_POOL_OPTIONS(.module = "admin",
					   .params = SLEY_ADMIN_PARAMS(
							   .keep = keep,
							   .forget = forget,
							   .keeper = &kept),
					   .params_size = sizeof(
						   struct sley_admin_params))),
		 0);
	CHECK_EQ(make_kept(keeper, "k", 0), 0);
	CHECK_EQ(kept.nr_kept, 0);
	CHECK_EQ(make_kept(keeper, "k", SLEY_ADMIN_KEEP), 0);
	CHECK_EQ(kept.nr_kept, 1);
	CHECK_STR(kept.name, "k");
	CHECK_EQ(kept.options.containers, 3);
	CHECK_STR(kept.params, "abc");
	kept.answer = -ENOSPC;
	CHECK_EQ(make_kept(keeper, "k", SLEY_ADMIN_KEEP), -ENOSPC);
	CHECK_EQ(admin_ask_pool(keeper, SLEY_ADMIN_DESTROY, "none", 0),
		 -ENOENT);
	CHECK_EQ(kept.nr_forgotten, 0);
	CHECK_EQ(admin_ask_pool(keeper, SLEY_ADMIN_DESTROY, "k", 0), -ENOSPC);
	CHECK_EQ(kept.nr_forgotten, 1);
	kept.answer = 0;
	CHECK_EQ(make_kept(keeper, "k", SLEY_ADMIN_KEEP), 0);
	CHECK_EQ(admin_ask_pool(keeper, SLEY_ADMIN_DESTROY, "k", 0), 0);
	CHECK_EQ(kept.nr_forgotten, 2);
	sley_pool_close(keeper);
	admin_stop(&a);
}

/* ---- the end --------------------------------------------------------------------------- */

TEST_WORKERS(c44_a_stop_sets_the_event_of_the_program)
{
	struct administered a;
	struct sley_pool *without = NULL;

	admin_start(&a, 1);
	CHECK_EQ(sley_pool_open(a.r.router, &without, "without",
				SLEY_POOL_OPTIONS(.module = "admin")),
		 0);
	CHECK_EQ(admin_ask(without, SLEY_ADMIN_STOP, NULL, 0), -EOPNOTSUPP);
	CHECK_EQ(sley_event_wait_until(&a.stop, in_ms(1)), -ETIMEDOUT);
	CHECK_EQ(sley_submit_and_forget(
			 a.admin, SLEY_REQUEST(.method = SLEY_ADMIN_STOP)),
		 0);
	CHECK_EQ(sley_event_wait(&a.stop), 0);
	/* Twice is once. */
	CHECK_EQ(admin_ask(a.admin, SLEY_ADMIN_STOP, NULL, 0), 0);
	sley_pool_close(without);
	admin_stop(&a);
}

/* Requests that no caller waits for make and destroy pools while the router ends. */
static void end_router(struct sley *rt)
{
	struct sley_admin_make make = { .pool = "q", .module = "probe" };
	struct sley_admin_target target = { .pool = "q" };
	struct sley_router *router = router_with(rt, "default");
	struct sley_pool *admin = NULL;
	int err;

	CHECK_EQ(sley_router_add(router, &sley_admin_module), 0);
	CHECK_EQ(sley_pool_open(router, &admin, "admin",
				SLEY_POOL_OPTIONS(.module = "admin")),
		 0);
	for (int i = 0; i < 8; i++) {
		bool makes = i % 2 == 0;

		CHECK_EQ(
			sley_submit_and_forget(
				admin,
				SLEY_REQUEST(.method =
						     makes ? SLEY_ADMIN_MAKE
							   : SLEY_ADMIN_DESTROY,
					     .in = makes ? (void *)&make
							 : (void *)&target,
					     .in_size = makes ? sizeof(make)
							      : sizeof(target))),
			0);
	}
	sley_pool_close(admin);
	/* -EBUSY: a method has a reference at this moment. */
	while ((err = sley_router_destroy(router)) == -EBUSY)
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	CHECK_EQ(err, 0);
}

TEST_WORKERS(c44_a_router_ends_while_requests_make_and_destroy_pools)
{
	struct sley *rt = start();
	int nr = test_scale(200);

	memset(&probe_counts, 0, sizeof(probe_counts));
	for (int i = 0; i < nr; i++)
		end_router(rt);
	stop(rt);
	CHECK_EQ(atomic_load(&probe_counts.created),
		 atomic_load(&probe_counts.destroyed));
}
