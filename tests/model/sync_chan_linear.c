/* SPDX-License-Identifier: MIT */
/*
 * sync_chan_linear.c - a channel of src/sync/chan.c with room for one value or
 * two is a bounded queue that can be closed.
 *
 *   send      -EPIPE on a closed channel; else the value goes in, if there is
 *             room; else the sender waits, or gets -EAGAIN if it may not wait
 *   recv      the oldest value; -EPIPE on a closed channel without a value; else
 *             the receiver waits, or gets -EAGAIN if it may not wait
 *
 * A value handed from a sender straight to a waiting receiver is in the queue for no
 * time; the value of a waiting sender goes in as soon as there is room.  All
 * operations are under one lock, so the causal order is the order of the lock.
 *
 * Complete, for up to seven operations of three threads.  Not seen: several threads
 * that wait on one side, and fibers; fibers park in a different way, which is in
 * core_task_state.c and core_waitq.c.
 */
#include "linear.h"
#include "threads_only.h"

#include "sync/chan.h"

#include <errno.h>
#include <string.h>

#define ROOM_MAX 2

enum { SEND, TRY_SEND, RECV, TRY_RECV, CLOSE };

static const char *const names[] = { "send", "try_send", "recv", "try_recv",
				     "close" };

static struct sley_chan chan;
static int buffer[ROOM_MAX];

/* ---- the specification ----------------------------------------------------- */

struct queue {
	int nr;
	int value[ROOM_MAX];
	bool closed;
};

static bool queue_send(struct queue *q, const struct linear_op *op)
{
	if (q->closed)
		return op->result == -EPIPE;
	if (q->nr == (int)chan.capacity)
		return op->code == TRY_SEND && op->result == -EAGAIN;
	q->value[q->nr++] = (int)op->arg;
	return op->result == 0;
}

static bool queue_recv(struct queue *q, const struct linear_op *op)
{
	int value = q->value[0];

	if (q->nr == 0 && q->closed)
		return op->result == -EPIPE;
	if (q->nr == 0)
		return op->code == TRY_RECV && op->result == -EAGAIN;
	q->value[0] = q->value[1];
	q->value[1] = 0;
	q->nr--;
	return op->result == value;
}

static bool queue_apply(void *state, const struct linear_op *op)
{
	struct queue *q = state;

	switch (op->code) {
	case SEND:
	case TRY_SEND:
		return queue_send(q, op);
	case RECV:
	case TRY_RECV:
		return queue_recv(q, op);
	default:
		q->closed = true;
		return true;
	}
}

static void is_queue(void)
{
	static const struct linear_spec spec = {
		.names = names,
		.state_size = sizeof(struct queue),
		.apply = queue_apply,
	};

	linear_check(&spec);
	MODEL_CHECK(!chan.recv.first && !chan.send.first);
}

/* ---- the channel ----------------------------------------------------------- */

static void setup(enum linear_order order, size_t capacity)
{
	linear_start(order);
	memset(&chan, 0, sizeof(chan));
	memset(buffer, 0, sizeof(buffer));
	chan.value_size = sizeof(buffer[0]);
	chan.capacity = chan.room = capacity;
	chan.buffer = (char *)buffer;
	model_lock_word(&chan.recv.word);
	model_name(&chan.recv.word, "chan");
}

static void setup_one(void)
{
	setup(LINEAR_CAUSAL, 1);
}

static void setup_two(void)
{
	setup(LINEAR_CAUSAL, 2);
}

static void setup_one_in_real_time(void)
{
	setup(LINEAR_REAL_TIME, 1);
}

static void setup_two_in_real_time(void)
{
	setup(LINEAR_REAL_TIME, 2);
}

static void put(int code, int value)
{
	struct linear_op *op = linear_call(code, value);

	linear_return(op, code == SEND ? sley_chan_send(&chan, &value)
				       : sley_chan_try_send(&chan, &value));
}

static void get(int code)
{
	struct linear_op *op = linear_call(code, 0);
	int value = 0;
	int err = code == RECV ? sley_chan_recv(&chan, &value)
			       : sley_chan_try_recv(&chan, &value);

	linear_return(op, err ? err : value);
}

static void close_it(void)
{
	struct linear_op *op = linear_call(CLOSE, 0);

	sley_chan_close(&chan);
	linear_return(op, 0);
}

/* ---- without waiting ------------------------------------------------------- */

static void tries_to_send(int id)
{
	put(TRY_SEND, 10 * id + 1);
	put(TRY_SEND, 10 * id + 2);
}

static void tries_to_receive(int id)
{
	(void)id;
	get(TRY_RECV);
	get(TRY_RECV);
}

static void tries_both(int id)
{
	put(TRY_SEND, 10 * id + 1);
	get(TRY_RECV);
}

static void tries_and_closes(int id)
{
	(void)id;
	get(TRY_RECV);
	close_it();
	get(TRY_RECV);
}

MODEL(tries_on_one_slot, .setup = setup_one,
      .threads = { tries_to_send, tries_both, tries_to_receive },
      .finish = is_queue);

MODEL(tries_on_two_slots, .setup = setup_two,
      .threads = { tries_to_send, tries_both, tries_to_receive },
      .finish = is_queue);

MODEL(tries_and_a_close_on_one_slot, .setup = setup_one,
      .threads = { tries_to_send, tries_both, tries_and_closes },
      .finish = is_queue);

MODEL(tries_and_a_close_on_two_slots, .setup = setup_two,
      .threads = { tries_to_send, tries_both, tries_and_closes },
      .finish = is_queue);

MODEL(tries_and_a_close_on_one_slot_in_real_time,
      .setup = setup_one_in_real_time,
      .threads = { tries_to_send, tries_and_closes }, .finish = is_queue);

MODEL(tries_and_a_close_on_two_slots_in_real_time,
      .setup = setup_two_in_real_time,
      .threads = { tries_to_send, tries_and_closes }, .finish = is_queue);

/* ---- with waiting ---------------------------------------------------------- */

static void sends(int id)
{
	put(SEND, 10 * id + 1);
	put(SEND, 10 * id + 2);
}

static void tries_once(int id)
{
	put(TRY_SEND, 10 * id + 1);
}

static void receives(int id)
{
	(void)id;
	get(RECV);
	get(RECV);
}

static void receives_and_closes(int id)
{
	(void)id;
	get(RECV);
	close_it();
	get(RECV);
}

MODEL(a_sender_and_a_receiver_wait_on_one_slot, .setup = setup_one,
      .threads = { sends, receives, tries_once }, .finish = is_queue);

MODEL(a_sender_waits_and_a_close_on_one_slot, .setup = setup_one,
      .threads = { sends, receives_and_closes }, .finish = is_queue);

MODEL(a_sender_waits_and_a_close_on_one_slot_in_real_time,
      .setup = setup_one_in_real_time,
      .threads = { sends, receives_and_closes }, .finish = is_queue);
