/* SPDX-License-Identifier: MIT */
/*
 * base_radix_heap.c - the queue of deadlines against a plain array.
 */
#include "harness/test.h"

#include "base/radix_heap.h"
#include "base/rand.h"

#define NR_NODES 300

static struct radix_heap heap;
static struct radix_node nodes[NR_NODES];

static void empty(void)
{
	radix_heap_init(&heap);
	for (int i = 0; i < NR_NODES; i++)
		nodes[i] = (struct radix_node){ 0 };
}

/* The smallest key among those that are in the heap. */
static uint64_t smallest_key(void)
{
	uint64_t min = UINT64_MAX;

	for (int i = 0; i < NR_NODES; i++) {
		if (radix_heap_contains(&nodes[i]) && nodes[i].key < min)
			min = nodes[i].key;
	}
	return min;
}

TEST(nothing_is_due_in_an_empty_heap)
{
	empty();
	CHECK(radix_heap_take(&heap, UINT64_MAX) == NULL);
	CHECK(heap.bound == UINT64_MAX);
}

TEST(a_node_knows_whether_it_is_in_a_heap)
{
	empty();
	CHECK(!radix_heap_contains(&nodes[0]));
	radix_heap_insert(&heap, &nodes[0], 2);
	radix_heap_insert(&heap, &nodes[1], 1);
	CHECK(radix_heap_contains(&nodes[0]));
	CHECK(radix_heap_take(&heap, 1) == &nodes[1]);
	CHECK(!radix_heap_contains(&nodes[1]));
	CHECK(radix_heap_take(&heap, 1) == NULL);
	radix_heap_remove(&heap, &nodes[0]);
	CHECK(!radix_heap_contains(&nodes[0]));
	CHECK(heap.bound == UINT64_MAX);
}

TEST(nothing_comes_out_before_its_time_and_all_at_it)
{
	static const uint64_t keys[] = { 0,          1,         2,
					 1000,       1001,      1ull << 40,
					 1ull << 63, ~0ull - 1, ~0ull };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		empty();
		radix_heap_insert(&heap, &nodes[0], keys[i]);
		CHECK(heap.bound == keys[i]);
		if (keys[i])
			CHECK(radix_heap_take(&heap, keys[i] - 1) == NULL);
		CHECK(radix_heap_contains(&nodes[0]));
		CHECK(radix_heap_take(&heap, keys[i]) == &nodes[0]);
	}
}

TEST(what_is_inserted_after_its_time_is_due_at_once)
{
	empty();
	radix_heap_insert(&heap, &nodes[0], 1000);
	CHECK(radix_heap_take(&heap, 2000) == &nodes[0]);
	radix_heap_insert(&heap, &nodes[1], 3000);
	CHECK(radix_heap_take(&heap, 2500) == NULL);
	radix_heap_insert(&heap, &nodes[2], 10);
	CHECK(heap.bound == 10);
	CHECK(radix_heap_take(&heap, 2500) == &nodes[2]);
	CHECK(radix_heap_take(&heap, 2500) == NULL);
	CHECK(radix_heap_take(&heap, 3000) == &nodes[1]);
}

/* Looking before the time must not make what comes later look due. */
TEST(a_look_in_between_makes_nothing_due)
{
	empty();
	radix_heap_insert(&heap, &nodes[0], 0x10007);
	CHECK(radix_heap_take(&heap, 0x10003) == NULL);
	radix_heap_insert(&heap, &nodes[1], 0x10005);
	CHECK(radix_heap_take(&heap, 0x10004) == NULL);
	CHECK(radix_heap_take(&heap, 0x10010) == &nodes[1]);
	CHECK(radix_heap_take(&heap, 0x10010) == &nodes[0]);
}

TEST(all_come_out_in_order)
{
	struct rand rand;
	uint64_t before = 0;

	rand_seed(&rand, test_seed());
	empty();
	for (int i = 0; i < NR_NODES; i++)
		radix_heap_insert(&heap, &nodes[i],
				  rand_next(&rand) >> rand_below(&rand, 64));
	for (int i = 0; i < NR_NODES; i++) {
		struct radix_node *node = radix_heap_take(&heap, UINT64_MAX);

		CHECK(node != NULL);
		CHECK(node->key >= before);
		before = node->key;
	}
	CHECK(radix_heap_take(&heap, UINT64_MAX) == NULL);
}

/* Far, near, and equal: as deadlines are. */
static uint64_t some_deadline(struct rand *rand, uint64_t now)
{
	return now + (rand_next(rand) >> (24 + rand_below(rand, 40)));
}

static void insert_or_remove(struct rand *rand, uint64_t now)
{
	struct radix_node *node = &nodes[rand_below(rand, NR_NODES)];

	if (radix_heap_contains(node))
		radix_heap_remove(&heap, node);
	else
		radix_heap_insert(&heap, node, some_deadline(rand, now));
}

TEST(it_agrees_with_an_array_whatever_is_done)
{
	struct rand rand;
	uint64_t now = 12345678901234u;

	rand_seed(&rand, test_seed());
	empty();
	for (int round = 0; round < 20000; round++) {
		uint64_t smallest;
		struct radix_node *node;

		insert_or_remove(&rand, now);
		CHECK(heap.bound <= smallest_key());
		if (rand_below(&rand, 4))
			continue;
		now += rand_next(&rand) >> (20 + rand_below(&rand, 44));
		while ((smallest = smallest_key()) <= now) {
			node = radix_heap_take(&heap, now);
			CHECK(node != NULL);
			CHECK(node->key == smallest);
		}
		CHECK(radix_heap_take(&heap, now) == NULL);
		/* Whoever sleeps until then does not wake for nothing often. */
		CHECK(heap.bound > now);
	}
}
