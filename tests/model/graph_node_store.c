/* SPDX-License-Identifier: MIT */
/*
 * graph_node_store.c - src/graph/node/node_store.c, and the wait for room in
 * src/graph/node/submit.c: no submitter sleeps while there is room, each place has
 * one node at a time, and the submitter that takes a place sees that the node before
 * is gone.
 *
 * The very nodes end on workers, and foreign threads submit, each to a full graph.
 * A submitter that sleeps for ever is a lost wake-up.
 *
 * Complete for a worker that ends a node, with success or not, or keeps a node and
 * goes on with a node that waits for the submitter, with membarrier and without.
 * Complete without membarrier for a worker that ends two nodes, the second of which
 * has just been submitted, for two workers that give back while a submitter takes,
 * and for a submitter while another thread sees that all places are free.  Two
 * waiting submitters, without patience and with some, and two workers whose ends are
 * one batch are explored with two preemptions.
 *
 * Complete as well for a thread that forgets failures, or skipped nodes, while a worker
 * ends one more that fails, and for a submitter that has patience for a batch: for
 * ever, where no worker overlooks it; and with an end.
 */
#include "graph_scene.h"

static uint32_t is_in; /* the waiting node goes on */

static void end_first(int id)
{
	(void)id;
	run_queued(node_index_of(ids[1]));
}

static void end_second(int id)
{
	(void)id;
	run_queued(node_index_of(ids[2]));
}

static void submit_third(int id)
{
	(void)id;
	submit_as(3, 0, 0);
}

static void submit_fourth(int id)
{
	(void)id;
	submit_as(4, 0, 0);
}

/* All nodes have run, and all places but the places of failed nodes are free. */
static void all_ran(int nr, int err)
{
	for (int i = 1; i <= nr; i++) {
		if (!scene_ledger.ran[i])
			run_now(i);
	}
	for (int i = 1; i <= nr; i++)
		MODEL_CHECK(scene_ledger.ran[i] == 1);
	MODEL_CHECK(sley_graph_wait(graph) == err);
	MODEL_CHECK(node_store_nr_taken(&graph->store) == 0);
	MODEL_CHECK(graph->full == 0 && graph->nr_failed == 0);
	scene_end();
}

static void setup_full(void)
{
	scene_setup(1, 1);
	submit_as(1, 0, 0);
}

static void one_ran_after_the_other(void)
{
	run_now(3);
	MODEL_CHECK(scene_ledger.ran[1] == 1 && scene_ledger.ran[3] == 1);
	MODEL_CHECK(sley_graph_wait(graph) == jobs[1].says);
	MODEL_CHECK(graph->full == 0 && graph->nr_failed == 0);
	scene_end();
}

