/* SPDX-License-Identifier: MIT */
/*
 * core_monitor.c - the deep sleep of src/core/sched/monitor.c: the monitor does not
 * sleep while a worker works, and wakes up to stop.
 *
 * A worker searches with the very search.c, sleeps, and is woken for work that any
 * worker may take or that is for this worker alone; with work, it works for ever.
 * The monitor looks once whether all workers sleep, and then sleeps, too.  A monitor
 * that is not woken then is a lost wake-up.  At the end the monitor is stopped,
 * while a worker may be about to nudge the monitor once more.
 *
 * Complete for one worker, and for one of two while the other sleeps; with
 * membarrier and without.  Not seen: a second sleep of the monitor, which comes
 * after a whole period; and the work of a monitor that is awake, which is advice:
 * its timers are in core_timer.c.  A timer that is started while the monitor plans
 * its next look: complete for one.  But the monitor also frees the next slot of a
 * held worker.  That is no advice, since no other worker was told of the task in the
 * slot: complete for one task there, and one other worker, with membarrier and
 * without.  And a worker whose tasks have become long all at once is asked for a fair
 * pick (core/sched/pace.h), for each place in which a task may wait for one.
 */
#include "crew.h"
#include "monitor_only.h"
#include "payload.h"

#include "core/sched/place.h"
#include "core/task/turn.h"

static struct sley_task task, second;
static struct payload payload, of_second;
static struct ledger {
	int worked, watched;
} ledger;

static void setup(unsigned int workers)
{
	crew_set_up(workers);
	task = (struct sley_task){ 0 };
	payload = of_second = (struct payload){ 0 };
	second = (struct sley_task){ 0 };
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	rt->monitor.started = true;
	model_name(&rt->monitor.word, "monitor");
	model_name(&task.state, "task");
}

static void setup_one(void)
{
	setup(1);
}

/* Worker 1 is asleep, and stays asleep. */
static void setup_two(void)
{
	setup(2);
	crew[1].seat.word = SEAT_PARKED;
	list_prepend(&rt->idle.parked, &crew[1].seat.link);
	rt->idle.counts += IDLE_PARKED_ONE;
}

static void worker(int id)
{
	MODEL_CHECK(worker_search(&crew[id]) == &task);
	(void)task_claim(&task);
	payload_check(&payload);
	ledger.worked++;
}

static void monitor(int id)
{
	(void)id;
	monitor_sleep(rt);
	ledger.watched++;
}

static void spawn(int id)
{
	(void)id;
	payload_write(&payload);
	task_build(&task, LEVEL_DEFAULT, 0);
	place_foreign(rt, &task);
}

static void spawn_toward(int id)
{
	(void)id;
	payload_write(&payload);
	task_build(&task, LEVEL_DEFAULT, 0);
	place_toward(&crew[0], &task);
}

static void send_home(int id)
{
	(void)id;
	payload_write(&payload);
	task_build(&task, LEVEL_DEFAULT, TASK_PINNED);
	place_at(&crew[0], &task);
}

static void stop(int id)
{
	(void)id;
	monitor_stop(rt);
}

static void both_are_awake(void)
{
	MODEL_CHECK(ledger.worked == 1 && ledger.watched == 1);
	MODEL_CHECK(rt->monitor.word == MONITOR_AWAKE);
}

static void is_stopped(void)
{
	MODEL_CHECK(ledger.watched == 1);
	MODEL_CHECK(rt->monitor.word == MONITOR_STOPPED);
}

