/* SPDX-License-Identifier: MIT */
/*
 * sley/graph_buffer.h - memory for data that the nodes of a graph pass on.
 *
 *	double *tile;
 *
 *	err = sley_graph_buffer(graph, NULL, bytes, (void **)&tile);
 *	err = sley_graph_add(graph, make, tile, SLEY_OUT_N(tile, bytes));
 *	err = sley_graph_add(graph, use, tile, SLEY_IN_N(tile, bytes));
 *	sley_graph_buffer_drop(graph, tile);
 *
 * All buffers of a graph are in its arena, which has a limit (.arena_bytes; each
 * buffer takes 64 bytes more).  A caller that makes buffers faster than the nodes
 * use them up waits.  A buffer is dropped by a call, or with its scope.  A dropped
 * buffer is freed when all nodes have ended that were submitted before with an
 * access to the buffer.
 *
 * Buffers are private memory of the program.  A node that runs in a subprocess
 * (.on, see sley_subprocess_endpoint()) cannot reach them: a subprocess that follows
 * a pointer into a buffer crashes, or reads and writes memory of its own.  Such a node
 * gets the bytes of its argument, and returns an int.  To pass more data to
 * subprocesses and back, map memory with mmap() and MAP_SHARED before
 * sley_subprocesses_init().  This memory has the same address in the program and in
 * all its subprocesses.  Name the parts that a node uses in its accesses, as for any
 * other memory, and pass addresses in an argument by value.
 */
#ifndef SLEY_GRAPH_BUFFER_H
#define SLEY_GRAPH_BUFFER_H

#include <sley/compiler.h>
#include <sley/graph.h>

SLEY_BEGIN_DECLS

/*
 * sley_graph_buffer - get a buffer of @size bytes, on cache lines of its own.
 *
 * The call waits while there is no room, but a dropped buffer is about to be freed.
 * A node of the graph does not wait: the call returns -EAGAIN.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    the graph owns *@buffer, and drops it with @scope at the latest; if
 *           @scope is NULL, when the graph is destroyed.
 * Errors:   -EINVAL      @size is 0, or @scope is of another graph
 *           SLEY_EARENA  there is no room, and no buffer is about to be freed; or
 *                        @size is more than the whole arena
 *           -EAGAIN      there is no room now, and the caller is a node of the graph
 *           -ECANCELED   the caller was cancelled while it waited
 *           -ENOMEM      no memory for the arena
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
 * A pointer that is no buffer of @graph, or was dropped before, is misuse.  NULL is
 * fine.  If there is no memory for the drop, the buffer stays until the graph is
 * destroyed, and a report says so.
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
