/* SPDX-License-Identifier: MIT */
/*
 * hash.h - the hash functions of the library, and its table from words to structs.
 *
 * A table is an array of buckets, and a bucket is a chain of nodes.  Nodes are
 * embedded in the structs that the table finds:
 *
 *   bucket 0   ──► node ──► node
 *   bucket 1
 *   bucket 2   ──► node
 *   ...                        2^bits buckets
 *
 * The key of a node is a word: a pid, a tag, an address; or the hash of a text, and
 * then several nodes may have the same word.  hash_find() finds the newest node
 * of a word, hash_next_same() the older nodes, and the owner compares the texts.
 *
 * The table has no memory of its own.  Its owner brings each array of buckets,
 * zeroed, and frees the array that hash_move() returns.  So nothing here can fail:
 * an owner without memory for a larger array goes on with the array that it has,
 * and the chains become longer.
 *
 * An owner with a lock for each bucket, or with an array of constant size, uses the
 * hash functions and the chains without the table.
 *
 * hash_word() multiplies: each bit of the word reaches the bits above it.  So the
 * upper bits of the product depend on the whole word, and the lower bits do not.
 * hash_slot() uses the upper bits.  hash_bytes() also folds the product after each
 * byte, and all bits of its result are good.  None of this keeps out an enemy who
 * chooses keys: many nodes in one chain are slow, and still found.
 *
 * Finding takes as many steps as the chain has nodes, and so does removing.  The
 * owner serialises.
 *
 * Rejected: open addressing (a removal moves other nodes, or leaves marks behind;
 * graph/log/node_log.c, which never removes, has it).  Chains of 32-bit numbers in
 * place of pointers (the cells of graph/access/ranges.h have them, since a cell
 * must fit into a cache line and move with its array; the walks there compare
 * extents, not words).  A table that allocates (base has no allocator, and an owner
 * inside a spinlock must not).  A function of the owner that compares keys (a call
 * for each node, where one comparison of words does).  Chains in both directions (a
 * removal would not walk, but chains are short, and each node would grow).
 */
#ifndef SLEY_BASE_HASH_H
#define SLEY_BASE_HASH_H

#include "base/assert.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 2^64 divided by the golden ratio, and odd: neighbours end up far apart. */
#define HASH_FACTOR 0x9e3779b97f4a7c15u

/* ---- hash functions ---------------------------------------------------------- */

/* Different words have different hashes.  Only the upper bits are good. */
static inline uint64_t hash_word(uint64_t word)
{
	return word * HASH_FACTOR;
}

/* All bits are good. */
static inline uint64_t hash_bytes(const void *bytes, size_t length)
{
	const unsigned char *byte = bytes;
	uint64_t hash = length;

	for (size_t i = 0; i < length; i++) {
		hash = hash_word(hash ^ byte[i]);
		hash ^= hash >> 32;
	}
	return hash;
}

/* Which of 2^@bits buckets: the upper bits.  @bits may be 0. */
static inline size_t hash_slot(uint64_t hash, unsigned int bits)
{
	return (size_t)(hash >> 1 >> (63 - bits));
}

/* ---- chains ------------------------------------------------------------------ */

struct hash_node {
	struct hash_node *next;
	uint64_t word;
};

static inline void hash_chain_add(struct hash_node **chain,
				  struct hash_node *node)
{
	node->next = *chain;
	*chain = node;
}

/* The first node of @word, from @node on; or NULL. */
static inline struct hash_node *hash_chain_find(struct hash_node *node,
						uint64_t word)
{
	while (node && node->word != word)
		node = node->next;
	return node;
}

/* @node must be in the chain. */
static inline void hash_chain_remove(struct hash_node **chain,
				     const struct hash_node *node)
{
	while (*chain != node) {
		sley_assert(*chain);
		chain = &(*chain)->next;
	}
	*chain = node->next;
}

/* The next older node of the same word; or NULL. */
static inline struct hash_node *hash_next_same(const struct hash_node *node)
{
	return hash_chain_find(node->next, node->word);
}

/* ---- the table --------------------------------------------------------------- */

struct hash_table {
	struct hash_node **bucket;
	uint32_t bits; /* 2^bits buckets */
	uint32_t nr;   /* nodes          */
};

/* @bucket: 2^@bits buckets, zeroed. */
static inline void hash_init(struct hash_table *table,
			     struct hash_node **bucket, uint32_t bits)
{
	*table = (struct hash_table){ .bucket = bucket, .bits = bits };
}

static inline size_t hash_nr_buckets(const struct hash_table *table)
{
	return (size_t)1 << table->bits;
}

static inline struct hash_node **hash_bucket(const struct hash_table *table,
					     uint64_t word)
{
	return &table->bucket[hash_slot(hash_word(word), table->bits)];
}

static inline void hash_add(struct hash_table *table, struct hash_node *node,
			    uint64_t word)
{
	node->word = word;
	hash_chain_add(hash_bucket(table, word), node);
	table->nr++;
}

/* The newest node of @word; or NULL. */
static inline struct hash_node *hash_find(const struct hash_table *table,
					  uint64_t word)
{
	return hash_chain_find(*hash_bucket(table, word), word);
}

/* @node must be in the table. */
static inline void hash_remove(struct hash_table *table,
			       const struct hash_node *node)
{
	hash_chain_remove(hash_bucket(table, node->word), node);
	table->nr--;
}

/*
 * Move all nodes to @bucket, 2^@bits buckets, zeroed.  The caller frees the old
 * array, which is returned.
 */
static inline struct hash_node **
hash_move(struct hash_table *table, struct hash_node **bucket, uint32_t bits)
{
	struct hash_table old = *table;

	hash_init(table, bucket, bits);
	for (size_t i = 0; i < hash_nr_buckets(&old); i++) {
		struct hash_node *node = old.bucket[i];

		while (node) {
			struct hash_node *next = node->next;

			hash_add(table, node, node->word);
			node = next;
		}
	}
	return old.bucket;
}

#endif
