/* SPDX-License-Identifier: MIT */
/*
 * admin_cases.c - see admin_cases.h.
 */
#include "conformance/modules/admin_cases.h"

#include <stdio.h>

int admin_ask(struct sley_pool *admin, uint32_t method, const void *in,
	      size_t size)
{
	return sley_pool_call(admin,
			      SLEY_REQUEST(.method = method, .in = in,
					   .in_size = size),
			      NULL);
}

int admin_ask_pool(struct sley_pool *admin, uint32_t method, const char *pool,
		   uint32_t container)
{
	struct sley_admin_target in = { .container = container };

	strncpy(in.pool, pool, sizeof(in.pool) - 1);
	return admin_ask(admin, method, &in, sizeof(in));
}

/* ---- unknown things, and other sizes --------------------------------------------------- */

void admin_refuses_the_unknown(struct sley_pool *admin, const char *name)
{
	static const uint32_t of_pool[] = { SLEY_ADMIN_DESTROY,
					    SLEY_ADMIN_FLUSH, SLEY_ADMIN_DRAIN,
					    SLEY_ADMIN_OPEN,
					    SLEY_ADMIN_UPGRADE };
	struct sley_admin_query query = { .pool = "unknown",
					  .query = "pool_stats" };

	for (size_t i = 0; i < ARRAY_SIZE(of_pool); i++) {
		CHECK_EQ(admin_ask_pool(admin, of_pool[i], "unknown", 0),
			 -ENOENT);
		CHECK_EQ(admin_ask_pool(admin, of_pool[i], "", 0), -EINVAL);
	}
	CHECK_EQ(admin_ask(admin, SLEY_ADMIN_INSPECT, &query, sizeof(query)),
		 -ENOENT);
	for (size_t i = 2; i < ARRAY_SIZE(of_pool); i++)
		CHECK_EQ(admin_ask_pool(admin, of_pool[i], name, 2), -ENXIO);
	CHECK_EQ(admin_ask(admin, SLEY_ADMIN_REFRESH + 1, NULL, 0), -ENOSYS);
	CHECK_EQ(admin_ask(admin, UINT32_MAX, NULL, 0), -ENOSYS);
}

/* The same that is good with its right size. */
void admin_refuses_other_sizes(struct sley_pool *admin, const char *name)
{
	struct {
		struct sley_admin_target target;
		char more;
	} flush = { .more = 0 };
	struct {
		struct sley_admin_query query;
		char more;
	} query = { .query = { .query = "pool_stats" } };
	struct sley_admin_make make = { .flags = 0 };
	size_t size = sizeof(flush.target);

	strncpy(flush.target.pool, name, sizeof(flush.target.pool) - 1);
	strncpy(make.pool, name, sizeof(make.pool) - 1);
	CHECK_EQ(admin_ask(admin, SLEY_ADMIN_FLUSH, &flush, size), 0);
	CHECK_EQ(admin_ask(admin, SLEY_ADMIN_FLUSH, &flush, size + 1), -EINVAL);
	CHECK_EQ(admin_ask(admin, SLEY_ADMIN_FLUSH, &flush, size - 1), -EINVAL);
	size = sizeof(query.query);
	CHECK_EQ(admin_ask(admin, SLEY_ADMIN_INSPECT, &query, size), -EMSGSIZE);
	CHECK_EQ(admin_ask(admin, SLEY_ADMIN_INSPECT, &query, size + 1),
		 -EINVAL);
	CHECK_EQ(admin_ask(admin, SLEY_ADMIN_INSPECT, &query, size - 1),
		 -EINVAL);
	CHECK_EQ(admin_ask(admin, SLEY_ADMIN_MAKE, &make, sizeof(make)), 0);
	CHECK_EQ(admin_ask(admin, SLEY_ADMIN_MAKE, &make, sizeof(make) - 1),
		 -EINVAL);
}

/* ---- containers ------------------------------------------------------------------------ */

static int upgrade(struct sley_pool *admin, const char *pool,
		   uint32_t container, uint32_t version)
{
	struct sley_admin_target in = { .container = container,
					.version = version };

	strncpy(in.pool, pool, sizeof(in.pool) - 1);
	return admin_ask(admin, SLEY_ADMIN_UPGRADE, &in, sizeof(in));
}

static int call_container(struct sley_pool *pool, uint32_t method,
			  struct sley_query query)
{
	return sley_pool_call(
		pool, SLEY_REQUEST(.method = method, .query = query), NULL);
}

static void expect_version(struct sley_pool *admin, const char *pool,
			   uint32_t container, uint32_t version)
{
	struct sley_admin_query in = { .pool = "" };
	char text[512] = "", expected[32];

	strncpy(in.pool, pool, sizeof(in.pool) - 1);
	snprintf(in.query, sizeof(in.query), "container_stats:%u", container);
	snprintf(expected, sizeof(expected), "\"version\":%u,", version);
	CHECK_EQ(sley_pool_call(admin,
				SLEY_REQUEST(.method = SLEY_ADMIN_INSPECT,
					     .in = &in, .in_size = sizeof(in),
					     .out = text,
					     .out_size = sizeof(text) - 1),
				NULL),
		 0);
	CHECK(strstr(text, expected) != NULL);
}

void admin_upgrades_a_container(struct sley_pool *admin, struct sley_pool *pool,
				uint32_t echo)
{
	const char *name = sley_pool_name(pool);

	CHECK_EQ(admin_ask_pool(admin, SLEY_ADMIN_OPEN, name, 1), -EINVAL);
	CHECK_EQ(upgrade(admin, name, 1, 3), -ESRCH);
	CHECK_EQ(upgrade(admin, name, 1, 2), -EINVAL);
	CHECK_EQ(admin_ask_pool(admin, SLEY_ADMIN_DRAIN, name, 1), 0);
	CHECK_EQ(admin_ask_pool(admin, SLEY_ADMIN_DRAIN, name, 1), -EALREADY);
	CHECK_EQ(call_container(pool, echo,
				sley_query_within(sley_query_id(1), 0)),
		 -ETIMEDOUT);
	CHECK_EQ(upgrade(admin, name, 1, 2), 0);
	CHECK_EQ(admin_ask_pool(admin, SLEY_ADMIN_OPEN, name, 1), 0);
	CHECK_EQ(call_container(pool, echo, sley_query_id(1)), 0);
	expect_version(admin, name, 1, 2);
	expect_version(admin, name, 0, 1);
}
