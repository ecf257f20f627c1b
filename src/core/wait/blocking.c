/* SPDX-License-Identifier: MIT */
/*
 * blocking.c - see blocking.h for the protocol.
 */
#include "core/wait/blocking.h"

#include "core/task/countdown.h"
#include "core/trace/report.h"
#include "core/wait/wait.h"
#include "core/sched/worker.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/thread.h"

#include <errno.h>
#include <stdio.h>

#define NS_PER_MS 1000000ull
#define IDLE_MS_MAX (1ull << 40) /* 35 years, and still a sum of times */
#define STALL_NS 1000000000ull   /* no job is taken for so long: worth a line */
#define REPORT_GAP_NS 10000000000ull /* between two lines */

void blocking_init(struct blocking *pool, struct sley *rt, struct mem *mem)
{
	uint64_t idle_ms = rt->config.blocking_idle_ms;

	*pool = (struct blocking){
		.rt = rt,
		.mem = mem,
		.name = rt->config.name,
		.max = rt->config.blocking_max,
		.idle_ns = chaos_few((idle_ms < IDLE_MS_MAX ? idle_ms
							    : IDLE_MS_MAX) *
					     NS_PER_MS,
				     1000),
	};
	list_init(&pool->queue);
	list_init(&pool->parked);
}

/* ---- a thread ---------------------------------------------------------------- */

/* Under the lock: the newest thread, which is still warm; NULL: no thread sits. */
static struct blocking_thread *unseat(struct blocking *pool)
{
	struct list *first = list_take_first(&pool->parked);
	struct blocking_thread *thread;

	if (!first)
		return NULL;
	thread = container_of(first, struct blocking_thread, link);
	/* relaxed: a thread that sees it takes the lock before anything else. */
	store_relaxed(&thread->word, BLOCKING_AWAKE);
	return thread;
}

/* Without the lock.  The thread may be gone: only its address is used. */
static void wake(struct blocking_thread *thread)
{
	if (thread)
		os_futex_wake(&thread->word, 1);
}

/*
 * Sleep, without the lock; returns with the lock.  False: the thread shall leave.
 */
static bool rest(struct blocking_thread *thread)
{
	struct blocking *pool = thread->pool;
	uint64_t deadline_ns = os_now() + pool->idle_ns;

	/* relaxed: nothing is read before the lock is taken. */
	while (load_relaxed(&thread->word) == BLOCKING_PARKED) {
		if (os_futex_wait(&thread->word, BLOCKING_PARKED, deadline_ns))
			break;
	}
	spin_lock(&pool->lock);
	if (list_empty(&thread->link))
		return true;
	list_remove(&thread->link);
	if (thread->known && pool->nr_free > pool->nr_wanted)
		return false;
	/*
	 * A thread that changes that (the starter or a submitter) is on the way,
	 * and will take the lock.
	 */
	spin_unlock(&pool->lock);
	spin_hint(&pool->lock.word);
	spin_lock(&pool->lock);
	return true;
}

/* Under the lock, which is dropped meanwhile.  False: the thread shall leave. */
static bool park(struct blocking_thread *thread)
{
	struct blocking *pool = thread->pool;

	/* relaxed: under the lock. */
	store_relaxed(&thread->word, BLOCKING_PARKED);
	list_prepend(&pool->parked, &thread->link);
	spin_unlock(&pool->lock);
	return rest(thread);
}

/* The caller is counted in `free`.  NULL: the caller shall leave. */
static struct blocking_job *next_job(struct blocking_thread *thread)
{
	struct blocking *pool = thread->pool;

	for (;;) {
		struct list *first = list_take_first(&pool->queue);

		if (first) {
			pool->nr_wanted--;
			pool->nr_free--;
			pool->nr_jobs++;
			return container_of(first, struct blocking_job, link);
		}
		if (pool->stopping || !park(thread))
			return NULL;
	}
}

/* Under the lock, which is released: from here on the thread counts as gone. */
static void leave(struct blocking_thread *thread)
{
	struct blocking *pool = thread->pool;
	struct blocking_thread *before = pool->ended;
	bool stopping = pool->stopping;

	pool->ended = thread;
	pool->nr_free--;
	pool->nr_live--;
	store_release(&pool->nr_threads, pool->nr_threads - 1); /* BK1 */
	spin_unlock(&pool->lock);
	/* The pool and this thread exist until this thread is joined. */
	if (stopping)
		os_futex_wake(&pool->nr_threads, 1);
	if (before) {
		os_thread_join(before->pthread);
		mem_free(pool->mem, before, sizeof(*before));
	}
}

