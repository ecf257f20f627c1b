/* SPDX-License-Identifier: MIT */
/*
 * route_neighbour.c - src/route/neighbour.c with request.c and pool.c: a request that is
 * out completes exactly once, by its answer, its deadline, its cancel or the end of its
 * pool; an answer that comes too late, or twice, touches nothing; a change of the
 * neighbour is not missed; a pool that ends leaves no request behind.
 *
 * The request is freed as soon as its task is done with it, so an answer that writes there
 * later is an error of the model; the answer is plain memory.
 *
 * Complete for a request that is out, against two answers, an answer and a deadline, an
 * answer and a cancel, an answer and the end of the pool; for a request whose machine
 * cannot be reached, against a change; for a request that leaves, or waits for a machine,
 * against the end of the pool.  Up to two preemptions for a whole request against the
 * whole end.  The models could miss mistakes that take two requests at a time: then
 * the table grows.
 */
#include "route/neighbour.c"

#include "route_scene.h"

static struct out {
	struct sley_request request;
	uint32_t answer;
} * out;
static struct ticket ticket;
static struct place *place;
static uint32_t is_reachable;
static struct ledger {
	int taken, strays; /* answers  */
	int code;
	bool is_done;
} ledger;

/* ---- the neighbour ----------------------------------------------------------------- */

static uint64_t scene_owner(void *self, const char *name, uint32_t container)
{
	(void)self;
	(void)name;
	(void)container;
	return 1;
}

/* Without the table, as a part of neighbour_answer(). */
static void give(struct ticket with)
{
	uint32_t word = 7;
	bool taken = accept(place, with.generation, 0, &word, sizeof(word));

	ledger.taken += taken;
	ledger.strays += !taken;
}

/* The answer comes with send(). */
static int scene_send(void *self, const struct parcel *parcel)
{
	(void)self;
	/* relaxed: neighbour_changed() publishes it. */
	if (!load_relaxed(&is_reachable))
		return -EHOSTUNREACH;
	give(parcel->ticket);
	return 0;
}

static const struct neighbour_ops scene_ops = {
	.owner = scene_owner,
	.send = scene_send,
};

/* ---- setting up -------------------------------------------------------------------- */

static void setup_with(enum tasks_flags flags, uint64_t deadline_ns)
{
	route_setup(1, flags);
	task_runtime.cancelled = 0;
	ledger = (struct ledger){ .code = 1 };
	model_ledger(&ledger, sizeof(ledger));
	is_reachable = 1;
	MODEL_CHECK(neighbour_start(router, &scene_ops, NULL) == 0);
	router->network_worker = SLEY_NO_WORKER;
	out = model_alloc(sizeof(*out));
	model_lock_word(&out->request.done.done.q.word);
	request_fill(&out->request,
		     SLEY_REQUEST(.query = sley_query_physical(1),
				  .deadline_ns = deadline_ns,
				  .out = &out->answer,
				  .out_size = sizeof(out->answer)),
		     0);
	out->request.container = &pool->container[0];
	model_lock_word(&router->neighbour->lock.q.word);
	model_name(&router->neighbour->lock.q.word, "table");
}

/* The place is there already. */
static void take(void)
{
	MODEL_CHECK(!place_take(router->neighbour, &out->request, &place));
	model_lock_word(&place->told.q.word);
	model_lock_word(&place->lock.q.word);
	model_name(&place->told.q.word, "told");
	model_name(&place->lock.q.word, "place");
}

static void setup_out_with(enum tasks_flags flags, uint64_t deadline_ns)
{
	setup_with(flags, deadline_ns);
	take();
	MODEL_CHECK(!begin(place, &ticket));
}

static void setup_out(void)
{
	setup_out_with(0, 0);
}

static void setup_out_timed(void)
{
	setup_out_with(TASKS_TIMED, LATER);
}

/* The machine cannot be reached, so far. */
static void setup_unreachable(void)
{
	setup_with(0, 0);
	is_reachable = 0;
	take();
}

static void setup_taken(void)
{
	setup_with(0, 0);
	take();
}

/* All tasks of the runtime are cancelled. */
static void setup_cancelled(void)
{
	setup_taken();
	task_runtime.cancelled = 1;
}

static void setup_free(void)
{
	setup_with(0, 0);
	take();
	place_put(router->neighbour, place);
}

static void setup_free_unreachable(void)
{
	setup_free();
	is_reachable = 0;
}

/* The whole request is queued. */
static void setup_queued(void)
{
	setup_free();
	MODEL_CHECK(!request_send_elsewhere(router, &out->request));
}

/* ---- the parties ------------------------------------------------------------------- */

static void is_done(int code)
{
	MODEL_CHECK(!ledger.is_done);
	MODEL_CHECK(code || out->answer == 7);
	ledger.is_done = true;
	ledger.code = code;
	model_free(out);
	out = NULL;
}

/* The rest of neighbour_run(), for a request that is out. */
static void wait_for_answer(int id)
{
	int code;

	task_begin(id);
	code = await_answer(router->neighbour, place, ticket);
	place_put(router->neighbour, place);
	is_done(code);
}

/* The same for a request that has its place, and goes. */
static void leave(void)
{
	bool again = true;
	int code = 1;

	while (again)
		code = carry(router->neighbour, place, SLEY_FOREVER, &again);
	place_put(router->neighbour, place);
	is_done(code);
}

static void go(int id)
{
	task_begin(id);
	leave();
}

/* The cancel comes when the request has its place, and before it goes. */
static void go_cancelled(int id)
{
	task_begin(id);
	request_cancel_task(&out->request);
	leave();
}

