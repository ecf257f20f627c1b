/* SPDX-License-Identifier: MIT */
/*
 * sley/subprocess.h - functions that run in another process, which may die of it.
 *
 *	static int parse(struct sley_subprocess_work *work) { ... }
 *
 *	int main(void)
 *	{
 *		err = sley_subprocess_register("parse", parse);
 *		err = sley_subprocesses_init();
 *		err = sley_create(&rt, NULL);
 *		...
 *		err = sley_subprocess_create(&child, NULL);
 *		err = sley_subprocess_call(child, parse, text, size, &result);
 *
 * A crash, an exit or a hang over there fails the call, and says how; the child is
 * started again.  What a call does here is nothing but wait: a task gives its worker
 * away meanwhile.
 *
 * sley_subprocesses_init() forks a small process, the *server*, as long as the program
 * has one thread; children are forks of that.  So they can be started at any time,
 * and each of them has the program's memory as it was in that moment, and nothing of
 * what came later.  Functions are where they were: they are registered before.
 * Arguments and results are copied, SLEY_SUBPROCESS_DATA_MAX bytes each at most.
 *
 * A child serves one call after the other.  It may do whatever a process may: also
 * create a runtime of its own and run a graph there; what it keeps in variables is
 * there at the next call, unless it was started anew.  It ends with the program,
 * however that ends, and by _exit(): what stdio has not written is lost.  A function
 * that calls exit() there also writes what stdio had to write when the server was
 * forked.  SIGCHLD has its default there, all other signals are as they were.
 *
 * A call that waits holds neither a worker nor any other call but those behind it in
 * the same child.  A child cannot call back, so no circle of waiting goes through it.
 *
 * In a process that fork() has made, children of its parent cannot be used
 * (SLEY_EFORKED), but it may have some of its own.
 */
#ifndef SLEY_SUBPROCESS_H
#define SLEY_SUBPROCESS_H

#include <sley/compiler.h>
#include <sley/graph.h>

SLEY_BEGIN_DECLS

struct sley_subprocess;
struct sley_endpoint; /* what runs a node of a graph */

#define SLEY_SUBPROCESS_DATA_MAX                                               \
	4096 /* bytes of an argument, and of a result   */
#define SLEY_SUBPROCESS_TEXT_MAX                                               \
	256 /* of an error text, with its zero; cut     */
#define SLEY_SUBPROCESS_DEPTH_MAX 1024
#define SLEY_SUBPROCESS_FUNCTIONS_MAX 256
#define SLEY_SUBPROCESSES_MAX 256 /* children of a program at a time         */

/* In the child: what a function is called with. */
struct sley_subprocess_work {
	const void *arg;
	size_t arg_size;
	void *result; /* room for SLEY_SUBPROCESS_DATA_MAX bytes           */
	size_t result_size;
	char *text; /* room for SLEY_SUBPROCESS_TEXT_MAX, and empty        */
};

/*
 * Runs in the child: 0 or more, or a negative error and, in work->text, why.  How
 * much of work->result it has written is work->result_size.
 */
typedef int sley_subprocess_fn(struct sley_subprocess_work *work);

/* What became of a call.  @data and @size are the caller's; all else is set. */
struct sley_subprocess_result {
	void *data;  /* where the result goes, or NULL                  */
	size_t size; /* how much fits there; then how long the result is */
	enum sley_outcome outcome;
	int code;
	char text[SLEY_SUBPROCESS_TEXT_MAX]; /* why, unless it ended well    */
};

/* How a child differs from the usual.  Zero means the default everywhere. */
struct sley_subprocess_options {
	uint32_t size; /* of this struct; SLEY_SUBPROCESS_OPTIONS sets it       */
	uint32_t depth; /* in the ring, a power of two or the next; 0: 16    */
	const char *name; /* static text for ps and reports; 0: "child"     */
	/*
	 * So many restarts within so much time; then it is down.  0: 10 in 60 s.
	 * So it is after as many starts in a row that lead to nothing.
	 */
	uint32_t max_restarts; /* SLEY_SUBPROCESS_NEVER: none                    */
	bool fail_queued; /* calls that it had not begun fail with it, too  */
	uint64_t within_ns;
	uint64_t call_ns;  /* a call that takes longer kills it; 0: none    */
	uint64_t start_ns; /* what it has until it is ready; 0: 10 s        */
	/*
	 * How long each side looks for the other before it sleeps; 0: 10 us.  The
	 * worker of a task that looks is held meanwhile.
	 */
	uint64_t spin_ns; /* SLEY_SUBPROCESS_NO_SPIN: not at all                 */
	/* Runs in each child before its first call.  Below 0: it is not ready. */
	sley_subprocess_fn *on_start;
	uint64_t reserved[4];
};

#define SLEY_SUBPROCESS_NEVER UINT32_MAX
#define SLEY_SUBPROCESS_NO_SPIN UINT64_MAX

