/* SPDX-License-Identifier: MIT */
/*
 * sley/graph_run.h - runs of a graph, one after the other.
 *
 *	while (more) {
 *		struct sley_graph_scope *run;
 *
 *		err = sley_graph_run_begin(&run, graph);
 *		... sley_graph_submit() with .scope = run ...
 *		sley_graph_run_end(run);
 *		...
 *		err = sley_graph_scope_wait(run);
 *		sley_graph_scope_end(run);
 *	}
 *
 * A run is a scope (graph_scope.h).  No node of a run starts before all nodes of the
 * previous run have ended.  But the nodes can be submitted before: so the next run
 * is built while a run executes.  At most .max_runs (of struct sley_graph_options)
 * runs exist whose nodes have not all ended.  A run that fails has no effect on the
 * next run: a node that depends on a node of another run waits for that node, but is
 * not skipped if that node fails.
 */
#ifndef SLEY_GRAPH_RUN_H
#define SLEY_GRAPH_RUN_H

#include <sley/compiler.h>
#include <sley/graph_scope.h>

SLEY_BEGIN_DECLS

/*
 * sley_graph_run_begin - begin the next run.
 *
 * The call waits while .max_runs runs have not ended.  The previous run must have
 * been ended by sley_graph_run_end().
 *
 * Context:  any thread, but no node of the graph
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    the caller owns the run until sley_graph_scope_end(), which comes after
 *           sley_graph_run_end().
 * Errors:   -ENOMEM
 *           -EBUSY      sley_graph_run_end() was not called for the previous run
 *           -ECANCELED  the caller was cancelled while it waited
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_run_begin(struct sley_graph_scope **run, struct sley_graph *graph);

/*
 * sley_graph_run_begin_until - sley_graph_run_begin() with a deadline.
 *
 * Context:  any thread, but no node of the graph
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_graph_run_begin()
 * Errors:   as sley_graph_run_begin(); -EAGAIN at the deadline
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_run_begin_until(struct sley_graph_scope **run,
			   struct sley_graph *graph, uint64_t deadline_ns);

/*
 * sley_graph_run_end - end a run: only its own nodes may still submit to it.
 *
 * Later runs come after all nodes of @run.  So a node that is submitted to it from
 * now on must not use memory that a later run uses: the two would wait for each
 * other.  sley_graph_submit() refuses such a node with -EDEADLK, and also a node
 * that depends on a node which comes after a later run.
 *
 * Context:  any thread
 * Blocks:   the fiber, while another caller is in the graph; a plain thread
 *           sleeps
 * Errors:   -ENOMEM  the run is not ended; call again
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_run_end(struct sley_graph_scope *run);

SLEY_END_DECLS
#endif
