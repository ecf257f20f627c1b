/* SPDX-License-Identifier: MIT */
/*
 * poller.h - one sleeping worker of a runtime wakes up for descriptors, too.
 *
 * The poller is a seat for one worker.  A worker that is about to sleep, while a
 * descriptor is watched, takes the seat if it is free.  There the worker sleeps until
 * a waker wakes it (core/sched/idle.h), until its deadline, or until a watched
 * descriptor can be read.  All descriptors of a runtime are in one epoll.  There are
 * two ways to sleep:
 *
 *   io_uring  in a ring of the worker, with a wait for its seat word and a poll of the
 *             epoll: Linux 6.7, unless a sandbox or .no_io_uring denies it
 *   epoll     in ppoll(2), on the epoll and on an eventfd that wakers signal
 *
 * One worker at most: two workers would share the eventfd, and one would clear the
 * signal for the other.
 *
 * A worker that leaves the poller for a readable descriptor is a searcher.  The owner
 * of the descriptor offers the work where searchers look; until the owner has read
 * the descriptor, each worker in the poller wakes up at once.
 *
 * A free seat beside a watched descriptor is a defect if all workers sleep: nothing
 * would wake them.  It is not, for these reasons:
 *
 *   1. The worker that leaves the seat is awake.  Before it sleeps, it takes the seat,
 *      or finds it taken.  The seat's word has one order of changes, so a worker that
 *      finds the seat taken relies on a worker that has not left yet.
 *   2. A watcher publishes the descriptor and then calls idle_notify(), as if the
 *      descriptor was work.  A worker that is about to sleep looks for a free seat in
 *      step 3 of core/sched/idle.h.  By I1 of core/sched/idle.h the worker sees the
 *      descriptor, or the watcher sees the worker and wakes it; the woken worker
 *      takes the seat.
 *
 * If a worker sleeps, and the worker that left the seat is busy, the monitor looks at
 * the seat at each tick, and wakes the sleeper to take it.  So no descriptor is
 * unwatched for longer than a tick while a worker sleeps.  The monitor ticks only
 * while a worker is awake and a descriptor is watched:
 *
 *   watcher                             monitor
 *   1. counts the descriptor     (PW2)  1. publishes its plan
 *   2. reads the plan: later than a     2. reads the count of descriptors (PW2):
 *      tick?  Then wakes the monitor       some: looks after a tick
 *
 * A runtime without worker threads has no monitor, and a bound thread that leaves the
 * seat may stay away for ever, in code that does not call sley.  So it hands the seat
 * over: it wakes another bound thread, if one sleeps, also if a thread searches (it
 * may be the leaver itself).  The free seat is work in the sense of I1 of
 * core/sched/idle.h, as in 2.
 *
 * The waker that signals the eventfd may be late: the worker may be awake by then.
 * But the runtime is not freed by then, and the number of the eventfd not reused: all
 * wakers are workers, guests (core/sched/worker.h), or behind the gate
 * (core/life/drain.h).
 *
 * A child of fork() does not touch the runtime (core/life/after_fork.h), so neither
 * these descriptors.  The child keeps them open until it calls exec or ends.
 *
 * Edges:
 *
 *   PW1  the first watcher counts -> a worker that finds a descriptor watched : the
 *       epoll and the eventfd
 *   PW2  monitor's plan, then the count <-> watcher's count, then the plan
 *
 * Rejected: waking another worker at once when the worker in the poller leaves with
 * work (two wake-ups for each event, docs/adr/0029-one-worker-sleeps-in-the-poller.md);
 * a thread that only polls (two wake-ups in a row for each event); a ring for all
 * workers (DEFER_TASKRUN ties a ring to a thread, and without it the waker pays).
 */
#ifndef SLEY_CORE_SCHED_POLLER_H
#define SLEY_CORE_SCHED_POLLER_H

#include "core/sched/worker.h"

/*
 * From now on a parked worker of @rt wakes up when @fd can be read (level triggered).
 * The caller is a task or a bound thread of @rt, or has passed its gate.
 * 0, or -errno: -EMFILE and -ENFILE, -ENOMEM, -ENOSPC, and as epoll_ctl(2) for @fd.
 */
must_check int poller_watch(struct sley *rt, int fd);

/* @fd is watched.  A worker that @fd has woken may still be on its way. */
void poller_unwatch(struct sley *rt, int fd);

#if defined(SLEY_MODEL) && !defined(MODEL_POLLER) /* in one model alone */
#define poller_wanted(rt) ((void)(rt), false)
#else
/* Is any descriptor watched?  A hint. */
static inline bool poller_wanted(const struct sley *rt)
{
	/* relaxed: a hint; poller_sit() has PW1. */
	return load_relaxed(&rt->poller.nr_watched);
}
#endif

/* Is a descriptor watched, and no worker in the poller?  A hint; exact for a parker. */
static inline bool poller_is_vacant(const struct sley *rt)
{
	/* relaxed: for the parker, I1 of core/sched/idle.h orders both loads. */
	return poller_wanted(rt) && !load_relaxed(&rt->poller.taken);
}

/*
 * On a worker that is about to sleep: takes the seat, if there is need, and makes
 * @look, whose argument is the worker, sleep there.  True: poller_leave() afterwards.
 */
must_check bool poller_sit(struct worker *worker, struct idle_look *look);
void poller_leave(struct worker *worker);

/* On a worker that has taken @nr edges of descriptors from the kernel. */
static inline void poller_count_edges(struct worker *worker, uint32_t nr)
{
	worker->poll.nr_edges += nr;
}

/*
 * By a worker that begins to search: did several edges, on average, come between two
 * searches of late?  Work that was not for descriptors says nothing.
 */
must_check bool poller_gathers(struct worker *worker);

/* By the monitor, whose plan is published: is any descriptor watched? */
must_check bool poller_wanted_settled(struct sley *rt);

/* By the monitor, at each tick: a sleeper takes the seat, if it is free. */
void poller_look_after(struct sley *rt);

/* On the worker's thread, which ends, or is unbound. */
void poller_ring_end(struct worker *worker);

/* All threads of @rt have ended: closes the descriptors. */
void poller_fini(struct sley *rt);

#endif
