/* SPDX-License-Identifier: MIT */
/*
 * core_search.c - src/core/sched/search.c with src/core/sched/place.c: a queued task
 * is found, once, by a worker that looks or by a worker that sleeps.
 *
 * Workers search and park with the very sources, idle.c included.  A worker
 * whose task never comes sleeps for ever, which is a lost wake-up; so each
 * model has a search for each task, and needs no stop.  This holds also while a
 * task is on its way from one queue to another.
 *
 * Complete for one worker and one foreign thread, and for two workers of which one
 * spawns or wakes two tasks and takes one, the other searches once; with membarrier
 * and without, and while the victim moves from one ring of core/sched/victims.h to
 * another.  In the shared queue: three tasks and two workers.  The models would not
 * see mistakes that take three workers (a thief that wakes a thief), a search by
 * both workers at a time (core_idle.c has such a search, with fewer queues), a
 * second park of a worker, or timers (core_timer.c), except a timer that gives the
 * worker a task of its own.
 */
#include "crew.h"
#include "payload.h"

#include "core/sched/place.h"
#include "core/wait/alarm.h"
#include "core/task/turn.h"
#include "core/sched/yielded.h"

#define JOBS 6

struct job {
	struct sley_task task;
	struct payload payload; /* written before the task is queued */
};

static struct job jobs[JOBS];
static uint32_t told;
static struct ledger {
	int ran[JOBS];
} ledger;

static uint32_t job_flags; /* of every job */

static void setup(unsigned int workers)
{
	crew_set_up(workers);
	job_flags = 0;
	memset(jobs, 0, sizeof(jobs));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	sley__level_changes.nr = 0;
	told = 0;
	model_name(&told, "told");
	for (int i = 0; i < JOBS; i++)
		model_name(&jobs[i].task.state, "job%d", i);
}

static void setup_one(void)
{
	setup(1);
}

static void setup_two(void)
{
	setup(2);
}

static struct sley_task *job(int i, unsigned int level)
{
	payload_write(&jobs[i].payload);
	task_build(&jobs[i].task, level, job_flags);
	return &jobs[i].task;
}

static int run(struct sley_task *task)
{
	struct job *done = container_of(task, struct job, task);
	int i = (int)(done - jobs);

	(void)task_claim(task);
	payload_check(&done->payload);
	ledger.ran[i]++;
	return i;
}

static bool pick(int id)
{
	struct sley_task *task = worker_pick(&crew[id]);

	if (task)
		run(task);
	return task;
}

static void pick_all(int id)
{
	while (pick(id))
		;
}

/* Counts the tasks that are left in the queues of the workers, too. */
static void each_once(int nr)
{
	for (unsigned int i = 0; i < rt->nr_workers; i++)
		pick_all((int)i);
	for (int i = 0; i < JOBS; i++)
		MODEL_CHECK(ledger.ran[i] == (i < nr));
	MODEL_CHECK(rt->idle.counts == 0);
	MODEL_CHECK(list_empty(&rt->idle.parked));
}

static void one(void)
{
	each_once(1);
}

static void two(void)
{
	each_once(2);
}

static void three(void)
{
	each_once(3);
}

static void four(void)
{
	each_once(4);
}

static void five(void)
{
	each_once(5);
}

