/* SPDX-License-Identifier: MIT */
/*
 * lease.h - the right of a worker to run: a core, which processes share.
 *
 * Several processes may share the cores of a machine under one order of priorities.
 * Then a worker needs a *core*, a number below LEASE_CORES, to run tasks and to search.
 * The core is a right and no place: it does not say on which CPU the worker runs.  The
 * engine knows nothing of the other processes, the *peers*.  It asks a table of
 * functions, struct lease_ops, which is switched on and off while the runtime runs.
 * Without a table every worker may run; that costs a load where a worker searches, one
 * where it parks, and nothing where it picks a task.
 *
 * A worker takes a core when it begins to search, and returns the core when it parks.  If
 * no core is free, the worker waits at the *gate*, if it has found something to run; else
 * it parks.  A core that is returned goes to a worker of the same process at the gate, or
 * else back to the table, which keeps it idle or gives it to a peer.
 *
 * At the gate the workers stand in the order of the most urgent task that each could run,
 * and among equals in the order of their arrival.  The first of them, the *leader*, sleeps
 * in ops->wait(), which the table ends when a core may be had.  The others sleep on their
 * own words.
 *
 *   taker                                  giver
 *   1. stands at the gate       (lock)     1. makes the core free: ops->put()
 *   2. ops->take()                         2. looks at the gate           (lock)
 *   3. nothing there: sleeps on its word   3. a worker stands there: kicks its word
 *
 * The lock decides: the taker stands at the gate when the giver looks, or the taker locks
 * later, and step 2 finds the core.  A leader that leaves the gate kicks the next one, for
 * one kick may stand for two cores.
 *
 * A worker at the gate is awake for core/sched/idle.h.  A worker that came as a searcher
 * stays counted, and submitters rely on it: it searches as soon as it has a core, and
 * until then no other worker could run the work, but a worker with a core, which looks
 * before it parks.  A worker that has nothing to run does not stand there: it parks, and
 * is woken as ever.  Work that comes for a worker at the gate (its home list, an alarm,
 * sley_cancel_all()) changes what it could run: it looks again when its word is kicked, at
 * its next deadline, and with each tick of the monitor.
 *
 * Passing on.  A worker that holds a core is *asked* for it
 *   - by its own look (strict mode): at each pick, at each turn that a worker keeps, and at
 *     each slow fork, ops->look() says whether a peer wants a core for a more urgent task
 *   - by lease_ask(), which the table calls on a tick (relaxed mode) for a certain core
 *   - because a worker at the gate has more urgent work, or equally urgent work and the
 *     worker has run for a quantum: fibers, pinned tasks and the ring of a worker are not
 *     to wait for ever, so the workers take turns
 *   - because the core is not its own any more: ops->holds() denies it; or the process has
 *     got the core again since, for another worker, while this one was in a long task
 * While asked, worker_pick() finds nothing, so that the worker comes to its loop on an idle
 * strand, where no lock is held.  There, in worker_search(), it passes the core on, if
 * the reason is still true, and stands at the gate.  The task in its next slot goes to the
 * ring, which other workers can rob.  The peer that got the core is woken last: by then
 * ops->want has told that this worker waits.  On the same CPU the peer may run at once, have
 * done its work, and look who wants the core, before this worker comes to its next line.
 *
 * Overtaking.  A worker that wakes up for a task above the default level, and finds no core,
 * runs without a core if a peer runs something less urgent: one worker of a runtime at a
 * time.  It has a CPU anyway by then, since a woken thread goes before the threads of less
 * urgent work (domain/slices.h).  To wait for a core there would be two more switches, and the
 * task on the core may not come to a pick for long.  The *overtaker* picks tasks that are as
 * urgent as the first one, and then comes back to the gate, or parks.  For a short time, its
 * *patience*, no core is wanted for it: most urgent work is done by then, and no peer has had
 * to sleep for it.  A core that is wanted later is taken at the next pick.
 *
 * A worker that comes to the gate in another way waits there: it has just had a core, or has
 * overtaken, and what is more urgent than its tasks runs.  Its leader overtakes after a grace.
 *
 * Switching off closes the pass of each worker, wakes the gate, and waits until no worker
 * is in a call of the table.  Both sides change one word, the pass:
 *
 *   worker                                 switching off
 *   1. adds PASS_IN             (LE1)      1. takes PASS_ON away          (LE1)
 *   2. PASS_ON was there: calls            2. waits until PASS_IN is gone (LE1)
 *   3. takes PASS_IN away       (LE1)
 *
 * Edges:
 *
 *  LE1  table switched on, then PASS_ON -> a worker comes in : the table; and the last
 *       call of a worker, then its pass -> switching off : nothing is under way
 *  LE2  a giver, or a kicker, sets the word of a worker at the gate -> that worker : the
 *       core, or whatever the worker shall look at
 *  LE3  an asker's reasons, then `asked` -> the asked worker
 *
 * Rejected: a core for each task (a read-modify-write for each pick); a count of leases
 * without numbers (a process that is stopped with a lease would take it with it); to pass
 * on in the pick itself (the pick may hold the lock of the object that a task waits for,
 * and the gate sleeps); a condition variable (the leader sleeps on words of several
 * processes); a second idle set for workers without a core (a worker could be in two).
 * See docs/adr/0044.
 */