#define BOTH_VARIANTS(name, ...)                                               \
	MODEL(name##_with_membarrier, .finish = both_are_awake, __VA_ARGS__);  \
	MODEL(name##_without_membarrier, .finish = both_are_awake,             \
	      .no_membarrier = true, __VA_ARGS__)

BOTH_VARIANTS(it_hears_of_a_worker_with_work, .setup = setup_one,
	      .threads = { worker, monitor, spawn });

BOTH_VARIANTS(it_hears_of_a_worker_with_work_sent_toward_it, .setup = setup_one,
	      .threads = { worker, monitor, spawn_toward });

BOTH_VARIANTS(it_hears_of_a_worker_with_its_own_work, .setup = setup_one,
	      .threads = { worker, monitor, send_home });

/* The sleeping worker must not be woken instead. */
BOTH_VARIANTS(it_hears_of_one_of_two, .setup = setup_two,
	      .threads = { worker, monitor, send_home });

static void setup_all_asleep(void)
{
	setup_two();
	rt->nr_workers = 1;
}

MODEL(it_stops_in_its_sleep, .setup = setup_all_asleep,
      .threads = { stop, monitor }, .finish = is_stopped);

static void nudge(int id)
{
	(void)id;
	monitor_nudge(&rt->monitor);
}

/* A nudge does not undo a stop. */
MODEL(it_stops_beside_a_nudge, .setup = setup_all_asleep,
      .threads = { stop, monitor, nudge }, .finish = is_stopped);

/* ---- the time of the next look ------------------------------------------------------- */

enum { TICK_US = 1, DEADLINE_NS = 5000 };

static struct timer timer;

static void setup_busy(void)
{
	setup(1);
	rt->config.tick_us = TICK_US;
	timer = (struct timer){ 0 };
	model_name(&rt->monitor.late_ns, "late");
}

/* As a task does that waits until a deadline while its worker goes on. */
static void start_timer(int id)
{
	struct timers *timers = &crew[id].timers;

	(void)timer_start(timers, &timer, &task, DEADLINE_NS);
	monitor_expect(&rt->monitor, timers_next(timers));
}

static void plan(int id)
{
	(void)id;
	ledger.watched = (int)monitor_plan(rt, 0, false);
}

/* The monitor looks in time, or at once. */
static void is_expected(void)
{
	if (ledger.watched != DEADLINE_NS)
		MODEL_CHECK(rt->monitor.word == MONITOR_HASTENED);
	(void)timer_stop(&timer);
}

MODEL(it_hears_of_a_timer, .setup = setup_busy,
      .threads = { start_timer, plan }, .finish = is_expected);

/* The worker is about to sleep until its timer is due, and finds a task instead. */
static bool finds_a_task(void *arg)
{
	(void)arg;
	return true;
}

static void setup_timer(void)
{
	setup_busy();
	(void)timer_start(&crew[0].timers, &timer, &task, DEADLINE_NS);
}

static void almost_sleep(int id)
{
	const struct idle_look look = { .look = finds_a_task };

	(void)idle_park(&rt->idle, &crew[id].seat, false, &look, DEADLINE_NS);
	monitor_expect(&rt->monitor, timers_next(&crew[id].timers));
}

MODEL(it_hears_of_the_timer_of_a_worker_that_wakes_up, .setup = setup_timer,
      .threads = { almost_sleep, plan }, .finish = is_expected);

MODEL(it_hears_of_it_without_membarrier, .setup = setup_timer,
      .no_membarrier = true, .threads = { almost_sleep, plan },
      .finish = is_expected);

static void hasten(int id)
{
	(void)id;
	monitor_hasten(&rt->monitor);
}

static void is_stopped_for_good(void)
{
	MODEL_CHECK(rt->monitor.word == MONITOR_STOPPED);
}

MODEL(a_thread_that_hastens_it_does_not_undo_a_stop, .setup = setup_one,
      .threads = { stop, hasten }, .finish = is_stopped_for_good);

/* ---- the next slot of a held worker -------------------------------------------------- */

/* Worker 0 has woken the task for itself, in a step that goes on. */
static void setup_held(void)
{
	setup(2);
	payload_write(&payload);
	task_build(&task, LEVEL_DEFAULT, 0);
	MODEL_CHECK(!next_put(&crew[0].next, &task, NEXT_OWN));
}

static void is_held_for_ever(int id)
{
	(void)id;
}

static void look_after_first(int id)
{
	(void)id;
	monitor_look_after(&crew[0], 0);
}

static void stolen_and_run(void)
{
	MODEL_CHECK(ledger.worked == 1);
	MODEL_CHECK(next_empty(&crew[0].next));
}

#define HELD_VARIANTS(name, ...)                                               \
	MODEL(name##_with_membarrier, .finish = stolen_and_run, __VA_ARGS__);  \
	MODEL(name##_without_membarrier, .finish = stolen_and_run,             \
	      .no_membarrier = true, __VA_ARGS__)

HELD_VARIANTS(what_a_held_worker_has_is_found, .setup = setup_held,
	      .threads = { is_held_for_ever, worker, look_after_first });

/* The worker was not held after all: this worker or the other takes the task. */
static void setup_not_held(void)
{
	setup_held();
	rt->phase = PHASE_STOPPING; /* no worker sleeps */
}

static void take_if_any(int id)
{
	struct sley_task *found = id ? worker_search(&crew[id])
				     : worker_pick(&crew[id]);

	if (!found)
		return;
	MODEL_CHECK(found == &task);
	(void)task_claim(&task);
	payload_check(&payload);
	ledger.worked++;
}

HELD_VARIANTS(what_is_opened_is_run_once, .setup = setup_not_held,
	      .threads = { take_if_any, take_if_any, look_after_first });

/* The monitor has looked at the slot, and the slot has another task by now. */
static void wake_another(int id)
{
	payload_write(&of_second);
	task_build(&second, LEVEL_DEFAULT, 0);
	turn_wake(&crew[id], &second);
}

static void take_one(int id)
{
	struct sley_task *found = worker_search(&crew[id]);

	MODEL_CHECK(found == &task || found == &second);
	(void)task_claim(found);
	payload_check(found == &task ? &payload : &of_second);
	ledger.worked++;
}

static void one_is_left_or_open(void)
{
	MODEL_CHECK(ledger.worked == 1);
	MODEL_CHECK(!next_empty(&crew[0].next) || ring_size(&crew[0].ring));
}

MODEL(what_is_pushed_out_is_found, .setup = setup_held,
      .threads = { wake_another, take_one, look_after_first },
      .finish = one_is_left_or_open, .slow_modes = MODEL_RA);

/* ---- tasks that wait for a fair pick -------------------------------------------------- */

static void setup_lane(void)
{
	setup(1);
	task_build(&task, LEVEL_DEFAULT, 0);
	push_list_push(&crew[0].lane, task_node(&task));
}

static void setup_spill(void)
{
	setup(1);
	task_build(&task, LEVEL_DEFAULT, 0);
	runq_spill_chain(&rt->runq, &task);
}

static void setup_parent(void)
{
	setup(1);
	crew[0].nr_parents = 1; /* suspended, with children left behind */
}

static void is_poked(void)
{
	MODEL_CHECK(crew[0].poke == 1);
}

static void is_left_alone(void)
{
	MODEL_CHECK(crew[0].poke == 0);
}

MODEL(a_worker_is_asked_for_the_tasks_in_its_lane, .setup = setup_lane,
      .threads = { is_held_for_ever, look_after_first }, .finish = is_poked);

MODEL(a_worker_is_asked_for_the_tasks_of_the_spill, .setup = setup_spill,
      .threads = { is_held_for_ever, look_after_first }, .finish = is_poked);

MODEL(a_worker_is_asked_for_children_left_behind, .setup = setup_parent,
      .threads = { is_held_for_ever, look_after_first }, .finish = is_poked);

MODEL(a_worker_is_not_asked_without_such_tasks, .setup = setup_one,
      .threads = { is_held_for_ever, look_after_first },
      .finish = is_left_alone);

static void setup_lane_asleep(void)
{
	setup_lane();
	crew[0].seat.word = SEAT_PARKED;
}

/* Its notifier wakes it, and then it looks everywhere. */
MODEL(a_worker_that_sleeps_is_not_asked, .setup = setup_lane_asleep,
      .threads = { is_held_for_ever, look_after_first },
      .finish = is_left_alone);
