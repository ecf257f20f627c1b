/* SPDX-License-Identifier: MIT */
/*
 * core_region.c - src/core/wait/region.c: a task takes its stack to a thread of the
 * pool and comes back to its worker, and one thread at a time is on the stack.
 *
 * With real fibers: the task has a stack of its own.  Model threads 0, the worker,
 * and 1, of the pool, switch to and from this stack as in the library.  The frame of
 * the task is plain data, and so are the frames of the worker and of the thread.
 * The worker searches with the very search.c while the task is away.
 *
 * Complete for one region, with a thread that sleeps or is about to look for a job,
 * with a concurrent cancel, and for a region that finds no thread; with membarrier
 * and without.  Not seen: two tasks in regions, a region of a migratable runtime
 * (where the task comes back to any worker, as in core_search.c), and a thread that
 * is started for the region (core_blocking.c).
 */
#include "core/wait/blocking.c"
#include "core/sched/switch.h"
#include "core/wait/region.h"

#define CREW_LEAVES_STACKS
#include "crew.h"
#include "payload.h"

#define START_NS 1000000000ull /* when virtual time begins */

static struct strand strand;
static struct sley_task task;
static struct blocking_thread helper;
static int errors[2]; /* errno of both threads */
static _Alignas(64) char stack_memory[64 << 10];
static struct ledger {
	int inside, ended;
} ledger;

/* ---- parts of worker.c ----------------------------------------------------------- */

void switch_finish_rare(struct worker *worker)
{
	if (worker->after.kind == AFTER_REGION)
		region_finish_enter(worker, worker->after.strand);
}

/* Nothing to do: back to the loop, which is on the thread's own stack. */
struct strand *worker_spare_strand(struct worker *worker,
				   struct sley_task *next)
{
	MODEL_CHECK(!next);
	return &worker->base;
}

/* ---- the task ------------------------------------------------------------------------- */

static void inside(const struct payload *given, struct payload *result)
{
	MODEL_CHECK(model_thread() == 1);
	MODEL_CHECK(sley__self.strand == &strand);
	payload_check(given);
	payload_write(result);
	ledger.inside++;
}

/*
 * A worker writes its current strand for thieves, and reads the strand as plain
 * data; the explorer's store buffers do not answer plain reads.
 */
static void empty_buffer(void)
{
	static uint32_t word;

	(void)or_relaxed(&word, 0);
}

static void task_main(void *arg, struct fiber_thread *thread)
{
	struct payload given = { 0 }, result = { 0 };
	struct worker *worker = worker_of_thread(thread);

	(void)arg;
	switch_finish(worker);
	empty_buffer();
	payload_write(&given);
	if (region_enter(worker) == 0) {
		inside(&given, &result);
		region_leave(&strand);
		payload_check(&result);
	}
	MODEL_CHECK(model_thread() == 0);
	empty_buffer();
	ledger.ended++;
	worker = strand.home;
	worker->after.kind = AFTER_IDLE;
	(void)worker_switch(worker, &worker->base);
	MODEL_CHECK(!"it has ended");
}

/* ---- the worker ------------------------------------------------------------------------ */

static void setup_thread(struct fiber_thread *thread, struct fiber *base,
			 int *error)
{
	*thread = (struct fiber_thread){ .errno_location = error };
	fiber_init_thread(base, thread);
}

static void setup(void)
{
	const struct stack stack = { .low = stack_memory,
				     .size = sizeof(stack_memory) };
	struct worker *worker = &crew[0];

	crew_set_up(1);
	memset(&strand, 0, sizeof(strand));
	memset(&helper, 0, sizeof(helper));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	task = (struct sley_task){ .fiber = &strand };
	task_build_running(&task, 0, rt->membarrier ? 0 : TASK_NO_BARRIER);
	list_init(&strand.parents);
	strand.task = &task;
	strand.home = worker;
	fiber_init(&strand.fiber, &stack, task_main, NULL);
	setup_thread(&worker->thread, &worker->base.fiber, &errors[0]);
	worker->base.home = worker;
	worker->strand = &worker->base;
	rt->config.name = "model";
	blocking_init(&rt->blocking, rt, NULL);
	rt->blocking.idle_ns = UINT64_MAX - START_NS; /* never leaves */
	model_lock_word(&rt->blocking.lock.word);
	model_name(&rt->blocking.lock.word, "pool.lock");
	model_name(&task.state, "task");
	model_name(&task.flags, "flags");
	model_name(&worker->strand, "strand0");
}

static void worker(int id)
{
	struct worker *self = &crew[id];
	struct sley_task *next;

	(void)worker_switch(self, &strand);
	if (ledger.ended)
		return;
	next = worker_search(self);
	MODEL_CHECK(next == &task);
	(void)worker_switch(self, strand_resume(next));
}

/* ---- a thread of the pool -------------------------------------------------------------- */

static void setup_helper(void)
{
	setup();
	setup_thread(&helper.fibers, &helper.base, &errors[1]);
	helper.pool = &rt->blocking;
	helper.known = true;
	list_init(&helper.link);
	rt->blocking.nr_free = rt->blocking.nr_threads = 1;
	model_name(&helper.word, "helper");
}

static void setup_sleeping(void)
{
	setup_helper();
	helper.word = BLOCKING_PARKED;
	list_prepend(&rt->blocking.parked, &helper.link);
}

static void run_one(void)
{
	struct blocking_job *job = next_job(&helper);

	spin_unlock(&rt->blocking.lock);
	job->run(job, &helper);
}

static void sleeps(int id)
{
	(void)id;
	(void)rest(&helper);
	run_one();
}

static void looks(int id)
{
	(void)id;
	spin_lock(&rt->blocking.lock);
	run_one();
}

/* The task is RUNNING all the time. */
static void cancel(int id)
{
	(void)id;
	MODEL_CHECK(!task_cancel(&task));
}

static void came_back(void)
{
	MODEL_CHECK(ledger.inside == 1 && ledger.ended == 1);
	MODEL_CHECK(!strand.region && rt->blocking.nr_free == 1);
	MODEL_CHECK(crew[0].strand == &crew[0].base);
}

static void stayed(void)
{
	MODEL_CHECK(ledger.inside == 0 && ledger.ended == 1);
	MODEL_CHECK(rt->blocking.nr_wanted == 0);
}

#define BOTH_VARIANTS(name, ...)                                               \
	MODEL(name##_with_membarrier, .finish = came_back, __VA_ARGS__);       \
	MODEL(name##_without_membarrier, .finish = came_back,                  \
	      .no_membarrier = true, __VA_ARGS__)

BOTH_VARIANTS(a_task_wakes_a_thread, .setup = setup_sleeping,
	      .threads = { worker, sleeps });

BOTH_VARIANTS(a_thread_finds_a_task, .setup = setup_helper,
	      .threads = { worker, looks });

BOTH_VARIANTS(a_task_is_cancelled_meanwhile, .setup = setup_sleeping,
	      .threads = { worker, sleeps, cancel }, .slow_modes = MODEL_RA);

MODEL(without_a_thread_a_task_stays, .setup = setup, .threads = { worker },
      .finish = stayed);
