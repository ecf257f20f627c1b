/* SPDX-License-Identifier: MIT */
/*
 * replay.c - the steps of a run: see replay.h.
 *
 * A run is not touched after its last sink was counted off: the waiter may start it
 * again, or destroy it.
 */
#include "graph/plan/replay.h"

#include "core/sched/place.h"
#include "core/life/drain.h"
#include "core/task/spawn.h"
#include "core/wait/wait.h"

#include <string.h>

#define RELEASE_MAX 64 /* successors released in a turn */

/* ---- the turn ------------------------------------------------------------------- */

static bool is_cancelled(const struct step *step)
{
	uint32_t *word = &step->run->cancelled;

	if (unlikely(step->rules & TASK_NO_BARRIER))
		return add_release(word, 0); /* Y1 */
	compiler_barrier();                  /* Y1 */
	/* relaxed: os_membarrier() of the canceller orders it. */
	return load_relaxed(word);
}

static bool is_skipped(const struct step *step)
{
	return failure_has_cause(&step->failure) || is_cancelled(step) ||
	       runtime_is_cancelled(worker_current()->rt);
}

static void call_turn(void *task)
{
	struct step *step = step_of(task);

	sley_assert(step->state == STEP_CALLS);
	if (unlikely(is_skipped(step)))
		failure_set_skipped(&step->failure);
	else
		failure_set_result(&step->failure, step->fn(step->task.arg));
}

/* The turn itself does nothing: after_turn() releases the successors. */
static void release_turn(void *task)
{
	sley_assert(step_of(task)->state == STEP_RELEASES);
	(void)task;
}

/* Sets the state, and with it the function that the worker calls in the next turn. */
static void set_state(struct step *step, enum step_state state)
{
	step->state = state;
	step->task.fn = state == STEP_CALLS ? call_turn : release_turn;
}

/* The state of @step at the beginning and at the end of a run. */
static enum step_state state_at_rest(const struct step *step)
{
	return step_index(step) ? STEP_CALLS : STEP_RELEASES;
}

/* ---- the end ---------------------------------------------------------------------- */

static noinline void fail_successors(struct step *step)
{
	const uint32_t *edge = step_edges(step);
	struct replay *run = step->run;
	uint32_t index = step_index(step);
	/* relaxed: a guess, checked by the swap. */
	uint32_t newest = load_relaxed(&run->failed);

	failure_note_first(&step->failure, &run->first, index);
	do {
		step->next = newest;
		/* relaxed: read when all have ended. */
	} while (chaos_says(CHAOS_LOSE) ||
		 !cas_relaxed(&run->failed, &newest, index));
	for (uint32_t i = 0; i < step->nr_edges; i++) {
		if (!(edge[i] & EDGE_ORDER))
			(void)failure_pass_on(&step_to(step, edge[i])->failure,
					      &step->failure, index);
	}
}

/*
 * Counts @step off with its @nr successors from @edge on.  Queues the successors that
 * are ready, except for the first of them, which is returned; or NULL.  Successors
 * were recorded in the order of the program: so the first, and its data, are usually
 * the next in memory.
 */
static inline struct step *release(struct worker *worker, struct step *step,
				   const uint32_t *edge, uint32_t nr)
{
	const uint32_t *end = edge + nr;
	struct step *kept = NULL;

	for (; edge < end; edge++) {
		struct step *to = step_to(step, *edge);

		if (!step_count_off(to))
			continue;
		if (kept)
			place_spawned(worker, &to->task);
		else
			kept = to;
	}
	return kept;
}

/*
 * Releases some successors of @step, which has many, and queues @step behind them for
 * the rest.  The first worker that comes to @step goes on.
 */
static noinline struct step *release_some(struct worker *worker,
					  struct step *step)
{
	uint32_t from = step->nr_released;
	uint32_t nr = (uint32_t)chaos_few(RELEASE_MAX, 2);
	struct step *kept;

	if (nr >= step->nr_edges - from) {
		nr = step->nr_edges - from;
		step->nr_released = 0;
		/* Not later: the next run may begin when they are released. */
		set_state(step, state_at_rest(step));
		return release(worker, step, step->edges + from, nr);
	}
	step->nr_released = from + nr;
	set_state(step, STEP_RELEASES);
	kept = release(worker, step, step->edges + from, nr);
	step_ready(step);
	place_spawned(worker, &step->task);
	return kept;
}

static inline struct step *release_successors(struct worker *worker,
					      struct step *step)
{
	if (unlikely(step->nr_edges > STEP_EDGES))
		return release_some(worker, step);
	return release(worker, step, step->edge, step->nr_edges);
}

static inline struct tally *tally_of(struct replay *run,
				     const struct worker *worker)
{
	return &run->tally[worker->index < run->nr_tally ? worker->index : 0];
}

/* All sinks in @tally have ended; @run is not touched afterwards. */
static void settle(struct worker *worker, struct replay *run,
		   struct tally *tally)
{
	uint32_t nr = tally->nr;

