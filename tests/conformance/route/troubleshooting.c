/* SPDX-License-Identifier: MIT */
/*
 * troubleshooting.c - the symptoms of docs/POLICIES.md, provoked: what a router does and
 * prints then.
 */
#include "conformance/route/routing.h"

#include "os/symbol.h"

#include <sley/source.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* .watchdog_ms where all workers are held; the watchdog waits ten times as long then. */
#define DEAF_WATCHDOG_MS 20

/* What .report of the runtime got; `about` chooses the lines that count. */
struct lines {
	const char *about;
	atomic_int nr;
	char last[512];
};

static void take_line(void *self, const char *line)
{
	struct lines *lines = self;

	if (!strstr(line, lines->about))
		return;
	(void)snprintf(lines->last, sizeof(lines->last), "%s", line);
	atomic_fetch_add(&lines->nr, 1);
}

static struct sley_config heard(int workers, struct lines *lines)
{
	struct sley_config config = config_of(workers);

	config.report = take_line;
	config.report_self = lines;
	return config;
}

/* A policy of which each answer is `answer`. */
static atomic_uint answer;

static uint32_t say(void *self, const struct sley_route *route)
{
	(void)self;
	(void)route;
	return atomic_load(&answer);
}

static const struct sley_policy saying = {
	SLEY_POLICY_HEAD("saying"),
	.client_map = say,
	.runtime_map = say,
};

/* The same without lanes for clients. */
static const struct sley_policy toward = {
	SLEY_POLICY_HEAD("toward"),
	.runtime_map = say,
};

/* ---- requests are not processed --------------------------------------------------- */

static void wait_at_a_drained_container(void *arg)
{
	struct routing *r = arg;
	struct sley_router_stats stats;
	struct sley_request request;

	CHECK_EQ(sley_container_drain_until(r->pool, 0, SLEY_FOREVER), 0);
	CHECK_EQ(sley_submit(r->pool, &request,
			     SLEY_REQUEST(.method = PROBE_ECHO)),
		 0);
	CHECK_EQ(sley_pool_flush_until(r->pool, in_ms(5)), -ETIMEDOUT);
	CHECK_EQ(sley_request_code(&request), -EINPROGRESS);
	stats = router_stats(r->router);
	CHECK_EQ(stats.submitted, 1);
	CHECK_EQ(stats.completed, 0);
	/* A time-out in the query makes a code of the wait. */
	CHECK_EQ(code_of(r->pool, PROBE_ECHO,
			 sley_query_within(sley_query_local(), 1)),
		 -ETIMEDOUT);
	CHECK_EQ(sley_container_open(r->pool, 0), 0);
	CHECK_EQ(sley_pool_flush_until(r->pool, SLEY_FOREVER), 0);
	CHECK(sley_request_is_done(&request));
	CHECK_EQ(sley_request_code(&request), 0);
}

TEST_WORKERS(a_request_that_waits_for_a_drained_container_is_counted)
{
	struct routing r = routing_start(2, "default");

	run_task(wait_at_a_drained_container, &r);
	routing_stop(&r);
}

struct holder {
	struct gate gate;
	atomic_int worker; /* 1 + the worker that is held */
};

static void hold_worker(void *arg)
{
	struct holder *holder = arg;

	atomic_store(&holder->worker, 1 + sley_worker());
	gate_hold(&holder->gate);
}

TEST(requests_for_a_worker_that_is_held_are_taken_by_another)
{
	struct lines lines = { .about = "toward" };
	struct sley_config config = heard(2, &lines);
	struct routing r = routing_by(&config, &toward, 0);
	struct holder holder = { .worker = 0 };
	int worker;

	CHECK_EQ(sley_schedule_on(r.rt, hold_worker, &holder, NULL), 0);
	while (!(worker = atomic_load(&holder.worker)))
		test_nap_ms(1);
	atomic_store(&answer, (unsigned int)worker - 1);
	for (int i = 0; i < 50; i++) {
		struct place place = where(r.pool, sley_query_local());

		CHECK_EQ(place.worker, 1 - (worker - 1));
	}
	gate_open(&holder.gate);
	CHECK_EQ(atomic_load(&lines.nr), 0);
	routing_stop(&r);
}

