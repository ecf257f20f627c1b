/* SPDX-License-Identifier: MIT */
/*
 * core_runtime.c - the threads of src/core/life/runtime.c: the workers begin when
 * the runtime is complete, or leave at once if it will not be complete, and the
 * whole runtime is freed after the workers have left.
 *
 * The source is included whole; its workers are model threads, which wait until they
 * are started.  A worker searches with the very search.c, finds nothing, and sleeps
 * until told to leave.  The runtime is freed and its workers are overwritten at the
 * end, so that a late access is seen; "the runtime is complete" is plain data, which
 * each worker reads first.
 *
 * Complete for one worker, with membarrier and without; for one of two that
 * cannot be started, and for a monitor that cannot be.  Not seen: hooks, and
 * two workers that both search (core_search.c).
 */
#include "core/life/runtime.c"

#define CREW_STARTS_THREADS
#include "crew.h"
#include "payload.h"

#define FREED 0xdd

static struct thread {
	uint32_t word; /* the futex */
	void *(*fn)(void *);
	void *arg;
} threads[CREW_MAX];
enum { THREAD_WAITS, THREAD_RUNS, THREAD_ENDED };

static struct payload payload;
static unsigned int nr_can_start, nr_taken;
static bool monitor_starts;

static void setup(unsigned int workers, unsigned int can_start)
{
	struct sley *memory = model_alloc(sizeof(*memory));

	crew_set_up_in(memory, workers);
	memset(threads, 0, sizeof(threads));
	payload = (struct payload){ 0 };
	nr_can_start = can_start;
	nr_taken = 0;
	monitor_starts = true;
	rt->phase = PHASE_STARTING;
	rt->table_length = workers;
	slab_init(&rt->tasks, &rt->mem, sizeof(struct sley_task));
	slab_init(&rt->strands, &rt->mem, sizeof(struct strand));
	model_lock_word(&rt->tasks.lock.word);
	model_lock_word(&rt->strands.lock.word);
	model_name(&rt->phase, "phase");
	model_name(&threads[0].word, "thread0");
	model_name(&threads[1].word, "thread1");
}

/* ---- no monitor runs, and no watchdog ------------------------------------- */

void watchdog_init(struct watchdog *watchdog, const struct sley_config *config)
{
	(void)config;
	*watchdog = (struct watchdog){ 0 };
}

uint64_t watchdog_found(const struct watchdog *watchdog)
{
	(void)watchdog;
	return 0;
}

/* ---- threads of the system ------------------------------------------------ */

int os_thread_start_on(pthread_t *out, const char *name, void *(*fn)(void *),
		       void *arg, const struct sley_cpus *cpus, bool runs_code)
{
	const struct worker *worker = arg;
	struct thread *thread = &threads[worker->index];

	(void)name;
	(void)cpus;
	(void)runs_code;
	if (worker->index >= nr_can_start)
		return -EAGAIN;
	thread->fn = fn;
	thread->arg = arg;
	*out = worker->index;
	store_release(&thread->word, THREAD_RUNS);
	os_futex_wake(&thread->word, 1);
	return 0;
}

void os_thread_join(pthread_t pthread)
{
	struct thread *thread = &threads[pthread];

	while (load_acquire(&thread->word) != THREAD_ENDED)
		(void)os_futex_wait(&thread->word, THREAD_RUNS, UINT64_MAX);
}

static void thread(int id)
{
	struct thread *self = &threads[id];

	while (load_acquire(&self->word) == THREAD_WAITS)
		(void)os_futex_wait(&self->word, THREAD_WAITS, UINT64_MAX);
	self->fn(self->arg);
	store_release(&self->word, THREAD_ENDED);
	os_futex_wake(&self->word, 1);
}

/* ---- memory: the workers are the crew -------------------------------------- */

void *mem_alloc(struct mem *mem, size_t size)
{
	(void)mem;
	if (size == sizeof(struct worker))
		return &crew[nr_taken++];
	return size > sizeof(crew_table) ? model_alloc(size) : crew_table;
}

void mem_free(struct mem *mem, void *memory, size_t size)
{
	(void)mem;
	if (memory == rt)
		model_free(rt);
	else if (memory != crew_table)
		memset(memory, FREED, size);
}

int worker_init(struct worker *worker, struct sley *runtime, unsigned int index)
{
	MODEL_CHECK(worker->rt == runtime && worker->index == index);
	return 0;
}

void worker_fini(struct worker *worker)
{
	MODEL_CHECK(worker->rt == rt);
}

