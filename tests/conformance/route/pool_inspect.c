/* SPDX-License-Identifier: MIT */
/*
 * pool_inspect.c - <sley/pool_inspect.h>: C49, and the versions of a module.
 */
#include <stdio.h>
#include <sys/wait.h>

#include "conformance/json.h"
#include "conformance/route/routing.h"

static struct sley_pool_stats pool_stats(struct sley_pool *pool)
{
	struct sley_pool_stats stats = SLEY_POOL_STATS_INIT;

	CHECK_EQ(sley_pool_inspect(pool, &stats), 0);
	CHECK_EQ(stats.open + stats.draining + stats.drained + stats.upgrading +
			 stats.gone + stats.down,
		 stats.containers);
	return stats;
}

static struct sley_container_stats container_stats(struct sley_pool *pool,
						   uint32_t id)
{
	struct sley_container_stats stats = SLEY_CONTAINER_STATS_INIT;

	CHECK_EQ(sley_container_inspect(pool, id, &stats), 0);
	return stats;
}

/* ---- pools and containers ------------------------------------------------------------- */

TEST_WORKERS(c49_a_pool_says_what_it_is)
{
	struct routing r = routing_start(3, "default");
	struct sley_pool_stats stats = pool_stats(r.pool);
	struct sley_pool *again = NULL;

	CHECK_STR(stats.name, "p");
	CHECK_STR(stats.module, "probe");
	CHECK_EQ(stats.size, sizeof(stats));
	CHECK_EQ(stats.phase, SLEY_POOL_LIVE);
	CHECK_EQ(stats.version, 1);
	CHECK_EQ(stats.handles, 1);
	CHECK_EQ(stats.containers, 3);
	CHECK_EQ(stats.open, 3);
	CHECK_EQ(stats.inside, 0);
	CHECK_EQ(stats.waiting, 0);
	CHECK_EQ(sley_pool_open(r.router, &again, "p", NULL), 0);
	CHECK_EQ(pool_stats(r.pool).handles, 2);
	sley_pool_close(again);
	CHECK_EQ(pool_stats(r.pool).handles, 1);
	stats.size = 0;
	CHECK_EQ(sley_pool_inspect(r.pool, &stats), -EINVAL);
	routing_stop(&r);
}

/* Two requests in container 1, and one that waits for container 0. */
static void count_requests(void *arg)
{
	struct routing *r = arg;
	struct sley_event event = SLEY_EVENT_INIT, *in = &event;
	struct sley_request request[2], late;

	for (int i = 0; i < 2; i++)
		submit_waiter(r->pool, &request[i], &in, 1);
	CHECK_EQ(sley_container_drain_until(r->pool, 0, SLEY_FOREVER), 0);
	CHECK_EQ(sley_submit(r->pool, &late,
			     SLEY_REQUEST(.method = PROBE_ECHO)),
		 0);
	CHECK_EQ(pool_stats(r->pool).inside, 2);
	CHECK_EQ(pool_stats(r->pool).waiting, 1);
	CHECK_EQ(pool_stats(r->pool).open, 2);
	CHECK_EQ(pool_stats(r->pool).drained, 1);
	CHECK_EQ(container_stats(r->pool, 0).inside, 0);
	CHECK_EQ(container_stats(r->pool, 0).phase, SLEY_CONTAINER_DRAINED);
	CHECK_EQ(container_stats(r->pool, 1).inside, 2);
	CHECK_EQ(container_stats(r->pool, 1).phase, SLEY_CONTAINER_OPEN);
	CHECK_EQ(sley_container_open(r->pool, 0), 0);
	sley_event_set(&event);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(sley_request_wait(&request[i]), 0);
	CHECK_EQ(sley_request_wait(&late), 0);
	CHECK_EQ(pool_stats(r->pool).inside, 0);
	CHECK_EQ(pool_stats(r->pool).waiting, 0);
	CHECK_EQ(pool_stats(r->pool).open, 3);
}

