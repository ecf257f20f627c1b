/* SPDX-License-Identifier: MIT */
/*
 * worker.c - the loop, and how a worker moves from strand to strand.
 *
 * A worker is always on one strand.  The worker leaves a strand when the task there
 * blocks or yields, or when the loop there finds a task that has a strand of its
 * own.  The request of the strand that was left is carried out on the next strand,
 * as the first thing (switch_finish): only then has the worker left the old stack.
 *
 * Each function that can switch returns the worker that resumed it: the strand of a
 * task that may move may come back on another worker.
 *
 * If there is no memory for another stack, a blocking task leaves to the base,
 * the thread's own stack.  No task ever runs there; the base resumes strands until
 * a strand becomes idle.  So blocking cannot fail.  Meanwhile the worker does not
 * take part in idle.h: a worker that is woken for new tasks must have a stack for
 * them.
 */
#include "core/sched/place.h"
#include "core/sched/worker.h"

#include "base/assert.h"
#include "core/life/drain.h"
#include "core/task/then.h"
#include "core/sched/steal.h"
#include "core/task/group.h"
#include "core/wait/holder.h"
#include "core/life/hooks.h"
#include "core/sched/suspend.h"
#include "core/sched/loop.h"
#include "core/sched/poller.h"
#include "core/wait/region.h"
#include "core/sched/source.h"
#include "core/sched/stack_shortage.h"
#include "core/task/slot.h"
#include "core/task/turn.h"
#include "core/wait/waitq.h"
#include "core/sched/yielded.h"
#include "os/clock.h"
#include "os/futex.h"

#include <errno.h>

#define LIMBO_STACK_SIZE ((size_t)64 << 10)
#define LIMBO_PICKS 4096
#define LIMBO_NAP_NS 1000000

_Thread_local struct self sley__self
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

#define NO_SLOTS 65536 /* threads between two instructions, twice at worst */

static struct sley_forked *no_slots[NO_SLOTS];

/*
 * The forks of all threads that run no tasks and have not forked yet.  Such
 * threads push here, one after the other or some at once, before they know; see
 * sley_fork_slow().  A thread that forked, was bound and has unbound joins here.
 * The join lowers the head for a moment, also below 0: so there are slots there, too.
 */
struct sley_forks sley__no_forks = {
	.slot = no_slots + NO_SLOTS / 2,
	.unlocked = HOLDER_TAKES_NONE,
};
_Thread_local struct sley_forks *sley_forks_current = &sley__no_forks;

#ifndef SLEY_MODEL
noinline struct worker *worker_now(void)
{
	return worker_current();
}
#endif

/* ---- from strand to strand ------------------------------------------------ */

/* Is the worker on a strand whose loop will look for a task? */
static bool is_idle(const struct worker *worker)
{
	return !worker->handoff && !worker->strand->task &&
	       worker->strand != worker->limbo;
}

/*
 * The task that was left may have started a timer.  A worker that goes on with a
 * task may miss the deadline; a worker without a task parks until then.  The worker
 * has picked no task, or has not looked everywhere, since a lock was held: now the
 * lock is not held any more.
 */
static void expect_timer_of_wait(struct worker *worker)
{
	if (is_idle(worker)) {
		worker->after.kind = AFTER_NOTHING;
		worker->handoff = worker_pick(worker);
	}
	if (worker->handoff || worker->strand->task)
		worker_expect_timers(worker);
}

static noinline void finish_others(struct worker *worker)
{
	const struct after *after = &worker->after;

	switch (after->kind) {
	case AFTER_NOTHING:
	case AFTER_YIELD:
		break;
	case AFTER_WAIT:
		switch_finish_wait(worker);
		break;
	case AFTER_WAIT_UNTIL:
		switch_finish_wait(worker);
		expect_timer_of_wait(worker);
		break;
	case AFTER_FORK:
		fork_finish_wait(worker, after);
		break;
	case AFTER_INBOX:
		turn_finish_wait(worker, after);
		expect_timer_of_wait(worker);
		break;
	case AFTER_OVERTAKEN:
		yielded_put_first(worker, after->strand);
		break;
	case AFTER_REGION:
		region_finish_enter(worker, after->strand);
		break;
	case AFTER_IDLE:
		strand_put(worker, after->strand);
		break;
	}
}

