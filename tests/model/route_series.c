/* SPDX-License-Identifier: MIT */
/*
 * route_series.c - src/route/series.c: the alarm, a canceller, the destroyer of the pool
 * and the keeper of the container meet at a periodic request; it completes once, and no
 * thread touches what is freed.
 *
 * Thread 0 is the worker of the request: it runs the turns, until the request is complete.
 * The task is pinned there, so the wakers put it into the home list of the worker.
 * Another thread fires the timers of the worker, as the monitor does.  A task that no waker
 * wakes is a deadlock; a task that two wake is found twice in the list, or is run when it
 * is complete.  The series is freed at its end.
 *
 * Complete for one series, which rests or is about to run: the alarm against a canceller;
 * the alarm against the destroyer; two enders; a canceller, the destroyer or a keeper
 * against a turn that ends; a cancel that comes too late; a series that begins while
 * its pool ends.  Not seen: a run that is sent on to another worker (it is a turn more,
 * and the queues are in core_place.c); the times, which a unit of virtual time would make
 * many.
 */
#include "route_scene.h"

#include "route/series.h"

#define PERIOD 1000

static struct sley_request *request, *other;
static struct ledger {
	int ran, ended, kept;
	int code;
} ledger;

static struct worker *worker_of(int id)
{
	return &task_threads[id].worker;
}

/* ---- the scene ------------------------------------------------------------------ */

static void begin_series_of(struct sley_request *fresh)
{
	request_fill(fresh, SLEY_REQUEST(.method = 0), 0);
	fresh->container = &pool->container[0];
	MODEL_CHECK(series_send(router, fresh, PERIOD) == 0);
	route_to = SLEY_NO_WORKER; /* all runs stay with their worker */
}

static void begin_series(void)
{
	begin_series_of(request);
}

static void setup_without(void)
{
	route_setup(1, TASKS_TIMED);
	route_task_flags = TASK_PINNED;
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	other = NULL;
	request = model_alloc(sizeof(*request));
	model_lock_word(&request->lock);
	model_lock_word(&request->done.done.q.word);
	model_name(&request->lock, "request.lock");
	model_name(&request->task.state, "request.state");
	model_name(&request->task.flags, "request.flags");
}

/* The first run is queued. */
static void setup_queued(void)
{
	setup_without();
	begin_series();
}

static void turn(struct worker *worker, struct sley_task *task)
{
	int ran = route_ledger.ran;

	(void)task_claim(task);
	task->fn(task);
	task->fiber = NULL;
	MODEL_CHECK(!turns_of(task)->after(worker, task));
	ledger.ran += route_ledger.ran - ran;
}

static void run_first(void)
{
	sley__self.worker = worker_of(0);
	turn(worker_of(0), route_queue[0]);
	sley__self.worker = NULL;
}

/* The first run is over. */
static void setup_resting(void)
{
	setup_queued();
	run_first();
	MODEL_CHECK(timers_pending(&worker_of(0)->timers) == 1);
	MODEL_CHECK(ledger.ran == 1);
}

/* The same of two requests. */
static void setup_two_resting(void)
{
	setup_resting();
	other = model_alloc(sizeof(*other));
	model_lock_word(&other->lock);
	model_lock_word(&other->done.done.q.word);
	route_to = TASKS_MAX - 1;
	begin_series_of(other);
	run_first();
	MODEL_CHECK(timers_pending(&worker_of(0)->timers) == 2);
}

static void setup_with_method(const struct sley_module *module)
{
	setup_without();
	pool->container[0].module = module;
	begin_series();
}

/* The method returns a code that ends the series. */
static int fail(void *self, struct sley_request *ran)
{
	(void)self;
	(void)ran;
	return -EIO;
}

static void setup_failing(void)
{
	static const struct sley_method method = { .name = "fail",
						   .run = fail };
	static const struct sley_module module = {
		SLEY_MODULE_HEAD("module"),
		.methods = &method,
		.nr_methods = 1,
	};

	setup_with_method(&module);
}

/* The worker has heard that all tasks are cancelled, before the task parks. */
static int hear_of_cancel(void *self, struct sley_request *ran)
{
	(void)self;
	(void)ran;
	task_runtime.cancelled = 1;
	timers_cancel(&worker_of(0)->timers);
	return 0;
}

static void setup_cancelling(void)
{
	static const struct sley_method method = { .name = "cancel",
						   .run = hear_of_cancel };
	static const struct sley_module module = {
		SLEY_MODULE_HEAD("module"),
		.methods = &method,
		.nr_methods = 1,
	};

	setup_with_method(&module);
}

/* ---- the worker ------------------------------------------------------------------- */

static struct sley_task *await_task(struct worker *worker)
{
	struct levels *ready = &worker->ready;

	for (;;) {
		place_arrivals(worker);
		if (ready->bitmap)
			return levels_take(
				ready, (unsigned int)bits_first(ready->bitmap));
		spin_hint(&worker->home.head);
	}
}

static void run_turns(struct worker *worker)
{
	while (!sley_request_is_done(request) ||
	       (other && !sley_request_is_done(other)))
		turn(worker, await_task(worker));
	ledger.ended++;
	ledger.code = sley_request_code(request);
}

static void work(int id)
{
	task_begin(id);
	run_turns(worker_of(id));
}

static void work_from_first(int id)
{
	task_begin(id);
	turn(worker_of(id), load_acquire(&route_queue[0]));
	run_turns(worker_of(id));
}

