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
 * A plan has the nodes of <sley/graph.h>.  It finds their dependencies in the
 * same way, but only once.  A run looks for no dependencies and allocates
 * nothing: each node counts its unfinished predecessors, starts when the count
 * is zero, and is ready for the next run by then.
 *
 * Each run has a parameter of its own, which a node gets with sley_plan_param().
 * The argument of a node says which part of the work it does (a tile, a row) and
 * stays the same in all runs.  So runs with different parameters can go on at
 * the same time, which would be impossible if arguments changed between runs.
 *
 * When a node fails, the nodes that need its results are skipped, as in a graph.
 * The next run begins anew.
 */
#ifndef SLEY_PLAN_H
#define SLEY_PLAN_H

#include <sley/compiler.h>
#include <sley/graph.h>

SLEY_BEGIN_DECLS

struct sley_plan;

/* The options of a plan.  Zero means the default in every field. */
struct sley_plan_options {
	uint32_t size;    /* of this struct; SLEY_PLAN_OPTIONS sets it        */
	uint32_t nr_runs; /* simultaneous runs without allocation; 0: 1       */
	const char *name; /* static text for reports                          */
	uint64_t reserved[6];
};

#define SLEY_PLAN_OPTIONS(...)                                                 \
	SLEY_LITERAL(struct sley_plan_options, __VA_ARGS__)