/* Both workers are held, and a request waits for any of them. */
struct deaf {
	struct sley *rt;
	atomic_int nr_held;
	atomic_bool over;
};

static void hold_until_over(void *arg)
{
	struct deaf *deaf = arg;

	atomic_fetch_add(&deaf->nr_held, 1);
	while (!atomic_load(&deaf->over))
		test_nap_ms(1);
}

static bool take_nothing(void *arg)
{
	(void)arg;
	return false;
}

/* For three times the patience of the watchdog, or until it has counted both tasks. */
static void hold_both_workers(struct routing *r, struct deaf *deaf,
			      bool is_heard)
{
	struct sley_request request;

	for (int i = 0; i < 2; i++)
		CHECK_EQ(sley_schedule_on(r->rt, hold_until_over, deaf,
					  SLEY_OPTIONS(.name = "long call")),
			 0);
	CHECK_EVENTUALLY(atomic_load(&deaf->nr_held) == 2);
	CHECK_EQ(sley_submit(r->pool, &request,
			     SLEY_REQUEST(.method = PROBE_ECHO)),
		 0);
	if (is_heard)
		CHECK_EVENTUALLY(stats_of(r->rt).long_tasks == 2);
	else
		test_nap_ms(3 * 10 * DEAF_WATCHDOG_MS);
	CHECK_EQ(sley_request_code(&request), -EINPROGRESS);
	atomic_store(&deaf->over, true);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(sley_request_code(&request), 0);
}

static void check_held_workers(int fd, int nr_lines)
{
	struct lines lines = { .about = "\"long call\"" };
	struct sley_config config = heard(2, &lines);
	struct sley_source *source = NULL;
	struct deaf deaf = { .nr_held = 0 };
	struct routing r;

	if (test_emulated())
		test_skip("qemu-user does not read memory as a debugger does");
	config.watchdog_ms = DEAF_WATCHDOG_MS;
	atomic_store(&answer, 0);
	r = routing_by(&config, &toward, 0);
	if (fd)
		CHECK_EQ(sley_source_create(
				 r.rt, &source,
				 SLEY_SOURCE_OPTIONS(.fd = fd,
						     .take = take_nothing),
				 NULL),
			 0);
	hold_both_workers(&r, &deaf, nr_lines > 0);
	sley_source_destroy(source);
	/* The monitor, which counts a task and then writes, has ended. */
	routing_stop(&r);
	CHECK_EQ(atomic_load(&lines.nr), nr_lines);
	if (nr_lines)
		CHECK(strstr(lines.last,
			     "no worker is free for work from outside, such as "
			     "requests of clients"));
}

TEST(tasks_that_hold_all_workers_are_told_if_a_source_has_a_descriptor)
{
	int fd = eventfd(0, EFD_CLOEXEC);

	CHECK_GE(fd, 0);
	check_held_workers(fd, 2);
	close(fd);
}

TEST(tasks_that_hold_all_workers_are_not_told_if_none_has)
{
	check_held_workers(0, 0);
}

/* ---- lanes and workers that are not there ------------------------------------------ */

static void ask_in_a_task(void *arg)
{
	struct routing *r = arg;

	for (int i = 0; i < 50; i++)
		CHECK_EQ(code_of(r->pool, PROBE_ECHO, sley_query_local()), 0);
}

TEST(c04_refused_lanes_are_told_once_in_a_while)
{
	struct lines lines = { .about = "saying: " };
	struct sley_config config = heard(2, &lines);
	struct routing r = routing_by(&config, &saying, 0);

	atomic_store(&answer, 1); /* a worker, but there is one lane */
	ask_in_a_task(&r);
	CHECK_EQ(router_stats(r.router).refused, 50);
	CHECK_EQ(atomic_load(&lines.nr), 1);
	CHECK_STR(lines.last,
		  "saying: warning: client_map() answered 1, which is not "
		  "below 1: the request stays where it is; "
		  "sley_router_get_stats() counts such answers");
	routing_stop(&r);
}

