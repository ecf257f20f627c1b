/* SPDX-License-Identifier: MIT */
/*
 * route_parts.c - src/route/parts.c with request.c and pool.c: a request that runs in
 * two containers completes exactly once, after both parts, with both answers; parts
 * are not touched after they are freed; a pool that ends waits for the whole request,
 * also if no caller does.
 *
 * The waiter reads the answer, which is plain memory, and frees the request at once,
 * where no canceller needs it.
 *
 * Complete for two parts and their submitter; for the last part against two
 * cancellers; for a submitter against a canceller; for the last part, or the submitter,
 * against the end of the pool.  The cancellers meet parts that do not wait: task_cancel()
 * has its own models (core_task_state.c, core_waitq.c).  The models could miss mistakes
 * that take three parts.
 */
#include "route_scene.h"

static struct sley_request *origin;
static uint32_t answer;

static void fill(uint32_t flags)
{
	bool is_forgotten = flags & REQUEST_FREED;

	request_fill(origin,
		     SLEY_REQUEST(.out = is_forgotten ? NULL : &answer,
				  .out_size = is_forgotten ? 0
							   : sizeof(answer)),
		     flags);
}

static void setup_with(uint32_t flags)
{
	route_setup(2, 0);
	answer = 0;
	origin = model_alloc(sizeof(*origin));
	model_lock_word(&origin->done.done.q.word);
	model_name(&origin->holds, "holds");
	model_name(&origin->parts, "parts");
	fill(flags);
}

static void setup(void)
{
	setup_with(0);
}

static void setup_forgotten(void)
{
	setup_with(REQUEST_FREED);
}

static void send(void)
{
	MODEL_CHECK(parts_send(router, pool, origin, 0, 2) == 0);
}

/* The first part is complete. */
static void setup_last(void)
{
	setup();
	send();
	route_run(0, 0);
}

static void setup_sent(void)
{
	setup();
	send();
}

static void setup_gone(void)
{
	setup();
	pool_end(pool);
}

static void setup_last_forgotten(void)
{
	setup_forgotten();
	send();
	route_run(0, 0);
}

/* The second container is drained: its part waits. */
static void setup_waiting(void)
{
	setup();
	MODEL_CHECK(sley_container_drain_until(pool, 1, SLEY_FOREVER) == 0);
	send();
	route_run(0, 0);
}

/* ---- the parties ------------------------------------------------------------------ */

static void submit(int id)
{
	task_begin(id);
	send();
}

static void submit_and_wait(int id)
{
	task_begin(id);
	send();
	MODEL_CHECK(sley_future_wait(&origin->done) == 0);
	MODEL_CHECK(sley_request_code(origin) == 0 && answer == 12);
	model_free(origin);
	origin = NULL;
}

static void submit_and_run(int id)
{
	submit(id);
	route_run(id, 0);
	route_run(id, 1);
}

static void run_both(int id)
{
	task_begin(id);
	route_run(id, 0);
	route_run(id, 1);
}

/* Thread 1 runs the part of container 0, thread 2 that of container 1. */
static void run_part(int id)
{
	task_begin(id);
	route_run(id, (uint32_t)id - 1);
}

static void run_last(int id)
{
	task_begin(id);
	route_run(id, 1);
}

/* The cancel comes before the parts begin. */
static void cancel_and_run(int id)
{
	task_begin(id);
	sley_request_cancel(origin);
	route_run(id, 0);
	route_run(id, 1);
}

/* As a method that cancels its own request, which is a part. */
static void cancel_part_and_run(int id)
{
	task_begin(id);
	sley_request_cancel(
		container_of(route_queue[1], struct sley_request, task));
	route_run(id, 0);
	route_run(id, 1);
}

static void cancel(int id)
{
	task_begin(id);
	sley_request_cancel(origin);
}

static void open_second(int id)
{
	task_begin(id);
	MODEL_CHECK(sley_container_open(pool, 1) == 0);
}

static void end_pool(int id)
{
	task_begin(id);
	pool_end(pool);
	route_free();
}

/* ---- at the end --------------------------------------------------------------------- */

static void it_is_complete_once(void)
{
	MODEL_CHECK(route_count(COUNT_SUBMITTED) == 3);
	MODEL_CHECK(route_count(COUNT_COMPLETED) == 3);
	route_free();
}

static void it_was_waited_for(void)
{
	MODEL_CHECK(!origin && route_ledger.ran == 2);
	it_is_complete_once();
}

static void it_was_cancelled_or_not(void)
{
	int code = sley_request_code(origin);

	MODEL_CHECK(code == 0 || code == -ECANCELED);
	MODEL_CHECK(code || (route_ledger.ran == 2 && answer == 12));
	model_free(origin);
	it_is_complete_once();
}

static void it_was_cancelled(void)
{
	MODEL_CHECK(sley_request_code(origin) == -ECANCELED);
	MODEL_CHECK(route_ledger.ran == 0);
	it_was_cancelled_or_not();
}

static void one_part_was_cancelled(void)
{
	MODEL_CHECK(sley_request_code(origin) == -ECANCELED);
	MODEL_CHECK(route_ledger.ran == 1);
	it_was_cancelled_or_not();
}

static void the_pool_was_gone(void)
{
	MODEL_CHECK(sley_request_code(origin) == -ENOENT);
	MODEL_CHECK(pool->waiting.word == DOOR_SHUT);
	MODEL_CHECK(route_count(COUNT_SUBMITTED) == 1);
	MODEL_CHECK(route_count(COUNT_COMPLETED) == 1);
	model_free(origin);
	route_free();
}

static void it_was_forgotten(void)
{
	MODEL_CHECK(route_ledger.ran == 2);
	it_is_complete_once();
}

static void all_is_gone(void)
{
	MODEL_CHECK(!router && route_ledger.ran == 2);
}

MODEL(the_last_of_two_parts_completes_the_request, .setup = setup,
      .threads = { submit_and_wait, run_part, run_part },
      .finish = it_was_waited_for);
MODEL(a_request_that_no_caller_waits_for_is_freed, .setup = setup_forgotten,
      .threads = { submit, run_both }, .finish = it_was_forgotten);
MODEL(a_cancel_reaches_all_parts, .setup = setup_sent,
      .threads = { cancel_and_run }, .finish = it_was_cancelled);
MODEL(a_part_is_cancelled_alone, .setup = setup_sent,
      .threads = { cancel_part_and_run }, .finish = one_part_was_cancelled);
MODEL(a_pool_that_is_gone_takes_no_parts, .setup = setup_gone,
      .threads = { submit }, .finish = the_pool_was_gone);
MODEL(the_last_part_and_two_cancellers, .setup = setup_last,
      .threads = { run_last, cancel, cancel },
      .finish = it_was_cancelled_or_not);
MODEL(a_canceller_comes_while_the_parts_are_sent, .setup = setup,
      .threads = { submit_and_run, cancel }, .slow_modes = MODEL_TSO,
      .finish = it_was_cancelled_or_not);
MODEL(a_part_that_enters_late_is_cancelled, .setup = setup_waiting,
      .threads = { run_last, open_second, cancel },
      .finish = it_was_cancelled_or_not);
MODEL(a_pool_waits_for_the_parts_of_a_forgotten_request,
      .setup = setup_last_forgotten, .threads = { run_last, end_pool },
      .finish = all_is_gone);
