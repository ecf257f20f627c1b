/* SPDX-License-Identifier: MIT */
/*
 * table.h - the entries of a container, by hash.
 *
 * An array of chains.  The upper bits of the hash choose the chain, so all entries are
 * in the order of their hashes, as far as the array is long:
 *
 *      chain 0   hashes 0x00.. to 0x0f..
 *      chain 1   hashes 0x10.. to 0x1f..        16 chains: 4 bits
 *      ...
 *
 * A walk over the table is at a *position*, which is a hash: all entries below it were
 * seen.  When the array becomes longer, chain n becomes chains 2n and 2n + 1, and the
 * position means the same as before.  So a walk that is interrupted sees each entry that
 * stays exactly once, however much the table grows meanwhile.
 *
 * The table grows step by step: the longer array is there beside the old array, and
 * each change of the table moves some chains (kv_table_move).  Chains below `nr_moved`
 * are in the new array, all others in the old array.  So a hash is looked for in one
 * chain at any time.
 *
 * The table has no memory of its own; its owner brings the arrays, zeroed, and frees
 * them.  An owner without memory for a longer array goes on with longer chains.  The
 * owner serialises.
 *
 * Rejected: a prefetch of the further lines of an entry (no faster, as measured).  The
 * table of base/hash.h (it moves all entries at once: some milliseconds
 * with a lock held; it multiplies the word again, so positions would mean nothing).  Open
 * addressing (a removal moves other entries, and a walk loses its place).  A table that
 * becomes shorter (a position would mean two chains of which one was seen; and a
 * store that was full will be full again).
 */
#ifndef SLEY_MODULES_KV_TABLE_H
#define SLEY_MODULES_KV_TABLE_H

#include "base/hash.h"
#include "modules/kv/entry.h"

#define KV_TABLE_BITS_MIN 4
#define KV_TABLE_BITS_MAX 40

struct kv_table {
	struct kv_entry **chain;
	struct kv_entry **old; /* NULL: all is in `chain`                    */
	uint32_t bits;
	uint32_t old_bits;
	size_t nr_moved; /* chains of `old`                                  */
	uint64_t nr;     /* entries                                          */
};

static inline size_t kv_table_array_size(uint32_t bits)
{
	return sizeof(struct kv_entry *) << bits;
}

/* @chain: 2^@bits chains, zeroed. */
static inline void kv_table_init(struct kv_table *table,
				 struct kv_entry **chain, uint32_t bits)
{
	*table = (struct kv_table){ .chain = chain, .bits = bits };
}

/* The chain of @hash; *@bits gets how many bits chose it. */
static inline struct kv_entry **kv_table_chain(const struct kv_table *table,
					       uint64_t hash, uint32_t *bits)
{
	if (unlikely(table->old)) {
		size_t slot = hash_slot(hash, table->old_bits);

		if (slot >= table->nr_moved) {
			*bits = table->old_bits;
			return &table->old[slot];
		}
	}
	*bits = table->bits;
	return &table->chain[hash_slot(hash, table->bits)];
}

/* The place of the pointer to the entry with @key; or NULL. */
static inline struct kv_entry **kv_table_find(const struct kv_table *table,
					      const struct kv_key *key)
{
	uint32_t bits;
	struct kv_entry **place = kv_table_chain(table, key->hash, &bits);

	for (; *place; place = &(*place)->next) {
		if (kv_entry_has_key(*place, key))
			return place;
	}
	return NULL;
}

/* Its key must not be in the table. */
static inline void kv_table_add(struct kv_table *table, struct kv_entry *entry)
{
	uint32_t bits;
	struct kv_entry **chain = kv_table_chain(table, entry->hash, &bits);

	entry->next = *chain;
	*chain = entry;
	table->nr++;
}

/* The entry at @place goes, and is returned. */
static inline struct kv_entry *kv_table_remove(struct kv_table *table,
					       struct kv_entry **place)
{
	struct kv_entry *entry = *place;

	*place = entry->next;
	table->nr--;
	return entry;
}

/*
 * The chain at @position; *@next gets the position behind the chain, which is 0 behind
 * the last chain.
 */
static inline struct kv_entry **kv_table_at(const struct kv_table *table,
					    uint64_t position, uint64_t *next)
{
	uint32_t bits;
	struct kv_entry **chain = kv_table_chain(table, position, &bits);

	*next = (uint64_t)(hash_slot(position, bits) + 1) << (64 - bits);
	return chain;
}

/*
 * Would a longer array be better, and can there be one now?  There are two chains for
 * each entry at least, so that a hit looks at 1.25 entries at most on average: each is a
 * cache line that is far away in a large store.  With one chain for each entry it would
 * be 1.5.
 */
static inline bool kv_table_is_crowded(const struct kv_table *table)
{
	return 2 * table->nr >> table->bits && !table->old &&
	       table->bits < KV_TABLE_BITS_MAX;
}

/* From now on @chain, 2^(bits + 1) chains, zeroed, is the array. */
static inline void kv_table_grow(struct kv_table *table,
				 struct kv_entry **chain)
{
	sley_assert(!table->old);
	table->old = table->chain;
	table->old_bits = table->bits;
	table->nr_moved = 0;
	table->chain = chain;
	table->bits++;
}

/*
 * Moves up to @nr chains.  Returns the old array once it is empty: the caller frees
 * it, with the size kv_table_array_size(bits - 1); else NULL.
 */
static inline struct kv_entry **kv_table_move(struct kv_table *table, size_t nr)
{
	struct kv_entry **old = table->old;

	if (likely(!old))
		return NULL;
	for (; nr && table->nr_moved >> table->old_bits == 0; nr--) {
		struct kv_entry *entry = old[table->nr_moved++];

		while (entry) {
			struct kv_entry *next = entry->next;
			struct kv_entry **chain = &table->chain[hash_slot(
				entry->hash, table->bits)];

			entry->next = *chain;
			*chain = entry;
			entry = next;
		}
	}
	if (table->nr_moved >> table->old_bits == 0)
		return NULL;
	table->old = NULL;
	return old;
}

#endif