TEST_WORKERS(c49_requests_inside_and_requests_that_wait_are_counted)
{
	struct routing r = routing_start(3, "default");
	struct sley_container_stats stats = SLEY_CONTAINER_STATS_INIT;

	run_task(count_requests, &r);
	CHECK_EQ(sley_container_inspect(r.pool, 3, &stats), -ENXIO);
	stats.size = 0;
	CHECK_EQ(sley_container_inspect(r.pool, 0, &stats), -EINVAL);
	routing_stop(&r);
}

/* An hour between two runs: the request is in no container then. */
static void count_periodic(void *arg)
{
	struct routing *r = arg;
	struct sley_request request[2];

	for (uint32_t i = 0; i < 2; i++) {
		CHECK_EQ(
			sley_submit(r->pool, &request[i],
				    SLEY_REQUEST(.method = PROBE_ECHO,
						 .period_ns = 3600 * SLEY_SEC)),
			0);
		CHECK_EQ(pool_stats(r->pool).periodic, i + 1);
	}
	while (pool_stats(r->pool).inside)
		sley_yield();
	CHECK_EQ(pool_stats(r->pool).periodic, 2);
	for (uint32_t i = 0; i < 2; i++) {
		sley_request_cancel(&request[i]);
		CHECK_EQ(sley_request_wait(&request[i]), 0);
		CHECK_EQ(pool_stats(r->pool).periodic, 1 - i);
	}
}

TEST_WORKERS(c49_periodic_requests_are_counted)
{
	struct routing r = routing_start(3, "default");
	char text[512];
	int n;

	CHECK_EQ(pool_stats(r.pool).periodic, 0);
	run_task(count_periodic, &r);
	n = sley_pool_inspect_json(r.pool, "pool_stats", text, sizeof(text));
	CHECK_GT(n, 0);
	CHECK_LT(n, (int)sizeof(text));
	CHECK(strstr(text, "\"periodic\":0"));
	routing_stop(&r);
}

struct keeper {
	struct sley_pool *pool;
	struct sley_group group;
	struct sley_task task;
};

static void drain_one(void *arg)
{
	struct keeper *keeper = arg;

	CHECK_EQ(sley_container_drain_until(keeper->pool, 1, SLEY_FOREVER), 0);
}

static void destroy_all(void *arg)
{
	struct keeper *keeper = arg;

	CHECK_EQ(sley_pool_destroy(keeper->pool), 0);
}

/* A keeper waits for a request: its container is between two phases meanwhile. */
static void look_while_kept(void *arg)
{
	struct routing *r = arg;
	struct sley_event event = SLEY_EVENT_INIT, *in = &event;
	struct keeper keeper = { .pool = r->pool };
	struct sley_request request;

	submit_waiter(r->pool, &request, &in, 1);
	sley_spawn(&keeper.group, &keeper.task, drain_one, &keeper);
	CHECK_SOON(container_stats(r->pool, 1).phase ==
		   SLEY_CONTAINER_DRAINING);
	CHECK_EQ(container_stats(r->pool, 1).inside, 1);
	CHECK_EQ(pool_stats(r->pool).draining, 1);
	sley_event_set(&event);
	sley_join(&keeper.group);
	CHECK_EQ(container_stats(r->pool, 1).phase, SLEY_CONTAINER_DRAINED);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(sley_container_open(r->pool, 1), 0);

	sley_event_clear(&event);
	submit_waiter(r->pool, &request, &in, 1);
	sley_spawn(&keeper.group, &keeper.task, destroy_all, &keeper);
	CHECK_SOON(pool_stats(r->pool).gone == 2);
	CHECK_EQ(pool_stats(r->pool).phase, SLEY_POOL_GONE);
	CHECK_EQ(pool_stats(r->pool).inside, 1);
	CHECK_EQ(pool_stats(r->pool).handles, 2);
	CHECK_EQ(container_stats(r->pool, 0).phase, SLEY_CONTAINER_GONE);
	sley_event_set(&event);
	sley_join(&keeper.group);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(pool_stats(r->pool).inside, 0);
	CHECK_EQ(pool_stats(r->pool).handles, 1);
	CHECK_STR(pool_stats(r->pool).name, "p");
}

