/* SPDX-License-Identifier: MIT */
/*
 * sley/graph.h - tasks that start when their data is there.
 *
 *	struct sley_graph *g;
 *
 *	err = sley_graph_create(&g, NULL);
 *	err = sley_graph_add(g, load, &job, SLEY_OUT(job.text));
 *	err = sley_graph_add(g, parse, &job, SLEY_IN(job.text), SLEY_OUT(job.tree));
 *	err = sley_graph_add(g, count, &job, SLEY_IN(job.text), SLEY_OUT(job.nr));
 *	err = sley_graph_wait(g);
 *
 * A node is a function and what it reads and writes.  Nodes behave as if they ran
 * one after the other, in the order in which they were submitted; those that have
 * nothing to do with each other run at once.  A node may block, and may submit more.
 *
 * A node that fails, by returning an error, takes those along that read what it
 * should have written, and theirs: they are skipped.  Others are not touched, with one
 * exception: if part of what it should have written is written anew, by a node that
 * names a smaller range, a node that reads that part is skipped as well.
 *
 * Wherever a node is named, it may have ended long ago: then there is nothing to
 * wait for.  Those that failed or were skipped are remembered until the next
 * sley_graph_wait() that finds nothing left to do, but not more of them than max_nodes,
 * or 1024 if that is more: then the older half is forgotten.  What these should have
 * written stays marked, and a node that reads it is skipped; a node that names one of
 * them is not.  The first failure of the graph, and of each scope, is not forgotten.
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

/* A node of a graph.  Its number is another one's after 2^32 nodes in its place. */
typedef uint64_t sley_node;

#define SLEY_NO_NODE ((sley_node)0)

/* What a node does: 0, or a negative error.  More than 0 is as good as 0. */
typedef int sley_node_fn(void *arg);

/* How a node uses some memory. */
enum sley_access_mode {
	SLEY_ACCESS_NONE = 0, /* named for those who look; orders nothing */
	SLEY_ACCESS_READ = 1,
	SLEY_ACCESS_WRITE = 2,
	SLEY_ACCESS_UPDATE = 3, /* reads and writes */
};

/* Some memory, and how it is used: @size bytes from @at. */
struct sley_access {
	const void *at;
	size_t size;
	enum sley_access_mode mode;
};

/*
 * sley_access_of - the value that SLEY_IN() and its like stand for.
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

/* An object, by its name; or so many bytes behind a pointer. */
#define SLEY_IN(object) SLEY_IN_N(&(object), sizeof(object))
#define SLEY_OUT(object) SLEY_OUT_N(&(object), sizeof(object))
#define SLEY_INOUT(object) SLEY_INOUT_N(&(object), sizeof(object))
#define SLEY_IN_N(at, size) sley_access_of((at), (size), SLEY_ACCESS_READ)
#define SLEY_OUT_N(at, size) sley_access_of((at), (size), SLEY_ACCESS_WRITE)
#define SLEY_INOUT_N(at, size) sley_access_of((at), (size), SLEY_ACCESS_UPDATE)

#define SLEY_NODE_ARG_MAX 64 /* bytes of an argument by value */

/* A node to be.  Zero means the default everywhere. */
struct sley_node_spec {
	uint32_t size;    /* of this struct                                   */
	int32_t priority; /* as that of a task                                */
	sley_node_fn *fn;
	void *arg;
	uint32_t arg_size; /* not 0: @arg is copied, so many bytes           */
	uint32_t nr_access;
	const struct sley_access *access;
	const sley_node *after; /* start when these have ended, and well      */
	const sley_node *order; /* start when these have ended, in any way    */
	uint32_t nr_after;
	uint32_t nr_order;
	const char *name; /* static text for reports                      */
	struct sley_graph_scope *scope; /* NULL: the graph itself             */
	const uint64_t *eligible; /* bit i: worker i may run it; NULL: all do */
	uint32_t nr_eligible;     /* words of it                              */
	uint32_t affinity;     /* SLEY_ON_WORKER(i); 0: any worker          */
	uint32_t gang;         /* how many run it at once; 0: one          */
	uint32_t worker_class; /* SLEY_OF_CLASS(i) of the graph; 0: none    */
	struct sley_endpoint *on; /* who runs it; NULL: the workers           */
	uint64_t reserved[4];
};

