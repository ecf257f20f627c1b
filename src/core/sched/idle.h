/* SPDX-License-Identifier: MIT */
/*
 * idle.h - sleeping and searching workers, and why no wake-up is lost.
 *
 * A worker without work *searches* for a while and then *parks* on its seat.
 * A submitter that makes work public wakes a sleeper, unless a worker searches
 * already: the searcher will find the work.
 *
 *   submitter                          worker about to sleep
 *   1. publish the work                1. counts: searching - 1, parked + 1  (I1)
 *                                         and asks for private children
 *   2. os_membarrier's cheap half      2. os_membarrier()
 *   3. read counts              (I1)   3. look at every source once more;
 *      no worker searches and            found some: leave the seat, search
 *      one is parked: wake it          4. sleep while the seat says PARKED
 *
 * The barrier of step 2 falls somewhere between the submitter's steps.  If the
 * barrier falls after the submitter's step 1, the worker's step 3 sees the work.
 * If before, the submitter's step 3 comes later and reads the new counts.  So the
 * submitter pays one load, and the parker, which goes to sleep anyway, pays a
 * system call.
 *
 * Where the kernel denies membarrier, step 2 is empty and both accesses of I1
 * are read-modify-writes of one word: one of them comes first.  If the submitter's
 * comes first, the worker's acquires it and step 3 sees the work; if the worker's,
 * the submitter reads its result.  A load would not do, not even a sequentially
 * consistent load: on x86 that is a plain mov, and the work may still sit in the
 * store buffer when the mov executes.
 *
 * Work for one worker only (its home list) is the same protocol between the
 * pusher and that worker's seat word.
 *
 * A submitter may prefer a sleeper: the worker of a certain seat.  That worker is
 * woken as a searcher, as any sleeper is, and not as for work of its own.  Such a
 * worker may find other work first, and run it for long; the duty of a searcher is
 * to look for more then, and to wake the next worker.
 *
 * The last searcher that finds something looks whether there is more, and
 * wakes the next worker: submitters relied on the searcher.  The searcher looks
 * after a step 2 of its own, if a worker sleeps.  For the same reason a worker
 * that finds work in step 3 is a searcher again.
 *
 * A seat:  AWAKE ──park──► PARKED ──wake──► WOKEN | WOKEN_SEARCHING ──► AWAKE
 *                │                    ▲
 *                └──────► POLLING ────┘
 *
 * A worker in the poller (core/sched/poller.h) sleeps for descriptors as well.  In a
 * ring of io_uring, the worker is PARKED: the ring waits for the word, and wakers
 * do as always.  In epoll, the worker is POLLING: no wake of the word would reach it,
 * and the waker signals the poller's eventfd instead.  The waker signals after it has
 * set the word, and the worker clears the eventfd before it reads the word: so a
 * signal that is cleared was for a word that is read.  A late signal, for a worker
 * that has left, costs the next worker in the poller one look too many.
 *
 * The wait of a ring may outlast the worker's stay in the poller (os/uring.h).  Then
 * the worker may sleep on its word while the ring still waits for the same word.  So
 * a waker wakes two waiters: a ring has at most one such wait, so the worker is always
 * among the two.  No other thread waits for the word.
 *
 * Edges:
 *
 *   I1  submitter's work, then counts <-> parker's counts, then the sources
 *   I2  waker sets the seat WOKEN -> the worker sees it : the work for that worker
 *   I3  pusher's home list, then seat <-> parker's seat, then its home list
 *   I6  the worker says POLLING -> the waker finds it : the eventfd of the poller
 *   I5  monitor's plan, then a seat <-> the seat of a worker that wakes up, then
 *       the plan
 *   I4  monitor's word, then counts <-> counts of the worker that wakes up, then
 *       that word
 *
 * Rejected: one condition variable per worker (a lock on every wake-up, also
 * of workers that are awake); one hot counter of queued tasks; waking on "was
 * empty" (loses tasks when the queue's consumer is busy); cancelling the wait of the
 * ring at the end of each stay (a system call before the work that the worker woke
 * for).
 */
#ifndef SLEY_CORE_SCHED_IDLE_H
#define SLEY_CORE_SCHED_IDLE_H

#include "base/atomic.h"
#include "base/list.h"
#include "lf/spin.h"

#define SEAT_ASLEEP 1u /* in both states of a sleeper */

