/* SPDX-License-Identifier: MIT */
/*
 * graph_stress.c - several submit to one graph at once, which is full all the time:
 * nodes with edges to recent ones, that fail, are cancelled, block, and submit more.
 *
 * Each node has a record, from before it is submitted until the graph begins anew.
 * When it runs it looks at those it came behind: they have ended, and those it needs
 * have ended well.  In the end each record is complete: it ran once, or it was
 * skipped, and then for a reason: it was cancelled, or one it needs was not well.
 */
#include "stress/stress.h"

#include <sley/error.h>

#define NR_NODES 400 /* of one play */
#define NR_BEFORE 12 /* more than a node has edges of its own */
#define NR_TASKS 4
#define NR_THREADS 2
#define MAX_NODES 24

enum { NEW, RUNNING, WELL, FAILED };

struct record {
	atomic_uint_least64_t id; /* 0: not submitted */
	atomic_int state;
	atomic_int nr_runs;
	atomic_bool cancelled;
	uint32_t nr_after, nr_order;
	int after[NR_BEFORE], order[NR_BEFORE]; /* records */
};

static struct record records[NR_NODES];
static atomic_int nr_records;  /* begun                            */
static atomic_int all_skipped; /* sley_graph_cancel() was called   */
static struct sley_graph *graph;
static uint32_t nr_classes; /* of it */

static bool has_ended(const struct record *r)
{
	uint64_t id = atomic_load(&r->id);

	return sley_node_outcome(graph, id, NULL) != SLEY_OUTCOME_NONE;
}

/* ---- a node --------------------------------------------------------------------- */

static int submit_record(void);

static void check_before(const struct record *r)
{
	for (uint32_t i = 0; i < r->nr_after; i++)
		CHECK_EQ(atomic_load(&records[r->after[i]].state), WELL);
	for (uint32_t i = 0; i < r->nr_order; i++)
		CHECK(has_ended(&records[r->order[i]]));
}

static int run_record(void *arg)
{
	struct record *r = *(struct record **)arg;
	bool fails = one_in(30);

	CHECK_EQ(atomic_fetch_add(&r->nr_runs, 1), 0);
	atomic_store(&r->state, RUNNING);
	check_before(r);
	dawdle();
	if (one_in(8))
		(void)submit_record();
	test_count(1);
	atomic_store(&r->state, fails ? FAILED : WELL);
	return fails ? -EIO : 0;
}

/* ---- who submits ------------------------------------------------------------------- */

/* A record that has an id, not far behind @nr; or -1. */
static int recent(int nr)
{
	int back = 1 + (int)test_random(16);

	return nr >= back && atomic_load(&records[nr - back].id) ? nr - back
								 : -1;
}

static uint32_t choose(int nr, int *chosen, sley_node *ids, uint32_t max)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < max; i++) {
		int before = recent(nr);

		if (before < 0)
			continue;
		chosen[found] = before;
		ids[found++] = atomic_load(&records[before].id);
	}
	return found;
}

/* 0, -ENOENT: that was enough, or why it was not added. */
static int submit_record(void)
{
	int nr = atomic_fetch_add(&nr_records, 1), err;
	sley_node after[NR_BEFORE], order[NR_BEFORE], id;
	struct record *r;

	if (nr >= NR_NODES)
		return -ENOENT;
	r = &records[nr];
	r->nr_after = choose(nr, r->after, after,
			     one_in(6) ? NR_BEFORE : (uint32_t)test_random(3));
	r->nr_order = choose(nr, r->order, order, (uint32_t)test_random(3));
	err = sley_graph_submit_until(
		graph, &id,
		SLEY_NODE_SPEC(.fn = run_record, .arg = &r,
			       .arg_size = sizeof(r), .after = after,
			       .nr_after = r->nr_after, .order = order,
			       .nr_order = r->nr_order,
			       .priority = one_in(8) ? -1 : 0,
			       .worker_class =
				       (uint32_t)test_random(nr_classes + 1)),
		one_in(8) ? soon() : SLEY_FOREVER);
	CHECK(!err || err == -EAGAIN);
	if (!err)
		atomic_store(&r->id, id);
	return err;
}

static void cancel_some(void)
{
	int nr = atomic_load(&nr_records);
	struct record *r;

	if (nr > NR_NODES)
		nr = NR_NODES;
	r = &records[test_random((uint64_t)nr + 1) % NR_NODES];
	if (atomic_load(&r->id)) {
		/* Before it is done: it may be skipped at once. */
		atomic_store(&r->cancelled, true);
		(void)sley_node_cancel(graph, atomic_load(&r->id));
	}
	if (one_in(200)) {
		atomic_store(&all_skipped, 1);
		sley_graph_cancel(graph);
	}
}

/* Somebody who does everything there is to do from outside. */
static void submit_many(void *arg)
{
	int err;

	(void)arg;
	do {
		err = submit_record();
		if (one_in(16))
			cancel_some();
	} while (err != -ENOENT);
}

static void *submit_many_as_thread(void *arg)
{
	submit_many(arg);
	return NULL;
}

/* ---- the books ------------------------------------------------------------------------- */

static bool has_reason(const struct record *r)
{
	if (atomic_load(&r->cancelled) || atomic_load(&all_skipped))
		return true;
	for (uint32_t i = 0; i < r->nr_after; i++) {
		if (atomic_load(&records[r->after[i]].state) != WELL)
			return true;
	}
	return false;
}

