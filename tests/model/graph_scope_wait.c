/* SPDX-License-Identifier: MIT */
/*
 * graph_scope_wait.c - src/graph/node/scope_wait.c: a waiter returns when all nodes
 * have ended, and not before; and no thread touches the graph then, so that the
 * waiter may free it.
 *
 * Nodes are counted in bulk: in advance (credit) and afterwards (shares).  The
 * memory of the graph is on the explorer's heap; a late access is seen.  The waiters
 * are plain threads.
 *
 * Complete for a waiter that frees the graph, against a worker that ends a node or a
 * chain of two, or two workers that end a node each; and for a thread that submits
 * meanwhile.  Two waiters are explored with two preemptions.  The countdown has the
 * deadlines: core_countdown.c.
 */
#include "graph_scene.h"

static struct ledger {
	int waited, failed;
} ledger;

static void setup_with(unsigned int workers)
{
	scene_setup(workers, 16);
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
}

static void setup(void)
{
	setup_with(1);
	submit_as(1, 0, 0);
}

static void end_first(int id)
{
	(void)id;
	run_queued(node_index_of(ids[1]));
}

static void waits(void)
{
	int err = sley_graph_wait(graph);

	MODEL_CHECK(err == 0 || err == jobs[1].says);
	ledger.failed += err != 0;
	ledger.waited++;
	payload_check(&jobs[1].done);
}

static void wait_for_first(int id)
{
	(void)id;
	waits();
}

static void wait_and_destroy(int id)
{
	(void)id;
	waits();
	sley_graph_destroy(graph);
}

/* Without a wait before. */
static void destroy(int id)
{
	(void)id;
	sley_graph_destroy(graph);
	payload_check(&jobs[1].done);
}

static void one_ran(void)
{
	MODEL_CHECK(scene_ledger.ran[1] == 1);
}

MODEL(s20_who_waits_frees_it, .setup = setup,
      .threads = { end_first, wait_and_destroy }, .finish = one_ran);

MODEL(s29_it_is_destroyed_while_busy, .setup = setup,
      .threads = { end_first, destroy }, .finish = one_ran);

MODEL(s29_it_is_destroyed_without_membarrier, .setup = setup,
      .no_membarrier = true, .threads = { end_first, destroy },
      .finish = one_ran);

/* ---- a failure -------------------------------------------------------------------------- */

static void setup_fails(void)
{
	setup();
	jobs[1].says = -EIO;
}

static void one_failed(void)
{
	one_ran();
	MODEL_CHECK(ledger.failed == 1);
}

MODEL(s09_who_waits_hears_of_a_failure, .setup = setup_fails,
      .threads = { end_first, wait_and_destroy }, .finish = one_failed);

/* ---- a chain, in a share -------------------------------------------------------------------- */

static void setup_chain(void)
{
	setup();
	jobs[2].before[0] = 1;
	submit_as(2, 1, 0);
	scene_ledger.keeps = true;
	graph->bulk = 4;
}

static void wait_for_chain_and_destroy(int id)
{
	(void)id;
	waits();
	payload_check(&jobs[2].done);
	sley_graph_destroy(graph);
}

static void two_ran(void)
{
	one_ran();
	MODEL_CHECK(scene_ledger.ran[2] == 1);
}

MODEL(s20_a_chain_is_counted_off_in_bulk, .setup = setup_chain,
      .threads = { end_first, wait_for_chain_and_destroy }, .finish = two_ran);

/* ---- two ends, two workers ------------------------------------------------------------------ */

static void setup_two(void)
{
	setup_with(2);
	submit_as(1, 0, 0);
	submit_as(2, 0, 0);
}

static void end_second(int id)
{
	(void)id;
	run_queued(node_index_of(ids[2]));
}

MODEL(s20_two_workers_end_the_last_ones, .setup = setup_two,
      .threads = { end_first, end_second, wait_for_chain_and_destroy },
      .finish = two_ran, .slow = true);

/* ---- two waiters ----------------------------------------------------------------------------- */

/* Only credit is left. */
static void is_counted(void)
{
	MODEL_CHECK(countdown_of(graph->root.pending.word) ==
		    graph->root.credit);
}

static void both_waited(void)
{
	one_ran();
	MODEL_CHECK(ledger.waited == 2);
	MODEL_CHECK(ledger.failed == (jobs[1].says != 0));
	MODEL_CHECK(graph->root.nr_waiting == 0);
	is_counted();
	scene_end();
}

MODEL(two_wait, .setup = setup_fails,
      .threads = { end_first, wait_for_first, wait_for_first },
      .finish = both_waited, .modes = MODEL_SC | MODEL_TSO, .bound = 2,
      .slow = true);

/* With the histories of C11 spinning has no end: so by chance. */
MODEL(two_wait_by_chance, .setup = setup_fails,
      .threads = { end_first, wait_for_first, wait_for_first },
      .finish = both_waited, .modes = MODEL_RA, .random = 300000, .slow = true);

/* ---- a thread submits meanwhile ----------------------------------------------------------------- */

/* The first has ended, and there is credit. */
static void setup_credit(void)
{
	setup();
	run_now(1);
}

static void submit_and_end(int id)
{
	(void)id;
	scene_become(false);
	submit_as(2, 0, 0);
	scene_become(true);
	run_queued(node_index_of(ids[2]));
}

static void two_ran_and_were_counted(void)
{
	two_ran();
	MODEL_CHECK(ledger.waited == 1);
	MODEL_CHECK(sley_graph_wait(graph) == 0);
	is_counted();
	scene_end();
}

MODEL(one_submits_while_another_waits, .setup = setup_credit,
      .threads = { submit_and_end, wait_for_first },
      .finish = two_ran_and_were_counted);
