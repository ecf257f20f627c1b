/* SPDX-License-Identifier: MIT */
/*
 * sley.h - struct sley, a runtime: its workers, the queue and the idle set that they
 * share, its configuration, and the counts that say when it may end.
 *
 * The user sees only the pointer.  core/life/runtime.h creates and ends a runtime;
 * core/sched/worker.h has the state of a single worker.
 *
 * Edges:
 *
 *   RP1  the maker of a part publishes it -> a task finds it : its fields
 */
#ifndef SLEY_CORE_LIFE_SLEY_H
#define SLEY_CORE_LIFE_SLEY_H

#include "base/list.h"
#include "core/life/drain_fields.h"
#include "core/life/idle_call.h"
#include "core/sched/idle.h"
#include "core/sched/lease.h"
#include "core/sched/monitor.h"
#include "core/sched/poller_fields.h"
#include "core/sched/runq.h"
#include "core/sched/source.h"
#include "core/sched/victims.h"
#include "core/sched/watchdog.h"
#include "core/task/task_state.h"
#include "core/trace/page.h"
#include "core/trace/trace.h"
#include "core/wait/blocking.h"
#include "lf/spin.h"
#include "mem/alloc.h"
#include "mem/slab.h"
#include "mem/stack.h"
#include "os/signal.h"

#include <sley/cpus.h>
#include <sley/runtime.h>
#include <sley/task.h>

struct worker;

/*
 * Parts that folders above core add.  Each has a source, which ends the part together
 * with the runtime.
 */
enum runtime_part {
	RUNTIME_REACTOR, /* io/reactor.h */
	RUNTIME_RING,    /* io/ring.h    */
	/* Has no source, but .leave_domain. */
	RUNTIME_DOMAIN, /* domain/membership.h */
	NR_RUNTIME_PARTS,
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
	char name[16];         /* behind config.name              */
	struct sley_cpus cpus; /* behind config.cpus              */
	bool migratable;
	bool membarrier;
	struct mem mem;
	struct victims victims; /* places change, rarely           */

	cache_aligned struct runq runq;
	struct idle idle;
	struct lease lease; /* core/sched/lease.h                           */

	/* Rarely written. */
	cache_aligned uint32_t phase; /* enum runtime_phase; a futex        */
	uint32_t cancelled;           /* sley_cancel_all() was called       */
	uint32_t stopping;      /* processes end: actor/process/stop.h        */
	uint32_t nr_processes;  /* if there is a limit                */
	uint32_t spinner;       /* 1 + index of a searching worker    */
	uint32_t spin_floor_ns; /* a source asks: spin so long at least */
	uint32_t overtakes;     /* core/sched/overtake.h              */
	uint32_t destroying;
	uint32_t stack_shortage_reported; /* stack_shortage.h            */
	struct spinlock seizing;   /* held by the worker that seizes    */
	struct drain drain;        /* core/life/drain.h                  */
	unsigned int generation;   /* after_fork.h                       */
	struct os_signals signals; /* of the creator                    */
	uint32_t nr_bound;
	struct spinlock bound_lock;
	struct list bound; /* single-threaded: workers, under bound_lock  */
	struct sley_group hooks; /* hooks that have not ended             */
	bool hooks_stopped;      /* stop hooks are queued, by the destroyer */
	struct idle_calls idle_calls; /* core/life/idle_call.h              */
	/*
	 * Reports things that have not ended and have no strand; returns how
	 * many.  Or NULL.
	 */
	uint64_t (*report_more)(struct sley *rt);
	/* All tasks have ended, and the workers run still.  Or NULL. */
	void (*leave_domain)(struct sley *rt);
	struct monitor monitor;
	struct watchdog watchdog;
	struct poller poller;         /* core/sched/poller.h                 */
	void *part[NR_RUNTIME_PARTS]; /* NULL: none yet              */
	struct blocking blocking;
	struct trace trace;
	struct page_slot page; /* core/trace/page.h                          */
	struct stack_pool stacks;
	struct slab strands;
	struct slab tasks;
	struct sources sources;
};

static inline void *runtime_part(const struct sley *rt, enum runtime_part kind)
{
	return load_acquire(&rt->part[kind]); /* RP1 */
}

/* False: another task was faster, and *@winner is its part. */
static inline bool runtime_publish_part(struct sley *rt, enum runtime_part kind,
					void *part, void **winner)
{
	*winner = NULL;
	return cas_acq_rel_acquire(&rt->part[kind], winner, part); /* RP1 */
}

/* The flags that all tasks of @rt have in common. */
static inline uint32_t runtime_task_flags(const struct sley *rt)
{
	return (rt->membarrier ? 0 : TASK_NO_BARRIER) |
	       (rt->migratable ? TASK_MIGRATABLE : 0) |
	       (rt->config.save_fpu ? TASK_FPU : 0);
}

/* How many threads run the tasks of @rt: its workers, or else the bound thread. */
static inline uint32_t runtime_nr_runners(const struct sley *rt)
{
	return rt->nr_workers ? rt->nr_workers : 1;
}

/*
 * A source of work that is worth waiting for, such as a client that spins: workers
 * look for work so long at least before they park.  0: as .spin_us says.
 */
static inline void runtime_set_spin_floor(struct sley *rt, uint32_t ns)
{
	/* relaxed: a hint, for searches that begin later. */
	store_relaxed(&rt->spin_floor_ns, ns);
}

static inline uint32_t runtime_spin_floor(const struct sley *rt)
{
	/* relaxed: a hint. */
	return load_relaxed(&rt->spin_floor_ns);
}

/*
 * Was sley_cancel_all() called?  A hint that orders nothing: sley_cancel_all()
 * promises only that the cancel is seen in the end (core/life/runtime_cancel.c).
 */
static inline bool runtime_is_cancelled(const struct sley *rt)
{
	/* relaxed: see above. */
	return load_relaxed(&rt->cancelled);
}

#endif
