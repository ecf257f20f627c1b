/* SPDX-License-Identifier: MIT */
/*
 * actor_directory.c - things that are found by name, alone.
 */
#include "actor/name/directory.h"
#include "harness/test.h"

#include <string.h>

static struct directory directory;

static struct key key_of(const char *text)
{
	struct key key;

	CHECK(key_init(&key, text));
	return key;
}

static void add(struct entry *entry, const struct key *key)
{
	struct shard *shard = directory_lock(&directory, key->hash);

	entry_init(entry, key);
	shard_add(shard, entry);
	shard_unlock(shard);
}

static void remove_entry(struct entry *entry)
{
	struct shard *shard = directory_lock(&directory, entry->node.word);

	shard_remove(shard, entry);
	shard_unlock(shard);
}

static struct entry *find(const struct key *key)
{
	struct shard *shard = directory_lock(&directory, key->hash);
	struct entry *entry = shard_find(shard, key);

	shard_unlock(shard);
	return entry;
}

/* The same hash for all: they are in one chain, and told apart by their text. */
TEST(names_in_one_chain_are_told_apart)
{
	static const char *const text[] = { "a", "b", "ab", "abc", "abd" };
	static const int order[] = { 2, 0, 4, 3, 1 };
	struct entry entry[5];
	struct key key[5];

	for (int i = 0; i < 5; i++) {
		key[i] = key_of(text[i]);
		key[i].hash = 7;
		CHECK(!find(&key[i]));
		add(&entry[i], &key[i]);
	}
	for (int i = 0; i < 5; i++) {
		remove_entry(&entry[order[i]]);
		for (int k = 0; k < 5; k++) {
			bool gone = false;

			for (int g = 0; g <= i; g++)
				gone |= order[g] == k;
			CHECK(find(&key[k]) == (gone ? NULL : &entry[k]));
		}
	}
}

TEST(a_name_differs_from_its_beginning_and_its_end)
{
	struct key key = key_of("name"), other = key_of("names");
	struct entry entry;

	add(&entry, &key);
	other.hash = key.hash;
	CHECK(!find(&other));
	CHECK(find(&key) == &entry);
	CHECK(entry_is(&entry, &key));
	CHECK_STR(entry.text, "name");
}

/* Numbered names, as programs have them, do not crowd into a few chains. */
TEST(similar_names_are_spread)
{
	enum { N = 10000 };
	static unsigned char chain[1 << 16];
	unsigned int longest = 0;
	char text[] = "worker-00000";

	for (int i = 0; i < N; i++) {
		size_t hash;

		for (int k = 0, n = i; k < 5; k++, n /= 10)
			text[11 - k] = (char)('0' + n % 10);
		hash = hash_slot(key_of(text).hash, 16);
		if (++chain[hash] > longest)
			longest = chain[hash];
	}
	CHECK_LE(longest, 8);
}

TEST(what_is_no_name)
{
	char text[SLEY_NAME_MAX + 2];
	struct key key;

	CHECK(!key_init(&key, NULL));
	CHECK(!key_init(&key, ""));
	memset(text, 'x', sizeof(text));
	text[SLEY_NAME_MAX + 1] = '\0';
	CHECK(!key_init(&key, text));
	text[SLEY_NAME_MAX] = '\0';
	CHECK(key_init(&key, text));
	CHECK_EQ(key.length, SLEY_NAME_MAX);
}

TEST(a_child_of_fork_finds_nothing)
{
	struct key key = key_of("name");
	struct entry entry;

	add(&entry, &key);
	/* Another thread is in the middle of something. */
	(void)directory_lock(&directory, key.hash);
	directory_renew(&directory);
	CHECK(!find(&key));
	add(&entry, &key);
	CHECK(find(&key) == &entry);
}
