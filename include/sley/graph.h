/* SPDX-License-Identifier: MIT */
/*
 * sley/graph.h - tasks that start when their data is ready.
 *
 *	struct sley_graph *g;
 *
 *	err = sley_graph_create(&g, NULL);
 *	err = sley_graph_add(g, load, &job, SLEY_OUT(job.text));
 *	err = sley_graph_add(g, parse, &job, SLEY_IN(job.text), SLEY_OUT(job.tree));
 *	err = sley_graph_add(g, count, &job, SLEY_IN(job.text), SLEY_OUT(job.nr));
 *	err = sley_graph_wait(g);
 *
 * A node is a function, together with the memory that the function reads and writes.
 * Nodes behave as if they ran one after the other, in the order in which they were
 * submitted.  Nodes that do not depend on each other run in parallel.  A node may
 * block, and may submit more nodes.
 *
 * A node fails if its function returns an error.  Then each node that reads the
 * output of the failed node is skipped, and so are the readers of the skipped nodes,
 * and so on.  Other nodes are not affected, with one exception.  A later node may
 * name a smaller range, and write a part of the missing output anew.  A node that
 * reads this part is skipped nevertheless.
 *
 * A call may name a node that ended long ago: then there is nothing to wait for.
 * The graph remembers the nodes that failed or were skipped until the next
 * sley_graph_wait() that finds every node ended.  It remembers max_nodes of them at
 * most, or 1024 if that is more; beyond this limit it forgets the older half.  The
 * missing output of a forgotten node stays marked, and a node that reads it is
 * skipped.  But a node that names a forgotten node is not skipped.  The first
 * failure of the graph, and of each scope, is not forgotten.
 */
#ifndef SLEY_GRAPH_H
#define SLEY_GRAPH_H

#include <sley/compiler.h>
#include <sley/runtime.h>
#include <sley/task.h>

SLEY_BEGIN_DECLS

struct sley_graph;
struct sley_graph_scope; /* <sley/graph_scope.h> */
struct sley_endpoint;    /* <sley/subprocess.h>       */

/* The number of a node.  It is used again after 2^32 nodes in the same slot. */
typedef uint64_t sley_node;

#define SLEY_NO_NODE ((sley_node)0)

/* The function of a node: 0, or a negative error.  A value above 0 counts as 0. */
typedef int sley_node_fn(void *arg);

/* How a node uses a range of memory. */
enum sley_access_mode {
	SLEY_ACCESS_NONE = 0, /* for readers of the program; orders nothing */
	SLEY_ACCESS_READ = 1,
	SLEY_ACCESS_WRITE = 2,
	SLEY_ACCESS_UPDATE = 3, /* reads and writes */
};

/* A range of memory, and how a node uses it: @size bytes from @at. */
struct sley_access {
	const void *at;
	size_t size;
	enum sley_access_mode mode;
};

/*
 * sley_access_of - the value that SLEY_IN() and similar macros stand for.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline struct sley_access
sley_access_of(const void *at, size_t size, enum sley_access_mode mode)
{
	struct sley_access access;

	access.at = at;
	access.size = size;
	access.mode = mode;
	return access;
}

/* An access to an object, by name; or to @size bytes from a pointer, @at. */
#define SLEY_IN(object) SLEY_IN_N(&(object), sizeof(object))
#define SLEY_OUT(object) SLEY_OUT_N(&(object), sizeof(object))
#define SLEY_INOUT(object) SLEY_INOUT_N(&(object), sizeof(object))
#define SLEY_IN_N(at, size) sley_access_of((at), (size), SLEY_ACCESS_READ)
#define SLEY_OUT_N(at, size) sley_access_of((at), (size), SLEY_ACCESS_WRITE)
#define SLEY_INOUT_N(at, size) sley_access_of((at), (size), SLEY_ACCESS_UPDATE)

#define SLEY_NODE_ARG_MAX 64 /* bytes of an argument by value */