TEST_WORKERS(c49_a_pool_is_inspected_while_it_is_drained_and_destroyed)
{
	struct routing r = routing_start(2, "default");

	run_task(look_while_kept, &r);
	routing_stop(&r);
}

static void count_groups(void *arg)
{
	struct routing *r = arg;
	struct sley_event event = SLEY_EVENT_INIT, *in = &event;
	struct sley_request request[4];

	for (uint32_t i = 0; i < 4; i++)
		CHECK_EQ(sley_submit(r->pool, &request[i],
				     SLEY_REQUEST(.method = PROBE_WAIT,
						  .group = 1 + i % 3, .in = &in,
						  .in_size = sizeof(in))),
			 0);
	CHECK_EQ(container_stats(r->pool, 0).groups, 3);
	sley_event_set(&event);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(sley_request_wait(&request[i]), 0);
	CHECK_EQ(container_stats(r->pool, 0).groups, 0);
}

TEST_WORKERS(c49_a_container_says_how_many_groups_it_keeps)
{
	struct routing r = routing_start(1, "default");

	run_task(count_groups, &r);
	routing_stop(&r);
}

/* ---- workers --------------------------------------------------------------------------- */

static struct sley_router_worker_stats worker_stats(struct sley_router *router,
						    uint32_t worker)
{
	struct sley_router_worker_stats stats = SLEY_ROUTER_WORKER_STATS_INIT;

	CHECK_EQ(sley_router_inspect_worker(router, worker, &stats), 0);
	return stats;
}

static void submit_some(void *arg)
{
	struct routing *r = arg;

	for (uint32_t i = 0; i < 50; i++)
		CHECK_EQ(code_of(r->pool, PROBE_ECHO, sley_query_hash(i)), 0);
}

TEST_WORKERS(c49_the_figures_of_workers_add_up_to_those_of_the_router)
{
	struct routing r = routing_start(4, "default");
	struct sley_router_worker_stats sum = { 0 }, stats;
	uint32_t nr = sley_router_nr_workers(r.router);
	struct sley_router_stats all;

	run_tasks(4, submit_some, &r);
	submit_some(&r);
	for (uint32_t i = 0; i <= nr; i++) {
		stats = worker_stats(r.router, i < nr ? i : SLEY_NO_WORKER);
		sum.submitted += stats.submitted;
		sum.completed += stats.completed;
		sum.inlined += stats.inlined;
		sum.moved += stats.moved;
		CHECK(i < nr || !stats.finished);
	}
	all = router_stats(r.router);
	CHECK_EQ(all.submitted, 250);
	CHECK_EQ(sum.submitted, all.submitted);
	CHECK_EQ(sum.completed, all.completed);
	CHECK_EQ(sum.inlined, all.inlined);
	CHECK_EQ(sum.moved, all.moved);
	CHECK_EQ(worker_stats(r.router, SLEY_NO_WORKER).submitted,
		 is_single() ? 0 : 50);
	CHECK_EQ(sley_router_inspect_worker(r.router, nr, &stats), -EINVAL);
	stats.size = 0;
	CHECK_EQ(sley_router_inspect_worker(r.router, 0, &stats), -EINVAL);
	routing_stop(&r);
}

TEST(c49_a_worker_that_is_held_shows_its_queue_and_its_load)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	struct sley_router *router = router_with(rt, "default");
	struct sley_pool *pool = probe_pool(router, "p", 1);
	struct gate gate = { 0 }, *in = &gate;
	struct sley_request hold, queued[5];

	CHECK_EQ(sley_submit(pool, &hold,
			     SLEY_REQUEST(.method = PROBE_HOLD, .in = &in,
					  .in_size = sizeof(in))),
		 0);
	CHECK_EVENTUALLY(atomic_load(&gate.held));
	for (int i = 0; i < 5; i++)
		CHECK_EQ(sley_submit(pool, &queued[i],
				     SLEY_REQUEST(.method = PROBE_ECHO)),
			 0);
	CHECK_EQ(worker_stats(router, 0).queued, 5);
	CHECK_EQ(worker_stats(router, 0).asleep, 0);
	CHECK_EVENTUALLY(worker_stats(router, 0).load > 300);
	CHECK_EQ(pool_stats(pool).inside, 6);
	gate_open(&gate);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(sley_request_wait(&queued[i]), 0);
	CHECK_EQ(sley_request_wait(&hold), 0);
	CHECK_EQ(worker_stats(router, 0).queued, 0);
	CHECK_EQ(worker_stats(router, 0).completed, 6);
	CHECK_EVENTUALLY(worker_stats(router, 0).asleep);
	sley_pool_close(pool);
	CHECK_EQ(sley_router_destroy(router), 0);
	stop(rt);
}

