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
 * An actor is a task with a mailbox.  It may wait in anything of sley; its
 * messages wait meanwhile.
 */
#ifndef SLEY_ACTOR_H
#define SLEY_ACTOR_H

#include <sley/compiler.h>
#include <sley/message.h>
#include <sley/process.h>

SLEY_BEGIN_DECLS

/* What an actor does: returns the reason for its end, 0 or below. */
typedef int sley_actor_fn(void *arg);

/*
 * sley_actor_spawn - a new process that runs @fn(@arg).
 *
 * @pid and @options may be NULL.  If it fails *@pid is SLEY_NO_PID, but for -EEXIST.
 * An actor that is ended before it has begun does not run @fn at all.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @arg must be there as long as the actor is.  If @fn is to free it, see
 *           to those that never begin: a monitor tells of their end.
 *           @options is borrowed for the call.
 * Order:    everything before the call happens before @fn.
 * Errors:   as sley_process_spawn(), without init; SLEY_ESTACK
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_actor_spawn(sley_pid *pid, sley_actor_fn *fn, void *arg,
		 const struct sley_process_options *options);

/*
 * sley_actor_exit - end the calling actor, for @reason, from within any call.
 *
 * As if its function had returned: the frames in between are left as by longjmp().
 * What they hold is not let go.
 *
 * Context:  an actor
 * Blocks:   never
 * Errors:   none: it does not return; elsewhere it is misuse
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS void sley_actor_exit(int reason)
	__attribute__((noreturn));

/*
 * sley_receive - the next message, in order.
 *
 * Context:  an actor
 * Blocks:   the fiber
 * Owner:    *@msg is the actor's until its next receive; see sley_msg_keep().
 * Order:    everything before it was sent happens before the return.
 * Errors:   -ECANCELED  the actor is to end, or in a scope that was cancelled
 *           -EINVAL     the caller is no actor
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_receive(struct sley_msg **msg);

/*
 * sley_receive_until - sley_receive() with a deadline; 0 only looks.
 *
 * Context:  an actor
 * Blocks:   the fiber
 * Owner:    as sley_receive()
 * Order:    as sley_receive()
 * Errors:   as sley_receive()
 *           -ETIMEDOUT  nothing came in time
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_receive_until(struct sley_msg **msg, uint64_t deadline_ns);

/* Does the receiver want @msg now? */
typedef bool sley_wants(const struct sley_msg *msg, void *arg);

/*
 * sley_receive_tag_until - the oldest message with @tag; others stay where they are.
 *
 * Only those that were sent (SLEY_MESSAGE) have tags in this sense.
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
 * sley_receive_where_until - the oldest message, of any kind, that @wants says yes to.
 *
 * @wants is asked once for each message, the oldest first, and must not send,
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
 * sley_call - send a request, and wait for the reply to it.
 *
 * Any thread can call, and any process can be called.  @reply may be NULL: then
 * the reply is freed.  The first reply counts, whoever sends it: a request that
 * @to sends on (sley_msg_forward()) is answered by another process, but @to has to
 * live until then.  The request does not say who calls: if @to is to know, put
 * sley_self() into @data.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call; *@reply is the caller's, who frees it
 *           (sley_msg_free()).  If the call fails it is not written.
 * Order:    everything before the reply happens before the return.
 * Errors:   as sley_send()
 *           -ESRCH      there is no such process (any more), or it ended for
 *                       reason 0 without a reply
 *           -ECANCELED  the caller was cancelled, or the process ended so
 *           -EDEADLK    the caller is @to
 *           the reason  of its end, if it ended without a reply
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

/* A call under way, private; in memory of the caller, who does not move it */
struct sley_pending_call {
	uint64_t space[12];
};

/*
 * sley_call_start - send a request, and wait for the reply to it later.
 *
 * @pending is a future: sley_call_is_over() looks whether there is an outcome,
 * sley_call_finish() waits for it, sley_call_cancel() does without.  One of the
 * last two has to end it before @pending is gone.  It may be another thread or
 * task that does; but one at a time.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @data is copied; @pending is used until it is finished or cancelled,
 *           unless the call fails: then there is nothing to finish.
 * Errors:   as sley_call(), but -EAGAIN if the mailbox of @to is full
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_call_start(struct sley_pending_call *pending, sley_pid to, uint64_t tag,
		const void *data, size_t size);

/*
 * sley_call_is_over - is there an outcome, a reply or an error?
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
 * If the waiter is cancelled, the call is not: finish it later, or cancel it.  Both
 * are harmless if -ECANCELED was the reason of the other's end, and the call is
 * over: then to finish it returns the same error again, and to cancel it does
 * nothing.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    *@reply as sley_call()
 * Order:    as sley_call()
 * Errors:   as sley_call()
 *           -EINVAL  its reply was given out before
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_call_finish(struct sley_pending_call *pending, struct sley_msg **reply);

/*
 * sley_call_finish_until - sley_call_finish() with a deadline; 0 only looks.
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
 * sley_call_cancel - the caller does not want the reply any more.
 *
 * The request is not taken back: whoever was called may see to it, and gets -ESRCH
 * for its reply.  A reply that has come is freed.  If the call was finished before,
 * nothing happens.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @pending is the caller's again.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_call_cancel(struct sley_pending_call *pending);

/*
 * sley_reply - answer a request; or any message, by one to its sender.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @data is copied; @request stays whose it is.
 * Order:    everything before the call happens before the reply is received.
 * Errors:   -ESRCH     nobody waits for it (any more), or no process sent it
 *           -ENOMEM    nothing was sent
 *           -EMSGSIZE  more than 4 GiB
 *           -EAGAIN    it was a message, and the mailbox of its sender is full
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_reply(const struct sley_msg *request, uint64_t tag, const void *data,
	   size_t size);

SLEY_END_DECLS
#endif
