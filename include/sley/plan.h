/* SPDX-License-Identifier: MIT */
/*
 * sley/plan.h - graphs that are recorded once and run many times.
 *
 *	struct sley_plan *plan;
 *
 *	err = sley_plan_create(&plan, NULL);
 *	err = sley_plan_add(plan, &a, SLEY_NODE_SPEC(.fn = blur, .name = "blur"));
 *	err = sley_plan_add(plan, &b, SLEY_NODE_SPEC(.fn = edges, .after = &a,
 *						     .nr_after = 1));
 *	err = sley_plan_seal(plan);
 *	for (i = 0; i < n && !err; i++)
 *		err = sley_plan_run(plan, &frame[i]);
 *
 * A plan has the nodes of <sley/graph.h>, and finds who waits for whom in the same
 * way, but it does so once.  A run finds nothing out any more, and allocates
 * nothing: each node counts who is missing, starts when nobody is, and is ready
 * for the next run by then.
 *
 * What differs from run to run is the parameter of the run: a node asks for it with
 * sley_plan_param().  A node's own argument says which of the nodes it is (a tile, a
 * row) and stays the same.  So runs with different parameters can go on at once,
 * which they could not if arguments were changed in between.
 *
 * A node that fails takes those along that need what it should have done, as in a
 * graph.  The next run begins anew.
 */
#ifndef SLEY_PLAN_H
#define SLEY_PLAN_H

#include <sley/compiler.h>
#include <sley/graph.h>

SLEY_BEGIN_DECLS

struct sley_plan;

/* How a plan differs from the usual.  Zero means the default everywhere. */
struct sley_plan_options {
	uint32_t size;    /* of this struct; SLEY_PLAN_OPTIONS sets it        */
	uint32_t nr_runs; /* at once, that need no memory later; 0: 1         */
	const char *name; /* static text for reports                          */
	uint64_t reserved[6];
};

#define SLEY_PLAN_OPTIONS(...)                                                 \
	SLEY_LITERAL(struct sley_plan_options, __VA_ARGS__)

