/* SPDX-License-Identifier: MIT */
/*
 * lf_ring.c - an owner and three thieves: each item is delivered once.
 *
 * The owner pushes in bursts, takes some back, and empties half of its ring
 * when it is full.  The thieves steal from the owner and from each other.  The
 * dangerous moment is between reading the ring and swapping its head, so the
 * swap is replaced here by one that now and then gives up the CPU first.
 */
#include "harness/test.h"

#include "base/atomic.h"
#include "base/rand.h"
#include "os/thread.h"

static _Thread_local struct rand chance;

static bool swap_after_a_pause(uint64_t *word, uint64_t *expected,
			       uint64_t desired)
{
	if (rand_below(&chance, 64) == 0)
		os_thread_yield();
	return cas_release(word, expected, desired);
}

#undef cas_release
#define cas_release(p, e, d) swap_after_a_pause((p), (e), (d))

#include "lf/ring.h"

#include <stdlib.h>

#define NR_ITEMS 2000000
#define NR_THIEVES 3
#define NR_RINGS (NR_THIEVES + 1)

struct item {
	uint32_t number;   /* plain: the ring must publish it */
	uint32_t nr_taken; /* by everybody */
};

static struct ring ring[NR_RINGS]; /* 0 is the owner's */
static struct item *items;
static uint32_t nr_items;
static uint32_t is_finished;
static uint64_t nr_stolen;

static void deliver(void *pointer)
{
	struct item *item = pointer;

	CHECK_EQ(item->number, item - items);
	/* relaxed: counts; the threads are joined before it is read. */
	add_relaxed(&item->nr_taken, 1);
}

static uint32_t deliver_all(struct ring *own)
{
	uint32_t nr = 0;

	for (void *item; (item = ring_take(own)); nr++)
		deliver(item);
	return nr;
}

static void *steal(void *arg)
{
	struct ring *own = arg;
	uint64_t nr = 0;

	rand_seed(&chance, test_seed() + (uint64_t)(own - ring));
	for (;;) {
		bool was_finished = load_acquire(&is_finished);
		bool found = false;

		for (int i = 0; i < NR_RINGS; i++) {
			void *item = NULL;

			if (&ring[i] != own)
				item = ring_steal_half(&ring[i], own);
			if (!item)
				continue;
			found = true;
			deliver(item);
			nr++;
			/* Leave the others something, and get full at times. */
			if (rand_below(&chance, 8) == 0)
				nr += deliver_all(own);
		}
		if (found)
			continue;
		if (deliver_all(own) == 0 && was_finished)
			break;
		os_thread_yield(); /* to the owner, on few CPUs */
	}
	/* relaxed: a count; the threads are joined before it is read. */
	add_relaxed(&nr_stolen, nr);
	return NULL;
}

static void push_all(void)
{
	void *out[RING_CAPACITY];

	for (uint32_t i = 0; i < nr_items; i++) {
		items[i].number = i;
		while (!ring_push(&ring[0], &items[i])) {
			uint32_t nr =
				ring_take_half(&ring[0], out, RING_CAPACITY);

			for (uint32_t k = 0; k < nr; k++)
				deliver(out[k]);
		}
		while (rand_below(&chance, 8) < 3) {
			void *item = ring_take(&ring[0]);

			if (item)
				deliver(item);
		}
	}
	deliver_all(&ring[0]);
	store_release(&is_finished, 1);
}

TEST(each_item_is_delivered_exactly_once)
{
	pthread_t thief[NR_THIEVES];
	uint32_t nr_lost = 0, nr_twice = 0;

	nr_items = (uint32_t)test_scale(NR_ITEMS);
	items = calloc(nr_items, sizeof(*items));
	rand_seed(&chance, test_seed());
	for (int i = 0; i < NR_THIEVES; i++)
		thief[i] = test_thread(steal, &ring[i + 1]);
	push_all();
	for (int i = 0; i < NR_THIEVES; i++)
		pthread_join(thief[i], NULL);
	for (uint32_t i = 0; i < nr_items; i++) {
		nr_lost += items[i].nr_taken == 0;
		nr_twice += items[i].nr_taken > 1;
	}
	CHECK_EQ(nr_lost, 0);
	CHECK_EQ(nr_twice, 0);
	CHECK_GT(nr_stolen, 0);
	test_count(nr_items);
	free(items);
}
