/* SPDX-License-Identifier: MIT */
/*
 * topic.h - topics, patterns, and their members.
 *
 * The members of a topic sit in rooms of a few dozen seats.  A member keeps its
 * seat until it leaves, and rooms stay as long as the topic.  So a walker that
 * goes from room to room sees each member that stays exactly once, although the
 * walker releases the lock between two rooms.  That is how a message is sent to
 * thousands of members without holding a lock: the members of a room are copied,
 * then the message is sent to them, then comes the next room (publish.c).
 *
 *   topic ──► room ──► room ──► room          in the directory, by its name
 *               │ seat: pid, when it joined
 *               ▼
 *   process ──► holding: topic, room, seat
 *
 * A pattern is a topic that is not in the directory but in a shard of its own,
 * and in a list there, the newest first.  A publisher walks along that list, too.
 * It counts as a walker of the pattern that it is at, so this pattern stays, and
 * leads to the next.
 *
 *   patterns ──► topic "a*" ──► topic "*.log"
 *
 * Joins are numbered; all patterns share the same numbers.  A publisher passes
 * over members that joined after it began: a process that leaves and joins again
 * meanwhile gets nothing twice.
 *
 * A topic without members is freed, unless a walker is still in it; then the last
 * walker frees it.  Memory is allocated before locks are taken, and given back
 * after.  Locks: the lock of the process, then the lock of the shard.
 *
 * Edges: those of the locks.
 *
 * Rejected: an array that is copied when it changes (10,000 joins copy 400 MB);
 * an array whose last member fills the gap of a member that leaves (a walker
 * misses the last member, or meets it twice); a copy of all members for each
 * message (there may be no memory, and a copy of thousands takes too long under a
 * lock); to find the patterns of each topic beforehand (each new name would have
 * to be matched with all patterns, each new pattern with all names; there are
 * many names and few patterns).
 */
#ifndef SLEY_ACTOR_NAME_TOPIC_H
#define SLEY_ACTOR_NAME_TOPIC_H

#include "actor/name/directory.h"
#include "base/atomic.h"

#define ROOM_SEATS 62

struct seat {
	sley_pid pid;
	uint64_t number; /* of the join */
};

struct room {
	struct room *next;      /* of the topic                      */
	struct room *next_open; /* of the rooms with a free seat     */
	uint64_t taken;         /* bit i: seat i                     */
	struct seat seat[ROOM_SEATS];
};

/* All fields are under the lock of the shard, except constant fields. */
struct topic {
	struct entry entry;
	struct room *rooms; /* the newest first                     */
	struct room *open;  /* rooms with free seats                */
	uint64_t nr_joins;  /* ever; of a pattern: see struct patterns */
	uint32_t nr_members;
	uint32_t nr_walkers;
	struct topic *next; /* of a pattern: the next older         */
	bool is_pattern;    /* constant                             */
};

struct patterns {
	struct shard shard;
	struct topic *first;
	uint64_t nr_joins; /* of all patterns, ever */
	uint32_t nr;       /* read by others        */
};

extern struct directory sley__topics;
extern struct patterns sley__patterns;

static inline struct shard *topics_lock(bool is_pattern, uint64_t hash)
{
	return is_pattern ? shard_lock(&sley__patterns.shard)
			  : directory_lock(&sley__topics, hash);
}

static inline struct shard *topic_lock(const struct topic *topic)
{
	return topics_lock(topic->is_pattern, topic->entry.node.word);
}

/* A glance: are there patterns? */
static inline bool patterns_there(void)
{
	/* relaxed: joins before, for the caller, are seen; others need not be. */
	return load_relaxed(&sley__patterns.nr);
}

/* Locked: the topic, or pattern, of that name; or NULL. */
struct topic *topic_find(struct shard *shard, const struct key *key);

/*
 * Locked.  True: @topic is empty and belongs to the caller, which frees it after
 * the unlock.
 */
must_check bool topic_take_if_empty(struct shard *shard, struct topic *topic);
void topic_free(struct topic *topic);

#endif
