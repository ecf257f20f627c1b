/* SPDX-License-Identifier: MIT */
/*
 * sley/request.h - requests: work for the containers of a pool.
 *
 * A request names a method of the pool's module, a query that says where it runs, the
 * memory that the method reads (the IN part) and the memory that it writes (the OUT
 * part).  sley_submit() sends a request to its pool; the answer is a future.
 *
 *     struct sley_request request;
 *     struct value value;
 *
 *     err = sley_submit(pool, &request,
 *                       SLEY_REQUEST(.method = KV_GET,
 *                                    .query = sley_query_hash(hash),
 *                                    .in = &key, .in_size = sizeof(key),
 *                                    .out = &value, .out_size = sizeof(value)));
 *     ...
 *     err = sley_request_wait(&request);
 *     if (!err)
 *             err = sley_request_code(&request);
 *
 * A request that was accepted completes exactly once, with a code: the code that
 * its method returned, or the reason why the method did not run:
 *
 *   -ENOENT        the pool was destroyed
 *   -ENOSYS        the module has no such method
 *   -ENXIO         there is no such container
 *   -EINVAL        the range of the query is empty
 *   -EHOSTUNREACH  the query names another machine
 *   -ETIMEDOUT     the deadline of the request, or of its query, has passed
 *   -ECANCELED     the request was cancelled before it began, or the runtime was
 *   -ENOMEM        no memory for the parts of a range, or for a series of runs
 *
 * Of a pool that is isolated (<sley/pool.h>), also:
 *
 *   SLEY_ECHILD    the subprocess ended while it ran the method; or it is down
 *   -ENOMEM, -ENOSPC  no memory to copy a large IN part, and nothing ran
 *   -EMSGSIZE      the program may not have files of that size (ulimit -f), and
 *                  nothing ran
 *
 * Of a pool of a daemon, as <sley/client.h> says, also: SLEY_EUNKNOWN, -EHOSTDOWN,
 * -EPERM, -EMSGSIZE.
 *
 * A method runs as a task (<sley/task.h>), and may block as any task.  Requests of one
 * container run at the same time, on several workers.
 *
 * Periodic requests.  The method of a request with a period runs again and again, first
 * at once, then each time a period later than the run before *should* have begun.  So
 * the runs do not drift.  They do not overlap: times that pass while a run lasts, or
 * comes late, are left out, and so are times at which the container is drained.  The
 * policy is asked for each run.  Between two runs the request has no stack, and
 * neither a drain nor a flush waits for it.  The request completes when the series ends:
 *
 *   - the method returned a code that is not 0: this is the code
 *   - sley_request_cancel(), or the runtime is cancelled: -ECANCELED
 *   - .deadline_ns has come: -ETIMEDOUT
 *   - the pool is destroyed: -ENOENT
 *
 * A method that finds nothing to do may say so, by sley_request_set_idle().  Then the
 * wait until the next run is twice as long each time, up to SLEY_IDLE_WAIT_NS, or to the
 * period if that is longer; and waits of SLEY_IDLE_ALIGN_NS and more end at a multiple of
 * that time, so that idle requests wake a worker together.  The first run that does not
 * say so restores the period.  A policy may choose other waits (adjust_polling() in
 * <sley/policy.h>).
 */
#ifndef SLEY_REQUEST_H
#define SLEY_REQUEST_H

#include <sley/compiler.h>
#include <sley/future.h>
#include <sley/query.h>
#include <sley/task.h>
#include <sley/time.h>

#include <sys/types.h>

SLEY_BEGIN_DECLS

struct sley_container; /* <sley/module.h> */
struct sley_method;    /* <sley/module.h> */
struct sley_pool;      /* <sley/pool.h>   */

/* Idle periodic requests: the longest wait that is not their period. */
#define SLEY_IDLE_WAIT_NS (100 * SLEY_MSEC)

/* Idle periodic requests: waits of so long, and longer, end at a multiple of it. */
#define SLEY_IDLE_ALIGN_NS (10 * SLEY_MSEC)

/* How many requests sley_request_wait_any_until() takes at most. */
#define SLEY_REQUEST_ANY_MAX (SLEY_FUTURE_ANY_MAX - 1)

/* No group, for .group. */
#define SLEY_NO_GROUP 0

/*
 * What a request asks for.  Zero means the default in every field.  Use
 * SLEY_REQUEST().
 */
struct sley_request_spec {
	uint32_t size;   /* of this struct; SLEY_REQUEST sets it             */
	uint32_t method; /* an index into the methods of the module          */
	struct sley_query query;
	const void *in; /* what the method reads                              */
	size_t in_size;
	void *out; /* what the method writes                                  */
	size_t out_size;
	int32_t priority; /* SLEY_PRIORITY_MIN to SLEY_PRIORITY_MAX           */
	/*
	 * The method never runs on the stack of the submitter, also if it could:
	 * see sley_submit().
	 */
	bool enqueue;
	/*
	 * Of a pool of a daemon (<sley/client.h>): the method may run twice.  If the
	 * daemon ends meanwhile, the request is sent again to the next daemon.
	 * Elsewhere it means nothing.
	 */
	bool idempotent;
	uint64_t deadline_ns; /* 0: none; see sley_after()                    */
	/*
	 * Requests of one group, which is any number but 0, run on the same worker
	 * if the policy keeps groups together.
	 */
	uint64_t group;
	uint64_t io_size; /* bytes that the method moves; a hint for the policy */
	/* The request whose method submits this request; or NULL. */
	const struct sley_request *parent;
	/*
	 * Not 0: the method runs again and again, so often.  For requests that run in
	 * one container.
	 */
	uint64_t period_ns;
	uint64_t reserved[1];
};

