/* SPDX-License-Identifier: MIT */
/*
 * blocking.h - threads for calls that block and that fibers cannot suspend.
 *
 * A pool per runtime, empty until the first job comes.  A thread is added only
 * when more jobs wait than there are threads without a job, and only up to the
 * limit (config.blocking_max).  So jobs may wait for each other as long as no more
 * jobs than the limit have begun or are needed.  A thread that found nothing to do
 * for a while leaves.
 *
 *   submitter                          thread
 *   1. reserve: wanted + 1;            1. take a job from the queue: wanted - 1,
 *      more than free, and live           free - 1; run it; free + 1; again
 *      below the limit: start a        2. no job: sit down in `parked`, sleep
 *      thread, free + 1, live + 1
 *   2. post: append to the queue,      3. asleep for too long, and not taken out
 *      take the newest out of             of `parked` by a poster: leave if
 *      `parked` and wake it               free > wanted, free - 1
 *
 * All of this happens under one lock, held for a few dozen instructions.  Beside
 * the lock, either side pays for a system call and a context switch.
 *
 *   wanted   jobs that are reserved or queued, and not taken
 *   free     threads that run no job, including threads being started
 *   live     all threads, including threads being started
 *
 * Why no job is lost: call a thread awake if it is counted in `free` and does not
 * sit in `parked`.  Each awake thread will look at the queue before it sits down.
 * There are at least as many awake threads as jobs in the queue:
 *
 *   - a post adds a job, and an awake thread if any thread sat.  If no thread sat,
 *     all of `free` are awake, and `free` is as large as `wanted`;
 *   - a thread that takes a job makes both numbers smaller by one;
 *   - a thread sits down only when the queue is empty, and leaves only where
 *     `free` stays as large as `wanted`.
 *
 * Where no thread could be started, or the limit is reached, `free` is smaller than
 * `wanted`: then no thread sits while a job is queued, and a thread that ends a job
 * takes the next.  A submitter relies on that only if a thread is known: a thread
 * that is being started may fail to start, and its starter fails with it.  So a
 * submitter at the limit waits, for the time of a start, until a thread is known or
 * the limit is not reached any more.
 *
 * At the limit a call waits in the queue.  A region does not (core/wait/region.h).
 *
 * The caller of a call in the queue looks once in a second whether any job has been
 * taken since its last look.  If not, and the limit is reached, the calls may be
 * waiting for each other for ever, and the caller reports this: once for the whole
 * pool, until a job is taken.  The callers look, and not the monitor, because the
 * monitor sleeps when all workers sleep, and the single-threaded mode has no monitor.
 *
 * A call that has not started can be taken back.  A call has started when a
 * thread has taken it out of the queue.  From then on the caller waits, whatever
 * comes: the argument lives in the caller's frame.
 *
 * A thread that leaves joins the thread that left before, so that at most one
 * thread waits to be joined, by blocking_stop().  A thread must not leave before
 * its starter has stored its handle (`known`).
 *
 * Edges:
 *
 *   BK1  a thread leaves -> the stopper sees nr_threads : the thread is the last in
 *       `ended`
 *
 * Rejected: a thread per call (30 to 120 us, and no bound on their number at
 * once); a fixed number of threads (most programs need fewer, some need more); a
 * queue without a lock (saves 20 ns of 20 us, and sitting down, leaving and
 * taking back must agree).
 */
#ifndef SLEY_CORE_WAIT_BLOCKING_H
#define SLEY_CORE_WAIT_BLOCKING_H

#include "base/list.h"
#include "core/wait/waitq.h"
#include "fiber/fiber.h"
#include "lf/spin.h"
#include "mem/alloc.h"

#include <pthread.h>
#include <sley/runtime.h>

struct blocking_thread;

struct blocking_job {
	struct list link; /* under the lock; in no list: taken */
	/* Calls blocking_job_ends() before it reports the end of the job. */
	void (*run)(struct blocking_job *job, struct blocking_thread *thread);
};

enum blocking_state {
	BLOCKING_AWAKE,
	BLOCKING_PARKED,
};

struct blocking_thread {
	struct blocking *pool;
	struct list link; /* under the lock; in blocking.parked    */
	uint32_t word;    /* enum blocking_state; the futex         */
	bool known;       /* under the lock: pthread is set         */
	pthread_t pthread;
	struct fiber_thread fibers; /* for core/wait/region.h            */
	struct fiber base;          /* the thread's own stack        */
};

struct blocking {
	struct sley *rt;
	struct mem *mem;
	const char *name; /* of the runtime */
	uint64_t idle_ns;
	size_t max;           /* threads                        */
	struct spinlock lock; /* of all fields that follow      */
	bool stopping;
	uint32_t nr_wanted;
	uint32_t nr_free;
	uint32_t nr_threads;           /* threads that are known; a futex */
	uint32_t nr_live;              /* known, or being started        */
	uint32_t nr_started;           /* ever; for names                */
	uint64_t nr_jobs;              /* taken so far                   */
	uint64_t nr_waited;            /* jobs that no thread was free for */
	uint64_t reported_jobs;        /* nr_jobs + 1 at the last report */
	uint64_t reported_ns;          /* the time of that report        */
	struct list queue;             /* jobs, the oldest first         */
	struct list parked;            /* threads, the newest first      */
	struct blocking_thread *ended; /* to be joined                   */
};

/* Starts no thread yet.  @mem and @name must outlive @pool. */
void blocking_init(struct blocking *pool, struct sley *rt, struct mem *mem);

/* There are no jobs, and no job will come: ends all threads. */
void blocking_stop(struct blocking *pool);

/*
 * One job more is going to be posted.  -EAGAIN: there is no thread for the job,
 * and no thread can be started, or may be.  With @patient, a busy thread is good
 * enough: 1 says that the job will wait for a busy thread.
 */
must_check int blocking_reserve(struct blocking *pool, bool patient);
void blocking_post(struct blocking *pool, struct blocking_job *job);

/*
 * The thread is counted in `free` again.  The waiter for the end of a job may
 * post the next job at once, and shall find the thread that is still warm.
 */
void blocking_job_ends(struct blocking_thread *thread);

/* True: @job was posted and has not started.  The job never will start. */
must_check bool blocking_take_back(struct blocking *pool,
				   struct blocking_job *job);

/*
 * Run @fn(@arg) on a thread of @pool, and wait for the end.  Meanwhile the thread
 * has the values of core/task/local.c that belong to @strand.  -EAGAIN,
 * -ETIMEDOUT and -ECANCELED: the call has not started, and never will.
 */
struct blocking_work {
	sley_fn *fn;
	void *arg;
	struct strand *strand; /* of the caller */
	enum wait_flags flags; /* WAIT_SHIELDED: a cancel does not take it back */
};
must_check int blocking_call(struct blocking *pool,
			     const struct blocking_work *work,
			     uint64_t deadline_ns);

void blocking_stats(struct blocking *pool, struct sley_stats *out);

#endif