#ifndef SLEY_CORE_SCHED_LEASE_H
#define SLEY_CORE_SCHED_LEASE_H

#include "base/atomic.h"
#include "base/list.h"
#include "lf/spin.h"

#include <stdbool.h>
#include <stdint.h>

struct sley;
struct worker;

#define LEASE_CORES 256
#define LEASE_NO_CORE (-1)
#define LEASE_NO_LEVEL 64u /* less urgent than all: nothing to run */

/* In place of the number of a peer, for the flight recorder. */
#define LEASE_NO_PEER 0xffffu
#define LEASE_HOST 0xfffeu /* the process that divides the cores */

/*
 * The other processes.  But for ->want, which has the lock of the gate, calls come from
 * several workers at a time, and nothing is locked.  A call must not call lease_*()
 * functions, but for those that say so.
 */
struct lease_ops {
	/*
	 * A core that this process holds, and that no worker has; it has a worker from now
	 * on.  LEASE_NO_CORE: none is free.  A few loads and stores.  *@from is the peer that
	 * gave it, LEASE_HOST, or LEASE_NO_PEER if it was idle here.
	 */
	int (*take)(void *arg, uint32_t *from);
	/*
	 * The worker of @core needs it no more: the process keeps the core idle, so that
	 * ->take finds it, or a peer that wants a core gets it.  @core may be lost.  Returns
	 * that peer, or LEASE_NO_PEER.
	 */
	uint32_t (*put)(void *arg, int core);
	/*
	 * The worker of @core is at a safe place, and could go on with a task of @level (or
	 * LEASE_NO_LEVEL).  If a peer has a better right to the core now, the core is given
	 * away.  Returns that peer, which may sleep until ->wake, or LEASE_NO_PEER.
	 */
	uint32_t (*give)(void *arg, int core, unsigned int level);
	/*
	 * After ->give, when the worker stands at the gate, or needs no core: the peers that
	 * were given a core are woken.
	 */
	void (*wake)(void *arg);
	/* Is @core, which a worker has, still the core of this process? */
	bool (*holds)(void *arg, int core);
	/* Strict mode: does a peer want a core for a task more urgent than @level? */
	bool (*look)(void *arg, unsigned int level);
	/*
	 * A worker without a core has a task of @level.  Does a worker of a peer run
	 * something less urgent?  Else nothing is there to overtake.
	 */
	bool (*overtakes)(void *arg, unsigned int level);
	/*
	 * So many workers want a core, the most urgent task is of @level; @nr is 0 if
	 * @level is LEASE_NO_LEVEL.  Called when this changes.  Must not call back.
	 */
	void (*want)(void *arg, unsigned int nr, unsigned int level);
	/*
	 * The leader sleeps until *@word is not @value, or @deadline_ns has come, or a core
	 * may be free: if ->take would find a core now, the call returns at once.  Other
	 * threads of this process wake it by os_futex_wake(@word).  May return at any time.
	 */
	void (*wait)(void *arg, const uint32_t *word, uint32_t value,
		     uint64_t deadline_ns);
	/*
	 * The calling worker has no core, and is about to park, or to stand at the gate; a
	 * worker that stood there has got a core, and could go on with a task of @level.
	 */
	void (*rest)(void *arg, bool parks);
	void (*start)(void *arg, unsigned int level);
	/* On the thread of the monitor.  May call lease_ask() and lease_kick(). */
	void (*tick)(void *arg, uint64_t now_ns);
};

enum lease_mode {
	LEASE_ALONE,   /* no peers: no ticks but for turns, no looks */
	LEASE_RELAXED, /* a tick now and then                        */
	LEASE_STRICT,  /* the same, and a look at each pick          */
};