#define BOTH_VARIANTS(name, ...)                                               \
	MODEL(name##_with_membarrier, __VA_ARGS__);                            \
	MODEL(name##_without_membarrier, .no_membarrier = true, __VA_ARGS__)

/* ---- searching ---------------------------------------------------------------- */

static void search_once(int id)
{
	run(worker_search(&crew[id]));
}

static void spawn_first(int id)
{
	(void)id;
	place_foreign(rt, job(0, LEVEL_DEFAULT));
}

static void spawn_low(int id)
{
	(void)id;
	place_foreign(rt, job(0, LEVEL_DEFAULT + 1));
}

static void send_home(int id)
{
	(void)id;
	place_at(&crew[0], job(0, LEVEL_DEFAULT));
}

BOTH_VARIANTS(a_worker_finds_what_is_spawned, .setup = setup_one,
	      .threads = { search_once, spawn_first }, .finish = one);

BOTH_VARIANTS(a_worker_finds_what_is_not_urgent, .setup = setup_one,
	      .threads = { search_once, spawn_low }, .finish = one);

BOTH_VARIANTS(a_worker_finds_what_comes_home, .setup = setup_one,
	      .threads = { search_once, send_home }, .finish = one);

static void send_toward_it(int id)
{
	(void)id;
	place_toward(&crew[0], job(0, LEVEL_DEFAULT));
}

BOTH_VARIANTS(a_worker_finds_what_is_sent_toward_it, .setup = setup_one,
	      .threads = { search_once, send_toward_it }, .finish = one);

/* The worker that the task is sent toward is busy: it is the sender itself. */
BOTH_VARIANTS(a_worker_finds_what_is_sent_toward_another, .setup = setup_two,
	      .threads = { send_toward_it, search_once }, .finish = one);

/* A function of the user makes a task while the worker is about to sleep. */
static bool make_first(void *self, int worker)
{
	(void)self;
	if (!jobs[0].task.state)
		place_spawned(&crew[worker], job(0, LEVEL_DEFAULT));
	return false;
}

static void setup_on_idle(void)
{
	setup(1);
	rt->config.on_idle = make_first;
}

BOTH_VARIANTS(a_worker_finds_what_its_idle_hook_makes, .setup = setup_on_idle,
	      .threads = { search_once }, .finish = one);

static void spawn_two_and_take_one(int id)
{
	place_spawned(&crew[id], job(0, LEVEL_DEFAULT));
	place_spawned(&crew[id], job(1, LEVEL_DEFAULT));
	MODEL_CHECK(pick(id));
}

BOTH_VARIANTS(a_worker_finds_what_another_spawns, .setup = setup_two,
	      .threads = { spawn_two_and_take_one, search_once },
	      .finish = two);

/*
 * The victim comes near while the thief looks around: the victim is in neither of
 * the rings of the walk.  The protocol does not rely on walks.
 */
static uint64_t places[2];

static void setup_moving(void)
{
	setup(2);
	places[0] = place_of(0, 1, 1);
	places[1] = place_of(0, 0, 0);
	model_name(&places[0], "place0");
	model_name(&places[1], "place1");
	rt->victims.place = places;
	rt->victims.borders = 1u << RING_CACHE;
}

static void come_near_and_spawn(int id)
{
	place_spawned(&crew[id], job(0, LEVEL_DEFAULT));
	place_spawned(&crew[id], job(1, LEVEL_DEFAULT));
	/* relaxed: as victims_see() does. */
	store_relaxed(&places[id], place_of(0, 0, 1));
	MODEL_CHECK(pick(id));
}

BOTH_VARIANTS(a_worker_finds_a_victim_that_moves, .setup = setup_moving,
	      .threads = { come_near_and_spawn, search_once }, .finish = two);

/*
 * A worker that does not search moves two tasks, and runs one: the other task was on
 * its way when the searcher looked everywhere for the last time.
 */
static void spill(int nr)
{
	for (int i = nr; i--;) {
		struct sley_task *task = job(i, LEVEL_DEFAULT);

		task->next = i < nr - 1 ? &jobs[i + 1].task : NULL;
	}
	runq_spill_chain(&rt->runq, &jobs[0].task);
}

static void setup_two_spilled(void)
{
	setup(2);
	spill(2);
}

static void take_if_any(int id)
{
	(void)pick(id);
}

BOTH_VARIANTS(a_worker_finds_what_another_takes_in_a_batch,
	      .setup = setup_two_spilled,
	      .threads = { take_if_any, search_once }, .finish = two);

static void setup_two_in_lane(void)
{
	setup(2);
	for (int i = 0; i < 2; i++)
		push_list_push(&crew[0].lane, task_node(job(i, LEVEL_DEFAULT)));
}

BOTH_VARIANTS(a_worker_finds_what_another_takes_from_its_lane,
	      .setup = setup_two_in_lane,
	      .threads = { take_if_any, search_once }, .finish = two);

/* ---- tasks that are moved on request ---- */

/* Only the second job may go. */
static bool may_move_second(void *arg, const struct sley_task *task)
{
	(void)arg;
	return task == &jobs[1].task;
}

static void move_second(int id)
{
	(void)id;
	(void)place_move(&crew[0], &crew[1], may_move_second, NULL);
}

static void move_and_take_one(int id)
{
	move_second(id);
	(void)pick(id);
}

/* The first task is put back, while the searcher looks for the last time. */
static void setup_first_in_lane(void)
{
	setup(2);
	push_list_push(&crew[0].lane, task_node(job(0, LEVEL_DEFAULT)));
}

BOTH_VARIANTS(a_worker_finds_what_a_mover_puts_back,
	      .setup = setup_first_in_lane,
	      .threads = { move_second, search_once }, .finish = one);

/* One is moved, one put back; the mover takes what is left to it. */
BOTH_VARIANTS(a_worker_finds_what_is_moved_toward_it,
	      .setup = setup_two_in_lane,
	      .threads = { move_and_take_one, search_once }, .finish = two);

static void setup_first_in_ring(void)
{
	setup(2);
	MODEL_CHECK(ring_push(&crew[0].ring, job(0, LEVEL_DEFAULT)));
}

BOTH_VARIANTS(a_worker_finds_what_a_mover_takes_from_a_ring,
	      .setup = setup_first_in_ring,
	      .threads = { move_second, search_once }, .finish = one);

static void setup_second_in_ring(void)
{
	setup(2);
	push_list_push(&crew[0].lane, task_node(job(0, LEVEL_DEFAULT)));
	MODEL_CHECK(ring_push(&crew[0].ring, job(1, LEVEL_DEFAULT)));
}

/* Two movers and the owner: nobody sleeps, and each task is run once. */
MODEL(two_move_and_the_owner_takes, .setup = setup_second_in_ring,
      .threads = { pick_all, move_second, move_second }, .finish = two,
      .slow_modes = MODEL_RA);

/* A level has changed, so the queue is looked through; the task stays in place. */
static void setup_changed(void)
{
	setup(2);
	MODEL_CHECK(ring_push(&crew[0].ring, job(0, LEVEL_DEFAULT)));
	sley__level_changes.nr = 1;
	crew[1].changes = 1;
}

static void resort(int id)
{
	place_resort(&crew[id]);
}

BOTH_VARIANTS(a_worker_finds_what_another_looks_through, .setup = setup_changed,
	      .threads = { resort, search_once }, .finish = one);

/* Woken, and movable: the second task pushes the first out of the next slot. */
static struct strand strand;

static void setup_movable(void)
{
	setup(2);
	job_flags = TASK_MIGRATABLE;
	strand = (struct strand){ .home = &crew[0] };
}

static void wake_two_and_take_one(int id)
{
	for (int i = 0; i < 2; i++) {
		struct sley_task *task = job(i, LEVEL_DEFAULT);

		task->fiber = &strand;
		task_enqueue(task);
	}
	MODEL_CHECK(pick(id));
}

BOTH_VARIANTS(a_worker_finds_what_another_wakes, .setup = setup_movable,
	      .threads = { wake_two_and_take_one, search_once }, .finish = two);

/* A single task stays in the slot, and the waker goes on with other work. */
static void wake_one(int id)
{
	struct sley_task *task = job(0, LEVEL_DEFAULT);

	(void)id;
	task->fiber = &strand;
	task_enqueue(task);
}

BOTH_VARIANTS(a_worker_finds_what_is_next_elsewhere, .setup = setup_movable,
	      .threads = { wake_one, search_once }, .finish = one);

/*
 * A timer wakes a step process while the worker is about to sleep: the process is
 * the worker's own, so no other worker will take it.  This is the pick that skips
 * the next slot.
 */
static struct alarm due;

static void hold(struct alarm *held)
{
	(void)held;
}

static void wake_first(struct alarm *rung)
{
	(void)rung;
	turn_wake(&crew[0], job(0, LEVEL_DEFAULT));
}

static void setup_alarm(void)
{
	setup(1);
	due = (struct alarm){ .hold = hold, .ring = wake_first };
	alarm_start(&crew[0].timers, &due, 0);
	crew[0].next_streak = 15;
}

BOTH_VARIANTS(a_worker_finds_what_a_timer_wakes, .setup = setup_alarm,
	      .threads = { search_once }, .finish = one);

/*
 * An alarm that is earlier than all others: its keeper sleeps until the alarm, and
 * not for ever, although the keeper may have read the deadlines just before.
 */
static void setup_late_alarm(void)
{
	setup(1);
	due = (struct alarm){ .hold = hold, .ring = wake_first };
}

/* Another worker has asked for a fair pick, which takes the request back. */
static void setup_late_alarm_and_poke(void)
{
	setup_late_alarm();
	crew[0].poke = 1;
}

static void start_alarm(int id)
{
	(void)id;
	if (alarm_start(&crew[0].timers, &due, 2000000000))
		alarm_announce(&crew[0]);
}

BOTH_VARIANTS(a_worker_hears_of_an_alarm, .setup = setup_late_alarm,
	      .threads = { search_once, start_alarm }, .finish = one);

BOTH_VARIANTS(a_worker_hears_of_an_alarm_and_a_poke,
	      .setup = setup_late_alarm_and_poke,
	      .threads = { search_once, start_alarm }, .finish = one);

/* ---- from outside, while the worker has local tasks ------------------------------ */

static void setup_local(void)
{
	setup(1);
	place_spawned(&crew[0], job(0, LEVEL_DEFAULT));
}

static void spawn_second(int id)
{
	(void)id;
	place_foreign(rt, job(1, LEVEL_DEFAULT));
}

static void search_twice(int id)
{
	search_once(id);
	search_once(id);
}

BOTH_VARIANTS(a_worker_with_local_work_finds_what_is_spawned,
	      .setup = setup_local, .threads = { search_twice, spawn_second },
	      .finish = two);

/* The submitter believes that the worker searches, and the worker finds another task. */
static void setup_local_and_spinner(void)
{
	setup_local();
	rt->spinner = 1;
}

BOTH_VARIANTS(a_worker_finds_what_is_in_its_lane_too_late,
	      .setup = setup_local_and_spinner,
	      .threads = { search_twice, spawn_second }, .finish = two);

/* A worker that has found other work puts its lane where another worker finds it. */
static void put_out_and_take(int id)
{
	place_lane(&crew[id]);
	(void)pick(id);
}

BOTH_VARIANTS(a_worker_finds_what_another_puts_out_of_its_lane,
	      .setup = setup_two_in_lane,
	      .threads = { put_out_and_take, search_once }, .finish = two);

/* ---- sleeping: a worker without work sleeps until a task comes ------------------ */

static void wait_until_asleep(int i)
{
	while (load_acquire(&crew[i].seat.word) != SEAT_PARKED)
		spin_hint(&crew[i].seat.word);
}

static void spawn_when_it_sleeps(int id)
{
	wait_until_asleep(0);
	spawn_first(id);
}

BOTH_VARIANTS(a_worker_with_nothing_to_do_sleeps, .setup = setup_one,
	      .threads = { search_once, spawn_when_it_sleeps }, .finish = one);

/* A task that is another worker's own does not keep this worker awake. */
static void setup_own(void)
{
	setup(2);
	(void)next_put(&crew[1].next, job(0, LEVEL_DEFAULT), NEXT_OWN);
}

static void open_when_it_sleeps(int id)
{
	wait_until_asleep(0);
	MODEL_CHECK(next_open(&crew[id].next));
	idle_notify(&rt->idle);
}

BOTH_VARIANTS(a_worker_sleeps_beside_what_is_anothers_own, .setup = setup_own,
	      .threads = { search_once, open_when_it_sleeps }, .finish = one);

/* ---- looking: no worker sleeps in a runtime that stops -------------------------- */

static void look(int id)
{
	struct sley_task *task = worker_search(&crew[id]);

	if (task)
		run(task);
}

static void setup_spilled(void)
{
	setup(2);
	rt->phase = PHASE_STOPPING;
	spill(3);
}

MODEL(a_batch_is_robbed, .setup = setup_spilled, .threads = { pick_all, look },
      .finish = three);

MODEL(two_take_a_batch, .setup = setup_spilled,
      .threads = { pick_all, pick_all }, .finish = three);

static void setup_shared(void)
{
	setup(2);
	rt->phase = PHASE_STOPPING;
	for (int i = 0; i < 3; i++)
		runq_push(&rt->runq, job(i, LEVEL_DEFAULT));
}

MODEL(two_take_what_came_from_outside, .setup = setup_shared,
      .threads = { pick_all, look }, .finish = three);

static void setup_full(void)
{
	setup(2);
	rt->phase = PHASE_STOPPING;
	for (int i = 0; i < RING_CAPACITY; i++)
		place_spawned(&crew[0], job(i, LEVEL_DEFAULT));
}

static void spawn_one_more(int id)
{
	place_spawned(&crew[id], job(RING_CAPACITY, LEVEL_DEFAULT));
	pick_all(id);
}

MODEL(an_overflow_is_robbed, .setup = setup_full,
      .threads = { spawn_one_more, look }, .finish = five,
      .slow_modes = MODEL_RA);

/*
 * A task that has yielded goes behind the tasks in the ring and in the spill,
 * unless a thief takes the task.
 */
static void setup_yielded(void)
{
	setup(2);
	rt->phase = PHASE_STOPPING;
	place_spawned(&crew[0], job(0, LEVEL_DEFAULT));
	(void)job(1, LEVEL_DEFAULT);
	jobs[1].task.next = NULL;
	runq_spill_chain(&rt->runq, &jobs[1].task);
	task_build_running(&jobs[2].task, 0, 0);
	strand = (struct strand){ .home = &crew[0], .task = &jobs[2].task };
	jobs[2].task.fiber = &strand;
	yielded_put(&crew[0], &strand);
}

static void pick_all_in_turn(int id)
{
	struct sley_task *task;

	while ((task = worker_pick(&crew[id]))) {
		if (task != &jobs[2].task) {
			MODEL_CHECK(!ledger.ran[2]);
			run(task);
			continue;
		}
		MODEL_CHECK(!ring_size(&crew[id].ring));
		ledger.ran[2]++;
	}
}

MODEL(what_has_yielded_is_behind_what_is_robbed, .setup = setup_yielded,
      .threads = { pick_all_in_turn, look }, .finish = three);

/*
 * The same with tasks from outside, when it is not their turn: a local task goes before
 * them, and the task that has yielded is taken once they are gone, whichever worker took them.
 */
static void setup_yielded_before_outside(void)
{
	setup_yielded();
	rt->config.tick_us = 1000;
	crew[0].outside = (struct outside){ .balance_ns = -1000000 };
	runq_push(&rt->runq, job(3, LEVEL_DEFAULT));
}

MODEL(what_has_yielded_waits_for_tasks_from_outside,
      .setup = setup_yielded_before_outside,
      .threads = { pick_all_in_turn, look }, .finish = four);

/*
 * A fair pick notices a task that was sent home, as it notices a deadline.  The task
 * goes first, whichever queue has its turn; but not for ever: the second of such tasks
 * in a row waits for its turn.
 */
static void setup_ring(void)
{
	setup(1);
	rt->phase = PHASE_STOPPING;
	place_spawned(&crew[0], job(0, LEVEL_DEFAULT));
	place_spawned(&crew[0], job(1, LEVEL_DEFAULT));
}

/* Job 2 comes home before a fair pick.  Is job 2 taken? */
static bool is_taken_first(struct worker *worker)
{
	struct sley_task *home = job(2, LEVEL_DEFAULT), *task;
	bool first;

	push_list_push(&worker->home, task_node(home));
	store_relaxed(&worker->poke, 1);
	task = worker_pick(worker);
	first = task == home;
	while (task != home) {
		place_spawned(worker, task);
		task = worker_pick(worker);
	}
	return first;
}

static void pick_what_came_home(int id)
{
	for (unsigned int turn = 0; turn < 6; turn++) {
		crew[id].fair = turn;
		MODEL_CHECK(is_taken_first(&crew[id]));
		ledger.ran[0] += is_taken_first(&crew[id]);
	}
}

/* The ring has three turns of the six. */
static void the_ring_has_its_turns(void)
{
	MODEL_CHECK(ledger.ran[0] == 3);
}

MODEL(what_a_fair_pick_notices_goes_first, .setup = setup_ring,
      .threads = { pick_what_came_home }, .finish = the_ring_has_its_turns);

/* A worker that knows that both tasks are queued gets the urgent task. */
static void spawn_both_and_tell(int id)
{
	(void)id;
	place_foreign(rt, job(0, LEVEL_DEFAULT));
	place_foreign(rt, job(1, 3));
	store_release(&told, 1);
}

static void pick_what_is_urgent(int id)
{
	struct sley_task *task;
	bool both = load_acquire(&told);
	int i;

	task = worker_pick(&crew[id]);
	if (!task)
		return;
	i = run(task);
	MODEL_CHECK(!both || i == 1);
}

MODEL(the_urgent_goes_first, .setup = setup_one,
      .threads = { pick_what_is_urgent, spawn_both_and_tell }, .finish = two);