/* Of these only a yield may be frequent: no registers are saved for it. */
void switch_finish_rare(struct worker *worker)
{
	/* The task stays RUNNING: the task is this worker's, in its own queue. */
	if (worker->after.kind == AFTER_YIELD)
		yielded_put(worker, worker->after.strand);
	else
		finish_others(worker);
}

struct strand *worker_spare_strand(struct worker *worker,
				   struct sley_task *task)
{
	struct strand *strand = strand_get(worker);

	if (likely(strand)) {
		worker->handoff = task;
		return strand;
	}
	/* No stack for another loop: @task, if there is one, has to wait. */
	if (task) {
		place_spawned(worker, task);
		stack_shortage_note(worker);
	}
	return worker->limbo;
}

/*
 * A task below the default level gives way to its own level, here and in the processes that
 * share the cores: the task itself is in no queue, where a pick would see its level.
 */
static noinline struct sley_task *pick_beside_low(struct worker *worker,
						  unsigned int level)
{
	struct sley_task *task = worker_pick_low(worker, level);

	if (!task)
		(void)worker_gives_core(worker, level);
	return task;
}

/*
 * Only the loop of an idle strand passes a core on, or ends overtaking: core/sched/lease.h.
 * Otherwise a task of @level that yields to no other task may go on.
 */
static bool must_leave(const struct worker *worker, unsigned int level)
{
	return lease_is_asked(&worker->lease) &&
	       (lease_is_called(&worker->lease) ||
		level > lease_lowest(worker));
}

void worker_yield(struct worker *worker)
{
	struct strand *strand = worker->strand;
	struct sley_task *next;

	suspend_begin(worker);
	next = worker_pick(worker);
	if (unlikely(!next) && task_level(strand->task) > LEVEL_DEFAULT)
		next = pick_beside_low(worker, task_level(strand->task));
	if (next || must_leave(worker, task_level(strand->task))) {
		worker->after.kind = AFTER_YIELD;
		(void)worker_switch_to(worker, next);
	}
	suspend_end(strand);
}

/* ---- the loop -------------------------------------------------------------- */

static void set_task(struct strand *strand, struct sley_task *task)
{
	/* relaxed: read by reports only, and by this strand. */
	store_relaxed(&strand->fiber.code, (const void *)(uintptr_t)task->fn);
	/* relaxed: as above. */
	store_relaxed(&strand->fiber.label, task->name);
	strand_set_task(strand, task);
}

static bool is_cancelled(const struct worker *worker,
			 const struct sley_task *task)
{
	return task_is_cancelled(task) || worker->cancelled;
}

/*
 * Before a task that is cancelled, or was spawned with a waker.  False: the task
 * is dropped.  A stolen child, on which its parent relies, and a hook are not
 * dropped.
 */
static bool starts(const struct worker *worker, struct strand *strand,
		   struct sley_task *task)
{
	uint32_t flags = task_flags(task);

	if (flags & TASK_SLOT)
		slot_start(strand, task);
	return (flags & TASK_MUST_RUN) || !is_cancelled(worker, task);
}

/* Is there more to do than to call the function of @task? */
static inline bool is_special(const struct worker *worker,
			      const struct sley_task *task)
{
	return (task_flags_acquire(task) &
		(TASK_CANCELLED | TASK_SLOT | TASK_MEMBER | TASK_TURNS |
		 TASK_FPU)) ||
	       worker->cancelled;
}

/* As end_task(), for a task that has a continuation, or is freed. */
static noinline void end_marked(struct worker *worker, struct sley_task *task,
				bool ran)
{
	struct sley_task *next = continuation_of(task->group);
	struct sley_group *group = then_group(task);

	if (ran)
		task_finish(task);
	else
		task_drop(task);
	if (!next)
		slab_free(&worker->rt->tasks, task);
	group_done(group);
	if (next)
		place_accepted(next);
	drain_count_finished(worker);
}

/* The end of @task: nothing of @task may be touched afterwards. */
static inline void end_task(struct worker *worker, struct sley_task *task,
			    bool ran)
{
	struct sley_group *group = task->group;

	if (unlikely(then_is_marked(group))) {
		end_marked(worker, task, ran);
		return;
	}
	if (ran)
		task_finish(task);
	else
		task_drop(task);
	if (group)
		group_done(group);
	else
		slab_free(&worker->rt->tasks, task);
	drain_count_finished(worker);
}

