/* SPDX-License-Identifier: MIT */
/*
 * list.h - an intrusive doubly linked ring.
 *
 *      head <──► first <──► second <──► ... <──► last <──► head
 *
 * One struct serves as head and as node.  An empty head and a node that is on
 * no list both point at themselves, so removing needs no head and no special
 * case, and list_empty(node) answers "is it on no list?".  The list knows
 * nothing of threads: the owner of the head serialises.
 *
 * Every operation takes constant time.  container_of() gets from the node to
 * the struct around the node.
 */
#ifndef SLEY_BASE_LIST_H
#define SLEY_BASE_LIST_H

#include "base/assert.h"

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *next, *prev;
};

/* For heads and for nodes: both must be initialised before first use. */
static inline void list_init(struct list *list)
{
	list->next = list;
	list->prev = list;
}

/* Of a head: the list is empty.  Of a node: the node is on no list. */
static inline bool list_empty(const struct list *list)
{
	return list->next == list;
}

static inline void list_insert_between(struct list *node, struct list *prev,
				       struct list *next)
{
	sley_assert(list_empty(node));
	sley_assert(prev->next == next);
	sley_assert(next->prev == prev);
	node->prev = prev;
	node->next = next;
	prev->next = node;
	next->prev = node;
}

static inline void list_append(struct list *head, struct list *node)
{
	list_insert_between(node, head->prev, head);
}

static inline void list_prepend(struct list *head, struct list *node)
{
	list_insert_between(node, head, head->next);
}

/* @node is initialised again; removing @node twice changes nothing. */
static inline void list_remove(struct list *node)
{
	sley_assert(node->prev->next == node);
	sley_assert(node->next->prev == node);
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}

/* NULL when empty. */
static inline struct list *list_first(const struct list *head)
{
	return list_empty(head) ? NULL : head->next;
}

/* Removes and returns the first node; NULL when empty. */
static inline struct list *list_take_first(struct list *head)
{
	struct list *first = list_first(head);

	if (first)
		list_remove(first);
	return first;
}

#endif
