/* SPDX-License-Identifier: MIT */
/*
 * graph_plan.c - src/graph/plan/replay.c: in every run of a plan a step starts once,
 * after both predecessors have ended, and its count is restored by then; a run is
 * over when its sink has ended, and may be started or freed at once; and a cancelled
 * step is skipped or told.
 *
 * The plan is two predecessors and their successor, the only sink.  A worker ends
 * each predecessor and runs the steps that it keeps; a queued step is in `queue`, by
 * its number, and there is no search, see core_search.c.  A third thread waits and
 * starts the second run.  Functions read plain data of their predecessors in the
 * same run, so that a missing edge is a race.
 *
 * Complete for two workers and two runs, for predecessors that both fail, and for a
 * cancel beside the beginning of a turn, with and without membarrier.  Not seen:
 * several runs at once, which share constant data only; and the lock of the plan,
 * see sync_mutex.c.
 */
#include "model_mem.h"
#include "payload.h"
#include "threads_only.h"

#include "core/life/drain.h"
#include "core/task/spawn.h"
#include "core/task/turn.h"

#include <errno.h>
#include <sley/error.h>
#include <sley/time.h>
#include <string.h>

struct sley_task *scene_pick(struct worker *worker);
void scene_spawned(struct worker *worker, struct sley_task *task);
void scene_wake(struct worker *home, struct sley_task *task);

/* replay.c puts steps that may start here, and picks steps here. */
#define worker_pick scene_pick
#define place_spawned scene_spawned
#define turn_wake scene_wake

#include "graph/plan/replay.c"

#define WORKERS 2
#define STEPS 4 /* with the beginning */

enum { BEGIN, FIRST, SECOND, SUCCESSOR };

static struct sley rt;
static struct worker workers[WORKERS];
static struct worker *table[WORKERS] = { &workers[0], &workers[1] };
static struct sley_plan plan;
static struct record records[STEPS];
static struct link links[2] = { { FIRST, SUCCESSOR }, { SECOND, SUCCESSOR } };
static struct replay *run;
static struct sley_task *queue[STEPS];
static struct job {
	struct payload done[2]; /* in which run */
	int says;
} jobs[STEPS];
static uint32_t cancel_is_over;
static struct ledger {
	int ran[STEPS];
	bool keeps;
} ledger;

/* ---- the rest of the runtime -------------------------------------------------------- */

struct sley_task *scene_pick(struct worker *worker)
{
	(void)worker;
	return NULL;
}

void scene_spawned(struct worker *worker, struct sley_task *task)
{
	(void)worker;
	store_release(&queue[step_index(step_of(task))], task);
}

void scene_wake(struct worker *home, struct sley_task *task)
{
	MODEL_CHECK(home == &workers[0]);
	store_release(&queue[BEGIN], task);
}

bool worker_may_keep(struct worker *worker)
{
	(void)worker;
	return ledger.keeps;
}

int spawn_count_foreign(struct sley *runtime)
{
	MODEL_CHECK(runtime == &rt);
	return 0;
}

void drain_end_unbind(struct worker *worker)
{
	(void)worker;
	never();
}

const char *sley_strerror(int error)
{
	(void)error;
	never();
	return NULL;
}

/* ---- the plan ----------------------------------------------------------------------- */

/* The parameter of a run is its number. */
static int round_now(void)
{
	return *(int *)run->param;
}

static int fn(void *arg)
{
	struct job *job = arg;

	MODEL_CHECK(!task_is_cancelled(&run->step[job - jobs].task));
	if (job == &jobs[SUCCESSOR]) {
		payload_check(&jobs[FIRST].done[round_now()]);
		payload_check(&jobs[SECOND].done[round_now()]);
	}
	payload_write(&job->done[round_now()]);
	ledger.ran[job - jobs]++;
	return job->says;
}

static void setup_runtime(void)
{
	memset(&rt, 0, sizeof(rt));
	memset(workers, 0, sizeof(workers));
	rt.worker = table;
	rt.nr_workers = WORKERS;
	rt.membarrier = os_membarrier_setup();
	selves_set(&(struct self){ .bound = &rt });
	for (unsigned int i = 0; i < WORKERS; i++) {
		workers[i].rt = &rt;
		workers[i].index = i;
		selves[1 + i].worker = &workers[i];
	}
}

