/* SPDX-License-Identifier: MIT */
/*
 * actor_bounded.c - src/actor/mail/bounded.c: the process is told of messages;
 * each message is taken, dropped or refused, once; a sender that gives up has sent
 * nothing; and a late sender does not get into the mailbox of the next owner.
 *
 * The owner is a thread of the model that takes and parks as a process does: by
 * lf/inbox.h, and a word that process_wake() sets.  Messages are on the explorer's
 * heap: a message that is freed twice, or never, is seen.
 *
 * Complete for an owner and one or two senders with a message each, or with a chain
 * of two, where a sender may be cancelled or late; and for an owner that ends, and
 * its successor.  The models could miss: a third waiting sender (the middle of the
 * list has unit tests), and more than one marker in a life.
 */
#include "inline_paths.h"
#include "tasks_only.h"

#include "actor/mail/bounded.c"

#define PID 5
#define NEXT_PID 9

static struct process place[2];
static struct bound bounds[2];
static uint32_t pooled; /* bounds[0] is in the pool */
static bool dry;        /* the pool is empty, and maps bounds[1] */
static uint32_t woken;
static struct sley_msg *aside; /* put there by the owner */
static struct ledger {
	int sent, gone, full, gave_up, got, freed;
} ledger;

/* ---- the rest of the engine ------------------------------------------------------ */

void *object_pool_get_slow(struct object_pool *of,
			   struct object_pool_cache *cache)
{
	(void)of;
	(void)cache;
	if (dry)
		return model_mapped(&bounds[1], sizeof(bounds[1]));
	MODEL_CHECK(xchg_acq_rel(&pooled, 0) == 1);
	return &bounds[0];
}

void object_pool_put_slow(struct object_pool *of,
			  struct object_pool_cache *cache, void *object)
{
	(void)of;
	(void)cache;
	if (object == &bounds[1])
		return;
	MODEL_CHECK(xchg_acq_rel(&pooled, 1) == 0);
}

void mail_free(struct sley_msg *msg)
{
	ledger.freed++;
	model_free(msg);
}

void mail_free_all(struct mail_queue *queue)
{
	struct sley_msg *msg;

	while ((msg = mail_take(queue)))
		mail_free(msg);
}

void process_wake(struct process *process)
{
	MODEL_CHECK(process == &place[0]);
	MODEL_CHECK(xchg_acq_rel(&woken, 1) == 0);
}

/* ---- senders ------------------------------------------------------------------------ */

static struct sley_msg *message(uint64_t tag)
{
	struct sley_msg *msg = model_alloc(sizeof(*msg));

	msg->tag = tag;
	return msg;
}

static void note(int err)
{
	ledger.sent += err == 0;
	ledger.gone += err == -ESRCH;
	ledger.full += err == -EAGAIN;
	ledger.gave_up += err == -ETIMEDOUT || err == -ECANCELED;
}

static void send(int id)
{
	note(bound_send(&place[0], PID, message((uint64_t)id), UINT64_MAX));
}

static void send_now(int id)
{
	note(bound_send(&place[0], PID, message((uint64_t)id), 0));
}

static void send_soon(int id)
{
	note(bound_send(&place[0], PID, message((uint64_t)id), LATER));
}

static void send_two(int id)
{
	struct sley_msg *first = message((uint64_t)id);
	struct sley_msg *last = message((uint64_t)id);
	int err;

	first->next = last;
	err = bound_send_batch(&place[0], PID,
			       &(struct batch){ first, last, 2 });
	note(err);
	note(err);
}

static void task_send(int id)
{
	task_begin(id);
	send(id);
}

static void task_send_soon(int id)
{
	task_begin(id);
	send_soon(id);
}

static void cancel_first(int id)
{
	task_begin(id);
	task_end_wait(0);
}

/* As sley_process_inspect() does, of a process that may be gone. */
static void inspect(int id)
{
	uint64_t dropped;

	(void)id;
	MODEL_CHECK(bound_length(&place[0], &dropped) == 0 && !dropped);
}

/* ---- the owner --------------------------------------------------------------------- */

