/* SPDX-License-Identifier: MIT */
/*
 * sync_event.c - src/sync/event.c with plain threads and with tasks: an event that
 * stays set lets all waiters pass, an automatic event exactly one waiter for each
 * set of the unset event, and a wait for any of several events consumes one event or
 * none.
 *
 * A waiter that passed sees the plain memory that the setter wrote before, and may
 * free the event at once if no other thread needs the event.
 *
 * Complete for a setter and a waiter, two of one and one of the other, and a wait
 * for any of two events against two setters, with a deadline and with a cancel for
 * one waiter.  The models could miss mistakes that take three events, or two waiters
 * for the same two events in opposite order and a setter for each event (here only
 * one event is set), and clear, which is a store under the lock, against more than
 * one other call.
 */
#include "tasks_only.h"

#include <sley/sync.h>

static struct scene {
	struct sley_event event[2];
} * scene;
static int payload[MODEL_THREADS_MAX]; /* by the setter */
static struct ledger {
	int passed, gave_up;
} ledger;

static void setup_with(bool automatic, enum tasks_flags flags)
{
	tasks_setup(flags);
	scene = model_alloc(sizeof(*scene));
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	memset(payload, 0, sizeof(payload));
	for (int i = 0; i < 2; i++) {
		sley_event_init(&scene->event[i], automatic, false);
		model_lock_word(&scene->event[i].q.word);
		model_name(&scene->event[i].q.word, "event%d", i);
	}
}

static void setup(void)
{
	setup_with(false, 0);
}

static void setup_auto(void)
{
	setup_with(true, 0);
}

static void setup_auto_timed(void)
{
	setup_with(true, TASKS_TIMED);
}

/* No thread waits for or is inside an event; returns the units that are left. */
static int units_left(void)
{
	int left = 0;

	for (int i = 0; i < 2; i++) {
		struct sley_event *event = &scene->event[i];

		MODEL_CHECK(!event->q.first);
		MODEL_CHECK(!(event->q.word & WAITQ_LOCK));
		left += sley_event_is_set(event);
	}
	return left;
}

/* ---- one event ------------------------------------------------------------------ */

static void set(int id)
{
	payload[id] = 7;
	sley_event_set(&scene->event[0]);
}

static void set_twice(int id)
{
	set(id);
	set(id);
}

static void wait_and_free(int id)
{
	(void)id;
	MODEL_CHECK(sley_event_wait(&scene->event[0]) == 0);
	MODEL_CHECK(payload[1] == 7);
	ledger.passed++;
	model_free(scene);
	scene = NULL;
}

/* Thread 2 sets. */
static void wait_event(int id)
{
	(void)id;
	MODEL_CHECK(sley_event_wait(&scene->event[0]) == 0);
	MODEL_CHECK(payload[2] == 7);
	ledger.passed++;
}

static void wait_soon(int id)
{
	int err = sley_event_wait_until(&scene->event[0], LATER);

	(void)id;
	MODEL_CHECK(err == 0 || err == -ETIMEDOUT || err == -ECANCELED);
	ledger.passed += err == 0;
	ledger.gave_up += err != 0;
}

/* Sets, looks, and clears: a waiter may have seen the event in between. */
static void set_and_clear(int id)
{
	set(id);
	sley_event_clear(&scene->event[0]);
}

static void try_event(int id)
{
	(void)id;
	ledger.passed += sley_event_try(&scene->event[0]);
}

/* Thread 1 sets. */
static void glance(int id)
{
	(void)id;
	if (sley_event_is_set(&scene->event[0]))
		MODEL_CHECK(payload[1] == 7);
}

static void gone(void)
{
	MODEL_CHECK(ledger.passed == 1 && !scene);
}

static void both_passed(void)
{
	MODEL_CHECK(ledger.passed == 2 && units_left() == 1);
	model_free(scene);
}

static void one_unit(void)
{
	MODEL_CHECK(ledger.passed + units_left() == 1);
	model_free(scene);
}

/* Set twice: each unit is used, or the second fell into the first. */
static void one_or_two_units(void)
{
	int all = ledger.passed + units_left();

	MODEL_CHECK(all == 1 || all == 2);
	model_free(scene);
}

static void nothing_is_left(void)
{
	MODEL_CHECK(units_left() == 0);
	MODEL_CHECK(ledger.passed + ledger.gave_up == 1);
	model_free(scene);
}

MODEL(who_passed_may_free_it, .setup = setup, .threads = { wait_and_free, set },
      .finish = gone);
MODEL(who_passed_an_automatic_one_may_free_it, .setup = setup_auto,
      .threads = { wait_and_free, set }, .finish = gone);
MODEL(who_sees_it_set_sees_what_was_before, .setup = setup,
      .threads = { glance, set }, .finish = one_unit);
MODEL(everybody_passes_what_stays_set, .setup = setup,
      .threads = { wait_event, wait_event, set }, .finish = both_passed);
MODEL(one_passes_an_automatic_one, .setup = setup_auto,
      .threads = { wait_soon, wait_soon, set }, .finish = one_unit);
MODEL(who_tries_takes_it_from_who_waits, .setup = setup_auto,
      .threads = { wait_soon, try_event, set }, .finish = one_unit);
MODEL(two_pass_if_it_was_set_twice_in_time, .setup = setup_auto,
      .threads = { wait_soon, wait_soon, set_twice },
      .finish = one_or_two_units);
