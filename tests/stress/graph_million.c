/* SPDX-License-Identifier: MIT */
/*
 * graph_million.c - a million nodes, with everything that can go wrong, and nothing is
 * left of them: no place, no byte of the arena, no scope, no memory.
 *
 * Tasks, threads and nodes submit to one graph: with edges, ranges that overlap,
 * buffers, gangs and workers they want; to scopes within scopes, and to runs.  Nodes
 * fail, block and submit more.  Nodes, scopes and the graph are cancelled.  Deadlines
 * pass while there is no room.  Where the build can do that, memory is missing now and
 * then.
 *
 * Each node has a record.  It ran once, or it was skipped and ran never; what the
 * graph says of it is the same.  A round ends with a look at the inside of the graph,
 * when all is over, and with a few nodes that must end well as if nothing had been.
 *
 * $STRESS_MS of 1000 and more is a million nodes: "make prove".
 */
#include "conformance/graph/graph.h"
#include "stress/graph_records.h"

#include <sley/graph_run.h>
#include <stdio.h>

#include "graph/node/graph.h"
#include "os/fault.h"

#define NR_MILLION 1000000
#define NR_ROUNDS 10 /* of one graph */
#define NR_EPISODES 4000
#define NR_TASKS 4
#define NR_THREADS 2
#define ARENA (1 << 16)

static struct episode episodes[NR_EPISODES];
static atomic_int nr_episodes;

/* ---- what is said of them ---------------------------------------------------------------- */

static bool has_ended(const struct record *r)
{
	int state = atomic_load(&r->state);

	return state == REFUSED ||
	       (state == SUBMITTED &&
		sley_node_outcome(the_graph, r->id, NULL) != SLEY_OUTCOME_NONE);
}

struct sum {
	int nr_failed, nr_taken_along, nr_cancelled;
};

static void hear(struct record *r, struct sum *sum)
{
	int how = atomic_load(&r->how), nr_runs = atomic_load(&r->nr_runs);
	enum sley_outcome outcome;
	int code;

	r->heard = true;
	if (atomic_load(&r->state) == REFUSED) {
		CHECK_EQ(nr_runs, 0);
		return;
	}
	outcome = sley_node_outcome(the_graph, r->id, &code);
	CHECK_EQ(nr_runs, outcome == SLEY_OUTCOME_SKIPPED ? 0 : 1);
	switch (outcome) {
	case SLEY_OUTCOME_SUCCESS:
		CHECK_EQ(how, WELL);
		COUNT(well);
		return;
	case SLEY_OUTCOME_FAILURE:
		CHECK_EQ(how, FAILED);
		CHECK_EQ(code, -EIO);
		sum->nr_failed++;
		COUNT(failed);
		return;
	default:
		CHECK_EQ(outcome, SLEY_OUTCOME_SKIPPED);
		CHECK(code == -EIO || code == -ECANCELED);
		if (code == -EIO)
			sum->nr_taken_along++;
		else
			sum->nr_cancelled++;
		COUNT(skipped);
	}
}

static int expected(const struct sum *sum)
{
	if (sum->nr_failed || sum->nr_taken_along)
		return -EIO;
	return sum->nr_cancelled ? -ECANCELED : 0;
}

/* ---- scopes and runs ------------------------------------------------------------------- */

static struct episode *new_episode(struct sley_graph_scope *scope)
{
	struct episode *e = &episodes[atomic_fetch_add(&nr_episodes, 1)];

	for (int i = 0; i < NR_EPISODE; i++)
		atomic_store(&e->record[i], NOT_YET);
	atomic_store(&e->nr, 0);
	e->scope = scope;
	e->left = one_in(3);
	return e;
}

static bool are_more_episodes(void)
{
	return atomic_load(&nr_episodes) < NR_EPISODES - 2 * NR_TASKS;
}

static bool is_over(const struct episode *e, int at)
{
	int nr = atomic_load(&e->record[at]);

	return nr == NOBODY || (nr >= 0 && has_ended(&records[nr]));
}

