/* SPDX-License-Identifier: MIT */
/*
 * graph_cancel.c - src/graph/node/cancel.c: a cancel of a node that ends meanwhile
 * does not hit the next node in the same place; and a cancel of all nodes passes
 * over no node that is there.
 *
 * Complete for a canceller against a worker that ends the node and begins the next
 * node there; for two cancellers; and for a cancel of all against a submitter,
 * against a node that ends, and against a node that is about to wait.  With
 * membarrier and without.  Not seen: two cancels of all, and waits that end in other
 * ways (core_task_state.c).
 */
#include "graph_scene.h"

static struct ledger {
	int cancelled, late;
} ledger;

static void setup(void)
{
	scene_setup(1, 16);
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	submit_as(1, 0, 0);
}

static void cancel_first(int id)
{
	int err = sley_node_cancel(graph, ids[1]);

	(void)id;
	MODEL_CHECK(err == 0 || err == -ESRCH);
	ledger.cancelled += !err;
	ledger.late += err != 0;
}

static void end_first(int id)
{
	(void)id;
	run_queued(node_index_of(ids[1]));
}

/* The second node is in the place of the first, if the first succeeded. */
static void end_and_follow(int id)
{
	end_first(id);
	submit_as(2, 0, 0);
	run_queued(node_index_of(ids[2]));
}

static void the_second_ran(void)
{
	int skipped = !scene_ledger.ran[1];

	/* A cancel in time has skipped the node, or has asked the node to end. */
	MODEL_CHECK(ledger.cancelled || !skipped);
	MODEL_CHECK(scene_ledger.ran[2] == 1);
	MODEL_CHECK(skipped || node_index_of(ids[1]) == node_index_of(ids[2]));
	MODEL_CHECK(sley_graph_wait(graph) == (skipped ? -ECANCELED : 0));
	MODEL_CHECK(graph->cancelling == 0);
	scene_end();
}

