/* SPDX-License-Identifier: MIT */
/*
 * lf_inbox.c - src/lf/inbox.h: each node is taken exactly once, and the nodes of a
 * putter in their order; only one putter is told to wake the owner, and finds the
 * owner parked; and no node waits while the owner sleeps.
 *
 * The owner behaves as a process: the owner looks at a single node, and takes
 * several nodes.  When the inbox is empty, the owner parks, that is, writes plain
 * data that the waker reads; then the owner rests, or goes on.  The owner writes to
 * a node that it has looked at when the node is out of the inbox.  A waker hands the
 * owner over by a separate word.  The owner lives until it has seen all expected
 * nodes; or it closes, and then the refused and the received nodes are all nodes.
 * Then the place has a next owner, which opens the inbox.  A putter that knew the
 * first owner may be late, and its node comes to the second owner.
 *
 * Complete for two putters, of two nodes and of one, against an owner that rests
 * any number of times; for two putters against an owner that closes; for a putter
 * against an owner that closes and a next owner that opens, rests and closes; for a
 * node that is put in again as soon as the owner has put it away; and for a chain of
 * two nodes and a putter of one node, against an owner that rests, and an owner that
 * closes: both nodes of the chain are taken with nothing in between, or both are
 * refused.  Not seen: three putters; a swap has one word and one guess, whichever
 * putter changed the word.
 */
#include "payload.h"

#include "lf/inbox.h"

#include <string.h>

#define PUTTERS 2
#define EACH 2

static struct inbox inbox;
static uint32_t ready; /* 1: the owner was woken */
static struct payload parked;
static struct push_node *seen; /* by the owner, and still in the inbox */
static uint32_t spare;         /* 1: the seen node is out */
static bool is_used_again;
static bool is_pair; /* the first two are put as a chain */
static struct item {
	struct push_node node;
	struct payload payload; /* written before the put */
} items[PUTTERS][EACH];
static struct ledger {
	int taken[PUTTERS][EACH];
	int last[PUTTERS];
	int newest; /* that was taken */
	int nr_taken, nr_refused, nr_rests, nr_wakes;
} ledger;

static void setup(void)
{
	inbox = (struct inbox){ INBOX_EMPTY };
	ready = 0;
	seen = NULL;
	spare = 0;
	is_used_again = false;
	is_pair = false;
	model_name(&spare, "spare");
	parked = (struct payload){ 0 };
	memset(items, 0, sizeof(items));
	memset(&ledger, 0, sizeof(ledger));
	ledger.newest = -1;
	model_ledger(&ledger, sizeof(ledger));
	model_name(&inbox.word, "inbox");
	model_name(&ready, "ready");
	for (int i = 0; i < PUTTERS; i++) {
		ledger.last[i] = -1;
		for (int k = 0; k < EACH; k++)
			model_name(&items[i][k], "node%d%d", i, k);
	}
}

/* ---- putters ------------------------------------------------------------------- */

static void wake(void)
{
	payload_check(&parked);
	ledger.nr_wakes++;
	MODEL_CHECK(xchg_acq_rel(&ready, 1) == 0);
}

static void put(struct item *item)
{
	payload_write(&item->payload);
	switch (inbox_put(&inbox, &item->node)) {
	case INBOX_TAKEN:
		break;
	case INBOX_WAKE:
		wake();
		break;
	case INBOX_REFUSED:
		payload_check(&item->payload); /* still its own */
		ledger.nr_refused++;
	}
}

static void put_one(int id)
{
	put(&items[id][0]);
}

static void put_two(int id)
{
	put(&items[id][0]);
	put(&items[id][1]);
}