/* Those that are there may add more before they end. */
static void hear_episode(struct episode *e, struct sum *sum)
{
	for (int i = 0; i < NR_EPISODE && i < atomic_load(&e->nr); i++) {
		while (!is_over(e, i))
			(void)!sley_sleep(100 * SLEY_USEC);
		if (atomic_load(&e->record[i]) != NOBODY)
			hear(&records[atomic_load(&e->record[i])], sum);
	}
}

static void close_scope(struct sley_graph_scope *scope)
{
	atomic_fetch_add(&nr_careful, 1); /* it drops buffers */
	sley_graph_scope_end(scope);
	atomic_fetch_sub(&nr_careful, 1);
}

static void fill(struct episode *e)
{
	int nr = 1 + (int)test_random(30);

	for (int i = 0; i < nr; i++) {
		if (one_in(8))
			pass_buffer(e);
		else
			submit_any(e);
	}
	if (one_in(30))
		sley_graph_scope_cancel(e->scope);
}

static void finish(struct episode *e)
{
	struct sum sum = { .nr_failed = 0 };

	if (!e->left) {
		hear_episode(e, &sum);
		CHECK_EQ(sley_graph_scope_wait(e->scope), expected(&sum));
	}
	close_scope(e->scope);
}

static void play_scope(struct sley_graph_scope *outer)
{
	struct sley_graph_scope *scope;
	struct episode *e;
	int err;

	if (!are_more_episodes())
		return;
	err = sley_graph_scope_begin(&scope, the_graph,
				     one_in(2) ? outer : NULL);
	CHECK(!err || err == -ENOMEM);
	if (err)
		return;
	e = new_episode(scope);
	fill(e);
	finish(e);
}

/* One run is built while another one goes on. */
static void play_runs(void)
{
	struct sley_graph_scope *scope;
	struct episode *last = NULL;

	while (atomic_load(&nr_records) < nr_round && are_more_episodes()) {
		int err = sley_graph_run_begin_until(
			&scope, the_graph, one_in(2) ? soon() : SLEY_FOREVER);

		CHECK(!err || err == -EAGAIN || err == -ENOMEM);
		if (!err) {
			struct episode *e = new_episode(scope);

			fill(e);
			while ((err = sley_graph_run_end(scope)) != 0)
				CHECK_EQ(err, -ENOMEM);
			if (last)
				finish(last);
			last = e;
		}
	}
	if (last)
		finish(last);
}

/* ---- those who do it ----------------------------------------------------------------------- */

static void cancel_some(void)
{
	sley_node id = SLEY_NO_NODE;

	if (choose_edges(&id, 1))
		(void)sley_node_cancel(the_graph, id);
	if (one_in(2000))
		sley_graph_cancel(the_graph);
}

static void play_any(void *arg)
{
	struct sley_graph_scope *outer = NULL;

	(void)arg;
	(void)!sley_graph_scope_begin(&outer, the_graph, NULL);
	while (atomic_load(&nr_records) < nr_round) {
		if (one_in(16))
			cancel_some();
		if (one_in(16))
			play_scope(outer);
		else if (one_in(8))
			pass_buffer(NULL);
		else
			submit_any(NULL);
	}
	if (outer)
		sley_graph_scope_end(outer);
}

static void *play_any_as_thread(void *arg)
{
	play_any(arg);
	return NULL;
}