TEST(c04_refused_workers_are_told_once_in_a_while)
{
	struct lines lines = { .about = "saying: " };
	struct sley_config config = heard(2, &lines);
	struct routing r = routing_by(&config, &saying, 0);

	atomic_store(&answer, 7);
	run_task(ask_in_a_task, &r);
	CHECK_EQ(router_stats(r.router).refused, 50);
	CHECK_EQ(atomic_load(&lines.nr), 1);
	CHECK(strstr(lines.last, "runtime_map() answered 7, which is not below "
				 "2"));
	routing_stop(&r);
}

TEST(c04_a_router_that_wants_errors_only_gets_no_warning)
{
	struct lines lines = { .about = "saying: " };
	struct sley_config config = heard(2, &lines);
	struct routing r = routing_by(&config, &saying, SLEY_LOG_ERROR);

	atomic_store(&answer, 7);
	run_task(ask_in_a_task, &r);
	CHECK_EQ(router_stats(r.router).refused, 50);
	CHECK_EQ(atomic_load(&lines.nr), 0);
	routing_stop(&r);
}

/* ---- a request that hangs after it moved ------------------------------------------- */

/* A method that asks the next container, and waits for the answer. */
struct step {
	struct sley_pool *pool;
	uint32_t left;
};

static int ask_next(void *self, struct sley_request *request)
{
	size_t size;
	const struct step *in = sley_request_in(request, &size);
	struct step next = { in->pool, in->left - 1 };

	(void)self;
	if (!in->left)
		return 0;
	return sley_pool_call(in->pool,
			      SLEY_REQUEST(.query = sley_query_hash(next.left),
					   .in = &next, .in_size = sizeof(next),
					   .enqueue = true, .parent = request),
			      NULL);
}

static const struct sley_method chain_methods[] = {
	{ .name = "ask next", .run = ask_next },
};

static const struct sley_module chain_module = {
	SLEY_MODULE_HEAD("chain"),
	.methods = chain_methods,
	.nr_methods = 1,
};

/* Each request goes to another worker than its submitter. */
static uint32_t move_on(void *self, const struct sley_route *route)
{
	(void)self;
	return (route->here + 1) % sley_router_nr_workers(route->router);
}

static const struct sley_policy moving = {
	SLEY_POLICY_HEAD("moving"),
	.runtime_map = move_on,
};

static void run_chains(void *arg)
{
	static struct sley_request request[64];
	struct step step = { arg, 20 };

	for (size_t i = 0; i < ARRAY_SIZE(request); i++)
		CHECK_EQ(sley_submit(step.pool, &request[i],
				     SLEY_REQUEST(.in = &step,
						  .in_size = sizeof(step),
						  .enqueue = true)),
			 0);
	for (size_t i = 0; i < ARRAY_SIZE(request); i++) {
		CHECK_EQ(sley_request_wait(&request[i]), 0);
		CHECK_EQ(sley_request_code(&request[i]), 0);
	}
}

TEST_WORKERS(requests_that_move_and_wait_for_others_are_all_completed)
{
	struct sley *rt = start();
	struct sley_router *router = NULL;
	struct sley_router_stats stats;
	struct sley_pool *pool = NULL;

	CHECK_EQ(sley_router_create(rt, &router,
				    SLEY_ROUTER_OPTIONS(.own_policy = &moving)),
		 0);
	CHECK_EQ(sley_router_add(router, &chain_module), 0);
	CHECK_EQ(sley_pool_open(router, &pool, "chain",
				SLEY_POOL_OPTIONS(.module = "chain",
						  .containers = 5)),
		 0);
	run_task(run_chains, pool);
	stats = router_stats(router);
	CHECK_EQ(stats.completed, 64 * 21);
	CHECK_EQ(stats.moved, nr_runners() > 1 ? 64 * 21 : 0);
	sley_pool_close(pool);
	CHECK_EQ(sley_router_destroy(router), 0);
	stop(rt);
}

/*
 * A method that waits, and whose worker is held by a task that never gives way: the
 * method goes on when that task is gone, or on another worker if it is migratable.
 */
struct stuck {
	struct sley *rt;
	struct sley_event event;
	atomic_bool resumed;
	bool resumed_meanwhile; /* while the worker was held */
};

