/* SPDX-License-Identifier: MIT */
/*
 * lf_push_list.c - the push list, one thread at a time.
 */
#include "harness/test.h"

#include "lf/push_list.h"

TEST(an_empty_list_gives_nothing)
{
	struct push_list list = { 0 };

	CHECK(push_list_empty(&list));
	CHECK(push_list_take_all(&list) == NULL);
}

TEST(only_the_first_push_finds_the_list_empty)
{
	struct push_list list = { 0 };
	struct push_node a, b;

	CHECK(push_list_push(&list, &a));
	CHECK(!push_list_empty(&list));
	CHECK(!push_list_push(&list, &b));
	CHECK(push_list_take_all(&list) == &a);
	CHECK(push_list_empty(&list));
	CHECK(push_list_push(&list, &b));
}

TEST(all_come_out_once_and_oldest_first)
{
	struct push_list list = { 0 };
	struct push_node node[100], *chain;

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 100; i++)
			push_list_push(&list, &node[i]);
		chain = push_list_take_all(&list);
		for (int i = 0; i < 100; i++) {
			CHECK(chain == &node[i]);
			chain = chain->next;
		}
		CHECK(chain == NULL);
		CHECK(push_list_take_all(&list) == NULL);
	}
}
