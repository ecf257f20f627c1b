/* SPDX-License-Identifier: MIT */
/*
 * topic.c - who has joined, and how all of them are reached.
 *
 * The members of a topic sit in rooms of a few dozen seats.  A member keeps its
 * seat until it leaves, and rooms stay as long as the topic; so who walks from
 * room to room sees each member that is there all the time once, although it lets
 * go of the lock between two of them.  That is how a message is sent to thousands
 * without holding a lock: the members of one room are copied, then they are sent
 * to, then comes the next room.
 *
 *   topic ──► room ──► room ──► room          in the directory, by its name
 *               │ seat: pid, when it joined
 *               ▼
 *   process ──► holding: topic, room, seat
 *
 * Joins are numbered.  Who publishes passes over those that joined after it began:
 * a process that leaves and joins again meanwhile gets nothing twice.
 *
 * A topic without members is gone, unless somebody still walks through it; the
 * last one to leave frees it.  Memory is got before locks are taken, and given
 * back after.  Locks: that of the process, then that of the shard.
 *
 * Edges: those of the locks.
 *
 * Rejected: an array that is copied when it changes (10,000 joins copy 400 MB);
 * an array whose last member fills the gap of who leaves (a walker misses it, or
 * meets it twice); a copy of all members for each message (memory may not be
 * there, and a copy of thousands takes too long under a lock).
 */
#include "actor/directory.h"
#include "actor/holding.h"
#include "actor/name.h"
#include "actor/parcel.h"
#include "base/bits.h"
#include "mem/pool.h"
#include "os/process.h"

#include <errno.h>
#include <sley/topic.h>

#define ROOM_SEATS 62

struct seat {
	sley_pid pid;
	uint64_t number; /* of the join */
};

struct room {
	struct room *next;      /* of the topic                      */
	struct room *next_open; /* of those with a free seat         */
	uint64_t taken;         /* bit i: seat i                     */
	struct seat seat[ROOM_SEATS];
};

/* Everything is under the lock of its shard. */
struct topic {
	struct entry entry;
	struct room *rooms; /* the newest first      */
	struct room *open;  /* those with free seats */
	uint64_t nr_joins;  /* ever                  */
	uint32_t nr_members;
	uint32_t nr_walkers;
};

/* What a process holds: constant while it does. */
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

static struct directory topics;
static struct pool member_pool = { .object_size = MEMBER_SIZE };
static struct pool topic_pool = { .object_size = TOPIC_SIZE };
static struct pool room_pool = { .object_size = ROOM_SIZE };

/* ---- fork() ------------------------------------------------------------------- */

static void before_fork(void)
{
	directory_before_fork(&topics);
}

static void after_fork(void)
{
	directory_after_fork(&topics);
}

static void enter_child(void)
{
	directory_enter_child(&topics);
}

__attribute__((constructor)) static void watch_forks(void)
{
	os_fork_watch(before_fork, after_fork, enter_child);
}

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

