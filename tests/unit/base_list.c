/* SPDX-License-Identifier: MIT */
/*
 * base_list.c - the intrusive list keeps order and lets go cleanly.
 */
#include "harness/test.h"

#include "base/list.h"

TEST(an_empty_list_has_no_first)
{
	struct list head;

	list_init(&head);
	CHECK(list_empty(&head));
	CHECK(list_first(&head) == NULL);
	CHECK(list_take_first(&head) == NULL);
}

TEST(append_goes_to_the_end_and_prepend_to_the_front)
{
	struct list head, a, b, c;

	list_init(&head);
	list_init(&a);
	list_init(&b);
	list_init(&c);
	list_append(&head, &b);
	list_append(&head, &c);
	list_prepend(&head, &a);
	CHECK(list_first(&head) == &a);
	CHECK(list_take_first(&head) == &a);
	CHECK(list_take_first(&head) == &b);
	CHECK(list_take_first(&head) == &c);
	CHECK(list_empty(&head));
}

TEST(a_removed_node_is_on_no_list_and_can_be_added_again)
{
	struct list head, a, b, c;

	list_init(&head);
	list_init(&a);
	list_init(&b);
	list_init(&c);
	list_append(&head, &a);
	list_append(&head, &b);
	list_append(&head, &c);
	list_remove(&b);
	CHECK(list_empty(&b));
	CHECK(!list_empty(&a));
	list_remove(&b); /* no harm */
	list_append(&head, &b);
	CHECK(list_take_first(&head) == &a);
	CHECK(list_take_first(&head) == &c);
	CHECK(list_take_first(&head) == &b);
	CHECK(list_empty(&b));
}

TEST(both_directions_agree_after_every_removal)
{
	struct list head, node[5];

	for (int skip = 0; skip < 5; skip++) {
		int nr = 0;

		list_init(&head);
		for (int i = 0; i < 5; i++) {
			list_init(&node[i]);
			list_append(&head, &node[i]);
		}
		list_remove(&node[skip]);
		for (struct list *l = head.next; l != &head; l = l->next) {
			CHECK(l->next->prev == l);
			CHECK(l != &node[skip]);
			nr++;
		}
		CHECK_EQ(nr, 4);
	}
}