static void check_record(const struct record *r)
{
	enum sley_outcome outcome;
	int code, state = atomic_load(&r->state);

	if (!atomic_load(&r->id)) {
		CHECK_EQ(atomic_load(&r->nr_runs), 0);
		return;
	}
	outcome = sley_node_outcome(graph, atomic_load(&r->id), &code);
	CHECK_NE(outcome, SLEY_OUTCOME_NONE);
	CHECK_EQ(outcome == SLEY_OUTCOME_SUCCESS, state == WELL);
	CHECK_EQ(outcome == SLEY_OUTCOME_FAILURE, state == FAILED);
	CHECK_EQ(outcome == SLEY_OUTCOME_SKIPPED, state == NEW);
	if (state == NEW)
		CHECK(has_reason(r));
	/* One that is behind a failure does not run. */
	for (uint32_t i = 0; i < r->nr_after && state != NEW; i++)
		CHECK_EQ(atomic_load(&records[r->after[i]].state), WELL);
}

/* All have ended, and nobody has waited yet, so that nothing is forgotten. */
static void check_records(void)
{
	for (int i = 0; i < NR_NODES; i++) {
		while (atomic_load(&records[i].id) && !has_ended(&records[i]))
			test_nap_ms(1);
	}
	for (int i = 0; i < NR_NODES; i++)
		check_record(&records[i]);
}

/* ---- all at once -------------------------------------------------------------------------- */

static void begin(void)
{
	memset(records, 0, sizeof(records));
	atomic_store(&nr_records, 0);
	atomic_store(&all_skipped, 0);
}

static void end(void)
{
	bool well = true;
	int err;

	check_records();
	for (int i = 0; i < NR_NODES; i++)
		well &= !atomic_load(&records[i].id) ||
			atomic_load(&records[i].state) == WELL;
	err = sley_graph_wait(graph);
	CHECK_EQ(!err, well);
	CHECK(!err || err == -EIO || err == -ECANCELED);
	CHECK_EQ(sley_graph_wait_until(graph, 0), 0);
}

static void play_rounds(int rounds)
{
	static const uint64_t even = 0x5555555555555555ull;
	static const struct sley_worker_class classes[] = {
		{ .name = "even", .workers = &even, .nr_words = 1 },
		{ .name = "all" },
	};
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[NR_TASKS];
	pthread_t threads[NR_THREADS];

	CHECK_EQ(sley_graph_create(
			 &graph, SLEY_GRAPH_OPTIONS(.max_nodes = MAX_NODES,
						    .classes = classes,
						    .nr_classes = nr_classes)),
		 0);
	for (int round = 0; round < rounds; round++) {
		begin();
		for (int i = 0; i < NR_TASKS; i++)
			sley_spawn(&group, &tasks[i], submit_many, NULL);
		for (int i = 0; i < NR_THREADS; i++)
			threads[i] = test_thread(submit_many_as_thread, NULL);
		sley_join(&group);
		for (int i = 0; i < NR_THREADS; i++)
			pthread_join(threads[i], NULL);
		end();
	}
	sley_graph_destroy(graph);
}

static void play(void)
{
	nr_classes = 0;
	play_rounds(3);
}

STRESS(graphs_in_a_storm_keep_their_order, play);

/* The end of each is the end of its classes, too. */
static void play_classes(void)
{
	nr_classes = 2;
	for (int i = 0; i < 3; i++)
		play_rounds(1);
}

STRESS(classes_in_a_storm_lose_no_node, play_classes);

/* ---- with those who wait ---------------------------------------------------------------------- */

static atomic_int nr_counted, nr_submitted;

static int count_one(void *arg)
{
	(void)arg;
	dawdle();
	atomic_fetch_add(&nr_counted, 1);
	return 0;
}

/* What was submitted before the wait has ended when it is over. */
static void submit_and_wait(void *arg)
{
	(void)arg;
	for (int i = 0; i < 50; i++) {
		uint64_t deadline_ns = one_in(2) ? soon() : SLEY_FOREVER;
		int before, err;

		CHECK_EQ(sley_graph_submit(graph, NULL,
					   SLEY_NODE_SPEC(.fn = count_one)),
			 0);
		before = atomic_fetch_add(&nr_submitted, 1) + 1;
		if (!one_in(4))
			continue;
		err = sley_graph_wait_until(graph, deadline_ns);
		CHECK(!err ||
		      (err == -ETIMEDOUT && deadline_ns != SLEY_FOREVER));
		if (!err)
			CHECK_GE(atomic_load(&nr_counted), before);
	}
	test_count(50);
}

static void *submit_and_wait_as_thread(void *arg)
{
	submit_and_wait(arg);
	return NULL;
}

static void play_waits(void)
{
	atomic_store(&nr_counted, 0);
	atomic_store(&nr_submitted, 0);
	CHECK_EQ(sley_graph_create(
			 &graph,
			 SLEY_GRAPH_OPTIONS(.max_nodes = one_in(2) ? 2 : 2000)),
		 0);
	run_beside(submit_and_wait, submit_and_wait_as_thread, NULL);
	sley_graph_destroy(graph);
	CHECK_EQ(atomic_load(&nr_counted), 12 * 50);
}

STRESS(graphs_are_waited_for_while_they_grow, play_waits);
