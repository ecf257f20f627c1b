/* SPDX-License-Identifier: MIT */
/*
 * sley/post.h - messages that are sent later, or again and again.
 *
 *	err = sley_post_at(pid, TICK, NULL, 0, sley_after(SLEY_SEC), &post);
 *
 * The sender of such a message is who asked for it.  The time is kept by the runtime
 * of that one, which does not wait for what is still to be sent: when it is
 * destroyed, or the thread leaves a single-threaded one, that is dropped.
 *
 * A mailbox that is full, and would let a sender wait, refuses them.
 */
#ifndef SLEY_POST_H
#define SLEY_POST_H

#include <sley/compiler.h>
#include <sley/message.h>

SLEY_BEGIN_DECLS

/* One that is under way; 0 is none.  No number is given out twice. */
typedef uint64_t sley_post;

/*
 * sley_post_at - send a message at @when_ns, a time as of sley_now().
 *
 * A time that has passed: now, and there is nothing to cancel: *@post is 0.
 * UINT64_MAX: never.  It is gone if the process is, by then.  @post may be NULL.
 *
 * Context:  a task or a bound thread
 * Blocks:   never
 * Owner:    @data is copied.
 * Order:    as sley_send()
 * Errors:   -ESRCH           there is no such process (any more)
 *           -ENOMEM          nothing is sent
 *           -EMSGSIZE        more than 4 GiB
 *           SLEY_ENORUNTIME  the thread is not bound
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_post_at(sley_pid to, uint64_t tag, const void *data, size_t size,
	     uint64_t when_ns, sley_post *post);

/*
 * sley_post_every - send a message every @interval_ns, for the first time then.
 *
 * It ends with the process.  Times are counted from the first one, not from when
 * each was sent; those that were missed, or for which there was no memory, are not
 * made up for.
 *
 * Context:  a task or a bound thread
 * Blocks:   never
 * Owner:    @data is copied.
 * Order:    as sley_send()
 * Errors:   as sley_post_at()
 *           -EINVAL  @interval_ns is 0
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_post_every(sley_pid to, uint64_t tag, const void *data, size_t size,
		uint64_t interval_ns, sley_post *post);

/*
 * sley_post_cancel - do not send it (again).
 *
 * What was sent is not taken back.  After it has returned nothing is sent any more:
 * of two outcomes there is one, "cancelled" or "sent".
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -ENOENT  it has been sent, or cancelled
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_post_cancel(sley_post post);

SLEY_END_DECLS
#endif
