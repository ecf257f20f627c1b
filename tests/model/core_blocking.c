/* SPDX-License-Identifier: MIT */
/*
 * core_blocking.c - the pool of src/core/blocking.c: no job is lost between
 * "queued" and "the thread sits down or leaves", and whether a call was taken
 * back or has started is decided once.
 *
 * The threads of the pool are model threads.  One that os_thread_start() is to
 * start waits until it is sent off; where there is none, starting fails.  The
 * others are in the middle of something when the model begins: about to look
 * for a job, asleep, or asleep for too long.  A job carries plain data in both
 * directions.
 *
 * All complete: a thread that is started for a job, from nothing to the end of
 * the pool; one that sits down, sleeps, or leaves, against one who posts and
 * against the stopper; two that leave; two who post to one thread, or to two.  A
 * call, with its countdown, is complete with a thread that sleeps, in time and
 * too late; started from nothing it is complete with --slow.
 *
 * What they could miss are three parties at one moment: a post, a thread that
 * leaves and another one that sits down; and more than two jobs.  A cancel is
 * not modelled: it takes the same path as a deadline.  Nor is the pool's memory
 * running out.
 */
#include "payload.h"
#include "threads_only.h"

#include "core/blocking.c"

#include <limits.h>
#include <string.h>

#define NR_SLOTS 2
#define NR_JOBS 2
#define NR_BLOCKS 4
#define SOON_NS 2000000000ull  /* a deadline in virtual time: at any moment */
#define START_NS 1000000000ull /* when virtual time begins */

/* ---- threads of the system ------------------------------------------------------- */

enum { SLOT_VACANT, SLOT_RUNS, SLOT_NEVER };

static struct slot {
	uint32_t go; /* the futex */
	uint32_t done;
	void *(*fn)(void *);
	void *arg;
} slots[NR_SLOTS];
static uint32_t nr_slots, nr_taken; /* that there are; started */

