/* SPDX-License-Identifier: MIT */
/*
 * sley/graph_scope.h - parts of a graph that are waited for, and cancelled, apart.
 *
 *	struct sley_graph_scope *scope;
 *
 *	err = sley_graph_scope_begin(&scope, graph, NULL);
 *	err = sley_graph_submit(graph, NULL,
 *				SLEY_NODE_SPEC(.fn = work, .scope = scope));
 *	err = sley_graph_scope_wait(scope);
 *	sley_graph_scope_end(scope);
 *
 * Nodes of different scopes depend on each other as all do.  Failures are those of
 * the scope: who waits for it hears of them, or, if nobody does before it is
 * closed, who waits for the scope around it.
 */
#ifndef SLEY_GRAPH_SCOPE_H
#define SLEY_GRAPH_SCOPE_H

#include <sley/compiler.h>
#include <sley/graph.h>

SLEY_BEGIN_DECLS

#define SLEY_GRAPH_SCOPES 64 /* one within the other */

/*
 * sley_graph_scope_begin - a new scope within @parent, or within the graph (NULL).
 *
 * Context:  any thread
 * Blocks:   the fiber, while another caller is in the graph; a plain thread
 *           sleeps
 * Owner:    the caller's, until sley_graph_scope_end()
 * Errors:   -ENOMEM
 *           -EINVAL     @parent is of another graph
 *           -EOVERFLOW  it would be the 65th within the other
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_scope_begin(struct sley_graph_scope **scope,
		       struct sley_graph *graph,
		       struct sley_graph_scope *parent);

/*
 * sley_graph_scope_end - nothing more is submitted to a scope.
 *
 * Its nodes go on.  The scopes in it are closed before.
 *
 * Context:  any thread
 * Blocks:   the fiber, while another caller is in the graph; a plain thread
 *           sleeps
 * Owner:    @scope is the library's.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_graph_scope_end(struct sley_graph_scope *scope);

/*
 * sley_graph_scope_wait - wait until every node of a scope has ended.
 *
 * Those of the scopes in it, too.  Its failures are forgotten then.
 *
 * A node may wait for a scope that it is not in.  If what is in there waits for the
 * node, nobody would go on: that is found after a while, reported by name, and
 * -EDEADLK.  It is not found if there is a deadline, or if the circle goes through
 * another graph, a plan, a lock or a channel.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    as sley_graph_wait()
 * Errors:   as sley_graph_wait()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_scope_wait(struct sley_graph_scope *scope);

/*
 * sley_graph_scope_wait_until - the same with a deadline, and cancellable.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    as sley_graph_wait(), if that is what ended it
 * Errors:   as sley_graph_wait_until()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_scope_wait_until(struct sley_graph_scope *scope,
			    uint64_t deadline_ns);

/*
 * sley_graph_scope_cancel - sley_graph_cancel() for a scope and those in it.
 *
 * What is submitted there before the next wait for it returns, or for one around it,
 * is skipped, too.
 *
 * Context:  any thread
 * Blocks:   the fiber, while another caller is in the graph; a plain thread
 *           sleeps
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_graph_scope_cancel(struct sley_graph_scope *scope);

/* What a scope has seen so far. */
struct sley_graph_scope_stats {
	uint64_t submitted; /* nodes                                       */
	uint64_t edges;     /* of them, to nodes that had not ended        */
	uint32_t most;      /* nodes of the graph that had not ended, when
			       one was submitted here: the most            */
	uint32_t depth;     /* of the scope; the root's is 0               */
};

/*
 * sley_graph_scope_get_stats - high-water marks of a scope, NULL: of @graph itself.
 *
 * Context:  any thread
 * Blocks:   the fiber, while another caller is in the graph; a plain thread
 *           sleeps
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_graph_scope_get_stats(struct sley_graph *graph,
			   const struct sley_graph_scope *scope,
			   struct sley_graph_scope_stats *out);

SLEY_END_DECLS
#endif
