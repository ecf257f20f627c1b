/* SPDX-License-Identifier: MIT */
/*
 * topic.c - joining and leaving; see topic.h.
 */
#include "actor/name/topic.h"

#include "actor/name/holding.h"
#include "actor/name/name.h"
#include "base/bits.h"
#include "mem/object_pool.h"
#include "os/at_fork.h"

#include <errno.h>
#include <sley/topic.h>

/* A holding of a process: constant. */
struct membership {
	struct holding holding;
	struct topic *topic;
	struct room *room;
	unsigned int seat;
};

#define MEMBER_SIZE 64
#define TOPIC_SIZE 128
#define ROOM_SIZE 1024
_Static_assert(sizeof(struct membership) <= MEMBER_SIZE, "from a pool");
_Static_assert(sizeof(struct topic) <= TOPIC_SIZE, "from a pool");
_Static_assert(sizeof(struct room) <= ROOM_SIZE, "from a pool");

struct directory sley__topics;
struct patterns sley__patterns;
static struct object_pool member_pool = { .object_size = MEMBER_SIZE };
static struct object_pool topic_pool = { .object_size = TOPIC_SIZE };
static struct object_pool room_pool = { .object_size = ROOM_SIZE };

/* ---- fork() ------------------------------------------------------------------- */

static void forget_topics(void)
{
	shard_renew(&sley__patterns.shard);
	sley__patterns.first = NULL;
	/* relaxed: there is one thread. */
	store_relaxed(&sley__patterns.nr, 0);
	directory_renew(&sley__topics);
}

FORK_PART(FORK_TOPICS, .renew = forget_topics);

/* ---- seats: all of it locked ------------------------------------------------------ */

static uint64_t room_full(void)
{
	return (1ull << chaos_few(ROOM_SEATS, 2)) - 1;
}

static void room_add(struct topic *topic, struct room *room)
{
	room->taken = 0;
	room->next = topic->rooms;
	topic->rooms = room;
	room->next_open = topic->open;
	topic->open = room;
}

static uint64_t next_number(struct topic *topic)
{
	return topic->is_pattern ? sley__patterns.nr_joins++
				 : topic->nr_joins++;
}

static void sit_down(struct topic *topic, struct membership *member,
		     sley_pid pid)
{
	struct room *room = topic->open;
	unsigned int i = (unsigned int)bits_first(~room->taken);

	room->seat[i] = (struct seat){ pid, next_number(topic) };
	room->taken |= 1ull << i;
	if (room->taken == room_full())
		topic->open = room->next_open;
	topic->nr_members++;
	member->topic = topic;
	member->room = room;
	member->seat = i;
}

static void stand_up(const struct membership *member)
{
	struct topic *topic = member->topic;
	struct room *room = member->room;

	if (room->taken == room_full()) {
		room->next_open = topic->open;
		topic->open = room;
	}
	room->taken &= ~(1ull << member->seat);
	topic->nr_members--;
}

/* ---- the directory: all of it locked ----------------------------------------------- */

static void count_patterns(int by)
{
	/* relaxed: locked; a hint for others. */
	uint32_t nr = load_relaxed(&sley__patterns.nr);

	/* relaxed: as above. */
	store_relaxed(&sley__patterns.nr, nr + (uint32_t)by);
}

static void pattern_add(struct topic *topic)
{
	topic->next = sley__patterns.first;
	sley__patterns.first = topic;
	count_patterns(1);
}

static void pattern_remove(struct topic *topic)
{
	struct topic **link = &sley__patterns.first;

	while (*link != topic)
		link = &(*link)->next;
	*link = topic->next;
	count_patterns(-1);
}

struct topic *topic_find(struct shard *shard, const struct key *key)
{
	struct entry *entry = shard_find(shard, key);

	return entry ? container_of(entry, struct topic, entry) : NULL;
}

static void topic_add(struct shard *shard, struct topic *topic)
{
	shard_add(shard, &topic->entry);
	if (topic->is_pattern)
		pattern_add(topic);
}

bool topic_take_if_empty(struct shard *shard, struct topic *topic)
{
	if (topic->nr_members || topic->nr_walkers)
		return false;
	shard_remove(shard, &topic->entry);
	if (topic->is_pattern)
		pattern_remove(topic);
	return true;
}

void topic_free(struct topic *topic)
{
	struct room *room;

	while ((room = topic->rooms)) {
		topic->rooms = room->next;
		object_pool_put(&room_pool, NULL, room);
	}
	object_pool_put(&topic_pool, NULL, topic);
}

