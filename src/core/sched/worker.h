/* SPDX-License-Identifier: MIT */
/*
 * worker.h - a worker, and how it runs tasks on strands.
 *
 * A *worker* is an OS thread of ours, or a bound thread of a single-threaded
 * runtime.  A worker runs tasks on *strands*.  A strand is a fiber with the worker's
 * loop at its bottom: the loop takes a task and calls it, on the same stack.
 * Only if the task blocks does its strand become that task's own; the worker
 * goes on with the loop of another strand.  So a task that never blocks never
 * costs a stack.
 *
 *     strand A                     strand B
 *     ┌──────────────┐             ┌──────────────┐
 *     │ worker loop  │             │ worker loop  │  ◄── the worker is here
 *     │  task 1      │             │  task 2      │
 *     │   chan_recv  │ suspended   └──────────────┘
 *     └──────────────┘
 *
 * Files: strand.h  a strand, and the cache of idle strands
 *        worker.c  the loop, blocking and yielding
 *        pick.c    which of the tasks at hand a worker takes next
 *        search.c  where a worker without tasks looks, and how it parks
 *        place.h   where a task goes that became ready
 *        self.h    the role of the calling thread
 *        core/life/sley.h  a runtime
 *
 * Edges:
 *
 *   S1  a worker goes to a strand -> thieves look at its forks : the strand exists
 *   G1  a guest leaves -> the worker is freed : the guest is done with the worker
 *   P2  a worker has looked through its queues -> a thief sees so : the tasks that
 *       the thief then takes from there are in their place, see place_level.c
 *   P3  the starter of an alarm pokes the keeper -> the keeper takes the poke back :
 *       the deadline, at which the keeper then looks
 */
#ifndef SLEY_CORE_SCHED_WORKER_H
#define SLEY_CORE_SCHED_WORKER_H

#include "base/list.h"
#include "base/rand.h"
#include "core/life/sley.h"
#include "core/sched/gauge.h"
#include "core/sched/idle.h"
#include "core/sched/lease.h"
#include "core/sched/levels.h"
#include "core/sched/monitor.h"
#include "core/sched/next_slot.h"
#include "core/sched/outside.h"
#include "core/sched/pace.h"
#include "core/sched/poller_fields.h"
#include "core/sched/self.h"
#include "core/sched/strand.h"
#include "core/trace/trace.h"
#include "core/wait/timer.h"
#include "core/wait/waitq.h"
#include "fiber/fiber.h"
#include "lf/inbox.h"
#include "lf/push_list.h"
#include "lf/ring.h"
#include "mem/object_pool.h"
#include "os/thread.h"

#include <pthread.h>
#include <sley/task.h>

/*
 * The request of the strand that was left, for the next strand to carry out: only
 * now has the worker left the old stack.
 */
enum after_kind {
	AFTER_NOTHING,
	AFTER_WAIT, /* park the task, release the lock of its object            */
	AFTER_WAIT_UNTIL, /* the same, of a task with a timer                */
	AFTER_FORK,  /* park the task, unless its child has ended            */
	AFTER_INBOX, /* park the task, unless something is in its inbox      */
	AFTER_YIELD, /* queue the task again                                 */
	AFTER_OVERTAKEN, /* the same, before the others of its level         */
	AFTER_REGION, /* let a thread of core/wait/blocking.h run the task        */
	AFTER_IDLE, /* keep the strand for later, or free it                */
};

struct after {
	enum after_kind kind;
	struct strand *strand; /* the strand that was left                   */
	struct sley_waitq *q;  /* of a wait: locked; may be NULL            */
	enum wait_flags flags; /* of a wait                                 */
	struct sley_forked *child; /* AFTER_FORK                                */
	struct inbox *inbox;    /* AFTER_INBOX                               */
	struct push_node *seen; /* AFTER_INBOX: may be in the inbox          */
};

/* Was the strand left for a wait, with or without a deadline? */
static inline bool after_is_wait(const struct after *after)
{
	return after->kind == AFTER_WAIT || after->kind == AFTER_WAIT_UNTIL;
}

/* When a task could not be started for want of a stack. */
struct stack_shortage {
	uint64_t first_ns; /* of this shortage */
	uint64_t last_ns;
};

/* Written by the worker, summed by any thread. */
struct worker_counters {
	uint64_t spawned;
	uint64_t finished;
	uint64_t switches;
	uint64_t steals;
	uint64_t parks;
	uint64_t turns; /* see core/task/turn.h */
};

/* Pools of the models that keep a cache in each worker. */
enum worker_cache {
	CACHE_MESSAGES,  /* actor/mail/mail.c     */
	CACHE_PROCESSES, /* actor/process/process_table.c */
	CACHE_BUFFERS,   /* stream/buffer.c       */
	NR_WORKER_CACHES,
};