static void play_all(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[NR_TASKS];
	pthread_t threads[NR_THREADS];

	for (int i = 0; i < NR_TASKS; i++)
		sley_spawn(&group, &tasks[i], play_any, NULL);
	for (int i = 0; i < NR_THREADS; i++)
		threads[i] = test_thread(play_any_as_thread, NULL);
	play_runs();
	sley_join(&group);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* ---- nothing is left ------------------------------------------------------------------------ */

static void check_empty(void)
{
	CHECK_EQ(the_graph->store.nr_taken, 0);
	CHECK_EQ(the_graph->store.next, 1);
	CHECK_EQ(the_graph->arena.used, 0);
	CHECK_EQ(the_graph->nr_leaving, 0);
	CHECK_EQ(the_graph->nr_runs, 0);
	CHECK(!the_graph->scopes);
	CHECK(!the_graph->root.failed);
	CHECK(!the_graph->root.buffers);
	CHECK_EQ(the_graph->root.nr_nested, 0);
	CHECK_EQ(the_graph->root.nr_waiting, 0);
	CHECK_EQ(the_graph->nr_failed, 0);
	CHECK_EQ(the_graph->full, 0);
	CHECK_EQ(the_graph->cancelling, 0);
	CHECK_EQ(the_graph->map.ranges.classes, 0);
	for (uint32_t i = 0; i < the_graph->nr_share; i++)
		CHECK_EQ(the_graph->share[i].nr, 0);
}

/* As if nothing had been. */
static void check_clean(void)
{
	struct sley_graph_scope *run;
	atomic_int count = 0;

	CHECK_EQ(sley_graph_run_begin(&run, the_graph), 0);
	for (int i = 0; i < 20; i++) {
		struct sley_access access = SLEY_INOUT(cells);

		CHECK_EQ(sley_graph_submit(
				 the_graph, NULL,
				 SLEY_NODE_SPEC(.fn = count_up, .arg = &count,
						.scope = i % 2 ? run : NULL,
						.access = &access,
						.nr_access = 1)),
			 0);
	}
	CHECK_EQ(sley_graph_run_end(run), 0);
	CHECK_EQ(sley_graph_scope_wait(run), 0);
	sley_graph_scope_end(run);
	CHECK_EQ(sley_graph_wait(the_graph), 0);
	CHECK_EQ(count, 20);
	check_empty();
}

static void play_round(void)
{
	struct sum sum = { .nr_failed = 0 };

	memset(records, 0, sizeof(records));
	atomic_store(&nr_records, 0);
	atomic_store(&nr_episodes, 0);
	records_begin_faults();
	play_all();
	records_end_faults();
	for (int i = 0; i < nr_round; i++) {
		while (!has_ended(&records[i]))
			test_nap_ms(1);
		if (!records[i].heard)
			hear(&records[i], &sum);
	}
	CHECK_EQ(sley_graph_wait(the_graph), expected(&sum));
	check_empty();
	check_clean();
	CHECK_EQ(books.submitted, books.well + books.failed + books.skipped);
}

static void play_graph(long nr)
{
	static const uint32_t sizes[] = { 2, 64, 512, 2048, 16384 };
	uint32_t max_nodes = sizes[test_random(ARRAY_SIZE(sizes))];

	CHECK_EQ(sley_graph_create(&the_graph,
				   SLEY_GRAPH_OPTIONS(.max_nodes = max_nodes,
						      .arena_bytes = ARENA)),
		 0);
	/* If all of them fail, none is forgotten before it was asked for. */
	nr_round = (int)the_graph->max_failed;
	if (nr_round > NR_RECORDS)
		nr_round = NR_RECORDS;
	for (int i = 0; i < NR_ROUNDS && books.submitted < nr; i++)
		play_round();
	sley_graph_destroy(the_graph);
}

/* What was allocated is counted by the fixture. */
static int64_t mapped_bytes(void)
{
#ifdef SLEY_FAULTS
	return fault_mapped();
#else
	return 0;
#endif
}

static void play(const struct sley_config *config, long nr)
{
	int64_t mapped = mapped_bytes();
	struct sley *rt = start_with(config);

	test_timeout(60 + (unsigned int)(nr / 5000));
	while (atomic_load(&books.submitted) < nr)
		play_graph(nr);
	printf("%lld submitted: %lld well, %lld failed, %lld skipped; %lld "
	       "refused, %lld buffers, %lld times no memory\n",
	       books.submitted, books.well, books.failed, books.skipped,
	       books.refused, books.buffers, books.faults);
	stop(rt);
	CHECK_EQ(mapped_bytes(), mapped);
}

static int how_many(void)
{
	return test_scale(STRESS_MS >= 1000 ? NR_MILLION
					    : (int)STRESS_MS * 100);
}

TEST(a_million_nodes_leave_nothing_behind)
{
	struct sley_config config = stress_config();

	play(&config, how_many());
}

TEST(a_million_nodes_leave_nothing_behind_without_membarrier)
{
	struct sley_config config = stress_config_no_membarrier();

	play(&config, how_many() / 10);
}

TEST(a_million_nodes_leave_nothing_behind_where_fibers_move)
{
	struct sley_config config = stress_config_migratable();

	play(&config, how_many() / 10);
}
