/* SPDX-License-Identifier: MIT */
/*
 * sley/actor.h - processes that are functions: receive, call, reply.
 *
 *	static int counter(void *arg)
 *	{
 *		struct sley_msg *msg;
 *		long sum = 0;
 *
 *		while (sley_receive(&msg) == 0) {
 *			if (msg->tag == ADD)
 *				sum += *(const long *)msg->data;
 *			else if (msg->tag == GET)
 *				sley_reply(msg, GET, &sum, sizeof(sum));
 *		}
 *		return 0;
 *	}
 *
 * An actor is a task with a mailbox.  An actor may wait in any call of sley;
 * messages for the actor wait in the mailbox meanwhile.
 */
#ifndef SLEY_ACTOR_H
#define SLEY_ACTOR_H

#include <sley/compiler.h>
#include <sley/message.h>
#include <sley/process.h>

SLEY_BEGIN_DECLS

/* The function of an actor: returns the reason for the actor's end, 0 or below. */
typedef int sley_actor_fn(void *arg);

/*
 * sley_actor_spawn - create a process that runs @fn(@arg).
 *
 * @pid and @options may be NULL.  If the call fails, *@pid is SLEY_NO_PID; but after
 * -EEXIST it is the process that has the name.  An actor that is ended before it has
 * started does not run @fn at all.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @arg must stay valid as long as the actor lives.  If @fn is to free
 *           @arg, note that @fn may never start: a monitor tells of the end of such
 *           an actor.  @options is borrowed for the call.
 * Order:    everything before the call happens before @fn.
 * Errors:   as sley_process_spawn(), without init; SLEY_ESTACK
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_actor_spawn(sley_pid *pid, sley_actor_fn *fn, void *arg,
		 const struct sley_process_options *options);

/*
 * sley_actor_exit - end the calling actor, for @reason, from within any call.
 *
 * The actor ends as if its function had returned.  The frames in between are left as
 * by longjmp(): locks and memory that they hold are not released.
 *
 * Context:  an actor
 * Blocks:   never
 * Errors:   none: it does not return; elsewhere it is misuse
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS void sley_actor_exit(int reason)
	__attribute__((noreturn));

/*
 * sley_receive - receive the next message, in order.
 *
 * Context:  an actor
 * Blocks:   the fiber
 * Owner:    *@msg is the actor's until its next receive; see sley_msg_keep().
 * Order:    everything before the message was sent happens before the return.
 * Errors:   -ECANCELED  the actor is to end, or has opened a scope that was
 *                       cancelled
 *           -EINVAL     the caller is no actor
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_receive(struct sley_msg **msg);

/*
 * sley_receive_until - sley_receive() with a deadline; with 0 it does not wait.
 *
 * Context:  an actor
 * Blocks:   the fiber
 * Owner:    as sley_receive()
 * Order:    as sley_receive()
 * Errors:   as sley_receive()
 *           -ETIMEDOUT  no message came in time
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_receive_until(struct sley_msg **msg, uint64_t deadline_ns);

/* Does the receiver want @msg now? */
typedef bool sley_wants(const struct sley_msg *msg, void *arg);

/*
 * sley_receive_tag_until - receive the oldest message with @tag; others stay in the
 * mailbox.
 *
 * Only messages of the kind SLEY_MESSAGE, which were sent, have tags in this sense.
 *
 * Context:  an actor
 * Blocks:   the fiber
 * Owner:    as sley_receive()
 * Order:    as sley_receive()
 * Errors:   as sley_receive_until()
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_receive_tag_until(struct sley_msg **msg, uint64_t tag,
		       uint64_t deadline_ns);

/*
 * sley_receive_where_until - receive the oldest message, of any kind, that @wants
 * accepts.
 *
 * @wants is called once for each message, the oldest first, and must not send,
 * receive, wait or exit.
 *
 * Context:  an actor
 * Blocks:   the fiber
 * Owner:    as sley_receive()
 * Order:    as sley_receive()
 * Errors:   as sley_receive_until()
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_receive_where_until(struct sley_msg **msg, sley_wants *wants, void *arg,
			 uint64_t deadline_ns);

/* ---- request and reply --------------------------------------------------------- */