static void hold_until_told_or_resumed(void *arg)
{
	struct stuck *stuck = arg;
	uint64_t end_ns = in_ms(10000);

	sley_event_set(&stuck->event);
	while (!stats_of(stuck->rt).long_tasks &&
	       !atomic_load(&stuck->resumed) && sley_now() < end_ns)
		test_nap_ms(1);
	stuck->resumed_meanwhile = atomic_load(&stuck->resumed);
	/* The monitor prints after it has counted. */
	if (stats_of(stuck->rt).long_tasks)
		test_nap_ms(100);
}

static int wait_behind(void *self, struct sley_request *request)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task holder;
	struct stuck *stuck;
	size_t size;

	(void)self;
	stuck = *(struct stuck *const *)sley_request_in(request, &size);
	CHECK_EQ(sley_spawn_with(
			 &group, &holder, hold_until_told_or_resumed, stuck,
			 SLEY_OPTIONS(.pinned = true, .name = "long call")),
		 0);
	CHECK_EQ(sley_event_wait(&stuck->event), 0);
	atomic_store(&stuck->resumed, true);
	sley_join(&group);
	return 0;
}

static const struct sley_method stuck_methods[] = {
	{ .name = "wait behind", .run = wait_behind },
};

static const struct sley_module stuck_module = {
	SLEY_MODULE_HEAD("stuck"),
	.methods = stuck_methods,
	.nr_methods = 1,
};

/* The watchdog speaks of the long call @nr_lines times. */
static void check_stuck_request(bool migratable, int nr_lines)
{
	struct lines lines = { .about = "\"long call\"" };
	struct sley_config config = heard(2, &lines);
	struct stuck stuck = { .event = SLEY_EVENT_INIT }, *in = &stuck;
	struct sley_router *router = NULL;
	struct sley_pool *pool = NULL;

	config.migratable = migratable;
	config.watchdog_ms = migratable ? SLEY_NEVER : 100;
	stuck.rt = start_with(&config);
	CHECK_EQ(sley_router_create(stuck.rt, &router, NULL), 0);
	CHECK_EQ(sley_router_add(router, &stuck_module), 0);
	CHECK_EQ(sley_pool_open(router, &pool, "stuck",
				SLEY_POOL_OPTIONS(.module = "stuck")),
		 0);
	CHECK_EQ(sley_pool_call(pool,
				SLEY_REQUEST(.in = &in, .in_size = sizeof(in)),
				NULL),
		 0);
	sley_pool_close(pool);
	CHECK_EQ(sley_router_destroy(router), 0);
	stop(stuck.rt);
	CHECK_EQ(stuck.resumed_meanwhile, migratable);
	CHECK_EQ(atomic_load(&lines.nr), nr_lines);
}

TEST(a_request_whose_worker_is_held_is_told_by_the_watchdog)
{
	if (test_emulated())
		test_skip("qemu-user does not read memory as a debugger does");
	check_stuck_request(false, 1);
}

TEST(a_request_of_a_migratable_runtime_leaves_a_worker_that_is_held)
{
	check_stuck_request(true, 0);
}

/* A method that holds its worker, and a request behind it that is pinned there. */
struct held {
	struct sley *rt;
	atomic_bool begun;
};

static int hold_until_counted(void *self, struct sley_request *request)
{
	uint64_t end_ns = in_ms(10000);
	struct held *held;
	size_t size;

	(void)self;
	held = *(struct held *const *)sley_request_in(request, &size);
	atomic_store(&held->begun, true);
	while (!stats_of(held->rt).long_tasks && sley_now() < end_ns)
		test_nap_ms(1);
	return 0;
}

static int do_nothing(void *self, struct sley_request *request)
{
	(void)self;
	(void)request;
	return 0;
}

static const struct sley_method held_methods[] = {
	{ .name = "do nothing", .run = do_nothing },
	{ .name = "long method", .run = hold_until_counted },
};

static const struct sley_module held_module = {
	SLEY_MODULE_HEAD("held"),
	.methods = held_methods,
	.nr_methods = 2,
};

static uint32_t pin_to_the_first(void *self, const struct sley_route *route)
{
	(void)self;
	sley_route_pin(route);
	return 0;
}