static void setup_plan(void)
{
	memset(&plan, 0, sizeof(plan));
	memset(records, 0, sizeof(records));
	plan.rt = &rt;
	plan.nr = STEPS;
	plan.record = records;
	plan.nr_links = array_size(links);
	plan.link = links;
	for (int i = 1; i < STEPS; i++) {
		records[i].fn = fn;
		records[i].arg = &jobs[i];
	}
	MODEL_CHECK(plan_compile(&plan) == 0);
	run = replay_create(&plan);
	for (int i = 0; i < STEPS; i++) {
		model_name(&run->step[i].nr_missing, "missing%d", i);
		model_name(&run->step[i].failure.cause, "cause%d", i);
		model_name(&run->step[i].task.state, "state%d", i);
		model_name(&run->step[i].task.flags, "flags%d", i);
		model_name(&queue[i], "queue%d", i);
	}
	model_name(&run->pending, "pending");
	model_name(&run->cancelled, "cancelled");
}

static void begin_run(int number)
{
	static int numbers[2] = { 0, 1 };

	run->param = &numbers[number];
	MODEL_CHECK(replay_start(run) == 0);
}

/* By a worker, as run_turn() in core/sched/worker.c, with all steps it keeps. */
static void run_queued(int index)
{
	struct sley_task *task;

	while (!(task = load_acquire(&queue[index])))
		spin_hint(&queue[index]);
	/* relaxed: the entry is ours. */
	store_relaxed(&queue[index], NULL);
	while (task) {
		(void)task_claim(task);
		task->fn(task);
		task = turns_of(task)->after(worker_current(), task);
	}
}

/* In setup: by the first worker. */
static void run_now(int index)
{
	struct self saved = selves[0];

	selves[0].worker = &workers[0];
	run_queued(index);
	selves[0] = saved;
}

/* The first run has begun: its predecessors are queued. */
static void setup(void)
{
	memset(queue, 0, sizeof(queue));
	memset(jobs, 0, sizeof(jobs));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	cancel_is_over = 0;
	model_name(&cancel_is_over, "cancel_is_over");
	setup_runtime();
	setup_plan();
	begin_run(0);
	run_now(BEGIN);
	ledger.keeps = true;
}

static void end(void)
{
	replay_destroy(run);
	plan_forget(&plan);
}

/* ---- two runs ------------------------------------------------------------------------- */

static void check_run(int number)
{
	for (int i = 1; i < STEPS; i++)
		payload_check(&jobs[i].done[number]);
	/* relaxed: the run is over. */
	MODEL_CHECK(load_relaxed(&run->step[SUCCESSOR].nr_missing) == 2);
}

static void end_first(int id)
{
	(void)id;
	run_queued(FIRST);
}

static void end_second(int id)
{
	(void)id;
	run_queued(SECOND);
}

static void wait_and_free(int id)
{
	(void)id;
	MODEL_CHECK(countdown_wait(&run->pending, SLEY_FOREVER, 0) == 0);
	check_run(0);
	end();
}

static void all_ran_once(void)
{
	for (int i = 1; i < STEPS; i++)
		MODEL_CHECK(ledger.ran[i] == 1);
	MODEL_CHECK(workers[0].counters.finished +
			    workers[1].counters.finished ==
		    1);
}

MODEL(a_run_is_freed_as_soon_as_it_is_over, .setup = setup,
      .threads = { end_first, end_second, wait_and_free },
      .finish = all_ran_once);

/* The beginning keeps the first predecessor, and queues the second. */
static void end_first_and_begin_again(int id)
{
	end_first(id);
	run_queued(BEGIN);
}

static void end_second_twice(int id)
{
	end_second(id);
	end_second(id);
}

static void wait_and_begin_again(int id)
{
	(void)id;
	MODEL_CHECK(countdown_wait(&run->pending, SLEY_FOREVER, 0) == 0);
	check_run(0);
	/* As after a cancel. */
	task_cancel_unqueued(&run->step[SECOND].task);
	begin_run(1);
}

