/* SPDX-License-Identifier: MIT */
/*
 * actor_call.c - src/actor/mail/call.c: a call has one outcome: the reply, the end
 * of the called process, the deadline or a cancel; the replier knows whether the
 * reply was the outcome; no message is lost or freed twice; and a late reply does
 * not reach the next call in the same place.
 *
 * The caller is a task or a plain thread.  The called process is two threads of the
 * model: one thread has the request, and replies; the other thread lets the process
 * end.  The call is told of the end by the lines of src/actor/relation/call_watch.c.
 * The mailbox in between is one word.
 *
 * A waiter for the end of a process uses the same kind of port, and gets the reason
 * and the time; the model sees that both are written before they are read.
 *
 * Complete for a caller and one or two of: a replier, a second replier, the end, a
 * cancel, the deadline; and for a waiter and one or two of the end, a cancel, the
 * deadline.  The models could miss: two callers (who share only the table), and the
 * next use of a place other than as a port.
 */
#include "inline_paths.h"
#include "tasks_only.h"

#include "actor/mail/call.c"
#include "actor/relation/call_watch.c"

#define PORT 2   /* the place */
#define SERVER 3 /* the place, and the pid */

void *sley__process_table[TABLE_CHUNKS];

static struct process places[SERVER + 1];
static struct relations relations; /* of the server                   */
static bool ended;                 /* under the lock of the server    */
static struct sley_msg *mailbox;   /* a word: the request */
static uint32_t requested;         /* there was a request */
static sley_pid first_port;
static int payload[MODEL_THREADS_MAX];
static struct ledger {
	int got, gave_up, ended, refused; /* calls                */
	int nobody;                       /* to watch             */
	int replied, late;                /* results of repliers  */
	int messages;                     /* that are not freed   */
	int in_use;                       /* places               */
} ledger;

/* ---- the rest of the engine ------------------------------------------------------ */

struct process *process_table_get(void)
{
	MODEL_CHECK(ledger.in_use++ == 0);
	places[PORT].generation++;
	return &places[PORT];
}

void process_table_put(struct process *process)
{
	MODEL_CHECK(process == &places[PORT]);
	ledger.in_use--;
}

sley_pid sley_self(void)
{
	return SLEY_NO_PID;
}

int mail_create_copy(struct sley_msg **out, unsigned int kind, uint64_t tag,
		     const void *data, size_t size)
{
	(void)data;
	(void)size;
	*out = model_alloc(sizeof(**out));
	(*out)->kind = (uint8_t)kind;
	(*out)->tag = tag;
	ledger.messages++;
	return 0;
}

void mail_free(struct sley_msg *msg)
{
	ledger.messages--;
	model_free(msg);
}

void mail_deliver_outside(struct sley_msg *msg)
{
	(void)msg;
	never();
}

int send_message(sley_pid to, struct sley_msg *msg, uint64_t deadline_ns)
{
	struct sley_msg *old;
	bool too_late;

	(void)deadline_ns;
	if (to & PID_PORT) {
		struct process *port = process_find(to);

		if (port)
			return port_deliver(port, to, msg);
		mail_free(msg);
		return -ESRCH;
	}
	MODEL_CHECK(to == SERVER);
	spin_lock(&places[SERVER].lock);
	too_late = ended;
	spin_unlock(&places[SERVER].lock);
	if (too_late) {
		mail_free(msg);
		return -ESRCH;
	}
	if (!first_port)
		first_port = msg->from;
	old = xchg_acq_rel(&mailbox, msg);
	if (old)
		mail_free(old);
	store_release(&requested, 1);
	return 0;
}

int relations_lock(sley_pid pid, struct process **process)
{
	MODEL_CHECK(pid == SERVER);
	*process = &places[SERVER];
	spin_lock(&places[SERVER].lock);
	if (!ended)
		return 0;
	spin_unlock(&places[SERVER].lock);
	ledger.nobody++;
	return -ESRCH;
}

void process_unlock(struct process *process)
{
	spin_unlock(&process->lock);
}

