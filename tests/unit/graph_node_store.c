/* SPDX-License-Identifier: MIT */
/*
 * graph_node_store.c - from numbers to store, which are used again.
 */
#include "harness/test.h"

#include "graph/node/node_store.h"

#include <sley/sley.h>
#include <string.h>
#include <sys/resource.h>

#define NR 3000

static struct node_store store;
static struct node *taken[NR + 1];

static void begin(void)
{
	memset(&store, 0, sizeof(store));
	CHECK_EQ(node_store_init(&store, NR), 0);
}

static void take_all(void)
{
	for (uint32_t i = 1; i <= NR; i++)
		taken[i] = node_store_take(&store);
}

TEST(each_number_has_a_place_of_its_own)
{
	begin();
	take_all();
	for (uint32_t i = 1; i <= NR; i++) {
		CHECK_EQ(taken[i]->index, i);
		CHECK(node_store_node(&store, i) == taken[i]);
		CHECK_EQ(edges_life(&taken[i]->successors), 1);
		CHECK_EQ((uintptr_t)taken[i] % 64, 0);
		memset(taken[i]->arg, (int)i, sizeof(taken[i]->arg));
	}
	for (uint32_t i = 1; i <= NR; i++)
		CHECK_EQ(taken[i]->arg[SLEY_NODE_ARG_MAX - 1],
			 (unsigned char)i);
	CHECK_EQ(store.nr_taken, NR);
	node_store_destroy(&store);
}

TEST(each_edge_has_a_number_of_its_own)
{
	begin();
	take_all();
	for (uint32_t i = 1; i <= NR; i++) {
		struct edge *edge = taken[i]->edge;
		uint32_t id = i * NODE_CELLS + NODE_FIRST_EDGE;

		for (uint32_t k = 0; k < NODE_EDGES; k++)
			CHECK(node_store_edge(&store, id + k) == &edge[k]);
		CHECK(node_store_edge(&store, i * NODE_CELLS) ==
		      (struct edge *)(void *)taken[i]);
	}
	node_store_destroy(&store);
}

TEST(what_was_given_back_is_taken_before_what_is_fresh)
{
	uint32_t used;

	begin();
	take_all();
	used = store.nr_used;
	/* In chains, as workers do. */
	for (uint32_t i = 1; i + 2 <= NR; i += 3) {
		taken[i]->next = taken[i + 1];
		taken[i + 1]->next = taken[i + 2];
		CHECK_EQ(node_store_nr_taken(&store), NR - i + 1);
		node_store_give(&store, taken[i], taken[i + 2], 3);
	}
	CHECK_EQ(node_store_nr_taken(&store), 0);
	memset(taken, 0, sizeof(taken));
	for (uint32_t i = 1; i <= NR; i++) {
		struct node *node = node_store_take(&store);

		CHECK(!taken[node->index]);
		taken[node->index] = node;
		CHECK_EQ(node_store_nr_taken(&store), i);
	}
	CHECK_EQ(store.nr_used, used);
	CHECK_EQ(node_store_take(&store)->index, NR + 1);
	node_store_destroy(&store);
}

TEST(pages_are_not_counted)
{
	struct node *node, *page;

	begin();
	take_all();
	page = node_store_take_page(&store);
	CHECK_EQ(page->index, NR + 1);
	CHECK_EQ(store.nr_taken, NR);
	CHECK_EQ(node_store_nr_taken(&store), NR);
	/* As the worker does that ends a node. */
	node = taken[7];
	node->next = page;
	node_store_give(&store, node, page, 1);
	CHECK_EQ(node_store_nr_taken(&store), NR - 1);
	CHECK(node_store_take(&store) == node);
	CHECK(node_store_take(&store) == page);
	CHECK_EQ(node_store_nr_taken(&store), NR + 1);
	node_store_destroy(&store);
}

TEST(there_are_more_places_than_nodes)
{
	uint32_t max = 4 * NR, first;

	begin();
	CHECK_EQ(store.max_nodes, max);
	first = store.nr;
	CHECK_GE(first, max);
	for (uint32_t i = 1; i < 3 * first; i++)
		CHECK_EQ(node_store_take_page(&store)->index, i);
	CHECK_GE(store.nr, 3 * first);
	node_store_destroy(&store);
}

TEST(places_end_with_the_addresses)
{
	uint32_t nr = 0, nr_reserved;

	begin();
	nr_reserved = store.nr_reserved;
	store.nr_reserved = store.nr + 5000; /* more than it grows by */
	while (node_store_take(&store))
		nr++;
	CHECK_EQ(nr, store.nr - 1); /* but for nobody */
	CHECK_GT(nr, 4 * NR);
	CHECK_EQ(store.nr_taken, nr);
	CHECK(!node_store_take(&store));
	/* What comes back can be taken all the same. */
	node_store_give(&store, node_store_node(&store, 5),
			node_store_node(&store, 5), 1);
	CHECK_EQ(node_store_take(&store)->index, 5);
	CHECK(!node_store_take(&store));
	store.nr_reserved = nr_reserved;
	node_store_destroy(&store);
}

/* As under RLIMIT_AS: the rest of the places is for nodes alone. */
TEST(few_addresses_will_do)
{
	struct rlimit limit = { 256 << 20, 256 << 20 };

	if (test_sanitizer() || test_emulated())
		test_skip("they need addresses of their own");
	CHECK_EQ(setrlimit(RLIMIT_AS, &limit), 0);
	begin();
	CHECK_LT(store.nr_reserved, 1u << 20);
	CHECK_GE(store.nr_reserved, 4 * NR);
	take_all();
	node_store_destroy(&store);
}

TEST(when_all_are_free_they_are_taken_in_their_order_again)
{
	struct node *node;

	begin();
	take_all();
	for (uint32_t i = 2; i <= NR; i++)
		node_store_give(&store, taken[i], taken[i], 1);
	node_store_tidy(&store); /* one is missing */
	node = node_store_take(&store);
	CHECK_EQ(node->index, NR); /* the newest */
	node_store_give(&store, node, node, 1);
	node_store_give(&store, taken[1], taken[1], 1);
	node_store_tidy(&store);
	for (uint32_t i = 1; i <= NR; i++) {
		CHECK_EQ(node_store_take(&store)->index, i);
		CHECK_EQ(edges_life(&taken[i]->successors), 1);
	}
	CHECK_EQ(store.nr_used, NR + 1);
	node_store_destroy(&store);
}

/* Otherwise the number of a node that was would be that of another one. */
TEST(a_place_whose_lives_are_used_up_is_taken_no_more)
{
	struct node *node;

	begin();
	node = node_store_take(&store);
	CHECK_EQ(node->index, 1);
	edges_open(&node->successors, LIFE_LAST - 1);
	(void)edges_close(&node->successors, false);
	edges_bury(&node->successors);
	CHECK_EQ(edges_life(&node->successors), LIFE_LAST);
	node_store_give(&store, node, node, 1);
	CHECK_EQ(node_store_nr_taken(&store), 0);
	node = node_store_take(&store);
	CHECK_EQ(node->index, 2);
	CHECK_EQ(node_store_nr_taken(&store), 1);
	/* Nor when all are free again. */
	node_store_give(&store, node, node, 1);
	node_store_tidy(&store);
	CHECK_EQ(node_store_take(&store)->index, 2);
	node_store_destroy(&store);
}