int os_thread_start(pthread_t *out, const char *name, void *(*fn)(void *),
		    void *arg)
{
	uint32_t i = add_acq_rel(&nr_taken, 1);

	(void)name;
	if (i >= nr_slots)
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

static void slot_ends(uint32_t i)
{
	store_release(&slots[i].done, 1);
	os_futex_wake(&slots[i].done, INT_MAX);
}

static void run_slot(uint32_t i)
{
	while (load_acquire(&slots[i].go) == SLOT_VACANT)
		(void)os_futex_wait(&slots[i].go, SLOT_VACANT, UINT64_MAX);
	if (load_acquire(&slots[i].go) == SLOT_NEVER)
		return;
	slots[i].fn(slots[i].arg);
	/* Who started it has its handle, or nobody could join it. */
	MODEL_CHECK(((struct blocking_thread *)slots[i].arg)->known);
	slot_ends(i);
}

/* Who was never started goes home. */
static void send_home(void)
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

/* ---- fibers: there are none, but the end of a thread touches it ---------------------------------------------------------- */

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

/* A pool with @startable threads to start, and nobody there. */
static void setup(uint32_t startable, uint32_t callers, bool patient_threads)
{
	static struct sley_config config = { .name = "model" };

	rt.config = config;
	rt.config.blocking_idle_ms = 1;
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
	nr_taken = nr_allocated = nr_freed = 0;
	model_lock_word(&pool->lock.word);
	model_name(&pool->lock.word, "lock");
	model_name(&pool->nr_threads, "nr_threads");
	for (int i = 0; i < NR_SLOTS; i++) {
		model_name(&slots[i].go, "go%d", i);
		model_name(&slots[i].done, "done%d", i);
		model_name(&blocks[i].word, "thread%d", i);
	}
}

/* One that is there already, in its slot, and runs no job. */
static struct blocking_thread *add_thread(void)
{
	uint32_t i = nr_taken++;
	struct blocking_thread *thread = mem_alloc(NULL, sizeof(*thread));

	thread->pool = pool;
	list_init(&thread->link);
	thread->known = true;
	thread->pthread = i;
	slots[i].go = SLOT_RUNS;
	pool->nr_free++;
	pool->nr_threads++;
	pool->nr_started++;
	return thread;
}

static void add_sleeping_thread(void)
{
	struct blocking_thread *thread = add_thread();

	thread->word = BLOCKING_PARKED;
	list_prepend(&pool->parked, &thread->link);
}

/* ---- a thread that was there ------------------------------------------------------------- */

/* With the lock: the rest of its life, as in thread_main(). */
static void live_on(uint32_t i, bool stays)
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

static void looks_for_a_job(int id)
{
	(void)id;
	spin_lock(&pool->lock);
	live_on(0, true);
}

static void first_sleeps(int id)
{
	(void)id;
	live_on(0, rest(&blocks[0]));
}

static void second_sleeps(int id)
{
	(void)id;
	live_on(1, rest(&blocks[1]));
}

/* The same for one job, or a look that is in vain; then it is of no account. */
static void run_one(struct blocking_thread *thread)
{
	struct blocking_job *job = next_job(thread);

	spin_unlock(&pool->lock);
	if (job)
		job->run(job, thread);
}

static void first_looks_once(int id)
{
	(void)id;
	spin_lock(&pool->lock);
	run_one(&blocks[0]);
}

static void first_runs_one(int id)
{
	(void)id;
	(void)rest(&blocks[0]);
	run_one(&blocks[0]);
}

static void first_runs_two(int id)
{
	first_runs_one(id);
	spin_lock(&pool->lock);
	run_one(&blocks[0]);
}

static void second_runs_one(int id)
{
	(void)id;
	(void)rest(&blocks[1]);
	run_one(&blocks[1]);
}

static void first_starts(int id)
{
	(void)id;
	run_slot(0);
}

/* ---- jobs ---------------------------------------------------------------------------------- */

static void run_job(struct blocking_job *base, struct blocking_thread *thread)
{
	struct job *job = container_of(base, struct job, job);
	uint32_t *done = &job->done;

	payload_check(&job->given);
	ledger.ran[job - jobs]++;
	payload_write(&job->result);
	blocking_job_ends(thread);
	store_release(done, 1);
	os_futex_wake(done, 1);
}

static void await(struct job *job)
{
	while (!load_acquire(&job->done))
		(void)os_futex_wait(&job->done, 0, UINT64_MAX);
	payload_check(&job->result);
}

/* The last one to end stops the pool. */
static void caller_ends(void)
{
	if (sub_acq_rel(&nr_callers, 1) != 1)
		return;
	blocking_stop(pool);
	send_home();
}

static void stopper(int id)
{
	(void)id;
	caller_ends();
}

/* False: there is no thread for it. */
static bool post(struct job *job, bool patient)
{
	payload_write(&job->given);
	job->job.run = run_job;
	if (blocking_reserve(pool, patient)) {
		ledger.refused++;
		return false;
	}
	blocking_post(pool, &job->job);
	return true;
}

static void post_and_wait_on(int id)
{
	if (post(&jobs[id], true))
		await(&jobs[id]);
}

static void post_and_wait(int id)
{
	post_and_wait_on(id);
	caller_ends();
}

/* As a blocking region does: the thread first, the job later. */
static void reserve_and_post_late(int id)
{
	struct job *job = &jobs[id];

	payload_write(&job->given);
	job->job.run = run_job;
	if (blocking_reserve(pool, false) == 0) {
		model_advance(2000000);
		blocking_post(pool, &job->job);
		await(job);
	} else {
		ledger.refused++;
	}
	caller_ends();
}

static void all_is_quiet(void)
{
	MODEL_CHECK(pool->nr_wanted == 0 && pool->nr_free == 0);
	MODEL_CHECK(pool->nr_threads == 0);
	MODEL_CHECK(nr_allocated == nr_freed);
	MODEL_CHECK(list_empty(&pool->queue) && list_empty(&pool->parked));
}

static void one_ran(void)
{
	all_is_quiet();
	MODEL_CHECK(ledger.ran[0] == 1 && ledger.refused == 0);
}

static void one_ran_or_was_refused(void)
{
	all_is_quiet();
	MODEL_CHECK(ledger.ran[0] + ledger.refused == 1);
}

/* The pool goes on: @free threads are without a job. */
static void goes_on(uint32_t free)
{
	MODEL_CHECK(pool->nr_wanted == 0 && pool->nr_free == free);
	MODEL_CHECK(list_empty(&pool->queue) && list_empty(&pool->parked));
}

static void two_ran(uint32_t free)
{
	goes_on(free);
	MODEL_CHECK(ledger.ran[0] == 1 && ledger.ran[1] == 1);
}

static void two_ran_on_one(void)
{
	two_ran(1);
}

static void two_ran_on_two(void)
{
	two_ran(2);
}

/* ---- one job --------------------------------------------------------------------------------- */

static void none_but_one_can_start(void)
{
	setup(1, 1, true);
}

static void one_can_start_and_is_impatient(void)
{
	setup(1, 1, false);
}

static void none_and_none_can_start(void)
{
	setup(0, 1, true);
}

static void one_looks(void)
{
	setup(0, 1, true);
	(void)add_thread();
}

static void one_sleeps(void)
{
	setup(0, 1, true);
	add_sleeping_thread();
}

static void one_sleeps_impatiently(void)
{
	setup(0, 1, false);
	add_sleeping_thread();
}

MODEL(a_thread_is_started, .setup = none_but_one_can_start,
      .threads = { post_and_wait, first_starts }, .finish = one_ran);

MODEL(a_thread_is_started_and_may_leave_early,
      .setup = one_can_start_and_is_impatient,
      .threads = { post_and_wait, first_starts }, .finish = one_ran);

MODEL(without_a_thread_a_job_is_refused, .setup = none_and_none_can_start,
      .threads = { post_and_wait }, .finish = one_ran_or_was_refused);

MODEL(a_thread_sits_down_or_takes_the_job, .setup = one_looks,
      .threads = { post_and_wait, looks_for_a_job }, .finish = one_ran);

MODEL(a_sleeping_thread_takes_the_job, .setup = one_sleeps,
      .threads = { post_and_wait, first_sleeps }, .finish = one_ran);

MODEL(a_thread_leaves_or_takes_the_job, .setup = one_sleeps_impatiently,
      .threads = { post_and_wait, first_sleeps },
      .finish = one_ran_or_was_refused);

MODEL(a_reserved_thread_does_not_leave, .setup = one_sleeps_impatiently,
      .threads = { reserve_and_post_late, first_sleeps },
      .finish = one_ran_or_was_refused);

MODEL(a_thread_leaves_beside_the_stopper, .setup = one_sleeps_impatiently,
      .threads = { stopper, first_sleeps }, .finish = all_is_quiet);

/* ---- two ---------------------------------------------------------------------------------------- */

static void two_sleep(void)
{
	setup(0, 1, true);
	add_sleeping_thread();
	add_sleeping_thread();
}

static void two_sleep_impatiently(void)
{
	setup(0, 1, false);
	add_sleeping_thread();
	add_sleeping_thread();
}

static void post_both(int id)
{
	(void)id;
	MODEL_CHECK(post(&jobs[0], false) && post(&jobs[1], false));
	await(&jobs[0]);
	await(&jobs[1]);
}

MODEL(two_threads_leave, .setup = two_sleep_impatiently,
      .threads = { stopper, first_sleeps, second_sleeps },
      .finish = all_is_quiet);

MODEL(two_threads_are_stopped, .setup = two_sleep,
      .threads = { stopper, first_sleeps, second_sleeps },
      .finish = all_is_quiet);

MODEL(two_threads_take_a_job_each, .setup = two_sleep,
      .threads = { post_both, first_runs_one, second_runs_one },
      .finish = two_ran_on_two);

MODEL(a_thread_takes_one_job_after_the_other, .setup = one_sleeps,
      .threads = { post_and_wait_on, post_and_wait_on, first_runs_two },
      .finish = two_ran_on_one);

/*
 * A thread is being started for a second job when it takes the first, ends it
 * and finds that it is not needed: it must not leave before whoever starts it
 * has its handle.  The other thread of the pool is in no hurry, and no model
 * thread; what was posted to it waits.
 */
static void one_is_being_started(void)
{
	setup(2, 1, false);
	add_sleeping_thread();
	pool->nr_wanted = 1;
}

static void post_second(int id)
{
	struct job *job = &jobs[1];

	(void)id;
	payload_write(&job->given);
	job->job.run = run_job;
	blocking_post(pool, &job->job);
}

static void second_starts(int id)
{
	(void)id;
	run_slot(1);
}

/* Whether it runs on this thread or waits for the other. */
static void post_first(int id)
{
	(void)id;
	MODEL_CHECK(post(&jobs[0], false));
}

static void second_left_with_its_handle(void)
{
	MODEL_CHECK(pool->ended == &blocks[1]);
	MODEL_CHECK(pool->nr_threads == 1 && blocks[1].pthread == 1);
	MODEL_CHECK(pool->nr_free == 1);
}

MODEL(a_thread_is_known_before_it_leaves, .setup = one_is_being_started,
      .threads = { post_first, post_second, second_starts },
      .finish = second_left_with_its_handle);

/* ---- a call --------------------------------------------------------------------------------------- */

static void count(void *arg)
{
	struct job *job = arg;

	payload_check(&job->given);
	ledger.ran[job - jobs]++;
	payload_write(&job->result);
}

static void call(int id, uint64_t deadline_ns)
{
	struct job *job = &jobs[id];
	const struct blocking_work work = { .fn = count, .arg = job };
	int err;

	payload_write(&job->given);
	err = blocking_call(pool, &work, deadline_ns);
	MODEL_CHECK(err == 0 || err == -EAGAIN ||
		    (err == -ETIMEDOUT && deadline_ns == SOON_NS));
	MODEL_CHECK(ledger.ran[id] == !err);
	if (!err)
		payload_check(&job->result);
}

static void call_once(int id)
{
	call(id, UINT64_MAX);
}

static void call_in_time(int id)
{
	call(id, SOON_NS);
}

static void call_and_stop(int id)
{
	call(id, UINT64_MAX);
	caller_ends();
}

static void call_in_time_and_stop(int id)
{
	call(id, SOON_NS);
	caller_ends();
}

/* Who finds nothing shall not sit down. */
static void one_looks_once(void)
{
	one_looks();
	pool->stopping = true;
}

static void one_call_ran(void)
{
	goes_on(1);
	MODEL_CHECK(ledger.ran[0] == 1);
}

static void quiet_or_taken_back(void)
{
	goes_on(1);
}

MODEL(a_call_wakes_a_thread, .setup = one_sleeps,
      .threads = { call_once, first_runs_one }, .finish = one_call_ran);

MODEL(a_call_is_taken_back_or_has_started, .setup = one_looks_once,
      .threads = { call_in_time, first_looks_once },
      .finish = quiet_or_taken_back);

MODEL(a_call_starts_a_thread, .setup = none_but_one_can_start,
      .threads = { call_and_stop, first_starts }, .finish = one_ran,
      .slow = true);

MODEL(a_call_wakes_a_thread_or_is_taken_back, .setup = one_sleeps,
      .threads = { call_in_time_and_stop, first_sleeps },
      .finish = all_is_quiet, .slow = true);
