/* SPDX-License-Identifier: MIT */
/*
 * lf_inbox.c - the inbox, one thread at a time.
 */
#include "harness/test.h"

#include "lf/inbox.h"

TEST(a_new_inbox_has_nothing)
{
	struct inbox inbox = { INBOX_EMPTY };

	CHECK(inbox_quiet(&inbox));
	CHECK(inbox_take(&inbox, NULL) == NULL);
	CHECK_EQ(inbox.word, INBOX_EMPTY);
}

TEST(all_come_out_once_and_oldest_first)
{
	struct inbox inbox = { INBOX_EMPTY };
	struct push_node node[100], *chain;

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 100; i++)
			CHECK_EQ(inbox_put(&inbox, &node[i]), INBOX_TAKEN);
		CHECK(!inbox_quiet(&inbox));
		chain = inbox_take(&inbox, NULL);
		for (int i = 0; i < 100; i++) {
			CHECK(chain == &node[i]);
			chain = chain->next;
		}
		CHECK(chain == NULL);
		CHECK(inbox_take(&inbox, NULL) == NULL);
	}
}

TEST(only_the_first_put_after_a_rest_wakes)
{
	struct inbox inbox = { INBOX_EMPTY };
	struct push_node a, b, c;

	CHECK(inbox_rest(&inbox, NULL));
	CHECK(inbox_quiet(&inbox));
	CHECK_EQ(inbox_put(&inbox, &a), INBOX_WAKE);
	CHECK_EQ(inbox_put(&inbox, &b), INBOX_TAKEN);
	CHECK(inbox_take(&inbox, NULL) == &a && a.next == &b && !b.next);
	/* Awake, with nothing there. */
	CHECK_EQ(inbox_put(&inbox, &c), INBOX_TAKEN);
	CHECK(inbox_take(&inbox, NULL) == &c && !c.next);
	CHECK(inbox_rest(&inbox, NULL));
	CHECK_EQ(inbox_put(&inbox, &a), INBOX_WAKE);
}

TEST(who_has_something_does_not_rest)
{
	struct inbox inbox = { INBOX_EMPTY };
	struct push_node a;

	CHECK_EQ(inbox_put(&inbox, &a), INBOX_TAKEN);
	CHECK(!inbox_rest(&inbox, NULL));
	CHECK(!inbox_rest(&inbox, NULL));
	CHECK(inbox_take(&inbox, NULL) == &a);
	CHECK(inbox_rest(&inbox, NULL));
}

/* The owner is woken by a look at its state alone: nothing is lost by that. */
TEST(a_look_at_one_that_rests_changes_nothing)
{
	struct inbox inbox = { INBOX_EMPTY };
	struct push_node a;

	CHECK(inbox_rest(&inbox, NULL));
	CHECK(inbox_take(&inbox, NULL) == NULL);
	CHECK_EQ(inbox.word, INBOX_IDLE);
	CHECK_EQ(inbox_put(&inbox, &a), INBOX_WAKE);
}

TEST(a_closed_inbox_refuses)
{
	struct inbox inbox = { INBOX_EMPTY };
	struct push_node a, b;

	a.next = &b;
	CHECK(inbox_close(&inbox, NULL) == NULL);
	CHECK_EQ(inbox_put(&inbox, &a), INBOX_REFUSED);
	CHECK(a.next == &b); /* the sender's, untouched */
	CHECK(inbox_quiet(&inbox));
	CHECK(inbox_take(&inbox, NULL) == NULL);
	CHECK(!inbox_rest(&inbox, NULL));
	CHECK_EQ(inbox.word, INBOX_CLOSED);
	CHECK(inbox_close(&inbox, NULL) == NULL);
}

TEST(closing_takes_what_is_there_oldest_first)
{
	struct inbox inbox = { INBOX_EMPTY };
	struct push_node a, b;

	CHECK_EQ(inbox_put(&inbox, &a), INBOX_TAKEN);
	CHECK_EQ(inbox_put(&inbox, &b), INBOX_TAKEN);
	CHECK(inbox_close(&inbox, NULL) == &a && a.next == &b && !b.next);
	CHECK_EQ(inbox_put(&inbox, &a), INBOX_REFUSED);
}

TEST(a_chain_is_put_in_as_one)
{
	struct inbox inbox = { INBOX_EMPTY };
	struct push_node a, b, c, d;

	CHECK(inbox_rest(&inbox, NULL));
	c.next = &b;
	CHECK_EQ(inbox_put_chain(&inbox, &c, &b), INBOX_WAKE);
	CHECK(inbox_peek(&inbox) == NULL);
	CHECK_EQ(inbox_put(&inbox, &d), INBOX_TAKEN);
	CHECK(inbox_take(&inbox, NULL) == &b);
	CHECK(b.next == &c && c.next == &d && !d.next);
	CHECK_EQ(inbox_put(&inbox, &a), INBOX_TAKEN);
	CHECK(inbox_peek(&inbox) == &a);
	c.next = &b;
	CHECK_EQ(inbox_put_chain(&inbox, &c, &b), INBOX_TAKEN);
	CHECK(inbox_close(&inbox, &a) == &b && b.next == &c && !c.next);
	c.next = &b;
	b.next = &a;
	CHECK_EQ(inbox_put_chain(&inbox, &c, &b), INBOX_REFUSED);
	CHECK(c.next == &b && b.next == &a); /* the sender's, untouched */
}

