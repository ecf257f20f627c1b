/* SPDX-License-Identifier: MIT */
/*
 * route_container.c - src/route/container.c with pool.c and request.c: a request for a
 * container that is shut enters when the container opens, or ends with the deadline,
 * the cancel or the pool; the keeper of a container is alone in it; a pool that has
 * ended may be freed.
 *
 * Methods read the state of their container, which its keeper writes: plain memory.
 *
 * Complete for a request that waits, against a keeper, an opener or the end of the
 * pool, with a deadline or a cancel; for a keeper that drains against the end of the
 * pool; for a forgotten request against the end of the pool.  Up to two preemptions for
 * a keeper that loses patience while the pool ends.  The models could miss mistakes that
 * take two keepers beside the end, or three containers.
 */
#include "route_scene.h"

static struct ledger {
	int entered, gone, gave_up; /* requests */
	int kept, came_late;        /* drains   */
} ledger;

static struct sley_container *only(void)
{
	return &pool->container[0];
}

static void setup_with(enum tasks_flags flags)
{
	route_setup(1, flags);
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
}

static void setup(void)
{
	setup_with(0);
}

static void setup_drained_with(enum tasks_flags flags)
{
	setup_with(flags);
	MODEL_CHECK(sley_container_drain_until(pool, 0, SLEY_FOREVER) == 0);
}

static void setup_drained(void)
{
	setup_drained_with(0);
}

static void setup_drained_timed(void)
{
	setup_drained_with(TASKS_TIMED);
}

/* The request of thread 0 is counted by the pool already. */
static void setup_waiting(void)
{
	setup_drained();
	MODEL_CHECK(door_enter(&pool->waiting));
}

/* The request of thread 0 is inside. */
static void setup_inside_with(enum tasks_flags flags)
{
	setup_with(flags);
	MODEL_CHECK(door_enter(&only()->door));
}

static void setup_inside(void)
{
	setup_inside_with(0);
}

static void setup_inside_timed(void)
{
	setup_inside_with(TASKS_TIMED);
}

/* ---- a request ------------------------------------------------------------------ */

static void use_and_leave(void)
{
	route_ledger.inside[0]++;
	model_access(&route_state[0]);
	MODEL_CHECK(route_state[0] >= 0);
	MODEL_CHECK(only()->module->version >= 1);
	route_ledger.inside[0]--;
	door_leave(&only()->door);
}

static int enter_until(int id, uint64_t deadline_ns)
{
	int err;

	task_begin(id);
	err = container_enter_until(only(), deadline_ns);
	if (!err)
		use_and_leave();
	ledger.entered += err == 0;
	ledger.gone += err == -ENOENT;
	ledger.gave_up += err == -ETIMEDOUT || err == -ECANCELED;
	return err;
}

static void enter(int id)
{
	MODEL_CHECK(enter_until(id, SLEY_FOREVER) == 0);
}

static void enter_soon(int id)
{
	(void)enter_until(id, LATER);
}

static void enter_or_end(int id)
{
	(void)enter_until(id, SLEY_FOREVER);
}

/* As a request that the pool counts, and that no caller waits for. */
static void enter_and_forget(int id)
{
	(void)enter_until(id, SLEY_FOREVER);
	door_leave(&pool->waiting);
}

static void leave(int id)
{
	task_begin(id);
	use_and_leave();
}

/*
 * A whole request, by a plain thread: the container takes it, or the pool is at its
 * end.
 */
static void submit_and_run(int id)
{
	struct sley_request *request = model_alloc(sizeof(*request));

	request_fill(request, SLEY_REQUEST(.method = 0), 0);
	request->container = only();
	MODEL_CHECK(request_send(router, request) == 0);
	if (!sley_request_is_done(request))
		route_run(id, 0);
	ledger.entered += sley_request_code(request) == 0;
	ledger.gone += sley_request_code(request) == -ENOENT;
	model_free(request);
}

/* In setup: a forgotten request is queued. */
static void setup_forgotten(void)
{
	struct sley_request *request;

	setup();
	request = model_alloc(sizeof(*request));
	request_fill(request, SLEY_REQUEST(.method = 0), REQUEST_FREED);
	request->container = only();
	MODEL_CHECK(request_send(router, request) == 0);
}

static void setup_gone(void)
{
	setup();
	pool_end(pool);
}

/* The threads are bound: all have the number behind the last worker, and one count. */
static void setup_gone_for_bound(void)
{
	setup_gone();
	for (uint32_t i = 0; i < TASKS_MAX; i++)
		task_threads[i].worker.index = router->nr_workers;
}

static void submit_bound(int id)
{
	task_begin(id);
	submit_and_run(id);
}

static void run(int id)
{
	task_begin(id);
	route_run(id, 0);
	ledger.entered += route_ledger.ran;
}

/* ---- the keepers ------------------------------------------------------------------- */

static void open_it(int id)
{
	task_begin(id);
	MODEL_CHECK(sley_container_open(pool, 0) == 0);
}

static int upgrade(void **self, uint32_t from,
		   const struct sley_container_info *info)
{
	(void)from;
	(void)info;
	route_change(*self);
	return 0;
}

