/* SPDX-License-Identifier: MIT */
/*
 * worker.h - the nouns of the engine: runtime, worker, strand.
 *
 * A *worker* is an OS thread of ours, or a bound thread of a single-threaded
 * runtime.  It runs tasks on *strands*.  A strand is a fiber with the worker's
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
 * Files: worker.c  the loop, blocking and yielding
 *        search.c  where a worker looks for work, and how it parks
 *        place.c   where a task goes that became ready
 *        place_level.c  and what a change of its level does
 *        strand.c  strands, and the cache of idle ones
 *
 * Edges:
 *
 *   S1  a worker goes to a strand -> thieves look at its forks : it exists
 *   G1  a guest leaves -> the worker is freed : the guest is done with it
 *   P2  a worker has looked through its queues -> a thief sees so : what it
 *       then takes from there is in its place, see place_level.c
 *   P3  who starts an alarm pokes its keeper -> the keeper takes the poke back :
 *       the deadline, at which it then looks
 */
#ifndef SLEY_CORE_SCHED_WORKER_H
#define SLEY_CORE_SCHED_WORKER_H

#include "base/list.h"
#include "base/rand.h"
#include "core/wait/blocking.h"
#include "core/task/cleanup.h"
#include "core/sched/idle.h"
#include "core/sched/levels.h"
#include "core/sched/monitor.h"
#include "core/sched/next_slot.h"
#include "core/sched/runq.h"
#include "core/life/scope.h"
#include "core/wait/timer.h"
#include "core/trace/trace.h"
#include "core/task/tree.h"
#include "core/sched/victims.h"
#include "core/wait/waitq.h"
#include "fiber/fiber.h"
#include "lf/fork_stack.h"
#include "lf/inbox.h"
#include "lf/push_list.h"
#include "lf/ring.h"
#include "mem/alloc.h"
#include "mem/pool.h"
#include "mem/slab.h"
#include "mem/stack.h"
#include "os/thread.h"

#include <pthread.h>
#include <sley/cpus.h>
#include <sley/runtime.h>
#include <sley/task.h>

struct sley;
struct worker;

/* What goes before a task that has yielded: core/sched/yielded.h. */
enum line_state {
	LINE_NEVER, /* it has not yielded            */
	LINE_NONE,  /* it has, and no line is drawn  */
	LINE_DRAWN, /* + the level                   */
};

struct line {
	uint32_t state;  /* enum line_state                          */
	uint32_t shared; /* as far as this in the shared queue       */
	uint64_t ring;   /* and as far as this in the ring           */
	bool child;      /* and one that was forked                  */
};

struct strand {
	cache_aligned struct sley_forks forks; /* children forked by the task */
	struct fiber fiber;
	struct worker *home;    /* runs it, or ran it last                   */
	struct sley_task *task; /* on it; NULL: idle                         */
	uint32_t claimed;       /* the task's state when last claimed        */
	uint32_t regions;       /* blocking ones the task is in, nested      */
	struct line line;       /* of a task that has yielded                */
	struct strand *next;    /* in the worker's cache of idle strands     */
	struct spinlock end_lock; /* migratable: between cancel and its end    */
	struct cleanup
		*cleanups; /* of the task, see core/task/cleanup.h            */
	struct locals
		*locals;  /* of the task, see core/task/local.h             */
	struct tree tree; /* of the task, see core/task/tree.h              */
	struct region
		*region; /* core/wait/region.h; NULL: on a worker          */
	struct trace_scopes
		*scopes;     /* core/trace/trace_scope.h                    */
	struct list parents; /* in worker.parents while suspended         */
	struct worker *parents_home; /* whose list that is; NULL: in none     */
	size_t stack_size;    /* 0: the runtime's own pool                 */
	struct opener opener; /* core/life/scope.h                            */
	struct member member; /* the same                                */
	const struct how *within; /* task/how.h: whose piece it runs          */
};

/*
 * What the strand that was left behind asked the next one to do: only now has
 * the worker left its stack.
 */
enum after_kind {
	AFTER_NOTHING,
	AFTER_WAIT,  /* park the task, release the lock of what it waits for */
	AFTER_FORK,  /* park the task, unless its child has ended            */
	AFTER_INBOX, /* park the task, unless something is in its inbox      */
	AFTER_YIELD, /* queue the task again                                 */
	AFTER_REGION, /* let a thread of core/wait/blocking.h go on with it       */
	AFTER_IDLE, /* keep the strand for later, or free it                */
};