static void own(struct process *process, sley_pid pid, uint32_t nr,
		unsigned int overflow)
{
	MODEL_CHECK(bound_create(process, nr, overflow) == 0);
	inbox_open(&process->inbox);
	store_release(&process->pid, pid);
}

static uint32_t limit = 1; /* of the first owner */

static void setup_with(enum tasks_flags flags, unsigned int overflow, int nr)
{
	tasks_setup(flags);
	memset(place, 0, sizeof(place));
	memset(bounds, 0, sizeof(bounds));
	pooled = 1;
	dry = false;
	woken = 0;
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	model_lock_word(&bounds[0].q.word);
	model_lock_word(&bounds[1].q.word);
	model_name(&bounds[0].q.word, "bound");
	model_name(&place[0].inbox.word, "inbox");
	model_name(&place[0].pid, "pid");
	model_name(&woken, "woken");
	own(&place[0], PID, limit, overflow);
	for (int i = 0; i < nr; i++)
		send(-1);
}

static void setup(void)
{
	setup_with(0, SLEY_BLOCK, 0);
}

static void setup_full(void)
{
	setup_with(0, SLEY_BLOCK, 1);
}

static void setup_full_timed(void)
{
	setup_with(TASKS_TIMED, SLEY_BLOCK, 1);
}

static void setup_dropping(void)
{
	setup_with(0, SLEY_DROP_OLDEST, 0);
}

static void setup_two(void)
{
	limit = 2;
	setup_with(0, SLEY_BLOCK, 0);
	limit = 1;
}

static void setup_two_dropping(void)
{
	limit = 2;
	setup_with(0, SLEY_DROP_OLDEST, 1);
	limit = 1;
}

/* The owner has parked: the sender of the first message wakes it. */
static void setup_parked(void)
{
	setup();
	MODEL_CHECK(inbox_rest(&place[0].inbox, NULL));
}

/* The process runs: takes the messages in its inbox. */
static void sort(void)
{
	struct push_node *node = inbox_take(&place[0].inbox, NULL);

	if (!node)
		return;
	MODEL_CHECK(!node->next && (void *)node == &bounds[0].marker);
	MODEL_CHECK(bounds[0].marker.data == (void *)PID);
	place[0].flags |= PROCESS_NEWS;
}

static void stay_parked(void)
{
	while (!xchg_acq_rel(&woken, 0))
		spin_hint(&woken);
}

static void park(void)
{
	if (inbox_rest(&place[0].inbox, NULL))
		stay_parked();
}

static void take(struct sley_msg *msg)
{
	ledger.got++;
	model_free(msg);
}

static void receive(int nr)
{
	for (;;) {
		struct sley_msg *msg;

		sort();
		while ((place[0].flags & PROCESS_NEWS) &&
		       (msg = bound_take(&place[0]))) {
			take(msg);
			if (--nr == 0)
				return;
		}
		park();
	}
}

static void receive_one(int id)
{
	(void)id;
	receive(1);
}

static void sleep_and_receive_one(int id)
{
	stay_parked();
	receive_one(id);
}

static void setup_aside(void)
{
	uint32_t owed;

	setup_with(0, SLEY_DROP_OLDEST, 1);
	sort();
	aside = bound_take_aside(&place[0], &owed);
	MODEL_CHECK(!bound_take_aside(&place[0], &owed) && !owed);
}

static void receive_two(int id)
{
	(void)id;
	receive(2);
}

/* A selective receive: a message is put aside, and delivered on request. */
static void receive_second(int id)
{
	struct sley_msg *first;
	uint32_t owed;

	(void)id;
	sort();
	first = bound_take_aside(&place[0], &owed);
	MODEL_CHECK(first && !owed);
	MODEL_CHECK(!bound_take_aside(&place[0], &owed) && !owed);
	bound_delivered(&place[0], first);
	take(first);
	receive(1);
}

/* The message that was put aside is the oldest: a sender makes it go. */
static void receive_newest(int id)
{
	struct sley_msg *msg;
	uint32_t owed;

	(void)id;
	for (;;) {
		sort();
		msg = bound_take_aside(&place[0], &owed);
		if (msg)
			break;
		MODEL_CHECK(!owed);
		park();
	}
	MODEL_CHECK(owed == 1);
	mail_free(aside);
	bound_delivered(&place[0], msg);
	take(msg);
}