/* ---- as JSON --------------------------------------------------------------------------- */

static char text[1 << 20];

/* The answer is one value of JSON, and all of it is there. */
static void check_text(int length)
{
	CHECK_GT(length, 0);
	CHECK_LT(length, sizeof(text));
	CHECK_EQ(strlen(text), length);
	CHECK_STR(skip_value(text), "");
}

static void ask_router(struct sley_router *router, const char *query)
{
	spoil(text, 1000);
	check_text(sley_router_inspect_json(router, query, text, sizeof(text)));
}

static void ask_pool(struct sley_pool *pool, const char *query)
{
	spoil(text, 1000);
	check_text(sley_pool_inspect_json(pool, query, text, sizeof(text)));
}

TEST_WORKERS(c49_the_same_as_json)
{
	struct routing r = routing_start(2, "default");
	struct sley_pool *other = probe_pool(r.router, "q", 1);

	CHECK_EQ(sley_container_drain_until(r.pool, 1, SLEY_FOREVER), 0);
	ask_pool(r.pool, "pool_stats");
	CHECK_STR(text, "{\"name\":\"p\",\"module\":\"probe\",\"version\":1,"
			"\"phase\":\"live\",\"handles\":1,\"containers\":2,"
			"\"open\":1,\"draining\":0,\"drained\":1,"
			"\"upgrading\":0,\"gone\":0,\"down\":0,"
			"\"inside\":0,\"waiting\":0,\"periodic\":0}");
	ask_pool(r.pool, "container_stats:1");
	CHECK_STR(text, "{\"id\":1,\"phase\":\"drained\",\"version\":1,"
			"\"inside\":0,\"groups\":0}");
	ask_pool(r.pool, "container_stats");
	CHECK_STR(text, "{\"containers\":[{\"id\":0,\"phase\":\"open\","
			"\"version\":1,\"inside\":0,\"groups\":0},"
			"{\"id\":1,\"phase\":\"drained\",\"version\":1,"
			"\"inside\":0,\"groups\":0}]}");
	ask_router(r.router, "pool_stats");
	CHECK(strstr(text, "{\"pools\":[{\"name\":\"p\",") == text);
	CHECK(strstr(text, ",{\"name\":\"q\",") != NULL);
	ask_router(r.router, "system_stats");
	CHECK(strstr(text, "\"policy\":\"default\"") != NULL);
	CHECK(strstr(text, "\"refused\":0,\"stolen\":0,") != NULL);
	CHECK(strstr(text, "\"modules\":[{\"name\":\"probe\",\"version\":1}]"));
	CHECK(strstr(text, "\"pools\":[\"p\",\"q\"]}") != NULL);
	ask_router(r.router, "worker_stats");
	CHECK(strstr(text, "{\"workers\":[{\"worker\":0,\"queued\":") == text);
	CHECK(strstr(text, "],\"others\":{\"submitted\":") != NULL);
	CHECK_EQ(sley_container_open(r.pool, 1), 0);
	sley_pool_close(other);
	routing_stop(&r);
}

TEST(c49_names_are_escaped)
{
	struct routing r = routing_start(1, "none");
	struct sley_pool *pool =
		probe_pool(r.router, "a \"b\\\n\x7f\xff \xc3\xa4", 1);

	ask_pool(pool, "pool_stats");
	CHECK(strstr(text, "{\"name\":\"a \\\"b\\\\\\u000a\\u007f\\ufffd "
			   "\xc3\xa4\",") == text);
	ask_router(r.router, "system_stats");
	CHECK(strstr(text, "\"network_worker\":null") != NULL);
	sley_pool_close(pool);
	routing_stop(&r);
}

