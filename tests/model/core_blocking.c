/* SPDX-License-Identifier: MIT */
/*
 * core_blocking.c - the pool of src/core/blocking.c: no call is lost between
 * "queued" and "the thread sits down or leaves", and whether a call was taken
 * back or has started is decided once.
 *
 * Callers are plain threads, so their waits are those of core_wait_thread.c.
 * The threads of the pool are model threads that wait until os_thread_start()
 * sends them off; there are as many as the model has, and then starting fails.
 * Each is idle for a moment only, so that leaving is explored everywhere.
 *
 * All are bounded in preemptions by default; with --slow that of one call is
 * complete.  A cancel is not modelled: it takes the same path as
 * a deadline.  Nor is the pool's memory running out.
 */
#include "threads_only.h"

#include "core/blocking.h"
#include "os/futex.h"
#include "os/thread.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define NR_SLOTS 2
#define NR_CALLS 4
#define START_NS 1000000000ull /* when virtual time begins */

/* ---- a thread of the system --------------------------------------------------- */

enum { SLOT_VACANT, SLOT_RUNS, SLOT_NEVER };

struct slot {
	uint32_t go; /* the futex */
	uint32_t done;
	void *(*fn)(void *);
	void *arg;
};

static struct slot slots[NR_SLOTS];
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

static void run_slot(struct slot *slot)
{
	while (load_acquire(&slot->go) == SLOT_VACANT)
		(void)os_futex_wait(&slot->go, SLOT_VACANT, UINT64_MAX);
	if (load_acquire(&slot->go) == SLOT_NEVER)
		return;
	slot->fn(slot->arg);
	store_release(&slot->done, 1);
	os_futex_wake(&slot->done, INT_MAX);
}

/*
 * Not from model_alloc(): a poster wakes the address of a thread that may have
 * left, which the kernel does not mind and the explorer does.
 */
static struct blocking_thread blocks[NR_CALLS];
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
	(void)mem;
	(void)add_acq_rel(&nr_freed, 1);
	memset(memory, 0xdd, size);
}

/* ---- fibers: there are none ------------------------------------------------------ */

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
	(void)fiber;
}

/* ---- callers ---------------------------------------------------------------------- */

static struct sley rt;
static struct blocking *const pool = &rt.blocking;
static uint32_t nr_callers;
static int ran[NR_CALLS]; /* by call */

static void setup(uint32_t callers, uint32_t nr)
{
	static struct sley_config config;

	config.name = "model";
	config.blocking_idle_ms = 1;
	rt.config = config;
	blocking_init(pool, &rt, NULL);
	model_lock_word(&pool->lock.word);
	model_name(&pool->lock.word, "lock");
	model_name(&pool->nr_threads, "nr_threads");
	nr_callers = callers;
	nr_slots = nr;
	nr_taken = nr_allocated = nr_freed = 0;
	for (int i = 0; i < NR_SLOTS; i++) {
		slots[i] = (struct slot){ 0 };
		model_name(&slots[i].go, "go%d", i);
		model_name(&slots[i].done, "done%d", i);
	}
	for (int i = 0; i < NR_CALLS; i++)
		ran[i] = 0;
}

static void count(void *arg)
{
	(*(int *)arg)++;
}

static int call(int index, uint64_t deadline_ns)
{
	const struct blocking_work work = { .fn = count, .arg = &ran[index] };
	int err = blocking_call(pool, &work, deadline_ns);

	MODEL_CHECK(ran[index] == !err);
	return err;
}

/* The last one stops the pool, and sends home who was never started. */
static void caller_ends(void)
{
	if (sub_acq_rel(&nr_callers, 1) != 1)
		return;
	blocking_stop(pool);
	MODEL_CHECK(pool->nr_wanted == 0 && pool->nr_free == 0);
	MODEL_CHECK(nr_allocated == nr_freed);
	for (uint32_t i = 0; i < nr_slots; i++) {
		if (load_acquire(&slots[i].go) == SLOT_VACANT) {
			store_release(&slots[i].go, SLOT_NEVER);
			os_futex_wake(&slots[i].go, 1);
		}
	}
}

static void slot_first(int id)
{
	(void)id;
	run_slot(&slots[0]);
}

static void slot_second(int id)
{
	(void)id;
	run_slot(&slots[1]);
}

/* ---- one caller ------------------------------------------------------------------- */

static void setup_one(void)
{
	setup(1, 1);
}

static void setup_one_with_two(void)
{
	setup(1, 2);
}

static void setup_none(void)
{
	setup(1, 0);
}

static void call_once(int id)
{
	(void)id;
	MODEL_CHECK(call(0, UINT64_MAX) == 0);
	caller_ends();
}

static void call_in_vain(int id)
{
	(void)id;
	MODEL_CHECK(call(0, UINT64_MAX) == -EAGAIN);
	caller_ends();
}