#define BOTH(name, ...)                                                        \
	MODEL(name##_with_membarrier, __VA_ARGS__);                            \
	MODEL(name##_without_membarrier, .no_membarrier = true, __VA_ARGS__)

BOTH(s15_room_comes_with_the_end, .setup = setup_full,
     .threads = { end_first, submit_third }, .finish = one_ran_after_the_other);

/* ---- a failed node keeps its place, not its room ---------------------------------- */

static void setup_full_and_fails(void)
{
	setup_full();
	jobs[1].says = -EIO;
}

BOTH(s15_room_comes_with_a_failure, .setup = setup_full_and_fails,
     .threads = { end_first, submit_third }, .finish = one_ran_after_the_other);

/* ---- the share of a worker ---------------------------------------------------------- */

/*
 * The second node follows the first, is kept, and waits, in the middle of its
 * worker, until the third node is in: as a fiber would.
 */
static void setup_kept(void)
{
	scene_setup(1, 2);
	submit_as(1, 0, 0);
	jobs[2].before[0] = 1;
	submit_as(2, 1, 0);
	scene_ledger.keeps = true;
	graph->bulk = 4;
	is_in = 0;
	model_name(&is_in, "is_in");
}

static void end_first_and_wait(int id)
{
	struct sley_task *next;

	(void)id;
	next = run_one(queue[node_index_of(ids[1])]);
	MODEL_CHECK(next == &node_at(2)->task);
	while (!load_acquire(&is_in))
		spin_hint(&is_in);
	run_on(next);
}

static void submit_third_and_say_so(int id)
{
	submit_third(id);
	store_release(&is_in, 1);
}

static void all_three_ran(void)
{
	run_now(3);
	all_ran(3, jobs[1].says);
}

BOTH(s15_room_is_in_a_share, .setup = setup_kept,
     .threads = { end_first_and_wait, submit_third_and_say_so },
     .finish = all_three_ran);

/* ---- a submitter with patience -------------------------------------------------------- */

/* The second node follows the first and is kept: its worker has a node at hand. */
static void setup_patient(void)
{
	scene_setup(1, 2);
	submit_as(1, 0, 0);
	jobs[2].before[0] = 1;
	submit_as(2, 1, 0);
	scene_ledger.keeps = true;
	graph->batch = 2;
	graph->patience_ns = SLEY_FOREVER;
	model_name(&graph->patient, "patient");
	model_name(&graph->nr_freed, "nr_freed");
}

/* The submitter wakes for the batch, or because the worker has nothing left. */
MODEL(s15_a_batch_wakes_who_has_patience, .setup = setup_patient,
      .no_membarrier = true, .threads = { end_first, submit_third },
      .finish = all_three_ran, .modes = MODEL_SC | MODEL_TSO);

/*
 * Two workers end one node each, and have more to do: neither wakes the submitter
 * for want of work, and the ends of both are the batch.
 */
static void setup_patient_with_two(void)
{
	scene_setup(2, 2);
	submit_as(1, 0, 0);
	submit_as(2, 0, 0);
	for (int i = 0; i < SCENE_WORKERS; i++)
		scene_workers[i].ring.tail = 1; /* never looked into */
	graph->batch = 2;
	graph->patience_ns = SLEY_FOREVER;
	model_name(&graph->patient, "patient");
	model_name(&graph->nr_freed, "nr_freed");
}

MODEL(s15_a_batch_is_the_sum_of_two_workers, .setup = setup_patient_with_two,
      .no_membarrier = true, .threads = { end_first, end_second, submit_third },
      .finish = all_three_ran, .modes = MODEL_SC, .bound = 2);

/* A worker may overlook the submitter then, in the memory of C11: patience ends. */
static void setup_some_patience(void)
{
	setup_patient();
	graph->patience_ns = 10;
}

MODEL(s15_patience_has_an_end, .setup = setup_some_patience,
      .no_membarrier = true, .threads = { end_first, submit_third },
      .finish = all_three_ran);

/* A batch never gets full before the submitter goes on. */
static void setup_stuck(void)
{
	setup_kept();
	graph->batch = 4;
	graph->patience_ns = 10;
}

MODEL(s15_room_for_one_is_found_when_patience_ends, .setup = setup_stuck,
      .no_membarrier = true,
      .threads = { end_first_and_wait, submit_third_and_say_so },
      .finish = all_three_ran);

/* One submitter has patience and takes its place; the other asks for any place. */
static void setup_patient_and_not(void)
{
	scene_setup(1, 2);
	submit_as(1, 0, 0);
	submit_as(2, 0, 0);
	graph->batch = 2;
	graph->patience_ns = 10;
}

/* ---- failures are forgotten while one more node ends ---------------------------------- */

static void setup_failures(void)
{
	scene_setup(1, 3);
	for (int i = 1; i <= 3; i++) {
		jobs[i].says = -EIO;
		submit_as(i, 0, 0);
	}
	run_now(1);
	run_now(2);
	graph->max_failed = 1;
}

static void end_third(int id)
{
	(void)id;
	run_queued(node_index_of(ids[3]));
}

/* A wait reports the first failure; the second may be forgotten, with its place. */
static void first_is_reported(void)
{
	run_now(4);
	MODEL_CHECK(scene_ledger.ran[3] == 1 && scene_ledger.ran[4] == 1);
	MODEL_CHECK(sley_node_outcome(graph, ids[1], NULL) ==
		    SLEY_OUTCOME_FAILURE);
	MODEL_CHECK(sley_node_outcome(graph, ids[3], NULL) ==
		    SLEY_OUTCOME_FAILURE);
	MODEL_CHECK(sley_graph_wait(graph) == -EIO);
	MODEL_CHECK(node_store_nr_taken(&graph->store) == 0);
	MODEL_CHECK(graph->nr_failed == 0);
	scene_end();
}

MODEL(s15_failures_are_forgotten_while_one_ends, .setup = setup_failures,
      .no_membarrier = true, .threads = { end_third, submit_fourth },
      .finish = first_is_reported);

/*
 * Three were skipped, and have not set the scope's first failure.  The fourth sets it
 * while the three are forgotten: the stone gets the code of whichever is the first.
 */
static void setup_skipped(void)
{
	scene_setup(1, 4);
	for (int i = 1; i <= 4; i++)
		submit_as(i, 0, 0);
	for (int i = 1; i <= 3; i++) {
		MODEL_CHECK(!sley_node_cancel(graph, ids[i]));
		run_now(i);
	}
	jobs[4].says = -EIO;
	graph->max_failed = 1;
	model_name(&graph->root.first, "first");
}

static void end_fourth(int id)
{
	(void)id;
	run_queued(node_index_of(ids[4]));
}

static void submit_fifth(int id)
{
	const struct node *stone;

	(void)id;
	submit_as(5, 0, 0);
	stone = graph->root.stone;
	MODEL_CHECK(stone->failure.code == -ECANCELED ||
		    stone->failure.code == -EIO);
}

static void failure_is_reported(void)
{
	run_now(5);
	for (int i = 1; i <= 3; i++)
		MODEL_CHECK(scene_ledger.ran[i] == 0);
	MODEL_CHECK(scene_ledger.ran[4] == 1 && scene_ledger.ran[5] == 1);
	MODEL_CHECK(sley_graph_wait(graph) == -EIO);
	MODEL_CHECK(node_store_nr_taken(&graph->store) == 0);
	MODEL_CHECK(graph->nr_failed == 0);
	scene_end();
}

MODEL(s15_skipped_are_forgotten_while_the_first_fails, .setup = setup_skipped,
      .no_membarrier = true, .threads = { end_fourth, submit_fifth },
      .finish = failure_is_reported);

/* ---- a failure that was seen is the first ---------------------------------------------- */

static struct {
	bool seen;
} order;

static void setup_two_failures(void)
{
	scene_setup(2, 4);
	model_ledger(&order, sizeof(order));
	order.seen = false;
	submit_as(1, 0, 0);
	submit_as(2, 0, 0);
	jobs[1].says = -EIO;
	jobs[2].says = -EPERM;
	model_name(&graph->root.first, "first");
}

/* The second node fails after a look that may have seen the failure of the first. */
static void look_and_end_other(int id)
{
	(void)id;
	order.seen = sley_node_outcome(graph, ids[1], NULL) !=
		     SLEY_OUTCOME_NONE;
	run_queued(node_index_of(ids[2]));
}

static void seen_is_reported(void)
{
	int err = sley_graph_wait(graph);

	MODEL_CHECK(err == -EIO || (err == -EPERM && !order.seen));
	scene_end();
}

MODEL(a_failure_that_was_seen_is_the_first, .setup = setup_two_failures,
      .no_membarrier = true, .threads = { end_first, look_and_end_other },
      .finish = seen_is_reported, .modes = MODEL_SC, .bound = 3);

/* ---- no more nodes than room --------------------------------------------------------- */

static void setup_one(void)
{
	setup_full();
	is_in = 0;
	model_name(&is_in, "is_in");
}

static void setup_one_fails(void)
{
	setup_one();
	jobs[1].says = -EIO;
}

static void end_first_and_third(int id)
{
	end_first(id);
	while (!load_acquire(&is_in))
		spin_hint(&is_in);
	run_queued(node_index_of(ids[3]));
}

/* There is no room for the fourth node before the third has run. */
static void submit_third_and_fourth(int id)
{
	submit_third_and_say_so(id);
	submit_fourth(id);
	MODEL_CHECK(scene_ledger.ran[3] == 1);
}

static void first_third_and_fourth_ran(void)
{
	run_now(4);
	MODEL_CHECK(scene_ledger.ran[1] == 1 && scene_ledger.ran[4] == 1);
	MODEL_CHECK(sley_graph_wait(graph) == jobs[1].says);
	scene_end();
}

MODEL(s15_room_is_counted_once, .setup = setup_one, .no_membarrier = true,
      .threads = { end_first_and_third, submit_third_and_fourth },
      .finish = first_third_and_fourth_ran, .slow_modes = MODEL_SC | MODEL_RA);

MODEL(s15_room_of_a_failure_is_counted_once, .setup = setup_one_fails,
      .no_membarrier = true,
      .threads = { end_first_and_third, submit_third_and_fourth },
      .finish = first_third_and_fourth_ran, .slow = true);

/* ---- all places are free ----------------------------------------------------------------- */

static void setup_ended(void)
{
	setup_full();
	run_now(1);
}

/*
 * No worker: a worker could not sleep here, and the other thread may have the lock.
 */
static void submit_and_end_third(int id)
{
	scene_become(false);
	submit_third(id);
	scene_become(true);
	run_queued(node_index_of(ids[3]));
}

/* Sees that all places are free, before the third node or after. */
static void wait_for_all(int id)
{
	(void)id;
	MODEL_CHECK(sley_graph_wait(graph) == 0);
}

static void first_and_third_ran(void)
{
	MODEL_CHECK(scene_ledger.ran[1] == 1 && scene_ledger.ran[3] == 1);
	MODEL_CHECK(node_store_nr_taken(&graph->store) == 0);
	scene_end();
}

MODEL(who_waits_tidies_while_another_submits, .setup = setup_ended,
      .no_membarrier = true, .threads = { submit_and_end_third, wait_for_all },
      .finish = first_and_third_ran);

/* ---- two at a time ---------------------------------------------------------------------- */

static void setup_two(void)
{
	scene_setup(2, 2);
	submit_as(1, 0, 0);
	submit_as(2, 0, 0);
}

static void three_ran(void)
{
	all_ran(3, 0);
}

MODEL(two_give_back_and_one_takes, .setup = setup_two, .no_membarrier = true,
      .threads = { end_first, end_second, submit_third }, .finish = three_ran,
      .slow = true);

static void setup_one_of_two(void)
{
	scene_setup(1, 2);
	submit_as(1, 0, 0);
	submit_as(2, 0, 0);
}

static void end_first_and_second(int id)
{
	end_first(id);
	end_second(id);
}

static void four_ran(void)
{
	all_ran(4, 0);
}

MODEL(two_wait_for_room, .setup = setup_one_of_two, .no_membarrier = true,
      .threads = { end_first_and_second, submit_third, submit_fourth },
      .finish = four_ran, .modes = MODEL_SC, .bound = 2, .slow = true);

MODEL(s15_two_wait_with_patience, .setup = setup_patient_and_not,
      .no_membarrier = true,
      .threads = { end_first_and_second, submit_third, submit_fourth },
      .finish = four_ran, .modes = MODEL_SC, .bound = 2, .slow = true);

/* In the other memories spinning has no end: so by chance. */
MODEL(two_wait_for_room_by_chance, .setup = setup_one_of_two,
      .no_membarrier = true,
      .threads = { end_first_and_second, submit_third, submit_fourth },
      .finish = four_ran, .modes = MODEL_TSO | MODEL_RA, .random = 300000,
      .slow = true);