void blocking_job_ends(struct blocking_thread *thread)
{
	struct blocking *pool = thread->pool;

	spin_lock(&pool->lock);
	pool->nr_free++;
	spin_unlock(&pool->lock);
}

static void *thread_main(void *arg)
{
	struct blocking_thread *thread = arg;
	struct blocking *pool = thread->pool;
	const struct sley_config *config = &pool->rt->config;
	struct blocking_job *job;

	sley__self.bound = pool->rt;
	fiber_thread_init(&thread->fibers);
	fiber_init_thread(&thread->base, &thread->fibers);
	if (config->on_blocking_start)
		config->on_blocking_start(config->hook_self);
	spin_lock(&pool->lock);
	while ((job = next_job(thread))) {
		spin_unlock(&pool->lock);
		job->run(job, thread);
		spin_lock(&pool->lock);
	}
	leave(thread);
	/* The runtime exists until this thread is joined. */
	if (config->on_blocking_stop)
		config->on_blocking_stop(config->hook_self);
	fiber_fini(&thread->base);
	fiber_thread_fini(&thread->fibers);
	return NULL;
}

/* ---- submitters ----------------------------------------------------------------- */

/* The thread counts as free already. */
static int start_thread(struct blocking *pool, uint32_t number)
{
	struct blocking_thread *thread = mem_alloc(pool->mem, sizeof(*thread));
	pthread_t pthread;
	char name[32];
	int err;

	if (!thread)
		return -ENOMEM;
	thread->pool = pool;
	list_init(&thread->link);
	(void)snprintf(name, sizeof(name), "%.10s-b%u", pool->name, number);
	err = os_thread_start_on(&pthread, name, thread_main, thread, NULL,
				 true);
	if (err) {
		mem_free(pool->mem, thread, sizeof(*thread));
		return err;
	}
	spin_lock(&pool->lock);
	thread->pthread = pthread;
	thread->known = true;
	/* relaxed: under the lock; read without it by the stopper only. */
	store_relaxed(&pool->nr_threads, pool->nr_threads + 1);
	spin_unlock(&pool->lock);
	spin_done(&pool->nr_threads);
	return 0;
}

static bool is_zero(const void *number)
{
	/* relaxed: only decides whether to sleep. */
	return !load_relaxed((const uint32_t *)number);
}

/*
 * Under the lock, which is dropped meanwhile: all threads that the limit allows are
 * being started.  Their starters are on the way, and will take the lock.
 */
static void await_starters(struct blocking *pool)
{
	uint32_t nr_looks = 0;

	while (pool->nr_live >= pool->max && !pool->nr_threads) {
		spin_unlock(&pool->lock);
		spin_hint(&pool->lock.word);
		spin_wait(&pool->nr_threads, is_zero, nr_looks++);
		spin_lock(&pool->lock);
	}
}

/* Under the lock: the job waits for a busy thread, or is refused. */
static int reserve_busy(struct blocking *pool, bool patient)
{
	if (!patient || !pool->nr_threads)
		return -EAGAIN;
	pool->nr_wanted++;
	pool->nr_waited++;
	return 1;
}

/* Without the lock.  The thread counts as free already, and the job as wanted. */
static int reserve_new(struct blocking *pool, uint32_t number, bool patient)
{
	int result;

	if (!start_thread(pool, number))
		return 0;
	spin_lock(&pool->lock);
	pool->nr_wanted--;
	pool->nr_free--;
	pool->nr_live--;
	result = reserve_busy(pool, patient);
	spin_unlock(&pool->lock);
	spin_done(&pool->nr_threads);
	return result;
}

int blocking_reserve(struct blocking *pool, bool patient)
{
	uint32_t number;
	int result;

	spin_lock(&pool->lock);
	if (patient)
		await_starters(pool);
	if (pool->nr_wanted >= pool->nr_free && pool->nr_live >= pool->max) {
		result = reserve_busy(pool, patient);
		spin_unlock(&pool->lock);
		return result;
	}
	if (++pool->nr_wanted <= pool->nr_free) {
		spin_unlock(&pool->lock);
		return 0;
	}
	number = pool->nr_started++;
	pool->nr_free++;
	pool->nr_live++;
	spin_unlock(&pool->lock);
	return reserve_new(pool, number, patient);
}

void blocking_post(struct blocking *pool, struct blocking_job *job)
{
	struct blocking_thread *thread;

	list_init(&job->link);
	spin_lock(&pool->lock);
	list_append(&pool->queue, &job->link);
	thread = unseat(pool);
	spin_unlock(&pool->lock);
	wake(thread);
}

bool blocking_take_back(struct blocking *pool, struct blocking_job *job)
{
	bool queued;

	spin_lock(&pool->lock);
	queued = !list_empty(&job->link);
	if (queued) {
		list_remove(&job->link);
		pool->nr_wanted--;
	}
	spin_unlock(&pool->lock);
	return queued;
}

