/* SPDX-License-Identifier: MIT */
/*
 * core_place_level.c - src/core/sched/place_level.c: a queued task whose level
 * changes is taken once; a worker that knows of the change takes the task by its new
 * level.
 *
 * Three tasks are queued.  A foreign thread makes the second task the most urgent,
 * and then tells the worker.  The worker takes all tasks; before each pick the
 * worker looks whether it was told.  There is a model for each queue that the task
 * can be in; in the model of the shared queue the worker moves the tasks to its ring
 * meanwhile.  A thief that takes the task from its old place has the same duty.
 *
 * Complete for one change, one worker and, where said, one thief; and for one change
 * while the task is pushed to the shared queue, or while a queue ends.  Not seen:
 * two changes of one task at a time, a task that is pushed to any other queue during
 * the change, and thieves that rob thieves.  Only the worker touches the levels of
 * its own ready list.
 */
#include "core/sched/place.h"
#include "crew.h"
#include "payload.h"

#define JOBS 3
#define CHANGED 1
#define URGENT 3u

static struct job {
	struct sley_task task;
	struct payload payload;
} jobs[JOBS], less; /* less urgent, not counted */
static uint32_t told;
static struct ledger {
	int ran[JOBS];
} ledger;

static struct sley_task *job(int i)
{
	payload_write(&jobs[i].payload);
	task_build(&jobs[i].task, LEVEL_DEFAULT, 0);
	return &jobs[i].task;
}

static void setup(unsigned int workers)
{
	crew_set_up(workers);
	sley__level_changes.nr = 0;
	memset(jobs, 0, sizeof(jobs));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	told = 0;
	rt->phase = PHASE_STOPPING; /* no worker sleeps */
	model_name(&told, "told");
	model_name(&sley__level_changes.nr, "changes");
	for (int i = 0; i < JOBS; i++) {
		(void)job(i);
		model_name(&jobs[i].task.state, "job%d", i);
		model_name(&jobs[i].task.flags, "flags%d", i);
	}
}

/* ---- the queues ------------------------------------------------------------------ */

static void in_the_shared_queue(void)
{
	setup(1);
	for (int i = 0; i < JOBS; i++)
		runq_push(&rt->runq, job(i));
}

static void in_the_ring(void)
{
	setup(1);
	for (int i = 0; i < JOBS; i++)
		place_spawned(&crew[0], job(i));
}

static void in_the_lane(void)
{
	setup(1);
	for (int i = 0; i < JOBS; i++)
		push_list_push(&crew[0].lane, task_node(job(i)));
}

static void in_the_home_list(void)
{
	setup(1);
	for (int i = 0; i < JOBS; i++)
		place_at(&crew[0], job(i));
}

static void in_the_fresh_list(void)
{
	setup(1);
	for (int i = 0; i < JOBS; i++)
		fifo_push(&crew[0].fresh, job(i));
}

/* The next slot comes before the ring, but the ready levels come first. */
static void in_the_next_slot(void)
{
	setup(1);
	levels_push(&crew[0].ready, job(0), LEVEL_DEFAULT);
	(void)next_put(&crew[0].next, job(1), 0);
	place_spawned(&crew[0], job(2));
}

/* One task has yielded, and is RUNNING in its queue. */
static void in_the_ready_levels(void)
{
	setup(1);
	for (int i = 0; i < JOBS; i++) {
		if (i == CHANGED)
			task_build_running(&jobs[i].task, 0, 0);
		levels_push(&crew[0].ready, &jobs[i].task, LEVEL_DEFAULT);
	}
}

/* ---- threads ------------------------------------------------------------------------ */

static void set_level(int id)
{
	(void)id;
	place_set_level(&jobs[CHANGED].task, URGENT);
	store_release(&told, 1);
}

static void run(struct sley_task *task)
{
	struct job *done = container_of(task, struct job, task);

	if (task_state_of(task_load(task)) == TASK_READY)
		(void)task_claim(task);
	payload_check(&done->payload);
	ledger.ran[done - jobs]++;
}

static bool pick(int id)
{
	bool knows = load_acquire(&told) && !ledger.ran[CHANGED];
	struct sley_task *task = worker_pick(&crew[id]);

	if (!task)
		return false;
	MODEL_CHECK(!knows || task == &jobs[CHANGED].task);
	if (task != &less.task)
		run(task);
	return true;
}

static void worker(int id)
{
	while (pick(id))
		;
}

static void each_once(void)
{
	for (unsigned int i = 0; i < rt->nr_workers; i++) {
		while (pick((int)i))
			;
	}
	for (int i = 0; i < JOBS; i++)
		MODEL_CHECK(ledger.ran[i] == 1);
	MODEL_CHECK(task_level(&jobs[CHANGED].task) == URGENT);
	MODEL_CHECK(rt->runq.levels.bitmap == 0 && rt->runq.hint == 0);
}

#define CHANGES(where)                                                         \
	MODEL(a_level_changes_##where, .setup = where,                         \
	      .threads = { worker, set_level }, .finish = each_once)

CHANGES(in_the_shared_queue);
CHANGES(in_the_ring);
CHANGES(in_the_lane);
CHANGES(in_the_home_list);
CHANGES(in_the_fresh_list);
CHANGES(in_the_next_slot);
CHANGES(in_the_ready_levels);

/* A level has changed, and a task comes to the lane while the worker sorts anew. */
static void setup_changed(void)
{
	setup(1);
	for (int i = 0; i < JOBS - 1; i++)
		place_spawned(&crew[0], job(i));
	place_set_level(&jobs[CHANGED].task, URGENT);
}

