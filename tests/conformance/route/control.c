/* SPDX-License-Identifier: MIT */
/*
 * control.c - the control plane of containers: no lock is held over code of a module, the
 * calls know of each other, a caller can give up, and a call that would wait for its own
 * caller is an error.
 */
#include "conformance/route/routing.h"

/* What the functions of the module shall do, and what they have done. */
static struct script {
	int (*create)(const struct sley_container_info *info);
	int (*upgrade)(const struct sley_container_info *info);
	int (*method)(struct sley_pool *own);
	struct sley_router *router;
	struct sley_pool *pool;
	struct sley_event go_on;
	atomic_int waiting, upgraded, destroyed, newer_destroyed;
} script;

/* Waits for go_on; the code of the wait. */
static int wait_to_go_on(const struct sley_container_info *info)
{
	int err;

	(void)info;
	atomic_fetch_add(&script.waiting, 1);
	err = sley_event_wait(&script.go_on);
	atomic_fetch_sub(&script.waiting, 1);
	return err;
}

static void until_waiting(void)
{
	while (!atomic_load(&script.waiting))
		sley_yield();
}

static int create(void **self, const struct sley_container_info *info)
{
	*self = &script;
	return script.create ? script.create(info) : 0;
}

static void destroy(void *self)
{
	CHECK(self == &script);
	atomic_fetch_add(&script.destroyed, 1);
}

static void destroy_newer(void *self)
{
	CHECK(self == &script);
	atomic_fetch_add(&script.newer_destroyed, 1);
}

static int upgrade(void **self, uint32_t from,
		   const struct sley_container_info *info)
{
	int err = script.upgrade ? script.upgrade(info) : 0;

	CHECK(*self == &script);
	CHECK_EQ(from, 1);
	atomic_fetch_add(&script.upgraded, !err);
	return err;
}

static int run(void *self, struct sley_request *request)
{
	(void)self;
	return script.method(
		sley_container_pool(sley_request_container(request)));
}

static const struct sley_method methods[] = { { .name = "run", .run = run } };

static const struct sley_module older = {
	SLEY_MODULE_HEAD("scripted"),
	.version = 1,
	.methods = methods,
	.nr_methods = 1,
	.create = create,
	.destroy = destroy,
};

static const struct sley_module newer = {
	SLEY_MODULE_HEAD("scripted"),
	.version = 2,
	.methods = methods,
	.nr_methods = 1,
	.create = create,
	.destroy = destroy_newer,
	.upgrade = upgrade,
};

static int open_scripted(struct sley_pool **pool)
{
	return sley_pool_open(script.router, pool, "own",
			      SLEY_POOL_OPTIONS(.module = "scripted",
						.containers = 2));
}

/* A runtime, a router, and the pool "own" with two containers. */
static struct sley *begin(void)
{
	struct sley *rt = start();

	script = (struct script){ .router = NULL };
	sley_event_init(&script.go_on, false, false);
	script.router = router_with(rt, "none");
	CHECK_EQ(sley_router_add(script.router, &older), 0);
	CHECK_EQ(open_scripted(&script.pool), 0);
	return rt;
}

static void finish(struct sley *rt)
{
	sley_pool_close(script.pool);
	CHECK_EQ(sley_router_destroy(script.router), 0);
	stop(rt);
}

static int drain(uint32_t id)
{
	return sley_container_drain_until(script.pool, id, SLEY_FOREVER);
}

static int call_method(void)
{
	return code_of(script.pool, 0, sley_query_id(0));
}

/* ---- upgrades ------------------------------------------------------------------------ */

/* A task that upgrades container 0. */
struct upgrader {
	struct sley_group group;
	struct sley_task task;
	uint64_t deadline_ns;
	int err;
};

static void upgrade_first(void *arg)
{
	struct upgrader *upgrader = arg;
	struct sley_scope scope;

	sley_scope_open_until(&scope, upgrader->deadline_ns);
	upgrader->err = sley_container_upgrade(script.pool, 0, &newer);
	(void)!sley_scope_close(&scope);
}

static void begin_upgrade(struct upgrader *upgrader, uint64_t deadline_ns)
{
	*upgrader = (struct upgrader){ .group = SLEY_GROUP_INIT,
				       .deadline_ns = deadline_ns };
	CHECK_EQ(drain(0), 0);
	sley_spawn(&upgrader->group, &upgrader->task, upgrade_first, upgrader);
}

static void upgrade_until(struct upgrader *upgrader, uint64_t deadline_ns)
{
	begin_upgrade(upgrader, deadline_ns);
	until_waiting();
}