/* A node to be submitted.  Zero means the default everywhere. */
struct sley_node_spec {
	uint32_t size;    /* of this struct; SLEY_NODE_SPEC sets it           */
	int32_t priority; /* as the priority of a task                        */
	sley_node_fn *fn;
	void *arg;
	uint32_t arg_size; /* not 0: copy so many bytes of @arg              */
	uint32_t nr_access;
	const struct sley_access *access;
	const sley_node *after; /* start after these; skip if one fails       */
	const sley_node *order; /* start after these, even if they fail       */
	uint32_t nr_after;
	uint32_t nr_order;
	const char *name; /* static text for reports                      */
	struct sley_graph_scope *scope; /* NULL: the graph itself             */
	const uint64_t *eligible; /* bit i: worker i may run it; NULL: any may */
	uint32_t nr_eligible;     /* words of @eligible                       */
	uint32_t affinity;     /* SLEY_ON_WORKER(i); 0: any worker          */
	uint32_t gang;         /* members that run at once; 0: one         */
	uint32_t worker_class; /* SLEY_OF_CLASS(i) of the graph; 0: none    */
	struct sley_endpoint *on; /* where it runs; NULL: on the workers      */
	uint64_t reserved[4];
};

/* For .worker_class: the class @i of the graph's options; the first class is 0. */
#define SLEY_OF_CLASS(i) ((uint32_t)(i) + 1)

#define SLEY_GRAPH_CLASSES 64 /* classes of workers, in one graph */

/*
 * A class of workers.  The nodes of a class run only on its workers, each node on
 * the first worker that is free.  A class that is busy does not hold up other
 * classes.
 */
struct sley_worker_class {
	const char *name;        /* static text for reports                   */
	const uint64_t *workers; /* bit i: worker i belongs to it; NULL: all  */
	uint32_t nr_words;       /* words of @workers                         */
	uint32_t reserved0;
};

/* The options of a graph.  Zero means the default everywhere. */
struct sley_graph_options {
	uint32_t size;      /* of this struct; SLEY_GRAPH_OPTIONS sets it     */
	uint32_t max_nodes; /* limit of nodes that have not ended; 0: 65536   */
	const char *name;   /* static text for reports                        */
	uint64_t arena_bytes; /* limit of all buffers together; 0: 64 MiB     */
	uint32_t max_runs;    /* runs not ended; 0: 2, see graph_run.h        */
	bool stepped;         /* nodes run in sley_graph_step() only          */
	bool picture;         /* record the nodes for <sley/graph_dump.h>     */
	uint32_t max_picture; /* limit of recorded nodes; 0: 4096             */
	uint32_t nr_classes;  /* at most SLEY_GRAPH_CLASSES                   */
	const struct sley_worker_class *classes;
	uint64_t reserved[2];
};

#define SLEY_GRAPH_OPTIONS(...)                                                \
	SLEY_LITERAL(struct sley_graph_options, __VA_ARGS__)

#define SLEY_NODE_SPEC(...) SLEY_LITERAL(struct sley_node_spec, __VA_ARGS__)

#ifndef __cplusplus
/*
 * sley_graph_add(graph, fn, arg, access...): sley_graph_submit() of a node whose
 * number is not needed, with any number of SLEY_IN(), SLEY_OUT(), SLEY_INOUT().
 */
#define sley_graph_add(graph, fn_, arg_, ...)                                  \
	sley_graph_submit(                                                     \
		(graph), NULL,                                                 \
		SLEY_NODE_SPEC(.fn = (fn_), .arg = (arg_),                     \
			       .access =                                       \
				       (const struct sley_access[]){           \
					       __VA_ARGS__ },                  \
			       .nr_access = sizeof((struct sley_access[]){     \
						    __VA_ARGS__ }) /           \
					    sizeof(struct sley_access)))
#endif

