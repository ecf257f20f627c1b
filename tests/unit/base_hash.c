/* SPDX-License-Identifier: MIT */
/*
 * base_hash.c - the table from words to structs against a plain array, and how well
 * the hash functions spread keys that programs have.
 */
#include "harness/test.h"

#include "base/compiler.h"
#include "base/hash.h"
#include "base/rand.h"
#include "mem/alloc.h"

#include <string.h>

#define NR_THINGS 1000
#define FEW_BITS 2

struct thing {
	int before; /* the node is not the first member */
	struct hash_node node;
	bool in; /* the table, as the test knows */
};

static struct thing things[NR_THINGS];
static struct hash_node *few[1 << FEW_BITS];
static struct hash_table table;
static struct mem mem;

static struct thing *thing_of(struct hash_node *node)
{
	return node ? container_of(node, struct thing, node) : NULL;
}

static struct thing *find(uint64_t word)
{
	return thing_of(hash_find(&table, word));
}

static void begin(void)
{
	mem_init(&mem, &test_config()->allocator);
	memset(few, 0, sizeof(few));
	memset(things, 0, sizeof(things));
	hash_init(&table, few, FEW_BITS);
}

static void put(struct thing *thing, uint64_t word)
{
	hash_add(&table, &thing->node, word);
	thing->in = true;
}

static void drop(struct thing *thing)
{
	hash_remove(&table, &thing->node);
	thing->in = false;
}

static void free_buckets(struct hash_node **bucket, uint32_t bits)
{
	if (bucket != few)
		mem_free(&mem, bucket, sizeof(*bucket) << bits);
}

/* As owners do.  False: there is no memory, and the table stays as it is. */
static bool resize(uint32_t bits)
{
	struct hash_node **bucket = mem_alloc(&mem, sizeof(*bucket) << bits);
	uint32_t old = table.bits;

	if (!bucket)
		return false;
	free_buckets(hash_move(&table, bucket, bits), old);
	return true;
}

static void end(void)
{
	free_buckets(table.bucket, table.bits);
	CHECK_EQ(mem_allocated(&mem), 0);
}

/* A walk along all buckets meets each thing once, in the bucket of its word. */
static void check(void)
{
	static unsigned char met[NR_THINGS];
	uint32_t nr = 0, nr_in = 0;

	memset(met, 0, sizeof(met));
	for (size_t i = 0; i < hash_nr_buckets(&table); i++) {
		struct hash_node *node = table.bucket[i];

		for (; node; node = node->next, nr++) {
			CHECK(hash_bucket(&table, node->word) ==
			      &table.bucket[i]);
			CHECK(thing_of(node)->in);
			CHECK_EQ(met[thing_of(node) - things]++, 0);
		}
	}
	for (int i = 0; i < NR_THINGS; i++)
		nr_in += things[i].in;
	CHECK_EQ(nr, nr_in);
	CHECK_EQ(table.nr, nr_in);
}

TEST(an_empty_table_finds_nothing)
{
	begin();
	CHECK(!find(0));
	CHECK(!find(UINT64_MAX));
	check();
	end();
}

TEST(a_node_is_found_until_it_is_removed)
{
	begin();
	put(&things[0], 0);
	put(&things[1], UINT64_MAX);
	CHECK(find(0) == &things[0]);
	CHECK(find(UINT64_MAX) == &things[1]);
	CHECK(!find(1));
	drop(&things[0]);
	CHECK(!find(0));
	CHECK(find(UINT64_MAX) == &things[1]);
	put(&things[0], 1);
	CHECK(find(1) == &things[0]);
	check();
	end();
}

/* The newest first; a removal from the middle keeps the others. */
TEST(nodes_of_one_word_come_one_after_another)
{
	begin();
	for (int i = 0; i < 5; i++)
		put(&things[i], 77);
	for (uint64_t word = 0; word < 64; word++)
		put(&things[5 + word], word); /* between and around them */
	drop(&things[2]);
	for (int round = 0; round < 2; round++) {
		int nr = 0;

		for (struct hash_node *node = hash_find(&table, 77); node;
		     node = hash_next_same(node)) {
			CHECK_EQ(node->word, 77);
			nr++;
		}
		CHECK_EQ(nr, 4);
		if (!round)
			CHECK(find(77) == &things[4]);
		check();
		CHECK(resize(5));
	}
	end();
}

TEST(all_are_found_after_each_growth_and_shrinking)
{
	static const uint32_t bits[] = { 0, 3, 10, 1, 12, 2 };

	begin();
	for (uint64_t i = 0; i < NR_THINGS; i++)
		put(&things[i], i * i);
	for (size_t k = 0; k < array_size(bits); k++) {
		CHECK(resize(bits[k]));
		check();
		for (uint64_t i = 0; i < NR_THINGS; i++)
			CHECK(find(i * i) == &things[i]);
		CHECK(!find(2));
	}
	end();
}

TEST(a_table_that_cannot_grow_goes_on)
{
	begin();
	test_fail_allocation_after(0);
	for (uint64_t i = 0; i < NR_THINGS; i++) {
		put(&things[i], i);
		CHECK(!resize(table.bits + 1));
	}
	test_fail_allocation_after(-1);
	CHECK_EQ(table.bits, FEW_BITS);
	check();
	for (uint64_t i = 0; i < NR_THINGS; i += 2)
		drop(&things[i]);
	for (uint64_t i = 0; i < NR_THINGS; i++)
		CHECK(find(i) == (i % 2 ? &things[i] : NULL));
	CHECK(resize(10));
	check();
	for (uint64_t i = 0; i < NR_THINGS; i++)
		CHECK(find(i) == (i % 2 ? &things[i] : NULL));
	end();
}