/* ---- a worker, and the monitor ----------------------------------------------- */

void worker_main(struct worker *worker)
{
	if (nr_can_start == rt->nr_workers && monitor_starts)
		payload_check(&payload);
	MODEL_CHECK(!worker_search(worker));
}

int monitor_start(struct sley *runtime)
{
	(void)runtime;
	if (!monitor_starts)
		return -EAGAIN;
	payload_write(&payload);
	return 0;
}

void monitor_stop(struct sley *runtime)
{
	(void)runtime;
}

/* ---- names of runtime.c that are left out ------------------------------------- */

void affinity_init(struct affinity *affinity, const char *root,
		   const struct sley_config *config)
{
	(void)affinity;
	(void)root;
	(void)config;
}

int affinity_next(struct affinity *affinity, unsigned int worker,
		  struct sley_cpus *out)
{
	(void)affinity;
	(void)worker;
	(void)out;
	return 0;
}

int victims_init(struct victims *victims, struct mem *mem, const char *root,
		 unsigned int nr_workers, const struct sley_cpus *cpus)
{
	(void)victims;
	(void)mem;
	(void)root;
	(void)nr_workers;
	(void)cpus;
	return 0;
}

void victims_fini(struct victims *victims, struct mem *mem)
{
	(void)victims;
	(void)mem;
}

bool victims_place(struct victims *victims, unsigned int worker,
		   const struct sley_cpus *cpus)
{
	(void)victims;
	(void)worker;
	(void)cpus;
	return false;
}

void hooks_hand_start(struct worker *worker)
{
	(void)worker;
}

void hooks_await_start(struct sley *runtime)
{
	(void)runtime;
}

void blocking_init(struct blocking *pool, struct sley *runtime, struct mem *mem)
{
	(void)pool;
	(void)runtime;
	(void)mem;
}

void blocking_stop(struct blocking *pool)
{
	(void)pool;
}

void blocking_stats(struct blocking *pool, struct sley_stats *out)
{
	(void)pool;
	(void)out;
}

void after_fork_begin(struct sley *runtime)
{
	(void)runtime;
}

void fiber_overflow_install(void)
{
}

void fiber_overflow_uninstall(void)
{
}

void mem_init(struct mem *mem, const struct sley_allocator *hook)
{
	(void)mem;
	(void)hook;
}

uint64_t mem_allocated(const struct mem *mem)
{
	(void)mem;
	return 0;
}

int stack_pool_init(struct stack_pool *pool, size_t stack_size,
		    bool no_guard_advice)
{
	(void)pool;
	(void)stack_size;
	(void)no_guard_advice;
	return 0;
}

void stack_pool_fini(struct stack_pool *pool)
{
	(void)pool;
}

void trace_init(struct trace *trace, const char *setting,
		unsigned int nr_workers)
{
	(void)trace;
	(void)setting;
	(void)nr_workers;
}

void trace_free_kept(struct trace *trace, struct mem *mem)
{
	(void)trace;
	(void)mem;
}

uint64_t trace_ring_dropped(const struct trace_ring *ring)
{
	(void)ring;
	return 0;
}

void trace_write(struct sley *runtime)
{
	(void)runtime;
}

/* ---- scenes --------------------------------------------------------------------- */

static void setup_one(void)
{
	setup(1, 1);
}

static void create_and_free(int id)
{
	(void)id;
	MODEL_CHECK(start(rt, rt->nr_workers) == 0);
	runtime_free(rt);
}

#define BOTH_VARIANTS(name, ...)                                               \
	MODEL(name##_with_membarrier, __VA_ARGS__);                            \
	MODEL(name##_without_membarrier, .no_membarrier = true, __VA_ARGS__)

BOTH_VARIANTS(a_worker_comes_and_goes, .setup = setup_one,
	      .threads = { thread, create_and_free });

static void setup_second_fails(void)
{
	setup(2, 1);
}

static void setup_monitor_fails(void)
{
	setup(1, 1);
	monitor_starts = false;
}

static void fail(int id)
{
	(void)id;
	MODEL_CHECK(start(rt, rt->nr_workers) == -EAGAIN);
	free_parts(rt);
}

BOTH_VARIANTS(a_worker_leaves_if_another_cannot_be_started,
	      .setup = setup_second_fails, .threads = { thread, fail });

BOTH_VARIANTS(a_worker_leaves_if_there_is_no_monitor,
	      .setup = setup_monitor_fails, .threads = { thread, fail });