void blocking_stop(struct blocking *pool)
{
	struct blocking_thread *thread;
	uint32_t nr;

	do {
		spin_lock(&pool->lock);
		pool->stopping = true;
		thread = unseat(pool);
		spin_unlock(&pool->lock);
		wake(thread);
	} while (thread);
	while ((nr = load_acquire(&pool->nr_threads))) /* BK1 */
		(void)os_futex_wait(&pool->nr_threads, nr, UINT64_MAX);
	/* The last thread to leave has joined all others. */
	thread = pool->ended;
	if (thread) {
		os_thread_join(thread->pthread);
		mem_free(pool->mem, thread, sizeof(*thread));
	}
}

void blocking_stats(struct blocking *pool, struct sley_stats *out)
{
	spin_lock(&pool->lock);
	out->blocking_threads = pool->nr_threads;
	out->blocking_queued = pool->nr_wanted;
	out->blocking_calls = pool->nr_jobs;
	out->blocking_waited = pool->nr_waited;
	spin_unlock(&pool->lock);
}

/* ---- a call ----------------------------------------------------------------------- */

struct call {
	struct blocking_job job;
	const struct blocking_work *work;
	struct sley_waitq done; /* counts down from one */
};

static void run_call(struct blocking_job *job, struct blocking_thread *thread)
{
	struct call *call = container_of(job, struct call, job);

	sley__self.strand = call->work->strand;
	call->work->fn(call->work->arg);
	sley__self.strand = NULL;
	blocking_job_ends(thread);
	/* The call is gone as soon as the caller knows. */
	(void)countdown_done(&call->done);
}

/* At a look of a waiting caller. */
struct sight {
	uint64_t nr_jobs; /* at the last look                               */
	uint32_t queued;  /* calls; 0: there is nothing to report           */
	bool started;     /* the caller's own call                          */
};

static void look(struct blocking *pool, const struct blocking_job *job,
		 struct sight *sight, uint64_t now_ns)
{
	bool stalled;

	spin_lock(&pool->lock);
	stalled = pool->nr_jobs == sight->nr_jobs && pool->nr_live >= pool->max;
	sight->nr_jobs = pool->nr_jobs;
	sight->started = list_empty(&job->link);
	sight->queued = 0;
	if (stalled && !sight->started &&
	    pool->reported_jobs != pool->nr_jobs + 1 &&
	    (!pool->reported_ns ||
	     now_ns - pool->reported_ns >= REPORT_GAP_NS)) {
		sight->queued = pool->nr_wanted;
		pool->reported_jobs = pool->nr_jobs + 1;
		pool->reported_ns = now_ns;
	}
	spin_unlock(&pool->lock);
}

/* Until the call is over, as countdown_wait(); all threads were busy at first. */
static int await_in_queue(struct blocking *pool, struct call *call,
			  uint64_t deadline_ns)
{
	struct sight sight = { .nr_jobs = UINT64_MAX };
	uint64_t now_ns = os_now();

	look(pool, &call->job, &sight, now_ns);
	while (!sight.started && deadline_ns > now_ns + STALL_NS) {
		int err = countdown_wait(&call->done, now_ns + STALL_NS,
					 call->work->flags);

		if (err != -ETIMEDOUT)
			return err;
		now_ns = os_now();
		look(pool, &call->job, &sight, now_ns);
		if (sight.queued)
			report(pool->rt,
			       "%u blocking call(s) wait, and all %zu threads "
			       "(.blocking_max) have been in calls for a second: "
			       "if the calls wait for each other, raise "
			       ".blocking_max or set SLEY_UNBOUNDED",
			       sight.queued, pool->max);
	}
	return countdown_wait(&call->done, deadline_ns, call->work->flags);
}

int blocking_call(struct blocking *pool, const struct blocking_work *work,
		  uint64_t deadline_ns)
{
	struct call call = { .job.run = run_call, .work = work };
	int err = wait_refused_slow(deadline_ns, work->flags);
	bool queued;

	if (!err)
		err = blocking_reserve(pool, true);
	if (err < 0)
		return err;
	queued = err;
	countdown_add(&call.done, 1);
	blocking_post(pool, &call.job);
	err = queued ? await_in_queue(pool, &call, deadline_ns)
		     : countdown_wait(&call.done, deadline_ns, work->flags);
	if (!err || blocking_take_back(pool, &call.job))
		return err;
	/* The job runs, and uses memory of the frames above this frame. */
	(void)!countdown_wait(&call.done, UINT64_MAX, WAIT_SHIELDED);
	return 0;
}