#define BOTH(name, ...)                                                        \
	MODEL(name##_with_membarrier, __VA_ARGS__);                            \
	MODEL(name##_without_membarrier, .no_membarrier = true, __VA_ARGS__)

BOTH(s21_a_cancel_does_not_hit_the_next_one, .setup = setup,
     .threads = { end_and_follow, cancel_first }, .finish = the_second_ran);

/* The node has run already, and is about to end: begin there. */
static void setup_ended(void)
{
	struct sley_task *task;

	setup();
	task = queue[node_index_of(ids[1])];
	(void)task_claim(task);
	selves[0].worker = &scene_workers[0];
	task->fn(task);
	selves[0].worker = NULL;
}

static void end_only_and_follow(int id)
{
	struct sley_task *task = &node_at(1)->task;

	(void)id;
	/* relaxed: the entry is ours. */
	store_relaxed(&queue[node_index_of(ids[1])], NULL);
	MODEL_CHECK(!turns_of(task)->after(worker_current(), task));
	submit_as(2, 0, 0);
	run_queued(node_index_of(ids[2]));
}

MODEL(s21_two_cancels_do_not_hit_the_next_one, .setup = setup_ended,
      .no_membarrier = true,
      .threads = { end_only_and_follow, cancel_first, cancel_first },
      .finish = the_second_ran);

/* ---- all nodes ---------------------------------------------------------------------- */

static void cancel_all(int id)
{
	(void)id;
	sley_graph_cancel(graph);
}

static void submit_second_and_run(int id)
{
	(void)id;
	scene_become(false);
	submit_as(2, 0, 0);
	scene_become(true);
	run_queued(node_index_of(ids[2]));
}

static void setup_empty(void)
{
	setup();
	run_now(1);
}

/* The node was skipped, or was asked to end; or the cancel came after the end. */
static bool was_marked(int job)
{
	return task_is_cancelled(&node_at(job)->task);
}

static uint32_t end_comes; /* the node has looked, and has not ended */

/* A node that stays until all are cancelled: as a node that waits. */
static void submit_and_stay(int id)
{
	struct sley_task *task;

	(void)id;
	scene_become(false); /* waits for the lock as a thread */
	submit_as(2, 0, 0);
	scene_become(true);
	task = &node_at(2)->task;
	(void)task_claim(task);
	task->fn(task);
	while (!load_acquire(&end_comes))
		spin_hint(&end_comes);
	MODEL_CHECK(!scene_ledger.ran[2] || was_marked(2));
	turns_of(task)->after(worker_current(), task);
}

static void cancel_all_and_say_so(int id)
{
	cancel_all(id);
	store_release(&end_comes, 1);
}

static void setup_stay(void)
{
	setup_empty();
	end_comes = 0;
	model_name(&end_comes, "end_comes");
}

static void is_anew(void)
{
	bool skipped = !scene_ledger.ran[2];

	MODEL_CHECK(sley_graph_wait(graph) == (skipped ? -ECANCELED : 0));
	MODEL_CHECK(!graph->root.cancelled && !graph->cancelling);
	submit_as(3, 0, 0);
	run_now(3);
	MODEL_CHECK(scene_ledger.ran[3] == 1);
	MODEL_CHECK(sley_graph_wait(graph) == 0);
	scene_end();
}

BOTH(s21_nobody_is_passed_over, .setup = setup_stay,
     .threads = { submit_and_stay, cancel_all_and_say_so }, .finish = is_anew,
     .slow_modes = MODEL_TSO);

BOTH(s21_all_are_cancelled_while_one_ends, .setup = setup_empty,
     .threads = { submit_second_and_run, cancel_all }, .finish = is_anew,
     .slow_modes = MODEL_TSO);

/* A cancel of all that was over before the wait marks this node, not the next. */
static void run_wait_and_follow(int id)
{
	end_first(id);
	scene_become(false);
	MODEL_CHECK(sley_graph_wait(graph) <= 0);
	submit_as(2, 0, 0);
	scene_become(true);
	run_queued(node_index_of(ids[2]));
}

static void the_graph_is_clean(void)
{
	MODEL_CHECK(sley_graph_wait(graph) <= 0);
	MODEL_CHECK(!graph->root.cancelled && !graph->cancelling);
	submit_as(3, 0, 0);
	run_now(3);
	MODEL_CHECK(scene_ledger.ran[3] == 1);
	MODEL_CHECK(sley_graph_wait(graph) == 0);
	scene_end();
}

MODEL(s21_all_are_cancelled_while_it_begins_anew, .setup = setup,
      .threads = { run_wait_and_follow, cancel_all },
      .finish = the_graph_is_clean, .no_membarrier = true, .slow = true);

/* ---- a node that is about to wait ----------------------------------------------------- */

static struct strand strand;

/* The node runs, and is off its stack: begin there. */
static void setup_runs(void)
{
	struct sley_task *task;

	setup();
	task = &node_at(1)->task;
	(void)task_claim(task);
	strand = (struct strand){ .home = &scene_workers[0], .task = task };
	task->fiber = &strand;
	node_at(1)->failure.outcome = SLEY_OUTCOME_SUCCESS;
	model_name(&scene_workers[0].home.head, "home");
}

/* As the worker does; the canceller queues the node again, or it did not park. */
static void park(int id)
{
	struct push_list *home = &scene_workers[0].home;
	struct sley_task *task = &node_at(1)->task;
	uint32_t state;

	(void)id;
	if (task_park(task, 0)) {
		while (push_list_empty(home))
			spin_hint(&home->head);
		MODEL_CHECK(node_task(push_list_take_all(home)) == task);
	}
	state = task_claim(task);
	MODEL_CHECK(task_verdict_of(state) == VERDICT_CANCELLED);
	task->fiber = NULL;
	turns_of(task)->after(worker_current(), task);
}

static void wait_was_cancelled(void)
{
	MODEL_CHECK(sley_graph_wait(graph) == 0);
	MODEL_CHECK(!graph->root.cancelled && !graph->cancelling);
	scene_end();
}

BOTH(s21_one_that_parks_hears_of_it, .setup = setup_runs,
     .threads = { park, cancel_all }, .finish = wait_was_cancelled);

static void cancel_one(int id)
{
	(void)id;
	MODEL_CHECK(!sley_node_cancel(graph, ids[1]));
}

BOTH(s21_one_that_parks_is_cancelled_alone, .setup = setup_runs,
     .threads = { park, cancel_one }, .finish = wait_was_cancelled);
