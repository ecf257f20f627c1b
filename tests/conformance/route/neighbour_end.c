/* SPDX-License-Identifier: MIT */
/*
 * neighbour_end.c - how requests end that are on other machines: C15, C24, C53, R-C14.
 */
#include "conformance/route/fake_neighbour.h"

#include <pthread.h>
#include <sched.h>
#include <sley/error.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- time ----------------------------------------------------------------------------- */

TEST_WORKERS(c15_a_query_without_patience_tries_once)
{
	struct scene scene = scene_start(1, UNREACHABLE);
	struct sley_query query = sley_query_physical(3);
	char out[MOST + 1];
	uint64_t from_ns = sley_now();

	CHECK_EQ(ask(scene.pool, sley_query_within(query, 0), out),
		 -EHOSTUNREACH);
	CHECK_EQ(atomic_load(&fake.nr_sent), 1);
	CHECK_EQ(ask(scene.pool, sley_query_within(query, 20), out),
		 -EHOSTUNREACH);
	CHECK_GE(sley_now(), from_ns + 20 * SLEY_MSEC);
	/* The deadline of the request comes first. */
	CHECK_EQ(sley_pool_call(
			 scene.pool,
			 SLEY_REQUEST(.query = sley_query_within(query, 60000),
				      .deadline_ns = in_ms(20)),
			 NULL),
		 -ETIMEDOUT);
	atomic_store(&fake.mood, REFUSES);
	CHECK_EQ(ask(scene.pool, query, out), -E2BIG);
	scene_stop(&scene);
}

static void wait_for_a_machine(void *arg)
{
	struct scene *scene = arg;
	struct out *out = send_out(scene->pool, sley_query_physical(3), 0);

	neighbour_changed(scene->router); /* not for the better */
	await_sent(2);
	CHECK_EQ(sley_request_code(&out->request), -EINPROGRESS);
	atomic_store(&fake.mood, ANSWERS);
	neighbour_changed(scene->router);
	CHECK_EQ(end_out(out), 0);
	CHECK_EQ(atomic_load(&fake.nr_sent), 3);
	/* A ticket is good for one try. */
	CHECK_EQ(answer(&fake.sent[0]), -ESTALE);
}

TEST_WORKERS(c15_a_query_waits_for_its_machine_without_limit)
{
	struct scene scene = scene_start(1, UNREACHABLE);

	run_task(wait_for_a_machine, &scene);
	scene_stop(&scene);
}

static void miss_the_deadline(void *arg)
{
	struct scene *scene = arg;
	struct out *out;

	/* On a busy machine the deadline may pass before anything is sent. */
	for (unsigned int ms = 10; !atomic_load(&fake.nr_sent); ms *= 2) {
		uint64_t deadline_ns = in_ms(ms);

		out = send_out(scene->pool, sley_query_physical(1),
			       deadline_ns);
		CHECK_EQ(end_out(out), -ETIMEDOUT);
		CHECK_GE(sley_now(), deadline_ns);
	}
	CHECK_EQ(atomic_load(&fake.nr_dropped), 1);
	CHECK_EQ(fake.dropped.generation, fake.sent[0].ticket.generation);
	answer_in_vain();
	/* The next request has the same place, and another ticket. */
	out = send_out(scene->pool, sley_query_physical(1), 0);
	CHECK_EQ(fake.sent[1].ticket.place, fake.sent[0].ticket.place);
	CHECK_EQ(answer(&fake.sent[0]), -ESTALE);
	CHECK_EQ(sley_request_code(&out->request), -EINPROGRESS);
	CHECK_EQ(answer(&fake.sent[1]), 0);
	CHECK_EQ(end_out(out), 0);
}

TEST_WORKERS(c24_an_answer_after_the_deadline_touches_nothing)
{
	struct scene scene = scene_start(1, KEEPS);

	run_task(miss_the_deadline, &scene);
	/* A deadline that has passed: nothing is sent. */
	CHECK_EQ(sley_pool_call(scene.pool,
				SLEY_REQUEST(.query = sley_query_physical(1),
					     .deadline_ns = 1),
				NULL),
		 -ETIMEDOUT);
	CHECK_EQ(atomic_load(&fake.nr_sent), 2);
	scene_stop(&scene);
}

