/* SPDX-License-Identifier: MIT */
/*
 * pool.h - the scene of core_blocking.c and core_blocking_call.c: the pool of
 * src/core/wait/blocking.c, included whole, and its threads.
 *
 * The threads of the pool are model threads.  A thread for os_thread_start_on()
 * waits for its start; if no such thread is left, starting fails.  The other threads
 * are in the middle of their work when the model begins: about to look for a job,
 * asleep, or asleep for too long.
 */
#ifndef SLEY_TESTS_MODEL_POOL_H
#define SLEY_TESTS_MODEL_POOL_H

#include "payload.h"
#include "threads_only.h"

#include "core/wait/blocking.c"

#include <limits.h>
#include <string.h>

#define NR_SLOTS 2
#define NR_JOBS 2
#define NR_BLOCKS 4
#define START_NS 1000000000ull /* when virtual time begins */

/* ---- threads of the system ------------------------------------------------ */

enum { SLOT_VACANT, SLOT_RUNS, SLOT_NEVER };

static struct slot {
	uint32_t go; /* the futex */
	uint32_t done;
	void *(*fn)(void *);
	void *arg;
} slots[NR_SLOTS];
static uint32_t nr_slots, nr_taken; /* in all; started */
static uint32_t nr_failing;         /* starts that fail, before the others */

int os_thread_start_on(pthread_t *out, const char *name, void *(*fn)(void *),
		       void *arg, const struct sley_cpus *cpus, bool runs_code)
{
	uint32_t nr_before = add_acq_rel(&nr_taken, 1);
	uint32_t i = nr_before - nr_failing;

	(void)name;
	(void)cpus;
	(void)runs_code;
	if (nr_before < nr_failing || i >= nr_slots)
		return -EAGAIN;
	slots[i].fn = fn;
	slots[i].arg = arg;
	store_release(&slots[i].go, SLOT_RUNS);
	os_futex_wake(&slots[i].go, 1);
	*out = i;
	return 0;
}

void os_thread_join(pthread_t thread)
{
	while (!load_acquire(&slots[thread].done))
		(void)os_futex_wait(&slots[thread].done, 0, UINT64_MAX);
}

static inline void slot_ends(uint32_t i)
{
	store_release(&slots[i].done, 1);
	os_futex_wake(&slots[i].done, INT_MAX);
}

static inline void run_slot(uint32_t i)
{
	while (load_acquire(&slots[i].go) == SLOT_VACANT)
		(void)os_futex_wait(&slots[i].go, SLOT_VACANT, UINT64_MAX);
	if (load_acquire(&slots[i].go) == SLOT_NEVER)
		return;
	slots[i].fn(slots[i].arg);
	/* The starter has the handle, or the thread could not be joined. */
	MODEL_CHECK(((struct blocking_thread *)slots[i].arg)->known);
	slot_ends(i);
}

/* Threads that were never started end. */
static inline void send_home(void)
{
	for (uint32_t i = 0; i < nr_slots; i++) {
		if (load_acquire(&slots[i].go) == SLOT_VACANT) {
			store_release(&slots[i].go, SLOT_NEVER);
			os_futex_wake(&slots[i].go, 1);
		}
	}
}

/*
 * Not from model_alloc(): a poster wakes the address of a thread that may have
 * left, which the kernel does not mind and the explorer does.
 */
#define FREED 0xdd
static struct blocking_thread blocks[NR_BLOCKS];
static uint32_t nr_allocated, nr_freed;

void *mem_alloc(struct mem *mem, size_t size)
{
	struct blocking_thread *block = &blocks[add_acq_rel(&nr_allocated, 1)];

	(void)mem;
	MODEL_CHECK(size == sizeof(*block));
	return memset(block, 0, size);
}

void mem_free(struct mem *mem, void *memory, size_t size)
{
	struct blocking_thread *block = memory;

	(void)mem;
	(void)add_acq_rel(&nr_freed, 1);
	model_access(&block->base);
	memset(memory, FREED, size);
}

/* ---- reports: no second passes without a job -------------------------------- */

void report(const struct sley *runtime, const char *format, ...)
{
	(void)runtime;
	(void)format;
	never();
}

/* ---- fibers: left out, but the end of a thread touches its fiber ---------- */

void fiber_thread_init(struct fiber_thread *thread)
{
	(void)thread;
}

void fiber_thread_fini(struct fiber_thread *thread)
{
	(void)thread;
}

void fiber_init_thread(struct fiber *fiber, struct fiber_thread *thread)
{
	(void)fiber;
	(void)thread;
}

void fiber_fini(struct fiber *fiber)
{
	model_access(fiber);
	MODEL_CHECK(*(unsigned char *)fiber != FREED);
}

/* ---- the scene -------------------------------------------------------------------------- */

