/* SPDX-License-Identifier: MIT */
/*
 * client_pools.c - pools of a daemon, and its admin pool, through a client: C42, C43, C44,
 * C45, C49.
 */
#include "conformance/ipc/keeper.h"

#include "conformance/json.h"
#include "conformance/modules/admin_cases.h"

#include <sley/admin.h>
#include <sley/kv.h>
#include <sley/pool_inspect.h>
#include <stdio.h>
#include <stdlib.h>

static struct sley_pool *pool_named(struct sley_client *client,
				    const char *name)
{
	struct sley_pool *pool = NULL;

	CHECK_EQ(sley_client_pool_open(client, &pool, name, NULL), 0);
	return pool;
}

/* ---- C42: pools by name ------------------------------------------------------------------ */

CLIENT_TEST(c42_the_first_opener_makes_the_pool)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *first = NULL, *second = NULL;

	CHECK_EQ(sley_client_pool_open(client, &first, "made", NULL), -ENOENT);
	CHECK_EQ(sley_client_pool_open(client, &first, "made",
				       SLEY_POOL_OPTIONS(.module = "work",
							 .containers = 3)),
		 0);
	CHECK_EQ(sley_pool_nr_containers(first), 3);
	CHECK_EQ(sley_client_pool_open(client, &second, "made",
				       SLEY_POOL_OPTIONS(.module = "work")),
		 0);
	CHECK_EQ(sley_pool_nr_containers(second), 3);
	sley_pool_close(second);
	client_close(client, first);
	/* The pool stays. */
	client = client_open(keeper);
	client_close(client, pool_named(client, "made"));
}

CLIENT_TEST(c42_each_failure_has_its_reason)
{
	struct sley_client *client = client_open(keeper);
	char name[SLEY_POOL_NAME_MAX + 2], params[2000] = { 0 };
	struct sley_pool *pool = NULL;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	CHECK_EQ(sley_client_pool_open(client, &pool, "", NULL), -EINVAL);
	CHECK_EQ(sley_client_pool_open(client, &pool, name, NULL),
		 -ENAMETOOLONG);
	CHECK_EQ(sley_client_pool_open(client, &pool, "work",
				       SLEY_POOL_OPTIONS(.module = "kv")),
		 -EEXIST);
	CHECK_EQ(sley_client_pool_open(client, &pool, "work",
				       SLEY_POOL_OPTIONS(.containers = 9)),
		 -EEXIST);
	CHECK_EQ(sley_client_pool_open(client, &pool, "many",
				       SLEY_POOL_OPTIONS(.module = "work",
							 .containers = 65537)),
		 -E2BIG);
	CHECK_EQ(sley_client_pool_open(client, &pool, "q",
				       SLEY_POOL_OPTIONS(.module = "work",
							 .limit_ns = 1)),
		 -EINVAL);
	CHECK_EQ(sley_client_pool_open(client, &pool, "q",
				       SLEY_POOL_OPTIONS(.module = "work",
							 .permanent = true)),
		 -EOPNOTSUPP);
	CHECK_EQ(sley_client_pool_open(
			 client, &pool, "q",
			 SLEY_POOL_OPTIONS(.module = "kv", .params = params,
					   .params_size = sizeof(params))),
		 -EMSGSIZE);
	CHECK_EQ(sley_client_pool_open(client, &pool, "q",
				       &(struct sley_pool_options){ 0 }),
		 -EINVAL);
	CHECK_EQ(client_info(client).nr_pools, 0);
	CHECK_EQ(sley_client_close(client), 0);
}

CLIENT_TEST(c42_params_reach_the_module)
{
	struct sley_client *client = client_open(keeper);
	struct sley_kv_params params = { .size = sizeof(params),
					 .value_max = 4 };
	struct sley_pool *pool = NULL;

	CHECK_EQ(sley_client_pool_open(
			 client, &pool, "small",
			 SLEY_POOL_OPTIONS(.module = "kv", .params = &params,
					   .params_size = sizeof(params))),
		 0);
	CHECK_EQ(sley_kv_set(pool, "k", 1, "1234", 4, NULL), 0);
	CHECK_LT(sley_kv_set(pool, "k", 1, "12345", 5, NULL), 0);
	client_close(client, pool);
}

