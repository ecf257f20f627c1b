/* SPDX-License-Identifier: MIT */
/*
 * core_fork.c - src/core/fork.c: a forked child runs once, by its parent or by
 * the worker that stole it, and its parent goes on when it has ended, not
 * before and not never.
 *
 * The parent is the task on worker 0.  It joins as task/fork.c does: if the
 * child was stolen it leaves its stack, and goes on when its worker finds it
 * queued.  Worker 1 steals from the strand that worker 0 is on, or from the
 * list of those suspended there.  The child writes plain data, which the
 * parent reads; it is in the parent's frame, and gone as soon as that returns.
 *
 * In one model the worker goes to that strand, with a stack of its own, just
 * before; the thief must find it whole.
 *
 * Complete for one child, one thief, with membarrier and without.  More
 * children and thieves are in lf_fork_stack.c, where the stack itself is; not
 * seen are two suspended parents in one list, and a parent that comes back on
 * another worker.
 */
#include "crew.h"
#include "payload.h"

static struct strand strands[CREW_MAX];
static struct sley_task parent, tasks[CREW_MAX]; /* one for each thief */
static struct fork_storage *storage;
static struct sley_fork *child; /* freed by the parent */
static struct payload payload;
static uint32_t nr_tasks;
static struct ledger {
	int ran, joined;
} ledger;

void *slab_alloc(struct slab *slab)
{
	(void)slab;
	(void)add_relaxed(&nr_tasks, 1);
	return &tasks[model_thread()];
}

void slab_free(struct slab *slab, void *object)
{
	(void)slab;
	(void)object;
	(void)sub_relaxed(&nr_tasks, 1);
}

static void setup(void)
{
	crew_set_up(2);
	memset(strands, 0, sizeof(strands));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	nr_tasks = 0;
	payload.value = 0;
	for (int i = 0; i < CREW_MAX; i++) {
		strands[i].home = &crew[i];
		list_init(&strands[i].parents);
		crew[i].strand = &strands[i];
		model_lock_word(&crew[i].parents_lock.word);
		model_name(&crew[i].nr_parents, "nr_parents%d", i);
		model_name(&crew[i].strand, "strand%d", i);
		model_name(&strands[i].forks.word, "forks%d", i);
	}
	parent = (struct sley_task){ .fiber = &strands[0] };
	task_build_running(&parent, 0, rt->membarrier ? 0 : TASK_NO_BARRIER);
	strands[0].task = &parent;
	MODEL_CHECK(fork_make_room(&crew[0]));
	storage = strands[0].forks.storage;
	child = model_alloc(sizeof(*child));
	model_name(&parent.state, "parent");
	model_name(&child->state, "child");
}

static void run_child(void *arg)
{
	MODEL_CHECK(arg == &payload);
	payload_write(&payload);
	ledger.ran++;
}

/* ---- the parent ------------------------------------------------------------------ */

static void fork_child(void)
{
	child->fn = run_child;
	child->arg = &payload;
	fork_stack_push(&strands[0].forks, child);
}

/* On the next stack, and then in the worker's loop. */
static void leave_and_wait(struct worker *worker)
{
	const struct after after = { .kind = AFTER_FORK,
				     .strand = &strands[0],
				     .child = child };

	fork_leave_behind(worker);
	fork_finish_wait(worker, &after);
	MODEL_CHECK(worker_search(worker) == &parent);
	MODEL_CHECK(task_verdict_of(task_claim(&parent)) == VERDICT_WOKEN);
	if (strands[0].parents_home)
		fork_come_back(&strands[0]);
}

static void join_child(struct worker *worker)
{
	struct fork_stack *forks = &strands[0].forks;

	if (fork_stack_pop(forks) == FORK_POP_OWN) {
		child->fn(child->arg);
	} else {
		if (!fork_is_done(child))
			leave_and_wait(worker);
		fork_stack_forget(forks);
	}
	payload_check(&payload);
	model_free(child);
	ledger.joined++;
}

static void fork_and_join(int id)
{
	fork_child();
	fork_publish(&crew[id]);
	join_child(&crew[id]);
}