/* The process is not joinable; actor_exit_info.c models this function. */
void exit_info_copy(struct exit_info *to, const struct exit_info *from)
{
	*to = *from;
}

void exit_info_drop(struct exit_info *ending)
{
	(void)ending;
	never();
}

bool exit_info_collect(sley_pid pid, struct exit_info *ending)
{
	(void)ending;
	MODEL_CHECK(pid == SERVER);
	return false;
}

/* ---- the scene -------------------------------------------------------------------- */

static void setup_with(enum tasks_flags flags)
{
	tasks_setup(flags);
	memset(places, 0, sizeof(places));
	places[PORT].index = PORT;
	sley__process_table[0] = places;
	places[SERVER].pid = SERVER;
	list_init(&relations.watches);
	places[SERVER].relations = &relations;
	ended = false;
	mailbox = NULL;
	requested = 0;
	first_port = 0;
	memset(payload, 0, sizeof(payload));
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	model_lock_word(&places[PORT].lock.word);
	model_lock_word(&places[SERVER].lock.word);
	model_name(&places[PORT].lock.word, "port.lock");
	model_name(&places[SERVER].lock.word, "server.lock");
	model_name(&places[PORT].pid, "port.pid");
	model_name(&mailbox, "mailbox");
	model_name(&requested, "requested");
}

static void setup(void)
{
	setup_with(0);
}

static void setup_timed(void)
{
	setup_with(TASKS_TIMED);
}

static void setup_barrier(void)
{
	setup_with(TASKS_BARRIER);
}

/* ---- the caller --------------------------------------------------------------------- */

static void call_it(uint64_t deadline_ns)
{
	struct sley_msg *reply = NULL;
	int err = sley_call_until(SERVER, 1, NULL, 0, &reply, deadline_ns);

	MODEL_CHECK((err == 0) == (reply != NULL));
	ledger.got += err == 0;
	ledger.ended += err == -EIO;
	ledger.refused += err == -ESRCH;
	ledger.gave_up += err == -ETIMEDOUT || err == -ECANCELED;
	if (!reply)
		return;
	/* The tag is the thread that has replied. */
	MODEL_CHECK(payload[reply->tag] == 7);
	mail_free(reply);
}

static void call(int id)
{
	(void)id;
	call_it(UINT64_MAX);
}

static void call_soon(int id)
{
	(void)id;
	call_it(LATER);
}

static void task_call(int id)
{
	task_begin(id);
	call_it(UINT64_MAX);
}

static void task_call_soon(int id)
{
	task_begin(id);
	call_it(LATER);
}

static void task_call_twice(int id)
{
	task_begin(id);
	call_it(LATER);
	call_it(LATER);
}

/* ---- a caller that waits later ------------------------------------------------------- */

static void count_outcome(int err, struct sley_msg *reply)
{
	MODEL_CHECK((err == 0) == (reply != NULL));
	ledger.got += err == 0;
	ledger.ended += err == -EIO;
	ledger.refused += err == -ESRCH;
	ledger.gave_up += err == -ETIMEDOUT || err == -ECANCELED;
	if (!reply)
		return;
	MODEL_CHECK(payload[reply->tag] == 7);
	mail_free(reply);
}

static void start_and_finish(uint64_t deadline_ns)
{
	struct sley_pending_call *pending = model_alloc(sizeof(*pending));
	struct sley_msg *reply = NULL;
	int err = sley_call_start(pending, SERVER, 1, NULL, 0);

	if (!err)
		err = sley_call_finish_until(pending, &reply, deadline_ns);
	/* Late, cancelled, or over: a second wait does no harm. */
	if (err == -ETIMEDOUT || err == -ECANCELED)
		err = sley_call_finish(pending, &reply);
	if (err == -ECANCELED)
		sley_call_cancel(pending);
	model_free(pending); /* the end of the process must not look at it */
	count_outcome(err, reply);
}

static void thread_future(int id)
{
	(void)id;
	start_and_finish(LATER);
}

static void task_future(int id)
{
	task_begin(id);
	start_and_finish(UINT64_MAX);
}

