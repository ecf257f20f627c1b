/* SPDX-License-Identifier: MIT */
/*
 * actor_receive.c - src/actor/mail/receive.c, with mail.c, exit_signal.c, process.c
 * and the AFTER_INBOX of core/task/turn.h: an actor gets its messages, its deadline
 * or its end, never sleeps beside one of these, and leaves nothing behind in the
 * frame from which the receive returns.
 *
 * The actor is the task of thread 0 (tasks_only.h): the actor leaves its stack,
 * parks on the next stack, and is placed and resumed by the very code.  The deadline
 * is fired by the actor's worker, when virtual time has come, or by the monitor at
 * any time.  Other threads send to, kill and cancel the actor.  After each receive
 * the actor overwrites the stack below, where the deadline was.  In the end the
 * actor ends as a process does; messages are on the explorer's heap, so a message
 * that is left is seen.
 *
 * Complete for one receive with a deadline against a message, a kill, and the
 * monitor; for two receives, where the second receive only looks, and the deadline
 * of the first may fire late; for two messages of two senders without a deadline;
 * for a wait for another object, against a kill or a cancel; and for a receive in a
 * scope that is cancelled, with a message or a kill against the cancel.
 */
#include "model_mem.h"
#include "payload.h"
#include "tasks_only.h"

#define PROCESSES_WITH_SCOPES
#include "no_newcomers.h"

#include <sley/actor.h>
#include <sley/error.h>
#include <stdlib.h>

static struct process *const actor = &process_places[0];
static sley_pid pid;
static struct payload bodies[2]; /* plain data of messages */
static struct ledger {
	int received[2];
	int nr_received, nr_timed_out, nr_cancelled, nr_refused;
	int kill, cancel; /* return values  */
} ledger;

/* Opened by the actor; not open in most models. */
static struct sley_scope scope;
static bool scope_is_open;

/* ---- the rest of the runtime ------------------------------------------------------ */

void worker_yield(struct worker *worker)
{
	(void)worker;
	never();
}

void process_misuse(const struct process *process, const char *rule)
{
	(void)process;
	(void)rule;
	never();
	abort();
}

/* ---- the actor ------------------------------------------------------------------------ */

static void setup_with(enum tasks_flags flags)
{
	struct task_thread *own = &task_threads[0];

	tasks_setup(flags);
	processes_setup();
	memset(bodies, 0, sizeof(bodies));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	scope = (struct sley_scope){ .cause = 0 };
	scope_is_open = false;
	model_name(&scope.cause, "cause");
	actor->generation = 1;
	pid = actor->pid = pid_make(0, actor->index, 1);
	actor->inbox.word = INBOX_EMPTY;
	actor->flags = PROCESS_ACTOR;
	actor->budget = 64;
	actor->left = 64;
	actor->signals = SIGNAL_ACTOR;
	actor->home = &own->worker;
	task_build_running(&actor->task, 0, TASK_PROCESS | TASK_NO_BARRIER);
	actor->task.fiber = &own->strand;
	own->strand.task = &actor->task;
}

static void setup(void)
{
	setup_with(0);
}

static void setup_timed(void)
{
	setup_with(TASKS_TIMED);
}

/* Overwrites the frames of a receive. */
static noinline void scribble(void)
{
	char frame[1024];

	memset(frame, 0xff, sizeof(frame));
	__asm__ volatile("" : : "r"(frame) : "memory");
}

static int receive(uint64_t deadline_ns)
{
	struct sley_msg *msg;
	int err = sley_receive_until(&msg, deadline_ns);

	scribble();
	switch (err) {
	case 0:
		MODEL_CHECK(msg->kind == SLEY_MESSAGE && msg->tag < 2);
		payload_check(&bodies[msg->tag]);
		ledger.received[msg->tag]++;
		ledger.nr_received++;
		break;
	case -ETIMEDOUT:
		ledger.nr_timed_out++;
		break;
	case -ECANCELED:
		ledger.nr_cancelled++;
		/* relaxed: the cause has been seen. */
		MODEL_CHECK((actor->flags & PROCESS_ENDING) ||
			    load_relaxed(&scope.cause));
		break;
	default:
		MODEL_CHECK(!"nothing else");
	}
	return err;
}

static void end(void)
{
	mail_sort(actor);
	process_end(actor, 0);
}

static void receive_once(int id)
{
	task_begin(id);
	(void)receive(LATER);
	end();
}

static void receive_twice(int id)
{
	task_begin(id);
	(void)receive(LATER);
	(void)receive(0);
	end();
}

static void receive_for_ever(int id)
{
	task_begin(id);
	while (ledger.nr_received < 2 && !receive(UINT64_MAX))
		;
	end();
}

/* ---- the other threads -------------------------------------------------------------------- */

static void send(uint64_t tag)
{
	struct sley_msg *msg = mail_create(SLEY_MESSAGE, tag);

	payload_write(&bodies[tag]);
	ledger.nr_refused += mail_send(pid, msg) != 0;
}

static void send_first(int id)
{
	(void)id;
	send(0);
}

static void send_second(int id)
{
	(void)id;
	send(1);
}

static void send_both(int id)
{
	(void)id;
	send(0);
	send(1);
}

static void monitor(int id)
{
	(void)id;
	task_fire_timers(0);
}

static void kill_it(int id)
{
	(void)id;
	ledger.kill = sley_process_kill(pid);
}

static void cancel_it(int id)
{
	(void)id;
	ledger.cancel = sley_process_cancel(pid, -EPERM);
}

