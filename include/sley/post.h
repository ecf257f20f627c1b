/* SPDX-License-Identifier: MIT */
/*
 * sley/post.h - delayed messages: sent once later, or again and again.
 *
 *	err = sley_post_at(pid, TICK, NULL, 0, sley_after(SLEY_SEC), &post);
 *
 * The caller is the sender of a delayed message.  The caller's runtime keeps the
 * time, but does not wait for messages that are still to be sent.  They are
 * dropped when the runtime is destroyed, or when the thread leaves a
 * single-threaded runtime.
 *
 * A full mailbox with SLEY_BLOCK refuses delayed messages.
 */
#ifndef SLEY_POST_H
#define SLEY_POST_H

#include <sley/compiler.h>
#include <sley/message.h>

SLEY_BEGIN_DECLS

/* The number of a delayed message; 0 is none.  No number is given out twice. */
typedef uint64_t sley_post;

/*
 * sley_post_at - send a message at @when_ns, a time as of sley_now().
 *
 * If @when_ns has passed, the message is sent now, and *@post is 0: there is
 * nothing to cancel.  UINT64_MAX means never.  If the process has ended by then,
 * the message is dropped.  @post may be NULL.
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
 * sley_post_every - send a message every @interval_ns.
 *
 * The first message comes after @interval_ns.  The messages end with the
 * process.  Each time is counted from the first one, not from the previous send.
 * Messages that were missed, or for which there was no memory, are not sent
 * later.
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
 * sley_post_cancel - cancel a delayed message, or the rest of a repeated one.
 *
 * Messages that were sent stay sent.  After the return no further message is
 * sent.  A message that is sent once is either cancelled or sent, never both.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -ENOENT  the message was sent, or was cancelled before
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_post_cancel(sley_post post);

SLEY_END_DECLS
#endif
