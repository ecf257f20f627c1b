/* SPDX-License-Identifier: MIT */
/*
 * lf_edge_list.c - src/lf/edge_list.h: each added edge is taken once, by the close
 * of its life; an adder that is too late, or comes to a life that is gone, sees the
 * data that the owner wrote before the close.
 *
 * An adder writes plain data before, which the owner reads after the close; and the
 * other way round.
 *
 * Complete for two adders against the owner, which closes and buries in one step or
 * in two, or begins the next life meanwhile; and for a thread that only looks.  The
 * models would not see mistakes that take three adders: the word has one newest
 * edge, whichever thread added the edge.  Lives that wrap around are not modelled.
 */
#include "payload.h"

#include "lf/edge_list.h"

#include <string.h>

#define ADDERS 2
#define LIVES 2

static struct edge_list list;
static struct edge edges[1 + ADDERS]; /* 0 is none */
static struct payload said[ADDERS];   /* before an edge is added  */
static struct payload happened;       /* before the list is closed */
static uint32_t next_life;            /* has begun                */
static struct ledger {
	int added[LIVES], taken[LIVES];
	int late, gone;
} ledger;

static void setup(void)
{
	memset(&list, 0, sizeof(list));
	memset(edges, 0, sizeof(edges));
	memset(said, 0, sizeof(said));
	memset(&happened, 0, sizeof(happened));
	memset(&ledger, 0, sizeof(ledger));
	next_life = 0;
	model_ledger(&ledger, sizeof(ledger));
	model_name(&list.word, "word");
	model_name(&next_life, "next_life");
	edges_bury(&list);
	edges_open(&list, 1);
}

/* ---- the adders: all threads but the first ---------------------------------------- */

static enum edges_added add_to(int id, uint32_t life)
{
	struct edge *edge = &edges[id];
	enum edges_added how;

	payload_write(&said[id - 1]);
	edge->to = (uint32_t)id;
	how = edges_add(&list, life, edge, (uint32_t)id);
	if (how == EDGES_ADDED)
		ledger.added[life - 1]++;
	ledger.late += how == EDGES_TOO_LATE;
	ledger.gone += how == EDGES_GONE;
	return how;
}

static void add(int id)
{
	if (add_to(id, 1) != EDGES_ADDED)
		payload_check(&happened);
}

static void look(int id)
{
	enum edges_added how = edges_look(&list, 1);

	(void)id;
	if (how == EDGES_ADDED)
		return;
	payload_check(&happened);
	/* A closed list stays closed. */
	MODEL_CHECK(edges_look(&list, 1) != EDGES_ADDED);
}

/* ---- the owner ----------------------------------------------------------------------- */

static void take(uint32_t id, uint32_t life)
{
	while (id) {
		struct edge edge = edges[id];

		MODEL_CHECK(edge.to == id);
		payload_check(&said[id - 1]);
		ledger.taken[life - 1]++;
		id = edge.next;
	}
}

static void close_it(int id)
{
	(void)id;
	payload_write(&happened);
	take(edges_close(&list, false), 1);
}

static void close_and_bury(int id)
{
	(void)id;
	payload_write(&happened);
	take(edges_close(&list, true), 1);
}

static void close_then_bury(int id)
{
	close_it(id);
	edges_bury(&list);
}

static void check_taken(void)
{
	for (int i = 0; i < LIVES; i++)
		MODEL_CHECK(ledger.taken[i] == ledger.added[i]);
}

static void is_closed(void)
{
	MODEL_CHECK(list.word == edges_word(1, EDGES_CLOSED));
	MODEL_CHECK(ledger.added[0] + ledger.late == ADDERS);
	check_taken();
}

static void is_gone(void)
{
	MODEL_CHECK(list.word == edges_word(2, EDGES_CLOSED));
	MODEL_CHECK(ledger.added[0] + ledger.late + ledger.gone == ADDERS);
	check_taken();
}

MODEL(two_add_and_one_closes, .setup = setup, .threads = { close_it, add, add },
      .finish = is_closed);

MODEL(two_add_and_one_closes_for_good, .setup = setup,
      .threads = { close_and_bury, add, add }, .finish = is_gone);

MODEL(two_add_and_one_closes_in_two_steps, .setup = setup,
      .threads = { close_then_bury, add, add }, .finish = is_gone);

static void was_looked_at(void)
{
	MODEL_CHECK(list.word == edges_word(2, EDGES_CLOSED));
	check_taken();
}

MODEL(one_looks, .setup = setup, .threads = { close_and_bury, look, look },
      .finish = was_looked_at);

MODEL(one_looks_while_it_is_buried, .setup = setup,
      .threads = { close_then_bury, look }, .finish = was_looked_at);

/* ---- the next life --------------------------------------------------------------------- */

/* No edge was added to either life: the words differ in the life only. */
static void live_twice(int id)
{
	close_and_bury(id);
	edges_open(&list, edges_life(&list));
	store_release(&next_life, 1);
	take(edges_close(&list, true), 2);
}

/* Knows the second life. */
static void add_to_the_next(int id)
{
	while (!load_acquire(&next_life))
		spin_hint(&next_life);
	MODEL_CHECK(add_to(id, 2) != EDGES_TOO_LATE);
}

static void has_lived_twice(void)
{
	MODEL_CHECK(list.word == edges_word(3, EDGES_CLOSED));
	MODEL_CHECK(ledger.late == 0);
	MODEL_CHECK(ledger.added[0] + ledger.added[1] + ledger.gone == ADDERS);
	check_taken();
}

MODEL(a_late_one_meets_the_next_life, .setup = setup,
      .threads = { live_twice, add, add_to_the_next },
      .finish = has_lived_twice);

MODEL(two_late_ones_meet_the_next_life, .setup = setup,
      .threads = { live_twice, add, add }, .finish = has_lived_twice);

MODEL(one_looks_at_the_next_life, .setup = setup,
      .threads = { live_twice, look }, .finish = check_taken);