TEST(c49_an_unknown_query_is_an_error)
{
	static const char *const of_router[] = {
		"",
		"worker_stat",
		"worker_stats ",
		"WORKER_STATS",
		"container_stats",
		"bdev_stats",
	};
	static const char *const of_pool[] = {
		"",
		"worker_stats",
		"pool_stats:0",
		"container_stat",
		"container_statsx",
		"container_stats:",
		"container_stats:x",
		"container_stats:-1",
		"container_stats: 0",
		"container_stats:0x",
		"container_stats:0:anything", /* probe has no monitor() */
	};
	struct routing r = routing_start(1, "default");

	for (size_t i = 0; i < ARRAY_SIZE(of_router); i++)
		CHECK_EQ(sley_router_inspect_json(r.router, of_router[i], text,
						  sizeof(text)),
			 -ENOENT);
	for (size_t i = 0; i < ARRAY_SIZE(of_pool); i++)
		CHECK_EQ(sley_pool_inspect_json(r.pool, of_pool[i], text,
						sizeof(text)),
			 -ENOENT);
	CHECK_EQ(sley_pool_inspect_json(r.pool, "container_stats:1", text,
					sizeof(text)),
		 -ENXIO);
	CHECK_EQ(sley_pool_inspect_json(
			 r.pool, "container_stats:99999999999999999999999",
			 text, sizeof(text)),
		 -ENXIO);
	routing_stop(&r);
}

TEST(c49_a_text_that_does_not_fit_is_cut_off_and_measured)
{
	struct routing r = routing_start(3, "none");
	int length =
		sley_router_inspect_json(r.router, "system_stats", NULL, 0);
	char cut[512];

	ask_router(r.router, "system_stats");
	CHECK_EQ(strlen(text), length);
	CHECK_LT(length, sizeof(cut) - 2);
	for (int size = 1; size <= length + 1; size++) {
		memset(cut, 'x', sizeof(cut));
		CHECK_EQ(sley_router_inspect_json(r.router, "system_stats", cut,
						  (size_t)size),
			 length);
		/* As much as fits with the 0, and nothing behind it. */
		CHECK_EQ(memcmp(cut, text, (size_t)size - 1), 0);
		CHECK_EQ(cut[size - 1], '\0');
		CHECK_EQ(cut[size], 'x');
	}
	routing_stop(&r);
}

/* ---- monitor() ------------------------------------------------------------------------- */

static int monitor(void *self, const char *query, char *out, size_t size)
{
	CHECK(self != NULL);
	if (strcmp(query, "keys:all") != 0)
		return -ENOENT;
	return snprintf(out, size, "{\"keys\":%d}", 7);
}

TEST_WORKERS(c49_a_module_answers_queries_of_its_own)
{
	struct sley *rt = start();
	struct sley_router *router = router_with(rt, "default");
	struct sley_module module = probe_module;
	struct sley_pool *pool = NULL;

	module.name = "monitored";
	module.monitor = monitor;
	CHECK_EQ(sley_router_add(router, &module), 0);
	CHECK_EQ(sley_pool_open(router, &pool, "p",
				SLEY_POOL_OPTIONS(.module = "monitored",
						  .containers = 2)),
		 0);
	ask_pool(pool, "container_stats:1:keys:all");
	CHECK_STR(text, "{\"keys\":7}");
	CHECK_EQ(sley_pool_inspect_json(pool, "container_stats:1:other", text,
					sizeof(text)),
		 -ENOENT);
	CHECK_EQ(sley_container_drain_until(pool, 1, SLEY_FOREVER), 0);
	CHECK_EQ(sley_pool_inspect_json(pool, "container_stats:1:keys:all",
					text, sizeof(text)),
		 -EAGAIN);
	ask_pool(pool, "container_stats:0:keys:all");
	CHECK_EQ(sley_pool_destroy(pool), 0);
	CHECK_EQ(sley_pool_inspect_json(pool, "container_stats:0:keys:all",
					text, sizeof(text)),
		 -EAGAIN);
	ask_pool(pool, "container_stats:0");
	CHECK(strstr(text, "\"phase\":\"gone\"") != NULL);
	sley_pool_close(pool);
	CHECK_EQ(sley_router_destroy(router), 0);
	stop(rt);
}