struct after {
	enum after_kind kind;
	struct strand *strand; /* the one that was left                      */
	struct sley_waitq *q;  /* AFTER_WAIT: locked; may be NULL            */
	enum wait_flags flags; /* AFTER_WAIT                                 */
	struct sley_forked *child; /* AFTER_FORK                                */
	struct inbox *inbox;    /* AFTER_INBOX                               */
	struct push_node *seen; /* AFTER_INBOX: may be in it                 */
};

/* When a task could not be started for want of a stack. */
struct stack_shortage {
	uint64_t first_ns; /* of this shortage */
	uint64_t last_ns;
};

/* Written by the worker, summed by anybody. */
struct worker_counters {
	uint64_t spawned;
	uint64_t finished;
	uint64_t switches;
	uint64_t steals;
	uint64_t parks;
	uint64_t turns; /* see core/task/turn.h */
};

struct worker {
	/* Its own. */
	struct sley_forks *
		*forks; /* the thread's sley_forks_current              */
	struct fiber_thread thread;
	struct sley *rt;
	struct strand *strand; /* the one it is on                       */
	struct after after;
	struct sley_task *handoff; /* picked, to be started by the loop      */
	uint32_t tick;             /* picks since the last fair one          */
	uint32_t fair;             /* fair picks: whose turn it is           */
	uint32_t spin_ns;          /* how long a search lasts                */
	uint32_t task_flags;       /* of every task: TASK_NO_BARRIER or 0    */
	uint32_t changes;          /* of levels, that it has seen            */
	bool migratable;
	bool cancelled; /* has seen sley_cancel_all()               */
	bool stopping;  /* its processes end: actor/process/stop.h          */
	bool wanders;   /* and tells where it is, see core/sched/victims.h */
	unsigned int nr_idle;
	struct strand *idle_strands;
	bool yielded;           /* there may be such a task in ready  */
	struct levels ready;    /* tasks that may run here only       */
	struct task_fifo fresh; /* those of default level not started */
	struct rand rand;
	struct strand base;          /* the thread's own stack               */
	struct strand *limbo;        /* where to go if there is no stack     */
	struct strand *limbo_strand; /* single-threaded               */
	struct sley_task base_task;  /* single-threaded: the bound code      */
	struct sley_task *step;      /* single-threaded: back to it next     */
	struct sley_task hook; /* see core/life/hooks.h                     */
	uint64_t holder;       /* that the thread is: core/wait/holder.h    */
	bool draining;         /* single-threaded: unbinding           */
	unsigned int index;
	pthread_t pthread;
	struct trace_ring trace;
	struct worker_counters counters;
	struct pool_cache messages; /* of the pool in actor/mail/mail.c       */
	struct pool_cache
		processes; /* of that in actor/process/table.c          */

	/* Read and written by others. */
	cache_aligned uint32_t poke; /* the monitor asks for a fair pick     */
	struct push_list home;       /* woken tasks that may run here only   */
	struct push_list lane;       /* new tasks from outside; stealable    */
	struct next next;            /* woken last, may move; stealable      */
	uint32_t next_streak;        /* picks from next in a row: owner only */
	uint32_t guests;             /* threads not of ours, queueing here   */
	struct spinlock parents_lock;
	struct list parents; /* strands suspended with forked children */
	uint32_t nr_parents; /* in that list: written under the lock   */
	cache_aligned struct timers timers;
	cache_aligned struct idle_seat seat;
	cache_aligned struct ring ring;
	struct list link;           /* single-threaded: in rt->bound          */
	struct monitor_sight sight; /* the monitor's                */
	struct stack_shortage
		shortage; /* see core/sched/stack_shortage.h          */
};

enum runtime_phase {
	PHASE_STARTING, /* workers wait for each other */
	PHASE_RUNNING,
	PHASE_STOPPING, /* no work left: workers leave */
};

struct sley {
	/* Constant once created. */
	struct worker **worker;
	unsigned int nr_workers; /* 0: single-threaded */
	unsigned int table_length;
	struct sley_config config;
	char name[16];         /* what config.name points at      */
	struct sley_cpus cpus; /* what config.cpus points at      */
	bool migratable;
	bool membarrier;
	struct mem mem;
	struct victims victims; /* places change, rarely           */

	cache_aligned struct runq runq;
	struct idle idle;