static void task_future_soon(int id)
{
	task_begin(id);
	start_and_finish(LATER);
}

/* Looks once for the reply, and then drops the call.  A reply in time is freed. */
static void thread_drops(int id)
{
	struct sley_pending_call pending;
	struct sley_msg *reply = NULL;
	int err = sley_call_start(&pending, SERVER, 1, NULL, 0);

	(void)id;
	if (!err && sley_call_is_over(&pending)) {
		err = sley_call_finish(&pending, &reply);
	} else if (!err) {
		sley_call_cancel(&pending);
		err = -ECANCELED;
	}
	count_outcome(err, reply);
}

/* ---- a waiter for the end ------------------------------------------------------------ */

static void await_it(uint64_t deadline_ns)
{
	struct sley_process_end how = { 0 };
	int err = sley_process_wait_until(SERVER, &how, deadline_ns);

	MODEL_CHECK(err || (how.reason == -EIO && how.time_ns == 7));
	ledger.ended += err == 0;
	ledger.refused += err == -ESRCH;
	ledger.gave_up += err == -ETIMEDOUT || err == -ECANCELED;
}

static void thread_wait(int id)
{
	(void)id;
	await_it(UINT64_MAX);
}

static void wait_soon(int id)
{
	(void)id;
	await_it(LATER);
}

static void task_wait(int id)
{
	task_begin(id);
	await_it(UINT64_MAX);
}

static void task_wait_soon(int id)
{
	task_begin(id);
	await_it(LATER);
}

/* ---- the called process -------------------------------------------------------------- */

static void reply_to(sley_pid port, int id)
{
	const struct sley_msg request = { .from = port };
	int err;

	payload[id] = 7;
	err = sley_reply(&request, (uint64_t)id, NULL, 0);
	MODEL_CHECK(err == 0 || err == -ESRCH);
	ledger.replied += err == 0;
	ledger.late += err != 0;
}

static void await_request(void)
{
	while (!load_acquire(&requested))
		spin_hint(&requested);
}

/* A caller that is cancelled earlier sends no request. */
static void cancel_first(int id)
{
	await_request();
	task_begin(id);
	task_end_wait(0);
}

/* Any number of threads may have the request: only the sender in it counts. */
static void reply(int id)
{
	await_request();
	reply_to(first_port, id);
}

static void task_reply(int id)
{
	task_begin(id);
	reply(id);
}

/* Ends with -EIO; a later caller finds no process. */
static void end(int id)
{
	(void)id;
	spin_lock(&places[SERVER].lock);
	ended = true;
	spin_unlock(&places[SERVER].lock);
	watches_tell(&relations, SERVER,
		     &(struct exit_info){ .reason = -EIO, .time_ns = 7 });
}

static void task_end(int id)
{
	task_begin(id);
	end(id);
}

/* ---- conditions at the end -------------------------------------------------------------- */

static int outcomes(void)
{
	return ledger.got + ledger.ended + ledger.refused + ledger.gave_up;
}

static void settled(int calls)
{
	struct sley_msg *rest = mailbox;

	MODEL_CHECK(outcomes() == calls);
	MODEL_CHECK(ledger.got == ledger.replied);
	/* A caller that watched the process is told the reason of its end. */
	MODEL_CHECK(ledger.refused == ledger.nobody);
	MODEL_CHECK(!ledger.in_use && !places[PORT].pid &&
		    list_empty(&relations.watches));
	if (rest)
		mail_free(rest);
	MODEL_CHECK(ledger.messages == 0);
	tasks_check();
}

static void one_outcome(void)
{
	settled(1);
}

static void answered(void)
{
	MODEL_CHECK(ledger.got == 1);
	settled(1);
}

static void two_outcomes(void)
{
	settled(2);
}

/* ---- plain threads ------------------------------------------------------------------------ */

MODEL(a_thread_gets_the_reply, .setup = setup, .threads = { call, reply },
      .finish = answered);
MODEL(a_thread_gets_one_of_two_replies, .setup = setup,
      .threads = { call, reply, reply }, .finish = answered);
