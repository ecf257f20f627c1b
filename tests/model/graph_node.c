/* SPDX-License-Identifier: MIT */
/*
 * graph_node.c - src/graph/node/submit.c against src/graph/node/node_run.c: a node
 * starts once, when all predecessors have ended, and not before; if a predecessor
 * has failed, the node is skipped, with this predecessor as the cause, and its own
 * successors see that.
 *
 * A foreign thread submits a successor while one or two workers end its
 * predecessors.  The successor runs in finish: its function reads plain memory of the
 * predecessors, so that a missing edge is a race.  The races of the conformance page
 * are named in the models.
 *
 * Complete for one successor of two predecessors, which two workers end, or one
 * worker; for predecessors that fail; and for a successor with an edge that is order
 * only.  Not seen: more than two predecessors (the count is one word, however many
 * change the word), and pages of edges (tests/conformance/graph/graph_race.c).
 */
#include "graph_scene.h"

#define FIRST 1
#define SECOND 2
#define SUCCESSOR 3
#define LAST 4

static void setup_predecessors(unsigned int workers, int first, int second)
{
	scene_setup(workers, 16);
	jobs[FIRST].says = first;
	jobs[SECOND].says = second;
	submit_as(FIRST, 0, 0);
	submit_as(SECOND, 0, 0);
	jobs[SUCCESSOR].before[0] = FIRST;
	jobs[SUCCESSOR].before[1] = SECOND;
}

static void setup(void)
{
	setup_predecessors(2, 0, 0);
}

static void setup_one_worker(void)
{
	setup_predecessors(1, 0, 0);
}

/* The second one has ended already. */
static void setup_half(void)
{
	setup_one_worker();
	run_now(SECOND);
}

static void end_first(int id)
{
	(void)id;
	run_queued(node_index_of(ids[FIRST]));
}

static void end_second(int id)
{
	(void)id;
	run_queued(node_index_of(ids[SECOND]));
}

static void end_both(int id)
{
	end_first(id);
	end_second(id);
}

static void submit_successor(int id)
{
	(void)id;
	submit_as(SUCCESSOR, 2, 0);
}

static void was_queued_once(void)
{
	MODEL_CHECK(scene_ledger.queued[SUCCESSOR] == 1);
	MODEL_CHECK(scene_ledger.ran[FIRST] == 1);
	MODEL_CHECK(scene_ledger.ran[SECOND] == 1);
}

static void runs(void)
{
	was_queued_once();
	run_now(SUCCESSOR);
	MODEL_CHECK(scene_ledger.ran[SUCCESSOR] == 1);
	MODEL_CHECK(sley_graph_wait(graph) == 0);
	scene_end();
}

