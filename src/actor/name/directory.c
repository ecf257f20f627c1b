/* SPDX-License-Identifier: MIT */
/*
 * directory.c - see directory.h.
 */
#include "actor/name/directory.h"

#include "base/assert.h"

#include <string.h>

/* Multiply and fold: each byte reaches all bits that choose shard and chain. */
static uint32_t hash_of(const char *text, uint32_t length)
{
	uint64_t h = length;

	for (uint32_t i = 0; i < length; i++) {
		h = (h ^ (unsigned char)text[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	return (uint32_t)h;
}

bool key_init(struct key *key, const char *text)
{
	size_t length = text ? strnlen(text, SLEY_NAME_MAX + 1) : 0;

	if (!length || length > SLEY_NAME_MAX)
		return false;
	*key = (struct key){ text, (uint32_t)length,
			     hash_of(text, (uint32_t)length) };
	return true;
}

void entry_init(struct entry *entry, const struct key *key)
{
	entry->hash = key->hash;
	entry->length = key->length;
	memcpy(entry->text, key->text, key->length);
	entry->text[key->length] = '\0';
}

bool entry_is(const struct entry *entry, const struct key *key)
{
	return entry->hash == key->hash && entry->length == key->length &&
	       memcmp(entry->text, key->text, key->length) == 0;
}

static struct entry **chain_of(struct shard *shard, uint32_t hash)
{
	return &shard->chain[hash >> DIRECTORY_SHARD_BITS &
			     ((1u << DIRECTORY_CHAIN_BITS) - 1)];
}

struct entry *shard_find(struct shard *shard, const struct key *key)
{
	struct entry *entry = *chain_of(shard, key->hash);

	while (entry && !entry_is(entry, key))
		entry = entry->next;
	return entry;
}

void shard_add(struct shard *shard, struct entry *entry)
{
	struct entry **chain = chain_of(shard, entry->hash);

	entry->next = *chain;
	*chain = entry;
	shard->nr++;
}

void shard_remove(struct shard *shard, struct entry *entry)
{
	struct entry **link = chain_of(shard, entry->hash);

	while (*link != entry) {
		sley_assert(*link);
		link = &(*link)->next;
	}
	*link = entry->next;
	shard->nr--;
}

/* Whatever the parent was doing.  A page that is not written is not copied. */
void shard_renew(struct shard *shard)
{
	for (size_t i = 0; i < array_size(shard->chain); i++) {
		if (shard->chain[i])
			shard->chain[i] = NULL;
	}
	if (shard->nr)
		shard->nr = 0;
	/* relaxed: there is one thread. */
	if (load_relaxed(&shard->lock.word))
		shard->lock = (struct spinlock){ 0 };
}

void directory_renew(struct directory *directory)
{
	for (size_t i = 0; i < array_size(directory->shard); i++)
		shard_renew(&directory->shard[i]);
}
