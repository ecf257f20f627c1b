/* SPDX-License-Identifier: MIT */
/*
 * listener.h - the workers of a runtime hear the answers of subprocesses themselves.
 *
 * A task that waits for an answer holds no worker, and its worker may go to sleep.  The
 * *listener* of a runtime is a source (core/sched/source.h), whose descriptor is an
 * epoll of eventfds.  So the worker that sleeps in the poller (core/sched/poller.h)
 * wakes up when a subprocess answers, collects the answers, and runs the task: one
 * wake-up.  The collector would be woken first, and wake the worker.
 *
 *   task                                subprocess
 *   1. its listener listens to the      1. answers: adds to done, and finds WORKER
 *      eventfd of the subprocess        2. signals the eventfd
 *   2. sets WORKER in done: no          worker in the poller
 *      answer yet                       3. takes from the source: collects, and sets
 *   3. waits                               WORKER again, if more calls wait
 *
 * The bit and the count are in one word (call_ring.h), so no answer is missed.  The
 * collector has another bit and another eventfd, and sleeps on.  It still handles
 * starts, deaths and deadlines, and the answers to plain threads: no worker waits for
 * those, and all workers may be busy.
 *
 * A runtime has a listener from its first task that waits for an answer until its end.
 * A subprocess is in the epoll of a listener from the first such task until it is
 * destroyed, in all of its lives.  If there is no source, no descriptor or no memory for
 * that, or if LISTENERS_MAX runtimes have the subprocess already, the collector hears
 * the answer, and the next call tries again.
 *
 * Several runtimes may listen to one subprocess.  The first that hears of an answer
 * collects it, for all callers.  Nobody reads the eventfd: the epolls are edge
 * triggered, and each of them is told of each signal.
 *
 * A subprocess that lies may signal without end, and would keep a worker busy.  A
 * subprocess with one thread signals once for an answer at most.  So if NOISES_MAX
 * signals come and no answer is collected meanwhile, the subprocess is *noisy*: it is
 * killed, and no listener listens to it again, for descendants of it may have the
 * eventfd, too.
 *
 * Locks: the mutex of all listeners, for beginnings and ends; then the lock of a
 * listener; then the lock of a subprocess.  A taker has the lock of its listener while
 * it collects: so a subprocess that is destroyed is taken out first, and is not freed
 * while a taker uses it.
 *
 * Rejected: a source for each subprocess (a runtime has sixteen); one eventfd for both
 * readers (each answer would wake both); reading the eventfd (a system call more, and
 * two runtimes would clear it for each other); has() that looks at the rings (a worker
 * may ask while the subprocess is freed).
 */
#ifndef SLEY_SUBPROCESS_LISTENER_H
#define SLEY_SUBPROCESS_LISTENER_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "lf/spin.h"

#include <sley/subprocess.h>

#define NOISES_MAX 100

struct sley;
struct sley_source;

struct listener {
	struct sley *rt;
	struct sley_source *source;
	int epoll;
	uint32_t nr_expected; /* calls that wait for an answer        */
	struct spinlock lock;
	struct sley_subprocess *subprocesses[SLEY_SUBPROCESSES_MAX]; /* (lock) */
};

/* The listener for a call of @subprocess by the calling task; NULL: the collector. */
must_check struct listener *
listener_of_caller(struct sley_subprocess *subprocess);

/* One more call waits for an answer, or one less. */
static inline void listener_expect(struct listener *listener)
{
	/* relaxed: a hint for has(); a worker in the poller does not ask it. */
	(void)add_relaxed(&listener->nr_expected, 1);
}

static inline void listener_expect_no_more(struct listener *listener)
{
	/* relaxed: as above. */
	(void)sub_relaxed(&listener->nr_expected, 1);
}

/* @subprocess is destroyed: no worker touches it from now on. */
void listeners_leave(struct sley_subprocess *subprocess);

/* After fork(): another thread of the parent may have had the mutex. */
void listeners_forget(void);

#endif
