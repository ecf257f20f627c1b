/* SPDX-License-Identifier: MIT */
/*
 * readers.c - see readers.h.
 */
#include "graph/access/readers.h"

#include <string.h>

#define PAGE_READERS 7

/* A cell of the ranges. */
struct reader_page {
	uint64_t next; /* the number of the next page, or 0 */
	sley_node reader[PAGE_READERS];
};

_Static_assert(sizeof(struct reader_page) == sizeof(struct range), "a cell");

static struct reader_page *page_at(const struct ranges *ranges, uint64_t i)
{
	return (struct reader_page *)(void *)&ranges->cell[i];
}

/* How many readers are in pages. */
static uint32_t nr_paged(const struct range *range)
{
	return range->nr_readers > RANGE_READERS
		       ? range->nr_readers - (RANGE_READERS - 1)
		       : 0;
}

/* How many of the @nr readers in pages are in the first page. */
static uint32_t nr_in_first(uint32_t nr)
{
	return (nr - 1) % PAGE_READERS + 1;
}

/* Adds a page whose first reader is @node. */
static void add_page(struct ranges *ranges, struct range *range, uint64_t next,
		     sley_node node)
{
	uint32_t i = ranges_take_cell(ranges);
	struct reader_page *page = page_at(ranges, i);

	page->next = next;
	page->reader[0] = node;
	range->reader[RANGE_READERS - 1] = i;
}

void readers_add_paged(struct ranges *ranges, struct range *range,
		       sley_node node)
{
	sley_node last = range->reader[RANGE_READERS - 1];
	uint32_t nr = nr_paged(range);

	if (!nr) {
		add_page(ranges, range, 0, last);
		last = range->reader[RANGE_READERS - 1];
		nr = 1;
	}
	if (nr % PAGE_READERS == 0)
		add_page(ranges, range, last, node);
	else
		page_at(ranges, last)->reader[nr % PAGE_READERS] = node;
	range->nr_readers++;
}

int readers_list(const struct ranges *ranges, const struct range *range,
		 struct node_list *list)
{
	uint32_t left = nr_paged(range), own = range->nr_readers - left;
	uint64_t page = range->reader[RANGE_READERS - 1];
	int err = node_list_reserve(list, ranges->mem, range->nr_readers);

	if (err)
		return err;
	for (uint32_t i = 0; i < own; i++)
		node_list_add(list, range->reader[i]);
	while (left) {
		const struct reader_page *from = page_at(ranges, page);
		uint32_t nr = nr_in_first(left);

		for (uint32_t i = 0; i < nr; i++)
			node_list_add(list, from->reader[i]);
		left -= nr;
		page = from->next;
	}
	return 0;
}

/* Each page is given back before its remaining readers are added: there is room. */
void readers_prune(struct ranges *ranges, struct range *range,
		   bool (*is_over)(void *arg, sley_node node), void *arg)
{
	uint32_t left = nr_paged(range), nr = range->nr_readers - left;
	struct reader_page page = { range->reader[RANGE_READERS - 1], { 0 } };
	uint32_t given;

	memcpy(page.reader, range->reader, nr * sizeof(*page.reader));
	range->nr_readers = 0;
	for (;;) {
		for (uint32_t i = 0; i < nr; i++) {
			if (!is_over(arg, page.reader[i]))
				readers_add(ranges, range, page.reader[i]);
		}
		if (!left)
			break;
		nr = nr_in_first(left);
		left -= nr;
		given = (uint32_t)page.next;
		page = *page_at(ranges, given);
		ranges_give_cell(ranges, given);
	}
	range->prune = READERS_FEW;
	while (2 * (uint64_t)range->nr_readers >> range->prune)
		range->prune++;
}

void readers_forget_paged(struct ranges *ranges, struct range *range)
{
	uint32_t left = nr_paged(range);
	uint64_t page = range->reader[RANGE_READERS - 1];

	while (left) {
		uint64_t next = page_at(ranges, page)->next;

		ranges_give_cell(ranges, (uint32_t)page);
		left -= nr_in_first(left);
		page = next;
	}
}
