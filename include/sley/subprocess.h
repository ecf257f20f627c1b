/* SPDX-License-Identifier: MIT */
/*
 * sley/subprocess.h - functions that run in a process of the operating system.
 *
 *	static int parse(struct sley_subprocess_work *work) { ... }
 *
 *	int main(void)
 *	{
 *		err = sley_subprocess_register("parse", parse);
 *		err = sley_subprocesses_init();
 *		err = sley_create(&rt, NULL);
 *		...
 *		err = sley_subprocess_create(&parser, NULL);
 *		err = sley_subprocess_call(parser, parse, text, size, &result);
 *
 * If the subprocess crashes, exits or hangs (see .call_ns), the call fails and
 * says how, and the subprocess is started again.  The caller only waits for the
 * result; a waiting task gives up its worker.
 *
 * sley_subprocesses_init() forks a small process, the *server*, while the
 * program still has only one thread.  All subprocesses are forks of the server.
 * So a subprocess can be started at any time.  It has the memory of the program
 * as of sley_subprocesses_init(), and no later changes.  The addresses of
 * functions are the same in both processes, but functions must be registered
 * before sley_subprocesses_init().  Arguments and results are copied, at most
 * SLEY_SUBPROCESS_DATA_MAX bytes each.  Memory that the program mapped with
 * MAP_SHARED before sley_subprocesses_init() is shared with all subprocesses.
 *
 * A subprocess handles one call after the other.  It may do all that a process
 * may do, such as create a runtime and run a graph.  Its variables keep their
 * values until the next call, unless the subprocess was restarted in between.
 *
 * A subprocess ends when the program ends, for any reason.  It ends by _exit(),
 * so unwritten stdio output is lost.  If a function calls exit() in a
 * subprocess, this also writes the stdio output that was pending when the server
 * was forked.  In a subprocess SIGCHLD has its default action; all other signals
 * are unchanged.
 *
 * A waiting call holds no worker, and delays only the calls behind it in the
 * same subprocess.  A subprocess cannot call back, so it cannot be part of a
 * deadlock.
 *
 * After fork(), the new process cannot use the subprocesses of its parent
 * (SLEY_EFORKED).  It may create subprocesses of its own.
 */
#ifndef SLEY_SUBPROCESS_H
#define SLEY_SUBPROCESS_H

#include <sley/compiler.h>
#include <sley/graph.h>

SLEY_BEGIN_DECLS

struct sley_subprocess;
struct sley_endpoint; /* runs nodes of a graph */

#define SLEY_SUBPROCESS_DATA_MAX                                               \
	4096 /* bytes of an argument, or of a result    */
#define SLEY_SUBPROCESS_TEXT_MAX                                               \
	256 /* bytes of an error text, with its '\0'; longer ones are cut */
#define SLEY_SUBPROCESS_DEPTH_MAX 1024
#define SLEY_SUBPROCESS_FUNCTIONS_MAX 256
#define SLEY_SUBPROCESSES_MAX 256 /* in a program at the same time           */

/* In the subprocess: the argument of a function, and room for its result. */
struct sley_subprocess_work {
	const void *arg;
	size_t arg_size;
	void *result; /* room for SLEY_SUBPROCESS_DATA_MAX bytes           */
	size_t result_size;
	char *text; /* room for SLEY_SUBPROCESS_TEXT_MAX bytes; empty at first */
};

/*
 * Runs in the subprocess.  Returns 0 or more; or a negative error, with an
 * explanation in work->text.  The function sets work->result_size to the number
 * of bytes that it has written to work->result.
 */
typedef int sley_subprocess_fn(struct sley_subprocess_work *work);

/*
 * The outcome of a call.  The caller sets .data and .size; the call sets the
 * rest.
 */
struct sley_subprocess_result {
	void *data;  /* where the result goes, or NULL                  */
	size_t size; /* in: room at .data; out: length of the result */
	enum sley_outcome outcome;
	int code;
	char text[SLEY_SUBPROCESS_TEXT_MAX]; /* why it failed                */
};

/* The options of a subprocess.  Zero means the default in every field. */
struct sley_subprocess_options {
	uint32_t size; /* of this struct; SLEY_SUBPROCESS_OPTIONS sets it       */
	uint32_t depth; /* calls in its ring, rounded up to a power of two; 0: 16 */
	const char *name; /* for ps and reports, static; 0: "subprocess"   */
	/*
	 * The restart intensity: max_restarts restarts within within_ns; 0: 10
	 * in 60 s.  After one more failure the subprocess is down.  It is also
	 * down after max_restarts starts in a row that have failed.
	 */
	uint32_t max_restarts; /* SLEY_SUBPROCESS_NEVER: no restart              */
	bool fail_queued; /* a crash fails also calls that have not begun   */
	uint64_t within_ns;
	uint64_t call_ns; /* it is killed if a call takes longer; 0: no limit */
	uint64_t start_ns; /* time to become ready; 0: 10 s                 */
	/*
	 * How long each side spins before it sleeps; 0: 10 us.  A task that
	 * spins holds its worker.
	 */
	uint64_t spin_ns; /* SLEY_SUBPROCESS_NO_SPIN: not at all                 */
	/*
	 * Runs in each new subprocess before the first call.  Below 0: not
	 * ready.
	 */
	sley_subprocess_fn *on_start;
	/*
	 * The argument of on_start, at most SLEY_SUBPROCESS_DATA_MAX bytes.
	 * Borrowed until the subprocess is destroyed.
	 */
	const void *start_arg;
	size_t start_size;
	uint64_t reserved[2];
};

