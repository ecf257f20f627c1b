/* SPDX-License-Identifier: MIT */
/*
 * actor_exit_signal.c - src/actor/process/exit_signal.c with mail.c and process.c: a
 * signal either ends a process or is told to the process; this is decided once, and
 * all effects agree.  A kill ends the process in any case; and a sender that finds
 * no process is told so.
 *
 * Thread 0 is an actor that begins or ceases to trap, looks into its inbox twice and
 * ends.  The other threads cancel, kill and stop the actor, as sley_process_cancel()
 * and actors_stop() do.  The waits of a condemned actor are cut short, the waits of
 * an actor that was told are not.  A message is delivered or freed, and the order is
 * in the inbox once, though the order is put again after it was taken out.
 *
 * Complete for one signal, and for two by two threads.  How the signal reaches
 * an actor that sleeps is in actor_receive.c.
 */
#include "model_mem.h"
#include "payload.h"
#include "threads_only.h"

#include "no_newcomers.h"

#include <sley/error.h>
#include <sley/process.h>

static struct process *const actor = &process_places[0];
static struct strand strand;
static struct worker home;
static struct sley runtime;
static sley_pid pid;
static struct payload order; /* written before the signal is sent */
static struct ledger {
	int cancel, kill, stop; /* return values; 1: none yet     */
	int told;               /* received SLEY_CANCEL messages  */
	bool ended;             /* by a signal, for this:         */
	int reason;
} ledger;

/* ---- the process ------------------------------------------------------------------------ */

static void setup_with(uint16_t signals)
{
	processes_setup();
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	ledger.cancel = ledger.kill = ledger.stop = 1;
	order = (struct payload){ 0 };
	runtime.nr_workers = 1;
	home.rt = &runtime;
	actor->generation = 1;
	pid = actor->pid = pid_make(0, actor->index, 1);
	actor->inbox.word = INBOX_EMPTY;
	actor->flags = PROCESS_ACTOR;
	actor->signals = SIGNAL_ACTOR | signals;
	actor->home = &home;
	task_build_running(&actor->task, 0, TASK_PROCESS | TASK_NO_BARRIER);
	strand = (struct strand){ .task = &actor->task, .home = &home };
	actor->task.fiber = &strand;
	selves_set(&(struct self){ 0 });
	selves[1] = (struct self){ .strand = &strand };
}

static void setup(void)
{
	setup_with(0);
}

static void setup_trapping(void)
{
	setup_with(SIGNAL_TRAPS);
}

/* Looks at the inbox, as a receive does. */
static void look(void)
{
	struct sley_msg *msg;

	mail_sort(actor);
	while ((msg = mail_take(&actor->control))) {
		MODEL_CHECK(msg->kind == SLEY_CANCEL);
		payload_check(&order);
		ledger.told++;
		mail_free(msg);
	}
	if (!(actor->flags & PROCESS_ENDING))
		return;
	payload_check(&order);
	/* The waits of the actor are cut short. */
	MODEL_CHECK(task_is_cancelled(&actor->task));
	MODEL_CHECK(!ledger.ended || ledger.reason == actor->reason);
	ledger.ended = true;
	ledger.reason = actor->reason;
}

static void trap_and_look(int id)
{
	(void)id;
	look();
	MODEL_CHECK(!sley_process_trap(true));
	look();
	process_end(actor, 0);
}

static void cease_to_trap_and_look(int id)
{
	(void)id;
	look();
	MODEL_CHECK(sley_process_trap(false));
	look();
	process_end(actor, 0);
}

static void look_twice(int id)
{
	(void)id;
	look();
	look();
	process_end(actor, 0);
}

/* ---- the others ------------------------------------------------------------------------- */

static void cancel_it(int id)
{
	(void)id;
	payload_write(&order);
	ledger.cancel = sley_process_cancel(pid, -EPERM);
}

static void kill_it(int id)
{
	(void)id;
	ledger.kill = sley_process_kill(pid);
}

static void write_and_kill(int id)
{
	payload_write(&order);
	kill_it(id);
}

/* As actors_stop() does for an actor that it finds. */
static void stop_it(int id)
{
	struct process *process = process_lock(pid);

	(void)id;
	ledger.stop = process ? 0 : -ESRCH;
	if (!process)
		return;
	process_order(process, SIGNAL_STOPPED);
	process_unlock(process);
}

static void write_and_stop(int id)
{
	payload_write(&order);
	stop_it(id);
}

/* ---- what must be true ------------------------------------------------------------------- */

static void is_gone(void)
{
	MODEL_CHECK(actor->pid == 0);
	MODEL_CHECK(actor->inbox.word == INBOX_CLOSED);
}

/* Told or ended, not both; and an actor whose waits are cut short ends. */
static void one_or_the_other(void)
{
	is_gone();
	MODEL_CHECK(ledger.told + ledger.ended <= 1);
	MODEL_CHECK(!ledger.ended || ledger.reason == -ECANCELED);
	MODEL_CHECK(!ledger.told || !task_is_cancelled(&actor->task));
	if (ledger.cancel == -ESRCH || ledger.stop == -ESRCH)
		MODEL_CHECK(!ledger.told && !ledger.ended);
}

/* The actor may be told nothing of a kill. */
static void killed_or_gone(void)
{
	is_gone();
	MODEL_CHECK(!ledger.ended || ledger.reason == SLEY_EKILLED);
	MODEL_CHECK(!ledger.told);
	if (ledger.kill == -ESRCH)
		MODEL_CHECK(!ledger.ended);
}

static void agrees(void)
{
	is_gone();
	MODEL_CHECK(ledger.told <= 1);
	MODEL_CHECK(!ledger.ended || ledger.reason == SLEY_EKILLED ||
		    ledger.reason == -ECANCELED);
}

MODEL(a_cancel_meets_a_trap, .setup = setup,
      .threads = { trap_and_look, cancel_it }, .finish = one_or_the_other);

MODEL(a_cancel_meets_the_end_of_a_trap, .setup = setup_trapping,
      .threads = { cease_to_trap_and_look, cancel_it },
      .finish = one_or_the_other);

MODEL(a_stop_meets_a_trap, .setup = setup,
      .threads = { trap_and_look, write_and_stop }, .finish = one_or_the_other);

MODEL(a_stop_meets_the_end_of_a_trap, .setup = setup_trapping,
      .threads = { cease_to_trap_and_look, write_and_stop },
      .finish = one_or_the_other);

MODEL(a_kill_meets_a_trap, .setup = setup,
      .threads = { trap_and_look, write_and_kill }, .finish = killed_or_gone);

MODEL(a_kill_meets_an_end, .setup = setup_trapping,
      .threads = { look_twice, write_and_kill }, .finish = killed_or_gone);

/* The order is put again after it was taken out: both take effect. */
static void setup_written(void)
{
	setup_trapping();
	payload_write(&order);
}

MODEL(a_stop_and_a_kill, .setup = setup_written,
      .threads = { look_twice, stop_it, kill_it }, .finish = agrees);

static void cancel_quietly(int id)
{
	(void)id;
	ledger.cancel = sley_process_cancel(pid, -EPERM);
}

MODEL(a_cancel_and_a_kill, .setup = setup_written,
      .threads = { look_twice, cancel_quietly, kill_it }, .finish = agrees);