/* ---- conditions ----------------------------------------------------------------------------- */

static void is_gone(void)
{
	tasks_check();
	MODEL_CHECK(actor->inbox.word == INBOX_CLOSED);
	MODEL_CHECK(actor->pid == 0);
	for (int i = 0; i < 2; i++)
		MODEL_CHECK(ledger.received[i] <= 1);
}

static void got_or_timed_out(void)
{
	is_gone();
	MODEL_CHECK(ledger.nr_received + ledger.nr_timed_out == 1);
}

static void one_or_none(void)
{
	is_gone();
	/* The message may come too late for both receives. */
	MODEL_CHECK(ledger.nr_received + ledger.nr_timed_out == 2);
	MODEL_CHECK(ledger.nr_received <= 1);
}

static void got_both(void)
{
	is_gone();
	MODEL_CHECK(ledger.received[0] == 1 && ledger.received[1] == 1);
}

static void ended_or_timed_out(void)
{
	is_gone();
	MODEL_CHECK(ledger.nr_cancelled + ledger.nr_timed_out == 1);
	MODEL_CHECK(ledger.kill == 0 || ledger.nr_timed_out);
}

static void ended_or_got(void)
{
	is_gone();
	MODEL_CHECK(ledger.nr_cancelled + ledger.nr_received >= 1);
	MODEL_CHECK(ledger.kill == 0 || ledger.received[0]);
}

MODEL(a_message_meets_the_deadline, .setup = setup_timed,
      .threads = { receive_once, send_first }, .finish = got_or_timed_out);

MODEL(the_monitor_rings_beside_a_message, .setup = setup_timed,
      .threads = { receive_once, send_first, monitor },
      .finish = got_or_timed_out);

MODEL(a_late_alarm_meets_the_next_receive, .setup = setup_timed,
      .threads = { receive_twice, send_first, monitor }, .finish = one_or_none);

MODEL(two_messages_without_a_deadline, .setup = setup,
      .threads = { receive_for_ever, send_both }, .finish = got_both);

MODEL(two_senders_without_a_deadline, .setup = setup,
      .threads = { receive_for_ever, send_first, send_second },
      .finish = got_both);

MODEL(a_kill_meets_the_deadline, .setup = setup_timed,
      .threads = { receive_once, kill_it, monitor },
      .finish = ended_or_timed_out);

static void receive_one_for_ever(int id)
{
	task_begin(id);
	(void)receive(UINT64_MAX);
	end();
}

MODEL(a_kill_meets_a_message, .setup = setup,
      .threads = { receive_one_for_ever, send_first, kill_it },
      .finish = ended_or_got);

static void got_or_cancelled(void)
{
	is_gone();
	MODEL_CHECK(ledger.cancel == 0 || ledger.received[0]);
	MODEL_CHECK(ledger.nr_cancelled + ledger.nr_received == 1);
}

MODEL(a_cancel_meets_a_message, .setup = setup,
      .threads = { receive_one_for_ever, send_first, cancel_it },
      .finish = got_or_cancelled);

/* ---- the actor waits for another object ---------------------------------------------------- */

static struct sley_waitq q;

static void setup_elsewhere(void)
{
	setup();
	q = (struct sley_waitq){ 0 };
	model_lock_word(&q);
}

/* Only the end wakes the actor: by the flag alone, or by cutting the wait short. */
static void wait_elsewhere(int id)
{
	struct sley_waiter node;
	int err;

	task_begin(id);
	waitq_lock(&q);
	err = waitq_wait(&q, &node, UINT64_MAX, 0);
	MODEL_CHECK(err == -ECANCELED);
	/* And ever after; the order is in the inbox by now. */
	MODEL_CHECK(receive(UINT64_MAX) == -ECANCELED);
	MODEL_CHECK(actor->reason == SLEY_EKILLED);
	end();
}

MODEL(a_kill_cuts_a_wait_short, .setup = setup_elsewhere,
      .threads = { wait_elsewhere, kill_it }, .finish = is_gone);

/* ---- the actor has opened a scope, which is cancelled -------------------------------------- */

struct sley_scope *scope_innermost(const struct strand *strand)
{
	(void)strand;
	return scope_is_open ? &scope : NULL;
}

bool scope_is_cancelled(const struct sley_scope *asked)
{
	return load_acquire(&asked->cause);
}

static void setup_in_scope(void)
{
	setup();
	scope_is_open = true;
}

/* As scope_cancel() does: the cause, then the tasks that would not see the cause. */
static void cancel_scope(int id)
{
	(void)id;
	store_release(&scope.cause, -ECANCELED);
	process_poke(&actor->task);
}

static void was_cut(void)
{
	is_gone();
	MODEL_CHECK(ledger.nr_cancelled == 1);
}

static void was_cut_or_got(void)
{
	is_gone();
	MODEL_CHECK(ledger.nr_cancelled + ledger.nr_received == 1);
}

MODEL(a_scope_that_is_cancelled_cuts_a_receive_short, .setup = setup_in_scope,
      .threads = { receive_one_for_ever, cancel_scope }, .finish = was_cut);

MODEL(a_message_meets_the_cancel_of_a_scope, .setup = setup_in_scope,
      .threads = { receive_one_for_ever, send_first, cancel_scope },
      .finish = was_cut_or_got);

MODEL(a_kill_meets_the_cancel_of_a_scope, .setup = setup_in_scope,
      .threads = { receive_one_for_ever, kill_it, cancel_scope },
      .finish = was_cut);