/* HASH_FACTOR is odd, so each hash is the hash of a word. */
static uint64_t word_with_hash(uint64_t hash)
{
	uint64_t inverse = HASH_FACTOR;

	for (int i = 0; i < 5; i++)
		inverse *= 2 - HASH_FACTOR * inverse;
	return hash * inverse;
}

/* An enemy's keys: all in the first bucket of any table that is not huge. */
TEST(words_of_one_bucket_are_told_apart)
{
	begin();
	for (uint64_t i = 0; i < NR_THINGS; i++) {
		CHECK_EQ(hash_word(word_with_hash(i)), i);
		put(&things[i], word_with_hash(i));
	}
	CHECK(resize(10));
	for (size_t i = 1; i < hash_nr_buckets(&table); i++)
		CHECK(!table.bucket[i]);
	check();
	for (uint64_t i = NR_THINGS; i-- > 0;) {
		CHECK(find(word_with_hash(i)) == &things[i]);
		if (i % 3)
			drop(&things[i]);
	}
	for (uint64_t i = 0; i < NR_THINGS; i++)
		CHECK(find(word_with_hash(i)) == (i % 3 ? NULL : &things[i]));
	check();
	end();
}

static void put_or_drop(struct rand *rand)
{
	uint64_t i = rand_below(rand, NR_THINGS);

	if (things[i].in)
		drop(&things[i]);
	else
		put(&things[i], i << (i % 50));
}

TEST(it_agrees_with_an_array_whatever_is_done)
{
	struct rand rand;

	begin();
	rand_seed(&rand, test_seed());
	for (int round = 0; round < test_scale(8000); round++) {
		uint64_t i = rand_below(&rand, NR_THINGS);
		struct hash_node *node = hash_find(&table, i << (i % 50));

		/* Several things may have that word. */
		while (node && thing_of(node) != &things[i])
			node = hash_next_same(node);
		CHECK_EQ(node != NULL, things[i].in);
		put_or_drop(&rand);
		if (rand_below(&rand, 500) == 0) {
			CHECK(resize(rand_below(&rand, 11)));
			check();
		}
	}
	check();
	end();
}

/* ---- the functions ----------------------------------------------------------- */

enum { SPREAD_BITS = 10 };

static unsigned int length[1 << SPREAD_BITS];

static unsigned int longest_of(void)
{
	unsigned int longest = 0;

	for (size_t i = 0; i < array_size(length); i++)
		longest = length[i] > longest ? length[i] : longest;
	memset(length, 0, sizeof(length));
	return longest;
}

/* Pids, tags and addresses differ in their low, middle, or high bits. */
TEST(words_are_spread_whichever_bits_differ)
{
	for (unsigned int shift = 0; shift <= 64 - SPREAD_BITS; shift++) {
		for (uint64_t i = 0; i < 1 << SPREAD_BITS; i++)
			length[hash_slot(hash_word(i << shift), SPREAD_BITS)]++;
		CHECK_LE(longest_of(), 8);
	}
}

static void count(uint64_t hash, bool low)
{
	length[low ? hash & (array_size(length) - 1)
		   : hash_slot(hash, SPREAD_BITS)]++;
}

TEST(numbered_texts_are_spread_by_all_bits_of_the_hash)
{
	for (int low = 0; low < 2; low++) {
		char text[] = "worker-0000";

		for (int i = 0; i < 1 << SPREAD_BITS; i++) {
			for (int k = 0, n = i; k < 4; k++, n /= 10)
				text[10 - k] = (char)('0' + n % 10);
			count(hash_bytes(text, strlen(text)), low);
		}
		CHECK_LE(longest_of(), 8);
	}
}

/* The letters differ in one bit, which a product carries upwards only. */
TEST(texts_of_two_letters_are_spread_by_all_bits_of_the_hash)
{
	for (int low = 0; low < 2; low++) {
		char text[SPREAD_BITS];

		for (unsigned int i = 0; i < 1 << SPREAD_BITS; i++) {
			for (unsigned int k = 0; k < SPREAD_BITS; k++)
				text[k] = i >> k & 1 ? 'a' : 'q';
			count(hash_bytes(text, sizeof(text)), low);
		}
		CHECK_LE(longest_of(), 8);
	}
}

TEST(a_text_is_all_of_its_bytes)
{
	static const char text[] = "\0\0a\0b";

	for (size_t i = 0; i < sizeof(text); i++) {
		for (size_t k = 0; k < i; k++)
			CHECK(hash_bytes(text, i) != hash_bytes(text, k));
	}
	CHECK(hash_bytes("ab", 2) != hash_bytes("ba", 2));
	CHECK(hash_bytes("ab", 2) == hash_bytes("abc", 2));
}

TEST(slots_are_the_upper_bits)
{
	CHECK_EQ(hash_slot(UINT64_MAX, 0), 0);
	CHECK_EQ(hash_slot(UINT64_C(1) << 63, 1), 1);
	CHECK_EQ(hash_slot(UINT64_MAX >> 1, 1), 0);
	CHECK_EQ(hash_slot(UINT64_MAX, 32), UINT32_MAX);
	CHECK_EQ(hash_slot(UINT64_C(0x123456789abcdef0), 16), 0x1234);
}