static const struct sley_policy pinning = {
	SLEY_POLICY_HEAD("pinning"),
	.runtime_map = pin_to_the_first,
};

static void wait_behind_a_method(struct sley *rt, struct sley_pool *pool)
{
	struct held held = { .rt = rt }, *in = &held;
	struct sley_request request[2];

	CHECK_EQ(sley_submit(pool, &request[0],
			     SLEY_REQUEST(.method = 1, .in = &in,
					  .in_size = sizeof(in))),
		 0);
	CHECK_EVENTUALLY(atomic_load(&held.begun));
	CHECK_EQ(sley_submit(pool, &request[1], SLEY_REQUEST(.method = 0)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(request); i++) {
		CHECK_EQ(sley_request_wait(&request[i]), 0);
		CHECK_EQ(sley_request_code(&request[i]), 0);
	}
}

/* What the watchdog says of the method. */
static void hear_of_a_method(bool migratable, struct lines *lines)
{
	struct sley_config config = heard(2, lines);
	struct sley_router *router = NULL;
	struct sley_pool *pool = NULL;
	struct sley *rt;

	if (test_emulated())
		test_skip("qemu-user does not read memory as a debugger does");
	lines->about = "\"long method\"";
	config.migratable = migratable;
	rt = start_with(&config);
	CHECK_EQ(
		sley_router_create(rt, &router,
				   SLEY_ROUTER_OPTIONS(.own_policy = &pinning)),
		0);
	CHECK_EQ(sley_router_add(router, &held_module), 0);
	CHECK_EQ(sley_pool_open(router, &pool, "held",
				SLEY_POOL_OPTIONS(.module = "held")),
		 0);
	wait_behind_a_method(rt, pool);
	sley_pool_close(pool);
	CHECK_EQ(sley_router_destroy(router), 0);
	/* The monitor, which counts a task and then writes, has ended. */
	stop(rt);
	CHECK_EQ(atomic_load(&lines->nr), 1);
}

TEST(the_watchdog_names_the_function_of_a_method_that_holds_a_worker)
{
	struct lines lines = { .nr = 0 };
	char function[64], text[128];

	os_symbol(function, sizeof(function),
		  (const void *)(uintptr_t)hold_until_counted);
	(void)snprintf(text, sizeof(text),
		       "task \"long method\" (function %s) has held worker 0",
		       function);
	hear_of_a_method(false, &lines);
	CHECK(strstr(lines.last, text));
	CHECK(strstr(lines.last,
		     "make them .migratable if they are not pinned"));
}

TEST(the_watchdog_of_a_migratable_runtime_does_not_advise_what_is_done)
{
	struct lines lines = { .nr = 0 };

	hear_of_a_method(true, &lines);
	CHECK(!strstr(lines.last, ".migratable"));
	CHECK(strstr(lines.last, "sley_yield()"));
}

/* ---- what a program gets wrong ------------------------------------------------------ */

TEST(c10_a_policy_that_does_not_exist_is_named)
{
	struct lines lines = { .about = "there is no policy" };
	struct sley_config config = heard(2, &lines);
	struct sley *rt = start_with(&config);
	struct sley_router *router = NULL;

	CHECK_EQ(sley_router_create(rt, &router,
				    SLEY_ROUTER_OPTIONS(.policy = "lokal")),
		 -ENOENT);
	stop(rt);
	CHECK(!router);
	CHECK_EQ(atomic_load(&lines.nr), 1);
	CHECK(strstr(lines.last,
		     "there is no policy \"lokal\": none that is built in "
		     "(default, local, none, steal, prio), and no file "
		     "lokal.so in .directories (none)"));
}

static int upgrade(void **self, uint32_t from,
		   const struct sley_container_info *info)
{
	(void)self;
	(void)from;
	(void)info;
	return 0;
}

/* The container, which is drained, is not upgraded to @module. */
static void refuse_upgrade(struct sley_pool *pool, struct lines *lines,
			   const struct sley_module *module, const char *why)
{
	char line[160];
	int nr = atomic_load(&lines->nr);

	(void)snprintf(line, sizeof(line),
		       "container 1 of \"p\" stays at version 1 of "
		       "\"probe\": the new table %s",
		       why);
	CHECK_EQ(sley_container_upgrade(pool, 1, module), -EINVAL);
	CHECK_EQ(atomic_load(&lines->nr), nr + 1);
	CHECK_STR(lines->last, line);
}

TEST(an_upgrade_that_is_refused_says_why)
{
	struct lines lines = { .about = "stays at version" };
	struct sley_config config = heard(2, &lines);
	struct routing r = routing_by(&config, &saying, 0);
	struct sley_module next = probe_module;

	/* Of what the keeper has forgotten the code says enough. */
	CHECK_EQ(sley_container_upgrade(r.pool, 1, &next), -EINVAL);
	CHECK_EQ(atomic_load(&lines.nr), 0);
	CHECK_EQ(sley_container_drain_until(r.pool, 1, SLEY_FOREVER), 0);
	refuse_upgrade(r.pool, &lines, NULL,
		       "is for another version of sley, or lacks a name or "
		       "methods");
	refuse_upgrade(r.pool, &lines, &chain_module, "is of another module");
	refuse_upgrade(r.pool, &lines, &next, "has no higher version");
	next.version++;
	refuse_upgrade(r.pool, &lines, &next, "has no upgrade()");
	next.upgrade = upgrade;
	next.nr_methods--;
	refuse_upgrade(r.pool, &lines, &next, "lacks a method");
	next.nr_methods++;
	CHECK_EQ(sley_container_upgrade(r.pool, 1, &next), 0);
	CHECK_EQ(sley_container_open(r.pool, 1), 0);
	CHECK_EQ(atomic_load(&lines.nr), 5);
	routing_stop(&r);
}

/* ---- fewer workers than roles ------------------------------------------------------- */

static struct greedy {
	int create_fails;
	int nr_created, nr_destroyed;
} greedy;

static int greedy_create(void **self, struct sley_router *router)
{
	(void)router;
	*self = &greedy;
	if (!greedy.create_fails)
		greedy.nr_created++;
	return greedy.create_fails;
}

static void greedy_destroy(void *self)
{
	CHECK(self == &greedy);
	greedy.nr_destroyed++;
}

/* Wants a worker for the network, whatever there is. */
static int greedy_divide(void *self, struct sley_router *router)
{
	CHECK(self == &greedy);
	return sley_router_set_network_worker(router, 3);
}

static const struct sley_policy greedy_policy = {
	SLEY_POLICY_HEAD("greedy"),      .create = greedy_create,
	.destroy = greedy_destroy,       .runtime_map = say,
	.divide_workers = greedy_divide,
};

/* What the router's creation says and returns. */
static int create_greedy(int workers, struct lines *lines)
{
	struct sley_config config = heard(workers, lines);
	struct sley *rt = start_with(&config);
	struct sley_router *router = NULL;
	int err = sley_router_create(
		rt, &router, SLEY_ROUTER_OPTIONS(.own_policy = &greedy_policy));

	CHECK_EQ(router == NULL, err != 0);
	CHECK_EQ(sley_router_destroy(router), 0);
	stop(rt);
	return err;
}

TEST(c03_a_policy_that_wants_more_workers_than_there_are_is_told)
{
	struct lines lines = { .about = "greedy: " };

	CHECK_EQ(create_greedy(2, &lines), -EINVAL);
	CHECK_STR(lines.last,
		  "greedy: error: divide_workers() failed (Invalid argument), "
		  "so there is no router; the runtime has 2 worker(s)");
	CHECK_EQ(atomic_load(&lines.nr), 1);
	CHECK_EQ(greedy.nr_created, 1);
	CHECK_EQ(greedy.nr_destroyed, 1);
	greedy.create_fails = -EIO;
	CHECK_EQ(create_greedy(2, &lines), -EIO);
	CHECK_STR(lines.last,
		  "greedy: error: create() failed (Input/output error), so "
		  "there is no router; the runtime has 2 worker(s)");
	CHECK_EQ(greedy.nr_destroyed, 1);
	greedy.create_fails = 0;
	CHECK_EQ(create_greedy(4, &lines), 0);
	CHECK_EQ(atomic_load(&lines.nr), 2);
	CHECK_EQ(greedy.nr_destroyed, 2);
}