static void all_ran_twice(void)
{
	check_run(1);
	for (int i = 1; i < STEPS; i++)
		MODEL_CHECK(ledger.ran[i] == 2);
	MODEL_CHECK(!countdown_of(run->pending.word));
	end();
}

MODEL(the_next_run_finds_all_counts_as_they_were, .setup = setup,
      .threads = { end_first_and_begin_again, end_second_twice,
		   wait_and_begin_again },
      .finish = all_ran_twice);

/* ---- failures --------------------------------------------------------------------------- */

static void setup_both_fail(void)
{
	setup();
	jobs[FIRST].says = -EIO;
	jobs[SECOND].says = -EPERM;
}

/* The code is of the cause, and all three failures are remembered. */
static void successor_was_skipped(void)
{
	const struct step *step = &run->step[SUCCESSOR];
	int nr = 0;

	MODEL_CHECK(ledger.ran[SUCCESSOR] == 0);
	MODEL_CHECK(step->failure.outcome == SLEY_OUTCOME_SKIPPED);
	MODEL_CHECK(step->failure.cause == FIRST ||
		    step->failure.cause == SECOND);
	MODEL_CHECK(step->failure.code == jobs[step->failure.cause].says);
	MODEL_CHECK(run->first == FIRST || run->first == SECOND);
	MODEL_CHECK(step->nr_missing == 2);
	for (uint32_t i = run->failed; i; i = run->step[i].next)
		nr++;
	MODEL_CHECK(nr == 3);
	end();
}

MODEL(two_fail_at_once, .setup = setup_both_fail,
      .threads = { end_first, end_second }, .finish = successor_was_skipped);

static void setup_first_fails(void)
{
	setup();
	jobs[FIRST].says = -EIO;
}

static void wait_for_failure(int id)
{
	(void)id;
	MODEL_CHECK(countdown_wait(&run->pending, SLEY_FOREVER, 0) == 0);
	MODEL_CHECK(run->first == FIRST);
	MODEL_CHECK(run->step[FIRST].failure.code == -EIO);
	MODEL_CHECK(run->failed == SUCCESSOR);
	end();
}

static void successor_did_not_run(void)
{
	MODEL_CHECK(ledger.ran[SECOND] == 1 && ledger.ran[SUCCESSOR] == 0);
}

MODEL(who_waits_sees_who_failed, .setup = setup_first_fails,
      .threads = { end_first, end_second, wait_for_failure },
      .finish = successor_did_not_run);

/* ---- cancel ----------------------------------------------------------------------------- */

/* The canceller is done: either this step was skipped, or it was told. */
static int outlast_the_cancel(void *arg)
{
	struct job *job = arg;

	while (!load_acquire(&cancel_is_over))
		spin_hint(&cancel_is_over);
	MODEL_CHECK(task_is_cancelled(&run->step[job - jobs].task));
	ledger.ran[job - jobs]++;
	return 0;
}

static void setup_cancel(void)
{
	setup();
	run->step[FIRST].fn = outlast_the_cancel;
}

static void cancels(int id)
{
	(void)id;
	replay_cancel(run);
	store_release(&cancel_is_over, 1);
}

static void second_is_skipped(void)
{
	MODEL_CHECK(run->step[FIRST].failure.outcome == SLEY_OUTCOME_SKIPPED ||
		    ledger.ran[FIRST] == 1);
	run_now(SECOND);
	MODEL_CHECK(run->step[SECOND].failure.outcome == SLEY_OUTCOME_SKIPPED);
	MODEL_CHECK(run->step[SUCCESSOR].failure.outcome ==
		    SLEY_OUTCOME_SKIPPED);
	MODEL_CHECK(!countdown_of(run->pending.word));
	end();
}

MODEL(who_is_cancelled_is_skipped_or_told_with_membarrier,
      .setup = setup_cancel, .threads = { end_first, cancels },
      .finish = second_is_skipped);

MODEL(who_is_cancelled_is_skipped_or_told_without_membarrier,
      .setup = setup_cancel, .threads = { end_first, cancels },
      .finish = second_is_skipped, .no_membarrier = true);