#define TWO_ENDS(name, ...)                                                    \
	MODEL(name##_with_membarrier, __VA_ARGS__);                            \
	MODEL(name##_without_membarrier, .no_membarrier = true, __VA_ARGS__)

TWO_ENDS(rs4_a_predecessor_ends_while_its_successor_is_wired,
	 .setup = setup_half, .threads = { end_first, submit_successor },
	 .finish = runs);

MODEL(rs5_both_end_one_after_the_other, .setup = setup_one_worker,
      .threads = { end_both, submit_successor }, .finish = runs);

MODEL(rs5_both_end_at_once, .setup = setup,
      .threads = { end_first, end_second, submit_successor }, .finish = runs);

/* ---- both end at once, after the submission --------------------------------------- */

static void setup_wired(void)
{
	setup();
	submit_as(SUCCESSOR, 2, 0);
}

MODEL(the_last_one_starts_it, .setup = setup_wired,
      .threads = { end_first, end_second }, .finish = runs);

/* ---- a worker keeps the successor ------------------------------------------------ */

/* The successor runs at once, on that worker. */
static void setup_kept(void)
{
	setup_wired();
	scene_ledger.keeps = true;
	graph->bulk = 2;
}

static void was_kept(void)
{
	MODEL_CHECK(scene_ledger.queued[SUCCESSOR] == 0);
	MODEL_CHECK(scene_ledger.ran[SUCCESSOR] == 1);
	MODEL_CHECK(sley_graph_wait(graph) == 0);
	scene_end();
}

MODEL(the_last_one_keeps_it, .setup = setup_kept,
      .threads = { end_first, end_second }, .finish = was_kept);

/* ---- one fails ---------------------------------------------------------------------- */

static void setup_first_fails_of_two(void)
{
	setup_predecessors(1, -EIO, 0);
}

/* The second one has ended already. */
static void setup_first_fails(void)
{
	setup_first_fails_of_two();
	run_now(SECOND);
}

static void setup_both_fail(void)
{
	setup_predecessors(2, -EIO, -EPERM);
	submit_as(SUCCESSOR, 2, 0);
	/* Another node needs the successor: the cause is passed on. */
	jobs[LAST].before[0] = SUCCESSOR;
	submit_as(LAST, 1, 0);
}

static int code_of(int job)
{
	int code;

	(void)sley_node_outcome(graph, ids[job], &code);
	return code;
}

static void is_skipped_with(int job, int code)
{
	MODEL_CHECK(scene_ledger.ran[job] == 0);
	MODEL_CHECK(sley_node_outcome(graph, ids[job], NULL) ==
		    SLEY_OUTCOME_SKIPPED);
	MODEL_CHECK(code_of(job) == code);
}

static void skips(void)
{
	was_queued_once();
	run_now(SUCCESSOR);
	is_skipped_with(SUCCESSOR, -EIO);
	MODEL_CHECK(node_at(SUCCESSOR)->failure.cause == node_at(FIRST)->index);
	MODEL_CHECK(sley_graph_wait(graph) == -EIO);
	MODEL_CHECK(sley_node_outcome(graph, ids[SUCCESSOR], NULL) ==
		    SLEY_OUTCOME_SUCCESS); /* forgotten */
	scene_end();
}

TWO_ENDS(rs1_a_predecessor_fails_while_its_successor_is_wired,
	 .setup = setup_first_fails, .threads = { end_first, submit_successor },
	 .finish = skips);

MODEL(rs6_one_fails_and_one_ends_meanwhile, .setup = setup_first_fails_of_two,
      .threads = { end_both, submit_successor }, .finish = skips);

static int nr_remembered(void)
{
	int nr = 0;

	for (const struct node *node = graph->root.failed; node;
	     node = node->next)
		nr++;
	return nr;
}

/* The cause and the code are of the same predecessor. */
static void skips_for_one_of_them(void)
{
	uint32_t cause;

	was_queued_once();
	run_now(SUCCESSOR);
	cause = node_at(SUCCESSOR)->failure.cause;
	MODEL_CHECK(cause == FIRST || cause == SECOND);
	is_skipped_with(SUCCESSOR, cause == FIRST ? -EIO : -EPERM);
	run_now(LAST);
	is_skipped_with(LAST, cause == FIRST ? -EIO : -EPERM);
	MODEL_CHECK(node_at(LAST)->failure.cause == node_at(SUCCESSOR)->index);
	MODEL_CHECK(graph->nr_failed == 4 && nr_remembered() == 4);
	cause = graph->root.first;
	MODEL_CHECK(sley_graph_wait(graph) == (cause == FIRST ? -EIO : -EPERM));
	scene_end();
}

MODEL(s09_both_fail_at_once, .setup = setup_both_fail,
      .threads = { end_first, end_second }, .finish = skips_for_one_of_them);

/* ---- order only ------------------------------------------------------------------------ */

static void submit_ordered(int id)
{
	(void)id;
	submit_as(SUCCESSOR, 0, 2);
}

static void runs_anyway(void)
{
	was_queued_once();
	run_now(SUCCESSOR);
	MODEL_CHECK(scene_ledger.ran[SUCCESSOR] == 1);
	MODEL_CHECK(sley_node_outcome(graph, ids[SUCCESSOR], NULL) ==
		    SLEY_OUTCOME_SUCCESS);
	MODEL_CHECK(sley_graph_wait(graph) == -EIO);
	scene_end();
}

MODEL(one_that_only_comes_first_fails, .setup = setup_first_fails_of_two,
      .threads = { end_both, submit_ordered }, .finish = runs_anyway);
