/* SPDX-License-Identifier: MIT */
/*
 * roster.h - the children of a supervisor, in order and by pid.
 *
 * The order is that in which they were added, and so started.  A table of buckets
 * finds one by its pid, since a supervisor may have a hundred thousand children; it
 * doubles when there are more children than buckets, unless there is no memory:
 * then it is slower.  Children that never lived have no pid, and are in no bucket.
 *
 * A child that is forgotten while reminders of its are still to come stays on a
 * list until they have come.
 */
#ifndef SLEY_ACTOR_ROSTER_H
#define SLEY_ACTOR_ROSTER_H

#include "actor/child.h"
#include "base/compiler.h"
#include "base/list.h"
#include "mem/alloc.h"

#define ROSTER_FEW 4 /* buckets that need no memory */

struct roster {
	struct list order; /* the first one first             */
	struct list gone;  /* forgotten, not yet free         */
	struct child **bucket;
	uint32_t nr_buckets; /* a power of two                  */
	uint32_t nr;         /* children in buckets             */
	struct child *few[ROSTER_FEW];
};

void roster_init(struct roster *roster);

/* Frees all of them. */
void roster_fini(struct roster *roster, struct mem *mem);

/* The last in order from now on. */
void roster_append(struct roster *roster, struct child *child);

/* child_start(), and the roster knows of the new pid. */
must_check int roster_start(struct roster *roster, struct child *child,
			    struct mem *mem);

/* Whose pid is, or was last, @pid; NULL: nobody's. */
must_check struct child *roster_find(const struct roster *roster, sley_pid pid);

/* The same, or whose first pid it was. */
must_check struct child *roster_find_ever(const struct roster *roster,
					  sley_pid pid);

/* @child, which does not live, is no child any more. */
void roster_forget(struct roster *roster, struct child *child, struct mem *mem);

/* A stale reminder of @child, which is gone, has come. */
void roster_sweep(struct child *child, struct mem *mem);

static inline struct child *roster_child(struct list *order)
{
	return container_of(order, struct child, order);
}

/* The next in order, or the one before; NULL: there is none. */
static inline struct child *roster_next(const struct roster *roster,
					const struct child *child)
{
	struct list *next = child->order.next;

	return next == &roster->order ? NULL : roster_child(next);
}

static inline struct child *roster_previous(const struct roster *roster,
					    const struct child *child)
{
	struct list *previous = child->order.prev;

	return previous == &roster->order ? NULL : roster_child(previous);
}

static inline struct child *roster_first(const struct roster *roster)
{
	struct list *first = list_first(&roster->order);

	return first ? roster_child(first) : NULL;
}

static inline struct child *roster_last(const struct roster *roster)
{
	return list_empty(&roster->order) ? NULL
					  : roster_child(roster->order.prev);
}

#endif