static void run_neighbour(int id)
{
	task_begin(id);
	is_done(neighbour_run(&out->request));
}

static void run_all(int id)
{
	task_begin(id);
	route_run(id, 0);
	is_done(out->request.code);
}

static void answer(int id)
{
	task_begin(id);
	give(ticket);
}

/* The whole of neighbour_answer(): the first answer is no stray, the second is. */
static void answer_twice(int id)
{
	uint32_t word = 7;

	task_begin(id);
	MODEL_CHECK(neighbour_answer(router, ticket, 0, &word, sizeof(word)) ==
		    0);
	ledger.taken++;
	MODEL_CHECK(neighbour_answer(router, ticket, 0, &word, sizeof(word)) ==
		    -ESTALE);
}

/* With a ticket that never was. */
static void answer_nothing(int id)
{
	struct ticket none = { .place = 1, .generation = 1 };

	(void)id;
	MODEL_CHECK(neighbour_answer(router, none, 0, NULL, 0) == -ESTALE);
}

static void change(int id)
{
	task_begin(id);
	/* relaxed: published by the next line. */
	store_relaxed(&is_reachable, 1);
	tell_of_change(place);
}

static void cancel_first(int id)
{
	task_begin(id);
	task_end_wait(0);
}

static void end_requests(int id)
{
	task_begin(id);
	end_place(place, pool);
}

/* What pool_end() begins with. */
static void condemn(int id)
{
	task_begin(id);
	sley_mutex_lock(&pool->lock);
	container_condemn(&pool->container[0]);
	sley_mutex_unlock(&pool->lock);
	neighbour_end_pool(pool);
}

static void end_pool(int id)
{
	task_begin(id);
	pool_end(pool);
}

/* ---- at the end -------------------------------------------------------------------- */

static void all_is_free(void)
{
	MODEL_CHECK(ledger.is_done);
	MODEL_CHECK(!place->request && place->phase == PLACE_FREE);
	neighbour_end(router);
	route_free();
}

static void one_answer_was_taken(void)
{
	MODEL_CHECK(ledger.code == 0 && ledger.taken == 1);
	all_is_free();
}

static void the_second_was_counted(void)
{
	MODEL_CHECK(neighbour_nr_strays(router) == 1);
	one_answer_was_taken();
}

static void strays_were_counted(void)
{
	MODEL_CHECK(neighbour_nr_strays(router) == 2);
	place_put(router->neighbour, place);
	model_free(out);
	neighbour_end(router);
	route_free();
}

static void it_was_answered_or(int code)
{
	MODEL_CHECK(ledger.code == (ledger.taken ? 0 : code));
	all_is_free();
}

static void it_was_answered_or_late(void)
{
	it_was_answered_or(-ETIMEDOUT);
}

static void it_was_answered_or_cancelled(void)
{
	it_was_answered_or(-ECANCELED);
}

static void it_was_answered_or_ended(void)
{
	it_was_answered_or(-ENOENT);
}

static void it_arrived(void)
{
	MODEL_CHECK(ledger.code == 0 && ledger.taken == 1);
	all_is_free();
}

static void it_arrived_or_ended(void)
{
	MODEL_CHECK(ledger.code == (ledger.taken ? 0 : -ENOENT));
	all_is_free();
}

static void it_ended(void)
{
	MODEL_CHECK(ledger.code == -ENOENT && !ledger.taken);
	all_is_free();
}

static void it_never_left(void)
{
	MODEL_CHECK(ledger.code == -ECANCELED && !ledger.taken);
	all_is_free();
}

MODEL(a_cancelled_request_does_not_leave, .setup = setup_taken,
      .threads = { go_cancelled }, .finish = it_never_left);
MODEL(no_request_of_a_cancelled_runtime_leaves, .setup = setup_cancelled,
      .threads = { go }, .finish = it_never_left);
MODEL(a_second_answer_is_a_stray, .setup = setup_out,
      .threads = { wait_for_answer, answer, answer },
      .finish = one_answer_was_taken);
MODEL(the_second_of_two_answers_is_counted, .setup = setup_out,
      .threads = { wait_for_answer, answer_twice },
      .finish = the_second_was_counted);
MODEL(strays_are_counted, .setup = setup_out,
      .threads = { answer_nothing, answer_nothing },
      .finish = strays_were_counted);
MODEL(an_answer_and_a_deadline, .setup = setup_out_timed,
      .threads = { wait_for_answer, answer },
      .finish = it_was_answered_or_late);
MODEL(an_answer_and_a_cancel, .setup = setup_out,
      .threads = { wait_for_answer, answer, cancel_first },
      .finish = it_was_answered_or_cancelled);
MODEL(an_answer_and_the_end_of_the_pool, .setup = setup_out,
      .threads = { wait_for_answer, answer, end_requests },
      .finish = it_was_answered_or_ended);
MODEL(a_change_is_not_missed, .setup = setup_unreachable,
      .threads = { go, change }, .finish = it_arrived);
MODEL(a_request_leaves_while_its_pool_ends, .setup = setup_free,
      .threads = { run_neighbour, condemn }, .slow_modes = MODEL_TSO | MODEL_RA,
      .finish = it_arrived_or_ended);
MODEL(a_request_that_waits_for_a_machine_ends_with_its_pool,
      .setup = setup_free_unreachable, .threads = { run_neighbour, condemn },
      .slow_modes = MODEL_TSO | MODEL_RA, .finish = it_ended);
MODEL(a_whole_request_and_the_end_of_its_pool, .setup = setup_queued,
      .threads = { run_all, end_pool }, .bound = 2,
      .finish = it_arrived_or_ended);