static uint32_t phase_of(uint32_t id)
{
	struct sley_container_stats stats = SLEY_CONTAINER_STATS_INIT;

	CHECK_EQ(sley_container_inspect(script.pool, id, &stats), 0);
	return stats.phase;
}

static void keep_others_going(void *arg)
{
	struct sley_pool_stats stats = SLEY_POOL_STATS_INIT;
	struct upgrader upgrader;

	(void)arg;
	upgrade_until(&upgrader, SLEY_FOREVER);
	/* Another container is not held up... */
	CHECK_EQ(drain(1), 0);
	CHECK_EQ(sley_container_open(script.pool, 1), 0);
	/* ... this one is, and says so. */
	CHECK_EQ(drain(0), -EALREADY);
	CHECK_EQ(sley_container_open(script.pool, 0), -EBUSY);
	CHECK_EQ(sley_container_upgrade(script.pool, 0, &newer), -EBUSY);
	CHECK_EQ(phase_of(0), SLEY_CONTAINER_UPGRADING);
	CHECK_EQ(sley_pool_inspect(script.pool, &stats), 0);
	CHECK_EQ(stats.upgrading, 1);
	CHECK_EQ(stats.open, 1);
	sley_event_set(&script.go_on);
	sley_join(&upgrader.group);
	CHECK_EQ(upgrader.err, 0);
	CHECK_EQ(atomic_load(&script.upgraded), 1);
	CHECK_EQ(phase_of(0), SLEY_CONTAINER_DRAINED);
	CHECK_EQ(sley_container_open(script.pool, 0), 0);
}

TEST_WORKERS(an_upgrade_holds_up_its_own_container_alone)
{
	struct sley *rt = begin();

	script.upgrade = wait_to_go_on;
	run_task(keep_others_going, NULL);
	finish(rt);
	CHECK_EQ(atomic_load(&script.newer_destroyed), 1);
	CHECK_EQ(atomic_load(&script.destroyed), 1);
}

static void give_up(void *arg)
{
	struct upgrader upgrader;

	(void)arg;
	/* The wait may be over before this task could see it. */
	begin_upgrade(&upgrader, in_ms(2));
	sley_join(&upgrader.group);
	CHECK_EQ(upgrader.err, -ECANCELED);
	/* It has the state and the version that it had. */
	CHECK_EQ(phase_of(0), SLEY_CONTAINER_DRAINED);
	script.upgrade = NULL;
	CHECK_EQ(sley_container_upgrade(script.pool, 0, &newer), 0);
	CHECK_EQ(sley_container_open(script.pool, 0), 0);
}

TEST_WORKERS(an_upgrade_ends_at_the_deadline_of_its_caller)
{
	struct sley *rt = begin();

	script.upgrade = wait_to_go_on;
	run_task(give_up, NULL);
	finish(rt);
}

static void destroy_pool(void *arg)
{
	atomic_bool *over = arg;

	CHECK_EQ(sley_pool_destroy(script.pool), 0);
	atomic_store(over, true);
}

static void destroy_beside_upgrade(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct upgrader upgrader;
	struct sley_task task;
	atomic_bool over = false;

	(void)arg;
	upgrade_until(&upgrader, SLEY_FOREVER);
	sley_spawn(&group, &task, destroy_pool, &over);
	while (phase_of(0) != SLEY_CONTAINER_GONE)
		sley_yield();
	CHECK_EQ(sley_sleep_until(in_ms(2)), 0);
	CHECK(!atomic_load(&over));
	CHECK_EQ(atomic_load(&script.destroyed), 0);
	sley_event_set(&script.go_on);
	sley_join(&upgrader.group);
	sley_join(&group);
	/* Upgraded first, and then destroyed by the newer module. */
	CHECK_EQ(upgrader.err, 0);
	CHECK_EQ(atomic_load(&script.newer_destroyed), 1);
	CHECK_EQ(atomic_load(&script.destroyed), 1);
	CHECK_EQ(sley_container_open(script.pool, 0), -ENOENT);
}

TEST_WORKERS(the_end_of_a_pool_waits_for_an_upgrade)
{
	struct sley *rt = begin();

	script.upgrade = wait_to_go_on;
	run_task(destroy_beside_upgrade, NULL);
	finish(rt);
}

/* ---- an opener that waits ------------------------------------------------------------- */

static void make_again(void *arg)
{
	struct sley_pool *pool;

	(void)arg;
	CHECK_EQ(open_scripted(&pool), 0);
	sley_pool_close(pool);
}

