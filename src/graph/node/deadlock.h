/* SPDX-License-Identifier: MIT */
/*
 * deadlock.h - finds cycles of nodes that wait for each other, and reports them.
 *
 * Edges make no cycle: a node depends on nodes that were submitted before it.  But
 * the function of a node may wait for a scope.  This is a deadlock if a node of that
 * scope depends on the waiting node, for example reads its output.
 *
 * So the graph knows the nodes that wait for one of its scopes.  A node that has
 * waited for long looks for a cycle.  It marks all its direct and indirect
 * successors, and their scopes; then all successors of nodes that wait for a marked
 * scope; and so on.  If the scope that it waits for gets a mark, there is a cycle.
 * The cycle is reported, by names.
 *
 * There are no false alarms.  The lock of the graph is held during a look, and waits
 * begin and end only under the lock.  A node that waits does not end, so its
 * successors do not end either.  The edge lists of nodes that have not ended only
 * grow, under the lock.
 *
 * Each look visits a node, a scope, and a waiter at most once.  The first look comes
 * after deadlock_first_ns(), the others ever later: a node that is submitted in
 * between may close the cycle.
 *
 * Not seen: cycles through other graphs, plans, locks or channels; nor cycles with a
 * wait that has a deadline, which do not last.
 */
#ifndef SLEY_GRAPH_NODE_DEADLOCK_H
#define SLEY_GRAPH_NODE_DEADLOCK_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

struct node;
struct predecessors;
struct sley_graph;
struct sley_graph_scope;

#define DEADLOCK_FIRST_NS 250000000u
#define DEADLOCK_LAST_NS 8000000000u

/*
 * The time before the first look.  It is constant, except in a build with
 * SLEY_CHAOS, which is made to find bugs: there a test may shorten it before the
 * runtime starts.
 */
#if defined(SLEY_CHAOS) && !defined(SLEY_MODEL)
extern uint64_t deadlock_first_ns_for_tests;
#endif

static inline uint64_t deadlock_first_ns(void)
{
#if defined(SLEY_CHAOS) && !defined(SLEY_MODEL)
	return deadlock_first_ns_for_tests;
#else
	return DEADLOCK_FIRST_NS;
#endif
}

/* A node that waits for a scope of its graph, without a deadline.  (lock) */
struct scope_wait {
	struct scope_wait *next;       /* for the same scope                 */
	struct scope_wait *after_this; /* the next to follow in this look    */
	const struct node *node; /* NULL: no node, or with a deadline; unlisted */
	struct sley_graph_scope *scope;
	uint64_t look_ns;  /* time of the next look; or SLEY_FOREVER         */
	uint64_t pause_ns; /* between this look and the next                 */
};

/* The result of a look for one scope.  (lock) */
struct deadlock_mark {
	uint32_t stamp; /* of the last look that found this: pass.h          */
	const struct scope_wait *wait; /* the scope cannot end before this wait */
	const struct node *node; /* of the scope: wait->node, or a successor */
};

/* The caller waits for @scope.  @stays: without a deadline.  @looks: for cycles. */
void deadlock_enter(struct scope_wait *wait, struct sley_graph_scope *scope,
		    bool stays, bool looks);
void deadlock_leave(struct scope_wait *wait);

/*
 * Is a node of @found a direct or indirect successor of @node?  Then -EDEADLK; else
 * 0, or -ENOMEM.  @node must not end meanwhile.  (lock)
 */
must_check int deadlock_check(struct sley_graph *graph, const struct node *node,
			      const struct predecessors *found);

/* It is time to look: 0; or -EDEADLK, after the cycle was reported. */
must_check int deadlock_look(struct scope_wait *wait);

#endif
