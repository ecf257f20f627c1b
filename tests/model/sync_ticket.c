/* SPDX-License-Identifier: MIT */
/*
 * sync_ticket.c - src/sync/ticket.c: done in and out of order, against waits,
 * deadlines and tasks that hang on a ticket.
 *
 * The queue and its tickets are freed as soon as the rules allow: a ticket when its
 * done has returned, the queue with the last ticket.  The owner of a ticket writes
 * plain memory before done; owners that are called later read this memory.  Tasks
 * that hang on a ticket go to the home list of a bound thread that never looks; at
 * the end the list holds all queued tasks.
 *
 * Complete for three tickets, of which two are done or waited for at the same time,
 * in and out of order, given up, dropped by reference (also when the ticket is
 * called meanwhile, or done before), with a deadline or a cancel for a waiter; and
 * for two tasks on one ticket.  The models could miss mistakes that take two waiters
 * of one ticket, or a fourth ticket between two that are done at once.
 */
#include "tasks_only.h"

#include "core/task/then.h"
#include "core/life/after_fork.h"
#include "core/task/spawn.h"

#include <sley/ticket.h>

#include <string.h>

#define TICKETS 3

static struct scene {
	struct sley_ticket_queue queue;
	struct sley_ticket ticket[TICKETS];
} * scene;
static int payload[TICKETS]; /* of the owner of a ticket, before done */
static struct ledger {
	int called;    /* waits that returned 0             */
	int told;      /* that the ticket was given up      */
	int gave_up;   /* deadlines and cancels             */
	int last_refs; /* drops of the last reference       */
} ledger;

static struct sley bound_runtime;
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

const char *after_fork_rule(const char *rule)
{
	return rule;
}

static void setup_with(enum tasks_flags flags)
{
	tasks_setup(flags);
	scene = model_alloc(sizeof(*scene));
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	memset(payload, 0, sizeof(payload));
	memset(&home, 0, sizeof(home));
	memset(task, 0, sizeof(task));
	home.rt = &bound_runtime;
	selves_set(&(struct self){ .bound = &bound_runtime });
	sley_ticket_take_n(&scene->queue, scene->ticket, TICKETS);
	model_lock_word(&scene->queue.q.word);
	model_name(&scene->queue.q.word, "queue");
	for (int i = 0; i < TICKETS; i++)
		model_name(&scene->ticket[i].q.word, "ticket%d", i);
}

static void setup(void)
{
	setup_with(0);
}

static void setup_timed(void)
{
	setup_with(TASKS_TIMED);
}

/* Writes the payload, and is done. */
static void finish_ticket(int which)
{
	payload[which] = 7;
	sley_ticket_done(&scene->ticket[which]);
}

static void done_0(int id)
{
	(void)id;
	finish_ticket(0);
}

static void done_1(int id)
{
	(void)id;
	finish_ticket(1);
}

/* The same by two threads, without a payload. */
static void done_0_twice(int id)
{
	(void)id;
	sley_ticket_done(&scene->ticket[0]);
}

/* If the ticket was called, the tickets before were done. */
static int wait_for(int which, uint64_t deadline_ns)
{
	int result = sley_ticket_wait_until(&scene->ticket[which], deadline_ns);

	MODEL_CHECK(result == 0 || result == -ECANCELED ||
		    result == -ETIMEDOUT);
	ledger.called += result == 0;
	ledger.gave_up += result != 0;
	for (int i = 0; i < which && result == 0; i++)
		MODEL_CHECK(payload[i] == 7);
	return result;
}

static void wait_for_1(int id)
{
	(void)id;
	MODEL_CHECK(wait_for(1, UINT64_MAX) == 0);
	finish_ticket(1);
}

static void wait_for_1_until(int id)
{
	(void)id;
	(void)wait_for(1, LATER);
	finish_ticket(1);
}

/* Ticket 1 belongs to another thread, which may give the ticket up. */
static void wait_for_1_only(int id)
{
	int result = sley_ticket_wait(&scene->ticket[1]);

	(void)id;
	MODEL_CHECK(result == 0 || result == -ECANCELED);
	if (result)
		MODEL_CHECK(payload[1] == 7);
	ledger.called += result == 0;
	ledger.told += result == -ECANCELED;
}

/* The last ticket: the queue is not needed afterwards. */
static void wait_for_2_and_free(int id)
{
	(void)id;
	MODEL_CHECK(wait_for(2, UINT64_MAX) == 0);
	finish_ticket(2);
	model_free(scene);
	scene = NULL;
}