#define SLEY_REQUEST(...) SLEY_LITERAL(struct sley_request_spec, __VA_ARGS__)

/*
 * A request.  Caller-owned from sley_submit() until it is complete.  The fields are
 * private; needs no initialisation.
 */
struct sley_request {
	struct sley_future done;
	struct sley_task task;
	struct sley_container *container; /* where it runs                   */
	const struct sley_method *does;
	const void *in;
	size_t in_size;
	void *out;
	size_t out_size;    /* room for the answer                           */
	size_t answer_size; /* how long the answer is                        */
	struct sley_query query;
	uint64_t deadline_ns;
	uint64_t group;
	uint64_t io_size;
	void *parts;  /* its requests to several containers              */
	void *series; /* its runs, if periodic; of a daemon: its pool    */
	uint32_t method;
	uint32_t flags; /* what it has entered, and how it completes        */
	int32_t code;
	uint32_t worker;  /* that it was sent to, as the policy chose         */
	uint32_t holds;   /* its parts, as one, and its cancellers            */
	uint32_t cost_ns; /* the prediction that its worker was charged with  */
	uint32_t lock;    /* of .series                                       */
	uint32_t remote;  /* not 0: for a daemon, see sley_request_wait()    */
};

/*
 * sley_submit - send a request to a pool.
 *
 * The method runs as a new task, on the worker that the policy of the router chooses.
 * A method that is marked SLEY_METHOD_SHORT runs on the stack of the submitter instead,
 * if the submitter is a task, the policy chooses the worker of the submitter, and
 * .enqueue is not set; then the request is complete when the call returns.
 *
 * A request with a period that leads to several containers completes with -EINVAL.
 *
 * Context:  any thread
 * Blocks:   never, but for a short method, and for a segment of a daemon
 *           (<sley/client.h>)
 * Owner:    @request is borrowed until it is complete, and so is the memory that .in and
 *           .out name; @spec is borrowed for the call.
 * Order:    everything before the call happens before the method; everything in the
 *           method happens before the return of a wait for @request.
 * Errors:   -EINVAL         spec->size is zero
 *           -E2BIG          a newer field is set
 *           SLEY_EPRIORITY
 *           SLEY_ENOWORKER  the runtime is single-threaded, and this thread is not
 *                           bound to it
 *           -ESHUTDOWN      the runtime is being destroyed, and the caller is no task
 *                           of it
 *           SLEY_EFORKED    this process is a fork of the one that made the router
 *           of a pool of a daemon (<sley/client.h>), too:
 *           -EAGAIN         no slot is free: wait for any request, then try again
 *           -EHOSTDOWN      there is no daemon
 *           -EOPNOTSUPP     .parent or .period_ns is set
 *           -EMSGSIZE       the IN part or the OUT part is too large for the daemon
 *           -ECANCELED      the caller was cancelled while it waited for a segment
 *           On failure the request was not accepted, and is not complete.
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_submit(struct sley_pool *pool, struct sley_request *request,
	    const struct sley_request_spec *spec);

/*
 * sley_submit_many - send several requests to a pool, at the price of fewer calls.
 *
 * As sley_submit() of requests[0] with specs[0], then of requests[1] with specs[1],
 * until one of them fails.  To a pool of a daemon (<sley/client.h>) they are published
 * several at a time.
 *
 * Returns how many requests were accepted: the first so many.
 *
 * Context:  any thread
 * Blocks:   never, but as sley_submit()
 * Owner:    @requests, @specs: as sley_submit(), each
 * Order:    as sley_submit()
 * Errors:   none was accepted, and @nr is not 0: the error of the first, as
 *           sley_submit()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK ssize_t
sley_submit_many(struct sley_pool *pool, struct sley_request *const *requests,
		 const struct sley_request_spec *const *specs, size_t nr);

/*
 * sley_submit_and_forget - send a request that no caller waits for.
 *
 * The library copies the IN part, and frees the copy after the method has returned.
 * There is no OUT part, and the code is lost: .out and .out_size must be zero.
 * No caller can cancel the request.  So a request with a period ends with its pool,
 * unless its method or its deadline ends it before.
 *
 * Context:  any thread
 * Blocks:   never, but for a short method
 * Owner:    @spec and its IN part are borrowed for the call.
 * Order:    everything before the call happens before the method.
 * Errors:   as sley_submit(), and
 *           -ENOMEM  nothing was sent
 *           -EINVAL  there is an OUT part
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_submit_and_forget(struct sley_pool *pool,
		       const struct sley_request_spec *spec);

/*
 * sley_pool_call - send a request, and wait until it is complete.
 *
 * Returns the code of the request.  *@out_size gets the length of the answer; it may
 * be NULL.  If the policy chooses the worker of the caller, a task, the method runs on
 * the stack of the caller, unless .enqueue is set.  A cancel of the caller cancels
 * the request; the call still waits until the request is complete, since the method
 * may be using the memory of the caller.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @spec and the memory that it names are borrowed for the call.
 * Order:    as sley_submit()
 * Errors:   the code of the request, and as sley_submit()
 *           -EINVAL  .period_ns is set
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_pool_call(struct sley_pool *pool, const struct sley_request_spec *spec,
	       size_t *out_size);

/*
 * sley_request_future - the future that is complete when the request is.
 *
 * For waits for several requests: sley_future_wait_any() and sley_future_wait_all().
 * The value of the future is @request; a code below 0 is its error.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the future is a part of @request.
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline struct sley_future *
sley_request_future(struct sley_request *request)
{
	return &request->done;
}

/*
 * sley_request_look - sley_request_is_done() of a request to a daemon.
 *
 * Looks for answers first, for all requests of the client.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS bool
sley_request_look(const struct sley_request *request);

/*
 * sley_request_is_done - is a request complete?
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    if true: everything in the method happens before the return.
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline bool
sley_request_is_done(const struct sley_request *request)
{
	return sley_future_is_done(&request->done) ||
	       (request->remote && sley_request_look(request));
}

/*
 * sley_request_wait_until - sley_request_wait() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, -ECANCELED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_request_wait_until(struct sley_request *request, uint64_t deadline_ns);

/*
 * sley_request_wait - wait until a request is complete.
 *
 * On failure the request goes on, and must be waited for again before its memory is
 * used for anything else.
 *
 * Wait for requests to a daemon with the calls of this header: a plain thread that
 * waits for their futures instead looks for no answers.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ECANCELED   the caller was cancelled
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_request_wait(struct sley_request *request)
{
	/* Done, and its lock is free: as sley_future_wait(). */
	if (__atomic_load_n(&request->done.done.q.word, __ATOMIC_ACQUIRE) ==
	    SLEY_EVENT_SET)
		return 0;
	if (request->remote)
		return sley_request_wait_until(request, SLEY_FOREVER);
	return sley_event_wait(&request->done.done);
}

