/* SPDX-License-Identifier: MIT */
/*
 * sync_ticket.c - src/sync/ticket.c: done in and out of order, against waits,
 * deadlines and tasks that are hung on.
 *
 * The queue and its tickets are gone as soon as the rules allow it: a ticket
 * when its done has returned, the queue with the last of them.  Tasks go to the
 * home list of a bound thread that never looks; what is in there at the end is
 * what was queued.  Complete.
 */
#include "threads_only.h"

#include "core/follow.h"
#include "core/forked.h"
#include "core/spawn.h"

#include <sley/ticket.h>

#include <string.h>

#define TICKETS 3

static struct scene {
	struct sley_ticket_queue queue;
	struct sley_ticket ticket[TICKETS];
} * scene;
static int called; /* waits that returned 0 */
static int told;   /* that the ticket was given up */

static struct sley rt;
static struct worker home;
static struct sley_group group;
static struct sley_task task[2];

int spawn_accept(struct sley *runtime, struct sley_group *of,
		 struct sley_task *accepted)
{
	(void)runtime;
	task_build(accepted, LEVEL_DEFAULT, 0);
	accepted->group = of;
	accepted->fiber = &home;
	return 0;
}

const char *forked_rule(const char *rule)
{
	return rule;
}

static void setup(void)
{
	scene = model_alloc(sizeof(*scene));
	called = told = 0;
	memset(&home, 0, sizeof(home));
	memset(task, 0, sizeof(task));
	home.rt = &rt;
	idle_init(&rt.idle, 0, false);
	idle_seat_init(&home.seat);
	selves_set(&(struct self){ .bound = &rt });
	sley_ticket_take_n(&scene->queue, scene->ticket, TICKETS);
	model_lock_word(&scene->queue.q.word);
	model_name(&scene->queue.q.word, "queue");
	for (int i = 0; i < TICKETS; i++)
		model_name(&scene->ticket[i].q.word, "ticket%d", i);
}

static void done_0(int id)
{
	(void)id;
	sley_ticket_done(&scene->ticket[0]);
}

static void done_1(int id)
{
	(void)id;
	sley_ticket_done(&scene->ticket[1]);
}

static void leave(struct sley_ticket *ticket, int result)
{
	MODEL_CHECK(result == 0 || result == -ECANCELED ||
		    result == -ETIMEDOUT);
	called += result == 0;
	told += result == -ECANCELED;
	sley_ticket_done(ticket);
}

static void wait_for_1(int id)
{
	(void)id;
	leave(&scene->ticket[1], sley_ticket_wait(&scene->ticket[1]));
}

static void wait_for_1_until(int id)
{
	(void)id;
	leave(&scene->ticket[1],
	      sley_ticket_wait_until(&scene->ticket[1], 2000000000));
}

static void wait_for_1_only(int id)
{
	int result = sley_ticket_wait(&scene->ticket[1]);

	(void)id;
	called += result == 0;
	told += result == -ECANCELED;
}

/* The last ticket: nobody needs the queue afterwards. */
static void wait_for_2_and_free(int id)
{
	(void)id;
	leave(&scene->ticket[2], sley_ticket_wait(&scene->ticket[2]));
	model_free(scene);
	scene = NULL;
}

static void all_were_called(void)
{
	MODEL_CHECK(!scene && !told);
}

MODEL(the_last_one_may_free_the_queue, .setup = setup,
      .threads = { done_0, wait_for_1, wait_for_2_and_free },
      .finish = all_were_called);

MODEL(done_out_of_order_still_calls_the_next, .setup = setup,
      .threads = { done_0, done_1, wait_for_2_and_free },
      .finish = all_were_called);

MODEL(done_at_a_deadline_still_calls_the_next, .setup = setup,
      .threads = { done_0, wait_for_1_until, wait_for_2_and_free },
      .finish = all_were_called);

/* ---- twice ------------------------------------------------------------------ */

static void third_is_first(void)
{
	MODEL_CHECK(scene->queue.first == &scene->ticket[2]);
	MODEL_CHECK(scene->queue.last == &scene->ticket[2]);
	MODEL_CHECK(sley_ticket_is_called(&scene->ticket[2]));
	model_free(scene);
}

MODEL(done_twice_at_once_calls_one, .setup = setup,
      .threads = { done_0, done_0, wait_for_1 }, .finish = third_is_first);

/* Called, or given up, or called and then given up: the waiter is told once. */
static void the_waiter_was_told(void)
{
	MODEL_CHECK(called + told == 1);
	third_is_first();
}

MODEL(a_waiter_of_a_ticket_that_is_given_up, .setup = setup,
      .threads = { done_0, done_1, wait_for_1_only },
      .finish = the_waiter_was_told);

/* ---- tasks ------------------------------------------------------------------ */

static void hang_on_two(int id)
{
	(void)id;
	sley_ticket_on_call(&scene->ticket[1], &group, &task[0], NULL, NULL);
	sley_ticket_on_call(&scene->ticket[1], &group, &task[1], NULL, NULL);
}

static int nr_queued(const struct sley_task *which)
{
	struct push_node *node = home.home.head;
	int nr = 0;

	for (; node; node = node->next) {
		const struct sley_task *queued = (const void *)node;

		for (; queued; queued = follower_of(queued->group))
			nr += queued == which;
	}
	return nr;
}

static void both_were_queued_once(void)
{
	MODEL_CHECK(nr_queued(&task[0]) == 1);
	MODEL_CHECK(nr_queued(&task[1]) == 1);
	MODEL_CHECK(!scene->ticket[1].first_call);
}

static void both_will_run(void)
{
	both_were_queued_once();
	MODEL_CHECK(!task_is_cancelled(&task[0]));
	MODEL_CHECK(!task_is_cancelled(&task[1]));
	model_free(scene);
}

static void both_end(void)
{
	both_were_queued_once();
	third_is_first();
}

MODEL(tasks_are_hung_on_while_it_is_called, .setup = setup,
      .threads = { done_0, hang_on_two }, .finish = both_will_run);

MODEL(tasks_are_hung_on_while_it_is_given_up, .setup = setup,
      .threads = { done_0, hang_on_two, done_1 }, .finish = both_end);