/* More than a session may have, one after the other: numbers are given back. */
CLIENT_TEST(c42_pools_are_opened_and_closed_many_times)
{
	struct sley_client *client = client_open(keeper);

	for (int i = 0; i < 200; i++)
		sley_pool_close(pool_named(client, "work"));
	client_close(client, pool_named(client, "work"));
}

/* ---- C43: modules ------------------------------------------------------------------------ */

CLIENT_TEST(c43_an_unknown_module_is_an_error)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = NULL;

	CHECK_EQ(sley_client_pool_open(client, &pool, "new",
				       SLEY_POOL_OPTIONS(.module = "nosuch")),
		 -ENOENT);
	CHECK_EQ(sley_client_pool_open(client, &pool, "new", NULL), -ENOENT);
	CHECK_EQ(sley_client_close(client), 0);
}

/* The calls of a module that comes with the library work on both kinds of pools. */
CLIENT_TEST(c43_a_module_of_the_library_through_a_client)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *store = NULL;
	char value[16], large[5000];
	size_t size = 0;

	CHECK_EQ(sley_client_pool_open(client, &store, "store",
				       SLEY_POOL_OPTIONS(.module = "kv",
							 .containers = 2)),
		 0);
	for (uint32_t i = 0; i < 50; i++)
		CHECK_EQ(sley_kv_set(store, &i, sizeof(i), &i, sizeof(i), NULL),
			 0);
	for (uint32_t i = 0; i < 50; i++) {
		uint32_t got = ~0u;

		CHECK_EQ(sley_kv_get(store, &i, sizeof(i), &got, sizeof(got),
				     &size),
			 0);
		CHECK_EQ(got, i);
	}
	CHECK_EQ(sley_kv_get(store, "none", 4, value, sizeof(value), &size),
		 -ENOENT);
	memset(large, 'l', sizeof(large));
	CHECK_EQ(sley_kv_set(store, "large", 5, large, sizeof(large), NULL), 0);
	memset(large, 0, sizeof(large));
	CHECK_EQ(sley_kv_get(store, "large", 5, large, sizeof(large), &size),
		 0);
	CHECK_EQ(size, sizeof(large));
	CHECK_EQ(large[4999], 'l');
	client_close(client, store);
}

/* ---- C44: the admin pool ------------------------------------------------------------------ */

CLIENT_TEST(c44_pools_are_made_and_ended_through_the_admin_pool)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *admin = pool_named(client, "admin"), *pool;
	struct sley_admin_make make = { .containers = 2 };

	snprintf(make.pool, sizeof(make.pool), "%s", "q");
	snprintf(make.module, sizeof(make.module), "%s", "work");
	CHECK_EQ(admin_ask(admin, SLEY_ADMIN_MAKE, &make, sizeof(make)), 0);
	pool = pool_named(client, "q");
	CHECK_EQ(sley_pool_nr_containers(pool), 2);
	CHECK_EQ(sley_pool_call(pool, SLEY_REQUEST(.method = WORK_ECHO), NULL),
		 0);
	CHECK_EQ(admin_ask_pool(admin, SLEY_ADMIN_DESTROY, "q", 0), 0);
	CHECK_EQ(sley_pool_call(pool, SLEY_REQUEST(.method = WORK_ECHO), NULL),
		 -ENOENT);
	CHECK_EQ(admin_ask_pool(admin, SLEY_ADMIN_DESTROY, "q", 0), -ENOENT);
	/* An unknown pool completes with a code, and nobody hangs. */
	CHECK_EQ(admin_ask_pool(admin, SLEY_ADMIN_FLUSH, "nowhere", 0),
		 -ENOENT);
	CHECK_EQ(admin_ask(admin, 99, NULL, 0), -ENOSYS);
	CHECK_EQ(admin_ask(admin, SLEY_ADMIN_MAKE, &make, 3), -EINVAL);
	sley_pool_close(pool);
	client_close(client, admin);
}

