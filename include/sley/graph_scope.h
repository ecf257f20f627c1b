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
 * Nodes of different scopes depend on each other as any nodes do.  A failure belongs
 * to the scope of its node: a wait for this scope reports it.  If the scope is ended
 * before any wait has reported the failure, a wait for the enclosing scope does.
 */
#ifndef SLEY_GRAPH_SCOPE_H
#define SLEY_GRAPH_SCOPE_H

#include <sley/compiler.h>
#include <sley/graph.h>

SLEY_BEGIN_DECLS

#define SLEY_GRAPH_SCOPES 64 /* scopes nested in each other, at most */

/*
 * sley_graph_scope_begin - begin a scope within @parent, or within the graph (NULL).
 *
 * Context:  any thread
 * Blocks:   the fiber, while another caller is in the graph; a plain thread
 *           sleeps
 * Owner:    the caller owns the scope until sley_graph_scope_end().
 * Errors:   -ENOMEM
 *           -EINVAL     @parent is of another graph
 *           -EOVERFLOW  more than SLEY_GRAPH_SCOPES scopes would be nested
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_scope_begin(struct sley_graph_scope **scope,
		       struct sley_graph *graph,
		       struct sley_graph_scope *parent);

/*
 * sley_graph_scope_end - end a scope: nothing more is submitted to it.
 *
 * The call does not wait for the nodes of the scope; they go on.  Scopes within this
 * scope are ended before.
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
 * The wait includes the scopes within this scope.  Afterwards the failures of all
 * these scopes are forgotten.  If nodes were skipped because a node of another scope
 * failed, the error may be that of the other node.
 *
 * A node may wait for a scope, unless the node is in this scope.  If nodes of the
 * scope wait for the waiting node, that is a deadlock.  It is found after a while,
 * and reported by name, and the wait returns -EDEADLK.  A deadlock is not found if
 * the wait has a deadline, or if the cycle goes through another graph, a plan, a
 * lock or a channel.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    as sley_graph_wait()
 * Errors:   as sley_graph_wait()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_scope_wait(struct sley_graph_scope *scope);

/*
 * sley_graph_scope_wait_until - sley_graph_scope_wait() with a deadline, and
 * cancellable.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    as sley_graph_wait_until()
 * Errors:   as sley_graph_wait_until()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_scope_wait_until(struct sley_graph_scope *scope,
			    uint64_t deadline_ns);

/*
 * sley_graph_scope_cancel - sley_graph_cancel() for a scope and the scopes within
 * it.
 *
 * Nodes that are submitted to these scopes are skipped, too, until the next wait for
 * @scope, or for a scope around it, returns.
 *
 * Context:  any thread
 * Blocks:   the fiber, while another caller is in the graph; a plain thread
 *           sleeps
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_graph_scope_cancel(struct sley_graph_scope *scope);

/* Statistics of a scope so far. */
struct sley_graph_scope_stats {
	uint64_t submitted; /* nodes                                       */
	uint64_t edges;     /* from nodes that had not ended, to these     */
	uint32_t most;      /* nodes of the graph that had not ended when
			       a node was submitted here: the most         */
	uint32_t depth;     /* of the scope; the depth of the graph is 0   */
};

/*
 * sley_graph_scope_get_stats - statistics and high-water marks of a scope; NULL: of
 * @graph itself.
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
