/* SPDX-License-Identifier: MIT */
/*
 * base_heap.c - the pairing heap against a plain array.
 */
#include "harness/test.h"

#include "base/heap.h"
#include "base/rand.h"

#include <stdlib.h>

#define NR_NODES 300

/* The smallest key among those of @node that are in a heap. */
static uint64_t smallest_key(const struct heap_node *node, int nr)
{
	uint64_t min = UINT64_MAX;

	for (int i = 0; i < nr; i++) {
		if (heap_contains(&node[i]) && node[i].key < min)
			min = node[i].key;
	}
	return min;
}

static int nr_contained(const struct heap_node *node, int nr)
{
	int sum = 0;

	for (int i = 0; i < nr; i++)
		sum += heap_contains(&node[i]);
	return sum;
}

TEST(an_empty_heap_has_no_smallest)
{
	struct heap heap = { 0 };

	CHECK(heap_min(&heap) == NULL);
	CHECK(heap_take_min(&heap) == NULL);
}

TEST(a_node_knows_whether_it_is_in_a_heap)
{
	struct heap heap = { 0 };
	struct heap_node a = { 0 }, b = { 0 };

	CHECK(!heap_contains(&a));
	heap_insert(&heap, &a, 2);
	heap_insert(&heap, &b, 1);
	CHECK(heap_contains(&a));
	CHECK(heap_contains(&b));
	CHECK(heap_take_min(&heap) == &b);
	CHECK(!heap_contains(&b));
	CHECK(heap_contains(&a));
	heap_remove(&heap, &a);
	CHECK(!heap_contains(&a));
	CHECK(heap_min(&heap) == NULL);
}

TEST(the_keys_at_both_ends_of_the_range_are_ordinary)
{
	struct heap heap = { 0 };
	struct heap_node never = { 0 }, now = { 0 }, soon = { 0 };

	heap_insert(&heap, &never, UINT64_MAX);
	heap_insert(&heap, &soon, UINT64_C(1) << 63);
	heap_insert(&heap, &now, 0);
	CHECK(heap_take_min(&heap) == &now);
	CHECK(heap_take_min(&heap) == &soon);
	CHECK(heap_take_min(&heap) == &never);
}

static int compare_keys(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

TEST(keys_come_out_sorted_with_duplicates)
{
	static struct heap_node node[NR_NODES];
	uint64_t key[NR_NODES];
	struct heap heap = { 0 };
	struct rand rand;

	rand_seed(&rand, test_seed());
	for (int i = 0; i < NR_NODES; i++) {
		key[i] = rand_below(&rand, NR_NODES / 2);
		heap_insert(&heap, &node[i], key[i]);
	}
	qsort(key, NR_NODES, sizeof(key[0]), compare_keys);
	for (int i = 0; i < NR_NODES; i++)
		CHECK_EQ(heap_take_min(&heap)->key, key[i]);
	CHECK(heap_min(&heap) == NULL);
	CHECK_EQ(nr_contained(node, NR_NODES), 0);
}

TEST(random_insertions_and_removals_agree_with_an_array)
{
	static struct heap_node node[NR_NODES];
	struct heap heap = { 0 };
	struct rand rand;
	int nr = 0, steps = test_scale(100000);

	rand_seed(&rand, test_seed());
	for (int step = 0; step < steps; step++) {
		struct heap_node *n = &node[rand_below(&rand, NR_NODES)];

		if (rand_below(&rand, 4) == 0) {
			n = heap_take_min(&heap);
			CHECK_EQ(n != NULL, nr > 0);
			if (n)
				CHECK(n->key <= smallest_key(node, NR_NODES));
			nr -= n != NULL;
		} else if (heap_contains(n)) {
			heap_remove(&heap, n);
			CHECK(!heap_contains(n));
			nr--;
		} else {
			heap_insert(&heap, n, rand_below(&rand, 1000));
			nr++;
		}
		CHECK_EQ(nr, nr_contained(node, NR_NODES));
		if (nr)
			CHECK_EQ(heap_min(&heap)->key,
				 smallest_key(node, NR_NODES));
	}
}

TEST(a_million_nodes_in_one_row_need_no_deep_stack_and_little_time)
{
	int nr = test_scale(1000000);
	struct heap_node *node = calloc((size_t)nr, sizeof(*node));
	struct heap heap = { 0 };

	/* Ascending keys make every node a child of the root. */
	for (int i = 0; i < nr; i++)
		heap_insert(&heap, &node[i], (uint64_t)i);
	for (int i = 0; i < nr; i++)
		CHECK(heap_take_min(&heap) == &node[i]);
	/* Descending keys make a chain as deep as there are nodes. */
	for (int i = 0; i < nr; i++)
		heap_insert(&heap, &node[i], (uint64_t)(nr - i));
	for (int i = 0; i < nr; i++)
		heap_remove(&heap, &node[i]);
	CHECK(heap_min(&heap) == NULL);
	free(node);
}
