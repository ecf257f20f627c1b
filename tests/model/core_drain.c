/* SPDX-License-Identifier: MIT */
/*
 * core_drain.c - src/core/life/drain.c with src/core/life/runtime_destroy.c: a busy
 * runtime that is destroyed ends after the end of all accepted tasks, and not
 * before; a task that comes too late is refused.
 *
 * The runtime is freed at its end, so that a late access to the runtime is seen.
 * Each task writes plain data, which the destroyer reads.
 *
 * Complete for two foreign threads at the gate, and for two that spawn; for a task
 * that spawns a task on another worker while the destroyer sums up; for a worker and
 * a foreign thread that spawns, against the destroyer, and for a stop hook.  There
 * the worker is awake; with --slow the worker searches and sleeps with the very
 * search.c.  All with membarrier: without membarrier the destroyer looks again every
 * millisecond, for ever, and the search would not end.  Not seen: three workers
 * whose sums are read in between, start hooks (a countdown, see core_countdown.c),
 * and a deadline of the destroyer.
 */
#include "crew.h"
#include "payload.h"

#include "core/sched/place.h"
#include "core/life/hooks.h"
#include "core/sched/loop.h"
#include "core/task/slot.h"
#include "core/task/spawn.h"
#include "os/futex.h"

#include <errno.h>

#define JOBS 2

static struct sley_task tasks[JOBS];
static struct payload payload[JOBS];
static uint32_t handed, returned, joined;
static struct ledger {
	int accepted, freed;
	bool passed[JOBS]; /* the gate */
} ledger;

static void setup(unsigned int workers)
{
	struct sley *memory = model_alloc(sizeof(*memory));

	crew_set_up_in(memory, workers);
	memset(tasks, 0, sizeof(tasks));
	memset(payload, 0, sizeof(payload));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	handed = returned = joined = 0;
	model_lock_word(&rt->bound_lock.word);
	model_name(&rt->drain.gate, "gate");
	model_name(&rt->drain.wanted, "draining");
	model_name(&rt->drain.events, "events");
	model_name(&rt->phase, "phase");
	model_name(&rt->drain.foreign_spawned, "foreign_spawned");
	model_name(&handed, "handed");
	model_name(&joined, "joined");
}

/* ---- names of spawn.c that are not used here ------------------------- */

int slot_give(struct sley_task *task, struct slot **out)
{
	(void)task;
	(void)out;
	return -ENOMEM;
}

void slot_take_back(struct sley_task *task)
{
	(void)task;
}

void slot_describe(const struct slot *slot, const struct sley *runtime,
		   struct sley_waker *out)
{
	(void)slot;
	(void)runtime;
	(void)out;
}

struct strand *strand_create(struct sley *runtime, size_t stack_size,
			     fiber_entry *entry, struct sley_task *task)
{
	(void)runtime;
	(void)stack_size;
	(void)entry;
	(void)task;
	return NULL;
}

void strand_main(void *arg, struct fiber_thread *thread)
{
	(void)arg;
	(void)thread;
}

/* ---- the destroyer ------------------------------------------------------------------ */

/* As runtime.c does: the workers leave, and are joined. */
static void stop_workers(void)
{
	store_release(&rt->phase, PHASE_STOPPING);
	idle_notify_seat(&rt->idle, &crew[0].seat);
	while (!load_acquire(&joined))
		(void)os_futex_wait(&joined, 0, UINT64_MAX);
}

void runtime_free(struct sley *runtime)
{
	MODEL_CHECK(runtime == rt);
	for (int i = 0; i < ledger.accepted; i++)
		payload_check(&payload[i]);
	if (handed)
		stop_workers();
	model_free(rt);
	ledger.freed++;
}

static void destroyer(int id)
{
	(void)id;
	MODEL_CHECK(runtime_destroy(rt, UINT64_MAX) == 0);
}

static void freed(void)
{
	MODEL_CHECK(ledger.freed == 1);
}

/* ---- the gate ------------------------------------------------------------------------- */

/* No workers: a task that passes counts as ended at once. */
static void setup_gate(void)
{
	setup(0);
}

static void pass(int id)
{
	if (!gate_enter(rt))
		return;
	ledger.passed[id] = true;
	payload_write(&payload[id]);
	gate_leave(rt);
}

/* A refused spawner has done nothing; an admitted spawner has been waited for. */
static void shut(int id)
{
	(void)id;
	gate_shut(rt);
	/* A refused spawner is in the count for a moment. */
	MODEL_CHECK(load_relaxed(&rt->drain.gate) & GATE_SHUT);
	for (int i = 0; i < JOBS; i++) {
		if (ledger.passed[i])
			payload_check(&payload[i]);
	}
}

static void gate_is_shut(void)
{
	MODEL_CHECK(rt->drain.gate == GATE_SHUT);
	model_free(rt);
}

MODEL(the_gate_is_shut, .setup = setup_gate, .threads = { pass, pass, shut },
      .finish = gate_is_shut);

/* ---- the sums -------------------------------------------------------------------------- */

/* The first task runs on worker 0, and is counted there. */
static void setup_sums(void)
{
	setup(2);
	ledger.accepted = 2;
	crew[0].counters.spawned = 1;
	model_name(&crew[0].counters.spawned, "spawned0");
	model_name(&crew[0].counters.finished, "finished0");
	model_name(&crew[1].counters.spawned, "spawned1");
	model_name(&crew[1].counters.finished, "finished1");
}