/* ---- under load ------------------------------------------------------------------------ */

struct load {
	struct routing r;
	atomic_bool over;
};

static void send_requests(void *arg)
{
	struct load *load = arg;

	for (int i = 0; i < test_scale(400); i++)
		CHECK_EQ(sley_pool_call(
				 load->r.pool,
				 SLEY_REQUEST(.method = PROBE_ECHO,
					      .group = 1 + (uint64_t)i % 5,
					      .enqueue = i % 2,
					      .query = sley_query_hash(
						      (uint64_t)i)),
				 NULL),
			 0);
}

static void drain_often(void *arg)
{
	struct load *load = arg;

	for (int i = 0; i < test_scale(100); i++) {
		uint32_t id = (uint32_t)i % 3;

		CHECK_EQ(sley_container_drain_until(load->r.pool, id,
						    SLEY_FOREVER),
			 0);
		sley_yield();
		CHECK_EQ(sley_container_open(load->r.pool, id), 0);
	}
	atomic_store(&load->over, true);
}

static void look_often(void *arg)
{
	struct load *load = arg;
	char mine[4096];

	while (!atomic_load(&load->over)) {
		struct sley_pool_stats stats = pool_stats(load->r.pool);
		int length;

		CHECK_EQ(stats.phase, SLEY_POOL_LIVE);
		CHECK_LE(stats.open, 3);
		CHECK_LE(container_stats(load->r.pool, 1).phase,
			 SLEY_CONTAINER_DRAINED);
		CHECK_LE(container_stats(load->r.pool, 1).groups, 5);
		length = sley_pool_inspect_json(load->r.pool, "container_stats",
						mine, sizeof(mine));
		CHECK(length > 0 && length < (int)sizeof(mine));
		CHECK_STR(skip_value(mine), "");
		sley_yield();
	}
}

static void load_all(void *arg)
{
	struct load *load = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task sender[4], keeper, inspector[2];

	for (int i = 0; i < 4; i++)
		sley_spawn(&group, &sender[i], send_requests, load);
	sley_spawn(&group, &keeper, drain_often, load);
	for (int i = 0; i < 2; i++)
		sley_spawn(&group, &inspector[i], look_often, load);
	sley_join(&group);
}

TEST_WORKERS(c49_inspection_beside_requests_and_drains)
{
	struct load load = { .r = routing_start(3, "default") };

	run_task(load_all, &load);
	CHECK_EQ(pool_stats(load.r.pool).inside, 0);
	CHECK_EQ(pool_stats(load.r.pool).waiting, 0);
	CHECK_EQ(pool_stats(load.r.pool).open, 3);
	CHECK_EQ(router_stats(load.r.router).completed, 4 * test_scale(400));
	routing_stop(&load.r);
}

/* ---- names and versions ---------------------------------------------------------------- */

TEST_WORKERS(the_names_of_pools_are_in_the_order_of_their_making)
{
	struct routing r = routing_start(1, "default");
	struct sley_pool *second = probe_pool(r.router, "second", 1);
	struct sley_pool *third = probe_pool(r.router, "third", 1);
	struct sley_pool_name names[3] = { 0 };

	CHECK_EQ(sley_router_pool_names(r.router, NULL, 0), 3);
	CHECK_EQ(sley_router_pool_names(r.router, names, 2), 3);
	CHECK_STR(names[0].text, "p");
	CHECK_STR(names[1].text, "second");
	CHECK_STR(names[2].text, "");
	CHECK_EQ(sley_pool_destroy(second), 0);
	CHECK_EQ(sley_router_pool_names(r.router, names, 3), 2);
	CHECK_STR(names[1].text, "third");
	sley_pool_close(second);
	sley_pool_close(third);
	routing_stop(&r);
}

static struct sley_pool *upgraded;