/*
 * sley_plan_create - make an empty plan; its nodes run in the caller's runtime.
 *
 * @options may be NULL.
 *
 * Context:  a task or a bound thread
 * Blocks:   never
 * Owner:    *@plan belongs to the caller, until sley_plan_destroy()
 * Errors:   -ENOMEM, -E2BIG (a newer field is set)
 *           -EINVAL          options->size is zero
 *           SLEY_ENORUNTIME  the thread is not bound
 *           SLEY_EFORKED     the thread was bound before fork()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_plan_create(struct sley_plan **plan,
		 const struct sley_plan_options *options);

/*
 * sley_plan_destroy - free a plan.
 *
 * Does nothing with NULL, and in a child process of fork().
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; a call while the plan runs is misuse
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_plan_destroy(struct sley_plan *plan);

/*
 * sley_plan_add - record a node.
 *
 * Like sley_graph_submit(), but the node does not start.  In a run, the node
 * starts when its predecessors have ended: the nodes in @spec->after and
 * @spec->order, and earlier recorded nodes with conflicting accesses to the same
 * memory.
 *
 * @node, if it is not NULL, gets the name of the node for later calls.
 *
 * Context:  any thread, one at a time
 * Blocks:   never
 * Owner:    @spec and everything that it points to are borrowed for the call.
 *           @spec->name, and @spec->arg unless it is copied, are borrowed until
 *           the plan is destroyed.  All runs share a copied argument.
 * Errors:   -EINVAL         spec->size is zero, there is no function, an
 *                           argument by value is longer than SLEY_NODE_ARG_MAX,
 *                           an access mode is unknown, a named node does not
 *                           exist, or the node has a scope, a gang, workers or
 *                           an endpoint
 *           -E2BIG          a newer field is set
 *           -ENOSPC         the plan has 2^24 nodes
 *           -ENOMEM         the node was not added
 *           SLEY_EPRIORITY  there is no such priority
 *           A call for a sealed plan is misuse.
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_plan_add(struct sley_plan *plan, sley_node *node,
	      const struct sley_node_spec *spec);

/*
 * sley_plan_edge - let @to start when @from has ended successfully.
 *
 * The call takes any two nodes of the plan, in whatever order they were
 * recorded.
 *
 * Context:  any thread, one at a time
 * Blocks:   never
 * Errors:   -EINVAL  a node does not exist
 *           -ENOMEM  nothing was added
 *           A call for a sealed plan is misuse.
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_plan_edge(struct sley_plan *plan, sley_node from, sley_node to);

/*
 * sley_plan_order - let @to start when @from has ended, with or without success.
 *
 * Context:  any thread, one at a time
 * Blocks:   never
 * Errors:   as sley_plan_edge()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_plan_order(struct sley_plan *plan, sley_node from, sley_node to);

/*
 * sley_plan_seal - complete a plan and make it ready to run.
 *
 * A sealed plan cannot be changed.  If nodes wait for each other in a cycle the
 * plan stays open, and sley_plan_cycle() lists these nodes.  A second call does
 * nothing.
 *
 * Context:  any thread, one at a time
 * Blocks:   never
 * Errors:   -ELOOP  nodes wait for each other in a cycle
 *           -ENOMEM
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_plan_seal(struct sley_plan *plan);

/*
 * sley_plan_cycle - the nodes that wait for each other, as a line of text.
 *
 * For example "a -> b -> c -> a".  A text that is longer than @size is cut.
 *
 * Returns the length of the whole text.
 *
 * Context:  any thread, one at a time
 * Blocks:   never
 * Errors:   -ESRCH  the last sley_plan_seal() found no cycle
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_plan_cycle(struct sley_plan *plan, char *text, size_t size);

/*
 * sley_plan_run - run every node once, and wait until all have ended.
 *
 * Any number of runs may go on at the same time, each with its own parameter.
 * The first options->nr_runs simultaneous runs need no memory.  Memory for more
 * simultaneous runs is kept for later runs.  A node may run plans, even its own
 * plan.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    everything before the call happens before the nodes; everything in
 *           the nodes happens before the return.
 * Errors:   the error of the first node that failed
 *           -ECANCELED      no node failed, but some were cancelled
 *           -ENOMEM         nothing has run: there is no memory for one more
 *                           simultaneous run
 *           -ESHUTDOWN      nothing has run: the runtime is being destroyed, and
 *                           the caller is no task of the runtime and not bound
 *                           to it
 *           SLEY_ENOWORKER  nothing has run: the runtime is single-threaded, and
 *                           the caller is not bound to it
 *           SLEY_EFORKED    nothing has run: this process is a fork of the
 *                           creator of the plan
 *           A call for a plan that is not sealed is misuse.
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_plan_run(struct sley_plan *plan, void *param);

/*
 * sley_plan_run_until - sley_plan_run() with a deadline, and cancellable.
 *
 * At the deadline, or when the caller is cancelled, the run is cancelled: nodes
 * that have not started are skipped, and running nodes are asked to end.  The
 * call returns when all of them have ended.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    as sley_plan_run()
 * Errors:   as sley_plan_run()
 *           -ETIMEDOUT  the run was cancelled at the deadline
 *           -ECANCELED  the caller was cancelled, or nodes were
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_plan_run_until(struct sley_plan *plan, void *param, uint64_t deadline_ns);

/*
 * sley_plan_param - the parameter of the run that the calling node is part of.
 *
 * For the function of a node itself, not for tasks that the node spawns or
 * forks.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   returns NULL if the caller is no node of a plan
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void *sley_plan_param(void);

/*
 * sley_plan_cancel - cancel all runs of a plan that are going on.
 *
 * Nodes that have not started are skipped.  Running nodes are asked to end:
 * their waits return -ECANCELED.  Runs that begin later are not affected.
 *
 * Context:  any thread
 * Blocks:   the fiber, while a run begins or ends; a plain thread sleeps
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_plan_cancel(struct sley_plan *plan);

/*
 * sley_plan_outcome - the outcome of @node in the run that has ended last.
 *
 * If @code is not NULL, *@code is the error that the function of the node
 * returned.  For a skipped node *@code is the error of the node whose failure
 * caused the skip, or -ECANCELED.  For a node that succeeded *@code is 0.
 *
 * Context:  any thread
 * Blocks:   the fiber, while a run begins or ends; a plain thread sleeps
 * Errors:   none; SLEY_OUTCOME_NONE if no run has ended, or there is no such
 *           node
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER enum sley_outcome
sley_plan_outcome(struct sley_plan *plan, sley_node node, int *code);

/*
 * sley_plan_explain - why @node failed or was skipped in the run that has ended
 * last, as a line of text: like sley_node_explain().
 *
 * Returns the length of the whole text.
 *
 * Context:  any thread
 * Blocks:   the fiber, while a run begins or ends; a plain thread sleeps
 * Errors:   -ESRCH  the node did not fail
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_plan_explain(struct sley_plan *plan, sley_node node, char *text,
		  size_t size);

SLEY_END_DECLS
#endif