struct worker {
	/* Its own: read and written by its thread alone, but for reports. */
	struct sley_forks **forks; /* the thread's sley_forks_current        */
	struct fiber_thread thread;
	struct sley *rt;
	struct strand *strand; /* the strand that the worker is on           */
	struct after after;
	struct sley_task *handoff; /* picked, to be started by the loop      */
	uint32_t tick;             /* picks since the last fair pick         */
	uint32_t fair;             /* fair picks: whose turn it is           */
	bool took_noticed;         /* the last one: see pick_noticed()       */
	uint32_t io_calls;         /* of src/io, so far                      */
	uint32_t sources_left;     /* without a turn in this round: source.c */
	struct sley_source *asks;  /* whose function it calls, or NULL       */
	uint32_t spin_ns;          /* how long a search lasts                */
	uint32_t spin_max_ns;      /* at most; 0: a worker does not spin     */
	uint32_t task_flags;       /* of every task: runtime_task_flags()    */
	uint32_t changes;          /* changes of levels that it has seen     */
	bool cancelled; /* has seen sley_cancel_all()                        */
	bool stopping;  /* its processes end: actor/process/stop.h           */
	bool wanders;   /* and tells where it is, see core/sched/victims.h   */
	unsigned int nr_idle;
	struct strand *idle_strands;
	bool yielded;           /* there may be such a task in ready         */
	struct levels ready;    /* tasks that may run here only              */
	struct task_fifo fresh; /* the same: new, of default level; in ready.nr */
	struct rand rand;
	struct strand base;          /* the thread's own stack               */
	struct strand *limbo;        /* where to go if there is no stack     */
	struct strand *limbo_strand; /* single-threaded                      */
	struct sley_task base_task;  /* single-threaded: the bound code      */
	struct sley_task *step; /* single-threaded: the next pick, if set; or
				   WORKER_SEARCHES */
	uint32_t nr_kept;       /* takes in a row: KEPT_MAX of search.c      */
	struct sley_task hook;  /* core/life/hooks.h                    */
	uint64_t holder; /* of the thread: core/wait/holder.h           */
	bool draining;   /* single-threaded: unbinding                       */
	bool leaves;     /* the same: nothing is left, asks no sources       */
	struct outside outside;  /* its time, and tasks from outside         */
	struct pace pace;        /* of fair picks                            */
	struct poller_ring poll; /* core/sched/poller.h                  */
	unsigned int index;
	pthread_t pthread;
	struct trace_ring trace;
	struct worker_counters counters;
	struct gauge_idle idle; /* core/sched/gauge.h                   */
	struct object_pool_cache cache[NR_WORKER_CACHES];

	/* Read and written by other threads. */
	cache_aligned uint32_t poke; /* a request for a fair pick            */
	uint64_t lent; /* levels of ready tasks that were lent others  */
	struct push_list home;       /* woken tasks that may run here only   */
	struct push_list lane;       /* new tasks from outside; stealable    */
	struct gauge_length nr_home; /* at least so many tasks are there     */
	struct gauge_length nr_lane;
	struct next next;     /* woken last, may move; stealable      */
	uint32_t next_streak; /* picks from next in a row: owner only */
	uint32_t guests;      /* threads not of ours, queueing here   */
	struct spinlock parents_lock;
	struct list parents; /* strands suspended with forked children       */
	uint32_t nr_parents; /* in that list: written under the lock         */
	cache_aligned struct timers timers;
	uint64_t levels_hint; /* of ready, but for the default; for others   */
	struct worker_lease lease;
	cache_aligned struct idle_seat seat;
	cache_aligned struct ring ring;
	struct list link;               /* single-threaded: in rt->bound     */
	struct monitor_sight sight;     /* the monitor's                     */
	struct watchdog_sight watch;    /* the same                          */
	struct gauge_load load;         /* the same                          */
	struct stack_shortage shortage; /* core/sched/stack_shortage.h       */
};

/*
 * The strand of the calling task, also if a thread serves the task in a blocking
 * call or region; NULL: the caller is a plain thread.
 */
static inline struct strand *strand_current(void)
{
	struct worker *worker = worker_current();

	return likely(worker) ? worker->strand : sley__self.strand;
}

static inline struct worker *worker_of_thread(struct fiber_thread *thread)
{
	return container_of(thread, struct worker, thread);
}

/* A counter of this worker: other threads only read the counter. */
static inline void counter_add(uint64_t *counter, uint64_t n)
{
	/* See core/life/drain.h for the two that other threads wait for. */
	count_own64(counter, n);
}

/* The same, from any thread. */
static inline uint64_t counter_read(const uint64_t *counter)
{
	/* relaxed: statistics. */
	return load_relaxed(counter);
}

/* The worker has a task, and may miss its earliest deadline.  Nothing is locked. */
static inline void worker_expect_timers(struct worker *worker)
{
	monitor_expect(&worker->rt->monitor, timers_next(&worker->timers));
}

/*
 * A thread that is no worker of the runtime and wakes a task of the runtime
 * touches the worker, and the runtime, after the task may have run and ended.
 * Such a guest announces itself while the task is still there; nothing is freed
 * before the last guest has left.
 */