	tally->nr = 0;
	if (countdown_sub(&run->pending, nr) == COUNTDOWN_LAST)
		drain_count_finished(worker);
}

static const struct turns replay_turns;

struct replay *replay_of(struct sley_task *task)
{
	if (!(task_flags(task) & TASK_TURNS) || turns_of(task) != &replay_turns)
		return NULL;
	return step_of(task)->run;
}

/* Is @task a step of @run that has not begun?  @task may be NULL. */
static bool is_of(const struct replay *run, struct sley_task *task)
{
	return task && replay_of(task) == run && !task_strand(task);
}

/*
 * As long as the worker has sinks that are not counted off, or a step in hand, the
 * run is not over.  Otherwise the run may be gone, once the successors are released.
 */
static struct sley_task *after_turn(struct worker *worker,
				    struct sley_task *task)
{
	struct step *step = step_of(task);
	struct replay *run = step->run;
	struct tally *tally = tally_of(run, worker);
	bool holds;

	task_turn_end(task);
	if (unlikely(!failure_is_success(&step->failure) &&
		     step->state == STEP_CALLS))
		fail_successors(step);
	if (!step->nr_edges)
		tally->nr++;
	holds = tally->nr;
	step = release_successors(worker, step);
	if (likely(step)) {
		if (likely(turn_may_keep(worker, &step->task)))
			return &step->task;
		place_spawned(worker, &step->task);
	}
	task = worker_pick(worker);
	/* A step that blocks and migrates does not come back to this tally. */
	if (holds && (!is_of(run, task) || worker->rt->migratable))
		settle(worker, run, tally);
	return task;
}

/* A step waits for no inbox. */
static void poke(struct sley_task *task)
{
	(void)task;
}

static const struct turns replay_turns = { after_turn, poke };

/* ---- the run ----------------------------------------------------------------------- */

static size_t head_size(const struct sley *rt)
{
	return sizeof(struct replay) +
	       runtime_nr_runners(rt) * sizeof(struct tally);
}

static size_t replay_size(const struct sley_plan *plan)
{
	return head_size(plan->rt) + plan->nr * sizeof(struct step);
}

static uint32_t rules(const struct sley *rt, int32_t priority)
{
	uint32_t level = (uint32_t)(priority + LEVEL_DEFAULT);
	uint32_t flags = runtime_task_flags(rt) | TASK_TURNS;

	if (!rt->nr_workers)
		flags |= TASK_PINNED;
	return flags | level << TASK_LEVEL_SHIFT;
}

static void build(struct step *step, struct replay *run, struct record *record)
{
	const struct sley_plan *plan = run->plan;
	struct sley_task *task = &step->task;

	task->arg = record->by_value ? record->value : record->arg;
	task->group = (struct sley_group *)(uintptr_t)&replay_turns;
	task->name = record->name;
	step->fn = record->fn;
	step->run = run;
	set_state(step, state_at_rest(step));
	step->rules = rules(plan->rt, record->priority);
	step->nr_predecessors = record->nr_predecessors;
	step->nr_missing = record->nr_predecessors;
	step->nr_edges = record->nr_edges;
	if (step->nr_edges > STEP_EDGES)
		step->edges = &plan->edge[record->first];
	else
		memcpy(step->edge, &plan->edge[record->first],
		       step->nr_edges * sizeof(*step->edge));
}

struct replay *replay_create(struct sley_plan *plan)
{
	struct replay *run = mem_alloc(&plan->rt->mem, replay_size(plan));

	if (!run)
		return NULL;
	list_init(&run->link);
	run->plan = plan;
	run->nr = plan->nr;
	/* Where bound threads run the tasks, a run stays with one thread. */
	run->nr_tally = runtime_nr_runners(plan->rt);
	run->step = (struct step *)(void *)((char *)run + head_size(plan->rt));
	for (uint32_t i = 0; i < plan->nr; i++)
		build(&run->step[i], run, &plan->record[i]);
	return run;
}

void replay_destroy(struct replay *run)
{
	mem_free(&run->plan->rt->mem, run, replay_size(run->plan));
}

int replay_start(struct replay *run)
{
	struct sley *rt = run->plan->rt;
	struct worker *home = worker_current();
	int err = 0;

	if (likely(home && home->rt == rt)) {
		drain_count_spawned(home);
	} else {
		err = spawn_count_foreign(rt);
		home = err ? NULL : rt->worker[0];
	}
	if (err)
		return err;
	countdown_add(&run->pending, run->plan->nr_sinks);
	step_ready(&run->step[0]);
	turn_wake(home, &run->step[0].task);
	return 0;
}

void replay_cancel(struct replay *run)
{
	(void)xchg_acquire(&run->cancelled, 1); /* Y1 */
	if (run->plan->rt->membarrier)
		os_membarrier(); /* Y1 */
	for (uint32_t i = 1; i < run->nr; i++) {
		struct sley_task *task = &run->step[i].task;
		uint32_t state = task_state_of(task_load(task));

		if ((state == TASK_RUNNING || state == TASK_BLOCKED) &&
		    task_cancel(task))
			task_enqueue(task);
	}
}
