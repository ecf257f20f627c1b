/* SPDX-License-Identifier: MIT */
/*
 * core_steal.c - src/core/sched/steal.c and suspend.h: a forked child runs once, by
 * its parent or by the worker that stole the child; and the parent goes on after the
 * end of the child, not before and not never.
 *
 * The parent is the task on worker 0.  The parent joins as parallel/fork_join.c does: if the
 * child was stolen, the parent leaves its stack, and goes on when its worker finds
 * the parent queued.  Worker 1 steals from the current strand of worker 0, or from
 * the list of strands suspended there.  The child writes plain data, which the
 * parent reads.  The child is in the parent's frame, and gone when the frame
 * returns.
 *
 * In one model the worker switches to this strand, with a stack of its own, just
 * before; the thief must find the strand complete.
 *
 * A worker goes to sleep by the lines of src/core/sched/search.c, which is included
 * for that.  The lines of sley_fork() and of the join (join_nth() and wait_as_task()
 * of src/task/fork.c) are a copy, on purpose: the real join switches to another
 * stack, on which the worker searches.  A worker of crew.h has one stack, so it calls
 * what the other stack would call: fork_finish_wait() and worker_search(), both real.
 *
 * Complete for one child and one thief, with membarrier and without, and for two
 * children, where one child may be seized while the parent is suspended.  More
 * children and thieves are in lf_fork_stack.c, the model of the stack itself.  Not
 * seen: two suspended parents in one list, and a parent that resumes on another
 * worker.
 */
#include "core/sched/search.c" /* before the crew, which has an rt of its own */

#include "core/sched/suspend.h"
#include "crew.h"
#include "payload.h"

static struct strand strands[CREW_MAX];
static struct sley_task parent, tasks[CREW_MAX]; /* one for each thief */
static struct sley_forked *child;                /* freed by the parent */
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
		fork_stack_init(&strands[i].forks);
		crew[i].strand = &strands[i];
		model_lock_word(&crew[i].parents_lock.word);
		model_name(&crew[i].nr_parents, "nr_parents%d", i);
		model_name(&crew[i].strand, "strand%d", i);
		model_name(&strands[i].forks.word, "forks%d", i);
		model_name(&strands[i].forks.head, "head%d", i);
		model_name(&strands[i].forks.limit, "limit%d", i);
	}
	parent = (struct sley_task){ .fiber = &strands[0] };
	task_build_running(&parent, 0, rt->membarrier ? 0 : TASK_NO_BARRIER);
	strands[0].task = &parent;
	child = model_alloc(sizeof(*child));
	model_name(&parent.state, "parent");
	model_name(&child->state, "child");
}

/* A worker searches: so the parent shares a forked child. */
static void setup_searched(void)
{
	setup();
	rt->idle.counts = IDLE_SEARCHING_ONE;
}

/* The parent has forked before, and no thief asked: the parent keeps the child. */
static void setup_raised(void)
{
	setup();
	fork_stack_raise_limit(&strands[0].forks);
}

static void run_child(void *arg)
{
	MODEL_CHECK(arg == &payload);
	payload_write(&payload);
	ledger.ran++;
}

/* ---- the parent ------------------------------------------------------------------ */

/* As sley_fork() does. */
static void fork_child(struct worker *worker)
{
	struct sley_forks *forks = &strands[0].forks;

	if (!sley_fork_push_fast(forks, child, run_child, &payload))
		fork_answer(worker);
}

/* On the next stack, and then in the worker's loop. */
static void leave_and_wait(struct worker *worker)
{
	const struct after after = { .kind = AFTER_FORK,
				     .strand = &strands[0],
				     .child = child };

	suspend_begin(worker);
	fork_finish_wait(worker, &after);
	MODEL_CHECK(worker_search(worker) == &parent);
	MODEL_CHECK(task_verdict_of(task_claim(&parent)) == VERDICT_WOKEN);
	suspend_end(&strands[0]);
}

static void join_child(struct worker *worker)
{
	struct sley_forks *forks = &strands[0].forks;

	if (sley_fork_pop_fast(forks, child)) {
		sley_fork_call_fast(child);
	} else if (fork_stack_pop(forks, 0) == FORK_POP_OWN) {
		fork_call(child);
	} else {
		if (!fork_is_done(child))
			leave_and_wait(worker);
		fork_stack_forget(forks, 0);
	}
	payload_check(&payload);
	model_free(child);
	ledger.joined++;
}

