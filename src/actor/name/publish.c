/* SPDX-License-Identifier: MIT */
/*
 * publish.c - a message goes to all members; see topic.h.
 */
#include "actor/name/glob.h"
#include "actor/mail/template.h"
#include "actor/process/process.h"
#include "actor/name/topic.h"
#include "base/bits.h"

#include <errno.h>
#include <sley/topic.h>

/* ---- walking ---------------------------------------------------------------------- */

/* A walker on the way from room to room. */
struct walk {
	struct topic *topic;
	struct room *room; /* the next room                    */
	uint64_t nr_joins; /* later joins do not count         */
	unsigned int nr;   /* pids of the last room            */
	sley_pid pid[ROOM_SEATS];
};

/* Locked: the walk goes on in @topic, unless that is NULL. */
static bool walk_enter(struct walk *walk, struct topic *topic)
{
	walk->topic = topic;
	if (!topic)
		return false;
	walk->room = topic->rooms;
	topic->nr_walkers++;
	return true;
}

/* Locked, and unlocks: the walk has left @topic. */
static void walk_leave(struct shard *shard, struct topic *topic)
{
	bool empty;

	topic->nr_walkers--;
	empty = topic_take_if_empty(shard, topic);
	shard_unlock(shard);
	if (empty)
		topic_free(topic);
}

/* False: there is no such topic. */
static bool walk_begin(struct walk *walk, const struct key *key)
{
	struct shard *shard = topics_lock(false, key->hash);
	bool found = walk_enter(walk, topic_find(shard, key));

	if (found)
		walk->nr_joins = walk->topic->nr_joins;
	shard_unlock(shard);
	return found;
}

/* False: that was the last room. */
static bool walk_next(struct walk *walk)
{
	struct room *room = walk->room;
	struct shard *shard;
	uint64_t taken;

	if (!room)
		return false;
	walk->nr = 0;
	shard = topic_lock(walk->topic);
	for (taken = room->taken; taken; taken &= taken - 1) {
		const struct seat *seat = &room->seat[bits_first(taken)];

		if (seat->number < walk->nr_joins)
			walk->pid[walk->nr++] = seat->pid;
	}
	walk->room = room->next;
	shard_unlock(shard);
	return true;
}

static void walk_end(struct walk *walk)
{
	walk_leave(topic_lock(walk->topic), walk->topic);
}

/* The same for patterns: to the first pattern.  False: there is no pattern. */
static bool patterns_begin(struct walk *walk)
{
	struct shard *shard;
	bool found;

	if (likely(!patterns_there()))
		return false;
	shard = topics_lock(true, 0);
	found = walk_enter(walk, sley__patterns.first);
	walk->nr_joins = sley__patterns.nr_joins;
	shard_unlock(shard);
	return found;
}

/* To the next pattern.  False: that was the last pattern, and the walk is over. */
static bool patterns_next(struct walk *walk)
{
	struct shard *shard = topics_lock(true, 0);
	struct topic *last = walk->topic;
	bool found = walk_enter(walk, last->next);

	walk_leave(shard, last);
	return found;
}

/* ---- publishing --------------------------------------------------------------------- */

/* The message, and how many members got it. */
struct broadcast {
	uint64_t tag;
	const void *data;
	size_t size;
	struct sley_msg *template; /* NULL: no member so far */
	int nr;
	bool short_of_memory;
};

static void send_one(struct broadcast *broadcast, sley_pid pid)
{
	struct sley_msg *msg = template_copy(broadcast->template);

	if (!msg)
		broadcast->short_of_memory = true;
	else if (!template_send(pid, msg))
		broadcast->nr++;
}

/* When a member is found.  False: there is no memory, and no member gets it. */
static bool broadcast_begin(struct broadcast *broadcast)
{
	if (!broadcast->template && !broadcast->short_of_memory &&
	    template_create(&broadcast->template, broadcast->tag,
			    broadcast->data, broadcast->size)) {
		broadcast->template = NULL;
		broadcast->short_of_memory = true;
	}
	return broadcast->template;
}

/* To the members in all rooms of a topic. */
static void send_rooms(struct broadcast *broadcast, struct walk *walk)
{
	while (walk_next(walk)) {
		if (!walk->nr || !broadcast_begin(broadcast))
			continue;
		for (unsigned int i = 0; i < walk->nr; i++)
			send_one(broadcast, walk->pid[i]);
	}
}

static void send_matching(struct broadcast *broadcast, struct walk *walk,
			  const char *name)
{
	do {
		if (glob_matches(walk->topic->entry.text, name))
			send_rooms(broadcast, walk);
	} while (patterns_next(walk));
}

int sley_topic_publish(const char *topic, uint64_t tag, const void *data,
		       size_t size)
{
	struct broadcast broadcast = { .tag = tag, .data = data, .size = size };
	struct walk by_name, by_pattern;
	bool has_members, has_patterns;
	struct key key;

	if (size > UINT32_MAX)
		return -EMSGSIZE;
	if (!key_init(&key, topic))
		return 0;
	/* Both walks begin before anything is sent. */
	has_members = walk_begin(&by_name, &key);
	has_patterns = patterns_begin(&by_pattern);
	if (has_members) {
		send_rooms(&broadcast, &by_name);
		walk_end(&by_name);
	}
	if (has_patterns)
		send_matching(&broadcast, &by_pattern, topic);
	if (broadcast.template)
		mail_free(broadcast.template);
	return !broadcast.nr && broadcast.short_of_memory ? -ENOMEM
							  : broadcast.nr;
}

size_t sley_topic_members(const char *topic, sley_pid *pid, size_t max)
{
	struct walk walk;
	struct key key;
	size_t nr = 0;

	if (!key_init(&key, topic) || !walk_begin(&walk, &key))
		return 0;
	while (walk_next(&walk)) {
		for (unsigned int i = 0; i < walk.nr; i++) {
			/* An ended process may not have left yet. */
			if (!process_find(walk.pid[i]))
				continue;
			if (nr < max)
				pid[nr] = walk.pid[i];
			nr++;
		}
	}
	walk_end(&walk);
	return nr;
}