	/* Rarely written. */
	cache_aligned uint32_t phase; /* enum runtime_phase; a futex        */
	uint32_t cancelled;           /* sley_cancel_all() was called       */
	uint32_t stopping;     /* processes end: actor/process/stop.h        */
	uint32_t nr_processes; /* if there is a limit                */
	uint32_t spinner;      /* 1 + index of a searching worker    */
	uint32_t drain_events; /* futex: something may have ended    */
	uint32_t draining;     /* somebody waits for drain_events    */
	uint32_t destroying;
	uint32_t stack_shortage_reported; /* see core/sched/stack_shortage.h               */
	struct spinlock seizing; /* held by the worker that seizes    */
	uint64_t gate;           /* bit 0: closed; the rest counts     */
	unsigned int generation; /* see core/life/after_fork.h                  */
	struct os_signals signals; /* of the creator                    */
	uint64_t foreign_spawned;  /* spawned by threads without worker  */
	uint32_t nr_bound;
	struct spinlock bound_lock;
	struct list bound; /* single-threaded: workers, under bound_lock  */
	struct sley_group hooks; /* those that have not ended             */
	bool hooks_stopped;      /* stop hooks are queued, by the destroyer */
	/* Report what has not ended and has no strand: so many.  Or NULL. */
	uint64_t (*report_more)(struct sley *rt);
	struct monitor monitor;
	struct blocking blocking;
	struct trace trace;
	struct stack_pool stacks;
	struct slab strands;
	struct slab tasks;
};

/* ---- who am I ----------------------------------------------------------- */

struct self {
	struct worker *worker; /* NULL: not a worker                     */
	struct sley *bound;    /* NULL: belongs to no runtime            */
	uint64_t tree;         /* of the thread, see core/task/tree.h         */
	bool forked;  /* it did, before fork(): core/life/after_fork.h   */
	bool ringing; /* it fires timers, see core/wait/timer.h      */
	struct strand *strand; /* of core/wait/blocking.h: whose task it serves */
	struct opener opener; /* of a thread that serves none           */
	uint64_t holder;      /* of a thread, see core/wait/holder.h         */
};

/*
 * Never read it after a switch in the same function: the thread may be another
 * one, and compilers keep the address.  What comes back from a switch tells.
 */
#ifndef SLEY_MODEL
extern _Thread_local struct self sley__self
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
#else /* the threads of a model share one thread of the system */
struct self *model_self(void);
#define sley__self (*model_self())
#endif

/* Those of threads that run no tasks: every fork is slow there. */
extern struct sley_forks sley__no_forks __attribute__((visibility("hidden")));

static inline struct worker *worker_current(void)
{
	return sley__self.worker;
}

/* The same where a switch may lie behind: a call that nothing is kept across. */
#ifndef SLEY_MODEL
struct worker *worker_now(void);
#else
#define worker_now() worker_current()
#endif

/*
 * The strand of the calling task, also if a thread serves it in a blocking call
 * or region; NULL: the caller is a plain thread.
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

/* What all tasks of @rt have in common. */
static inline uint32_t runtime_task_flags(const struct sley *rt)
{
	return (rt->membarrier ? 0 : TASK_NO_BARRIER) |
	       (rt->config.save_fpu ? TASK_FPU : 0);
}

/* A counter of this worker: others only read it. */
static inline void counter_add(uint64_t *counter, uint64_t n)
{
	/* relaxed: one writer; see core/life/drain.h for the two that matter. */
	store_relaxed(counter, load_relaxed(counter) + n);
}

/*
 * A thread that is no worker of the runtime and wakes a task of it touches the
 * worker, and the runtime, after the task may have run and ended.  Such a guest
 * announces itself while the task is still there; nothing is freed before the
 * last guest has left.
 */