/* Both nodes as a chain: nothing comes in between. */
static void put_pair(int id)
{
	struct item *older = &items[id][0], *newer = &items[id][1];

	payload_write(&older->payload);
	payload_write(&newer->payload);
	newer->node.next = &older->node;
	switch (inbox_put_chain(&inbox, &newer->node, &older->node)) {
	case INBOX_TAKEN:
		break;
	case INBOX_WAKE:
		wake();
		break;
	case INBOX_REFUSED:
		MODEL_CHECK(newer->node.next == &older->node);
		payload_check(&older->payload);
		payload_check(&newer->payload);
		ledger.nr_refused += 2;
	}
}

/* ---- the owner ------------------------------------------------------------------- */

static void got(const struct push_node *node)
{
	for (; node; node = node->next) {
		const struct item *item = container_of(node, struct item, node);
		int nr = (int)(item - &items[0][0]);

		MODEL_CHECK(nr / EACH < PUTTERS);
		MODEL_CHECK(nr % EACH > ledger.last[nr / EACH]);
		MODEL_CHECK(!is_pair || nr != 1 || ledger.newest == 0);
		ledger.newest = nr;
		ledger.last[nr / EACH] = nr % EACH;
		payload_check(&item->payload);
		ledger.taken[nr / EACH][nr % EACH]++;
		ledger.nr_taken++;
	}
}

/*
 * A node that a single look finds stays in the inbox until the owner rests, takes or
 * closes; only then the node is put away, and its memory is used again.
 */
static void put_away(void)
{
	if (!seen)
		return;
	container_of(seen, struct item, node)->payload.value = 0;
	seen = NULL;
	if (is_used_again)
		store_release(&spare, 1);
}

static void take(void)
{
	struct push_node *rest;

	if (!seen && (seen = inbox_peek(&inbox))) {
		got(seen);
		return;
	}
	rest = inbox_take(&inbox, seen);
	put_away();
	got(rest);
}

static void close(void)
{
	struct push_node *rest = inbox_close(&inbox, seen);

	put_away();
	got(rest);
}

/* Sleeps unless a node came. */
static void sleep_once(void)
{
	payload_write(&parked);
	if (!inbox_rest(&inbox, seen))
		return;
	put_away();
	ledger.nr_rests++;
	while (!xchg_acq_rel(&ready, 0))
		spin_hint(&ready);
	parked.value = 0;
}

static void take_all(int nr)
{
	while (ledger.nr_taken < nr) {
		take();
		if (ledger.nr_taken < nr && !inbox_has_more(&inbox, seen))
			sleep_once();
	}
}

static void owner_of_three(int id)
{
	(void)id;
	take_all(3);
}

static void owner_of_two(int id)
{
	(void)id;
	take_all(2);
}

static void owner_closes(int id)
{
	(void)id;
	take();
	close();
}

/* ---- conditions ---------------------------------------------------------------------- */

static void each_wake_for_a_rest(int nr)
{
	int sum = 0;

	for (int i = 0; i < PUTTERS * EACH; i++) {
		MODEL_CHECK(ledger.taken[i / EACH][i % EACH] <= 1);
		sum += ledger.taken[i / EACH][i % EACH];
	}
	MODEL_CHECK(sum + ledger.nr_refused == nr);
	MODEL_CHECK(ledger.nr_wakes == ledger.nr_rests);
	MODEL_CHECK(ready == 0);
}

static void all_three(void)
{
	MODEL_CHECK(ledger.nr_refused == 0);
	(void)inbox_take(&inbox, seen);
	MODEL_CHECK(inbox.word == INBOX_EMPTY);
	each_wake_for_a_rest(3);
}

static void all_two(void)
{
	MODEL_CHECK(ledger.nr_refused == 0);
	(void)inbox_take(&inbox, seen);
	MODEL_CHECK(inbox.word == INBOX_EMPTY);
	each_wake_for_a_rest(2);
}

static void closed_with_two(void)
{
	MODEL_CHECK(inbox.word == INBOX_CLOSED);
	each_wake_for_a_rest(2);
}

MODEL(two_put_and_the_owner_sleeps, .setup = setup,
      .threads = { put_one, put_one, owner_of_two }, .finish = all_two);