static void sit_down(struct topic *topic, struct membership *member,
		     sley_pid pid)
{
	struct room *room = topic->open;
	unsigned int i = (unsigned int)bits_first(~room->taken);

	room->seat[i] = (struct seat){ pid, topic->nr_joins++ };
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

/* Nobody is in it any more: then it is the caller's to free. */
static bool take_if_empty(struct shard *shard, struct topic *topic)
{
	if (topic->nr_members || topic->nr_walkers)
		return false;
	shard_remove(shard, &topic->entry);
	return true;
}

/* Not locked: nobody knows it any more. */
static void topic_free(struct topic *topic)
{
	struct room *room;

	while ((room = topic->rooms)) {
		topic->rooms = room->next;
		pool_put(&room_pool, NULL, room);
	}
	pool_put(&topic_pool, NULL, topic);
}

/* ---- join and leave ------------------------------------------------------------------ */

/* What a join may need; what it does not use goes back. */
struct supplies {
	struct membership *member;
	struct topic *topic;
	struct room *room;
};

static bool get_supplies(struct supplies *supplies, const struct key *key)
{
	if (!supplies->member)
		supplies->member = pool_get(&member_pool, NULL);
	if (!supplies->topic)
		supplies->topic = pool_get(&topic_pool, NULL);
	if (!supplies->room)
		supplies->room = pool_get(&room_pool, NULL);
	if (!supplies->member || !supplies->topic || !supplies->room)
		return false;
	*supplies->topic = (struct topic){ .nr_members = 0 };
	entry_init(&supplies->topic->entry, key);
	supplies->member->holding.kind = HOLDS_SEAT;
	return true;
}

static void put_supplies(struct supplies *supplies)
{
	if (supplies->member)
		pool_put(&member_pool, NULL, supplies->member);
	if (supplies->topic)
		pool_put(&topic_pool, NULL, supplies->topic);
	if (supplies->room)
		pool_put(&room_pool, NULL, supplies->room);
}

static struct topic *find(struct shard *shard, const struct key *key)
{
	struct entry *entry = shard_find(shard, key);

	return entry ? container_of(entry, struct topic, entry) : NULL;
}

/* Locked, both. */
static void join(struct process *process, struct shard *shard,
		 const struct key *key, struct supplies *supplies)
{
	struct topic *topic = find(shard, key);

	if (!topic) {
		topic = supplies->topic;
		supplies->topic = NULL;
		shard_add(shard, &topic->entry);
	}
	if (!topic->open) {
		room_add(topic, supplies->room);
		supplies->room = NULL;
	}
	/* relaxed: it is locked. */
	sit_down(topic, supplies->member, load_relaxed(&process->pid));
	holding_add(process, &supplies->member->holding);
	supplies->member = NULL;
}

int sley_topic_join(const char *topic, sley_pid pid)
{
	struct supplies supplies = { NULL, NULL, NULL };
	struct process *process = NULL;
	struct key key;
	int err = 0;

	if (!key_init(&key, topic))
		return -EINVAL;
	if (!get_supplies(&supplies, &key))
		err = -ENOMEM;
	else if ((pid & PID_PORT) || !(process = process_lock(pid)))
		err = -ESRCH;
	if (!err) {
		struct shard *shard = directory_lock(&topics, key.hash);

		join(process, shard, &key, &supplies);
		shard_unlock(shard);
		process_unlock(process);
	}
	put_supplies(&supplies);
	return err;
}

/* @member is in no list any more. */
static void leave(struct membership *member)
{
	struct topic *topic = member->topic;
	struct shard *shard = directory_lock(&topics, topic->entry.hash);
	bool empty;

	stand_up(member);
	empty = take_if_empty(shard, topic);
	shard_unlock(shard);
	if (empty)
		topic_free(topic);
	pool_put(&member_pool, NULL, member);
}

static bool is_of(const struct holding *holding, const struct key *key)
{
	const struct entry *entry;

	if (holding->kind != HOLDS_SEAT)
		return false;
	entry = &container_of(holding, struct membership, holding)->topic->entry;
	return entry_is(entry, key);
}

int sley_topic_leave(const char *topic, sley_pid pid)
{
	struct holding *holding = NULL;
	struct process *process;
	struct key key;

	process = key_init(&key, topic) ? process_lock(pid) : NULL;
	if (!process)
		return -ENOENT;
	for (holding = process->holdings; holding; holding = holding->next) {
		if (is_of(holding, &key))
			break;
	}
	if (holding)
		holding_remove(holding);
	process_unlock(process);
	if (!holding)
		return -ENOENT;
	leave(container_of(holding, struct membership, holding));
	return 0;
}

void topics_forget(struct process *process)
{
	struct holding *holding;

	while ((holding = holding_take(process, HOLDS_SEAT)))
		leave(container_of(holding, struct membership, holding));
}

/* ---- all members ------------------------------------------------------------------------ */

/* Somebody on the way from room to room. */
struct walk {
	struct topic *topic;
	struct room *room; /* the next one                     */
	uint64_t nr_joins; /* later ones do not count          */
	unsigned int nr;   /* pids of the last room            */
	sley_pid pid[ROOM_SEATS];
};

/* False: there is no such topic. */
static bool walk_begin(struct walk *walk, const char *name)
{
	struct shard *shard;
	struct key key;

	if (!key_init(&key, name))
		return false;
	shard = directory_lock(&topics, key.hash);
	walk->topic = find(shard, &key);
	if (walk->topic) {
		walk->room = walk->topic->rooms;
		walk->nr_joins = walk->topic->nr_joins;
		walk->topic->nr_walkers++;
	}
	shard_unlock(shard);
	return walk->topic;
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
	shard = directory_lock(&topics, walk->topic->entry.hash);
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
	struct topic *topic = walk->topic;
	struct shard *shard = directory_lock(&topics, topic->entry.hash);
	bool empty;

	topic->nr_walkers--;
	empty = take_if_empty(shard, topic);
	shard_unlock(shard);
	if (empty)
		topic_free(topic);
}

/* To one room: how many got it. */
static unsigned int send_room(const struct walk *walk,
			      const struct sley_msg *pattern, bool *short_of)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < walk->nr; i++) {
		struct sley_msg *msg = parcel_copy(pattern);

		if (!msg)
			*short_of = true;
		else if (!parcel_send(walk->pid[i], msg))
			nr++;
	}
	return nr;
}

int sley_publish(const char *topic, uint64_t tag, const void *data, size_t size)
{
	struct sley_msg *pattern;
	bool short_of_memory = false;
	struct walk walk;
	int nr = 0;
	int err;

	if (size > UINT32_MAX)
		return -EMSGSIZE;
	if (!walk_begin(&walk, topic))
		return 0;
	err = parcel_create(&pattern, tag, data, size);
	if (!err) {
		while (walk_next(&walk))
			nr += (int)send_room(&walk, pattern, &short_of_memory);
		mail_free(pattern);
		if (!nr && short_of_memory)
			err = -ENOMEM;
	}
	walk_end(&walk);
	return err ? err : nr;
}

size_t sley_topic_members(const char *topic, sley_pid *pid, size_t max)
{
	struct walk walk;
	size_t nr = 0;

	if (!walk_begin(&walk, topic))
		return 0;
	while (walk_next(&walk)) {
		for (unsigned int i = 0; i < walk.nr; i++) {
			/* Who has ended may not have come to leaving. */
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
