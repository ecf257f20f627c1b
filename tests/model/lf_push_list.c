/* SPDX-License-Identifier: MIT */
/*
 * lf_push_list.c - src/lf/push_list.h: each node is taken exactly once, and the
 * nodes of one pusher in their order; exactly one pusher hears that the list
 * was empty for each time it was.
 *
 * Complete for two pushers of two nodes and two takers.  A node is not pushed
 * again after it was taken.
 */
#include "explorer.h"

#include "lf/push_list.h"

#include <string.h>

#define PUSHERS 2
#define EACH 2

static struct push_list list;
static struct push_node nodes[PUSHERS][EACH];
static int taken[PUSHERS][EACH];
static int nr_first, nr_chains;

static void setup(void)
{
	memset(&list, 0, sizeof(list));
	memset(nodes, 0, sizeof(nodes));
	memset(taken, 0, sizeof(taken));
	nr_first = nr_chains = 0;
	model_ledger(&nr_first, sizeof(nr_first));
	model_ledger(&nr_chains, sizeof(nr_chains));
	model_name(&list.head, "head");
	for (int i = 0; i < PUSHERS * EACH; i++)
		model_name(&nodes[i / EACH][i % EACH], "node%d%d", i / EACH,
			   i % EACH);
}

static void pusher(int id)
{
	for (int i = 0; i < EACH; i++)
		nr_first += push_list_push(&list, &nodes[id][i]);
}

static void take(int last[PUSHERS])
{
	struct push_node *node = push_list_take_all(&list);

	nr_chains += node != NULL;
	for (; node; node = node->next) {
		int nr = (int)(node - &nodes[0][0]);

		MODEL_CHECK(nr / EACH < PUSHERS);
		MODEL_CHECK(nr % EACH > last[nr / EACH]);
		last[nr / EACH] = nr % EACH;
		taken[nr / EACH][nr % EACH]++;
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
	struct push_node *node = push_list_take_all(&list);

	nr_chains += node != NULL;
	for (; node; node = node->next) {
		int nr = (int)(node - &nodes[0][0]);

		taken[nr / EACH][nr % EACH]++;
	}
	for (int i = 0; i < PUSHERS * EACH; i++)
		MODEL_CHECK(taken[i / EACH][i % EACH] == 1);
	MODEL_CHECK(nr_first == nr_chains);
}

MODEL(two_pushers_one_taker, .setup = setup,
      .threads = { pusher, pusher, taker_twice }, .finish = each_once);

MODEL(two_pushers_two_takers, .setup = setup,
      .threads = { pusher, pusher, taker, taker }, .finish = each_once);
