/* SPDX-License-Identifier: MIT */
/*
 * core_task_state.c - the state word of src/core/task/task_state.h: a task is queued
 * exactly once for each change to READY, a wait is decided once, and no cancel is
 * lost.
 *
 * The task's side is one thread: the task runs, parks as core/sched/worker.c does
 * after the switch, and is claimed again by the worker that finds the task queued.
 * Deciders and cancellers queue the task when the word tells them to.  Each thread
 * leaves plain data for the next.
 *
 * The caller of task_park() is a copy of a few lines, on purpose: the model is for
 * the word alone, under any order of calls that the header allows, and a switch to
 * a second stack and real queues would leave less room for deciders.  The lines of
 * core/sched/switch.h and core/sched/place.c run in core_waitq.c, and in all models
 * with tasks_only.h.
 *
 * Complete for a wait against two threads that decide or cancel, for two waits in a
 * row against a canceller and a waker, and for plain threads.  The models would not
 * see mistakes that take three deciders at a time; the word lets one decider win,
 * however many there are.
 */
#include "payload.h"

#include "core/task/task_state.h"

static struct sley_task task;
static uint32_t queued;       /* a queue with room for one          */
static struct payload stack;  /* written before the park: T2        */
static struct payload gift;   /* written before the wake: T1        */
static struct payload reason; /* written before the cancel: T3      */
static struct payload result; /* written before the end: T4         */
static uint32_t counted_down; /* the group of the task              */
static bool two_cancel; /* the task does not know which canceller won    */
static struct ledger {
	enum task_verdict verdict;
	bool early[2]; /* the decision; the state after the decision */
	bool dropped;
} ledger;

static void setup(void)
{
	task = (struct sley_task){ 0 };
	task_build(&task, LEVEL_DEFAULT, 0);
	queued = 1;
	stack = gift = reason = result = (struct payload){ 0 };
	counted_down = 0;
	two_cancel = false;
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	model_name(&task.state, "state");
	model_name(&queued, "queued");
}

static void setup_without_membarrier(void)
{
	setup();
	task.flags |= TASK_NO_BARRIER;
}

static void enqueue(void)
{
	MODEL_CHECK(xchg_acq_rel(&queued, 1) == 0);
}

/* A worker that takes the task from the queue. */
static uint32_t dequeue_and_claim(void)
{
	while (!xchg_acq_rel(&queued, 0))
		spin_hint(&queued);
	return task_claim(&task);
}

static void park(uint32_t shield)
{
	payload_write(&stack);
	if (!task_park(&task, shield))
		enqueue();
}

/* The decider may resume the task, and sees the data that the task left. */
static void enqueue_decided(void)
{
	payload_check(&stack);
	enqueue();
}

/* ---- wake, time-out and cancel against one wait -------------------------- */

/* RUNNING: wait, and end. */
static void wait_and_end(uint32_t shield)
{
	uint32_t state;

	park(shield);
	state = dequeue_and_claim();
	ledger.verdict = task_verdict_of(state);
	ledger.early[1] = state & TASK_EARLY;
	MODEL_CHECK(ledger.verdict != VERDICT_NONE);
	if (ledger.verdict == VERDICT_WOKEN)
		payload_check(&gift);
	if (ledger.verdict == VERDICT_CANCELLED && !two_cancel)
		payload_check(&reason);
	payload_write(&result);
	task_finish(&task);
}

static void wait_once(uint32_t shield, bool announced)
{
	(void)dequeue_and_claim();
	if (announced)
		task_announce_wait(&task);
	wait_and_end(shield);
}

static void wait_open(int id)
{
	(void)id;
	wait_once(0, true);
}

static void wait_shielded(int id)
{
	(void)id;
	wait_once(TASK_SHIELDED, true);
}

/* For several objects, with a deadline: the timer announces the wait again. */
static void wait_announced_twice(int id)
{
	(void)id;
	(void)dequeue_and_claim();
	task_announce_wait(&task);
	task_announce_wait(&task);
	wait_and_end(0);
}

/* Only a thread that knows of the wait decides the wait: after the announcement. */
static void decide(enum task_verdict with)
{
	while (!(task_observe(&task) & TASK_WAITING))
		spin_hint(&task.state);
	payload_write(&gift);
	switch (task_decide(&task, with, 0)) {
	case DECIDED_QUEUE:
		enqueue_decided();
		break;
	case DECIDED_EARLY:
		ledger.early[0] = true;
		break;
	case DECIDED_LOST:
		break;
	}
}

static void waker(int id)
{
	(void)id;
	decide(VERDICT_WOKEN);
}

static void canceller(int id)
{
	(void)id;
	if (!two_cancel)
		payload_write(&reason);
	if (task_cancel(&task))
		enqueue_decided();
}

