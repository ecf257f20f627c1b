/* SPDX-License-Identifier: MIT */
/*
 * self_deque.c - stealing half from a Chase-Lev deque delivers items twice
 * (lf/ring.h tells why), and the explorer sees it.
 *
 * The owner pushes and takes at the bottom and swaps only for the last item; a
 * thief takes at the top.  Stealing one at a time is right.  Stealing half by
 * one swap of top is not: the owner may have come down past the middle.  And
 * the take without its barrier, right in SC, fails with store buffers.
 */
#include "explorer.h"

#include "base/atomic.h"

#include <string.h>

#define CAPACITY 8
#define ITEMS 4

static int64_t top, bottom;
static int slot[CAPACITY];
static int delivered[ITEMS + 1];

static void setup(void)
{
	top = 0;
	memset(delivered, 0, sizeof(delivered));
	for (int i = 0; i < ITEMS; i++)
		slot[i] = i + 1;
	bottom = ITEMS;
	model_ledger(delivered, sizeof(delivered));
	model_name(&top, "top");
	model_name(&bottom, "bottom");
}

static void deliver(int item)
{
	delivered[item]++;
}

static int take(bool barrier)
{
	int64_t b = load_relaxed(&bottom) - 1;
	int64_t t;
	int item;

	if (barrier)
		(void)xchg_acq_rel(&bottom, b);
	else
		store_relaxed(&bottom, b);
	t = load_acquire(&top);
	if (t > b) {
		store_relaxed(&bottom, b + 1);
		return 0;
	}
	item = load_relaxed(&slot[b % CAPACITY]);
	if (t == b) {
		if (!cas_acq_rel(&top, &t, t + 1))
			item = 0;
		store_relaxed(&bottom, b + 1);
	}
	return item;
}

static void steal(bool half)
{
	int64_t t = load_acquire(&top);
	int64_t b = load_acquire(&bottom);
	int64_t nr = b - t;
	int items[CAPACITY];

	if (nr <= 0)
		return;
	nr = half ? nr - nr / 2 : 1;
	for (int64_t i = 0; i < nr; i++)
		items[i] = load_relaxed(&slot[(t + i) % CAPACITY]);
	if (!cas_acq_rel(&top, &t, t + nr))
		return;
	for (int64_t i = 0; i < nr; i++)
		deliver(items[i]);
}

static void owner(bool barrier)
{
	int item;

	while ((item = take(barrier)))
		deliver(item);
}

static void owner_with_barrier(int id)
{
	(void)id;
	owner(true);
}

static void owner_without_barrier(int id)
{
	(void)id;
	owner(false);
}

static void thief_of_one(int id)
{
	(void)id;
	steal(false);
	steal(false);
}

static void thief_of_half(int id)
{
	(void)id;
	steal(true);
}

static void each_once(void)
{
	for (int i = 1; i <= ITEMS; i++)
		MODEL_CHECK(delivered[i] == 1);
}

MODEL(stealing_one_is_sound, .modes = MODEL_SC | MODEL_TSO, .setup = setup,
      .threads = { owner_with_barrier, thief_of_one, thief_of_one },
      .finish = each_once);

/* A read-modify-write is no barrier between other words: C11 allows the thief
   to see the owner's old bottom, and the owner the old top. */
MODEL(stealing_one_is_not_sound_in_c11, .modes = MODEL_RA, .setup = setup,
      .threads = { owner_with_barrier, thief_of_one, thief_of_one },
      .finish = each_once, .expect = MODEL_ASSERTION);

MODEL(stealing_half_from_a_deque_delivers_twice, .setup = setup,
      .threads = { owner_with_barrier, thief_of_half }, .finish = each_once,
      .expect = MODEL_ASSERTION);

MODEL(a_take_without_barrier_passes_in_sc, .modes = MODEL_SC, .setup = setup,
      .threads = { owner_without_barrier, thief_of_one }, .finish = each_once);

MODEL(a_take_without_barrier_is_found_in_tso, .modes = MODEL_TSO,
      .setup = setup, .threads = { owner_without_barrier, thief_of_one },
      .finish = each_once, .expect = MODEL_ASSERTION);
