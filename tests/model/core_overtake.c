/* SPDX-License-Identifier: MIT */
/*
 * core_overtake.c - src/core/sched/overtake.c with src/core/sched/steal.c: an urgent
 * task is seen by the fork during which it comes, or by the next one.
 *
 * Worker 0 is on a strand whose task forks.  Another thread makes an urgent task
 * ready.  A fork takes the lines of sley_fork_slow() that matter here; the task that
 * the fork finds is only taken down, since what follows is the switch of a yield.  In
 * the end the urgent task was found, or the limit of the strand that the worker is
 * on is 0: then the next fork finds the task.
 *
 * Complete for one worker and one asker: with a task for all workers and with a task
 * for this worker alone; while the worker forks on the strand that it is on, and
 * while the worker goes to another strand and forks there.  Not seen: a second
 * worker, which has a strand and a limit of its own.
 */
#include "crew.h"
#include "payload.h"

#include "core/sched/overtake.h"
#include "core/sched/place.h"

#define LEVEL_URGENT 0u

static struct strand strands[2];
static struct sley_task forking[2]; /* the tasks on the strands */
static struct sley_task urgent;
static struct payload payload; /* written before the urgent task is queued */
static struct sley_forked children[2];
static struct ledger {
	int found;
} ledger;

void *slab_alloc(struct slab *slab)
{
	(void)slab;
	return NULL;
}

void slab_free(struct slab *slab, void *object)
{
	(void)slab;
	(void)object;
}

static void setup_strand(int i, unsigned int level)
{
	strands[i] = (struct strand){ .home = &crew[0], .task = &forking[i] };
	list_init(&strands[i].parents);
	fork_stack_init(&strands[i].forks);
	forking[i] = (struct sley_task){ .fiber = &strands[i] };
	task_build_running(&forking[i], level, 0);
	model_name(&strands[i].forks.limit, "limit%d", i);
	model_name(&strands[i].forks.head, "head%d", i);
}

static void setup_at(unsigned int level)
{
	crew_set_up(1);
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	memset(children, 0, sizeof(children));
	payload.value = 0;
	for (int i = 0; i < 2; i++)
		setup_strand(i, level);
	crew[0].strand = &strands[0];
	model_name(&crew[0].strand, "strand");
	model_name(&rt->overtakes, "overtakes");
	task_build(&urgent, LEVEL_URGENT, 0);
	urgent.fiber = NULL;
}

static void setup(void)
{
	setup_at(LEVEL_DEFAULT);
}

/* A thread has asked already: the next fork is slow. */
static void setup_asked(void)
{
	setup();
	fork_stack_raise_limit(&strands[0].forks);
	(void)fork_ask(&crew[0]);
}

static void setup_raised(void)
{
	setup();
	fork_stack_raise_limit(&strands[0].forks);
}

/* ---- the worker -------------------------------------------------------------------- */

static void nothing(void *arg)
{
	(void)arg;
}

/* As sley_fork() and sley_fork_slow() do. */
static void fork_on(int i)
{
	struct worker *worker = &crew[0];
	struct sley_task *found;

	if (sley_fork_push_fast(&strands[i].forks, &children[i], nothing, NULL))
		return;
	fork_answer(worker);
	found = overtake_look(worker);
	if (!found)
		return;
	MODEL_CHECK(found == &urgent);
	payload_check(&payload);
	ledger.found++;
}

static void fork_once(int id)
{
	(void)id;
	fork_on(0);
}

/* As worker_switch_raw() does. */
static void go_and_fork(int id)
{
	struct worker *worker = &crew[id];

	store_release(&worker->strand, &strands[1]); /* S1 */
	fork_stack_drop_limit(&strands[0].forks);
	fork_on(1);
}

/* ---- the asker --------------------------------------------------------------------- */

static void submit(int id)
{
	(void)id;
	payload_write(&payload);
	place_foreign(rt, &urgent);
}

/* For this worker alone. */
static void send_home(int id)
{
	(void)id;
	payload_write(&payload);
	(void)place_at(&crew[0], &urgent);
}

/* ---- in the end ---------------------------------------------------------------------- */

static void is_found_now_or_next(void)
{
	const struct strand *strand = crew[0].strand;

	MODEL_CHECK(ledger.found <= 1);
	MODEL_CHECK(ledger.found || !fork_stack_is_raised(&strand->forks));
}

static void is_found(void)
{
	fork_on(crew[0].strand == &strands[1]);
	MODEL_CHECK(ledger.found == 1);
}

#define BOTH_WAYS(name, worker, ...)                                           \
	MODEL(name##_by_any_worker, .threads = { worker, submit },             \
	      __VA_ARGS__);                                                    \
	MODEL(name##_by_this_worker, .threads = { worker, send_home },         \
	      __VA_ARGS__)

BOTH_WAYS(an_urgent_task_is_found, fork_once, .setup = setup_asked,
	  .finish = is_found_now_or_next);

BOTH_WAYS(an_urgent_task_is_found_by_the_first_fork, fork_once, .setup = setup,
	  .finish = is_found_now_or_next);

BOTH_WAYS(an_urgent_task_is_found_on_the_next_strand, go_and_fork,
	  .setup = setup_raised, .finish = is_found_now_or_next);

BOTH_WAYS(a_fast_fork_is_followed_by_a_slow_fork, fork_once,
	  .setup = setup_raised, .finish = is_found);