static void answer_twice(void *arg)
{
	struct scene *scene = arg;
	struct out *out = send_out(scene->pool, sley_query_physical(1), 0);
	struct ticket none = fake.sent[0].ticket;

	none.place = 77;
	CHECK_EQ(neighbour_answer(scene->router, none, 0, NULL, 0), -ESTALE);
	CHECK_EQ(neighbour_answer(scene->router, fake.sent[0].ticket, -EIO,
				  "no", 2),
		 0);
	answer_in_vain();
	CHECK_EQ(end_out(out), -EIO);
	answer_in_vain();
	CHECK_EQ(neighbour_nr_strays(scene->router), 3);
	out = send_out(scene->pool, sley_query_physical(1), 0);
	CHECK_EQ(neighbour_answer(scene->router, fake.sent[1].ticket, 0,
				  "too long", 8),
		 0);
	CHECK_EQ(end_out(out), -EMSGSIZE);
}

TEST_WORKERS(c24_a_second_answer_is_refused_and_counted)
{
	struct scene scene = scene_start(1, KEEPS);

	run_task(answer_twice, &scene);
	scene_stop(&scene);
}

/* The neighbour of a child of fork() knows requests that are the parent's. */
TEST_WORKERS(a_child_of_fork_cannot_answer_for_its_parent)
{
	struct scene scene;
	struct ticket none = { .place = 0, .generation = 1 };
	int status;
	pid_t pid;

	if (test_sanitizer() || test_emulated())
		test_skip("fork() with threads");
	scene = scene_start(1, KEEPS);
	pid = fork();
	CHECK_GE(pid, 0);
	if (pid == 0) {
		alarm(20);
		CHECK_EQ(neighbour_answer(scene.router, none, 0, NULL, 0),
			 SLEY_EFORKED);
		neighbour_changed(scene.router);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	scene_stop(&scene);
}

static void cancel_one_that_is_out(void *arg)
{
	struct scene *scene = arg;
	struct out *out = send_out(scene->pool, sley_query_physical(1), 0);

	sley_request_cancel(&out->request);
	CHECK_EQ(end_out(out), -ECANCELED);
	answer_in_vain();
	atomic_store(&fake.mood, UNREACHABLE);
	out = send_out(scene->pool, sley_query_physical(1), 0);
	sley_request_cancel(&out->request);
	CHECK_EQ(end_out(out), -ECANCELED);
	CHECK_EQ(atomic_load(&fake.nr_dropped), 1);
}

TEST_WORKERS(c24_a_request_that_is_out_can_be_cancelled)
{
	struct scene scene = scene_start(1, KEEPS);

	run_task(cancel_one_that_is_out, &scene);
	scene_stop(&scene);
}

/* ---- answers that are dropped -------------------------------------------------------- */

static void drop_many(void *arg)
{
	struct scene *scene = arg;
	struct out *first = send_out(scene->pool, sley_query_physical(1), 0),
		   *next;
	struct ticket old = fake.sent[0].ticket;
	uint64_t bytes;

	CHECK_EQ(answer(&fake.sent[0]), 0);
	CHECK_EQ(end_out(first), 0);
	next = send_out(scene->pool, sley_query_physical(1), 0);
	CHECK_EQ(fake.sent[1].ticket.place, old.place);
	bytes = mem_allocated(&scene->rt->mem);
	for (int i = 0; i < 1000; i++)
		CHECK_EQ(neighbour_answer(scene->router, old, 0, "old", 3),
			 -ESTALE);
	/* Counted, not kept, and not for the next request. */
	CHECK_EQ(neighbour_nr_strays(scene->router), 1000);
	CHECK_EQ(mem_allocated(&scene->rt->mem), bytes);
	CHECK_EQ(sley_request_code(&next->request), -EINPROGRESS);
	CHECK_EQ(answer(&fake.sent[1]), 0);
	CHECK_EQ(end_out(next), 0);
}

TEST_WORKERS(c53_an_answer_that_no_request_waits_for_is_dropped_at_once)
{
	struct scene scene = scene_start(1, KEEPS);

	run_task(drop_many, &scene);
	scene_stop(&scene);
}

/* ---- the end --------------------------------------------------------------------------- */

static void end_pool(void *arg)
{
	struct scene *scene = arg;
	struct out *out = send_out(scene->pool, sley_query_physical(1), 0);
	struct out *waits, *parts;

	parts = send_out(scene->pool, sley_query_broadcast(), 0);
	atomic_store(&fake.mood, UNREACHABLE);
	waits = send_out(scene->pool, sley_query_physical(1), 0);
	CHECK_EQ(sley_pool_destroy(scene->pool), 0);
	CHECK_EQ(end_out(out), -ENOENT);
	CHECK_EQ(end_out(parts), -ENOENT);
	CHECK_EQ(end_out(waits), -ENOENT);
	answer_in_vain();
	CHECK_EQ(sley_pool_call(scene->pool,
				SLEY_REQUEST(.query = sley_query_physical(1)),
				NULL),
		 -ENOENT);
}

TEST_WORKERS(rc14_a_pool_that_ends_does_not_wait_for_other_machines)
{
	struct scene scene = scene_start(2, KEEPS);

	move(1, 1, 1);
	run_task(end_pool, &scene);
	scene_stop(&scene);
}

static void forget(void *arg)
{
	struct scene *scene = arg;

	CHECK_EQ(sley_submit_and_forget(
			 scene->pool,
			 SLEY_REQUEST(.query = sley_query_physical(1),
				      .in = "key", .in_size = 3)),
		 0);
	await_sent(1);
	CHECK_EQ(sley_pool_flush_until(scene->pool, in_ms(5)), -ETIMEDOUT);
}

TEST_WORKERS(rc14_a_router_ends_with_a_request_that_is_out)
{
	struct scene scene = scene_start(1, KEEPS);

	run_task(forget, &scene);
	sley_pool_close(scene.pool);
	CHECK_EQ(sley_router_destroy(scene.router), 0);
	CHECK_EQ(atomic_load(&fake.nr_stopped), 1);
	stop(scene.rt);
}

TEST_WORKERS(a_runtime_that_is_cancelled_waits_for_no_machine)
{
	struct scene scene = scene_start(1, KEEPS);
	struct sley_request request;

	CHECK_EQ(sley_submit(scene.pool, &request,
			     SLEY_REQUEST(.query = sley_query_physical(1))),
		 0);
	sley_cancel_all(scene.rt);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(sley_request_code(&request), -ECANCELED);
	scene_stop(&scene);
}

/* ---- a race ---------------------------------------------------------------------------- */

static atomic_bool is_over;

/* A plain thread answers each parcel, twice, at about the time of its deadline. */
static void *answer_all(void *arg)
{
	int nr = 0;

	(void)arg;
	while (!atomic_load(&is_over) || nr < atomic_load(&fake.nr_sent)) {
		if (nr == atomic_load(&fake.nr_sent)) {
			sched_yield();
			continue;
		}
		(void)!answer(&fake.sent[nr]);
		CHECK_EQ(answer(&fake.sent[nr]), -ESTALE);
		nr++;
	}
	return NULL;
}

static void race_with_deadlines(void *arg)
{
	struct scene *scene = arg;

	for (unsigned int i = 0; i < MOST; i++) {
		struct out *out = calloc(1, sizeof(*out));
		int code;

		CHECK(out != NULL);
		CHECK_EQ(sley_submit(
				 scene->pool, &out->request,
				 SLEY_REQUEST(.query = sley_query_id(0),
					      .out = out->word, .out_size = 4,
					      .deadline_ns = sley_now() +
							     i % 16 * 10000)),
			 0);
		code = end_out(out);
		CHECK(code == 0 || code == -ETIMEDOUT);
	}
}

TEST_WORKERS(c24_answers_and_deadlines_that_come_together)
{
	struct scene scene = scene_start(1, KEEPS);
	pthread_t thread;

	move(0, 1, 1);
	atomic_store(&is_over, false);
	CHECK_EQ(pthread_create(&thread, NULL, answer_all, NULL), 0);
	run_task(race_with_deadlines, &scene);
	atomic_store(&is_over, true);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	scene_stop(&scene);
}
