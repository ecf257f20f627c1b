/* SPDX-License-Identifier: MIT */
/*
 * blocking.h - threads for what blocks: calls that fibers cannot suspend.
 *
 * A pool per runtime, empty until the first job comes.  A thread is added only
 * when more jobs wait than there are threads without one; so no number of jobs
 * that wait for each other can get stuck, and there is no limit to get wrong.
 * A thread that found nothing to do for a while leaves.
 *
 *   submitter                          thread
 *   1. reserve: wanted + 1;            1. take a job from the queue: wanted - 1,
 *      more than free: start a            free - 1; run it; free + 1; again
 *      thread, free + 1                2. none: sit down in `parked`, sleep
 *   2. post: append to the queue,      3. asleep for too long, and not taken out
 *      take the newest out of             of `parked` by a poster: leave if
 *      `parked` and wake it               free > wanted, free - 1
 *
 * All of it happens under one lock, held for a few dozen instructions; what it
 * stands beside is a system call and a context switch on either side.
 *
 *   wanted   jobs that are reserved or queued, and not taken
 *   free     threads that run no job, with those being started
 *
 * Why no job is lost: call those of `free` that do not sit in `parked` awake.
 * Each will look at the queue before it sits down.  There are at least as many
 * of them as jobs in the queue:
 *
 *   - a post adds a job, and an awake thread if anybody sat.  If nobody did,
 *     all of `free` are awake, and they are as many as `wanted`;
 *   - who takes a job is one less, and so is the queue;
 *   - a thread sits down only when the queue is empty, and leaves only where
 *     `free` stays as large as `wanted`.
 *
 * Where no thread could be started, `free` is smaller than `wanted`: then
 * nobody sits while a job is queued, and whoever ends a job takes the next.
 *
 * A call that has not started can be taken back; whether it has is decided by
 * who takes it out of the queue.  From then on its caller waits, whatever
 * comes: the argument lives in its frame.
 *
 * A thread that leaves joins the one that left before it, so that one at most
 * waits to be joined, by blocking_stop().  It must not leave before whoever
 * started it has its handle (`known`).
 *
 * Edges:
 *
 *   B1  a thread leaves -> the stopper sees nr_threads : it is the last in
 *       `ended`
 *
 * Rejected: a thread per call (30 to 120 us, and no bound on their number at
 * once); a fixed number of threads (jobs that wait for each other deadlock); a
 * queue without a lock (saves 20 ns of 20 us, and sitting down, leaving and
 * taking back must agree).
 */
#ifndef SLEY_CORE_WAIT_BLOCKING_H
#define SLEY_CORE_WAIT_BLOCKING_H

#include "base/list.h"
#include "fiber/fiber.h"
#include "lf/spin.h"
#include "mem/alloc.h"

#include <pthread.h>
#include <sley/runtime.h>

struct blocking_thread;

struct blocking_job {
	struct list link; /* under the lock; in no list: taken */
	/* Calls blocking_job_ends() before it tells anybody of its end. */
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
	struct fiber base;          /* its own stack                */
};

struct blocking {
	struct sley *rt;
	struct mem *mem;
	const char *name; /* of the runtime */
	uint64_t idle_ns;
	struct spinlock lock; /* of all that follows            */
	bool stopping;
	uint32_t nr_wanted;
	uint32_t nr_free;
	uint32_t nr_threads;           /* that are known; a futex        */
	uint32_t nr_started;           /* ever; for names                */
	uint64_t nr_jobs;              /* taken so far                   */
	struct list queue;             /* jobs, the oldest first         */
	struct list parked;            /* threads, the newest first      */
	struct blocking_thread *ended; /* to be joined                   */
};

/* Starts no thread yet.  @mem and @name must outlive it. */
void blocking_init(struct blocking *pool, struct sley *rt, struct mem *mem);

/* There are no jobs, and none will come: ends all threads. */
void blocking_stop(struct blocking *pool);

/*
 * One job more is going to be posted.  -EAGAIN: there is no thread for it, and
 * none can be started; @patient takes one that is busy for good enough.
 */
must_check int blocking_reserve(struct blocking *pool, bool patient);
void blocking_post(struct blocking *pool, struct blocking_job *job);

/*
 * The thread is one of `free` again.  Whoever hears of the end of a job may
 * have the next one at once, and shall find the thread that is still warm.
 */
void blocking_job_ends(struct blocking_thread *thread);

/* True: @job was posted and has not started.  It never will. */
must_check bool blocking_take_back(struct blocking *pool,
				   struct blocking_job *job);

/*
 * Run @fn(@arg) on a thread of @pool, and wait for its end; the values of
 * core/task/local.h are those of @strand meanwhile.  -EAGAIN, -ETIMEDOUT and
 * -ECANCELED: it has not started, and never will.
 */
struct blocking_work {
	sley_fn *fn;
	void *arg;
	struct strand *strand; /* of the caller */
};
must_check int blocking_call(struct blocking *pool,
			     const struct blocking_work *work,
			     uint64_t deadline_ns);

void blocking_stats(struct blocking *pool, struct sley_stats *out);

#endif