static void open_with_deadline(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_pool *pool = NULL;
	struct sley_scope scope;
	struct sley_task task;

	(void)arg;
	CHECK_EQ(sley_pool_destroy(script.pool), 0);
	sley_spawn(&group, &task, make_again, NULL);
	until_waiting();
	sley_scope_open_until(&scope, in_ms(2));
	CHECK_EQ(open_scripted(&pool), -ECANCELED);
	(void)!sley_scope_close(&scope);
	CHECK(!pool);
	sley_event_set(&script.go_on);
	sley_join(&group);
	/* The maker was not disturbed. */
	CHECK_EQ(open_scripted(&pool), 0);
	sley_pool_close(pool);
}

TEST_WORKERS(an_opener_need_not_wait_for_the_maker_for_ever)
{
	struct sley *rt = begin();

	script.create = wait_to_go_on;
	run_task(open_with_deadline, NULL);
	finish(rt);
}

/* ---- calls that would wait for their caller -------------------------------------------- */

/* What would wait for a method of container 0, and what would not. */
static int control_own(struct sley_pool *own)
{
	CHECK_EQ(sley_container_drain_until(own, 0, SLEY_FOREVER), -EDEADLK);
	CHECK_EQ(sley_pool_flush_until(own, SLEY_FOREVER), -EDEADLK);
	CHECK_EQ(sley_pool_destroy(own), -EDEADLK);
	CHECK_EQ(sley_router_destroy(script.router), -EDEADLK);
	CHECK_EQ(sley_container_drain_until(own, 1, SLEY_FOREVER), 0);
	CHECK_EQ(sley_container_open(own, 1), 0);
	return 7;
}

static void call_in_task(void *arg)
{
	struct sley_request request;

	(void)arg;
	/* On the stack of the caller, and in a task of its own. */
	CHECK_EQ(call_method(), 7);
	CHECK_EQ(sley_submit(script.pool, &request,
			     SLEY_REQUEST(.query = sley_query_id(0),
					  .enqueue = true)),
		 0);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(sley_request_code(&request), 7);
	/* And afterwards the task is in no method. */
	CHECK_EQ(drain(0), 0);
	CHECK_EQ(sley_container_open(script.pool, 0), 0);
}

TEST_WORKERS(a_method_cannot_wait_for_itself)
{
	struct sley *rt = begin();

	script.method = control_own;
	CHECK_EQ(call_method(), 7);
	run_task(call_in_task, NULL);
	finish(rt);
}

/* The method of "own" calls a method of a second pool, which controls "own". */
static int pass_on(struct sley_pool *own)
{
	struct sley_pool *second;
	int code;

	if (own != script.pool)
		return control_own(script.pool);
	CHECK_EQ(sley_pool_open(script.router, &second, "second",
				SLEY_POOL_OPTIONS(.module = "scripted")),
		 0);
	code = sley_pool_call(second, SLEY_REQUEST(.method = 0), NULL);
	sley_pool_close(second);
	return code;
}

static void call_through(void *arg)
{
	(void)arg;
	CHECK_EQ(call_method(), 7);
}

TEST_WORKERS(a_method_that_a_method_calls_cannot_wait_for_the_caller)
{
	struct sley *rt = begin();

	script.method = pass_on;
	run_task(call_through, NULL);
	finish(rt);
}

static int open_own(const struct sley_container_info *info)
{
	struct sley_pool *pool;

	CHECK_STR(info->pool, "own");
	CHECK_EQ(open_scripted(&pool), -EDEADLK);
	return 0;
}

static int control_own_upgrade(const struct sley_container_info *info)
{
	(void)info;
	CHECK_EQ(drain(0), -EDEADLK);
	CHECK_EQ(sley_container_open(script.pool, 0), -EBUSY);
	CHECK_EQ(sley_pool_flush_until(script.pool, SLEY_FOREVER), -EDEADLK);
	CHECK_EQ(sley_pool_destroy(script.pool), -EDEADLK);
	CHECK_EQ(sley_container_drain_until(script.pool, 1, SLEY_FOREVER), 0);
	return sley_container_open(script.pool, 1);
}

static void make_and_upgrade(void *arg)
{
	struct sley_pool *pool;

	(void)arg;
	CHECK_EQ(sley_pool_destroy(script.pool), 0);
	sley_pool_close(script.pool);
	script.create = open_own;
	CHECK_EQ(open_scripted(&script.pool), 0);
	script.create = NULL;
	script.upgrade = control_own_upgrade;
	CHECK_EQ(drain(0), 0);
	CHECK_EQ(sley_container_upgrade(script.pool, 0, &newer), 0);
	CHECK_EQ(open_scripted(&pool), 0);
	sley_pool_close(pool);
}

TEST_WORKERS(create_and_upgrade_cannot_wait_for_themselves)
{
	struct sley *rt = begin();

	run_task(make_and_upgrade, NULL);
	make_and_upgrade(NULL); /* and of a plain thread */
	finish(rt);
}
