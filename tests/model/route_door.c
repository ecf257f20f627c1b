/* SPDX-License-Identifier: MIT */
/*
 * route_door.c - src/route/door.h: nothing is inside while the keeper is, the keeper
 * waits for the last leaver of this shut and not of an earlier one, and may free the
 * door after the wait.
 *
 * What is inside reads plain memory that the keeper writes, and writes plain memory of
 * its own that the keeper reads.  A party that is inside beside the keeper is counted,
 * and in RA a missing edge is a race.
 *
 * Complete for a keeper that shuts the door once or twice, with or without a deadline,
 * and two requests that are inside at the beginning, or enter.  The keepers are plain
 * threads: the event has its own models (sync_event.c).  The models could miss mistakes
 * that take three shuts or three requests.
 */
#include "tasks_only.h"

#include "route/door.h"

static struct scene {
	struct door door;
	int written[MODEL_THREADS_MAX]; /* by the request of a thread, inside */
	int changed;                    /* by the keeper                      */
} * scene;
static struct ledger {
	int inside, entered, refused, gave_up, changes;
	bool keeper_is_inside;
} ledger;

/* The requests of the threads from 1 on are inside. */
static void setup_with(unsigned int nr_inside)
{
	tasks_setup(0);
	scene = model_alloc(sizeof(*scene));
	ledger = (struct ledger){ .inside = (int)nr_inside };
	model_ledger(&ledger, sizeof(ledger));
	scene->door.word = nr_inside * DOOR_ONE;
	model_lock_word(&scene->door.empty.q.word);
	model_name(&scene->door.word, "door");
	model_name(&scene->door.empty.q.word, "empty");
}

static void setup(void)
{
	setup_with(0);
}

static void setup_one_inside(void)
{
	setup_with(1);
}

static void setup_two_inside(void)
{
	setup_with(2);
}

/* ---- a request ---------------------------------------------------------------- */

static void finish_inside(int id)
{
	MODEL_CHECK(!ledger.keeper_is_inside);
	MODEL_CHECK(scene->changed >= 0);
	scene->written[id] = 1;
	ledger.inside--;
	door_leave(&scene->door);
}

/* The request was inside from the beginning. */
static void leave(int id)
{
	finish_inside(id);
}

static void enter_and_leave(int id)
{
	if (!door_enter(&scene->door)) {
		ledger.refused++;
		return;
	}
	ledger.inside++;
	ledger.entered++;
	MODEL_CHECK(!ledger.keeper_is_inside);
	model_access(&scene->written[id]);
	finish_inside(id);
}

static void leave_and_enter_again(int id)
{
	finish_inside(id);
	enter_and_leave(id);
}

/* ---- the keeper ---------------------------------------------------------------- */

static void change(void)
{
	int sum = 0;

	ledger.keeper_is_inside = true;
	MODEL_CHECK(!ledger.inside);
	model_access(&scene->changed);
	for (int i = 0; i < MODEL_THREADS_MAX; i++)
		sum += scene->written[i];
	MODEL_CHECK(sum >= 0);
	scene->changed++;
	ledger.changes++;
	MODEL_CHECK(!ledger.inside);
	ledger.keeper_is_inside = false;
}

static void shut_and_wait(void)
{
	door_shut(&scene->door);
	MODEL_CHECK(door_wait(&scene->door, SLEY_FOREVER, 0) == 0);
	change();
}

static void keep(int id)
{
	(void)id;
	shut_and_wait();
	door_open(&scene->door);
}

static void keep_twice(int id)
{
	keep(id);
	keep(id);
}

static void end(void)
{
	shut_and_wait();
	model_free(scene);
	scene = NULL;
}

static void keep_and_end(int id)
{
	keep(id);
	end();
}

static void end_it(int id)
{
	(void)id;
	end();
}

/* Shuts the door, and loses patience, or not. */
static void try_to_keep(void)
{
	int err;

	door_shut(&scene->door);
	err = door_wait(&scene->door, LATER, 0);
	MODEL_CHECK(err == 0 || err == -ETIMEDOUT);
	if (!err) {
		change();
		door_open(&scene->door);
		return;
	}
	ledger.gave_up++;
	door_give_up(&scene->door);
}

static void try_and_keep(int id)
{
	try_to_keep();
	keep(id);
}

static void try_and_end(int id)
{
	(void)id;
	try_to_keep();
	end();
}

/* Looks without a shut: what was done before by parties that left is seen. */
static void look(int id)
{
	(void)id;
	if (!door_is_empty(&scene->door))
		return;
	MODEL_CHECK(scene->written[1] == 1 && scene->written[2] == 1);
}

/* ---- at the end ------------------------------------------------------------------ */

static void it_is_open_and_empty(void)
{
	MODEL_CHECK(scene->door.word == 0);
	MODEL_CHECK(!sley_event_is_set(&scene->door.empty));
	MODEL_CHECK(!ledger.inside && ledger.changes == scene->changed);
	model_free(scene);
}

static void gone(void)
{
	MODEL_CHECK(!scene && !ledger.inside && ledger.changes >= 1);
}

MODEL(the_keeper_of_an_empty_door_may_free_it, .setup = setup,
      .threads = { end_it }, .finish = gone);
MODEL(nothing_is_inside_while_the_keeper_is, .setup = setup,
      .threads = { keep, enter_and_leave, enter_and_leave },
      .finish = it_is_open_and_empty);
MODEL(the_keeper_waits_for_two_and_may_free_it, .setup = setup_two_inside,
      .threads = { end_it, leave, leave }, .finish = gone);
MODEL(a_request_comes_while_the_keeper_shuts_twice, .setup = setup_one_inside,
      .threads = { keep_twice, leave_and_enter_again },
      .finish = it_is_open_and_empty);
MODEL(the_second_shut_waits_anew, .setup = setup_one_inside,
      .threads = { keep_and_end, leave }, .finish = gone);
MODEL(a_keeper_without_patience_leaves_no_late_set, .setup = setup_one_inside,
      .threads = { try_and_keep, leave_and_enter_again },
      .finish = it_is_open_and_empty);
MODEL(a_keeper_without_patience_may_free_it_later, .setup = setup_two_inside,
      .threads = { try_and_end, leave, leave }, .finish = gone);
MODEL(a_keeper_without_patience_and_two_that_come_and_go,
      .setup = setup_one_inside,
      .threads = { try_and_keep, leave, enter_and_leave }, .slow = true,
      .finish = it_is_open_and_empty);
MODEL(an_empty_door_shows_what_was_done_inside, .setup = setup_two_inside,
      .threads = { look, leave, leave }, .finish = it_is_open_and_empty);