/*
 * sley_call - send a request, and wait for the reply.
 *
 * Any thread can call, and any process can be called.  @reply may be NULL: then the
 * reply is freed.  The first reply counts, whichever process sends it.  So @to may
 * forward the request (sley_msg_forward()), and another process answers; but @to has
 * to live until then.  The request does not name the caller: if @to is to know the
 * caller, put sley_self() into @data.
 *
 * While a more urgent task waits for the reply of @to, @to has the priority of that
 * task.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.  The caller owns *@reply and frees it
 *           with sley_msg_free().  If the call fails, *@reply is not written.
 * Order:    everything before the reply happens before the return.
 * Errors:   as sley_send()
 *           -ESRCH      there is no such process (any more), or it ended for
 *                       reason 0 without a reply
 *           -ECANCELED  the caller was cancelled, or @to ended for this reason
 *           -EDEADLK    the caller is @to
 *           the reason for the end of @to if @to ended without a reply
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_call(sley_pid to, uint64_t tag, const void *data, size_t size,
	  struct sley_msg **reply);

/*
 * sley_call_until - sley_call() with a deadline.
 *
 * A reply that comes too late is freed.  If @deadline_ns has passed already, nothing
 * is sent.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_call()
 * Order:    as sley_call()
 * Errors:   as sley_call()
 *           -ETIMEDOUT  no reply came in time
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_call_until(sley_pid to, uint64_t tag, const void *data, size_t size,
		struct sley_msg **reply, uint64_t deadline_ns);

/* A call under way, private; in memory of the caller, which must not move it. */
struct sley_pending_call {
	uint64_t space[12];
};

/*
 * sley_call_start - send a request, and wait for the reply later.
 *
 * @pending is a future.  sley_call_is_over() tells whether the call has an outcome,
 * sley_call_finish() waits for the outcome, and sley_call_cancel() gives it up.
 * Each call must be finished or cancelled before the memory of @pending is gone.
 * Another thread or task may do that, but only one at a time.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @data is copied.  @pending is in use until the call is finished or
 *           cancelled.  If sley_call_start() fails, there is nothing to finish.
 * Errors:   as sley_call(), but -EAGAIN if the mailbox of @to is full
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_call_start(struct sley_pending_call *pending, sley_pid to, uint64_t tag,
		const void *data, size_t size);

/*
 * sley_call_is_over - has the call an outcome, a reply or an error?
 *
 * If so, sley_call_finish() does not wait.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS bool
sley_call_is_over(struct sley_pending_call *pending);

/*
 * sley_call_finish - wait for the outcome of a call that was started.
 *
 * If the waiter is cancelled, the call goes on: finish it later, or cancel it.  But
 * -ECANCELED may also be the outcome of the call, if the called process ended for
 * this reason.  Then the call is over, and it is harmless to finish or cancel it
 * again: a second finish fails with the same error, and a cancel does nothing.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    *@reply as sley_call()
 * Order:    as sley_call()
 * Errors:   as sley_call()
 *           -EINVAL  the reply was given out before
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_call_finish(struct sley_pending_call *pending, struct sley_msg **reply);

/*
 * sley_call_finish_until - sley_call_finish() with a deadline; with 0 it does not
 * wait.
 *
 * After -ETIMEDOUT the call is still under way.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_call_finish()
 * Order:    as sley_call()
 * Errors:   as sley_call_finish()
 *           -ETIMEDOUT  there is no outcome yet
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_call_finish_until(struct sley_pending_call *pending,
		       struct sley_msg **reply, uint64_t deadline_ns);

/*
 * sley_call_cancel - give up a call: the caller does not want the reply any more.
 *
 * The request is not taken back: the called process may still handle the request,
 * and gets -ESRCH for its reply.  A reply that has come is freed.  If the call was
 * finished before, nothing happens.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @pending is the caller's again.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_call_cancel(struct sley_pending_call *pending);

/*
 * sley_reply - answer a request; or answer any message by a message to its sender.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @data is copied; @request keeps its owner.
 * Order:    everything before the call happens before the reply is received.
 * Errors:   -ESRCH     no caller waits for the reply (any more), or no process sent
 *                      @request
 *           -ENOMEM    nothing was sent
 *           -EMSGSIZE  @data is more than 4 GiB
 *           -EAGAIN    @request was a message, and the mailbox of its sender is full
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_reply(const struct sley_msg *request, uint64_t tag, const void *data,
	   size_t size);

SLEY_END_DECLS
#endif
