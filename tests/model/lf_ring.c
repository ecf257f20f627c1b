/* SPDX-License-Identifier: MIT */
/*
 * lf_ring.c - the ring of src/lf/ring.h with room for four items.
 *
 * In every execution each item is delivered exactly once, with the data that was
 * written before, and a thread that takes several items gets them in the order of
 * the pushes.  Indices begin so that slots wrap around; the indices themselves, 64
 * bits wide, would wrap after 500 years of a push per nanosecond.
 *
 * Push, take, overflow and steal-half are complete against each other for an
 * owner and two thieves, and steal-one against all of them.  They would not see a bug that needs more thieves,
 * more than two rounds of one of them (a swap that fails twice), or a ring of
 * more than four slots: half of it is two, so a thief that takes three or more
 * at once is seen only by tests/stress/lf_ring.c.
 */
#include "payload.h"

#include "lf/ring.h"

#include <string.h>

_Static_assert(RING_CAPACITY == 4, "small, so that it fills and wraps");

#define ITEMS_MAX 8

static struct ring ring, loot[3];
static struct payload items[ITEMS_MAX + 1]; /* written before the push */
static int nr_pushed;                       /* the owner's */
static struct ledger {
	int delivered[ITEMS_MAX + 1];
} ledger;

static void setup_at(uint64_t index, int nr)
{
	memset(&ring, 0, sizeof(ring));
	memset(loot, 0, sizeof(loot));
	memset(items, 0, sizeof(items));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	ring.head = ring.tail = index;
	nr_pushed = 0;
	for (int i = 0; i < nr; i++) {
		payload_write(&items[++nr_pushed]);
		MODEL_CHECK(ring_push(&ring, &items[nr_pushed]));
	}
	model_name(&ring.head, "head");
	model_name(&ring.tail, "tail");
	for (int i = 0; i < RING_CAPACITY; i++)
		model_name(&ring.slot[i], "slot[%d]", i);
	for (int i = 1; i <= ITEMS_MAX; i++)
		model_name(&items[i], "item%d", i);
}

static void setup_empty(void)
{
	setup_at(3, 0);
}

static void setup_one(void)
{
	setup_at(3, 1);
}

static void setup_two(void)
{
	setup_at(3, 2);
}

static void setup_full(void)
{
	setup_at(2, RING_CAPACITY);
}

/* What one thread got last; later ones must be younger. */
static void deliver(const void *item, int *last)
{
	int nr = (int)((const struct payload *)item - items);

	MODEL_CHECK(nr >= 1 && nr <= ITEMS_MAX);
	MODEL_CHECK(nr > *last);
	*last = nr;
	payload_check(&items[nr]);
	ledger.delivered[nr]++;
}

static void push(void)
{
	payload_write(&items[nr_pushed + 1]);
	if (!ring_push(&ring, &items[nr_pushed + 1]))
		return;
	nr_pushed++;
}

static void take_all(int *last)
{
	void *item;

	while ((item = ring_take(&ring)))
		deliver(item, last);
}

static void push_two_take_all(int id)
{
	int last = 0;

	(void)id;
	push();
	push();
	take_all(&last);
}

static void push_take_push_take(int id)
{
	int last = 0;

	(void)id;
	for (int i = 0; i < 2; i++) {
		void *item;

		push();
		item = ring_take(&ring);
		if (item)
			deliver(item, &last);
	}
	take_all(&last);
}

/* The ring is full: the older half leaves, and a new item comes. */
static void overflow(int id)
{
	void *out[RING_CAPACITY];
	int last = 0;
	uint32_t nr;

	(void)id;
	push();
	if (nr_pushed == RING_CAPACITY) {
		nr = ring_take_half(&ring, out, RING_CAPACITY / 2);
		for (uint32_t i = 0; i < nr; i++)
			deliver(out[i], &last);
		push();
		MODEL_CHECK(nr_pushed == RING_CAPACITY + 1);
	}
	take_all(&last);
}

/* Steals into its own ring and empties that. */
static void steal_from(struct ring *from, struct ring *into, int *last)
{
	void *item = ring_steal_half(from, into);

	if (!item)
		return;
	deliver(item, last);
	while ((item = ring_take(into)))
		deliver(item, last);
}