struct lease_terms {
	uint32_t self; /* the number of this process, for the flight recorder    */
	uint64_t tick_ns; /* from one ->tick to the next, while a worker is awake   */
	uint64_t quantum_ns; /* the turn of a worker, if another one waits             */
	uint64_t grace_ns; /* before a leader overtakes; UINT64_MAX: nobody does */
	uint64_t patience_ns; /* before a core is wanted for an overtaker        */
};

#define LEASE_TERMS_DEFAULT                                                    \
	((struct lease_terms){ .tick_ns = 2000000,                             \
			       .quantum_ns = 4000000,                          \
			       .grace_ns = 50000,                              \
			       .patience_ns = 200000 })

enum lease_word {
	GATE_AWAY,    /* not there                                        */
	GATE_WAITS,   /* sleeps, or is about to                           */
	GATE_KICKED,  /* shall look again                                 */
	GATE_GRANTED, /* has a core, and is not there any more            */
	GATE_OPEN,    /* the same, and needs no core: switched off        */
};

/* Why a worker is asked, and may not pick. */
enum lease_ask {
	ASK_SETTLE =
		1,    /* it may have no core, or a core that is lost         */
	ASK_GIVE = 2, /* a peer wants the core                               */
	ASK_TURN = 4, /* a worker at the gate wants the core                 */
	ASK_URGENT =
		8, /* its own: it overtakes, and picks urgent tasks only  */
};

/* Of a worker: what it has, and where it stands. */
struct worker_lease {
	uint32_t asked; /* enum lease_ask                                       */
	uint32_t pass; /* PASS_ON, and PASS_IN while the worker may call       */
	uint32_t word; /* enum lease_word; the futex of a worker at the gate   */
	int32_t core; /* LEASE_NO_CORE; written by the worker, or its giver   */
	struct list link; /* under the lock: at the gate                      */
	uint32_t level;   /* under the lock: the most urgent that it can run  */
	uint32_t bound;   /* under the lock: of the tasks that are with it    */
	uint64_t since_ns; /* it has had the core                              */
	uint64_t urgent_ns; /* at the gate: it has had urgent work; 0: it has none */
	uint64_t grace_ns; /* at the gate: and waits for so long before it overtakes */
	bool unused;  /* it has found no task since it took the core      */
	bool refused; /* no peer took the core: the next look is skipped  */
	bool gave;    /* a peer that was given the core is to be woken       */
};

struct lease_counters {
	uint64_t taken; /* cores that workers took                             */
	uint64_t in_vain; /* of these: returned without having run a task        */
	uint64_t looks; /* before a task: found a more urgent want of a peer   */
	uint64_t given; /* cores that were given to a peer when asked          */
	uint64_t lost; /* cores that were not this process's any more         */
	uint64_t passed; /* cores that went to another worker of this process   */
	uint64_t waits; /* times that a worker stood at the gate               */
	uint64_t overtook; /* times that a worker ran without a core              */
};

/* Of a runtime.  All zero: off. */
struct lease {
	uint32_t on; /* written under the lock; for others a hint                */
	uint32_t mode; /* enum lease_mode                                        */
	const struct lease_ops
		*ops; /* constant while switched on               */
	void *arg;
	struct lease_terms terms;
	uint32_t overtaker; /* 1 + a level: a worker runs without a core       */
	bool insists; /* under the lock: and wants one                         */
	uint64_t overtakes_ns; /* under the lock: since when                    */
	uint32_t pass; /* of the monitor                                  */
	uint32_t nr_waiting; /* written under the lock; for others a hint       */
	/* The worker that got the core last: another one has lost it before. */
	const struct worker_lease *owner[LEASE_CORES];
	struct spinlock
		lock;     /* the gate                                        */
	struct list gate; /* worker_lease.link, under the lock               */
	uint32_t told_nr; /* under the lock: what ->want was told last       */
	uint32_t told_level;
	uint64_t ticked_ns; /* the monitor's own                               */
	struct lease_counters counters;
};

/* What a worker without a core could do: two levels, or LEASE_NO_LEVEL. */
struct lease_need {
	unsigned int level; /* of the most urgent task that it could run     */
	unsigned int bound; /* the same of tasks that are with it            */
};

/* ---- for the other processes (src/domain) ---------------------------------- */