static void push_to_the_lane(int id)
{
	(void)id;
	push_list_push(&crew[0].lane, task_node(job(JOBS - 1)));
}

MODEL(a_task_comes_while_its_worker_sorts_anew, .setup = setup_changed,
      .threads = { worker, push_to_the_lane }, .finish = each_once);

/* ---- a thief ------------------------------------------------------------------------- */

/*
 * The level has changed.  The owner of the ring is about to find out.  A thief that
 * knows may be faster, and then has the task in the thief's ring, where the task
 * does not belong.  An urgent task of a lesser level must not go before this task.
 */
static void setup_thief(void)
{
	setup(2);
	for (int i = 0; i < JOBS; i++)
		place_spawned(&crew[0], job(i));
	place_set_level(&jobs[CHANGED].task, URGENT);
	crew[1].changes = sley__level_changes.nr;
}

/* The ring of the thief was empty: the stolen task is in the first slot. */
static bool has_it_in_its_ring(int id)
{
	struct ring *ring = &crew[id].ring;

	return ring_size(ring) &&
	       load_relaxed(ring_slot(ring, 0)) == &jobs[CHANGED].task;
}

static void rob_and_pick(int id)
{
	struct sley_task *task = worker_search(&crew[id]);

	if (!task)
		return;
	run(task);
	task_build(&less.task, URGENT + 1, 0);
	place_spawned(&crew[id], &less.task);
	task = worker_pick(&crew[id]);
	/* The other worker may have the changed task by now. */
	MODEL_CHECK(task != &less.task || !has_it_in_its_ring(id));
	if (task && task != &less.task)
		run(task);
}

static void pick_once(int id)
{
	(void)pick(id);
}

MODEL(a_level_has_changed_under_a_thief, .setup = setup_thief,
      .threads = { pick_once, rob_and_pick }, .finish = each_once);

/* The thief takes the next task while the worker puts its queues in order. */
static void setup_thief_of_next(void)
{
	setup(2);
	levels_push(&crew[0].ready, job(0), LEVEL_DEFAULT);
	levels_push(&crew[0].ready, job(2), LEVEL_DEFAULT);
	(void)next_put(&crew[0].next, job(CHANGED), 0);
	place_set_level(&jobs[CHANGED].task, URGENT);
}

static void rob(int id)
{
	struct sley_task *task = worker_search(&crew[id]);

	if (task)
		run(task);
}

MODEL(a_thief_takes_what_is_next_from_under_the_order,
      .setup = setup_thief_of_next, .threads = { pick_once, rob },
      .finish = each_once);

/* ---- two changes -------------------------------------------------------------------- */

static uint32_t told_of[JOBS];

static void setup_two_changes(void)
{
	in_the_fresh_list();
	memset(told_of, 0, sizeof(told_of));
}

/* Jobs 1 and 2, for threads 1 and 2. */
static void set_level_of_own(int id)
{
	place_set_level(&jobs[id].task, URGENT);
	store_release(&told_of[id], 1);
}

static void pick_by_both(int id)
{
	for (int i = 0; i < 2; i++) {
		bool knows = false;
		struct sley_task *task;

		for (int j = 1; j < JOBS; j++)
			knows |= load_acquire(&told_of[j]) && !ledger.ran[j];
		task = worker_pick(&crew[id]);
		MODEL_CHECK(!knows || task_level(task) == URGENT);
		run(task);
	}
}

MODEL(two_levels_change_at_a_time, .setup = setup_two_changes,
      .threads = { pick_by_both, set_level_of_own, set_level_of_own },
      .finish = each_once);

/* ---- into the shared queue, and out of a queue that ends ------------------------- */

static void setup_pushed(void)
{
	setup(1);
}

static void push_it(int id)
{
	(void)id;
	runq_push(&rt->runq, &jobs[CHANGED].task);
}

static void is_in_its_place(void)
{
	struct sley_task *task = &jobs[CHANGED].task;

	MODEL_CHECK(task_level(task) == URGENT);
	MODEL_CHECK(rt->runq.levels.bitmap == 1ull << URGENT);
	MODEL_CHECK(rt->runq.hint == 1ull << URGENT);
	MODEL_CHECK(runq_take(&rt->runq, URGENT) == task);
	MODEL_CHECK(rt->runq.hint == 0);
}

MODEL(a_level_changes_while_its_task_is_being_pushed, .setup = setup_pushed,
      .threads = { push_it, set_level }, .finish = is_in_its_place);

/* A queue that is freed at its end, when empty. */
static struct runq *ending;

static void setup_ending(void)
{
	setup(1);
	ending = model_alloc(sizeof(*ending));
	runq_init(ending);
	model_lock_word(&ending->lock.word);
	runq_push(ending, &jobs[CHANGED].task);
}

static void take_and_end(int id)
{
	struct sley_task *task = runq_take(ending, LEVEL_DEFAULT);

	(void)id;
	if (!task)
		task = runq_take(ending, URGENT);
	ledger.ran[CHANGED] += task == &jobs[CHANGED].task;
	runq_fini(ending);
	model_free(ending);
}

static void is_taken_once(void)
{
	MODEL_CHECK(ledger.ran[CHANGED] == 1);
	MODEL_CHECK(task_level(&jobs[CHANGED].task) == URGENT);
	MODEL_CHECK(sley__runqs.by_tag[1] == &rt->runq);
	MODEL_CHECK(!sley__runqs.by_tag[2]);
}

MODEL(a_level_changes_while_its_queue_ends, .setup = setup_ending,
      .threads = { take_and_end, set_level }, .finish = is_taken_once);
