/* SPDX-License-Identifier: MIT */
/*
 * sley/topic.h - groups of processes that a message goes to.
 *
 *	err = sley_topic_join("prices", sley_self());
 *	sley_topic_publish("prices", PRICE, &price, sizeof(price));
 *
 * A topic is there as long as somebody has joined it.  Topics are those of the
 * whole program.  A process that ends leaves all it has joined.
 *
 * Who wants what is published to many topics joins by a pattern:
 *
 *	err = sley_topic_join_matching("prices.*", sley_self());
 *
 * Within a process there are no topics: sley_receive_tag_until() and sley_receive_where_until()
 * pick what is wanted now, and leave the rest where it is, in its order.
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
 * sley_topic_join_matching - @pid gets what is published to topics like @pattern.
 *
 * A '*' stands for any run of characters, also for none, a '?' for any one.  All
 * others stand for themselves, and none of them is special: "a*" matches "a.b.c".
 * A name or pattern joined twice, or another one that matches as well, is another
 * membership: the process gets the message for each of them.
 *
 * For each message that is published, to whatever topic, all patterns of the program
 * are looked at: have a few of them, with any number of members.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @pattern is copied.
 * Errors:   as sley_topic_join()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_topic_join_matching(const char *pattern, sley_pid pid);

/*
 * sley_topic_leave_matching - undo one sley_topic_join_matching().
 *
 * @pattern is the one that was joined, to the letter.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -ENOENT  it had not joined
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_topic_leave_matching(const char *pattern, sley_pid pid);

/*
 * sley_topic_publish - send a message to each member of a topic.
 *
 * More than a few words are copied once for all.  It goes to those that had joined
 * before, by the name or by a pattern that matches it, and have not left when their
 * turn comes; to the caller, too, if it is one of them.  Members whose mailbox is
 * full, and does not drop its oldest message for it, do not get it, also if that says
 * SLEY_BLOCK.
 *
 * Returns how many got it.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @data is copied.
 * Order:    as sley_send(), for each member
 * Errors:   -ENOMEM, -EMSGSIZE: nobody got it
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_topic_publish(const char *topic, uint64_t tag, const void *data,
		   size_t size);

/*
 * sley_topic_members - who has joined @topic by its name: up to @max pids.
 *
 * Those that have joined by a pattern are not among them.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; returns how many there are, which may be more than @max
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS size_t
sley_topic_members(const char *topic, sley_pid *pid, size_t max);

SLEY_END_DECLS
#endif
