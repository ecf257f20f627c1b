/* SPDX-License-Identifier: MIT */
/*
 * plan_cycle.c - nodes that wait for each other in a cycle.
 *
 * Nodes without missing predecessors are removed, and count themselves off with
 * their successors.  The nodes that are left are part of a cycle, or successors of a
 * cycle.  Each has a predecessor that is left, too.  A walk from predecessor to
 * predecessor, with as many steps as there are nodes, ends in a cycle.
 *
 * This is a loop over the edges without recursion, since a plan may be a chain of
 * millions.
 */
#include "graph/node/explain.h"
#include "graph/plan/plan.h"

#include <stdio.h>

/* Nodes that can be removed are a stack, chained by @via. */
static void push(struct sley_plan *plan, uint32_t *top, uint32_t index)
{
	plan->record[index].via = *top;
	*top = index;
}

static uint32_t successor(const struct sley_plan *plan,
			  const struct record *record, uint32_t i)
{
	return plan->edge[record->first + i] & ~LINK_ORDER_ONLY;
}

/* Returns how many nodes are left.  Their nr_missing is not 0. */
static uint32_t take_away(struct sley_plan *plan)
{
	uint32_t left = plan->nr - 1, top = 0;
	const struct record *record = &plan->record[0];

	for (uint32_t i = 1; i < plan->nr; i++)
		plan->record[i].nr_missing = plan->record[i].nr_predecessors;
	for (;;) {
		for (uint32_t i = 0; i < record->nr_edges; i++) {
			uint32_t to = successor(plan, record, i);

			if (!--plan->record[to].nr_missing)
				push(plan, &top, to);
		}
		if (!top)
			return left;
		record = &plan->record[top];
		top = record->via;
		left--;
	}
}

/* Notes for each node that is left, in @via, a predecessor that is left. */
static uint32_t look_back(struct sley_plan *plan)
{
	uint32_t some = 0;

	for (uint32_t i = 1; i < plan->nr; i++) {
		const struct record *record = &plan->record[i];

		if (!record->nr_missing)
			continue;
		for (uint32_t j = 0; j < record->nr_edges; j++)
			plan->record[successor(plan, record, j)].via = i;
		some = i;
	}
	return some;
}

/* Reverses the cycle: from @via to @at.  Returns its first node. */
static uint32_t turn_round(struct sley_plan *plan, uint32_t start)
{
	uint32_t first = start, index = start;

	do {
		uint32_t via = plan->record[index].via;

		plan->record[via].at = index;
		index = via;
		if (index < first)
			first = index;
	} while (index != start);
	return first;
}

bool plan_find_cycle(struct sley_plan *plan)
{
	uint32_t left = take_away(plan);
	uint32_t index;

	if (likely(!left))
		return false;
	index = look_back(plan);
	while (left--)
		index = plan->record[index].via;
	plan->cycle = turn_round(plan, index);
	return true;
}

/* The name, or else the number, so that the nodes of a cycle can be identified. */
static void say(struct explanation *text, const struct sley_plan *plan,
		uint32_t index, const char *before)
{
	const char *name = plan->record[index].name;
	char number[32];

	(void)snprintf(number, sizeof(number), "node %u", index);
	explanation_say(text, before, name ? name : number);
}

int sley_plan_cycle(struct sley_plan *plan, char *at, size_t size)
{
	struct explanation text = { .at = at, .size = size };
	uint32_t index = plan->cycle;

	if (index) {
		say(&text, plan, index, "");
		do {
			index = plan->record[index].at;
			say(&text, plan, index, " -> ");
		} while (index != plan->cycle);
	}
	return explanation_length(&text);
}