/* The task owes something, or has joined its children in another order. */
static cold void complain(struct strand *strand)
{
	uint64_t self = (uintptr_t)&strand->forks;

	if (strand->regions)
		holder_misuse(__func__,
			      "%s ended inside a blocking region: call "
			      "sley_blocking_end() first",
			      self);
	fork_stack_trim(&strand->forks);
	if (!fork_stack_empty(&strand->forks))
		holder_misuse(__func__,
			      "%s ended without joining all children that it "
			      "had forked: call sley_fork_join() for each",
			      self);
}

/* A strand made for @task names @task even if @task is dropped. */
static noinline void drop(struct worker *worker, struct strand *strand,
			  struct sley_task *task)
{
	cleanups_run(&strand->cleanups);
	switch_end_task(strand, task);
	end_task(worker, task, false);
}

static inline __attribute__((always_inline)) void
begin(struct worker *worker, struct strand *strand, struct sley_task *task)
{
	set_task(strand, task);
	trace_task(&worker->trace, TRACE_TASK_BEGIN, task);
}

/* @task has returned: the strand is free of it afterwards. */
static inline __attribute__((always_inline)) struct worker *
settle(struct strand *strand, struct sley_task *task)
{
	struct worker *worker;

	if (unlikely(strand->cleanups))
		cleanups_run(&strand->cleanups);
	if (unlikely(fork_head(&strand->forks) || strand->regions))
		complain(strand);
	worker = strand->home;
	trace_task(&worker->trace, TRACE_TASK_END, task);
	switch_end_task(strand, task);
	return worker;
}

static inline __attribute__((always_inline)) struct worker *
finish(struct strand *strand, struct sley_task *task)
{
	struct worker *worker = settle(strand, task);

	end_task(worker, task, true);
	return worker;
}

/*
 * An earlier task on this strand may have left another rounding mode behind.
 * The reset is made only where .save_fpu asked for it.
 */
static inline void reset_fpu(const struct sley_task *task)
{
	if (unlikely(task_flags(task) & TASK_FPU))
		fiber_reset_fpu();
}

/*
 * One turn of @task, which may have blocked in it; see turn.h for the end of a
 * turn.  Then comes @next, or NULL.
 */
static inline struct worker *run_turn(struct worker *worker,
				      struct strand *strand,
				      struct sley_task *task,
				      struct sley_task **next)
{
	begin(worker, strand, task);
	reset_fpu(task);
	task->fn(task);
	worker = settle(strand, task);
	task_set_strand(task, NULL);
	counter_add(&worker->counters.turns, 1);
	*next = turns_of(task)->after(worker, task);
	return worker;
}

/*
 * Processes that send each other messages: turn after turn, without going back to
 * the loop.  A strand that was made for one task is for no other task.
 */
static struct worker *run_turns(struct worker *worker, struct strand *strand,
				struct sley_task *task)
{
	/* The next turn may be on another strand: see core/wait/holder.h. */
	strand->forks.unlocked = HOLDER_TAKES_NONE;
	for (;;) {
		struct sley_task *next;

		worker = run_turn(worker, strand, task, &next);
		task = next;
		if (unlikely(strand_has_own_stack(strand))) {
			sley_assert(!task);
			strand->forks.unlocked = 0;
			return worker;
		}
		if (!task)
			task = worker_pick(worker);
		if (unlikely(!task || task->fiber ||
			     !(task_flags(task) & TASK_TURNS)))
			break;
		(void)task_claim(task);
	}
	strand->forks.unlocked = 0;
	worker->handoff = task;
	return worker;
}

/*
 * A task with turns or a waker, a member of a scope, a cancelled task, or a task
 * that begins with a rounding mode of its own.
 */
static noinline struct worker *
run_rare(struct worker *worker, struct strand *strand, struct sley_task *task)
{
	if (likely(task_flags(task) & TASK_TURNS))
		return run_turns(worker, strand, task);
	reset_fpu(task);
	if (task_flags(task) & TASK_MEMBER) {
		if (task_flags(task) & TASK_SLOT)
			slot_start(strand, task);
		if (scope_start(strand, task, is_cancelled(worker, task))) {
			begin(worker, strand, task);
			scope_run(strand, task);
			return finish(strand, task);
		}
	} else if (starts(worker, strand, task)) {
		begin(worker, strand, task);
		task->fn(task->arg);
		return finish(strand, task);
	}
	drop(worker, strand, task);
	return worker;
}

