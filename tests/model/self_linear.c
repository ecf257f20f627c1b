/* SPDX-License-Identifier: MIT */
/*
 * self_linear.c - histories that have no explanation are found, in the order
 * they claim to keep, and those that have one pass.
 */
#include "linear.h"

#include "base/atomic.h"

/* ---- a queue -------------------------------------------------------------- */

#define ROOM 8

enum { ENQUEUE, DEQUEUE };

static const char *const queue_names[] = { "enqueue", "dequeue" };

struct queue {
	int8_t value[ROOM];
	int8_t first, nr;
};

static bool queue_apply(void *state, const struct linear_op *op)
{
	struct queue *q = state;

	if (op->code == ENQUEUE) {
		q->value[(q->first + q->nr++) % ROOM] = (int8_t)op->arg;
		return true;
	}
	if (q->nr == 0)
		return op->result == 0;
	q->nr--;
	return q->value[q->first++ % ROOM] == op->result;
}

static const struct linear_spec queue_spec = {
	.names = queue_names,
	.state_size = sizeof(struct queue),
	.apply = queue_apply,
};

static uint32_t lock;
static int values[ROOM], first, last;

static void lock_queue(void)
{
	while (xchg_acquire(&lock, 1))
		spin_hint(&lock);
}

static void unlock_queue(void)
{
	store_release(&lock, 0);
}

static void enqueue(int value)
{
	struct linear_op *op = linear_call(ENQUEUE, value);

	lock_queue();
	values[last++ % ROOM] = value;
	unlock_queue();
	linear_return(op, 0);
}

static void dequeue(bool oldest)
{
	struct linear_op *op = linear_call(DEQUEUE, 0);
	int value = 0;

	lock_queue();
	if (first != last)
		value = oldest ? values[first++ % ROOM] : values[--last % ROOM];
	unlock_queue();
	linear_return(op, value);
}

static void setup_queue(enum linear_order order)
{
	linear_start(order);
	lock = 0;
	first = last = 0;
	model_lock_word(&lock);
}

static void setup_causal(void)
{
	setup_queue(LINEAR_CAUSAL);
}

static void setup_real_time(void)
{
	setup_queue(LINEAR_REAL_TIME);
}

static void in_and_out(int id)
{
	enqueue(id + 1);
	dequeue(true);
}

static void in_and_out_wrong(int id)
{
	enqueue(id + 1);
	dequeue(false);
}

static void is_queue(void)
{
	linear_check(&queue_spec);
}

MODEL(a_queue_is_one, .setup = setup_causal,
      .threads = { in_and_out, in_and_out, in_and_out }, .finish = is_queue);

MODEL(a_queue_is_one_in_real_time, .setup = setup_real_time,
      .threads = { in_and_out, in_and_out }, .finish = is_queue);

MODEL(a_stack_is_no_queue, .modes = MODEL_SC | MODEL_TSO, .setup = setup_causal,
      .threads = { in_and_out_wrong, in_and_out_wrong }, .finish = is_queue,
      .expect = MODEL_ASSERTION);

/* As long as histories may be, and all overlaps. */
static void in_and_out_twice(int id)
{
	in_and_out(id);
	in_and_out(id);
}

MODEL(a_long_history_has_an_order, .setup = setup_real_time,
      .threads = { in_and_out_twice, in_and_out_twice, in_and_out_twice,
		   in_and_out_twice },
      .finish = is_queue, .random = 300);

static void in_and_out_twice_wrong(int id)
{
	in_and_out_wrong(id);
	in_and_out_wrong(id);
}

MODEL(a_long_history_has_none, .setup = setup_real_time,
      .threads = { in_and_out_twice_wrong, in_and_out_twice_wrong,
		   in_and_out_twice_wrong, in_and_out_twice_wrong },
      .finish = is_queue, .random = 300, .expect = MODEL_ASSERTION);

/* ---- a counter ------------------------------------------------------------ */

static const char *const counter_names[] = { "count" };

