/* SPDX-License-Identifier: MIT */
/*
 * core_timer.c - the deadlines of src/core/wait/timer.h, with the heap of
 * src/base/radix_heap.h: a wait is timed out not too early, once, and no
 * thread touches its timer afterwards.
 *
 * The worker's task waits for its deadline alone, as in wait_until(): the task
 * announces the wait, starts its timer and parks; the worker fires due timers when
 * the time has come, and claims the queued task; then the task stops and frees its
 * timer.  Meanwhile the monitor fires at any time, by its view of the clock; a
 * canceller cancels; and a task that was woken, and resumed by another worker, stops
 * a timer that was started here, and waits again.
 *
 * Complete for one deadline and two threads that fire, also with a cancel; and for
 * two deadlines of which one is stopped from elsewhere.  The heap is plain data
 * under the lock, so the unit test base_radix_heap.c covers more deadlines.  Wake
 * against time-out is in core_waitq.c, plain threads are in core_wait_thread.c.  Not
 * seen: a stale hint that the worker reads when it goes to sleep; only the worker's
 * own tasks make the hint earlier.
 */
#include "selves.h"

#include "core/sched/place.h"
#include "core/wait/timer.h"
#include "os/clock.h"

#include <string.h>

#define SIDES 2
#define START_NS 1000000000ull /* when virtual time begins */

static struct timers timers;
static struct side {
	struct sley_task task;
	struct timer *timer; /* as on the stack of the task: freed after use */
	uint64_t deadline_ns;
	uint32_t queued; /* 1: READY, to be claimed */
} sides[SIDES];
static struct ledger {
	int timed_out;
	int cancelled;
} ledger;

static void setup(void)
{
	selves_set(&(struct self){ 0 });
	timers_init(&timers);
	memset(sides, 0, sizeof(sides));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	model_lock_word(&timers.lock.word);
	model_name(&timers.lock.word, "lock");
	model_name(&timers.next_ns, "next_ns");
	for (int i = 0; i < SIDES; i++) {
		task_build_running(&sides[i].task, 0, 0);
		model_name(&sides[i].task.state, "task%d", i);
		model_name(&sides[i].queued, "queued%d", i);
	}
}

static void enqueue(struct sley_task *task)
{
	struct side *side = container_of(task, struct side, task);

	MODEL_CHECK(xchg_acq_rel(&side->queued, 1) == 0);
}

/* When the calling thread fires. */
static uint64_t fired_ns[MODEL_THREADS_MAX];

void task_enqueue_chain(struct sley_task *chain)
{
	while (chain) {
		struct sley_task *task = chain;
		struct side *side = container_of(task, struct side, task);

		chain = chain->next;
		MODEL_CHECK(side->deadline_ns <= fired_ns[model_thread()]);
		enqueue(task);
	}
}

/* As worker_fire_timers() does. */
static void fire(void)
{
	uint64_t next_ns = timers_next(&timers), now_ns;

	if (next_ns == UINT64_MAX)
		return;
	now_ns = os_now();
	if (next_ns > now_ns)
		return;
	fired_ns[model_thread()] = now_ns;
	timers_fire(&timers, now_ns);
}

static void begin_wait(struct side *side, uint64_t deadline_ns)
{
	side->deadline_ns = deadline_ns;
	side->timer = model_alloc(sizeof(*side->timer));
	task_announce_wait(&side->task);
	timer_start(&timers, side->timer, &side->task, deadline_ns);
}

static enum task_verdict end_wait(struct side *side)
{
	enum task_verdict verdict = task_verdict_of(task_claim(&side->task));

	timer_stop(side->timer);
	model_free(side->timer);
	return verdict;
}

static void worker(int id)
{
	struct side *side = &sides[0];
	enum task_verdict verdict;

	(void)id;
	begin_wait(side, START_NS + 10);
	if (!task_park(&side->task, 0))
		enqueue(&side->task);
	model_advance(10);
	fire();
	while (!xchg_acq_rel(&side->queued, 0))
		spin_hint(&side->queued);
	verdict = end_wait(side);
	MODEL_CHECK(verdict == VERDICT_TIMED_OUT ||
		    verdict == VERDICT_CANCELLED);
	ledger.timed_out += verdict == VERDICT_TIMED_OUT;
	ledger.cancelled += verdict == VERDICT_CANCELLED;
	task_finish(&side->task);
}

static void monitor(int id)
{
	(void)id;
	fire();
}

static void canceller(int id)
{
	(void)id;
	if (task_cancel(&sides[0].task))
		enqueue(&sides[0].task);
}

static void ended(void)
{
	MODEL_CHECK(ledger.timed_out + ledger.cancelled == 1);
	MODEL_CHECK(sides[0].queued == 0);
	MODEL_CHECK(!timers.heap.filled && !timers.heap.bucket[0]);
	MODEL_CHECK(timers.lock.word == 0);
}

static void timed_out(void)
{
	ended();
	MODEL_CHECK(ledger.timed_out == 1);
}

MODEL(two_fire_one_deadline, .setup = setup, .threads = { worker, monitor },
      .finish = timed_out);

MODEL(a_deadline_against_a_cancel, .setup = setup,
      .threads = { worker, canceller }, .finish = ended);

MODEL(a_deadline_is_fired_by_two_against_a_cancel, .setup = setup,
      .threads = { worker, monitor, canceller }, .finish = ended);

/* ---- a timer that is stopped from elsewhere ------------------------------------- */

/* The task was woken, and its deadline has passed meanwhile. */
static void setup_moved(void)
{
	setup();
	begin_wait(&sides[1], START_NS);
	if (!task_park(&sides[1].task, 0) ||
	    task_decide(&sides[1].task, VERDICT_WOKEN, 0) != DECIDED_QUEUE)
		MODEL_CHECK(!"a wait is decided");
}

/* The next wait has no deadline: no timer may end it. */
static void moved(int id)
{
	(void)id;
	MODEL_CHECK(end_wait(&sides[1]) == VERDICT_WOKEN);
	task_announce_wait(&sides[1].task);
}

static void next_wait_goes_on(void)
{
	timed_out();
	MODEL_CHECK(sides[1].queued == 0);
	MODEL_CHECK(task_verdict_of(sides[1].task.state) == VERDICT_NONE);
}

MODEL(a_timer_is_stopped_by_another_worker, .setup = setup_moved,
      .threads = { worker, moved }, .finish = next_wait_goes_on);

MODEL(a_timer_is_stopped_while_two_fire, .setup = setup_moved,
      .threads = { worker, moved, monitor }, .finish = next_wait_goes_on);
