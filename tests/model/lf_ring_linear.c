/* SPDX-License-Identifier: MIT */
/*
 * lf_ring_linear.c - the ring of src/lf/ring.h is a queue of four: some order of
 * whole operations explains all results of owner and thieves.
 *
 *   push       false if and only if there are four items
 *   take       the oldest item, nothing if and only if the ring is empty
 *   take half  the older half, rounded up, or as many as asked for
 *   steal      nothing if and only if the ring is empty; else the oldest items, at
 *              least one and at most half of them, rounded up
 *
 * A thief counts before it takes.  If the owner pushes meanwhile, the thief takes
 * less than half; the last model shows that.  lf_ring.c checks the items; these
 * models check the return values, of an empty and a full ring, too.
 *
 * In causal order a thief's operation ends with a store to its own ring that no
 * other thread reads, so little comes after the operation; in real time all later
 * operations do.  All models are complete for one owner and one or two thieves, in
 * up to nine operations.  They would not see a bug that takes more.
 */
#include "linear.h"

#include "lf/ring.h"

#include <string.h>

_Static_assert(RING_CAPACITY == 4, "small, so that it fills and wraps");

#define ITEMS_MAX 8

enum { PUSH, TAKE, TAKE_HALF, STEAL };

static const char *const names[] = { "push", "take", "take_half", "steal" };

static struct ring ring, loot[3];
static char items[ITEMS_MAX + 1];
static int nr_before; /* the first items, of setup */
static int next_item;

/* ---- the specification ----------------------------------------------------- */

struct queue {
	int nr;
	int item[RING_CAPACITY];
};

static void queue_init(void *state)
{
	struct queue *q = state;

	for (q->nr = 0; q->nr < nr_before; q->nr++)
		q->item[q->nr] = q->nr + 1;
}

static int half(int nr)
{
	return nr - nr / 2;
}

/* Takes an item for each of @digits, which must be the oldest item. */
static int take_digits(struct queue *q, int64_t digits)
{
	int64_t place = 1;
	int nr = 0;

	while (digits / place >= 10)
		place *= 10;
	for (; place && digits; place /= 10, nr++) {
		if (nr == q->nr || q->item[nr] != digits / place % 10)
			return -1;
	}
	q->nr -= nr;
	memmove(&q->item[0], &q->item[nr], sizeof(q->item[0]) * (size_t)q->nr);
	/* Items that are gone must not make states differ. */
	memset(&q->item[q->nr], 0,
	       sizeof(q->item[0]) * (size_t)(RING_CAPACITY - q->nr));
	return nr;
}

static bool queue_push(struct queue *q, const struct linear_op *op)
{
	if (q->nr == RING_CAPACITY)
		return !op->result;
	q->item[q->nr++] = (int)op->arg;
	return op->result;
}

static bool queue_apply(void *state, const struct linear_op *op)
{
	struct queue *q = state;
	int before = q->nr, most = half(before), nr;

	if (op->code == PUSH)
		return queue_push(q, op);
	nr = take_digits(q, op->result);
	switch (op->code) {
	case TAKE:
		return nr == (before > 0);
	case TAKE_HALF:
		return nr == (most < op->arg ? most : op->arg);
	default:
		return nr <= most && (nr > 0) == (before > 0);
	}
}

static bool exact_apply(void *state, const struct linear_op *op)
{
	int before = ((struct queue *)state)->nr;

	return queue_apply(state, op) &&
	       (op->code != STEAL ||
		before - ((struct queue *)state)->nr == half(before));
}

static const struct linear_spec spec = { .names = names,
					 .state_size = sizeof(struct queue),
					 .init = queue_init,
					 .apply = queue_apply };
static const struct linear_spec exact = { .names = names,
					  .state_size = sizeof(struct queue),
					  .init = queue_init,
					  .apply = exact_apply };

/* ---- the ring -------------------------------------------------------------- */

