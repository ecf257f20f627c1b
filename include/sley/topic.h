/* SPDX-License-Identifier: MIT */
/*
 * sley/topic.h - groups of processes that a message goes to.
 *
 *	err = sley_topic_join("prices", sley_self());
 *	sley_publish("prices", PRICE, &price, sizeof(price));
 *
 * A topic is there as long as somebody has joined it.  Topics are those of the
 * whole program.  A process that ends leaves all it has joined.
 */
#ifndef SLEY_TOPIC_H
#define SLEY_TOPIC_H

#include <sley/compiler.h>
#include <sley/message.h>

SLEY_BEGIN_DECLS

/*
 * sley_topic_join - @pid gets what is published to @topic.
 *
 * A process that joins twice gets it twice, and leaves twice.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @topic is copied.
 * Errors:   -ESRCH   there is no such process (any more)
 *           -EINVAL  empty, or longer than SLEY_NAME_MAX
 *           -ENOMEM  it has not joined
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_topic_join(const char *topic, sley_pid pid);

/*
 * sley_topic_leave - undo one sley_topic_join().
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -ENOENT  it had not joined
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_topic_leave(const char *topic, sley_pid pid);

/*
 * sley_publish - send a message to each member of a topic.
 *
 * More than a few words are copied once for all.  It goes to those that had joined
 * before, and have not left when their turn comes; to the caller, too, if it is one
 * of them.  Members whose mailbox is full, and does not drop its oldest message for
 * it, do not get it, also if that says SLEY_BLOCK.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @data is copied.
 * Order:    as sley_send(), for each member
 * Errors:   -ENOMEM, -EMSGSIZE: nobody got it; else how many did
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_publish(const char *topic, uint64_t tag, const void *data, size_t size);

/*
 * sley_topic_members - who has joined: up to @max pids.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; returns how many there are, which may be more than @max
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS size_t
sley_topic_members(const char *topic, sley_pid *pid, size_t max);

SLEY_END_DECLS
#endif