/* In between it blocks for something else, and its child is left behind. */
static void fork_block_and_join(int id)
{
	struct worker *worker = &crew[id];

	fork_child();
	fork_leave_behind(worker);
	store_release(&worker->strand, &worker->base); /* S1 */
	store_release(&worker->strand, &strands[0]);
	if (strands[0].parents_home)
		fork_come_back(&strands[0]);
	join_child(worker);
}

/* It never comes to join: only a thief can run the child. */
static void fork_and_work_on(int id)
{
	fork_child();
	fork_publish(&crew[id]);
	while (!fork_is_done(child))
		spin_hint(&child->state);
	MODEL_CHECK(fork_stack_pop(&strands[0].forks) == FORK_POP_STOLEN);
	fork_stack_forget(&strands[0].forks);
	payload_check(&payload);
	model_free(child);
	ledger.joined++;
}

/* ---- on a strand that is new ---------------------------------------------------- */

static _Alignas(64) char stack_memory[64 << 10];
static int error; /* errno of the worker */

static void setup_base(void)
{
	struct worker *worker = &crew[0];

	setup();
	worker->thread = (struct fiber_thread){ .errno_location = &error };
	fiber_init_thread(&worker->base.fiber, &worker->thread);
	worker->strand = &worker->base;
}

/*
 * A worker reads the strand it is on, which it writes for thieves, as plain
 * data; the explorer's store buffers do not answer that.
 */
static void empty_buffer(void)
{
	static uint32_t word;

	(void)or_relaxed(&word, 0);
}

static void strand_main(void *arg, struct fiber_thread *thread)
{
	struct worker *worker = arg;

	(void)thread;
	empty_buffer();
	fork_child();
	fork_publish(worker);
	join_child(worker);
	(void)worker_switch_raw(worker, &worker->base);
	MODEL_CHECK(!"it has ended");
}

/* As strand_create() makes it; a thief may look there at once. */
static void fork_and_join_on_a_new_strand(int id)
{
	const struct stack stack = { .low = stack_memory,
				     .size = sizeof(stack_memory) };

	strands[0].forks = (struct fork_stack){ .storage = storage };
	fiber_init(&strands[0].fiber, &stack, strand_main, &crew[id]);
	(void)worker_switch_raw(&crew[id], &strands[0]);
}

/* ---- the thief --------------------------------------------------------------------- */

static void run_stolen(struct sley_task *task)
{
	(void)task_claim(task);
	strands[1].task = task;
	task->fn(task->arg);
	strands[1].task = NULL;
	task_finish(task);
	slab_free(&rt->tasks, task);
}

static void steal(int id)
{
	struct sley_task *task = fork_steal(&crew[id], &crew[0]);

	if (task)
		run_stolen(task);
}

static void search(int id)
{
	run_stolen(worker_search(&crew[id]));
}

static void joined_once(void)
{
	MODEL_CHECK(ledger.ran == 1 && ledger.joined == 1);
	MODEL_CHECK(fork_stack_empty(&strands[0].forks));
	MODEL_CHECK(list_empty(&crew[0].parents) && !crew[0].nr_parents);
	MODEL_CHECK(nr_tasks == 0);
	model_free(storage);
}

#define BOTH_VARIANTS(name, ...)                                               \
	MODEL(name##_with_membarrier, .setup = setup, .finish = joined_once,   \
	      __VA_ARGS__);                                                    \
	MODEL(name##_without_membarrier, .setup = setup,                       \
	      .finish = joined_once, .no_membarrier = true, __VA_ARGS__)

BOTH_VARIANTS(a_stolen_child_wakes_its_parent,
	      .threads = { fork_and_join, steal });

BOTH_VARIANTS(a_child_is_left_behind,
	      .threads = { fork_block_and_join, steal });

BOTH_VARIANTS(a_sleeper_hears_of_a_child,
	      .threads = { fork_and_work_on, search });

MODEL(a_thief_looks_at_a_new_strand, .setup = setup_base,
      .threads = { fork_and_join_on_a_new_strand, steal },
      .finish = joined_once);