/* Run a task that is claimed, on @strand.  Rare cases are out of line. */
static inline __attribute__((always_inline)) struct worker *
run(struct worker *worker, struct strand *strand, struct sley_task *task)
{
	if (unlikely(is_special(worker, task)))
		return run_rare(worker, strand, task);
	begin(worker, strand, task);
	task->fn(task->arg);
	return finish(strand, task);
}

/* The next task for the loop; NULL: the worker stops. */
static struct sley_task *next_task(struct worker *worker)
{
	struct sley_task *task = worker->handoff;

	if (task) {
		worker->handoff = NULL;
		return task;
	}
	task = worker_pick(worker);
	return likely(task) ? task : worker_search(worker);
}

static inline struct worker *
loop_once(struct worker *worker, struct strand *strand, struct sley_task *task)
{
	if (!task_strand(task)) {
		(void)task_claim(task);
		return run(worker, strand, task);
	}
	worker->after.kind = AFTER_IDLE;
	return worker_switch(worker, strand_resume(task));
}

void strand_main(void *arg, struct fiber_thread *thread)
{
	struct worker *worker = worker_of_thread(thread);
	struct strand *strand = arg;
	struct sley_task *task;

	switch_finish(worker);
	if (strand->task) { /* made for this task, and ends with it */
		worker = run(worker, strand, strand->task);
		worker->after.kind = AFTER_IDLE;
		(void)worker_switch_away(worker);
	}
	while ((task = next_task(worker)))
		worker = loop_once(worker, strand, task);
	worker->after.kind = AFTER_IDLE;
	(void)worker_switch(worker, &worker->base);
	sley_bug("a strand was resumed after its end");
}

/* ---- below the loop --------------------------------------------------------- */

/*
 * Some task that has a stack already, whatever its level; or NULL.  Such a task may
 * be anywhere if it may move, or was spawned with a stack of its own.
 */
static struct sley_task *pick_resumable(struct worker *worker)
{
	struct task_fifo rest = { 0 };
	struct sley_task *task = NULL;

	for (unsigned int i = 0; i < LIMBO_PICKS; i++) {
		task = worker_pick(worker);
		if (!task)
			task = worker_pick_low(worker, NR_LEVELS - 1);
		if (!task || task_strand(task))
			break;
		fifo_push(&rest, task);
		task = NULL;
	}
	if (rest.first)
		stack_shortage_note(worker);
	while (rest.first)
		place_spawned(worker, fifo_take(&rest));
	return task;
}

/* No memory for a stack: wait a little for another task to return its stack. */
static void wait_for_memory(struct worker *worker)
{
	uint64_t deadline_ns = os_now() + LIMBO_NAP_NS;

	if (timers_next(&worker->timers) < deadline_ns)
		deadline_ns = timers_next(&worker->timers);
	/* No waker wakes a seat that is not taken. */
	(void)os_futex_wait(&worker->seat.word, SEAT_AWAKE, deadline_ns);
}

/*
 * On a stack where no task may run: go to a strand and stay there, or at least
 * resume the tasks that have a strand.  Returns when the runtime stops.
 */
static void run_strands(struct worker *worker)
{
	/* relaxed: the stopper wakes all workers after setting the phase. */
	while (load_relaxed(&worker->rt->phase) != PHASE_STOPPING) {
		struct strand *strand = strand_get(worker);
		struct sley_task *task;

		if (likely(strand)) {
			(void)worker_switch(worker, strand);
			continue;
		}
		worker_fire_timers(worker);
		if (lease_is_asked(&worker->lease))
			(void)lease_settle(worker);
		task = pick_resumable(worker);
		stack_shortage_report(worker);
		if (task)
			(void)worker_switch(worker, strand_resume(task));
		else
			wait_for_memory(worker);
	}
}

static void limbo_main(void *arg, struct fiber_thread *thread)
{
	struct worker *worker = worker_of_thread(thread);

	(void)arg;
	switch_finish(worker);
	run_strands(worker);
	sley_bug("a single-threaded runtime stopped under a bound thread");
}

/* ---- life -------------------------------------------------------------------- */