/* The message is delivered just in time, perhaps. */
static void deliver_aside(int id)
{
	(void)id;
	bound_delivered(&place[0], aside);
	take(aside);
	receive(1);
}

/* As process_end() does. */
static void end(int id)
{
	(void)id;
	store_relaxed(&place[0].pid, 0);
	(void)inbox_close(&place[0].inbox, NULL);
	bound_close(&place[0]);
}

/* The place, and the bound, have a new tenant. */
static void end_and_begin(int id)
{
	end(id);
	own(&place[0], NEXT_PID, 1, SLEY_BLOCK);
}

/* The place has a new tenant, whose bound lies in newly mapped memory. */
static void end_and_begin_with_another(int id)
{
	end(id);
	dry = true;
	own(&place[0], NEXT_PID, 1, SLEY_BLOCK);
}

static void end_and_begin_elsewhere(int id)
{
	end(id);
	own(&place[1], NEXT_PID, 1, SLEY_BLOCK);
}

/* ---- conditions at the end ------------------------------------------------------------- */

static void empty(struct process *process)
{
	MODEL_CHECK(!bounds[0].q.first && !(bounds[0].q.word & WAITQ_LOCK));
	if (process->bound)
		bound_close(process);
	tasks_check();
	MODEL_CHECK(pooled);
}

static void all_got(void)
{
	MODEL_CHECK(ledger.got == ledger.sent);
	empty(&place[0]);
	MODEL_CHECK(ledger.freed == ledger.gave_up);
}

static void got_or_there(void)
{
	uint64_t dropped;

	MODEL_CHECK(ledger.sent + ledger.gave_up == 2);
	MODEL_CHECK(ledger.got + (int)bound_length(&place[0], &dropped) ==
		    ledger.sent);
	MODEL_CHECK(!dropped);
	empty(&place[0]);
	MODEL_CHECK(ledger.got + ledger.freed == 2);
}

static void both_were_refused(void)
{
	uint64_t dropped;

	MODEL_CHECK(bound_length(&place[0], &dropped) == 1 && dropped == 2);
	MODEL_CHECK(ledger.full == 2);
	empty(&place[0]);
	MODEL_CHECK(ledger.freed == 3);
}

/* Of one and two, in a mailbox for two. */
static void either_fits(void)
{
	uint64_t dropped;

	MODEL_CHECK(ledger.sent + ledger.full == 3);
	MODEL_CHECK(ledger.sent == 1 || ledger.sent == 2);
	MODEL_CHECK((int)bound_length(&place[0], &dropped) == ledger.sent);
	MODEL_CHECK((int)dropped == ledger.full);
	MODEL_CHECK(ledger.freed == ledger.full);
	empty(&place[0]);
}

static void last_two_are_there(void)
{
	uint64_t dropped;

	MODEL_CHECK(bound_length(&place[0], &dropped) == 2 && dropped == 2);
	MODEL_CHECK(ledger.sent == 4 && ledger.freed == 2);
	empty(&place[0]);
}

static void newest_is_there(void)
{
	uint64_t dropped;

	MODEL_CHECK(bound_length(&place[0], &dropped) == 1 && dropped == 1);
	MODEL_CHECK(ledger.sent == 2 && ledger.freed == 1);
	empty(&place[0]);
}

static void oldest_was_dropped(void)
{
	uint64_t dropped;

	MODEL_CHECK(!bound_length(&place[0], &dropped) && dropped == 1);
	MODEL_CHECK(ledger.sent == 2 && ledger.got == 1 && ledger.freed == 1);
	empty(&place[0]);
}

static void both_got(void)
{
	uint64_t dropped;

	MODEL_CHECK(!bound_length(&place[0], &dropped));
	MODEL_CHECK(ledger.sent == 2);
	MODEL_CHECK(ledger.got + (int)dropped == 2);
	MODEL_CHECK(ledger.freed == (int)dropped);
	MODEL_CHECK(!bounds[0].aside && !bounds[0].owed);
	empty(&place[0]);
}