#define SLEY_SUBPROCESS_OPTIONS(...)                                           \
	SLEY_LITERAL(struct sley_subprocess_options, __VA_ARGS__)

/*
 * sley_subprocess_register - name a function that children can run.
 *
 * The name is for reports.  Before sley_subprocesses_init().
 *
 * Context:  the only thread of the program
 * Blocks:   never
 * Owner:    @name is borrowed for good.
 * Errors:   -EEXIST  another function has the name, or another name the function
 *           -EBUSY   the server was started: its children would not know it
 *           -ENOSPC  there are SLEY_SUBPROCESS_FUNCTIONS_MAX
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_subprocess_register(const char *name, sley_subprocess_fn *fn);

/*
 * sley_subprocesses_init - start the server, which forks children.
 *
 * First thing in main(): before the first runtime, and before anything else that
 * starts a thread, since what other threads were doing would be left undone for
 * ever in every child.
 *
 * Context:  the only thread of the program
 * Blocks:   the thread, until the server has begun
 * Errors:   -EBUSY   the program has threads already
 *           -EALREADY it was started
 *           -EAGAIN, -ENOMEM, -EMFILE
 *           SLEY_ECHILD  the server could not begin
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_THREAD SLEY_MUST_CHECK int
sley_subprocesses_init(void);

/*
 * sley_subprocesses_exit - stop the server.
 *
 * There must be no children left.  Does nothing where there is no server.
 *
 * Context:  any thread
 * Blocks:   the thread
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_THREAD void
sley_subprocesses_exit(void);

/*
 * sley_subprocess_create - start a child, and wait until it is ready.
 *
 * @options may be NULL.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    the caller's, until sley_subprocess_destroy()
 * Errors:   -ENOMEM, -EMFILE, -EAGAIN, -E2BIG (a newer field is set)
 *           -EINVAL      options->size is zero, depth is above
 *                        SLEY_SUBPROCESS_DEPTH_MAX, or on_start is not registered
 *           -ENOENT      there is no server: call sley_subprocesses_init() first
 *           -ENOSPC      there are SLEY_SUBPROCESSES_MAX
 *           -ETIMEDOUT   it was not ready in time, and was killed
 *           SLEY_ECHILD  it has ended before it was ready; or the server has
 *           SLEY_EFORKED
 *           what on_start returned
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_subprocess_create(struct sley_subprocess **child,
		       const struct sley_subprocess_options *options);

/*
 * sley_subprocess_destroy - the end of a child.
 *
 * Nobody may call it any more, and no call may be waiting.  One that was given up
 * and still runs has a second to end, then the child is killed.  NULL is fine.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_subprocess_destroy(struct sley_subprocess *child);

/*
 * sley_subprocess_call - run @fn in a child, and wait for what it returns.
 *
 * @size bytes of @arg are copied.  @result may be NULL.  While the child is busy,
 * or is being started again, the call waits for its turn.
 *
 * Returns what @fn returned, which is 0 or more.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    all are borrowed for the call.
 * Order:    @arg and @result are copied; children share no other memory.
 * Errors:   what @fn returned, if that is below 0
 *           SLEY_ECHILD  the child has ended in the middle of it; or it is down.
 *                        result->outcome is SLEY_OUTCOME_ENDPOINT, and
 *                        result->text says how it ended.
 *           -EMSGSIZE    @size is more than SLEY_SUBPROCESS_DATA_MAX; or @fn has run,
 *                        and its result is longer than there is room for: then
 *                        result->size says how long, and nothing is copied
 *           -ENOENT      @fn is not registered
 *           -ECANCELED   the caller was: nobody waits for the result, but the
 *                        child goes on if it has begun
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_subprocess_call(struct sley_subprocess *child, sley_subprocess_fn *fn,
		     const void *arg, size_t size,
		     struct sley_subprocess_result *result);

/*
 * sley_subprocess_call_until - sley_subprocess_call() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   as sley_subprocess_call(); -ETIMEDOUT: as if it was cancelled
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_subprocess_call_until(struct sley_subprocess *child,
			   sley_subprocess_fn *fn, const void *arg, size_t size,
			   struct sley_subprocess_result *result,
			   uint64_t deadline_ns);

/*
 * sley_subprocess_pid - the process id of a child, for tools.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; 0: there is no process at the moment
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_subprocess_pid(struct sley_subprocess *child);

/*
 * sley_subprocess_restarts - how often a child was started again.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint64_t
sley_subprocess_restarts(struct sley_subprocess *child);

/*
 * sley_subprocess_endpoint - a child as what runs nodes of a graph.
 *
 * The function of such a node need not be registered, but must have been in the
 * program when the server was started.  Its argument is given by value, or is NULL.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    it is the child's, and ends with it.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS struct sley_endpoint *
sley_subprocess_endpoint(struct sley_subprocess *child);

SLEY_END_DECLS
#endif