/*
 * A plain thread submits, and then is the worker.  Or the request is complete at once, since
 * the pool is at its end.
 */
static void submit_and_work(int id)
{
	begin_series();
	task_begin(id);
	if (!sley_request_is_done(request))
		turn(worker_of(id), load_acquire(&route_queue[0]));
	run_turns(worker_of(id));
}

/* ---- the others -------------------------------------------------------------------- */

static void fire(int id)
{
	(void)id;
	timers_fire(&worker_of(0)->timers, LATER);
}

static void cancel(int id)
{
	(void)id;
	sley_request_cancel(request);
}

static void end_pool(int id)
{
	task_begin(id);
	pool_end(pool);
}

static void keep_and_cancel(int id)
{
	task_begin(id);
	MODEL_CHECK(sley_container_drain_until(pool, 0, SLEY_FOREVER) == 0);
	route_change(&route_state[0]);
	MODEL_CHECK(sley_container_open(pool, 0) == 0);
	sley_request_cancel(request);
}

/* As sley_cancel_all() and the look of the worker do. */
static void cancel_all_and_work(int id)
{
	task_begin(id);
	task_runtime.cancelled = 1;
	timers_cancel(&worker_of(id)->timers);
	run_turns(worker_of(id));
}

/* ---- at the end ---------------------------------------------------------------------- */

static void it_ended_once(void)
{
	MODEL_CHECK(ledger.ended == 1);
	MODEL_CHECK(!request->series);
	MODEL_CHECK(list_empty(&pool->series.list));
	MODEL_CHECK(pool->series.door.word < DOOR_ONE);
	MODEL_CHECK(pool->container[0].door.word < DOOR_ONE);
	MODEL_CHECK(!timers_pending(&worker_of(0)->timers));
	MODEL_CHECK(route_count(COUNT_SUBMITTED) == (other ? 2 : 1));
	MODEL_CHECK(route_count(COUNT_COMPLETED) == (other ? 2 : 1));
	MODEL_CHECK(!route_ledger.inside[0]);
	task_runtime.cancelled = 0;
	model_free(request);
	if (other)
		model_free(other);
	route_free();
}

static void it_was_cancelled(void)
{
	MODEL_CHECK(ledger.code == -ECANCELED);
	it_ended_once();
}

static void it_ended_with_the_pool(void)
{
	MODEL_CHECK(ledger.code == -ENOENT);
	it_ended_once();
}

static void it_ended_one_way(void)
{
	MODEL_CHECK(ledger.code == -ENOENT || ledger.code == -ECANCELED);
	it_ended_once();
}

static void both_ended_with_the_pool(void)
{
	MODEL_CHECK(sley_request_code(other) == -ENOENT);
	it_ended_with_the_pool();
}

static void it_failed(void)
{
	MODEL_CHECK(ledger.code == -EIO);
	it_ended_once();
}

static void it_failed_or_was_cancelled(void)
{
	MODEL_CHECK(ledger.code == -EIO || ledger.code == -ECANCELED);
	it_ended_once();
}

MODEL(an_alarm_rings_while_the_request_is_cancelled, .setup = setup_resting,
      .threads = { work, fire, cancel }, .finish = it_was_cancelled);
MODEL(an_alarm_rings_while_the_pool_ends, .setup = setup_resting,
      .threads = { work, fire, end_pool }, .finish = it_ended_with_the_pool);
MODEL(two_end_a_request_that_rests, .setup = setup_resting,
      .threads = { work, cancel, end_pool }, .finish = it_ended_one_way);
MODEL(two_cancel_a_request_that_rests, .setup = setup_resting,
      .threads = { work, cancel, cancel }, .finish = it_was_cancelled);
MODEL(a_turn_ends_while_the_request_is_cancelled, .setup = setup_queued,
      .threads = { work_from_first, cancel }, .finish = it_was_cancelled);
MODEL(a_turn_ends_while_the_pool_ends, .setup = setup_queued,
      .threads = { work_from_first, end_pool },
      .finish = it_ended_with_the_pool);
MODEL(a_turn_and_a_keeper, .setup = setup_queued,
      .threads = { work_from_first, keep_and_cancel },
      .finish = it_was_cancelled);
MODEL(a_ring_and_a_keeper, .setup = setup_resting,
      .threads = { work, keep_and_cancel, fire }, .finish = it_was_cancelled);
MODEL(a_cancel_comes_when_the_series_is_over, .setup = setup_failing,
      .threads = { work_from_first, cancel },
      .finish = it_failed_or_was_cancelled);
MODEL(a_method_ends_its_series, .setup = setup_failing,
      .threads = { work_from_first, fire }, .finish = it_failed);
MODEL(a_pool_ends_two_series, .setup = setup_two_resting,
      .threads = { work, end_pool }, .finish = both_ended_with_the_pool);
MODEL(a_series_begins_while_its_pool_ends, .setup = setup_without,
      .threads = { submit_and_work, end_pool },
      .finish = it_ended_with_the_pool);
MODEL(the_runtime_is_cancelled_while_an_alarm_rings, .setup = setup_resting,
      .threads = { cancel_all_and_work, fire }, .finish = it_was_cancelled);
MODEL(the_runtime_is_cancelled_during_a_run, .setup = setup_cancelling,
      .threads = { work_from_first }, .finish = it_was_cancelled);
