/* SPDX-License-Identifier: MIT */
/*
 * graph_gang.c - src/graph/placement/gang.c: members of a node start when all are
 * there, the last member to end ends the node, and a cancel during the start is not
 * lost.
 *
 * Members run on plain threads and wait as plain threads.  The model defines the end
 * of the node.
 *
 * Complete for two members, cancelled before or not; for a member that begins
 * against a canceller; and for two members that decide whether they start against a
 * canceller: both members call the function, or neither.
 */
#include "payload.h"
#include "threads_only.h"

#include "graph/placement/gang.c"

#include <errno.h>
#include <string.h>

#define MEMBERS 2

static struct scene {
	struct sley_graph_scope scope;
	struct node node;
	union {
		struct placement placement;
		char room[sizeof(struct placement) +
			  MEMBERS * sizeof(struct gang_member)];
	};
} scene;

static struct sley_graph graph;

static struct payload here[MEMBERS]; /* before the arrival     */
static struct payload done[MEMBERS]; /* by the end of the turn */
static struct ledger {
	int ended, begun, ran;
} ledger;

void watch_begin(struct node *node)
{
	(void)node;
	never();
}

/* As in node_run.c: a canceller marks the node before the gang. */
bool node_is_skipped(const struct node *node)
{
	return task_is_cancelled(&node->task);
}

/* A member finds that all members are there. */
static int member_fn(void *arg)
{
	(void)arg;
	ledger.ran++;
	for (int i = 0; i < MEMBERS; i++)
		payload_check(&here[i]);
	return -EIO;
}

static struct sley_task *node_ends(struct worker *worker,
				   struct sley_task *task)
{
	(void)worker;
	MODEL_CHECK(node_of(task) == &scene.node);
	for (int i = 0; i < MEMBERS; i++)
		payload_check(&done[i]);
	MODEL_CHECK(ledger.ran == 0 || ledger.ran == MEMBERS);
	MODEL_CHECK(scene.node.failure.outcome ==
		    (ledger.ran ? SLEY_OUTCOME_FAILURE : SLEY_OUTCOME_SKIPPED));
	MODEL_CHECK(scene.node.failure.code ==
		    (ledger.ran ? -EIO : -ECANCELED));
	ledger.ended++;
	return NULL;
}

const struct turns graph_turns = { node_ends, NULL };

static void setup(void)
{
	memset(&scene, 0, sizeof(scene));
	memset(here, 0, sizeof(here));
	memset(done, 0, sizeof(done));
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	selves_set(&(struct self){ .bound = NULL });
	scene.scope.graph = &graph;
	scene.node.scope = &scene.scope;
	scene.node.fn = member_fn;
	scene.node.task.flags = TASK_TURNS;
	scene.node.placement = &scene.placement;
	scene.placement.gang = MEMBERS;
	model_lock_word(&scene.placement.coming.word);
	model_name(&scene.placement.coming, "coming");
	model_name(&scene.placement.nr_left, "nr_left");
	model_name(&scene.placement.word, "word");
}

static void setup_begun(void)
{
	setup();
	MODEL_CHECK(gang_begin(&scene.node));
}

static void run(int id)
{
	struct sley_task *task = &scene.placement.member[id].task;

	payload_write(&here[id]);
	task->fn(task);
	payload_write(&done[id]);
	MODEL_CHECK(!turns_of(task)->after(NULL, task));
}

static void ended_once(void)
{
	MODEL_CHECK(ledger.ended == 1 && ledger.ran == MEMBERS);
}

MODEL(the_last_member_ends_the_node, .setup = setup_begun,
      .threads = { run, run }, .finish = ended_once);

/* ---- the node is cancelled ----------------------------------------------------- */

static void begin(int id)
{
	(void)id;
	ledger.begun = gang_begin(&scene.node);
}

static void cancel(int id)
{
	(void)id;
	gang_cancel(&scene.node);
}

static void is_not_overlooked(void)
{
	for (int i = 0; i < MEMBERS && ledger.begun; i++)
		MODEL_CHECK(task_is_cancelled(&scene.placement.member[i].task));
}

MODEL(a_cancel_meets_a_gang_that_begins, .setup = setup,
      .threads = { begin, cancel }, .finish = is_not_overlooked);

static void mark_and_cancel(int id)
{
	(void)task_mark_cancelled(&scene.node.task, TASK_CANCEL);
	cancel(id);
}

/* Both are there: they decide. */
static void decide(int id)
{
	(void)id;
	ledger.ran += starts(&scene.node);
	ledger.ended++;
}

/* Both members run, and are asked to end; or neither runs. */
static void all_or_none(void)
{
	MODEL_CHECK(ledger.ended == MEMBERS);
	MODEL_CHECK(ledger.ran == 0 || ledger.ran == MEMBERS);
	MODEL_CHECK(!(scene.placement.word & GANG_STARTED) == !ledger.ran);
	ledger.begun = 1;
	is_not_overlooked();
}

MODEL(s21_a_cancel_meets_a_gang_that_starts, .setup = setup_begun,
      .threads = { decide, decide, mark_and_cancel }, .finish = all_or_none);

static void setup_cancelled(void)
{
	setup_begun();
	scene.placement.word |= GANG_CANCELLED;
}

static void none_ran(void)
{
	MODEL_CHECK(ledger.ended == 1 && !ledger.ran);
}

MODEL(s21_a_gang_that_was_cancelled_does_not_start, .setup = setup_cancelled,
      .threads = { run, run }, .finish = none_ran);
