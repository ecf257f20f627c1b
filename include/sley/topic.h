/* SPDX-License-Identifier: MIT */
/*
 * sley/topic.h - topics: a message to a topic goes to all its members.
 *
 *	err = sley_topic_join("prices", sley_self());
 *	sley_topic_publish("prices", PRICE, &price, sizeof(price));
 *
 * A topic exists as long as it has members.  There is one set of topics for the
 * whole program.  A process that ends leaves all its topics.
 *
 * A process joins many topics at once by a pattern:
 *
 *	err = sley_topic_join_matching("prices.*", sley_self());
 *
 * Within a process there are no topics: sley_receive_tag_until() and
 * sley_receive_where_until() pick a wanted message, and leave the other messages
 * in their order.
 */
#ifndef SLEY_TOPIC_H
#define SLEY_TOPIC_H

#include <sley/compiler.h>
#include <sley/message.h>

SLEY_BEGIN_DECLS

/*
 * sley_topic_join - make @pid a member of @topic: it gets the published messages.
 *
 * A process that joins twice gets each message twice, and must leave twice.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @topic is copied.
 * Errors:   -ESRCH   there is no such process (any more)
 *           -EINVAL  empty, or longer than SLEY_NAME_MAX
 *           -ENOMEM  @pid has not joined
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_topic_join(const char *topic, sley_pid pid);

/*
 * sley_topic_leave - undo one sley_topic_join().
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -ENOENT  @pid had not joined
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_topic_leave(const char *topic, sley_pid pid);

/*
 * sley_topic_join_matching - make @pid a member of all topics that match @pattern.
 *
 * A '*' stands for any number of characters, even for none, a '?' for exactly
 * one.  All other characters stand for themselves, and there are no separators:
 * "a*" matches "a.b.c".  Each join is one more membership, also if it repeats a
 * name or a pattern, or if several patterns match: the process gets one copy of
 * the message per membership.
 *
 * Each message that is published, to whatever topic, is compared with all
 * patterns of the program.  So have few patterns, with any number of members.
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
 * @pattern is the same text as in the join.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -ENOENT  @pid had not joined
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_topic_leave_matching(const char *pattern, sley_pid pid);

/*
 * sley_topic_publish - send a message to each member of a topic.
 *
 * Data of more than a few words is copied once for all members.  The message
 * goes to the processes that joined before the call, by the name or by a
 * matching pattern, and have not left when their turn comes.  This includes the
 * caller, if it is a member.  A member with a full mailbox does not get the
 * message, even with SLEY_BLOCK; a mailbox with SLEY_DROP_OLDEST makes room.
 *
 * Returns the number of members that got the message.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @data is copied.
 * Order:    as sley_send(), for each member
 * Errors:   -ENOMEM, -EMSGSIZE: no member got the message
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_topic_publish(const char *topic, uint64_t tag, const void *data,
		   size_t size);

/*
 * sley_topic_members - get up to @max pids of the members of @topic, by its name.
 *
 * Members that joined by a pattern are not included.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; returns the number of members, which may be more than @max
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS size_t
sley_topic_members(const char *topic, sley_pid *pid, size_t max);

SLEY_END_DECLS
#endif