/* ---- join and leave ------------------------------------------------------------------ */

/* The memory that a join may need; the unused part goes back. */
struct supplies {
	struct membership *member;
	struct topic *topic;
	struct room *room;
};

static bool get_supplies(struct supplies *supplies, const struct key *key,
			 bool is_pattern)
{
	if (!supplies->member)
		supplies->member = object_pool_get(&member_pool, NULL);
	if (!supplies->topic)
		supplies->topic = object_pool_get(&topic_pool, NULL);
	if (!supplies->room)
		supplies->room = object_pool_get(&room_pool, NULL);
	if (!supplies->member || !supplies->topic || !supplies->room)
		return false;
	*supplies->topic = (struct topic){ .is_pattern = is_pattern };
	entry_init(&supplies->topic->entry, key);
	supplies->member->holding.kind = HOLDS_SEAT;
	return true;
}

static void put_supplies(struct supplies *supplies)
{
	if (supplies->member)
		object_pool_put(&member_pool, NULL, supplies->member);
	if (supplies->topic)
		object_pool_put(&topic_pool, NULL, supplies->topic);
	if (supplies->room)
		object_pool_put(&room_pool, NULL, supplies->room);
}

/* Locked, both. */
static void join_locked(struct process *process, struct shard *shard,
			const struct key *key, struct supplies *supplies)
{
	struct topic *topic = topic_find(shard, key);

	if (!topic) {
		topic = supplies->topic;
		supplies->topic = NULL;
		topic_add(shard, topic);
	}
	if (!topic->open) {
		room_add(topic, supplies->room);
		supplies->room = NULL;
	}
	sit_down(topic, supplies->member, process_pid(process));
	holding_add(process, &supplies->member->holding);
	supplies->member = NULL;
}

static int join(const char *topic, sley_pid pid, bool is_pattern)
{
	struct supplies supplies = { NULL, NULL, NULL };
	struct process *process = NULL;
	struct key key;
	int err = 0;

	if (!key_init(&key, topic))
		return -EINVAL;
	if (!get_supplies(&supplies, &key, is_pattern))
		err = -ENOMEM;
	else if ((pid & PID_PORT) || !(process = process_lock(pid)))
		err = -ESRCH;
	if (!err) {
		struct shard *shard = topics_lock(is_pattern, key.hash);

		join_locked(process, shard, &key, &supplies);
		shard_unlock(shard);
		process_unlock(process);
	}
	put_supplies(&supplies);
	return err;
}

int sley_topic_join(const char *topic, sley_pid pid)
{
	return join(topic, pid, false);
}

int sley_topic_join_matching(const char *pattern, sley_pid pid)
{
	return join(pattern, pid, true);
}

/* @member is on no list any more. */
static void leave_seat(struct membership *member)
{
	struct topic *topic = member->topic;
	struct shard *shard = topic_lock(topic);
	bool empty;

	stand_up(member);
	empty = topic_take_if_empty(shard, topic);
	shard_unlock(shard);
	if (empty)
		topic_free(topic);
	object_pool_put(&member_pool, NULL, member);
}

static bool is_of(const struct holding *holding, const struct key *key,
		  bool is_pattern)
{
	const struct topic *topic;

	if (holding->kind != HOLDS_SEAT)
		return false;
	topic = container_of(holding, struct membership, holding)->topic;
	return topic->is_pattern == is_pattern && entry_is(&topic->entry, key);
}

static int leave(const char *topic, sley_pid pid, bool is_pattern)
{
	struct holding *holding = NULL;
	struct process *process;
	struct key key;

	process = key_init(&key, topic) ? process_lock(pid) : NULL;
	if (!process)
		return -ENOENT;
	for (holding = process->holdings; holding; holding = holding->next) {
		if (is_of(holding, &key, is_pattern))
			break;
	}
	if (holding)
		holding_remove(holding);
	process_unlock(process);
	if (!holding)
		return -ENOENT;
	leave_seat(container_of(holding, struct membership, holding));
	return 0;
}

int sley_topic_leave(const char *topic, sley_pid pid)
{
	return leave(topic, pid, false);
}

int sley_topic_leave_matching(const char *pattern, sley_pid pid)
{
	return leave(pattern, pid, true);
}

void topics_forget(struct process *process)
{
	struct holding *holding;

	while ((holding = holding_take(process, HOLDS_SEAT)))
		leave_seat(container_of(holding, struct membership, holding));
}
