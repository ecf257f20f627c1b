/* SPDX-License-Identifier: MIT */
/*
 * entry.h - a key with its value, in one piece of memory.
 *
 *      ┌──────┬──────┬─────────┬─────────┬───────┬─────┬───────┐
 *      │ next │ hash │ version │ expires │ sizes │ key │ value │
 *      └──────┴──────┴─────────┴─────────┴───────┴─────┴───────┘
 *
 * The memory is a multiple of a cache line, as all memory of mem/alloc.h is.  So an
 * entry is counted as so much memory as it takes, and a value may be written over by a
 * value of about the same size.  A key of 20 bytes is in the first cache line, beside
 * the hash: to find an entry takes one line for each entry of the chain.
 */
#ifndef SLEY_MODULES_KV_ENTRY_H
#define SLEY_MODULES_KV_ENTRY_H

#include "base/bits.h"
#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct kv_entry {
	struct kv_entry *next; /* of its chain, or of a bin                  */
	uint64_t hash;
	uint64_t version;
	uint64_t expires_ns; /* 0: never                                     */
	uint32_t value_size;
	uint16_t key_size;
	bool used;           /* since the hand of the store passed           */
	bool is_gone;        /* from the table; the last reader frees it     */
	uint32_t nr_readers; /* that copy the value without the lock         */
	unsigned char bytes[];
};

/* A key, as requests bring it. */
struct kv_key {
	const void *bytes;
	uint32_t size;
	uint64_t hash;
};

/* The memory of an entry. */
static inline size_t kv_entry_size_for(size_t key_size, size_t value_size)
{
	return round_up(offsetof(struct kv_entry, bytes) + key_size +
				value_size,
			CACHE_LINE);
}

static inline size_t kv_entry_size(const struct kv_entry *entry)
{
	return kv_entry_size_for(entry->key_size, entry->value_size);
}

static inline unsigned char *kv_entry_value(struct kv_entry *entry)
{
	return entry->bytes + entry->key_size;
}

static inline bool kv_entry_has_key(const struct kv_entry *entry,
				    const struct kv_key *key)
{
	return entry->hash == key->hash && entry->key_size == key->size &&
	       memcmp(entry->bytes, key->bytes, key->size) == 0;
}

static inline bool kv_entry_is_expired(const struct kv_entry *entry,
				       uint64_t now_ns)
{
	return entry->expires_ns && entry->expires_ns <= now_ns;
}

#endif