static const struct sley_module newer = {
	SLEY_MODULE_HEAD("module"), .version = 2,
	.methods = route_methods,   .nr_methods = 1,
	.create = route_create,     .destroy = route_change,
	.upgrade = upgrade,
};

/* Drains the container, upgrades and opens it; unless there is no time. */
static void keep_until(int id, uint64_t deadline_ns)
{
	int err;

	task_begin(id);
	err = sley_container_drain_until(pool, 0, deadline_ns);
	if (err) {
		MODEL_CHECK(err == -ENOENT || err == -ETIMEDOUT ||
			    err == -EALREADY);
		ledger.came_late += err == -EALREADY;
		return;
	}
	ledger.kept++;
	err = sley_container_upgrade(pool, 0, &newer);
	MODEL_CHECK(err == 0 || err == -ENOENT ||
		    (err == -EINVAL && ledger.kept > 1));
	err = sley_container_open(pool, 0);
	MODEL_CHECK(err == 0 || err == -ENOENT);
}

static int refuse_upgrade(void **self, uint32_t from,
			  const struct sley_container_info *info)
{
	(void)self;
	(void)from;
	(void)info;
	return -EIO;
}

static const struct sley_module refusing = {
	SLEY_MODULE_HEAD("module"), .version = 2,
	.methods = route_methods,   .nr_methods = 1,
	.create = route_create,     .destroy = route_change,
	.upgrade = refuse_upgrade,
};

/* The same with a module that cannot take the state over. */
static void keep_and_fail(int id)
{
	task_begin(id);
	MODEL_CHECK(sley_container_drain_until(pool, 0, SLEY_FOREVER) == 0);
	MODEL_CHECK(sley_container_upgrade(pool, 0, &refusing) == -EIO);
	MODEL_CHECK(sley_container_open(pool, 0) == 0);
}

/* The container has a keeper already. */
static int upgrade_twice(void **self, uint32_t from,
			 const struct sley_container_info *info)
{
	MODEL_CHECK(sley_container_upgrade(pool, 0, &newer) == -EBUSY);
	MODEL_CHECK(sley_container_open(pool, 0) == -EBUSY);
	return upgrade(self, from, info);
}

static const struct sley_module twice = {
	SLEY_MODULE_HEAD("module"), .version = 2,
	.methods = route_methods,   .nr_methods = 1,
	.create = route_create,     .destroy = route_change,
	.upgrade = upgrade_twice,
};

static void upgrade_is_refused(int err)
{
	MODEL_CHECK(sley_container_upgrade(pool, 0, &newer) == err);
	MODEL_CHECK(only()->module == &route_module && !route_state[0]);
}

static void costs_are_known(const struct method_cost *cost, bool known)
{
	/* relaxed: written by this thread. */
	MODEL_CHECK(!load_relaxed(&cost->wall) == !known);
	MODEL_CHECK(!load_relaxed(&cost->busy) == !known);
	MODEL_CHECK(!load_relaxed(&cost->nr_runs) == !known);
}

/* One keeper, and no other thread: what is refused leaves nothing behind. */
static void try_all_upgrades(int id)
{
	struct method_cost *cost = &only()->costs[0];
	int isolated;

	task_begin(id);
	upgrade_is_refused(-EINVAL); /* it is open */
	MODEL_CHECK(sley_container_drain_until(pool, 0, SLEY_FOREVER) == 0);
	pool->isolation = (struct isolation *)(void *)&isolated;
	upgrade_is_refused(-EOPNOTSUPP);
	pool->isolation = NULL;
	cost_learn(cost, COST_LEARN_ALL, 1, 1000, false);
	costs_are_known(cost, true);
	MODEL_CHECK(sley_container_upgrade(pool, 0, &twice) == 0);
	costs_are_known(cost, false);
	MODEL_CHECK(sley_container_open(pool, 0) == 0);
	/* It is inside no more. */
	MODEL_CHECK(sley_container_drain_until(pool, 0, SLEY_FOREVER) == 0);
	/* Waits for whoever the pool has counted, and for nobody else. */
	pool_end(pool);
	MODEL_CHECK(sley_container_upgrade(pool, 0, &newer) == -ENOENT);
	ledger.kept++;
}

static void keep(int id)
{
	keep_until(id, SLEY_FOREVER);
}

static void keep_soon(int id)
{
	keep_until(id, LATER);
}

static void end_pool(int id)
{
	task_begin(id);
	pool_end(pool);
}

static void end_and_free(int id)
{
	end_pool(id);
	route_free();
}

static void cancel_first(int id)
{
	task_begin(id);
	task_end_wait(0);
}

/* ---- at the end ---------------------------------------------------------------------- */

static void it_ended_once(void)
{
	MODEL_CHECK(ledger.entered + ledger.gone + ledger.gave_up == 1);
	MODEL_CHECK(!route_ledger.inside[0]);
}

static void check_open(void)
{
	MODEL_CHECK(only()->door.word == 0);
	MODEL_CHECK(only()->phase == CONTAINER_OPEN);
	MODEL_CHECK(sley_event_is_set(&only()->opened));
	MODEL_CHECK(!only()->opened.q.first);
	route_free();
}