#define SLEY_SUBPROCESS_NEVER UINT32_MAX
#define SLEY_SUBPROCESS_NO_SPIN UINT64_MAX

#define SLEY_SUBPROCESS_OPTIONS(...)                                           \
	SLEY_LITERAL(struct sley_subprocess_options, __VA_ARGS__)

/*
 * sley_subprocess_register - name a function that subprocesses can run.
 *
 * The name is for reports.  Call this before sley_subprocesses_init().
 *
 * Context:  the only thread of the program
 * Blocks:   never
 * Owner:    @name is borrowed for good.
 * Errors:   -EEXIST  another function has the name, or the function has another
 *                    name
 *           -EBUSY   the server has started: subprocesses would not know the
 *                    function
 *           -ENOSPC  there are SLEY_SUBPROCESS_FUNCTIONS_MAX functions
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_subprocess_register(const char *name, sley_subprocess_fn *fn);

/*
 * sley_subprocesses_init - start the server, which forks subprocesses.
 *
 * Call this first in main(): before the first runtime, and before anything else
 * that starts a thread.  A fork has no other threads, so their unfinished work
 * would stay unfinished in every subprocess.
 *
 * Context:  the only thread of the program
 * Blocks:   the thread, until the server has begun
 * Errors:   -EBUSY       the program has several threads already
 *           -EALREADY    the server was started before
 *           -EAGAIN, -ENOMEM, -EMFILE
 *           SLEY_ECHILD  the server could not begin
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_THREAD SLEY_MUST_CHECK int
sley_subprocesses_init(void);

/*
 * sley_subprocesses_exit - stop the server.
 *
 * There must be no subprocesses left.  Does nothing if there is no server.
 *
 * Context:  any thread
 * Blocks:   the thread
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_THREAD void
sley_subprocesses_exit(void);

/*
 * sley_subprocess_create - start a subprocess, and wait until it is ready.
 *
 * @options may be NULL.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    *@subprocess belongs to the caller, until sley_subprocess_destroy()
 * Errors:   -ENOMEM, -EMFILE, -EAGAIN, -E2BIG (a newer field is set)
 *           -EINVAL       options->size is zero, depth is above
 *                         SLEY_SUBPROCESS_DEPTH_MAX, or on_start is not
 *                         registered
 *           -EMSGSIZE     start_size is above SLEY_SUBPROCESS_DATA_MAX
 *           -ENOENT       there is no server: call sley_subprocesses_init()
 *                         first
 *           -ENOSPC       there are SLEY_SUBPROCESSES_MAX subprocesses
 *           -ETIMEDOUT    the subprocess was not ready in time, and was killed
 *           SLEY_ECHILD   the subprocess ended before it was ready; or the
 *                         server has ended
 *           SLEY_EFORKED  the server belongs to the parent of this process
 *           the error of on_start
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_subprocess_create(struct sley_subprocess **subprocess,
		       const struct sley_subprocess_options *options);

/*
 * sley_subprocess_destroy - end a subprocess.
 *
 * No thread may call the subprocess any more, and no call may be waiting.  A
 * call that was given up by its caller and still runs has one second to end;
 * then the subprocess is killed.  Does nothing with NULL.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_subprocess_destroy(struct sley_subprocess *subprocess);

/*
 * sley_subprocess_call - run @fn in a subprocess, and wait for the result.
 *
 * @size bytes of @arg are copied.  @result may be NULL.  While the subprocess is
 * busy, or is being started again, the call waits for its turn.
 *
 * Returns the value of @fn, if that is 0 or more.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    all arguments are borrowed for the call.
 * Order:    @arg and @result are copied; subprocesses share no other memory.
 * Errors:   a negative value of @fn
 *           SLEY_ECHILD  the subprocess ended during the call, or is down.
 *                        result->outcome is SLEY_OUTCOME_ENDPOINT, and
 *                        result->text says how it ended.
 *           -EMSGSIZE    @size is more than SLEY_SUBPROCESS_DATA_MAX; or @fn has
 *                        run, and its result is longer than result->data: then
 *                        result->size is the length, and nothing is copied
 *           -ENOENT      @fn is not registered
 *           -ECANCELED   the caller was cancelled: the result is lost, but @fn
 *                        runs to its end if it has begun
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_subprocess_call(struct sley_subprocess *subprocess, sley_subprocess_fn *fn,
		     const void *arg, size_t size,
		     struct sley_subprocess_result *result);

/*
 * sley_subprocess_call_until - sley_subprocess_call() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   as sley_subprocess_call(); -ETIMEDOUT: as -ECANCELED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_subprocess_call_until(struct sley_subprocess *subprocess,
			   sley_subprocess_fn *fn, const void *arg, size_t size,
			   struct sley_subprocess_result *result,
			   uint64_t deadline_ns);

/*
 * sley_subprocess_pid - the process id of a subprocess, for tools.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; returns 0 if there is no process at the moment
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_subprocess_pid(struct sley_subprocess *subprocess);

/*
 * sley_subprocess_restarts - how often a subprocess was restarted.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint64_t
sley_subprocess_restarts(struct sley_subprocess *subprocess);

/*
 * sley_subprocess_endpoint - the endpoint that runs nodes of a graph in a
 * subprocess.
 *
 * The function of such a node need not be registered, but must have been in the
 * program when the server was started.  Its argument is passed by value, or is
 * NULL.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the endpoint belongs to the subprocess, and ends with it.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS struct sley_endpoint *
sley_subprocess_endpoint(struct sley_subprocess *subprocess);

SLEY_END_DECLS
#endif