/* The outcome of a node. */
enum sley_outcome {
	SLEY_OUTCOME_NONE = 0, /* the node has not ended                   */
	SLEY_OUTCOME_SUCCESS = 1,
	SLEY_OUTCOME_FAILURE = 2, /* its function returned an error           */
	SLEY_OUTCOME_ENDPOINT = 3, /* its endpoint ended before it did        */
	SLEY_OUTCOME_SKIPPED = 4, /* cancelled, or a predecessor failed       */
};

/*
 * sley_graph_create - create a graph whose nodes run in the caller's runtime.
 *
 * @options may be NULL.
 *
 * Context:  a task or a bound thread
 * Blocks:   never
 * Owner:    the caller owns the graph until sley_graph_destroy().  @options and all
 *           arrays in it are borrowed for the call; the names are not copied.
 * Errors:   -ENOMEM, -E2BIG (a newer field is set)
 *           -EINVAL          options->size is zero, or max_nodes is more than
 *                            2^24, max_picture more than 2^20, or nr_classes
 *                            more than SLEY_GRAPH_CLASSES; or there are classes
 *                            and options->classes is NULL
 *           SLEY_EAFFINITY   a class has none of the runtime's workers
 *           SLEY_ENORUNTIME  the thread is not bound
 *           SLEY_EFORKED     the thread was bound before fork()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_graph_create(struct sley_graph **graph,
		  const struct sley_graph_options *options);

/*
 * sley_graph_destroy - destroy a graph when its last node has ended.
 *
 * From the call on, only nodes of the graph may submit to it.  All scopes must have
 * been ended before.  A node must not destroy its own graph.  NULL is fine.  In a
 * child process made by fork() the call does nothing.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_graph_destroy(struct sley_graph *graph);

/*
 * sley_graph_submit - add a node.
 *
 * The node starts when all nodes that it depends on have ended.  These are the nodes
 * of @spec->after and @spec->order, and, of the nodes submitted before, the writers
 * of memory that the node reads or writes, and the readers of memory that it writes.
 * Ranges that overlap make a dependency; ranges that only touch do not.
 *
 * The graph is full if @max_nodes nodes have not ended, however many edges they
 * have.  Then the caller waits for room.  The caller goes on when a quarter of
 * max_nodes is free, or 1024 if that is less; or when a worker has nothing else to
 * do; or after a millisecond if there is any room then.
 *
 * A node of the same graph does not wait, since it would wait for itself.  Nor does
 * a child that such a node has forked, nor a task that such a node joins, in a group
 * or a scope, nor the tasks that these join in turn.  All of them may submit past
 * the limit, three times max_nodes more, or 1024 if that is more, but 2^20 at most.
 * Beyond that the error is -EAGAIN.  A task that a node waits for in any other way,
 * by an event for example, does wait for room: let such a task call
 * sley_graph_submit_until().
 *
 * A gang is a node whose function is called @spec->gang times, each time on a worker
 * of its own.  Each call is a member of the gang.  No member starts before all of
 * them are there.  A gang that is cancelled before that is skipped as a whole.  The
 * members may wait for each other, with any call of this library.
 * sley_node_member() tells them apart.  The first error that a member returns is the
 * error of the node.
 *
 * A node of a class is queued until a worker of this class is free.  More urgent
 * nodes come first, and nodes of equal priority in the order in which they became
 * ready.  If the node also has a mask (.eligible), an affinity or a gang, both
 * conditions must hold, and its worker is chosen as soon as the node is ready.  A
 * graph that is stepped, and a single-threaded runtime, check the class and then
 * ignore it.
 *
 * A node with @spec->on runs on that endpoint, for example in a subprocess
 * (sley_subprocess_endpoint()).  Its function may be any function of the program,
 * with an argument that is given by value, or is NULL.  Its accesses order the node
 * like any other, but the memory that its function reads and writes is that of the
 * endpoint.  If the endpoint ends while the node runs, the outcome is
 * SLEY_OUTCOME_ENDPOINT, and sley_node_explain() says how the endpoint ended.
 *
 * If @node is not NULL, *@node names the new node in later calls.  If the call
 * fails, *@node is SLEY_NO_NODE.
 *
 * Context:  any thread
 * Blocks:   the fiber if the graph is full; a plain thread sleeps
 * Owner:    @spec and everything it points to are borrowed for the call; but
 *           @spec->arg, unless it is copied, until the node has ended, @spec->name
 *           for ever, and @spec->on until the graph was waited for.
 * Order:    everything before the call, and everything in the nodes that the new
 *           node depends on, happens before the new node.
 * Errors:   -EINVAL     spec->size is zero, there is no function, an argument by
 *                       value is longer than SLEY_NODE_ARG_MAX, the mode of an
 *                       access is unknown, @spec names a node that was never
 *                       submitted, the scope is of another graph, there is no such
 *                       class, or a node for an endpoint has a gang, a class, a
 *                       mask or an affinity
 *           -E2BIG      a newer field is set
 *           SLEY_EPRIORITY
 *           SLEY_EAFFINITY  the worker of the affinity does not exist, is not in the
 *                           class or is not eligible; or no worker of the class is
 *                           eligible; or a gang has an affinity
 *           SLEY_EGANG  the gang has more members than the class has eligible
 *                       workers; or the graph is stepped
 *           -EMSGSIZE   the argument is too long for the endpoint
 *           -EFAULT     the argument is a pointer, which leads nowhere in the
 *                       endpoint
 *           -EAGAIN     the graph is full and is stepped; or the caller is a node of
 *                       the graph, or is joined by one, and nothing is left past the
 *                       limit
 *           -EDEADLK    the node would wait for a node of a later run (graph_run.h)
 *           -ECANCELED  the caller was cancelled while it waited
 *           -ENOMEM     the node was not added
 *           SLEY_ENOWORKER  the runtime is single-threaded, and the thread is not
 *                       bound to it
 *           -ESHUTDOWN  the runtime is being destroyed, and the caller is neither
 *                       one of its tasks nor bound to it
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_submit(struct sley_graph *graph, sley_node *node,
		  const struct sley_node_spec *spec);

/*
 * sley_graph_submit_until - sley_graph_submit() that waits for room until a
 * deadline; with 0 it does not wait.
 *
 * If the graph is still full at the deadline, the error is -EAGAIN.
 *
 * Context:  as sley_graph_submit()
 * Blocks:   as sley_graph_submit()
 * Owner:    as sley_graph_submit()
 * Order:    as sley_graph_submit()
 * Errors:   as sley_graph_submit()
 *           -EAGAIN     also: the graph was full until the deadline
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_submit_until(struct sley_graph *graph, sley_node *node,
			const struct sley_node_spec *spec,
			uint64_t deadline_ns);

/*
 * sley_graph_wait - wait until every node has ended.
 *
 * Afterwards the graph is like a new graph: failures and accesses are forgotten.  If
 * other callers wait or submit at the same time, each failure is reported to one of
 * the waiters.  A node must not wait for its own graph: it would wait for itself.
 * That is misuse.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    everything in the nodes happens before the return.
 * Errors:   the error of the first node that failed in the graph or whose failure
 *           skipped nodes of the graph; -ECANCELED if there is no such node but some
 *           nodes were cancelled.  sley_graph_explain() says more.
 *           -EDEADLK  the caller is a node, and the nodes that it waits for wait for
 *                     the caller.  A report has named them.  The graph is unchanged.
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_wait(struct sley_graph *graph);

/*
 * sley_graph_wait_until - sley_graph_wait() with a deadline, and cancellable.
 *
 * A wait that is given up, at the deadline or since the caller was cancelled, leaves
 * the graph unchanged.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    as sley_graph_wait(), unless the wait was given up
 * Errors:   as sley_graph_wait()
 *           -ETIMEDOUT  the wait was given up at the deadline
 *           -ECANCELED  also: the wait was given up, since the caller was cancelled
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_wait_until(struct sley_graph *graph, uint64_t deadline_ns);

/*
 * sley_graph_cancel - skip every node that has not started.
 *
 * Nodes that run are asked to end: their waits end with -ECANCELED.  Nodes that are
 * submitted before the next sley_graph_wait() returns are skipped, too.
 *
 * Context:  any thread
 * Blocks:   the fiber, while another caller is in the graph; a plain thread
 *           sleeps
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_graph_cancel(struct sley_graph *graph);

/*
 * sley_graph_step - one step of a graph that was created with .stepped, for tests.
 *
 * A step has three parts.  First, the nodes that were submitted since the last step
 * become ready, unless they have to wait for other nodes.  Then all ready nodes run
 * in the caller, one after the other, in the order in which they became ready.  At
 * last these nodes are completed, in the same order; a successor that becomes ready
 * runs in the next step.  No node of such a graph runs by itself, but
 * sley_graph_wait() and similar calls make as many steps as they need.
 *
 * Returns how many nodes have ended.
 *
 * Context:  any thread, one at a time
 * Blocks:   the fiber, if a node does; a plain thread sleeps
 * Errors:   -EINVAL  the graph was not created with .stepped
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_step(struct sley_graph *graph);

/*
 * sley_node_cancel - skip one node, and the nodes that need its output.
 *
 * A node that runs already is asked to end, and its function decides its outcome.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -ESRCH  the node has ended, or there never was such a node
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_node_cancel(struct sley_graph *graph, sley_node node);

/*
 * sley_node_member - which member of its gang the caller is, from 0.
 *
 * Context:  a node
 * Blocks:   never
 * Errors:   none; 0 if the caller is no member of a gang
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint32_t sley_node_member(void);

/*
 * sley_node_outcome - the outcome of @node.
 *
 * @code may be NULL.  Else *@code is the error that the function of the node
 * returned.  For a node that was skipped, *@code is the error of the failed node
 * that caused the skip, or -ECANCELED.  If the endpoint of the node has ended,
 * *@code is the error of the endpoint, such as SLEY_ECHILD.  If the node has
 * succeeded, or has not ended, *@code is 0.
 *
 * Context:  any thread
 * Blocks:   the fiber, while another caller is in the graph; a plain thread
 *           sleeps
 * Order:    if the node has ended, everything in the node happens before the return.
 * Errors:   none; SLEY_OUTCOME_SUCCESS for a node that the graph has forgotten
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER enum sley_outcome
sley_node_outcome(struct sley_graph *graph, sley_node node, int *code);

/*
 * sley_node_explain - why a node has failed or was skipped, as a line of text.
 *
 * For example "solve was skipped <- mesh was skipped <- read failed: No such file or
 * directory".  If the endpoint of a node gave a reason, that follows.  A text that
 * is longer than @size is cut.
 *
 * Returns the length of the whole text.
 *
 * Context:  any thread
 * Blocks:   the fiber, while another caller is in the graph; a plain thread
 *           sleeps
 * Errors:   -ESRCH  the node did not fail and was not skipped, or is forgotten
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_node_explain(struct sley_graph *graph, sley_node node, char *text,
		  size_t size);

/*
 * sley_graph_explain - why the last wait for the graph, or a scope of it, failed.
 *
 * The text is that of sley_node_explain() for the node whose error the wait
 * returned, in 255 bytes at most.  The node itself was forgotten by the wait.
 *
 * Returns the length of the whole text.
 *
 * Context:  any thread
 * Blocks:   the fiber, while another caller is in the graph; a plain thread
 *           sleeps
 * Errors:   -ESRCH  the wait did not fail; or no node made it fail: it was given up
 *                   at its deadline, or since the caller was cancelled, or for a
 *                   deadlock
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_explain(struct sley_graph *graph, char *text, size_t size);

SLEY_END_DECLS
#endif
