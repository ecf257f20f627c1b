/* SPDX-License-Identifier: MIT */
/*
 * lf_push_list.c - src/lf/push_list.h: each node is taken exactly once, and the
 * nodes of one pusher in their order; each time the list was empty, a
 * single pusher is told.
 *
 * Complete for two pushers of two nodes and two takers, and for a node that is
 * pushed again right after a take, while the second pusher still has this node as
 * the guess of the head.  The models would not see mistakes that take three pushers
 * at a time; a swap has one head and one guess, whichever pusher changed the head.
 */
#include "payload.h"

#include "lf/push_list.h"

#include <string.h>

#define PUSHERS 2
#define EACH 2

static struct push_list list;
static struct item {
	struct push_node node;
	struct payload payload; /* written before the push */
} items[PUSHERS][EACH];
static struct ledger {
	int taken[PUSHERS][EACH];
	int nr_first, nr_chains;
} ledger;

static void setup(void)
{
	memset(&list, 0, sizeof(list));
	memset(items, 0, sizeof(items));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	model_name(&list.head, "head");
	for (int i = 0; i < PUSHERS * EACH; i++)
		model_name(&items[i / EACH][i % EACH], "node%d%d", i / EACH,
			   i % EACH);
}

static void pusher(int id)
{
	for (int i = 0; i < EACH; i++) {
		payload_write(&items[id][i].payload);
		ledger.nr_first += push_list_push(&list, &items[id][i].node);
	}
}

static void take(int last[PUSHERS])
{
	struct push_node *node = push_list_take_all(&list);

	ledger.nr_chains += node != NULL;
	for (; node; node = node->next) {
		const struct item *item = container_of(node, struct item, node);
		int nr = (int)(item - &items[0][0]);

		MODEL_CHECK(nr / EACH < PUSHERS);
		MODEL_CHECK(nr % EACH > last[nr / EACH]);
		last[nr / EACH] = nr % EACH;
		payload_check(&item->payload);
		ledger.taken[nr / EACH][nr % EACH]++;
	}
}

static void taker(int id)
{
	int last[PUSHERS] = { -1, -1 };

	(void)id;
	take(last);
}

static void taker_twice(int id)
{
	int last[PUSHERS] = { -1, -1 };

	(void)id;
	take(last);
	take(last);
}

static void each_once(void)
{
	int last[PUSHERS] = { -1, -1 };

	take(last);
	for (int i = 0; i < PUSHERS * EACH; i++)
		MODEL_CHECK(ledger.taken[i / EACH][i % EACH] == 1);
	MODEL_CHECK(ledger.nr_first == ledger.nr_chains);
}

MODEL(two_pushers_one_taker, .setup = setup,
      .threads = { pusher, pusher, taker_twice }, .finish = each_once);

MODEL(two_pushers_two_takers, .setup = setup,
      .threads = { pusher, pusher, taker, taker }, .finish = each_once);

/* ---- a node comes back -------------------------------------------------------- */

/* The head that the other pusher has read is taken, and is the head again. */
static void push_take_and_push_again(int id)
{
	struct push_node *node;

	payload_write(&items[id][0].payload);
	push_list_push(&list, &items[id][0].node);
	for (node = push_list_take_all(&list); node;) {
		struct item *item = container_of(node, struct item, node);

		node = node->next;
		payload_check(&item->payload);
		push_list_push(&list, &item->node);
	}
}

static void push_one(int id)
{
	payload_write(&items[id][0].payload);
	push_list_push(&list, &items[id][0].node);
}

static void all_are_there(void)
{
	struct push_node *node = push_list_take_all(&list);
	int nr = 0;

	for (; node; node = node->next)
		nr++;
	MODEL_CHECK(nr == PUSHERS);
}

MODEL(a_head_comes_back, .setup = setup,
      .threads = { push_take_and_push_again, push_one },
      .finish = all_are_there);