int worker_init(struct worker *worker, struct sley *rt, unsigned int index)
{
	worker->rt = rt;
	worker->index = index;
	if (rt->config.spin_us != SLEY_NO_SPIN)
		worker->spin_max_ns = rt->config.spin_us * 1000;
	worker->spin_ns = worker->spin_max_ns;
	worker->task_flags = runtime_task_flags(rt);
	rand_seed(&worker->rand, rt->config.seed + index + 1);
	timers_init(&worker->timers);
	gauge_load_init(&worker->load, os_now());
	idle_seat_init(&worker->seat);
	list_init(&worker->parents);
	list_init(&worker->link);
	list_init(&worker->base.parents);
	fork_stack_init(&worker->base.forks);
	worker->idle_strands = strand_get(worker); /* the first strand */
	if (!worker->idle_strands)
		return -ENOMEM;
	worker->idle_strands->next = NULL;
	worker->nr_idle = 1;
	return trace_ring_init(&worker->trace, &rt->trace, &rt->mem);
}

void worker_fini(struct worker *worker)
{
	timers_end(&worker->timers);
	while (worker->idle_strands) {
		struct strand *strand = worker->idle_strands;

		worker->idle_strands = strand->next;
		strand_free(worker->rt, strand);
	}
	fork_storage_free(worker->rt, &worker->base);
	object_pool_flush(&worker->cache[CACHE_MESSAGES]);
	object_pool_flush(&worker->cache[CACHE_PROCESSES]);
	trace_ring_fini(&worker->trace, &worker->rt->mem);
}

/* From now on the calling thread is @worker. */
static void become(struct worker *worker)
{
	sley__self.worker = worker;
	sley__self.bound = worker->rt;
	sley_forks_current = &worker->base.forks;
	worker->forks = &sley_forks_current;
	worker->base.forks.unlocked = HOLDER_TAKES_NONE;
	worker->holder = holder_of_thread();
	fiber_thread_init(&worker->thread);
	fiber_init_thread(&worker->base.fiber, &worker->thread);
	worker->base.home = worker;
	store_release(&worker->strand, &worker->base); /* S1 */
	worker->limbo = &worker->base;
}

static void cease(struct worker *worker)
{
	poller_ring_end(worker);
	fiber_fini(&worker->base.fiber);
	fiber_thread_fini(&worker->thread);
	sley__self.worker = NULL;
	sley__self.bound = NULL;
	sley_forks_current = &sley__no_forks;
}

void worker_main(struct worker *worker)
{
	become(worker);
	run_strands(worker);
	lease_return(worker);
	cease(worker);
}

int worker_bind(struct worker *worker)
{
	struct sley_task *task = &worker->base_task;

	worker->limbo_strand =
		strand_create(worker->rt, LIMBO_STACK_SIZE, limbo_main, NULL);
	if (!worker->limbo_strand)
		return -ENOMEM;
	become(worker);
	worker->limbo = worker->limbo_strand;
	task_build_running(task, 0, TASK_PINNED | worker->task_flags);
	task->name = "bound thread";
	task_set_strand(task, &worker->base);
	set_task(&worker->base, task);
	return 0;
}

/* The code of the bound thread has ended: so must all tasks that it spawned. */
static void end_base(struct worker *worker)
{
	cleanups_run(&worker->base.cleanups);
	if (!drain_is_done(worker)) {
		worker->draining = true;
		worker->after.kind = AFTER_WAIT;
		worker->after.q = NULL;
		worker->after.flags = WAIT_SHIELDED;
		(void)worker_switch_away(worker);
	}
	worker->leaves = true;
	/* This thread may have been woken for a source: another one looks. */
	if (sources_exist(worker->rt))
		idle_notify(&worker->rt->idle);
}

void worker_unbind(struct worker *worker)
{
	end_base(worker);
	hooks_call_stop(worker->rt);
	end_base(worker);
	strand_free(worker->rt, worker->limbo_strand);
	cease(worker);
}

bool worker_has_spare_strand(struct worker *worker)
{
	struct strand *strand = strand_get(worker);

	if (strand)
		strand_put(worker, strand);
	return strand;
}

int worker_step(struct worker *worker)
{
	struct sley_task *task;

	worker_fire_timers(worker);
	task = worker_pick(worker);
	if (!task)
		task = source_pick(worker);
	if (!task)
		task = worker_pick_low(worker, NR_LEVELS - 1);
	if (!task)
		return 0;
	/* It must not end in limbo. */
	if (unlikely(!task_strand(task) && !worker_has_spare_strand(worker))) {
		place_spawned(worker, task);
		return -ENOMEM;
	}
	worker_set_step(worker, &worker->base_task);
	worker->after.kind = AFTER_NOTHING;
	(void)worker_switch_to(worker, task);
	return 1;
}
