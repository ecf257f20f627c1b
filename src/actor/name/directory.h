/* SPDX-License-Identifier: MIT */
/*
 * directory.h - things that are found by their name, by any thread.
 *
 * A hash table in shards, each with a lock and chains of its own (base/hash.h).  The table
 * never grows: the heads of the chains cost nothing until they are used, and with
 * a million names a chain has 16 entries.
 *
 *   struct directory
 *     shard 0   lock   chain, chain, ...   ──► entry ──► entry
 *     shard 1   lock   chain, chain, ...
 *
 * Entries are embedded in the things that are found.  A look, an addition and a
 * removal need the lock of the shard; entries are made before the lock is taken,
 * and freed after.  The lock of a process may be held when the lock of a shard is
 * taken, never the other way round.
 *
 * In a child of fork() a directory is empty: the processes are not there.
 *
 * Edges: those of the locks.
 *
 * Rejected: a table that grows (a caller would move thousands of entries with a
 * lock held); a lock for each chain (fork() has to take all of them).
 */
#ifndef SLEY_ACTOR_NAME_DIRECTORY_H
#define SLEY_ACTOR_NAME_DIRECTORY_H

#include "base/compiler.h"
#include "base/hash.h"
#include "lf/spin.h"

#include <sley/process.h>

#ifndef SLEY_MODEL
#define DIRECTORY_SHARD_BITS 6
#define DIRECTORY_CHAIN_BITS 10
#else
#define DIRECTORY_SHARD_BITS 0
#define DIRECTORY_CHAIN_BITS 0
#endif

/* A name that is looked for, taken apart. */
struct key {
	const char *text;
	uint64_t hash;
	uint32_t length; /* 1 to SLEY_NAME_MAX */
};

struct entry {
	struct hash_node node;        /* the word is the hash of the text */
	char text[SLEY_NAME_MAX + 1]; /* with its end                     */
};

struct shard {
	cache_aligned struct spinlock lock;
	uint32_t nr;
	struct hash_node *chain[1u << DIRECTORY_CHAIN_BITS];
};

struct directory {
	struct shard shard[1u << DIRECTORY_SHARD_BITS];
};

/* False: @text is no name: NULL, empty, or too long. */
must_check bool key_init(struct key *key, const char *text);

/* For an entry that no other thread knows yet. */
void entry_init(struct entry *entry, const struct key *key);

must_check bool entry_is(const struct entry *entry, const struct key *key);

/* Also a shard that is in no directory. */
static inline struct shard *shard_lock(struct shard *shard)
{
	spin_lock(&shard->lock);
	return shard;
}

/* The upper bits of the hash choose the shard, the bits below them the chain. */
static inline struct shard *directory_lock(struct directory *directory,
					   uint64_t hash)
{
	return shard_lock(
		&directory->shard[hash_slot(hash, DIRECTORY_SHARD_BITS)]);
}

static inline void shard_unlock(struct shard *shard)
{
	spin_unlock(&shard->lock);
}

/* Locked: the entry of that name, or NULL. */
struct entry *shard_find(struct shard *shard, const struct key *key);
void shard_add(struct shard *shard, struct entry *entry);
void shard_remove(struct shard *shard, struct entry *entry);

/* In a child of fork(): empty and unlocked, whatever the parent was doing. */
void shard_renew(struct shard *shard);
void directory_renew(struct directory *directory);

#endif