static struct sley rt;
static struct blocking *const pool = &rt.blocking;
static uint32_t nr_callers;

struct job {
	struct blocking_job job;
	struct payload given, result;
	uint32_t done; /* a futex */
};
static struct job jobs[NR_JOBS];
static struct ledger {
	int ran[NR_JOBS];
	int refused;
} ledger;

/* A pool with @startable threads to start, and no running thread. */
static inline void setup(uint32_t startable, uint32_t callers,
			 bool patient_threads)
{
	static struct sley_config config = { .name = "model" };

	rt.config = config;
	rt.config.blocking_idle_ms = 1;
	rt.config.blocking_max = SLEY_UNBOUNDED;
	blocking_init(pool, &rt, NULL);
	if (patient_threads)
		pool->idle_ns = UINT64_MAX - START_NS;
	selves_set(&(struct self){ 0 });
	memset(slots, 0, sizeof(slots));
	memset(jobs, 0, sizeof(jobs));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	nr_slots = startable;
	nr_callers = callers;
	nr_taken = nr_failing = nr_allocated = nr_freed = 0;
	model_lock_word(&pool->lock.word);
	model_name(&pool->lock.word, "lock");
	model_name(&pool->nr_threads, "nr_threads");
	for (int i = 0; i < NR_SLOTS; i++) {
		model_name(&slots[i].go, "go%d", i);
		model_name(&slots[i].done, "done%d", i);
		model_name(&blocks[i].word, "thread%d", i);
	}
}

/* Adds a running thread to a slot; the thread has no job. */
static inline struct blocking_thread *add_thread(void)
{
	uint32_t i = nr_taken++;
	struct blocking_thread *thread = mem_alloc(NULL, sizeof(*thread));

	thread->pool = pool;
	list_init(&thread->link);
	thread->known = true;
	thread->pthread = i;
	slots[i].go = SLOT_RUNS;
	pool->nr_free++;
	pool->nr_live++;
	pool->nr_threads++;
	pool->nr_started++;
	return thread;
}

static inline void add_sleeping_thread(void)
{
	struct blocking_thread *thread = add_thread();

	thread->word = BLOCKING_PARKED;
	list_prepend(&pool->parked, &thread->link);
}

/* ---- a thread that runs already ---------------------------------------------------------- */

/* With the lock: the rest of its life, as in thread_main(). */
static inline void live_on(uint32_t i, bool stays)
{
	struct blocking_thread *thread = &blocks[i];
	struct blocking_job *job;

	while (stays && (job = next_job(thread))) {
		spin_unlock(&pool->lock);
		job->run(job, thread);
		spin_lock(&pool->lock);
	}
	leave(thread);
	fiber_fini(&thread->base);
	slot_ends(i);
}

static inline void first_sleeps(int id)
{
	(void)id;
	live_on(0, rest(&blocks[0]));
}

/*
 * The same for one job, or for a look in vain; after that the thread does nothing.
 */
static inline void run_one(struct blocking_thread *thread)
{
	struct blocking_job *job = next_job(thread);

	spin_unlock(&pool->lock);
	if (job)
		job->run(job, thread);
}

static inline void first_runs_one(int id)
{
	(void)id;
	(void)rest(&blocks[0]);
	run_one(&blocks[0]);
}

static inline void first_starts(int id)
{
	(void)id;
	run_slot(0);
}

/* ---- begin and end ----------------------------------------------------------------------- */

/* The last caller to end stops the pool. */
static inline void caller_ends(void)
{
	if (sub_acq_rel(&nr_callers, 1) != 1)
		return;
	blocking_stop(pool);
	send_home();
}

static inline void all_is_quiet(void)
{
	MODEL_CHECK(pool->nr_wanted == 0 && pool->nr_free == 0);
	MODEL_CHECK(pool->nr_threads == 0 && pool->nr_live == 0);
	MODEL_CHECK(nr_allocated == nr_freed);
	MODEL_CHECK(list_empty(&pool->queue) && list_empty(&pool->parked));
}

static inline void one_ran(void)
{
	all_is_quiet();
	MODEL_CHECK(ledger.ran[0] == 1 && ledger.refused == 0);
}

/* The pool goes on: @free threads are without a job. */
static inline void goes_on(uint32_t free)
{
	MODEL_CHECK(pool->nr_wanted == 0 && pool->nr_free == free);
	MODEL_CHECK(list_empty(&pool->queue) && list_empty(&pool->parked));
}

static inline void none_but_one_can_start(void)
{
	setup(1, 1, true);
}

static inline void one_looks(void)
{
	setup(0, 1, true);
	(void)add_thread();
}

static inline void one_sleeps(void)
{
	setup(0, 1, true);
	add_sleeping_thread();
}

#endif