static void call_twice(int id)
{
	int err;

	(void)id;
	MODEL_CHECK(call(0, UINT64_MAX) == 0);
	err = call(1, UINT64_MAX);
	MODEL_CHECK(err == 0 || (err == -EAGAIN && nr_slots == 1));
	caller_ends();
}

static void call_in_time(int id)
{
	int err = call(0, 2000000000);

	(void)id;
	MODEL_CHECK(err == 0 || err == -ETIMEDOUT);
	caller_ends();
}

/* As a blocking region does: the job comes later than the thread. */
struct late_job {
	struct blocking_job job;
	uint32_t done;
};

static void run_late(struct blocking_job *job, struct blocking_thread *thread)
{
	struct late_job *late = container_of(job, struct late_job, job);
	uint32_t *done = &late->done;

	blocking_job_ends(thread);
	store_release(done, 1);
	os_futex_wake(done, 1);
}

static void reserve_and_post(int id)
{
	static struct late_job late;

	(void)id;
	late = (struct late_job){ .job.run = run_late };
	MODEL_CHECK(call(0, UINT64_MAX) == 0);
	if (blocking_reserve(pool, false) == 0) {
		model_advance(2000000);
		blocking_post(pool, &late.job);
		while (!load_acquire(&late.done))
			(void)os_futex_wait(&late.done, 0, UINT64_MAX);
	} else {
		MODEL_CHECK(nr_slots == 1);
	}
	caller_ends();
}

MODEL(a_call_gets_a_thread, .setup = setup_one, .bound = 4,
      .threads = { call_once, slot_first });
MODEL(a_call_gets_a_thread_always, .setup = setup_one,
      .threads = { call_once, slot_first }, .slow = true);
MODEL(without_a_thread_a_call_fails, .setup = setup_none,
      .threads = { call_in_vain });
MODEL(a_thread_takes_the_next_call_or_has_left, .setup = setup_one, .bound = 3,
      .threads = { call_twice, slot_first });
MODEL(a_thread_that_left_is_replaced, .setup = setup_one_with_two, .bound = 2,
      .threads = { call_twice, slot_first, slot_second });
MODEL(a_call_is_taken_back_or_has_started, .setup = setup_one, .bound = 3,
      .threads = { call_in_time, slot_first });
MODEL(a_reserved_thread_does_not_leave, .setup = setup_one, .bound = 3,
      .threads = { reserve_and_post, slot_first });

/* ---- two callers ---------------------------------------------------------------- */

static void setup_two(void)
{
	setup(2, 1);
}

/*
 * Two threads that may not leave yet would wake each other for ever where the
 * explorer lets nobody else run: here nobody wants to leave.
 */
static void setup_two_with_two(void)
{
	setup(2, 2);
	pool->idle_ns = UINT64_MAX - START_NS;
}

static void call_either(int id)
{
	int err = call(id, UINT64_MAX);

	/* One that was refused met no thread: the other is not known yet. */
	MODEL_CHECK(err == 0 || (err == -EAGAIN && nr_slots == 1));
	caller_ends();
}

static void call_either_in_time(int id)
{
	int err = call(id, 2000000000);

	MODEL_CHECK(err == 0 || err == -ETIMEDOUT ||
		    (err == -EAGAIN && nr_slots == 1));
	caller_ends();
}

static void one_ran(void)
{
	MODEL_CHECK(ran[0] + ran[1] >= 1);
}

MODEL(two_calls_share_a_thread, .setup = setup_two, .bound = 2,
      .threads = { call_either, call_either, slot_first }, .finish = one_ran);
MODEL(two_calls_share_a_thread_or_give_up, .setup = setup_two, .bound = 2,
      .threads = { call_either, call_either_in_time, slot_first });
MODEL(two_calls_have_two_threads, .setup = setup_two_with_two, .bound = 1,
      .threads = { call_either, call_either, slot_first, slot_second });
MODEL(a_thread_takes_the_next_call_for_long, .setup = setup_one, .bound = 4,
      .threads = { call_twice, slot_first }, .slow = true);
MODEL(a_call_is_taken_back_for_long, .setup = setup_one, .bound = 4,
      .threads = { call_in_time, slot_first }, .slow = true);
MODEL(a_reserved_thread_stays_for_long, .setup = setup_one, .bound = 4,
      .threads = { reserve_and_post, slot_first }, .slow = true);
MODEL(two_calls_share_a_thread_for_long, .setup = setup_two, .bound = 3,
      .threads = { call_either, call_either, slot_first }, .finish = one_ran,
      .slow = true);
MODEL(two_calls_have_two_threads_for_long, .setup = setup_two_with_two,
      .bound = 2,
      .threads = { call_either, call_either, slot_first, slot_second },
      .slow = true);