/*
 * sley_request_wait_any_until - wait until one of @nr requests is complete.
 *
 * Returns the index of a request that is complete.  The requests may be of several
 * pools, of this process and of daemons.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, -ECANCELED
 *           -EINVAL   @nr is 0 or above SLEY_REQUEST_ANY_MAX
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_request_wait_any_until(struct sley_request *const *requests, size_t nr,
			    uint64_t deadline_ns);

/*
 * sley_request_code - how a request ended.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   the code of the request
 *           -EINPROGRESS  the request is not complete
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_request_code(const struct sley_request *request);

/*
 * sley_request_cancel - ask a request to end.
 *
 * A request that has not begun completes with -ECANCELED, without its method.  A
 * method that has begun is cancelled as a task: its waits return -ECANCELED.  The
 * request completes when the method has returned.  A request that runs on the stack
 * of its submitter is not cancelled by this call.  Of a request with a period no run
 * comes any more; if it is between two runs, it completes at once.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @request must not be used for anything else before the call has returned.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_request_cancel(struct sley_request *request);

/* ---- for methods, schedule() and policies ---------------------------------------- */

/*
 * sley_request_method - the number of the method that a request asks for.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline uint32_t
sley_request_method(const struct sley_request *request)
{
	return request->method;
}

/*
 * sley_request_in - the IN part of a request; *@size gets its length.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the memory belongs to the submitter, until the request is complete.
 * Errors:   none; NULL if there is none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline const void *
sley_request_in(const struct sley_request *request, size_t *size)
{
	*size = request->in_size;
	return request->in;
}

/*
 * sley_request_out - the OUT part of a request; *@size gets its room in bytes.
 *
 * The method writes its answer there, and says by sley_request_answer() how long it
 * is.  Without that call the answer is empty.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    as sley_request_in()
 * Errors:   none; NULL if there is none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline void *
sley_request_out(struct sley_request *request, size_t *size)
{
	*size = request->out_size;
	return request->out;
}

/*
 * sley_request_answer - copy @size bytes to the OUT part, as the answer.
 *
 * @from may lie in the OUT part itself, at its beginning; then nothing is copied.
 *
 * Context:  any thread, for the method of @request
 * Blocks:   never
 * Errors:   -EMSGSIZE  the OUT part is smaller; nothing was copied
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_request_answer(struct sley_request *request, const void *from,
		    size_t size);

/*
 * sley_request_set_idle - this run of a periodic request had nothing to do.
 *
 * The next run comes later, see above.  Of a request without a period: nothing.
 *
 * Context:  any thread, for the method of @request
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_request_set_idle(struct sley_request *request);

/*
 * sley_request_answer_size - how long the answer of a complete request is.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS size_t
sley_request_answer_size(const struct sley_request *request);

SLEY_END_DECLS
#endif