static void all_were_called(void)
{
	MODEL_CHECK(!scene && !ledger.told);
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

static void third_is_first(void)
{
	MODEL_CHECK(scene->queue.first == &scene->ticket[2]);
	MODEL_CHECK(scene->queue.last == &scene->ticket[2]);
	MODEL_CHECK(sley_ticket_is_called(&scene->ticket[2]));
	model_free(scene);
}

/* ---- references --------------------------------------------------------------- */

static void setup_shared(void)
{
	setup();
	sley_ticket_ref(&scene->ticket[0]);
}

/*
 * Each thread has a reference; the last drop makes the ticket done, and sees both.
 */
static void drop_0(int id)
{
	payload[id] = 7;
	if (!sley_ticket_unref(&scene->ticket[0]))
		return;
	ledger.last_refs++;
	MODEL_CHECK(payload[0] == 7 && payload[1] == 7);
}

static void second_is_first(void)
{
	MODEL_CHECK(ledger.last_refs == 1 && ledger.called == 1);
	MODEL_CHECK(scene->queue.first == &scene->ticket[2]);
	model_free(scene);
}

static void second_is_called(void)
{
	MODEL_CHECK(ledger.last_refs == 1);
	MODEL_CHECK(scene->queue.first == &scene->ticket[1]);
	MODEL_CHECK(sley_ticket_is_called(&scene->ticket[1]));
	model_free(scene);
}

static void wait_for_1_and_done(int id)
{
	(void)id;
	MODEL_CHECK(sley_ticket_wait(&scene->ticket[1]) == 0);
	ledger.called++;
	sley_ticket_done(&scene->ticket[1]);
}

MODEL(who_drops_it_last_calls_the_next, .setup = setup_shared,
      .threads = { drop_0, drop_0, wait_for_1_and_done },
      .finish = second_is_first);

/* The ticket is called meanwhile, by the owner of the ticket before. */
static void hold_1_twice(int id)
{
	(void)id;
	sley_ticket_ref(&scene->ticket[1]);
	MODEL_CHECK(!sley_ticket_unref(&scene->ticket[1]));
	MODEL_CHECK(sley_ticket_unref(&scene->ticket[1]));
	ledger.last_refs++;
}

static void dropped_once(void)
{
	MODEL_CHECK(ledger.last_refs == 1);
	third_is_first();
}

MODEL(a_call_between_references, .setup = setup,
      .threads = { done_0, hold_1_twice }, .finish = dropped_once);

/* Done before the drop: the last drop still sees the writes of the others. */
static void done_and_drop_0(int id)
{
	sley_ticket_done(&scene->ticket[0]);
	drop_0(id);
}

MODEL(who_drops_it_last_when_it_is_done, .setup = setup_shared,
      .threads = { drop_0, done_and_drop_0 }, .finish = second_is_called);

/* ---- twice ------------------------------------------------------------------ */

MODEL(done_twice_at_once_calls_one, .setup = setup,
      .threads = { done_0_twice, done_0_twice, wait_for_1_and_done },
      .finish = third_is_first);

/* Called, or given up, or called and then given up: the waiter is told once. */
static void the_waiter_was_told(void)
{
	MODEL_CHECK(ledger.called + ledger.told == 1);
	third_is_first();
}

MODEL(a_waiter_of_a_ticket_that_is_given_up, .setup = setup,
      .threads = { done_0, done_1, wait_for_1_only },
      .finish = the_waiter_was_told);

/* ---- tasks that wait --------------------------------------------------------- */

static void task_done_0(int id)
{
	task_begin(id);
	done_0(id);
}

static void task_wait_for_1(int id)
{
	task_begin(id);
	wait_for_1(id);
}

/* By a deadline, a cancel, or both; in any case the ticket is done afterwards. */
static void task_wait_for_1_until(int id)
{
	task_begin(id);
	wait_for_1_until(id);
}

static void task_wait_for_1_or_end(int id)
{
	task_begin(id);
	(void)wait_for(1, UINT64_MAX);
	finish_ticket(1);
}

static void task_wait_for_2_and_free(int id)
{
	task_begin(id);
	wait_for_2_and_free(id);
}

static void cancel_second(int id)
{
	task_begin(id);
	task_end_wait(1);
}

static void cancel_second_and_done_0(int id)
{
	cancel_second(id);
	finish_ticket(0);
}

MODEL(the_last_task_may_free_the_queue, .setup = setup,
      .threads = { task_done_0, task_wait_for_1, task_wait_for_2_and_free },
      .finish = all_were_called);

MODEL(call_and_deadline_and_cancel, .setup = setup_timed,
      .threads = { task_done_0, task_wait_for_1_until, cancel_second },
      .finish = third_is_first);

MODEL(a_cancelled_task_still_calls_the_next, .setup = setup,
      .threads = { cancel_second_and_done_0, task_wait_for_1_or_end,
		   task_wait_for_2_and_free },
      .finish = all_were_called);

/* ---- tasks that hang on a ticket --------------------------------------------- */

/* The model looks at the queued task; the task does not run. */
static void not_run(void *arg)
{
	(void)arg;
	MODEL_CHECK(!"no model runs it");
}

static void hang_on_two(int id)
{
	(void)id;
	sley_ticket_on_call(&scene->ticket[1], &group, &task[0], not_run, NULL);
	sley_ticket_on_call(&scene->ticket[1], &group, &task[1], not_run, NULL);
}

static int nr_queued(const struct sley_task *which)
{
	struct push_node *node = home.home.head;
	int nr = 0;

	for (; node; node = node->next) {
		const struct sley_task *queued = (const void *)node;

		for (; queued; queued = continuation_of(queued->group))
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
