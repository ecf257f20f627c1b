/* SPDX-License-Identifier: MIT */
/*
 * actor_command_timeout.c - src/actor/command/command_timeout.c: a completion
 * against the alarm.  The message is sent or freed, once; the alarm is freed, once,
 * and by its last user.
 *
 * Thread 0 is the worker that gave the command to its handler; this worker, or
 * thread 1, where the process has moved meanwhile, completes the command.  The other
 * thread fires the timers, as the monitor does.  Message and alarm are on the
 * explorer's heap.
 *
 * Complete for one command.  Several commands share only the timers.
 */
#include "inline_paths.h"
#include "tasks_only.h"

#include "actor/command/command_timeout.c"

#define PID 5

static struct command_timeout *timeout;
static uint32_t started;
static struct ledger {
	int sent, freed, done;
} ledger;

/* ---- the rest of the engine ------------------------------------------------------ */

void *object_pool_get_slow(struct object_pool *of,
			   struct object_pool_cache *cache)
{
	(void)cache;
	return model_alloc(of->object_size);
}

void object_pool_put_slow(struct object_pool *of,
			  struct object_pool_cache *cache, void *object)
{
	(void)of;
	(void)cache;
	ledger.done++;
	model_free(object);
}

void mail_free(struct sley_msg *msg)
{
	ledger.freed++;
	model_free(msg);
}

int mail_send(sley_pid to, struct sley_msg *msg)
{
	MODEL_CHECK(to == PID && msg->error == -ETIMEDOUT);
	ledger.sent++;
	model_free(msg);
	return 0;
}

/* ---- the scene -------------------------------------------------------------------- */

static void setup(void)
{
	tasks_setup(TASKS_TIMED);
	timeout = NULL;
	started = 0;
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	model_name(&started, "started");
}

static void give(int id)
{
	task_begin(id);
	timeout = command_timeout_create();
	command_timeout_start(timeout, PID,
			      model_alloc(sizeof(struct sley_msg)), 1000);
}

static void give_and_complete(int id)
{
	give(id);
	command_timeout_stop(timeout);
}

static void give_only(int id)
{
	give(id);
	store_release(&started, 1);
}

static void complete(int id)
{
	task_begin(id);
	while (!load_acquire(&started))
		spin_hint(&started);
	command_timeout_stop(timeout);
}

static void fire(int id)
{
	task_begin(id);
	task_fire_timers(0);
}

static void once(void)
{
	MODEL_CHECK(ledger.sent + ledger.freed == 1);
	MODEL_CHECK(ledger.done == 1);
	tasks_check();
}

MODEL(the_process_stays, .setup = setup, .threads = { give_and_complete, fire },
      .finish = once);
MODEL(the_process_has_moved, .setup = setup,
      .threads = { give_only, complete, fire }, .finish = once);