static inline void guest_enter(struct worker *worker)
{
	/* relaxed: queueing the task publishes the count. */
	(void)add_relaxed(&worker->guests, 1);
}

static inline void guest_leave(struct worker *worker)
{
	uint32_t *guests = &worker->guests;

	(void)sub_release(guests, 1); /* G1 */
	spin_done(guests);
}

static inline bool guests_are_in(const void *guests)
{
	/* relaxed: only decides whether to sleep. */
	return load_relaxed((const uint32_t *)guests);
}

static inline void guests_wait(struct worker *worker)
{
	uint32_t nr_looks = 0;

	while (load_acquire(&worker->guests)) { /* G1 */
		spin_hint(&worker->guests);
		spin_wait(&worker->guests, guests_are_in, nr_looks++);
	}
}

/* ---- worker.c ------------------------------------------------------------ */

int worker_init(struct worker *worker, struct sley *rt, unsigned int index);
void worker_fini(struct worker *worker);

/* The body of a worker thread: returns when the runtime has stopped. */
void worker_main(struct worker *worker);

/* Single-threaded: the calling thread becomes @worker, and stops being @worker. */
must_check int worker_bind(struct worker *worker);
void worker_unbind(struct worker *worker);

/*
 * Single-threaded: run one task until it ends or blocks.  1, or 0: no task is
 * ready, or -ENOMEM: there is no stack for the task.
 */
must_check int worker_step(struct worker *worker);

/* An idle strand, which will start @task; or limbo, if there is no memory. */
struct strand *worker_spare_strand(struct worker *worker,
				   struct sley_task *task);

/* Is there memory for another strand? */
must_check bool worker_has_spare_strand(struct worker *worker);

/* Let other tasks run. */
void worker_yield(struct worker *worker);

/* ---- pick.c -------------------------------------------------------------- */

/* Queue the tasks whose deadline has come. */
void worker_fire_timers(struct worker *worker);

/*
 * Nothing is locked: all things that make tasks ready, besides tasks.  Returns all levels
 * at which there are tasks that are with @worker.
 */
uint64_t worker_look_after(struct worker *worker);

/* Other threads may read at which levels @worker has tasks of its own. */
static inline void worker_publish_levels(struct worker *worker)
{
	/* relaxed: a hint. */
	store_relaxed(&worker->levels_hint,
		      worker->ready.bitmap & ~(1ull << LEVEL_DEFAULT));
}

/* All levels at which there is a task for @worker. */
static inline uint64_t worker_levels_waiting(const struct worker *worker)
{
	return worker->ready.bitmap | runq_hint(&worker->rt->runq);
}

/*
 * A task of lower than default level, but not lower than @lowest, that this worker
 * may run, or NULL.
 */
struct sley_task *worker_pick_low(struct worker *worker, unsigned int lowest);

/* A task of a higher level than @level, for which a task of @level gives way. */
struct sley_task *worker_pick_above(struct worker *worker, unsigned int level);

/* The next task of default level or above, from this worker's own sources. */
struct sley_task *worker_pick(struct worker *worker);

/*
 * Shall the worker come to its loop, because it is asked for its core, or a peer wants the
 * core for a more urgent task than one of @level?
 */
static inline bool worker_gives_core(struct worker *worker, unsigned int level)
{
	return lease_is_called(&worker->lease) ||
	       (runq_has_looks(&worker->rt->runq) && lease_look(worker, level));
}

/*
 * In place of a pick: may the worker go on with a task of the default level that
 * it has in hand, in no queue?  False: other work may be due.
 */
bool worker_may_keep(struct worker *worker);

/* ---- search.c ------------------------------------------------------------ */

/*
 * In place of a step: the worker runs the taker of a brief source, and is a searcher
 * all the while.  Its next pick finds nothing, so that the loop goes on with the search.
 */
#define WORKER_SEARCHES ((struct sley_task *)1)

static inline struct sley_task *worker_step_task(const struct worker *worker)
{
	/* relaxed: the worker's own; a heuristic for the monitor. */
	return load_relaxed(&worker->step);
}

static inline void worker_set_step(struct worker *worker,
				   struct sley_task *task)
{
	/* relaxed: as above. */
	store_relaxed(&worker->step, task);
}

/* Any thread; a hint for other threads. */
static inline bool worker_keeps_search(const struct worker *worker)
{
	return worker_step_task(worker) == WORKER_SEARCHES;
}

/* The worker that keeps its search is about to run something else. */
void worker_end_kept_search(struct worker *worker);

/* On an idle strand, nothing is locked: what could @worker run, had it a core? */
struct lease_need worker_need(struct worker *worker);

/* By chaos: from another worker, although there may be tasks here. */
struct sley_task *worker_steal_needlessly(struct worker *worker);

/* The next task from anywhere; waits for a task.  NULL: the runtime stops. */
struct sley_task *worker_search(struct worker *worker);

#endif
