/* SPDX-License-Identifier: MIT */
/*
 * plan_seal.c - from the recorded edges to the successors of each node.
 *
 * The edges are sorted by their origin, by counting: a slice of one array for each
 * node, in the order in which they were recorded.  Of several edges between the same
 * two nodes one stays.  It is order-only if all of them are.  At the end of the
 * array are the edges from node 0, to all nodes without other predecessors.
 */
#include "graph/plan/plan.h"

#include <errno.h>

static uint32_t link_to(const struct link *link)
{
	return link->to & ~LINK_ORDER_ONLY;
}

/* Lays out the slices for all recorded edges; returns their end. */
static uint32_t lay_out(struct sley_plan *plan)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < plan->nr; i++) {
		struct record *record = &plan->record[i];

		record->nr_edges = 0;
		record->nr_predecessors = 0;
		record->via = 0;
	}
	for (uint32_t i = 0; i < plan->nr_links; i++) {
		plan->record[plan->link[i].from].nr_edges++;
		plan->record[link_to(&plan->link[i])].nr_predecessors++;
	}
	for (uint32_t i = 1; i < plan->nr; i++) {
		plan->record[i].first = end;
		end += plan->record[i].nr_edges;
		plan->record[i].nr_edges = 0;
	}
	return end;
}

static uint32_t count_sources(const struct sley_plan *plan)
{
	uint32_t nr = 0;

	for (uint32_t i = 1; i < plan->nr; i++)
		nr += !plan->record[i].nr_predecessors;
	return nr;
}

static void sort(struct sley_plan *plan)
{
	for (uint32_t i = 0; i < plan->nr_links; i++) {
		const struct link *link = &plan->link[i];
		struct record *from = &plan->record[link->from];

		plan->edge[from->first + from->nr_edges++] = link->to;
	}
}

/* Keeps one edge from @from to each successor, which notes origin and position. */
static void drop_doubles(struct sley_plan *plan, uint32_t from)
{
	struct record *record = &plan->record[from];
	uint32_t *edge = &plan->edge[record->first];
	uint32_t nr = 0;

	for (uint32_t i = 0; i < record->nr_edges; i++) {
		uint32_t order_only = edge[i] & LINK_ORDER_ONLY;
		struct record *to = &plan->record[edge[i] & ~LINK_ORDER_ONLY];

		if (to->via != from) {
			to->via = from;
			to->at = nr;
			edge[nr++] = edge[i];
			continue;
		}
		to->nr_predecessors--;
		if (!order_only)
			edge[to->at] &= ~LINK_ORDER_ONLY;
	}
	record->nr_edges = nr;
}

/* Adds edges from node 0, with a slice at @end, to nodes without predecessors. */
static void add_beginning(struct sley_plan *plan, uint32_t end)
{
	struct record *begin = &plan->record[0];

	begin->first = end;
	for (uint32_t i = 1; i < plan->nr; i++) {
		if (plan->record[i].nr_predecessors)
			continue;
		plan->record[i].nr_predecessors = 1;
		plan->edge[end + begin->nr_edges++] = i;
	}
}

static void count_sinks(struct sley_plan *plan)
{
	plan->nr_sinks = 0;
	for (uint32_t i = 0; i < plan->nr; i++)
		plan->nr_sinks += !plan->record[i].nr_edges;
}

static uint32_t relative(uint32_t from, uint32_t edge)
{
	uint32_t to = edge & ~LINK_ORDER_ONLY;

	return (to - from) << EDGE_SHIFT | (edge == to ? 0 : EDGE_ORDER);
}

/* Replaces the numbers of nodes by distances. */
static void make_relative(struct sley_plan *plan)
{
	for (uint32_t i = 0; i < plan->nr; i++) {
		const struct record *record = &plan->record[i];
		uint32_t *edge = &plan->edge[record->first];

		for (uint32_t j = 0; j < record->nr_edges; j++)
			edge[j] = relative(i, edge[j]);
	}
}

int plan_compile(struct sley_plan *plan)
{
	struct mem *mem = &plan->rt->mem;
	uint32_t end = lay_out(plan);

	plan->cycle = 0;
	plan->nr_edges = end + count_sources(plan);
	/* Never an array of size 0: NULL would mean that there is no memory. */
	plan->edge = mem_alloc(mem, (plan->nr_edges + 1) * sizeof(*plan->edge));
	plan->verdict = mem_alloc(mem, plan->nr * sizeof(*plan->verdict));
	if (!plan->edge || !plan->verdict)
		return -ENOMEM;
	sort(plan);
	for (uint32_t i = 1; i < plan->nr; i++)
		drop_doubles(plan, i);
	add_beginning(plan, end);
	count_sinks(plan);
	if (plan_find_cycle(plan))
		return -ELOOP;
	make_relative(plan);
	return 0;
}

void plan_forget(struct sley_plan *plan)
{
	struct mem *mem = &plan->rt->mem;

	if (plan->edge)
		mem_free(mem, plan->edge,
			 (plan->nr_edges + 1) * sizeof(*plan->edge));
	mem_free(mem, plan->verdict, plan->nr * sizeof(*plan->verdict));
	plan->edge = NULL;
	plan->verdict = NULL;
}