MODEL(one_puts_two_and_the_owner_sleeps, .setup = setup,
      .threads = { put_two, owner_of_two }, .finish = all_two);

MODEL(three_are_put_in_order, .setup = setup,
      .threads = { put_two, put_one, owner_of_three }, .finish = all_three);

MODEL(two_put_and_the_owner_closes, .setup = setup,
      .threads = { put_one, put_one, owner_closes }, .finish = closed_with_two);

MODEL(one_puts_two_and_the_owner_closes, .setup = setup,
      .threads = { put_two, owner_closes }, .finish = closed_with_two);

/* ---- chains --------------------------------------------------------------------------- */

static void setup_pair(void)
{
	setup();
	is_pair = true;
}

static void closed_with_three(void)
{
	MODEL_CHECK(inbox.word == INBOX_CLOSED);
	MODEL_CHECK(ledger.taken[0][0] == ledger.taken[0][1]);
	each_wake_for_a_rest(3);
}

MODEL(a_pair_and_the_owner_sleeps, .setup = setup_pair,
      .threads = { put_pair, owner_of_two }, .finish = all_two);

MODEL(nothing_comes_between_a_pair, .setup = setup_pair,
      .threads = { put_pair, put_one, owner_of_three }, .finish = all_three);

MODEL(a_pair_comes_or_is_refused, .setup = setup_pair,
      .threads = { put_pair, put_one, owner_closes },
      .finish = closed_with_three);

/* ---- the next owner ------------------------------------------------------------------- */

/*
 * The first owner goes and the second owner comes, in one thread: the place is the
 * same.  Another thread hears of the second owner, and sends the last node; so the
 * second owner sleeps, and a late putter may wake it.
 */
static uint32_t known;

static void setup_next(void)
{
	setup();
	known = 0;
	model_name(&known, "known");
}

static void two_owners(int id)
{
	(void)id;
	take();
	close();
	inbox_open(&inbox);
	store_release(&known, 1); /* as a pid would be */
	while (!ledger.taken[1][1]) {
		take();
		if (!ledger.taken[1][1])
			sleep_once();
	}
	close();
}

static void put_last(int id)
{
	while (!load_acquire(&known))
		spin_hint(&known);
	put(&items[id][1]);
}

static void the_last_came(void)
{
	MODEL_CHECK(ledger.taken[1][1] == 1);
	MODEL_CHECK(inbox.word == INBOX_CLOSED);
	each_wake_for_a_rest(2);
}

MODEL(a_late_putter_meets_the_next_owner, .setup = setup_next,
      .threads = { put_one, put_last, two_owners }, .finish = the_last_came);

/* ---- memory is used again ------------------------------------------------------------- */

/*
 * One node is there already.  As soon as the owner has put it away it comes back,
 * by another thread, while a putter may still have it as its guess of the word.
 */
static void setup_there(void)
{
	setup();
	is_used_again = true;
	payload_write(&items[0][0].payload);
	MODEL_CHECK(inbox_put(&inbox, &items[0][0].node) == INBOX_TAKEN);
}

static void use_again(int id)
{
	(void)id;
	while (!load_acquire(&spare))
		spin_hint(&spare);
	put(&items[0][0]);
}

static void owner_frees(int id)
{
	(void)id;
	take();
	ledger.last[0] = -1;
	if (!seen)
		store_release(&spare, 1);
	take_all(3);
}

static void came_twice(void)
{
	MODEL_CHECK(ledger.taken[0][0] == 2 && ledger.taken[1][0] == 1);
	MODEL_CHECK(ledger.nr_wakes == ledger.nr_rests);
	(void)inbox_take(&inbox, seen);
	MODEL_CHECK(inbox.word == INBOX_EMPTY);
}

MODEL(what_was_put_away_comes_back, .setup = setup_there,
      .threads = { use_again, put_one, owner_frees }, .finish = came_twice);