/* Sent, and freed with the mailbox; or refused, and freed. */
static void nothing_left(void)
{
	empty(&place[0]);
	MODEL_CHECK(ledger.freed == ledger.sent + ledger.gone + ledger.gave_up);
}

static void nothing_for(struct process *next)
{
	uint64_t dropped;

	MODEL_CHECK(bound_length(next, &dropped) == 0 && !dropped);
	MODEL_CHECK(ledger.freed == ledger.sent + ledger.gone + ledger.gave_up);
	MODEL_CHECK(!next->bound->told && next->bound->owner == next);
	empty(next);
}

static void nothing_for_the_next(void)
{
	nothing_for(&place[0]);
}

static void nothing_for_another(void)
{
	nothing_for(&place[1]);
}

/* ---- one sender -------------------------------------------------------------------------- */

MODEL(the_owner_is_told, .setup = setup, .threads = { send, receive_one },
      .finish = all_got);
MODEL(the_owner_is_woken_once, .setup = setup_parked,
      .threads = { send, sleep_and_receive_one }, .finish = all_got);
MODEL(two_senders_and_room_for_one, .setup = setup,
      .threads = { task_send, task_send, receive_two }, .finish = all_got);
MODEL(a_message_that_was_put_aside_still_counts, .setup = setup_full,
      .threads = { task_send, receive_second }, .finish = all_got);
MODEL(what_was_put_aside_is_dropped_by_its_owner, .setup = setup_aside,
      .threads = { send, receive_newest }, .finish = oldest_was_dropped);
MODEL(what_was_put_aside_is_delivered_or_dropped, .setup = setup_aside,
      .threads = { send, deliver_aside }, .finish = both_got);
MODEL(one_drops_the_other, .setup = setup_dropping, .threads = { send, send },
      .finish = newest_is_there);

MODEL(two_are_refused, .setup = setup_full, .threads = { send_now, send_now },
      .finish = both_were_refused);

MODEL(two_as_one_or_one, .setup = setup_two, .threads = { send_two, send_now },
      .finish = either_fits);
MODEL(two_as_one_are_got, .setup = setup_two,
      .threads = { send_two, receive_two }, .finish = all_got);
MODEL(two_as_one_drop_the_oldest, .setup = setup_two_dropping,
      .threads = { send_two, send }, .finish = last_two_are_there);

/* ---- giving up ---------------------------------------------------------------------------- */

MODEL(room_or_a_cancel, .setup = setup_full,
      .threads = { task_send, receive_one, cancel_first },
      .finish = got_or_there);
MODEL(room_or_the_deadline, .setup = setup_full_timed,
      .threads = { task_send_soon, receive_one }, .finish = got_or_there);
MODEL(room_or_the_deadline_of_a_thread, .setup = setup_full,
      .threads = { send_soon, receive_one }, .finish = got_or_there);

/* ---- the end -------------------------------------------------------------------------------- */

MODEL(the_owner_ends, .setup = setup, .threads = { send, end },
      .finish = nothing_left);
MODEL(the_owner_ends_and_two_come_as_one, .setup = setup_two,
      .threads = { send_two, end }, .finish = nothing_left);
MODEL(the_owner_ends_while_one_waits, .setup = setup_full,
      .threads = { task_send, end }, .finish = nothing_left);
MODEL(a_late_sender_and_the_next_tenant, .setup = setup,
      .threads = { send, end_and_begin }, .finish = nothing_for_the_next);
MODEL(a_late_sender_and_a_new_bound, .setup = setup,
      .threads = { send, end_and_begin_with_another },
      .finish = nothing_for_the_next);
MODEL(a_late_look_at_a_new_bound, .setup = setup,
      .threads = { inspect, end_and_begin_with_another },
      .finish = nothing_for_the_next);
MODEL(a_late_sender_and_another_process, .setup = setup,
      .threads = { send, end_and_begin_elsewhere },
      .finish = nothing_for_another);
MODEL(one_that_waits_and_another_process, .setup = setup_full_timed,
      .threads = { task_send_soon, end_and_begin_elsewhere },
      .finish = nothing_for_another);
