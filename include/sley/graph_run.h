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
 * A run is a scope (graph_scope.h).  None of its nodes starts before all nodes of the
 * run before have ended; but they can be submitted: so the next run is built while
 * one executes.  There are at most .max_runs (of struct sley_graph_options) that have
 * not ended.  A run that fails leaves nothing behind for the next one: a node that
 * depends on one of another run waits for it, however it ends.
 */
#ifndef SLEY_GRAPH_RUN_H
#define SLEY_GRAPH_RUN_H

#include <sley/compiler.h>
#include <sley/graph_scope.h>

SLEY_BEGIN_DECLS

/*
 * sley_graph_run_begin - the next run.
 *
 * It waits until there are less than .max_runs.  The run before it was ended.
 *
 * Context:  any thread, but no node of the graph
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    the caller's, until sley_graph_scope_end(), which comes after
 *           sley_graph_run_end()
 * Errors:   -ENOMEM
 *           -EBUSY  the run before was not ended
 *           -ECANCELED  while it waited
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_run_begin(struct sley_graph_scope **run, struct sley_graph *graph);

/*
 * sley_graph_run_begin_until - the same with a deadline.
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
 * sley_graph_run_end - nothing more is submitted to a run, but by its own nodes.
 *
 * What these submit must not use memory that is in use by a run that was begun since,
 * which comes after all of this one: that is refused with -EDEADLK, and so is what
 * comes after a node that comes after such a run.
 *
 * Context:  any thread
 * Blocks:   the fiber, while another caller is in the graph; a plain thread
 *           sleeps
 * Errors:   -ENOMEM  it is not ended; to be called again
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_run_end(struct sley_graph_scope *run);

SLEY_END_DECLS
#endif
