/* SPDX-License-Identifier: MIT */
/*
 * sley/graph_buffer.h - memory for what the nodes of a graph pass on.
 *
 *	double *tile;
 *
 *	err = sley_graph_buffer(graph, NULL, bytes, (void **)&tile);
 *	err = sley_graph_add(graph, make, tile, SLEY_OUT_N(tile, bytes));
 *	err = sley_graph_add(graph, use, tile, SLEY_IN_N(tile, bytes));
 *	sley_graph_buffer_drop(graph, tile);
 *
 * All buffers of a graph have their place in its arena, which has a limit
 * (.arena_bytes, each buffer takes 64 bytes more): who makes them faster than they
 * are used up waits.  A buffer is given back when it was dropped, by a call or with
 * its scope, and the nodes that were submitted before with an access to it have
 * ended.
 */
#ifndef SLEY_GRAPH_BUFFER_H
#define SLEY_GRAPH_BUFFER_H

#include <sley/compiler.h>
#include <sley/graph.h>

SLEY_BEGIN_DECLS

/*
 * sley_graph_buffer - @size bytes, on cache lines of their own.
 *
 * It waits while there is no room, and something is about to leave.  A node of the
 * graph does not wait: it gets -EAGAIN.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @buffer is the graph's; it is dropped with @scope (NULL: when the graph
 *           is destroyed) at the latest.
 * Errors:   -EINVAL     @size is 0, or @scope is of another graph
 *           SLEY_EARENA there is no room, and nothing is about to leave; or it is
 *                       more than the whole arena
 *           -EAGAIN     in a node of the graph: not now
 *           -ECANCELED  while it waited
 *           -ENOMEM     no memory for the arena
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_buffer(struct sley_graph *graph, struct sley_graph_scope *scope,
		  size_t size, void **buffer);

/*
 * sley_graph_buffer_until - sley_graph_buffer() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_graph_buffer()
 * Errors:   as sley_graph_buffer(); -EAGAIN at the deadline
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_buffer_until(struct sley_graph *graph,
			struct sley_graph_scope *scope, size_t size,
			uint64_t deadline_ns, void **buffer);

/*
 * sley_graph_buffer_drop - no node that is submitted from now on uses @buffer.
 *
 * What is no buffer, or was dropped, is misuse.  NULL is fine.  Without memory it
 * stays until the graph is destroyed, and a report says so.
 *
 * Context:  any thread
 * Blocks:   the fiber, while another caller is in the graph; a plain thread
 *           sleeps
 * Owner:    @buffer is the library's.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_graph_buffer_drop(struct sley_graph *graph, void *buffer);

SLEY_END_DECLS
#endif