/*
 * sley_plan_create - an empty plan, whose nodes will run in the caller's runtime.
 *
 * @options may be NULL.
 *
 * Context:  a task or a bound thread
 * Blocks:   never
 * Owner:    the caller's, until sley_plan_destroy()
 * Errors:   -ENOMEM, -E2BIG (a newer field is set)
 *           -EINVAL          options->size is zero
 *           SLEY_ENORUNTIME  the thread is not bound
 *           SLEY_EFORKED     it was, before fork()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_plan_create(struct sley_plan **plan,
		 const struct sley_plan_options *options);

/*
 * sley_plan_destroy - the end of a plan.
 *
 * NULL is fine.  In a child of fork() it does nothing.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; a plan that runs is misuse
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_plan_destroy(struct sley_plan *plan);

/*
 * sley_plan_add - record a node.
 *
 * As sley_graph_submit(), but nothing starts: it is to start when those have ended
 * that are named in @spec->after and @spec->order, or were recorded before and have
 * to do with the same memory.
 *
 * @node, if it is not NULL, names it to later calls.
 *
 * Context:  any thread, one at a time
 * Blocks:   never
 * Owner:    @spec and all it points to are borrowed for the call; @spec->arg until
 *           the plan is destroyed, unless it is copied; @spec->name as well.  A copy
 *           is shared by all runs.
 * Errors:   -EINVAL         spec->size is zero, there is no function, an argument by
 *                           value is longer than SLEY_NODE_ARG_MAX, a mode is not
 *                           one, a node named is not there, or it has a scope, a
 *                           gang, or workers or an endpoint it wants
 *           -E2BIG          a newer field is set
 *           -ENOSPC         2^24 nodes are there
 *           -ENOMEM         the node was not added
 *           SLEY_EPRIORITY
 *           A plan that is sealed is misuse.
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_plan_add(struct sley_plan *plan, sley_node *node,
	      const struct sley_node_spec *spec);

/*
 * sley_plan_edge - let @to start when @from has ended, and well.
 *
 * Between any two nodes that are there, whichever was recorded first.
 *
 * Context:  any thread, one at a time
 * Blocks:   never
 * Errors:   -EINVAL  a node is not there
 *           -ENOMEM
 *           A plan that is sealed is misuse.
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_plan_edge(struct sley_plan *plan, sley_node from, sley_node to);

/*
 * sley_plan_order - let @to start when @from has ended, in any way.
 *
 * Context:  any thread, one at a time
 * Blocks:   never
 * Errors:   as sley_plan_edge()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_plan_order(struct sley_plan *plan, sley_node from, sley_node to);

/*
 * sley_plan_seal - the plan is complete: make it ready to run.
 *
 * It is not changed any more.  If nodes wait for each other in a cycle it stays
 * open, and sley_plan_cycle() says which they are.  Sealing twice is fine.
 *
 * Context:  any thread, one at a time
 * Blocks:   never
 * Errors:   -ELOOP   nodes wait for each other in a cycle
 *           -ENOMEM
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_plan_seal(struct sley_plan *plan);

/*
 * sley_plan_cycle - the nodes that wait for each other, as a line of text.
 *
 * For example "a -> b -> c -> a".  @text is cut where it does not fit.
 *
 * Returns the length of the whole text.
 *
 * Context:  any thread, one at a time
 * Blocks:   never
 * Errors:   -ESRCH  the last sley_plan_seal() found none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_plan_cycle(struct sley_plan *plan, char *text, size_t size);

/*
 * sley_plan_run - run every node once, and wait until all have ended.
 *
 * Any number of runs may go on at once, with a parameter each.  The first ones need
 * no memory, see options->nr_runs; what more of them have needed at once is kept.  A
 * node may run plans, this one, too.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    everything before the call happens before the nodes, and they before the
 *           return.
 * Errors:   what the first node to fail returned; -ECANCELED if none did, but some
 *           were cancelled
 *           If nothing has run:
 *           -ENOMEM         more runs at once than ever before
 *           -ESHUTDOWN      the runtime is being destroyed, and the caller is neither
 *                           one of its tasks nor bound to it
 *           SLEY_ENOWORKER  it is single-threaded, and the caller is not bound to it
 *           SLEY_EFORKED
 *           A plan that is not sealed is misuse.
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_plan_run(struct sley_plan *plan, void *param);

/*
 * sley_plan_run_until - sley_plan_run() with a deadline, and cancellable.
 *
 * A run that is given up so is cancelled: nodes that have not started are skipped,
 * those that run are asked to end.  The call returns when they have.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    as sley_plan_run()
 * Errors:   as sley_plan_run(); -ETIMEDOUT, -ECANCELED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_plan_run_until(struct sley_plan *plan, void *param, uint64_t deadline_ns);

/*
 * sley_plan_param - the parameter of the run that the calling node is part of.
 *
 * For the function of a node itself, not for tasks that it spawns or forks.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   NULL elsewhere than in a node of a plan
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void *sley_plan_param(void);

/*
 * sley_plan_cancel - cancel the runs that go on.
 *
 * Nodes that have not started are skipped.  Those that run are asked to end: their
 * waits end with -ECANCELED.  Runs that begin later are not touched.
 *
 * Context:  any thread
 * Blocks:   the fiber, while a run begins or ends; a plain thread sleeps
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_plan_cancel(struct sley_plan *plan);

/*
 * sley_plan_outcome - what became of @node in the run that has ended last.
 *
 * @code, if it is not NULL, is the error that its function returned.  Of a node that
 * was skipped it is that of the one that began it, or -ECANCELED.  It is 0 if it
 * ended well.
 *
 * Context:  any thread
 * Blocks:   the fiber, while a run begins or ends; a plain thread sleeps
 * Errors:   none; SLEY_OUTCOME_NONE if no run has ended, or there is no such node
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER enum sley_outcome
sley_plan_outcome(struct sley_plan *plan, sley_node node, int *code);

/*
 * sley_plan_explain - why @node has failed or was skipped in the run that has ended
 * last, as a line of text: as sley_node_explain().
 *
 * Returns the length of the whole text.
 *
 * Context:  any thread
 * Blocks:   the fiber, while a run begins or ends; a plain thread sleeps
 * Errors:   -ESRCH  it did not fail
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_plan_explain(struct sley_plan *plan, sley_node node, char *text,
		  size_t size);

SLEY_END_DECLS
#endif