static void fork_and_join(int id)
{
	fork_child(&crew[id]);
	join_child(&crew[id]);
}

/* In between the parent blocks elsewhere, and leaves the child behind. */
static void fork_block_and_join(int id)
{
	struct worker *worker = &crew[id];

	fork_child(worker);
	suspend_begin(worker);
	store_release(&worker->strand, &worker->base); /* S1 */
	store_release(&worker->strand, &strands[0]);
	suspend_end(&strands[0]);
	join_child(worker);
}

/* The parent never joins: only a thief can run the child. */
static void work_on(void)
{
	while (!fork_is_done(child))
		spin_hint(&child->state);
	MODEL_CHECK(fork_stack_pop(&strands[0].forks, 0) == FORK_POP_STOLEN);
	fork_stack_forget(&strands[0].forks, 0);
	payload_check(&payload);
	model_free(child);
	ledger.joined++;
}

static void fork_and_work_on(int id)
{
	fork_child(&crew[id]);
	work_on();
}

/* The parent takes the first child back, and leaves the second child. */
static void fork_twice(int id)
{
	struct sley_forks *forks = &strands[0].forks;

	fork_child(&crew[id]);
	if (!sley_fork_pop_fast(forks, child))
		MODEL_CHECK(fork_stack_pop(forks, 0) == FORK_POP_OWN);
	fork_child(&crew[id]);
}

/* The parent has two children; the older child was stolen and has ended. */
static struct sley_forked newer;

static void setup_two(void)
{
	struct sley_forks *forks;

	setup_raised();
	forks = &strands[0].forks;
	(void)sley_fork_push_fast(forks, child, run_child, &payload);
	(void)fork_stack_publish(forks);
	MODEL_CHECK(fork_stack_steal(forks) == child);
	MODEL_CHECK(!fork_finish(child));
	(void)sley_fork_push_fast(forks, &newer, run_child, &payload);
}

/* Joins the older child, and then computes. */
static void join_older(int id)
{
	struct sley_forks *forks = &strands[0].forks;

	MODEL_CHECK(!sley_fork_pop_fast(forks, child));
	MODEL_CHECK(fork_take_back(&strands[0], &crew[id], 0) ==
		    FORK_POP_STOLEN);
	fork_stack_forget(forks, 0);
}

/* The parent has two children that no thief asked for, and is suspended. */
static void setup_two_private(void)
{
	struct sley_forks *forks;

	setup_raised();
	forks = &strands[0].forks;
	(void)sley_fork_push_fast(forks, child, run_child, &payload);
	(void)sley_fork_push_fast(forks, &newer, run_child, &payload);
}

static void leave_two_behind(int id)
{
	suspend_begin(&crew[id]);
}

/* At most one child was seized: the other child is where thieves look. */
static void other_is_found(void)
{
	MODEL_CHECK(ledger.ran <= 1);
	MODEL_CHECK(crew[0].nr_parents == 1 &&
		    fork_stack_has_public(&strands[0].forks));
	model_free(child);
}

/* The parent is suspended, and its worker goes on with a task that forks, too. */
static struct strand other;
static struct sley_task other_parent;
static struct sley_forked others_child;

static void setup_other(void)
{
	setup_two_private();
	other = (struct strand){ .home = &crew[0], .task = &other_parent };
	list_init(&other.parents);
	fork_stack_init(&other.forks);
	fork_stack_raise_limit(&other.forks);
	other_parent = (struct sley_task){ .fiber = &other };
	task_build_running(&other_parent, 0, 0);
	model_name(&other.forks.word, "others");
}

static void leave_and_fork_elsewhere(int id)
{
	struct worker *worker = &crew[id];

	suspend_begin(worker);
	store_release(&worker->strand, &other); /* S1 */
	(void)sley_fork_push_fast(&other.forks, &others_child, run_child,
				  &payload);
}

/* A seized child belongs to the strand on which the thief found it. */
static void seize_from_one_strand(int id)
{
	struct sley_task *task = fork_seize(&crew[id], &crew[0]);
	struct sley_forked *seized = task ? task->arg : NULL;

	if (seized)
		MODEL_CHECK((seized == &others_child) ==
			    (seized->parent == &other));
}