MODEL(a_thread_is_told_of_the_end, .setup = setup, .threads = { call, end },
      .finish = one_outcome);
MODEL(a_thread_gets_the_reply_or_is_late, .setup = setup,
      .threads = { call_soon, reply }, .finish = one_outcome);
MODEL(a_thread_is_told_of_the_end_or_is_late, .setup = setup,
      .threads = { call_soon, end }, .finish = one_outcome);

/* ---- tasks ---------------------------------------------------------------------------------- */

/* If the process ends first, no request is sent. */
static void end_after_request(int id)
{
	await_request();
	task_end(id);
}

MODEL(a_task_gets_the_reply, .setup = setup,
      .threads = { task_call, task_reply }, .finish = answered);
MODEL(a_task_gets_the_reply_of_a_thread, .setup = setup,
      .threads = { task_call, reply }, .finish = answered);
MODEL(a_task_gets_the_reply_or_is_told_of_the_end, .setup = setup,
      .threads = { task_call, task_reply, end_after_request },
      .finish = one_outcome);
MODEL(a_task_gets_the_reply_or_is_cancelled, .setup = setup,
      .threads = { task_call, task_reply, cancel_first },
      .finish = one_outcome);
MODEL(a_task_gets_the_reply_or_is_cancelled_by_membarrier,
      .setup = setup_barrier,
      .threads = { task_call, task_reply, cancel_first },
      .finish = one_outcome);
MODEL(a_task_gets_the_reply_or_is_late, .setup = setup_timed,
      .threads = { task_call_soon, task_reply }, .finish = one_outcome);
MODEL(a_task_is_told_of_the_end_or_is_late, .setup = setup_timed,
      .threads = { task_call_soon, task_end }, .finish = one_outcome);
MODEL(a_late_reply_is_not_for_the_next_call, .setup = setup_timed,
      .threads = { task_call_twice, task_reply }, .finish = two_outcomes);

/* ---- waiting for the end -------------------------------------------------------------------- */

static void cancel_at_any_time(int id)
{
	task_begin(id);
	task_end_wait(0);
}

MODEL(a_thread_waits_for_the_end, .setup = setup,
      .threads = { thread_wait, end }, .finish = one_outcome);
MODEL(a_thread_waits_for_the_end_or_is_late, .setup = setup,
      .threads = { wait_soon, end }, .finish = one_outcome);
MODEL(a_task_waits_for_the_end, .setup = setup,
      .threads = { task_wait, task_end }, .finish = one_outcome);
MODEL(a_task_waits_for_the_end_or_is_cancelled, .setup = setup,
      .threads = { task_wait, task_end, cancel_at_any_time },
      .finish = one_outcome);
MODEL(a_task_waits_for_the_end_or_is_late, .setup = setup_timed,
      .threads = { task_wait_soon, task_end }, .finish = one_outcome);

/* ---- calls whose reply is awaited later ------------------------------------------------------ */

static void dropped(void)
{
	struct sley_msg *rest = mailbox;

	MODEL_CHECK(outcomes() == 1);
	MODEL_CHECK(ledger.got <= ledger.replied);
	MODEL_CHECK(!ledger.in_use && !places[PORT].pid &&
		    list_empty(&relations.watches));
	if (rest)
		mail_free(rest);
	MODEL_CHECK(ledger.messages == 0);
	tasks_check();
}

MODEL(a_thread_waits_twice_for_a_reply, .setup = setup,
      .threads = { thread_future, reply }, .finish = answered);
MODEL(a_task_waits_for_a_started_call_or_is_told_of_the_end, .setup = setup,
      .threads = { task_future, task_reply, end_after_request },
      .finish = one_outcome);
MODEL(a_thread_looks_and_drops_it, .setup = setup,
      .threads = { thread_drops, reply }, .finish = dropped);
MODEL(a_task_waits_twice_for_a_reply, .setup = setup_timed,
      .threads = { task_future_soon, task_reply }, .finish = answered);
MODEL(a_task_waits_for_a_started_call_or_is_cancelled, .setup = setup,
      .threads = { task_future, task_reply, cancel_first }, .finish = dropped);