static void setup(enum linear_order order, uint64_t index, int nr)
{
	linear_start(order);
	memset(&ring, 0, sizeof(ring));
	memset(loot, 0, sizeof(loot));
	ring.head = ring.tail = index;
	nr_before = nr;
	for (next_item = 1; next_item <= nr; next_item++)
		MODEL_CHECK(ring_push(&ring, &items[next_item]));
	model_name(&ring.head, "head");
	model_name(&ring.tail, "tail");
}

static int number(const void *item)
{
	return item ? (int)((const char *)item - items) : 0;
}

static void push(void)
{
	int item = next_item++;
	struct linear_op *op = linear_call(PUSH, item);

	linear_return(op, ring_push(&ring, &items[item]));
}

static void take(void)
{
	struct linear_op *op = linear_call(TAKE, 0);

	linear_return(op, number(ring_take(&ring)));
}

static void take_half(uint32_t max)
{
	struct linear_op *op = linear_call(TAKE_HALF, max);
	void *out[RING_CAPACITY];
	uint32_t nr = ring_take_half(&ring, out, max);
	int64_t digits = 0;

	for (uint32_t i = 0; i < nr; i++)
		digits = 10 * digits + number(out[i]);
	linear_return(op, digits);
}

static void steal(int id)
{
	struct linear_op *op = linear_call(STEAL, 0);
	const void *item = ring_steal_half(&ring, &loot[id]);

	linear_return(op, number(item));
	while ((item = ring_take(&loot[id])))
		op->result = 10 * op->result + number(item);
}

static void thief(int id)
{
	steal(id);
}

static void thief_twice(int id)
{
	steal(id);
	steal(id);
}

static void is_queue(void)
{
	linear_check(&spec);
}

/* ---- almost empty ---------------------------------------------------------- */

static void setup_one(void)
{
	setup(LINEAR_CAUSAL, 3, 1);
}

static void setup_one_in_real_time(void)
{
	setup(LINEAR_REAL_TIME, 3, 1);
}

static void push_and_take(int id)
{
	(void)id;
	take();
	push();
	push();
	take();
	take();
}

MODEL(a_thief_against_push_and_take, .setup = setup_one,
      .threads = { push_and_take, thief_twice }, .finish = is_queue);

MODEL(a_thief_against_push_and_take_in_real_time,
      .setup = setup_one_in_real_time, .threads = { push_and_take, thief },
      .finish = is_queue);

static void push_twice(int id)
{
	(void)id;
	push();
	push();
	take();
}

MODEL(two_thieves_against_push_and_take, .setup = setup_one,
      .threads = { push_twice, thief, thief }, .finish = is_queue);

/* ---- almost full ----------------------------------------------------------- */

static void setup_three(void)
{
	setup(LINEAR_CAUSAL, 2, RING_CAPACITY - 1);
}

static void setup_three_in_real_time(void)
{
	setup(LINEAR_REAL_TIME, 2, RING_CAPACITY - 1);
}

static void overflow(int id)
{
	(void)id;
	push();
	push();
	take_half(RING_CAPACITY / 2);
	push();
	take();
}

MODEL(a_thief_against_overflow, .setup = setup_three,
      .threads = { overflow, thief_twice }, .finish = is_queue);

MODEL(a_thief_against_overflow_in_real_time, .setup = setup_three_in_real_time,
      .threads = { overflow, thief }, .finish = is_queue);

MODEL(two_thieves_against_overflow, .setup = setup_three,
      .threads = { overflow, thief, thief }, .finish = is_queue);

/* ---- half of what? --------------------------------------------------------- */

static void setup_two(void)
{
	setup(LINEAR_CAUSAL, 3, 2);
}

static void fill(int id)
{
	(void)id;
	push();
	push();
	push();
}

static void is_exact(void)
{
	linear_check(&exact);
}

MODEL(a_thief_gets_no_more_than_half, .setup = setup_two,
      .threads = { fill, thief }, .finish = is_queue);

MODEL(a_thief_may_get_less_than_half, .setup = setup_two,
      .threads = { fill, thief }, .finish = is_exact,
      .expect = MODEL_ASSERTION);
