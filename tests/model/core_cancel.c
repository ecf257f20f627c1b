/* SPDX-License-Identifier: MIT */
/*
 * core_cancel.c - src/core/life/runtime_cancel.c: when everything is cancelled, the
 * worker of each blocked task wakes the task, and a task that ends meanwhile is not
 * touched any more.
 *
 * A worker parks its task, which only the cancel can wake, and searches with the
 * very search.c: the worker must find the task.  The first pick is a fair pick,
 * which takes a poke back, or is not.
 *
 * If the task may move, another worker wakes the task, resumes and ends the task
 * there, and frees it; the worker that parked the task is still looking at the state
 * of the task, or goes through its strands to cancel them.  Then the other worker may
 * run a second task on the strand, which does not move, and ends without the lock.
 *
 * Complete for one task, one worker and one canceller, with membarrier and
 * without; and for a task that moves, with or without the second task, and two
 * workers of a runtime that is cancelled already.  Not seen: two strands of one worker, a task that changes
 * workers twice, and a canceller beside both workers.
 */
#include "core/sched/place.h"
#include "crew.h"

static struct strand *strand;
static struct sley_task *task; /* freed at its end */
static struct object {
	struct spinlock lock;
	struct sley_task *waiter;
} object;
static struct ledger {
	int ended;
	enum task_verdict verdict;
} ledger;

static void setup(unsigned int workers)
{
	crew_set_up(workers);
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	slab_init(&rt->strands, &rt->mem, sizeof(struct strand));
	strand = slab_alloc(&rt->strands);
	task = model_alloc(sizeof(*task));
	task_build_running(task, 0, rt->membarrier ? 0 : TASK_NO_BARRIER);
	task->fiber = strand;
	strand->task = task;
	strand->home = &crew[0];
	crew[0].strand = strand;
	object = (struct object){ .waiter = task };
	model_lock_word(&object.lock.word);
	model_lock_word(&rt->strands.lock.word);
	model_lock_word(&strand->end_lock.word);
	model_lock_word(&rt->bound_lock.word);
	model_name(&rt->strands.lock.word, "slab.lock");
	model_name(&object.lock.word, "object");
	model_name(&strand->end_lock.word, "end_lock");
	model_name(&strand->task, "strand.task");
	model_name(&strand->home, "strand.home");
	model_name(&rt->cancelled, "cancelled");
	model_name(&rt->drain.gate, "gate");
	model_name(&task->state, "state");
	model_name(&task->flags, "flags");
}

/*
 * The end of the task, on any worker.  The task first leaves the object it waited
 * for, as all tasks do.
 */
static void resume_and_end(struct worker *worker, struct sley_task *found)
{
	MODEL_CHECK(found == task);
	store_relaxed(&strand->home, worker);
	ledger.verdict = task_verdict_of(task_claim(found));
	spin_lock(&object.lock);
	object.waiter = NULL;
	spin_unlock(&object.lock);
	switch_end_task(strand, found);
	task_finish(found);
	model_free(found);
	ledger.ended++;
}

/* ---- one worker ---------------------------------------------------------------------- */

static void setup_one(void)
{
	setup(1);
}

static void setup_fair(void)
{
	setup(1);
	crew[0].tick = 1000;
}

static void block_and_search(int id)
{
	struct worker *worker = &crew[id];

	worker->after = (struct after){ .kind = AFTER_WAIT, .strand = strand };
	switch_finish_wait(worker);
	resume_and_end(worker, worker_search(worker));
}

static void cancel_all(int id)
{
	(void)id;
	runtime_cancel_all(rt);
}

static void was_cancelled(void)
{
	MODEL_CHECK(ledger.ended == 1);
	MODEL_CHECK(ledger.verdict == VERDICT_CANCELLED);
	MODEL_CHECK(rt->drain.gate == 0);
}

#define BOTH_VARIANTS(name, ...)                                               \
	MODEL(name##_with_membarrier, __VA_ARGS__);                            \
	MODEL(name##_without_membarrier, .no_membarrier = true, __VA_ARGS__)

BOTH_VARIANTS(a_blocked_task_hears_of_the_cancel, .setup = setup_one,
	      .threads = { block_and_search, cancel_all },
	      .finish = was_cancelled);

BOTH_VARIANTS(a_fair_pick_does_not_lose_the_poke, .setup = setup_fair,
	      .threads = { block_and_search, cancel_all },
	      .finish = was_cancelled);

/* ---- a task that may move --------------------------------------------------------------- */

static void setup_movable(void)
{
	setup(2);
	task->flags |= TASK_MIGRATABLE;
	rt->cancelled = 1;
	task_announce_wait(task);
}

static void resume_what_is_found(struct worker *worker)
{
	struct sley_task *found = worker_pick(worker);

	if (found)
		resume_and_end(worker, found);
}

/* Parks a task that waits for several objects, so for no lock; then cancels. */
static void park_and_cancel(int id)
{
	struct worker *worker = &crew[id];

	worker->after = (struct after){ .kind = AFTER_WAIT, .strand = strand };
	switch_finish_wait(worker);
	runtime_cancel_strands(worker);
	resume_what_is_found(worker);
}

static void wake_and_resume(int id)
{
	enum task_decision decision = DECIDED_LOST;
	struct sley_task *waiter;

	spin_lock(&object.lock);
	waiter = object.waiter;
	if (waiter)
		decision = task_decide(waiter, VERDICT_WOKEN, 0);
	spin_unlock(&object.lock);
	if (decision == DECIDED_QUEUE) {
		task_enqueue(waiter);
		resume_what_is_found(&crew[id]);
	}
}

static void ended_once(void)
{
	MODEL_CHECK(ledger.ended == 1);
	MODEL_CHECK(!strand->task);
}

BOTH_VARIANTS(a_task_ends_elsewhere_while_it_is_cancelled,
	      .setup = setup_movable,
	      .threads = { park_and_cancel, wake_and_resume },
	      .finish = ended_once);

/* ---- a strand with a second task, which does not move ------------------------------------ */

static void cancel_only(int id)
{
	runtime_cancel_strands(&crew[id]);
}

/* The task that moves is about to be resumed by the other worker. */
static void setup_resumed_elsewhere(void)
{
	setup_movable();
	task->state = TASK_READY;
}

static void end_and_run_another(int id)
{
	struct worker *worker = &crew[id];
	struct sley_task *second = model_alloc(sizeof(*second));

	resume_and_end(worker, task);
	task_build_running(second, 0, rt->membarrier ? 0 : TASK_NO_BARRIER);
	strand_set_task(strand, second);
	model_access(second);
	switch_end_task(strand, second);
	task_finish(second);
	model_free(second);
}

BOTH_VARIANTS(a_task_of_another_worker_on_the_strand_is_left_alone,
	      .setup = setup_resumed_elsewhere,
	      .threads = { cancel_only, end_and_run_another },
	      .finish = ended_once);