static void thief(int id)
{
	int last = 0;

	steal_from(&ring, &loot[id], &last);
}

static void thief_twice(int id)
{
	int last = 0;

	steal_from(&ring, &loot[id], &last);
	steal_from(&ring, &loot[id], &last);
}

/* Takes only what the first thief carries away. */
static void thief_of_thief(int id)
{
	int last = 0;

	steal_from(&loot[1], &loot[id], &last);
}

/* Without a ring of its own: one at a time. */
static void thief_of_one(int id)
{
	int last = 0;

	(void)id;
	for (int i = 0; i < 2; i++) {
		void *item = ring_steal_one(&ring);

		if (item)
			deliver(item, &last);
	}
}

static void push_one(int id)
{
	(void)id;
	push();
}

static void thief_of_one_once(int id)
{
	int last = 0;
	void *item = ring_steal_one(&ring);

	(void)id;
	if (item)
		deliver(item, &last);
}

static void each_once(void)
{
	for (int i = 1; i <= ITEMS_MAX; i++)
		MODEL_CHECK(ledger.delivered[i] == (i <= nr_pushed));
	MODEL_CHECK(ring_size(&ring) == 0);
}

static void rest_is_there(void)
{
	int last = 0;

	take_all(&last);
	each_once();
}

MODEL(one_thief_against_push_and_take, .setup = setup_empty,
      .threads = { push_two_take_all, thief_twice }, .finish = each_once);

MODEL(two_thieves_against_push_and_take, .setup = setup_one,
      .threads = { push_two_take_all, thief, thief }, .finish = each_once);

MODEL(two_thieves_twice_against_push_and_take, .setup = setup_one,
      .threads = { push_two_take_all, thief_twice, thief },
      .finish = each_once);

MODEL(slots_are_used_again_under_a_thief, .setup = setup_two,
      .threads = { push_take_push_take, thief_twice }, .finish = each_once);

MODEL(slots_are_used_again_under_two_thieves, .setup = setup_two,
      .threads = { push_take_push_take, thief, thief }, .finish = each_once);

MODEL(overflow_against_a_thief, .setup = setup_full,
      .threads = { overflow, thief }, .finish = each_once);

MODEL(overflow_against_two_thieves, .setup = setup_full,
      .threads = { overflow, thief, thief }, .finish = each_once);

MODEL(a_thief_of_one_against_push_and_take, .setup = setup_one,
      .threads = { push_two_take_all, thief_of_one }, .finish = each_once);

MODEL(a_thief_of_one_against_a_thief_of_half, .setup = setup_two,
      .threads = { push_take_push_take, thief, thief_of_one },
      .finish = each_once);

MODEL(two_thieves_of_one_against_a_push, .setup = setup_empty,
      .threads = { push_one, thief_of_one_once, thief_of_one_once },
      .finish = rest_is_there);

MODEL(overflow_against_thieves_of_one, .setup = setup_full,
      .threads = { overflow, thief_of_one }, .finish = each_once);

MODEL(a_thief_is_robbed, .setup = setup_full,
      .threads = { push_two_take_all, thief, thief_of_thief },
      .finish = each_once);

/* ---- news of the loot ------------------------------------------------------ */

static uint32_t told;

static void setup_news(void)
{
	setup_full();
	told = 0;
	model_name(&told, "told");
}

/* Takes two, keeps one, and says so. */
static void steal_and_tell(int id)
{
	int last = 0;

	deliver(ring_steal_half(&ring, &loot[id]), &last);
	store_release(&told, 1);
}

static void hear_and_steal(int id)
{
	int last = 0;

	if (!load_acquire(&told))
		return;
	MODEL_CHECK(ring_size(&loot[0]) == 1);
	steal_from(&loot[0], &loot[id], &last);
}

static void two_left(void)
{
	MODEL_CHECK(ledger.delivered[1] == 1);
	MODEL_CHECK(ring_size(&ring) == 2);
	MODEL_CHECK(ring_size(&loot[0]) == !ledger.delivered[2]);
}

MODEL(who_hears_of_the_loot_finds_it, .setup = setup_news,
      .threads = { steal_and_tell, hear_and_steal }, .finish = two_left);