/* For one object alone: the wait is not decided before the task is BLOCKED. */
static void wait_alone(int id)
{
	(void)id;
	wait_once(0, false);
}

/* Holds the lock of the object: the waiter is BLOCKED, or not there yet. */
static void waker_of_blocked(int id)
{
	(void)id;
	if (task_state_of(task_observe(&task)) != TASK_BLOCKED)
		return;
	payload_write(&gift);
	if (task_decide(&task, VERDICT_WOKEN, 0) == DECIDED_QUEUE)
		enqueue_decided();
}

static void ended_once(void)
{
	MODEL_CHECK(task_state_of(task.state) == TASK_COMPLETED);
	MODEL_CHECK(queued == 0);
	MODEL_CHECK(ledger.early[0] == ledger.early[1]);
}

MODEL(a_waker_ends_the_wait, .setup = setup, .threads = { wait_open, waker },
      .finish = ended_once);

MODEL(a_waker_ends_the_wait_that_is_announced_again, .setup = setup,
      .threads = { wait_announced_twice, waker }, .finish = ended_once);

MODEL(a_cancel_ends_the_wait, .setup = setup,
      .threads = { wait_open, canceller }, .finish = ended_once);

MODEL(a_cancel_ends_a_wait_for_one, .setup = setup,
      .threads = { wait_alone, canceller }, .finish = ended_once);

MODEL(a_cancel_ends_a_wait_for_one_without_membarrier,
      .setup = setup_without_membarrier, .threads = { wait_alone, canceller },
      .finish = ended_once);

MODEL(a_waker_and_a_cancel_end_a_wait_for_one, .setup = setup,
      .threads = { wait_alone, canceller, waker_of_blocked },
      .finish = ended_once);

MODEL(a_waker_and_a_cancel_end_a_wait_for_one_without_membarrier,
      .setup = setup_without_membarrier,
      .threads = { wait_alone, canceller, waker_of_blocked },
      .finish = ended_once);

static void setup_two_cancels(void)
{
	setup();
	two_cancel = true;
}

MODEL(two_cancels_end_the_wait_once, .setup = setup_two_cancels,
      .slow_modes = MODEL_RA, .threads = { wait_open, canceller, canceller },
      .finish = ended_once);

static void woken_in_spite_of_the_cancel(void)
{
	ended_once();
	MODEL_CHECK(ledger.verdict == VERDICT_WOKEN);
}

MODEL(a_shielded_wait_is_woken_only, .setup = setup,
      .threads = { wait_shielded, waker, canceller },
      .finish = woken_in_spite_of_the_cancel);

/* As for a condition variable: the task waits, and takes the mutex again. */
static void wait_open_then_shielded(int id)
{
	(void)id;
	(void)dequeue_and_claim();
	park(0);
	(void)dequeue_and_claim();
	wait_and_end(TASK_SHIELDED);
}

/* Wakes from both waits, and holds the lock of the object each time. */
static void waker_of_two(int id)
{
	(void)id;
	for (;;) {
		enum task_state state = task_state_of(task_observe(&task));

		if (state == TASK_COMPLETED)
			return;
		if (state != TASK_BLOCKED) {
			spin_hint(&task.state);
			continue;
		}
		payload_write(&gift);
		if (task_decide(&task, VERDICT_WOKEN, 0) == DECIDED_QUEUE)
			enqueue_decided();
	}
}

MODEL(a_cancel_of_one_wait_does_not_hit_the_next, .setup = setup,
      .slow_modes = MODEL_RA,
      .threads = { wait_open_then_shielded, canceller, waker_of_two },
      .finish = woken_in_spite_of_the_cancel);

/* ---- cancel against the start -------------------------------------------- */

static void start_or_drop(int id)
{
	(void)id;
	(void)dequeue_and_claim();
	if (task_is_cancelled(&task)) {
		payload_check(&reason);
		ledger.dropped = true;
		task_drop(&task);
		return;
	}
	task_finish(&task);
}

static void dropped_if_said_so(void)
{
	ended_once();
	MODEL_CHECK(ledger.dropped == !!(task.state & TASK_DROPPED));
}

MODEL(a_cancel_before_the_start_drops_the_task, .setup = setup,
      .threads = { start_or_drop, canceller }, .finish = dropped_if_said_so);

/* A task that another thread built; level and flags come with the task. */
static void setup_unbuilt(void)
{
	setup();
	task = (struct sley_task){ 0 };
	queued = 0;
}

static void build_and_queue(int id)
{
	(void)id;
	task_build(&task, 7, TASK_PINNED);
	enqueue();
}

static void start_what_was_built(int id)
{
	(void)id;
	(void)dequeue_and_claim();
	MODEL_CHECK(task_flags(&task) == (TASK_PINNED | 7 << TASK_LEVEL_SHIFT));
	task_finish(&task);
}

