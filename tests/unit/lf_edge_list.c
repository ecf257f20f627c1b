/* SPDX-License-Identifier: MIT */
/*
 * lf_edge_list.c - the edge list, one thread at a time.
 */
#include "harness/test.h"

#include "lf/edge_list.h"

#define NR 100

TEST(all_that_was_added_is_taken_newest_first)
{
	struct edge_list list = { 0 };
	struct edge edge[NR + 1];
	uint32_t id;

	edges_open(&list, 7);
	CHECK_EQ(edges_life(&list), 7);
	for (uint32_t i = 1; i <= NR; i++) {
		CHECK_EQ(edges_look(&list, 7), EDGES_ADDED);
		CHECK_EQ(edges_add(&list, 7, &edge[i], i), EDGES_ADDED);
	}
	id = edges_close(&list, false);
	for (uint32_t i = NR; i >= 1; i--) {
		CHECK_EQ(id, i);
		id = edge[id].next;
	}
	CHECK_EQ(id, 0);
}

TEST(a_closed_list_takes_nothing)
{
	struct edge_list list = { 0 };
	struct edge edge;

	edges_open(&list, 1);
	CHECK_EQ(edges_close(&list, false), 0);
	CHECK_EQ(edges_add(&list, 1, &edge, 1), EDGES_TOO_LATE);
	CHECK_EQ(edges_look(&list, 1), EDGES_TOO_LATE);
	edges_bury(&list);
	CHECK_EQ(edges_add(&list, 1, &edge, 1), EDGES_GONE);
	CHECK_EQ(edges_look(&list, 1), EDGES_GONE);
}

TEST(who_names_another_life_finds_it_gone)
{
	struct edge_list list = { 0 };
	struct edge edge;

	edges_open(&list, 1);
	CHECK_EQ(edges_close(&list, true), 0);
	CHECK_EQ(edges_life(&list), 2);
	CHECK_EQ(edges_look(&list, 1), EDGES_GONE);
	edges_open(&list, edges_life(&list));
	CHECK_EQ(edges_add(&list, 1, &edge, 1), EDGES_GONE);
	CHECK_EQ(edges_add(&list, 3, &edge, 1), EDGES_GONE);
	CHECK_EQ(edges_add(&list, 2, &edge, 1), EDGES_ADDED);
	CHECK_EQ(edges_close(&list, true), 1);
}

TEST(lives_go_round)
{
	struct edge_list list = { 0 };
	struct edge edge;

	edges_open(&list, UINT32_MAX);
	CHECK_EQ(edges_add(&list, UINT32_MAX, &edge, 1), EDGES_ADDED);
	CHECK_EQ(edges_close(&list, true), 1);
	CHECK_EQ(edges_life(&list), 0);
	CHECK_EQ(edges_look(&list, UINT32_MAX), EDGES_GONE);
	edges_bury(&list);
	CHECK_EQ(edges_life(&list), 1);
}
