/* SPDX-License-Identifier: MIT */
/*
 * graph_places.c - from numbers to places, which are used again.
 */
#include "harness/test.h"

#include "graph/places.h"

#include <sley/sley.h>
#include <string.h>
#include <sys/resource.h>

#define NR 3000

static struct places places;
static struct node *taken[NR + 1];

static void begin(void)
{
	memset(&places, 0, sizeof(places));
	CHECK_EQ(places_init(&places, NR), 0);
}

static void take_all(void)
{
	for (uint32_t i = 1; i <= NR; i++)
		taken[i] = places_take(&places);
}

TEST(each_number_has_a_place_of_its_own)
{
	begin();
	take_all();
	for (uint32_t i = 1; i <= NR; i++) {
		CHECK_EQ(taken[i]->index, i);
		CHECK(places_node(&places, i) == taken[i]);
		CHECK_EQ(edges_life(&taken[i]->consumers), 1);
		CHECK_EQ((uintptr_t)taken[i] % 64, 0);
		memset(taken[i]->arg, (int)i, sizeof(taken[i]->arg));
	}
	for (uint32_t i = 1; i <= NR; i++)
		CHECK_EQ(taken[i]->arg[SLEY_NODE_ARG_MAX - 1],
			 (unsigned char)i);
	CHECK_EQ(places.nr_taken, NR);
	places_destroy(&places);
}

TEST(each_edge_has_a_number_of_its_own)
{
	begin();
	take_all();
	for (uint32_t i = 1; i <= NR; i++) {
		struct edge *edge = taken[i]->edge;
		uint32_t id = i * NODE_CELLS + NODE_FIRST_EDGE;

		for (uint32_t k = 0; k < NODE_EDGES; k++)
			CHECK(places_edge(&places, id + k) == &edge[k]);
		CHECK(places_edge(&places, i * NODE_CELLS) ==
		      (struct edge *)(void *)taken[i]);
	}
	places_destroy(&places);
}

TEST(what_was_given_back_is_taken_before_what_is_fresh)
{
	uint32_t used;

	begin();
	take_all();
	used = places.nr_used;
	/* In chains, as workers do. */
	for (uint32_t i = 1; i + 2 <= NR; i += 3) {
		taken[i]->next = taken[i + 1];
		taken[i + 1]->next = taken[i + 2];
		CHECK_EQ(places_nr_taken(&places), NR - i + 1);
		places_give(&places, taken[i], taken[i + 2], 3);
	}
	CHECK_EQ(places_nr_taken(&places), 0);
	memset(taken, 0, sizeof(taken));
	for (uint32_t i = 1; i <= NR; i++) {
		struct node *node = places_take(&places);

		CHECK(!taken[node->index]);
		taken[node->index] = node;
		CHECK_EQ(places_nr_taken(&places), i);
	}
	CHECK_EQ(places.nr_used, used);
	CHECK_EQ(places_take(&places)->index, NR + 1);
	places_destroy(&places);
}

TEST(pages_are_not_counted)
{
	struct node *node, *page;

	begin();
	take_all();
	page = places_take_page(&places);
	CHECK_EQ(page->index, NR + 1);
	CHECK_EQ(places.nr_taken, NR);
	CHECK_EQ(places_nr_taken(&places), NR);
	/* As the worker does that ends a node. */
	node = taken[7];
	node->next = page;
	places_give(&places, node, page, 1);
	CHECK_EQ(places_nr_taken(&places), NR - 1);
	CHECK(places_take(&places) == node);
	CHECK(places_take(&places) == page);
	CHECK_EQ(places_nr_taken(&places), NR + 1);
	places_destroy(&places);
}

TEST(there_are_more_places_than_nodes)
{
	uint32_t max = 4 * NR, first;

	begin();
	CHECK_EQ(places.max_nodes, max);
	first = places.nr;
	CHECK_GE(first, max);
	for (uint32_t i = 1; i < 3 * first; i++)
		CHECK_EQ(places_take_page(&places)->index, i);
	CHECK_GE(places.nr, 3 * first);
	places_destroy(&places);
}

TEST(places_end_with_the_addresses)
{
	uint32_t nr = 0, nr_reserved;

	begin();
	nr_reserved = places.nr_reserved;
	places.nr_reserved = places.nr + 5000; /* more than it grows by */
	while (places_take(&places))
		nr++;
	CHECK_EQ(nr, places.nr - 1); /* but for nobody */
	CHECK_GT(nr, 4 * NR);
	CHECK_EQ(places.nr_taken, nr);
	CHECK(!places_take(&places));
	/* What comes back can be taken all the same. */
	places_give(&places, places_node(&places, 5), places_node(&places, 5),
		    1);
	CHECK_EQ(places_take(&places)->index, 5);
	CHECK(!places_take(&places));
	places.nr_reserved = nr_reserved;
	places_destroy(&places);
}

/* As under RLIMIT_AS: the rest of the places is for nodes alone. */
TEST(few_addresses_will_do)
{
	struct rlimit limit = { 256 << 20, 256 << 20 };

	if (test_sanitizer() || test_emulated())
		test_skip("they need addresses of their own");
	CHECK_EQ(setrlimit(RLIMIT_AS, &limit), 0);
	begin();
	CHECK_LT(places.nr_reserved, 1u << 20);
	CHECK_GE(places.nr_reserved, 4 * NR);
	take_all();
	places_destroy(&places);
}

TEST(when_all_are_free_they_are_taken_in_their_order_again)
{
	struct node *node;

	begin();
	take_all();
	for (uint32_t i = 2; i <= NR; i++)
		places_give(&places, taken[i], taken[i], 1);
	places_tidy(&places); /* one is missing */
	node = places_take(&places);
	CHECK_EQ(node->index, NR); /* the newest */
	places_give(&places, node, node, 1);
	places_give(&places, taken[1], taken[1], 1);
	places_tidy(&places);
	for (uint32_t i = 1; i <= NR; i++) {
		CHECK_EQ(places_take(&places)->index, i);
		CHECK_EQ(edges_life(&taken[i]->consumers), 1);
	}
	CHECK_EQ(places.nr_used, NR + 1);
	places_destroy(&places);
}

/* Otherwise the number of a node that was would be that of another one. */
TEST(a_place_whose_lives_are_used_up_is_taken_no_more)
{
	struct node *node;

	begin();
	node = places_take(&places);
	CHECK_EQ(node->index, 1);
	edges_open(&node->consumers, LIFE_LAST - 1);
	(void)edges_close(&node->consumers, false);
	edges_bury(&node->consumers);
	CHECK_EQ(edges_life(&node->consumers), LIFE_LAST);
	places_give(&places, node, node, 1);
	CHECK_EQ(places_nr_taken(&places), 0);
	node = places_take(&places);
	CHECK_EQ(node->index, 2);
	CHECK_EQ(places_nr_taken(&places), 1);
	/* Nor when all are free again. */
	places_give(&places, node, node, 1);
	places_tidy(&places);
	CHECK_EQ(places_take(&places)->index, 2);
	places_destroy(&places);
}