TEST(the_next_owner_begins_awake)
{
	struct inbox inbox = { INBOX_CLOSED };
	struct push_node a;

	inbox_open(&inbox);
	CHECK(inbox_take(&inbox, NULL) == NULL);
	CHECK_EQ(inbox_put(&inbox, &a), INBOX_TAKEN);
	CHECK(inbox_take(&inbox, NULL) == &a);
	CHECK(inbox_rest(&inbox, NULL));
}

/* ---- what was seen and not taken out ------------------------------------------------ */

TEST(only_a_single_node_can_be_looked_at)
{
	struct inbox inbox = { INBOX_EMPTY };
	struct push_node a, b;

	CHECK(inbox_peek(&inbox) == NULL);
	CHECK_EQ(inbox_put(&inbox, &a), INBOX_TAKEN);
	CHECK(inbox_peek(&inbox) == &a);
	CHECK(inbox_peek(&inbox) == &a);
	CHECK(!inbox_quiet(&inbox));
	CHECK_EQ(inbox_put(&inbox, &b), INBOX_TAKEN);
	CHECK(inbox_peek(&inbox) == NULL);
	CHECK(inbox_take(&inbox, NULL) == &a && a.next == &b && !b.next);
	CHECK(inbox_rest(&inbox, NULL));
	CHECK(inbox_peek(&inbox) == NULL);
	CHECK_EQ(inbox_put(&inbox, &a), INBOX_WAKE);
	CHECK(inbox_close(&inbox, NULL) == &a);
	CHECK(inbox_peek(&inbox) == NULL);
}

TEST(what_was_seen_is_not_more)
{
	struct inbox inbox = { INBOX_EMPTY };
	struct push_node a, b;

	CHECK(!inbox_has_more(&inbox, NULL));
	CHECK_EQ(inbox_put(&inbox, &a), INBOX_TAKEN);
	CHECK(inbox_has_more(&inbox, NULL));
	CHECK(!inbox_has_more(&inbox, &a));
	CHECK_EQ(inbox_put(&inbox, &b), INBOX_TAKEN);
	CHECK(inbox_has_more(&inbox, &a));
}

TEST(what_was_seen_is_taken_out_unnamed)
{
	struct inbox inbox = { INBOX_EMPTY };
	struct push_node a, b, c;

	CHECK_EQ(inbox_put(&inbox, &a), INBOX_TAKEN);
	CHECK(inbox_peek(&inbox) == &a);
	CHECK(inbox_take(&inbox, &a) == NULL);
	CHECK_EQ(inbox.word, INBOX_EMPTY);
	CHECK_EQ(inbox_put(&inbox, &a), INBOX_TAKEN);
	CHECK(inbox_peek(&inbox) == &a);
	CHECK_EQ(inbox_put(&inbox, &b), INBOX_TAKEN);
	CHECK_EQ(inbox_put(&inbox, &c), INBOX_TAKEN);
	CHECK(inbox_take(&inbox, &a) == &b && b.next == &c && !c.next);
	CHECK_EQ(inbox.word, INBOX_EMPTY);
}

TEST(who_has_seen_all_rests)
{
	struct inbox inbox = { INBOX_EMPTY };
	struct push_node a, b;

	CHECK_EQ(inbox_put(&inbox, &a), INBOX_TAKEN);
	CHECK(inbox_peek(&inbox) == &a);
	CHECK(inbox_rest(&inbox, &a));
	CHECK_EQ(inbox.word, INBOX_IDLE);
	/* It is out: it may be put in again. */
	CHECK_EQ(inbox_put(&inbox, &a), INBOX_WAKE);
	CHECK(inbox_peek(&inbox) == &a);
	CHECK_EQ(inbox_put(&inbox, &b), INBOX_TAKEN);
	CHECK(!inbox_rest(&inbox, &a));
	CHECK(inbox_take(&inbox, &a) == &b && !b.next);
}

TEST(closing_leaves_out_what_was_seen)
{
	struct inbox inbox = { INBOX_EMPTY };
	struct push_node a, b;

	CHECK_EQ(inbox_put(&inbox, &a), INBOX_TAKEN);
	CHECK(inbox_peek(&inbox) == &a);
	CHECK_EQ(inbox_put(&inbox, &b), INBOX_TAKEN);
	CHECK(inbox_close(&inbox, &a) == &b && !b.next);
	inbox_open(&inbox);
	CHECK_EQ(inbox_put(&inbox, &a), INBOX_TAKEN);
	CHECK(inbox_peek(&inbox) == &a);
	CHECK(inbox_close(&inbox, &a) == NULL);
	CHECK_EQ(inbox.word, INBOX_CLOSED);
}