static void it_is_open(void)
{
	it_ended_once();
	check_open();
}

static void it_was_kept_by_one_at_a_time(void)
{
	MODEL_CHECK(ledger.kept + ledger.came_late == 2);
	MODEL_CHECK(route_state[0] == 1 && only()->module->version == 2);
	check_open();
}

static void it_is_kept_or_open(void)
{
	MODEL_CHECK(route_state[0] == ledger.kept);
	check_open();
}

static void it_entered(void)
{
	MODEL_CHECK(ledger.entered == 1);
	it_is_open();
}

/* With the methods and the state of the old module. */
static void it_entered_the_old_module(void)
{
	MODEL_CHECK(only()->module == &route_module && only()->version == 1);
	MODEL_CHECK(route_state[0] == 0);
	it_entered();
}

static void it_ended_with_the_pool(void)
{
	it_ended_once();
	MODEL_CHECK(only()->door.word == DOOR_SHUT);
	MODEL_CHECK(pool->waiting.word == DOOR_SHUT);
	route_free();
}

static void it_found_the_pool_gone(void)
{
	MODEL_CHECK(ledger.gone == 1);
	it_ended_with_the_pool();
}

static void both_were_counted(void)
{
	MODEL_CHECK(ledger.gone == 2);
	MODEL_CHECK(route_count(COUNT_SUBMITTED) == 2);
	MODEL_CHECK(route_count(COUNT_COMPLETED) == 2);
	route_free();
}

static void the_pool_ended(void)
{
	MODEL_CHECK(only()->door.word == DOOR_SHUT);
	MODEL_CHECK(only()->phase == CONTAINER_GONE);
	MODEL_CHECK(route_state[0] == 1 + ledger.kept ||
		    route_state[0] == ledger.kept);
	route_free();
}

static void all_is_gone(void)
{
	MODEL_CHECK(!pool);
	it_ended_once();
}

MODEL(a_request_enters_when_the_container_opens, .setup = setup_drained,
      .threads = { enter, open_it }, .finish = it_entered);
MODEL(a_request_comes_while_the_container_is_upgraded, .setup = setup,
      .threads = { enter, keep }, .finish = it_entered);
MODEL(a_request_comes_while_an_upgrade_is_refused, .setup = setup,
      .threads = { enter, keep_and_fail }, .finish = it_entered_the_old_module);
MODEL(a_keeper_tries_all_upgrades, .setup = setup,
      .threads = { try_all_upgrades }, .finish = the_pool_ended);
MODEL(a_second_keeper_comes, .setup = setup, .threads = { keep, keep },
      .finish = it_was_kept_by_one_at_a_time);
MODEL(a_keeper_and_the_end_of_the_pool, .setup = setup,
      .threads = { keep, end_pool }, .finish = the_pool_ended);
MODEL(a_keeper_loses_patience, .setup = setup_inside_timed,
      .threads = { leave, keep_soon }, .finish = it_is_kept_or_open);
MODEL(a_request_comes_while_a_keeper_loses_patience,
      .setup = setup_inside_timed, .threads = { leave, keep_soon, enter },
      .finish = it_entered);
MODEL(a_request_gives_up_at_its_deadline, .setup = setup_drained_timed,
      .threads = { enter_soon, open_it }, .finish = it_is_open);
MODEL(a_request_that_waits_is_cancelled, .setup = setup_drained,
      .threads = { enter_or_end, open_it, cancel_first }, .finish = it_is_open);
MODEL(a_request_that_waits_ends_with_its_pool, .setup = setup_waiting,
      .threads = { enter_and_forget, end_and_free }, .finish = all_is_gone);
MODEL(a_request_comes_while_its_pool_ends, .setup = setup,
      .threads = { submit_and_run, end_pool },
      .finish = it_ended_with_the_pool);
MODEL(a_request_waits_for_a_container_while_its_pool_ends,
      .setup = setup_drained, .threads = { submit_and_run, end_pool },
      .finish = it_found_the_pool_gone);
MODEL(two_plain_threads_find_the_pool_gone, .setup = setup_gone,
      .threads = { submit_and_run, submit_and_run },
      .finish = both_were_counted);
MODEL(two_bound_threads_find_the_pool_gone, .setup = setup_gone_for_bound,
      .threads = { submit_bound, submit_bound }, .finish = both_were_counted);
MODEL(a_pool_waits_for_a_forgotten_request, .setup = setup_forgotten,
      .threads = { run, end_and_free }, .finish = all_is_gone);
MODEL(a_pool_ends_while_a_keeper_drains, .setup = setup_inside,
      .threads = { leave, keep, end_pool }, .slow_modes = MODEL_TSO | MODEL_RA,
      .finish = the_pool_ended);
MODEL(a_pool_ends_while_a_keeper_loses_patience, .setup = setup_inside_timed,
      .threads = { leave, keep_soon, end_pool }, .bound = 2, .slow = true,
      .finish = the_pool_ended);
