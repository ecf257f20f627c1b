/* SPDX-License-Identifier: MIT */
/*
 * deadlock.h - nodes that wait for nodes that wait for them.
 *
 * Edges make no cycle: a node waits for those that were submitted before.  But a node
 * may wait for a scope, and what was submitted there may come after the node itself;
 * it reads what the node writes, for example.  Then nobody goes on.
 *
 * So nodes that wait for a scope of their graph are known to it.  One that has waited
 * for long looks where its own end is missed: it marks all that come after it, and
 * the scopes these are in; then all that come after who waits for one of those scopes;
 * and so on.  If the scope it waits for is marked in the end, there is a cycle, and
 * that is told, by names.
 *
 * This is never a false alarm.  All is seen under the lock of the graph, where nobody
 * begins or ends to wait; those who wait do not end, so those behind them do not
 * either, and lists of edges of nodes that have not ended only grow, under the lock.
 *
 * Each look visits a node, a scope, and who waits for it, at most once.  The first
 * comes after deadlock_first_ns(), the others ever later: a node that is submitted in
 * between may close the cycle.
 *
 * Not seen: cycles through other graphs, plans, locks or channels; nor those of who
 * waits with a deadline, which are no cycles for long.
 */
#ifndef SLEY_GRAPH_NODE_DEADLOCK_H
#define SLEY_GRAPH_NODE_DEADLOCK_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

struct node;
struct sley_graph;
struct sley_graph_scope;

#define DEADLOCK_FIRST_NS 250000000u
#define DEADLOCK_LAST_NS 8000000000u

/*
 * The time before the first look.  A build with SLEY_CHAOS, which is made to find bugs,
 * lets a test shorten it before the runtime starts; in any other build it is constant.
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
	struct scope_wait *after_this; /* is followed, in this look          */
	const struct node *node; /* NULL: who waits is no such, and not listed */
	struct sley_graph_scope *scope;
	uint64_t look_ns;  /* when; or SLEY_FOREVER                          */
	uint64_t pause_ns; /* between this look and the next                 */
};

/* What a look has found out about a scope.  (lock) */
struct deadlock_mark {
	uint32_t stamp; /* of the look                                       */
	const struct scope_wait *wait; /* without whose end it goes on never */
	const struct node *node; /* of the scope, that comes after that one  */
};

/*
 * The caller waits for @scope, for ever if it @stays, and wants to know of cycles if
 * it @looks.
 */
void deadlock_enter(struct scope_wait *wait, struct sley_graph_scope *scope,
		    bool stays, bool looks);
void deadlock_leave(struct scope_wait *wait);

/*
 * Does one of those that were found come after @node, which does not end meanwhile?
 * Then -EDEADLK; else 0, or -ENOMEM.  (lock)
 */
must_check int deadlock_check(struct sley_graph *graph,
			      const struct node *node);

/* It is time to look: 0, or -EDEADLK, and the cycle was reported. */
must_check int deadlock_look(struct scope_wait *wait);

#endif