static int upgrade(void **self, uint32_t from,
		   const struct sley_container_info *info)
{
	(void)self;
	(void)from;
	CHECK_EQ(container_stats(upgraded, info->id).phase,
		 SLEY_CONTAINER_UPGRADING);
	CHECK_EQ(pool_stats(upgraded).phase, SLEY_POOL_LIVE);
	return 0;
}

TEST_WORKERS(a_container_is_upgraded_to_a_version_that_was_added)
{
	struct routing r = routing_start(2, "default");
	struct sley_module second = probe_module, third = probe_module;
	struct sley_pool *pool;

	second.version = 2;
	third.version = 3;
	second.upgrade = third.upgrade = upgrade;
	upgraded = r.pool;
	CHECK_EQ(sley_container_drain_until(r.pool, 1, SLEY_FOREVER), 0);
	CHECK_EQ(sley_container_upgrade_to(r.pool, 1, 2), -ESRCH);
	CHECK_EQ(sley_container_upgrade_to(r.pool, 1, 0), -EINVAL);
	CHECK_EQ(sley_router_add(r.router, &third), 0);
	CHECK_EQ(sley_router_add(r.router, &second), 0);
	CHECK_EQ(sley_router_add(r.router, &second), -EEXIST);
	CHECK_EQ(sley_container_upgrade_to(r.pool, 1, 4), -ESRCH);
	CHECK_EQ(sley_container_upgrade_to(r.pool, 1, 2), 0);
	CHECK_EQ(container_stats(r.pool, 1).version, 2);
	CHECK_EQ(sley_container_upgrade_to(r.pool, 1, 0), 0);
	CHECK_EQ(container_stats(r.pool, 1).version, 3);
	CHECK_EQ(sley_container_upgrade_to(r.pool, 1, 2), -EINVAL);
	CHECK_EQ(container_stats(r.pool, 0).version, 1);
	CHECK_EQ(pool_stats(r.pool).version, 1);
	CHECK_EQ(sley_container_open(r.pool, 1), 0);
	CHECK_EQ(sley_container_drain_until(r.pool, 0, SLEY_FOREVER), 0);
	CHECK_EQ(sley_container_upgrade_to(r.pool, 0, 2), 0);
	CHECK_EQ(pool_stats(r.pool).version, 2);
	CHECK_EQ(sley_container_open(r.pool, 0), 0);
	/* A new pool is made of the newest. */
	pool = probe_pool(r.router, "new", 1);
	CHECK_EQ(pool_stats(pool).version, 3);
	sley_pool_close(pool);
	routing_stop(&r);
}

/* ---- in a child of fork() -------------------------------------------------------------- */

static void look_in_child(const struct routing *r)
{
	struct sley_router_worker_stats worker = SLEY_ROUTER_WORKER_STATS_INIT;
	struct sley_container_stats container = SLEY_CONTAINER_STATS_INIT;
	struct sley_pool_stats stats = SLEY_POOL_STATS_INIT;

	alarm(20);
	CHECK_EQ(sley_pool_inspect(r->pool, &stats), SLEY_EFORKED);
	CHECK_EQ(sley_container_inspect(r->pool, 0, &container), SLEY_EFORKED);
	CHECK_EQ(sley_router_inspect_worker(r->router, 0, &worker),
		 SLEY_EFORKED);
	CHECK_EQ(sley_router_pool_names(r->router, NULL, 0), SLEY_EFORKED);
	CHECK_EQ(sley_pool_inspect_json(r->pool, "pool_stats", NULL, 0),
		 SLEY_EFORKED);
	CHECK_EQ(sley_router_inspect_json(r->router, "pool_stats", NULL, 0),
		 SLEY_EFORKED);
	CHECK_EQ(sley_container_upgrade_to(r->pool, 0, 0), SLEY_EFORKED);
	_exit(0);
}

TEST(c49_a_child_of_fork_is_told_that_its_pools_are_lost)
{
	struct routing r;
	int status;
	pid_t pid;

	if (test_sanitizer() || test_emulated())
		test_skip("fork() with threads");
	r = routing_start(2, "default");
	pid = fork();
	CHECK_GE(pid, 0);
	if (pid == 0)
		look_in_child(&r);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	routing_stop(&r);
}