static inline void guest_enter(struct worker *worker)
{
	/* relaxed: queueing the task publishes it. */
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

/* Single-threaded: the calling thread becomes @worker, and ceases to be it. */
must_check int worker_bind(struct worker *worker);
void worker_unbind(struct worker *worker);

/*
 * Single-threaded: run one task until it ends or blocks.  1, or 0: none is
 * ready, or -ENOMEM: there is no stack for it.
 */
must_check int worker_step(struct worker *worker);

/* An idle strand, which will start @task; or limbo, if there is no memory. */
struct strand *worker_spare_strand(struct worker *worker,
				   struct sley_task *task);

/* Let others run. */
void worker_yield(struct worker *worker);

/* ---- search.c ------------------------------------------------------------ */

#define WORKER_SPIN_NS_MAX 20000

/* Queue the tasks whose deadline has come. */
void worker_fire_timers(struct worker *worker);

/*
 * A task of lower than default level, but not lower than @lowest, that this worker
 * may run, or NULL.
 */
struct sley_task *worker_pick_low(struct worker *worker, unsigned int lowest);

/* The next task of default level or above, from this worker's own sources. */
struct sley_task *worker_pick(struct worker *worker);

/*
 * In place of a pick: may the worker go on with a task of the default level that it
 * has in hand, in no queue?  False: something else may be due.
 */
bool worker_may_keep(struct worker *worker);

/* The next task from anywhere; waits for one.  NULL: the runtime stops. */
struct sley_task *worker_search(struct worker *worker);

/* How many run the tasks of @rt: its workers, or else who is bound to it. */
static inline uint32_t runtime_nr_runners(const struct sley *rt)
{
	return rt->nr_workers ? rt->nr_workers : 1;
}

/* ---- place.c ------------------------------------------------------------- */

/* As push lists have it. */
static inline struct push_node *task_node(struct sley_task *task)
{
	return (struct push_node *)(void *)task;
}

static inline struct sley_task *node_task(struct push_node *node)
{
	return (struct sley_task *)(void *)node;
}
_Static_assert(offsetof(struct sley_task, next) == 0,
	       "a task is a push_node by its first member");

/* Queue a new task from this worker. */
void place_spawned(struct worker *worker, struct sley_task *task);

/* Queue a task that any worker may run in the shared queue. */
void place_shared(struct worker *worker, struct sley_task *task);

/* Queue a new task from a thread that is no worker of @rt. */
void place_foreign(struct sley *rt, struct sley_task *task);

/* Queue a new task that spawn_accept() took earlier; from any thread. */
void place_accepted(struct sley_task *task);

/*
 * Queue a new task that @home is to run, as a thread of no worker does.  True: it
 * slept, and this woke it.
 */
bool place_at(struct worker *home, struct sley_task *task);

/* The same for a task that does not simply go to the caller's ready levels. */
void task_enqueue_elsewhere(struct sley_task *task);

/* Queue a task whose wait was decided: DECIDED_QUEUE. */
static inline void task_enqueue(struct sley_task *task)
{
	struct worker *worker = worker_current();
	struct strand *strand = task->fiber;

	/* A plain thread has no strand. */
	if (likely(worker && strand && !worker->migratable) &&
	    strand->home == worker)
		levels_push(&worker->ready, task, task_level(task));
	else
		task_enqueue_elsewhere(task);
}

/* The same for a chain linked by ->next. */
void task_enqueue_chain(struct sley_task *chain);

/* Take all from the home list into worker->ready. */
void place_arrivals(struct worker *worker);

/*
 * Queue stealable tasks that were taken out of another queue, by their levels, and
 * let others know.
 */
void place_batch(struct worker *worker, struct sley_task *const *task,
		 unsigned int nr);

/* The same for a chain linked by ->next, which may be NULL. */
void place_chain(struct worker *worker, struct sley_task *chain);

/* The same for all that is in the ring: what stays there keeps its order. */
void place_turn_ring(struct worker *worker);

/* Tasks were moved to the ring of @worker, the caller: let others know. */
void place_moved(struct worker *worker);

/* ---- place_level.c --------------------------------------------------------- */

/* Change the level of a task, wherever it is.  Any thread. */
void place_set_level(struct sley_task *task, unsigned int level);

/*
 * How often the level of a task that may be queued was changed.  Read on every
 * pick: alone in its cache line.
 */
extern struct level_changes {
	uint32_t nr;
} cache_aligned sley__level_changes;

/* Should it look through its queues? */
static inline bool place_has_changed(const struct worker *worker)
{
	/* relaxed: a glance, place_resort() looks again; and the worker's own. */
	return load_relaxed(&sley__level_changes.nr) !=
	       load_relaxed(&worker->changes);
}

/* If levels have changed: put what @worker has queued where it belongs. */
void place_resort(struct worker *worker);

/* ---- strand.c ------------------------------------------------------------ */

/* An idle strand: from the cache, or new; NULL: no memory. */
struct strand *strand_get(struct worker *worker);

/* A strand with a stack of its own size, outside of any cache. */
struct strand *strand_create(struct sley *rt, size_t stack_size,
			     fiber_entry *entry, struct sley_task *task);

/* The worker has left it: cache it or free it. */
void strand_put(struct worker *worker, struct strand *strand);
void strand_free(struct sley *rt, struct strand *strand);

#endif