static void still_there(void)
{
	model_free(child);
}

/* ---- on a new strand ------------------------------------------------------------ */

static _Alignas(64) char stack_memory[64 << 10];
static int error; /* errno of the worker */

static void setup_base(void)
{
	struct worker *worker = &crew[0];

	setup_searched();
	worker->thread = (struct fiber_thread){ .errno_location = &error };
	fiber_init_thread(&worker->base.fiber, &worker->thread);
	worker->strand = &worker->base;
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

static void strand_main(void *arg, struct fiber_thread *thread)
{
	struct worker *worker = arg;

	(void)thread;
	empty_buffer();
	fork_child(worker);
	join_child(worker);
	(void)worker_switch_raw(worker, &worker->base);
	MODEL_CHECK(!"it has ended");
}

/* A strand as strand_create() makes it; a thief may look there at once. */
static void fork_and_join_on_a_new_strand(int id)
{
	const struct stack stack = { .low = stack_memory,
				     .size = sizeof(stack_memory) };

	strands[0].forks = (struct sley_forks){ 0 };
	fork_stack_init(&strands[0].forks);
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

static void steal_one(int id)
{
	struct sley_task *task = fork_steal(&crew[id], &crew[0]);

	if (task)
		run_stolen(task);
}

static void seize_one(int id)
{
	struct sley_task *task = fork_seize(&crew[id], &crew[0]);

	if (task)
		run_stolen(task);
}

static void search_one(int id)
{
	run_stolen(worker_search(&crew[id]));
}

/* The thief goes to sleep unless it sees a child; a later fork wakes the thief. */
static void go_to_sleep(int id)
{
	(void)park(&crew[id], false);
}

static void awake(void)
{
	MODEL_CHECK(rt->idle.counts == 0 ||
		    rt->idle.counts == IDLE_SEARCHING_ONE);
	MODEL_CHECK(crew[1].seat.word == SEAT_AWAKE);
	model_free(child);
}

static void joined_once(void)
{
	MODEL_CHECK(ledger.ran == 1 && ledger.joined == 1);
	MODEL_CHECK(fork_stack_empty(&strands[0].forks));
	MODEL_CHECK(list_empty(&crew[0].parents) && !crew[0].nr_parents);
	MODEL_CHECK(nr_tasks == 0);
}

#define BOTH_VARIANTS(name, ...)                                               \
	MODEL(name##_with_membarrier, .finish = joined_once, __VA_ARGS__);     \
	MODEL(name##_without_membarrier, .finish = joined_once,                \
	      .no_membarrier = true, __VA_ARGS__)

BOTH_VARIANTS(a_stolen_child_wakes_its_parent, .setup = setup_searched,
	      .threads = { fork_and_join, steal_one });

BOTH_VARIANTS(a_child_is_left_behind, .setup = setup,
	      .threads = { fork_block_and_join, steal_one });

BOTH_VARIANTS(a_sleeper_hears_of_a_child, .setup = setup,
	      .threads = { fork_and_work_on, search_one });

MODEL(a_sleeper_hears_of_a_private_child, .setup = setup_raised,
      .slow_modes = MODEL_RA, .threads = { fork_and_work_on, search_one },
      .finish = joined_once);

MODEL(a_sleeper_is_told_of_a_second_child, .setup = setup,
      .threads = { fork_twice, go_to_sleep }, .finish = awake);

MODEL(a_sleeper_is_told_of_what_a_join_hid, .setup = setup_two,
      .threads = { join_older, go_to_sleep }, .finish = awake);

MODEL(a_seized_child_wakes_its_parent, .setup = setup_raised,
      .threads = { fork_and_join, seize_one }, .finish = joined_once);

MODEL(a_parent_is_suspended_beside_a_seizer, .setup = setup_two_private,
      .threads = { leave_two_behind, seize_one }, .finish = other_is_found);

MODEL(the_victim_goes_to_another_strand, .setup = setup_other,
      .threads = { leave_and_fork_elsewhere, seize_from_one_strand },
      .finish = still_there);

MODEL(a_thief_looks_at_a_new_strand, .setup = setup_base,
      .threads = { fork_and_join_on_a_new_strand, steal_one },
      .finish = joined_once);
