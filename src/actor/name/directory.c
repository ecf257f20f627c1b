/* SPDX-License-Identifier: MIT */
/*
 * directory.c - see directory.h.
 */
#include "actor/name/directory.h"

#include <string.h>

bool key_init(struct key *key, const char *text)
{
	size_t length = text ? strnlen(text, SLEY_NAME_MAX + 1) : 0;

	if (!length || length > SLEY_NAME_MAX)
		return false;
	*key = (struct key){ .text = text,
			     .hash = hash_bytes(text, length),
			     .length = (uint32_t)length };
	return true;
}

void entry_init(struct entry *entry, const struct key *key)
{
	entry->node.word = key->hash;
	memcpy(entry->text, key->text, key->length);
	entry->text[key->length] = '\0';
}

/* strncmp() stops at the end of a shorter text: no byte after it is read. */
bool entry_is(const struct entry *entry, const struct key *key)
{
	return entry->node.word == key->hash &&
	       strncmp(entry->text, key->text, key->length) == 0 &&
	       !entry->text[key->length];
}

static struct hash_node **chain_of(struct shard *shard, uint64_t hash)
{
	return &shard->chain[hash_slot(hash << DIRECTORY_SHARD_BITS,
				       DIRECTORY_CHAIN_BITS)];
}

static struct entry *entry_of(struct hash_node *node)
{
	return container_of(node, struct entry, node);
}

struct entry *shard_find(struct shard *shard, const struct key *key)
{
	struct hash_node *node =
		hash_chain_find(*chain_of(shard, key->hash), key->hash);

	while (node && !entry_is(entry_of(node), key))
		node = hash_next_same(node);
	return node ? entry_of(node) : NULL;
}

void shard_add(struct shard *shard, struct entry *entry)
{
	hash_chain_add(chain_of(shard, entry->node.word), &entry->node);
	shard->nr++;
}

void shard_remove(struct shard *shard, struct entry *entry)
{
	hash_chain_remove(chain_of(shard, entry->node.word), &entry->node);
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