CLIENT_TEST(c44_what_a_daemon_does_not_know_completes_with_a_code)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *admin = pool_named(client, "admin");

	admin_refuses_the_unknown(admin, "work");
	client_close(client, admin);
}

CLIENT_TEST(c44_a_byte_too_many_or_too_few_is_refused_by_a_daemon)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *admin = pool_named(client, "admin");

	admin_refuses_other_sizes(admin, "work");
	client_close(client, admin);
}

CLIENT_TEST(c44_a_container_of_a_daemon_is_drained_upgraded_and_opened)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *admin = pool_named(client, "admin");
	struct sley_pool *pool = work_pool(client);

	admin_upgrades_a_container(admin, pool, WORK_ECHO);
	sley_pool_close(pool);
	client_close(client, admin);
}

/* ---- C45: flush --------------------------------------------------------------------------- */

CLIENT_TEST(c45_a_flush_waits_for_the_requests_of_clients)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *admin = pool_named(client, "admin");
	struct sley_pool *pool = work_pool(client);
	struct sley_admin_target target = { .container = 0 };
	struct sley_request flush, hold;
	uint32_t item = 3;
	struct sley_request_spec spec = work_on(WORK_HOLD, &item);

	snprintf(target.pool, sizeof(target.pool), "%s", "work");
	CHECK_EQ(admin_ask_pool(admin, SLEY_ADMIN_FLUSH, "work", 0), 0);
	CHECK_EQ(sley_submit(pool, &hold, &spec), 0);
	EVENTUALLY(keeper_begun(keeper, 3));
	CHECK_EQ(sley_submit(admin, &flush,
			     SLEY_REQUEST(.method = SLEY_ADMIN_FLUSH,
					  .in = &target,
					  .in_size = sizeof(target))),
		 0);
	CHECK_EQ(sley_request_wait_until(&flush, sley_after(20 * SLEY_MSEC)),
		 -ETIMEDOUT);
	atomic_store(&keeper->page->open, true);
	CHECK_EQ(sley_request_wait(&flush), 0);
	CHECK_EQ(sley_request_code(&flush), 0);
	CHECK_EQ(keeper_ended(keeper, 3), 1);
	CHECK_EQ(sley_request_wait(&hold), 0);
	sley_pool_close(pool);
	client_close(client, admin);
}

/* ---- C49: queries -------------------------------------------------------------------------- */

static int inspect(struct sley_pool *admin, const char *pool, const char *query,
		   char *text, size_t room)
{
	struct sley_admin_query in = { .pool = "" };

	snprintf(in.pool, sizeof(in.pool), "%s", pool);
	snprintf(in.query, sizeof(in.query), "%s", query);
	return sley_pool_call(admin,
			      SLEY_REQUEST(.method = SLEY_ADMIN_INSPECT,
					   .in = &in, .in_size = sizeof(in),
					   .out = text, .out_size = room),
			      NULL);
}

CLIENT_TEST(c49_the_figures_of_a_daemon_through_a_client)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *admin = pool_named(client, "admin");
	struct sley_pool_name names[8];
	char text[4096];
	size_t size = 0;

	CHECK_EQ(inspect(admin, "work", "pool_stats", text, sizeof(text)), 0);
	CHECK(strstr(text, "\"work\""));
	CHECK_EQ(inspect(admin, "work", "container_stats:1", text,
			 sizeof(text)),
		 0);
	CHECK_EQ(inspect(admin, "", "worker_stats", text, sizeof(text)), 0);
	/* An unknown query is an error, and not an empty success. */
	CHECK_EQ(inspect(admin, "work", "nonsense", text, sizeof(text)),
		 -ENOENT);
	CHECK_EQ(inspect(admin, "nowhere", "pool_stats", text, sizeof(text)),
		 -ENOENT);
	CHECK_EQ(inspect(admin, "work", "pool_stats", text, 5), -EMSGSIZE);
	CHECK_EQ(sley_pool_call(admin,
				SLEY_REQUEST(.method = SLEY_ADMIN_LIST,
					     .out = names,
					     .out_size = sizeof(names)),
				&size),
		 0);
	CHECK_EQ(size, 2 * sizeof(names[0]));
	client_close(client, admin);
}