/*
 * From now on the workers of @rt need cores.  Workers that run go on until their next fair
 * pick.  Starts in the mode LEASE_ALONE.  -ENOTSUP: @rt is single-threaded.
 */
must_check int lease_switch_on(struct sley *rt, const struct lease_ops *ops,
			       void *arg, const struct lease_terms *terms);

/*
 * From now on the workers of @rt need no cores.  When this returns, no call of the table
 * is under way, and none will come; the cores that workers had are the caller's.  Not by a
 * call of the table; not at the same time as lease_switch_on().  Also after all workers
 * have ended.  In a child of fork(), where no worker is, nothing is done.
 */
void lease_switch_off(struct sley *rt);

/* Any time while switched on, also by ops->tick; one thread at a time. */
void lease_set_mode(struct sley *rt, enum lease_mode mode);

/* The worker that has @core, if any, shall offer it to peers: ops->give(). */
void lease_ask(struct sley *rt, int core);

/* A core may be free: the leader, if a worker waits, tries ops->take(). */
void lease_kick(struct sley *rt);

/* The levels other than the default at which workers have tasks of their own: a hint. */
uint64_t lease_levels_bound(const struct sley *rt);

/*
 * The least urgent level that a worker with a core runs now, a hint; LEASE_NO_LEVEL: none
 * runs a task.  A system call for each such worker.
 */
unsigned int lease_runs(const struct sley *rt);

/* The same of worker @i alone; LEASE_NO_LEVEL also if it has no core. */
unsigned int lease_runs_of(const struct sley *rt, unsigned int i);

void lease_read_counters(const struct sley *rt, struct lease_counters *out);

/* ---- for the workers -------------------------------------------------------- */

static inline void lease_own(struct lease *lease,
			     const struct worker_lease *own, int core)
{
	/* relaxed: a worker that has lost the core sees that at the next tick. */
	store_relaxed(&lease->owner[core], own);
}

static inline bool lease_is_own(const struct lease *lease,
				const struct worker_lease *own, int core)
{
	/* relaxed: as above. */
	return load_relaxed(&lease->owner[core]) == own;
}

static inline bool lease_is_on(const struct lease *lease)
{
	/* relaxed: a glance; LE1 decides. */
	return unlikely(load_relaxed(&lease->on));
}

/* May the worker not pick as usual? */
static inline bool lease_is_asked(const struct worker_lease *own)
{
	/* relaxed: a request, obeyed sooner or later. */
	return unlikely(load_relaxed(&own->asked));
}

/* The same, but for a worker that overtakes: shall it come to its loop? */
static inline bool lease_is_called(const struct worker_lease *own)
{
	/* relaxed: as above. */
	return unlikely(load_relaxed(&own->asked) & ~(uint32_t)ASK_URGENT);
}

enum lease_right {
	LEASE_RUNS,      /* may run and search                               */
	LEASE_OVERTAKES, /* may run urgent tasks                             */
	LEASE_PARKS,     /* may do nothing, and would find nothing           */
};

/*
 * On an idle strand of @worker, where nothing is locked: passes the core on, if asked, and
 * takes a core, or waits for one.
 */
enum lease_right lease_settle(struct worker *worker);

/* The same: @worker is about to park, or ends. */
void lease_return(struct worker *worker);

/*
 * In a pick: strict mode, and the worker could go on with a task of @level.  True: it is
 * asked for its core.  Also before a worker spins: it has no task, LEASE_NO_LEVEL.
 */
bool lease_look(struct worker *worker, unsigned int level);

/* In a pick, nothing is locked: @worker overtakes, and a core may be free. */
void lease_try(struct worker *worker);

/* The least urgent level that @worker, which overtakes, may run. */
unsigned int lease_lowest(const struct worker *worker);

/* Urgent work was queued: for any worker, or for @home alone.  Any thread. */
void lease_urgent(struct sley *rt, unsigned int level);
void lease_urgent_home(struct worker *home, unsigned int level);

/*
 * A worker without a core has an urgent task of its own.  All workers with cores are asked:
 * the first that comes gives way, if it has no task as urgent.
 */
void lease_ask_for_turn(struct sley *rt);

/* @worker, if it stands at the gate, or all that do, shall look again.  Any thread. */
void lease_call(struct worker *worker);
void lease_call_all(struct sley *rt);

/* By the monitor: when to look again, and at each look. */
uint64_t lease_plan(struct sley *rt, uint64_t now_ns);
void lease_tick(struct sley *rt, uint64_t now_ns);

#endif