static void ends(struct worker *worker, int job)
{
	payload_write(&payload[job]);
	drain_count_finished(worker);
	/* The worker finds nothing more to do. */
	drain_signal_if_wanted(rt);
}

static void spawn_and_end(int id)
{
	drain_count_spawned(&crew[id]);
	store_release(&handed, 1);
	ends(&crew[id], 0);
	store_release(&joined, 1);
}

static void take_and_end(int id)
{
	while (!load_acquire(&handed))
		spin_hint(&handed);
	ends(&crew[id], 1);
}

static void drain(int id)
{
	(void)id;
	MODEL_CHECK(drain_wait(rt, UINT64_MAX) == 0);
	payload_check(&payload[0]);
	payload_check(&payload[1]);
}

static void drained(void)
{
	model_free(rt);
}

MODEL(a_task_ends_where_it_was_not_spawned, .setup = setup_sums,
      .threads = { spawn_and_end, take_and_end, drain }, .finish = drained);

/* ---- gate, sums and workers together ------------------------------------------------------ */

/*
 * A task lives until the foreign thread has spawned or was refused: without this
 * task the foreign thread could not know that the runtime exists.
 */
static void setup_busy(void)
{
	setup(1);
	handed = 1;
	ledger.accepted = 1;
	task_build(&tasks[0], LEVEL_DEFAULT, 0);
	crew[0].counters.spawned = 1;
	place_spawned(&crew[0], &tasks[0]);
}

static void run(struct sley_task *task)
{
	(void)task_claim(task);
	while (task == &tasks[0] && !load_acquire(&returned))
		spin_hint(&returned);
	payload_write(&payload[task - tasks]);
	task_finish(task);
}

/* As worker.c ends a task; a hook has a group. */
static void run_hook(struct sley_task *task)
{
	struct sley_group *group = task->group;

	(void)task_claim(task);
	task->fn(task->arg);
	task_finish(task);
	group_done(group);
}

static void worker(int id)
{
	struct sley_task *task;

	while ((task = worker_search(&crew[id]))) {
		if (task == &crew[id].hook)
			run_hook(task);
		else
			run(task);
		drain_count_finished(&crew[id]);
	}
	store_release(&joined, 1);
	os_futex_wake(&joined, 1);
}

static void spawn(int id)
{
	static const struct sley_options options;
	int err = spawn_into(rt, NULL, &tasks[1], &options);

	(void)id;
	MODEL_CHECK(err == 0 || err == -ESHUTDOWN);
	if (!err)
		ledger.accepted++;
	store_release(&returned, 1);
}

static void all_or_nothing(void)
{
	freed();
	payload_check(&payload[0]);
	MODEL_CHECK(payload[1].value == PAYLOAD * (ledger.accepted - 1));
}

/* Both spawners count in one word; the worker is busy elsewhere. */
static void setup_spawns(void)
{
	setup(1);
}

static void spawn_own(int id)
{
	static const struct sley_options options;

	MODEL_CHECK(!spawn_into(rt, NULL, &tasks[id - 1], &options));
}

static void idle(int id)
{
	(void)id;
}

static void both_are_counted(void)
{
	MODEL_CHECK(rt->drain.foreign_spawned == 2 && rt->drain.gate == 0);
	model_free(rt);
}

MODEL(two_foreign_threads_spawn, .setup = setup_spawns,
      .threads = { idle, spawn_own, spawn_own }, .finish = both_are_counted);

MODEL(a_spawn_meets_the_end, .setup = setup_busy,
      .threads = { worker, spawn, destroyer }, .finish = all_or_nothing,
      .slow = true);

/* The same without sleep: the worker picks the queued tasks, and leaves. */
static void worker_that_never_sleeps(int id)
{
	struct sley_task *task;

	while ((task = worker_pick(&crew[id]))) {
		run(task);
		drain_count_finished(&crew[id]);
	}
	drain_signal_if_wanted(rt);
	store_release(&joined, 1);
	os_futex_wake(&joined, 1);
}

MODEL(a_spawn_meets_the_end_while_all_are_awake, .setup = setup_busy,
      .slow_modes = MODEL_TSO | MODEL_RA,
      .threads = { worker_that_never_sleeps, spawn, destroyer },
      .finish = all_or_nothing);

/* ---- stop hooks ---------------------------------------------------------------------------- */

static void on_stop(void *self, int index)
{
	(void)self;
	MODEL_CHECK(index == 0);
	payload_write(&payload[1]);
}

/* No task is left when the hook is queued; then the destroyer waits for the hook. */
static void setup_hook(void)
{
	setup(1);
	handed = 1;
	rt->config.on_stop = on_stop;
	model_name(&rt->hooks.q.word, "hooks");
}

static void hook_ran(void)
{
	freed();
	payload_check(&payload[1]);
}

/* Complete in TSO, too, with 3.3 million executions: the next model is enough. */
MODEL(a_stop_hook_is_waited_for, .setup = setup_hook, .modes = MODEL_SC,
      .threads = { worker, destroyer }, .finish = hook_ran, .slow = true);

static void worker_that_watches(int id)
{
	struct worker *self = &crew[id];

	while (push_list_empty(&self->home))
		spin_hint(&self->home.head);
	run_hook(worker_pick(self));
	drain_count_finished(self);
	drain_signal_if_wanted(rt);
	store_release(&joined, 1);
	os_futex_wake(&joined, 1);
}

MODEL(a_stop_hook_is_waited_for_while_all_are_awake, .setup = setup_hook,
      .threads = { worker_that_watches, destroyer }, .finish = hook_ran);