/* For .affinity: the worker with number @i, the first is 0. */
#define SLEY_ON_WORKER(i) ((uint32_t)(i) + 1)
/* For .worker_class: the class @i of the graph's options, the first is 0. */
#define SLEY_OF_CLASS(i) ((uint32_t)(i) + 1)

#define SLEY_GRAPH_CLASSES 64 /* of workers, in one graph */

/*
 * A class of workers.  The nodes of a class run on its workers only, each on the
 * first one that is free; other classes go on whatever they do.
 */
struct sley_worker_class {
	const char *name;        /* static text for reports                   */
	const uint64_t *workers; /* bit i: worker i is one; NULL: all are     */
	uint32_t nr_words;       /* of @workers                               */
	uint32_t reserved0;
};

/* How a graph differs from the usual.  Zero means the default everywhere. */
struct sley_graph_options {
	uint32_t size;      /* of this struct; SLEY_GRAPH_OPTIONS sets it     */
	uint32_t max_nodes; /* that have not ended; 0: 65536                  */
	const char *name;   /* static text for reports                        */
	uint64_t arena_bytes; /* for all buffers; 0: 64 MiB                   */
	uint32_t max_runs;    /* that have not ended; 0: 2, see graph_run.h   */
	bool stepped;         /* sley_graph_step() runs the nodes             */
	bool picture;         /* keep what <sley/graph_dump.h> draws          */
	uint32_t max_picture; /* nodes of it; 0: 4096                         */
	uint32_t nr_classes;  /* up to SLEY_GRAPH_CLASSES                     */
	const struct sley_worker_class *classes;
	uint64_t reserved[2];
};

#define SLEY_GRAPH_OPTIONS(...)                                                \
	SLEY_LITERAL(struct sley_graph_options, __VA_ARGS__)

#define SLEY_NODE_SPEC(...) SLEY_LITERAL(struct sley_node_spec, __VA_ARGS__)

#ifndef __cplusplus
/*
 * sley_graph_add(graph, fn, arg, access...): sley_graph_submit() of a node that
 * nobody names, with any number of SLEY_IN(), SLEY_OUT(), SLEY_INOUT().
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

/* What became of a node. */
enum sley_outcome {
	SLEY_OUTCOME_NONE = 0, /* it has not ended                         */
	SLEY_OUTCOME_SUCCESS = 1,
	SLEY_OUTCOME_FAILURE = 2, /* its function said so                     */
	SLEY_OUTCOME_ENDPOINT = 3, /* who should have run it is no more       */
	SLEY_OUTCOME_SKIPPED = 4, /* cancelled, or one before it has failed   */
};