enum seat_state {
	SEAT_AWAKE = 0,
	SEAT_PARKED = SEAT_ASLEEP,
	SEAT_WOKEN = 2,                 /* for work of this worker only */
	SEAT_POLLING = 2 | SEAT_ASLEEP, /* in epoll: signal the eventfd */
	SEAT_WOKEN_SEARCHING =
		4, /* for work of any worker; counted as searcher */
};

/* The worker, and the ring of the worker. */
#define SEAT_WAITERS 2

struct idle_seat {
	struct list link; /* under idle.lock; in no list while awake */
	uint32_t word;    /* enum seat_state; the futex              */
};

struct idle {
	uint64_t counts; /* parked | searching << 32 */
	struct spinlock lock;
	struct list parked; /* seats, the last to sleep first; the poller last */
	uint32_t searching_max;
	bool membarrier;
	int eventfd; /* of the poller; constant once a seat is POLLING */
} cache_aligned;

#define IDLE_PARKED_ONE 1ull
#define IDLE_SEARCHING_ONE (1ull << 32)
#define idle_parked(counts) ((uint32_t)(counts))
#define idle_searching(counts) ((uint32_t)((counts) >> 32))

void idle_init(struct idle *idle, unsigned int nr_workers, bool membarrier);
void idle_seat_init(struct idle_seat *seat);

/* Wake one sleeper for work that any worker may take. */
void idle_wake_one(struct idle *idle);

/* Step 2 of a submitter whose work is published, and the counts of step 3. */
static inline uint64_t idle_counts_after_work(struct idle *idle)
{
	if (unlikely(!idle->membarrier))
		return add_acq_rel(&idle->counts, 0); /* I1 */
	compiler_barrier();
	/* relaxed: I1 is ordered by the parker's os_membarrier(). */
	return load_relaxed(&idle->counts);
}

/* Step 2 and 3 of the submitter. */
static inline void idle_notify(struct idle *idle)
{
	uint64_t counts = idle_counts_after_work(idle);

	if (unlikely(idle_parked(counts) && !idle_searching(counts)))
		idle_wake_one(idle);
}

/* A hint: does the worker of @seat sleep? */
static inline bool idle_is_parked(const struct idle_seat *seat)
{
	/* relaxed: a hint. */
	return load_relaxed(&seat->word) & SEAT_ASLEEP;
}

/*
 * By the monitor: does the worker of @seat sleep?  Then the worker sees the caller's
 * earlier stores when it wakes up.
 */
static inline bool idle_sleeps(struct idle_seat *seat)
{
	return add_release(&seat->word, 0) & SEAT_ASLEEP; /* I5 */
}

/*
 * The same towards one worker whose home list was pushed to.  True: the worker
 * slept, and this call woke it.
 */
bool idle_notify_seat(struct idle *idle, struct idle_seat *seat);

/*
 * Step 2 and 3 of a submitter that would rather have the worker of @seat take its
 * work, although any worker may.  If the worker of @seat sleeps, it is woken, even
 * if another worker searches.
 */
void idle_notify_toward(struct idle *idle, struct idle_seat *seat);

/* May the caller search?  At most searching_max workers may at a time. */
bool idle_search_begin(struct idle *idle);

/* The caller found work.  True: it was the last searcher: look for more. */
must_check bool idle_search_end(struct idle *idle);

/*
 * Park: step 1 with @ask(@arg), and 2, then @look(@arg), step 3.  If @look
 * returns true, or after a wake-up or at the deadline, the seat is left again.
 * @searching says whether the caller was counted as a searcher.  Returns whether
 * the caller is a searcher on return.
 */
struct idle_look {
	bool (*look)(void *arg); /* is there work anywhere?            */
	void (*ask)(void *arg);  /* let work be published; may be NULL */
	void *arg;
	/*
	 * In the poller: sleeps once, in place of os_futex_wait().  1: there is
	 * work, 0: look at the seat again, -ETIMEDOUT: the deadline has come.
	 */
	int (*sleep)(void *arg, uint64_t deadline_ns);
	bool by_eventfd; /* ->sleep is woken by idle.eventfd, not by the word */
};
bool idle_park(struct idle *idle, struct idle_seat *seat, bool searching,
	       const struct idle_look *look, uint64_t deadline_ns);

static inline uint64_t idle_counts(const struct idle *idle)
{
	/* relaxed: for statistics and heuristics. */
	return load_relaxed(&idle->counts);
}

/*
 * The same for a monitor that goes to sleep when all workers are parked: a worker
 * that changes the counts from here on sees the caller's earlier stores.
 */
static inline uint64_t idle_counts_settled(struct idle *idle)
{
	return add_release(&idle->counts, 0); /* I4 */
}

#endif
