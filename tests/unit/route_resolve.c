/* SPDX-License-Identifier: MIT */
/*
 * route_resolve.c - from a query to containers, without a runtime.
 */
#include "harness/test.h"

#include "route/pool.h"
#include "route/resolve.h"
#include "route/router.h"

#include <sley/query.h>

#define CONTAINERS 5

static struct sley_container containers[CONTAINERS];
static struct sley_router router;
static struct sley_pool pool, other_pool;
static struct sley_query answer; /* of schedule() */
static unsigned int nr_asked;
static uint32_t asked_in;

static struct sley_query schedule(void *self,
				  const struct sley_request *request)
{
	(void)request;
	nr_asked++;
	asked_in = *(uint32_t *)self;
	return answer;
}

static const struct sley_module module = { .schedule = schedule };
static const struct sley_module silent = { .schedule = NULL };

static void begin(const struct sley_module *with)
{
	nr_asked = 0;
	pool = (struct sley_pool){ .router = &router,
				   .module = with,
				   .container = containers,
				   .nr_containers = CONTAINERS };
	for (uint32_t i = 0; i < CONTAINERS; i++)
		containers[i] = (struct sley_container){
			.id = i,
			.self = &containers[i].id,
			.pool = &pool,
			.module = with,
		};
}

/* Of a request of the container @parent, or of no container. */
static int resolve_from(const struct sley_container *parent,
			struct sley_query query, struct targets *targets)
{
	struct sley_request request = { .query = query };
	struct sley_request above = {
		.container = (struct sley_container *)parent,
	};

	*targets = (struct targets){ 77, 77 };
	return resolve(&pool, &request, parent ? &above : NULL, targets);
}

static void goes_to(const struct sley_container *parent,
		    struct sley_query query, uint32_t first, uint32_t nr)
{
	struct targets targets;

	CHECK_EQ(resolve_from(parent, query, &targets), 0);
	CHECK_EQ(targets.first, first);
	CHECK_EQ(targets.nr, nr);
}

static void fails(struct sley_query query, int err)
{
	struct targets targets;

	CHECK_EQ(resolve_from(NULL, query, &targets), err);
}

TEST(a_query_names_its_containers)
{
	begin(&module);
	goes_to(NULL, sley_query_local(), 0, 1);
	goes_to(NULL, sley_query_id(4), 4, 1);
	goes_to(NULL, sley_query_hash(13), 3, 1);
	goes_to(NULL, sley_query_hash(UINT64_MAX), UINT64_MAX % CONTAINERS, 1);
	goes_to(NULL, sley_query_range(1, 4), 1, 4);
	goes_to(NULL, sley_query_broadcast(), 0, CONTAINERS);
	goes_to(NULL, sley_query_physical(0), 0, 1);
	CHECK_EQ(nr_asked, 0);
}

TEST(a_query_beyond_the_containers_is_an_error)
{
	begin(&module);
	fails(sley_query_id(CONTAINERS), -ENXIO);
	fails(sley_query_id(UINT64_MAX), -ENXIO);
	fails(sley_query_id(1ull << 32), -ENXIO);
	fails(sley_query_range(0, 0), -EINVAL);
	fails(sley_query_range(0, CONTAINERS + 1), -ENXIO);
	fails(sley_query_range(CONTAINERS, 1), -ENXIO);
	fails(sley_query_range(1, CONTAINERS), -ENXIO);
	fails(sley_query_range(1, UINT64_MAX), -ENXIO);
	fails(sley_query_range(UINT64_MAX, 2), -ENXIO);
	fails(sley_query_physical(1), -EHOSTUNREACH);
	fails((struct sley_query){ .kind = SLEY_QUERY_PHYSICAL + 1 }, -EINVAL);
}

TEST(local_is_the_container_of_the_parent_in_the_same_pool)
{
	struct sley_container elsewhere = { .id = 3, .pool = &other_pool };

	begin(&module);
	goes_to(&containers[3], sley_query_local(), 3, 1);
	goes_to(&containers[3], sley_query_physical(0), 3, 1);
	goes_to(&elsewhere, sley_query_local(), 0, 1);
}

TEST(a_dynamic_query_asks_once_in_the_container_of_the_caller)
{
	begin(&module);
	answer = sley_query_range(2, 2);
	goes_to(&containers[4], sley_query_dynamic(), 2, 2);
	CHECK_EQ(nr_asked, 1);
	CHECK_EQ(asked_in, 4);
	CHECK_EQ(door_count(&containers[4].door), 0);
	answer = sley_query_dynamic();
	goes_to(&containers[4], sley_query_dynamic(), 4, 1);
	CHECK_EQ(nr_asked, 2);
	answer = sley_query_id(CONTAINERS);
	fails(sley_query_dynamic(), -ENXIO);
	/* No question: a module that has no opinion, or a shut container. */
	begin(&silent);
	goes_to(&containers[1], sley_query_dynamic(), 1, 1);
	begin(&module);
	containers[1].door.word = DOOR_SHUT;
	goes_to(&containers[1], sley_query_dynamic(), 1, 1);
	CHECK_EQ(nr_asked, 0);
}

static uint32_t timeout_after(struct sley_query query)
{
	struct sley_request request = { .query = query };
	struct targets targets;

	CHECK_EQ(resolve(&pool, &request, NULL, &targets), 0);
	return request.query.timeout;
}

TEST(a_dynamic_query_keeps_its_time_out_unless_the_module_has_one)
{
	begin(&module);
	answer = sley_query_id(1);
	CHECK_EQ(timeout_after(sley_query_within(sley_query_dynamic(), 7)), 8);
	answer = sley_query_within(sley_query_id(1), 0);
	CHECK_EQ(timeout_after(sley_query_within(sley_query_dynamic(), 7)), 1);
	answer = sley_query_id(1);
	CHECK_EQ(timeout_after(sley_query_dynamic()), 0);
}
