/* SPDX-License-Identifier: MIT */
/*
 * additions.c - what Chimaera has added later, and what stands for it here: C53.  Answers
 * that are dropped are in neighbour_end.c.
 */
#include "conformance/route/routing.h"

#define MANY 20000 /* far beyond the ring of a worker */

/* ---- without a task ------------------------------------------------------------------- */

static void submit_short(void *arg)
{
	struct routing *r = arg;
	uint64_t spawned = stats_of(r->rt).spawned;
	struct place place = { 0 };
	struct sley_request request;

	for (int i = 0; i < 100; i++) {
		CHECK_EQ(sley_submit(r->pool, &request,
				     SLEY_REQUEST(.method = PROBE_SHORT,
						  .out = &place,
						  .out_size = sizeof(place))),
			 0);
		/* Before anything else has run. */
		CHECK_EQ(sley_request_code(&request), 0);
		CHECK_EQ(place.worker, sley_worker());
	}
	CHECK_EQ(stats_of(r->rt).spawned, spawned);
	CHECK_EQ(router_stats(r->router).inlined, 100);
}

TEST_WORKERS(c53_a_short_method_needs_no_task)
{
	struct routing r = routing_start(1, "none");

	run_task(submit_short, &r);
	routing_stop(&r);
}

/* ---- lanes that grow -------------------------------------------------------------------- */

static void submit_many(void *arg)
{
	struct routing *r = arg;
	struct sley_request *request = calloc(MANY, sizeof(*request));

	CHECK(request != NULL);
	atomic_store(&probe_counts.begun, 0);
	/* All for one worker; none of them begins on the stack of this task. */
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(sley_submit(r->pool, &request[i],
				     SLEY_REQUEST(.method = PROBE_COUNT,
						  .enqueue = true)),
			 0);
	for (int i = 0; i < MANY; i++) {
		CHECK_EQ(sley_request_wait(&request[i]), 0);
		CHECK_EQ(sley_request_code(&request[i]), 0);
	}
	CHECK_EQ(atomic_load(&probe_counts.begun), MANY);
	free(request);
}

TEST_WORKERS(c53_no_submitter_waits_for_room_in_a_lane)
{
	struct routing r = routing_start(1, "default");

	run_task(submit_many, &r);
	submit_many(&r); /* from outside */
	routing_stop(&r);
}

/* ---- the right waiter --------------------------------------------------------------------- */

struct waiter {
	struct sley_request request;
	struct sley_event event, *in;
	atomic_bool has_ended;
	struct sley_task task;
};

static void wait_for_own(void *arg)
{
	struct waiter *waiter = arg;

	CHECK_EQ(sley_request_wait(&waiter->request), 0);
	CHECK_EQ(sley_request_code(&waiter->request), 0);
	atomic_store(&waiter->has_ended, true);
}

/* Each ends in its turn, the last one first, and wakes its own waiter alone. */
static void end_in_turn(void *arg)
{
	enum { NR = 8 };
	struct routing *r = arg;
	struct waiter *waiter = calloc(NR, sizeof(*waiter));
	struct sley_group group = SLEY_GROUP_INIT;

	CHECK(waiter != NULL);
	for (int i = 0; i < NR; i++) {
		waiter[i].in = &waiter[i].event;
		submit_waiter(r->pool, &waiter[i].request, &waiter[i].in, 0);
		sley_spawn(&group, &waiter[i].task, wait_for_own, &waiter[i]);
	}
	for (int i = NR; i-- > 0;) {
		sley_event_set(&waiter[i].event);
		while (!atomic_load(&waiter[i].has_ended))
			sley_yield();
		for (int k = 0; k < i; k++)
			CHECK(!atomic_load(&waiter[k].has_ended));
	}
	sley_join(&group);
	free(waiter);
}

TEST_WORKERS(c53_a_waiter_is_woken_by_its_own_request)
{
	struct routing r = routing_start(1, "default");

	run_task(end_in_turn, &r);
	routing_stop(&r);
}