MODEL(who_takes_a_task_finds_it_built, .setup = setup_unbuilt,
      .threads = { build_and_queue, start_what_was_built },
      .finish = ended_once);

/* A thread that sees the drop may ask for the reason. */
static void observer_of_drop(int id)
{
	(void)id;
	if (task_observe(&task) & TASK_DROPPED)
		payload_check(&reason);
}

MODEL(who_sees_the_drop_sees_the_reason, .setup = setup,
      .threads = { start_or_drop, canceller, observer_of_drop },
      .finish = dropped_if_said_so);

/* ---- the level changes meanwhile ----------------------------------------- */

static void change_level(int id)
{
	(void)id;
	(void)task_set_level(&task, 7);
}

MODEL(a_change_of_level_disturbs_nothing, .setup = setup,
      .threads = { wait_open, canceller, change_level }, .finish = ended_once);

/* By the thread that parks the task, and by the thread that is about to queue it. */
static void canceller_of_parked(int id)
{
	(void)id;
	payload_write(&reason);
	MODEL_CHECK(!task_cancel_parked(&task));
}

static void canceller_of_unqueued(int id)
{
	(void)id;
	payload_write(&reason);
	task_cancel_unqueued(&task);
}

static void onlooker(int id)
{
	(void)id;
	if (task_is_cancelled(&task))
		payload_check(&reason);
}

static void cancelled_and_changed(void)
{
	MODEL_CHECK(task_is_cancelled(&task));
	MODEL_CHECK(task_level(&task) == 7);
}

MODEL(a_cancel_by_who_parks_it_is_seen, .setup = setup,
      .threads = { canceller_of_parked, onlooker, change_level },
      .finish = cancelled_and_changed);

MODEL(a_cancel_before_it_is_queued_is_seen, .setup = setup,
      .threads = { canceller_of_unqueued, onlooker, change_level },
      .finish = cancelled_and_changed);

/* ---- the end is seen ------------------------------------------------------ */

static void run_and_end(int id)
{
	(void)id;
	(void)dequeue_and_claim();
	payload_write(&result);
	task_finish(&task);
}

static void monitor(int id)
{
	(void)id;
	if (task_state_of(task_observe(&task)) == TASK_COMPLETED)
		payload_check(&result);
}

MODEL(who_sees_the_end_sees_the_result, .setup = setup,
      .threads = { run_and_end, monitor }, .finish = ended_once);

/* The group is counted down afterwards; then the task is the caller's again. */
static void end_and_count_down(int id)
{
	run_and_end(id);
	store_release(&counted_down, 1);
}

static void join(int id)
{
	(void)id;
	while (!load_acquire(&counted_down))
		spin_hint(&counted_down);
	MODEL_CHECK(task_state_of(task_observe(&task)) == TASK_COMPLETED);
	task = (struct sley_task){ .state = TASK_COMPLETED };
}

MODEL(who_joins_it_has_it_back, .setup = setup,
      .threads = { end_and_count_down, join }, .finish = ended_once);

/* ---- a plain thread ------------------------------------------------------- */

static void setup_thread(void)
{
	setup();
	task = (struct sley_task){ 0 };
	task_build_running(&task, TASK_THREAD, TASK_NO_BARRIER);
	queued = 0;
}

/* The thread goes on only after the decider is done with the list of waiters. */
static void thread_waits(int id)
{
	(void)id;
	MODEL_CHECK(task_park(&task, TASK_SHIELDED));
	while (!task_thread_released(&task))
		spin_hint(&task.state);
	payload_check(&gift);
}

static void thread_is_woken(int id)
{
	(void)id;
	while (task_state_of(task_observe(&task)) != TASK_BLOCKED)
		spin_hint(&task.state);
	MODEL_CHECK(task_decide(&task, VERDICT_WOKEN, 0) == DECIDED_QUEUE);
	payload_write(&gift);
	task_release_thread(&task);
}

MODEL(a_thread_is_let_go_last, .setup = setup_thread,
      .threads = { thread_waits, thread_is_woken });

/* The thread waits for several objects: decided early, it goes on at once. */
static void thread_waits_for_several(int id)
{
	(void)id;
	task_announce_wait(&task);
	if (task_park(&task, TASK_SHIELDED)) {
		while (!task_thread_released(&task))
			spin_hint(&task.state);
	}
	payload_check(&gift);
}

static void thread_is_woken_early(int id)
{
	(void)id;
	while (!(task_observe(&task) & TASK_WAITING))
		spin_hint(&task.state);
	payload_write(&gift);
	if (task_decide(&task, VERDICT_WOKEN, 0) == DECIDED_QUEUE)
		task_release_thread(&task);
}

MODEL(a_thread_is_woken_before_it_blocks, .setup = setup_thread,
      .threads = { thread_waits_for_several, thread_is_woken_early });