static bool counter_apply(void *state, const struct linear_op *op)
{
	int *count = state;

	return (*count)++ == op->result;
}

static const struct linear_spec counter_spec = {
	.names = counter_names,
	.state_size = sizeof(int),
	.apply = counter_apply,
};

static uint32_t count;

static void setup_counter(void)
{
	linear_start(LINEAR_CAUSAL);
	count = 0;
}

static void count_in_one(int id)
{
	(void)id;
	linear_return(linear_call(0, 0), add_relaxed(&count, 1));
}

static void count_in_two(int id)
{
	struct linear_op *op = linear_call(0, 0);
	uint32_t old = load_relaxed(&count);

	(void)id;
	store_relaxed(&count, old + 1);
	linear_return(op, old);
}

static void is_counter(void)
{
	linear_check(&counter_spec);
}

MODEL(an_atomic_counter_counts, .setup = setup_counter,
      .threads = { count_in_one, count_in_one, count_in_one },
      .finish = is_counter);

MODEL(a_load_and_a_store_do_not_count, .setup = setup_counter,
      .threads = { count_in_two, count_in_two }, .finish = is_counter,
      .expect = MODEL_ASSERTION);

/* ---- registers ------------------------------------------------------------ */

enum { WRITE_X, READ_X, WRITE_Y, READ_Y };

static const char *const register_names[] = { "write x", "read x", "write y",
					      "read y" };

static bool registers_apply(void *state, const struct linear_op *op)
{
	int *value = (int *)state + (op->code >= WRITE_Y);

	if (op->code == READ_X || op->code == READ_Y)
		return *value == op->result;
	*value = (int)op->arg;
	return true;
}

static const struct linear_spec registers_spec = {
	.names = register_names,
	.state_size = 2 * sizeof(int),
	.apply = registers_apply,
};

static uint32_t x, y, copy;

static void setup_registers(void)
{
	linear_start(LINEAR_CAUSAL);
	x = y = copy = 0;
}

static void setup_registers_real_time(void)
{
	setup_registers();
	linear_start(LINEAR_REAL_TIME);
}

static void are_registers(void)
{
	linear_check(&registers_spec);
}

/* Each writes its own, then reads the other's. */
static void write_then_read(int id)
{
	struct linear_op *op = linear_call(id ? WRITE_Y : WRITE_X, 1);

	store_release(id ? &y : &x, 1);
	linear_return(op, 0);
	op = linear_call(id ? READ_X : READ_Y, 0);
	linear_return(op, load_acquire(id ? &x : &y));
}

MODEL(words_are_registers_in_sc, .modes = MODEL_SC, .setup = setup_registers,
      .threads = { write_then_read, write_then_read }, .finish = are_registers);

MODEL(words_are_no_registers_in_tso, .modes = MODEL_TSO,
      .setup = setup_registers, .threads = { write_then_read, write_then_read },
      .finish = are_registers, .expect = MODEL_ASSERTION);

/* Writing down in real time lets stores out of their buffers. */
MODEL(words_are_registers_in_tso_if_everybody_is_told, .modes = MODEL_TSO,
      .setup = setup_registers_real_time,
      .threads = { write_then_read, write_then_read }, .finish = are_registers);

/* What it writes can be read only after its next operation. */
static void write_late(int id)
{
	struct linear_op *op = linear_call(WRITE_X, 1);

	(void)id;
	store_release(&x, 1);
	linear_return(op, 0);
	op = linear_call(READ_X, 0);
	store_release(&copy, 1);
	linear_return(op, load_acquire(&x));
}

static void read_copy(int id)
{
	struct linear_op *op = linear_call(READ_X, 0);

	(void)id;
	linear_return(op, load_acquire(&copy));
}

MODEL(late_news_are_news_to_who_is_not_told, .setup = setup_registers,
      .threads = { write_late, read_copy }, .finish = are_registers);

MODEL(late_news_are_late_in_real_time, .setup = setup_registers_real_time,
      .threads = { write_late, read_copy }, .finish = are_registers,
      .expect = MODEL_ASSERTION);