/*
 * sley_graph_create - a graph whose nodes run in the caller's runtime.
 *
 * @options may be NULL.
 *
 * Context:  a task or a bound thread
 * Blocks:   never
 * Owner:    the caller's, until sley_graph_destroy(); @options and all it points to
 *           are borrowed for the call, but for the names.
 * Errors:   -ENOMEM, -E2BIG (a newer field is set)
 *           -EINVAL          options->size is zero, or max_nodes is more than
 *                            2^24, max_picture more than 2^20, or nr_classes
 *                            more than SLEY_GRAPH_CLASSES
 *           SLEY_EAFFINITY   a class has none of the runtime's workers
 *           SLEY_ENORUNTIME  the thread is not bound
 *           SLEY_EFORKED     it was, before fork()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_graph_create(struct sley_graph **graph,
		  const struct sley_graph_options *options);

/*
 * sley_graph_destroy - the end of a graph, when its last node has ended.
 *
 * Nobody may submit to it any more, but its own nodes.  Not for a node of the
 * graph itself.  NULL is fine.  In a child of fork() it does nothing.
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
 * It starts when those it depends on have ended: the nodes of @spec->after and
 * @spec->order, and, of those submitted before, who wrote what it reads or
 * writes, and who read what it writes.  Ranges that overlap depend on each other,
 * those that only touch do not.
 *
 * The graph is full if @max_nodes nodes have not ended, however many edges they have.
 * Then the caller waits for room.  It goes on when a quarter
 * of the graph is free, or 1024 places; or when a worker has nothing else to do; or a
 * millisecond later if there is any room then.
 *
 * A node of the same graph does not wait, since it would wait for itself.  Nor does a
 * child that such a node has forked, or a task that it joins, in a group or a scope,
 * or what these join.  They may submit past the limit, three times as many, or 1024 if
 * that is more; then the error is -EAGAIN.  A task that a node waits for in any other
 * way, by an event for example, does wait for room: let it call
 * sley_graph_submit_until().
 *
 * A gang is a node whose function is called so many times, each on a worker of its
 * own: none of them starts before all are there.  A gang that is cancelled before
 * that is skipped as a whole.  The members may wait for each other, with anything of
 * this library.  sley_node_member() tells them apart; the first
 * error of one of them is that of the node.
 *
 * A node of a class is queued there until one of its workers is free, the more
 * urgent before others, and else in the order in which they came to be ready.  If
 * it also has a mask, an affinity or a gang, both must hold, and its worker is
 * chosen at once.  In a graph that is stepped, and in a single-threaded runtime, the
 * class is checked and then of no account.
 *
 * A node with @spec->on runs there, a child process for example
 * (sley_subprocess_endpoint()): any function of the program whose argument is given by
 * value, or is NULL.  Its accesses order it as they do others, but what it reads and
 * writes over there is not here.  If the endpoint ends in the middle of it the
 * outcome is SLEY_OUTCOME_ENDPOINT, and sley_node_explain() says how.
 *
 * @node, if it is not NULL, names it to later calls.
 *
 * Context:  any thread
 * Blocks:   the fiber if the graph is full; a plain thread sleeps
 * Owner:    @spec and all it points to are borrowed for the call; @spec->arg
 *           until the node has ended, unless it is copied; @spec->name for good;
 *           @spec->on until the graph was waited for.
 * Order:    everything before the call happens before the node, and so does all
 *           that was done by those it depends on.
 * Errors:   -EINVAL     spec->size is zero, there is no function, an argument by
 *                       value is longer than SLEY_NODE_ARG_MAX, a mode is not
 *                       one, a node named is of the future, there is no such
 *                       class, or it is to run elsewhere and yet as a gang, or
 *                       on certain workers
 *           -E2BIG      a newer field is set
 *           SLEY_EPRIORITY
 *           SLEY_EAFFINITY  the worker is none, or not among those of the class
 *                           that are eligible; or nobody is
 *           SLEY_EGANG  more members than workers of the class that are eligible;
 *                       or a gang in a graph that is stepped
 *           -EMSGSIZE   the argument is too long for who is to run it
 *           -EFAULT     it is a pointer, which leads nowhere there
 *           -EAGAIN     the graph is full and runs in steps; or the caller is one of its nodes, or a node
 *                       joins it, and there is nothing left past the limit
 *           -EDEADLK    it would wait for a node of a later run (graph_run.h)
 *           -ECANCELED  while it waited
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
 * sley_graph_submit_until - sley_graph_submit() that waits for room until a deadline;
 * 0: it does not wait.
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
 * The graph is as new then: failures are forgotten, and so is who wrote what.
 * With others that wait or submit at the same time, each failure is reported to
 * one of those who wait.  A node of the graph that does so waits for itself: that is
 * misuse.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    everything in the nodes happens before the return.
 * Errors:   what the first node returned that failed in the graph or in what took some
 *           of it along; -ECANCELED if none did, but some were cancelled.
 *           sley_graph_explain() says more.
 *           -EDEADLK  the caller is a node, and what it waits for waits for it, as
 *                     has been reported by name.  The graph is as it was.
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_wait(struct sley_graph *graph);

/*
 * sley_graph_wait_until - sley_graph_wait() with a deadline, and cancellable.
 *
 * A wait that fails so leaves the graph as it is.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    as sley_graph_wait(), if that is what ended it
 * Errors:   as sley_graph_wait(); -ETIMEDOUT, -ECANCELED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_wait_until(struct sley_graph *graph, uint64_t deadline_ns);

/*
 * sley_graph_cancel - skip every node that has not started.
 *
 * Those that run are asked to end: their waits end with -ECANCELED.  What is
 * submitted before the next sley_graph_wait() returns is skipped, too.
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
 * First all that was submitted since is wired, then what can start runs, one after
 * the other in the order in which it came to be ready, in the caller; then all of
 * that is completed, in the same order.  Nothing of such a graph runs by itself, but
 * sley_graph_wait() and its like make as many steps as there are.
 *
 * Returns how many nodes have ended.
 *
 * Context:  any thread, one at a time
 * Blocks:   the fiber, if a node does; a plain thread sleeps
 * Errors:   -EINVAL  the graph is none of these
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_step(struct sley_graph *graph);

/*
 * sley_node_cancel - skip one node, and those that need what it would have done.
 *
 * If it runs, it is asked to end, and its outcome is its own.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -ESRCH  it has ended, or there never was such a node
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_node_cancel(struct sley_graph *graph, sley_node node);

/*
 * sley_node_member - which member of its gang the caller is, from 0.
 *
 * Context:  a node
 * Blocks:   never
 * Errors:   none; 0 for what is no member of a gang
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint32_t sley_node_member(void);

/*
 * sley_node_outcome - what became of @node.
 *
 * @code, if it is not NULL, is the error that its function returned.  Of a node that
 * was skipped it is that of the one that began it, or -ECANCELED; of one whose
 * endpoint has ended, what that says, such as SLEY_ECHILD.  It is 0 if it ended well.
 *
 * Context:  any thread
 * Blocks:   the fiber, while another caller is in the graph; a plain thread
 *           sleeps
 * Order:    unless it has not ended: what it did happens before the return.
 * Errors:   none; SLEY_OUTCOME_SUCCESS for those the graph has forgotten
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER enum sley_outcome
sley_node_outcome(struct sley_graph *graph, sley_node node, int *code);

/*
 * sley_node_explain - why a node has failed or was skipped, as a line of text.
 *
 * For example "solve was skipped <- mesh was skipped <- read failed: No such file
 * or directory"; with what the endpoint has to say behind it, if it has.  @text is
 * cut where it does not fit.
 *
 * Returns the length of the whole text.
 *
 * Context:  any thread
 * Blocks:   the fiber, while another caller is in the graph; a plain thread
 *           sleeps
 * Errors:   -ESRCH  it did not fail, or is forgotten
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_node_explain(struct sley_graph *graph, sley_node node, char *text,
		  size_t size);

/*
 * sley_graph_explain - why the last wait for the graph, or a scope of it, failed.
 *
 * As sley_node_explain() of the node whose error it returned, in 255 bytes at most;
 * that one is forgotten with the wait.
 *
 * Returns the length of the whole text.
 *
 * Context:  any thread
 * Blocks:   the fiber, while another caller is in the graph; a plain thread
 *           sleeps
 * Errors:   -ESRCH  it did not fail; or was given up, at its deadline or because the
 *                   caller was cancelled or waits in a circle, and by no node
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_explain(struct sley_graph *graph, char *text, size_t size);

SLEY_END_DECLS
#endif
