/* SPDX-License-Identifier: MIT */
/*
 * children.h - the children of a supervisor, in order and by pid.
 *
 * The order is the order in which the children were added, and so started.  A
 * hash table finds a child by its pid, since a supervisor may have a hundred
 * thousand children.  The table doubles when there are more children than buckets,
 * unless there is no memory: then it is slower.  Children that never ran have no
 * pid, and are not in the table.
 *
 * A child that is forgotten while some of its reminders are still to come stays
 * on a list until they have come.
 */
#ifndef SLEY_ACTOR_SUPERVISOR_CHILDREN_H
#define SLEY_ACTOR_SUPERVISOR_CHILDREN_H

#include "actor/supervisor/child.h"
#include "base/compiler.h"
#include "base/hash.h"
#include "base/list.h"
#include "mem/alloc.h"

#define CHILDREN_FEW_BITS 2 /* 2^2 buckets need no memory */

struct children {
	struct list order; /* the first child first           */
	struct list gone;  /* forgotten, not yet free         */
	struct hash_table by_pid;
	struct hash_node *few[1 << CHILDREN_FEW_BITS];
};

void children_init(struct children *children);

/* Free all children. */
void children_fini(struct children *children, struct mem *mem);

/* The last in order from now on. */
void children_append(struct children *children, struct child *child);

/* child_start(), with the new pid in the table. */
must_check int children_start(struct children *children, struct child *child,
			      struct mem *mem);

/* The child whose present or last pid is @pid; or NULL. */
must_check struct child *children_find(const struct children *children,
				       sley_pid pid);

/* The same, or the child whose first pid was @pid. */
must_check struct child *children_find_ever(const struct children *children,
					    sley_pid pid);

/* @child, which does not live, is no child any more. */
void children_forget(struct children *children, struct child *child,
		     struct mem *mem);

/* A stale reminder of @child, which is gone, has come. */
void children_sweep(struct child *child, struct mem *mem);

static inline struct child *children_child(struct list *order)
{
	return container_of(order, struct child, order);
}

/* The next child in order, or the previous child; NULL: there is no such child. */
static inline struct child *children_next(const struct children *children,
					  const struct child *child)
{
	struct list *next = child->order.next;

	return next == &children->order ? NULL : children_child(next);
}

static inline struct child *children_previous(const struct children *children,
					      const struct child *child)
{
	struct list *previous = child->order.prev;

	return previous == &children->order ? NULL : children_child(previous);
}

static inline struct child *children_first(const struct children *children)
{
	struct list *first = list_first(&children->order);

	return first ? children_child(first) : NULL;
}

static inline struct child *children_last(const struct children *children)
{
	return list_empty(&children->order)
		       ? NULL
		       : children_child(children->order.prev);
}

#endif