MODEL(what_was_cleared_let_pass_who_waited, .setup = setup,
      .threads = { wait_soon, set_and_clear }, .finish = nothing_is_left);

/* ---- tasks ---------------------------------------------------------------------- */

static void task_set(int id)
{
	task_begin(id);
	set(id);
}

static void task_wait_and_free(int id)
{
	task_begin(id);
	wait_and_free(id);
}

static void task_wait(int id)
{
	task_begin(id);
	wait_event(id);
}

static void task_wait_soon(int id)
{
	task_begin(id);
	wait_soon(id);
}

static void task_wait_or_end(int id)
{
	int err;

	task_begin(id);
	err = sley_event_wait(&scene->event[0]);
	MODEL_CHECK(err == 0 || err == -ECANCELED);
	ledger.passed += err == 0;
	ledger.gave_up += err != 0;
}

static void cancel_first(int id)
{
	task_begin(id);
	task_end_wait(0);
}

/* Sets the event again after its wait: the second waiter passes in any case. */
static void task_pass_on_or_end(int id)
{
	task_begin(id);
	if (sley_event_wait(&scene->event[0]) == 0)
		set(id);
	else
		ledger.gave_up++;
}

static void cancel_first_and_set(int id)
{
	task_begin(id);
	task_end_wait(0);
	set(id);
}

static void the_second_passed(void)
{
	MODEL_CHECK(ledger.passed == 1 && units_left() == 0);
	model_free(scene);
}

MODEL(a_task_may_free_it, .setup = setup_auto,
      .threads = { task_wait_and_free, task_set }, .finish = gone);
MODEL(tasks_pass_what_stays_set, .setup = setup,
      .threads = { task_wait, task_wait, task_set }, .finish = both_passed);
MODEL(a_cancel_consumes_nothing, .setup = setup_auto,
      .threads = { task_wait_or_end, task_set, cancel_first },
      .finish = one_unit);
MODEL(wake_and_deadline_and_cancel, .setup = setup_auto_timed,
      .threads = { task_wait_soon, task_set, cancel_first },
      .finish = one_unit);
MODEL(a_cancelled_one_leaves_it_to_the_next, .setup = setup_auto,
      .threads = { task_pass_on_or_end, task_wait, cancel_first_and_set },
      .finish = the_second_passed);

/* ---- any of two ----------------------------------------------------------------- */

/* Threads 1 and 2 set one event each. */
static void set_one(int id)
{
	payload[id] = 7;
	sley_event_set(&scene->event[id - 1]);
}

static void task_set_one(int id)
{
	task_begin(id);
	set_one(id);
}

static void any_of_both(unsigned int first, uint64_t deadline_ns)
{
	struct sley_event *const events[] = {
		&scene->event[first],
		&scene->event[!first],
	};
	int index = sley_event_wait_any_until(events, 2, deadline_ns);

	MODEL_CHECK(index == 0 || index == 1 || index == -ETIMEDOUT ||
		    index == -ECANCELED);
	ledger.passed += index >= 0;
	ledger.gave_up += index < 0;
	if (index >= 0)
		MODEL_CHECK(payload[1 + ((unsigned int)index ^ first)] == 7);
}

static void any(int id)
{
	(void)id;
	any_of_both(0, UINT64_MAX);
}

static void any_soon(int id)
{
	(void)id;
	any_of_both(0, LATER);
}

static void any_soon_backwards(int id)
{
	(void)id;
	any_of_both(1, LATER);
}

static void task_any_or_end(int id)
{
	task_begin(id);
	any_of_both(0, UINT64_MAX);
}

static void task_any_soon(int id)
{
	task_begin(id);
	any_of_both(0, LATER);
}

/* Only the event of thread 1 is ever set. */
static void any_and_free(int id)
{
	(void)id;
	any_of_both(1, UINT64_MAX);
	model_free(scene);
	scene = NULL;
}

static void task_any_and_free(int id)
{
	task_begin(id);
	any_and_free(id);
}

/* Thread 2 sets the second event. */
static void set_second(int id)
{
	payload[2] = 7;
	(void)id;
	sley_event_set(&scene->event[1]);
}

static void two_units(void)
{
	MODEL_CHECK(ledger.passed + units_left() == 2);
	model_free(scene);
}

static void passed_and_one_left(void)
{
	MODEL_CHECK(ledger.passed == 1);
	two_units();
}

MODEL(either_is_consumed_and_not_both, .setup = setup_auto,
      .threads = { any, set_one, set_one }, .finish = passed_and_one_left);
MODEL(either_or_a_deadline, .setup = setup_auto,
      .threads = { any_soon, set_one, set_one }, .finish = two_units);
MODEL(who_passed_one_may_free_both, .setup = setup_auto,
      .threads = { any_and_free, set_one }, .finish = gone);
MODEL(two_who_wait_for_the_same_two, .setup = setup_auto,
      .threads = { any_soon, any_soon_backwards, set_second }, .slow = true,
      .finish = one_unit);
MODEL(a_task_that_passed_one_may_free_both, .setup = setup_auto,
      .threads = { task_any_and_free, task_set_one }, .finish = gone);
MODEL(either_or_a_cancel, .setup = setup_auto,
      .threads = { task_any_or_end, task_set_one, cancel_first },
      .finish = one_unit);
MODEL(either_or_a_deadline_of_a_task, .setup = setup_auto_timed,
      .threads = { task_any_soon, task_set_one, task_set_one },
      .finish = two_units);
