/* SPDX-License-Identifier: MIT */
/*
 * switch.h - how a worker goes from its current strand to the next.
 *
 * All of this is inline, down to the switch, because of how processors predict
 * returns: a processor remembers the calls that were made, and those calls were made
 * on another stack.  Every frame between the switch and the user's code is a
 * mispredicted return, 4 to 5 ns each, unless the next strand was suspended in
 * the same place.  (Out of line, the row `create` took 107 ns instead of 86.)
 *
 * Edges:
 *
 *   S1  see core/sched/worker.h
 */
#ifndef SLEY_CORE_SCHED_SWITCH_H
#define SLEY_CORE_SCHED_SWITCH_H

#include "core/sched/worker.h"

/* The request of the strand that was left, except for a wait without a deadline. */
void switch_finish_rare(struct worker *worker);

static inline __attribute__((always_inline)) void
switch_park(struct worker *worker, struct sley_task *task)
{
	uint32_t shield = worker->after.flags & WAIT_SHIELDED ? TASK_SHIELDED
							      : 0;

	if (unlikely(!task_park(task, shield) ||
		     (worker->cancelled && !shield &&
		      task != &worker->base_task && task_cancel_wait(task))))
		levels_push(&worker->ready, task, task_level(task));
}

/*
 * The wait of a task that holds no lock of an object.  If the task may move, another
 * worker may resume the task, and end it, at once.  But parking looks at the task
 * once more after the task is BLOCKED: the lock of the strand keeps the task from
 * ending meanwhile.  Not inline: other waits would save registers for it.
 */
static noinline __attribute__((unused)) void
switch_finish_unlocked(struct worker *worker)
{
	struct strand *strand = worker->after.strand;
	bool elsewhere = unlikely(task_moves(task_flags(strand->task)));

	if (elsewhere)
		spin_lock(&strand->end_lock);
	switch_park(worker, strand->task);
	if (elsewhere)
		spin_unlock(&strand->end_lock);
}

/* The lock of the object that the task waits for keeps the task from ending. */
static inline void switch_finish_wait(struct worker *worker)
{
	const struct after *after = &worker->after;

	if (!after->q) {
		switch_finish_unlocked(worker);
		return;
	}
	switch_park(worker, after->strand->task);
	waitq_unlock_for(after->q, after->flags);
}

/* A task that has ended, and may move, or was lent levels that it has not given back. */
void switch_end_rare(struct strand *strand, struct sley_task *task);

/* @task, which is on @strand, has ended. */
static inline void switch_end_task(struct strand *strand,
				   struct sley_task *task)
{
	if (unlikely(task_flags(task) & (TASK_MIGRATABLE | TASK_OWES)))
		switch_end_rare(strand, task);
	else
		strand_set_task(strand, NULL);
}

/*
 * The first call on every stack that was switched to.  No copy of the request is
 * taken: its fields were stored one by one just now, and a wider load would wait
 * until they have left the store buffer.
 */
static inline void switch_finish(struct worker *worker)
{
	if (likely(worker->after.kind == AFTER_WAIT))
		switch_finish_wait(worker);
	else
		switch_finish_rare(worker);
	worker->after.kind = AFTER_NOTHING;
}

/*
 * From the current strand to @to; worker->after says what becomes of the strand
 * that is left.  Returns when that strand is resumed, with the thread that
 * resumed it.  The thread need not be a worker's (core/wait/region.h); if it is a
 * worker's, switch_finish() is to be called.
 */
static inline __attribute__((always_inline)) struct fiber_thread *
worker_switch_raw(struct worker *worker, struct strand *to)
{
	struct strand *from = worker->strand;

	sley_assert(from != to);
	worker->after.strand = from;
	store_release(&worker->strand, to); /* S1 */
	*worker->forks = &to->forks;
	/* Thieves ask the strand that a worker is on. */
	fork_stack_drop_limit(&from->forks);
	strand_set_home(to, worker);
	if (unlikely(worker->trace.full))
		trace_switch(worker, from, to);
	counter_add(&worker->counters.switches, 1);
	return fiber_switch(&from->fiber, &to->fiber, &worker->thread);
}

/* The same for a strand that only workers resume: returns that worker. */
static inline __attribute__((always_inline)) struct worker *
worker_switch(struct worker *worker, struct strand *to)
{
	worker = worker_of_thread(worker_switch_raw(worker, to));
	switch_finish(worker);
	return worker;
}

/* Claim @task, which has a strand, unless @task only yielded. */
static inline struct strand *strand_resume(struct sley_task *task)
{
	struct strand *strand = task_strand(task);

	if (task_state_of(task_load(task)) == TASK_READY)
		strand->claimed = task_claim(task);
	return strand;
}

/* The strand to go to for @task, which was picked; NULL: an idle strand. */
static inline __attribute__((always_inline)) struct strand *
switch_target(struct worker *worker, struct sley_task *task)
{
	if (likely(task && task_strand(task)))
		return strand_resume(task);
	return worker_spare_strand(worker, task);
}

/*
 * Leave the current strand for @task, which was picked, or for an idle strand if
 * @task is NULL; worker->after says what becomes of the strand that is left.
 * Returns when that strand is resumed, with the worker that resumed it.
 */
static inline __attribute__((always_inline)) struct worker *
worker_switch_to(struct worker *worker, struct sley_task *task)
{
	return worker_switch(worker, switch_target(worker, task));
}

static inline __attribute__((always_inline)) struct worker *
worker_switch_away(struct worker *worker)
{
	return worker_switch_to(worker, worker_pick(worker));
}

#endif
