/* SPDX-License-Identifier: MIT */
/*
 * modules_kv_store.c - the store of one container: against a naive store under random
 * operations, while it grows, at its limit, and without memory.  The tests bring the time
 * and the hashes.
 */
#include "harness/test.h"

#include "base/rand.h"
#include "base/sip_hash.h"
#include "modules/kv/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define MSEC 1000000ull

static struct mem mem;
static struct kv_store store;
static int fail_at; /* this allocation fails: 1 is the next; 0: none */

static void *test_alloc(void *self, size_t size, size_t align)
{
	void *memory;

	(void)self;
	if (fail_at && --fail_at == 0)
		return NULL;
	return posix_memalign(&memory, align, size) ? NULL : memory;
}

static void test_free(void *self, void *memory, size_t size)
{
	(void)self;
	(void)size;
	free(memory);
}

static void begin(uint64_t max_bytes)
{
	struct sley_allocator hook = { .alloc = test_alloc, .free = test_free };
	struct kv_limits limits = {
		.key_max = SLEY_KV_KEY_MAX,
		.value_max = SLEY_KV_VALUE_MAX,
		.max_bytes = max_bytes ? max_bytes : UINT64_MAX,
	};

	mem_init(&mem, &hook);
	CHECK_EQ(kv_store_init(&store, &mem, &limits), 0);
}

static void end(void)
{
	CHECK_EQ(kv_store_stats(&store).bytes, mem.allocated);
	kv_store_fini(&store);
	CHECK_EQ(mem.allocated, 0);
}

/* ---- keys that are numbers ---------------------------------------------------------- */

struct number {
	char text[24];
	struct kv_key key;
};

static struct kv_key *number(struct number *n, uint64_t i)
{
	static const struct sip_key sip = { { 1, 2 } };

	n->key.size = (uint32_t)snprintf(n->text, sizeof(n->text), "key %llu",
					 (unsigned long long)i);
	n->key.bytes = n->text;
	n->key.hash = sip_hash(&sip, n->text, n->key.size);
	return &n->key;
}

static int set_if(uint64_t i, const void *value, size_t size, uint32_t flags)
{
	struct kv_write write = { .value = value,
				  .value_size = (uint32_t)size,
				  .flags = flags };
	struct number n;
	uint64_t version;

	return kv_store_set(&store, number(&n, i), &write, 0, &version);
}

static void set(uint64_t i, const void *value, size_t size)
{
	CHECK_EQ(set_if(i, value, size, 0), 0);
}

static void set_until(uint64_t i, uint64_t expires_ns, uint64_t now_ns)
{
	struct kv_write write = { .value = "x",
				  .value_size = 1,
				  .expires_ns = expires_ns };
	struct number n;
	uint64_t version;

	CHECK_EQ(kv_store_set(&store, number(&n, i), &write, now_ns, &version),
		 0);
}

static int get(uint64_t i, uint64_t now_ns, struct sley_kv_entry *entry,
	       void *value, size_t room)
{
	struct number n;

	return kv_store_get(&store, number(&n, i), now_ns, entry, value, room);
}

static bool has(uint64_t i)
{
	struct sley_kv_entry entry;
	int err = get(i, 0, &entry, NULL, 0);

	CHECK(err == 0 || err == -ENOENT || err == -EMSGSIZE);
	return err != -ENOENT;
}

static int erase(uint64_t i, const uint64_t *version)
{
	struct number n;

	return kv_store_delete(&store, number(&n, i), version, 0);
}

/* ---- against a naive store ---------------------------------------------------------- */

#define NR_NAIVE 300
#define NAIVE_VALUE 3000

static struct naive {
	bool is_there;
	uint64_t version, expires_ns;
	uint32_t size;
	unsigned char fill;
} naive[NR_NAIVE];
static uint64_t naive_version, naive_now = 1;

static bool naive_is_there(const struct naive *n)
{
	return n->is_there && (!n->expires_ns || n->expires_ns > naive_now);
}

static int naive_check(const struct naive *n, const struct kv_write *write)
{
	bool is_there = naive_is_there(n);

	switch (write->flags) {
	case SLEY_KV_IF_ABSENT:
		return is_there ? -EEXIST : 0;
	case SLEY_KV_IF_PRESENT:
		return is_there ? 0 : -ENOENT;
	case SLEY_KV_IF_VERSION:
		if (!is_there)
			return -ENOENT;
		return n->version == write->version ? 0 : -ESTALE;
	default:
		return 0;
	}
}

static void random_set(uint32_t i)
{
	static unsigned char value[NAIVE_VALUE];
	static const uint32_t flags[] = { 0,
					  0,
					  0,
					  SLEY_KV_IF_ABSENT,
					  SLEY_KV_IF_PRESENT,
					  SLEY_KV_IF_VERSION };
	struct naive *n = &naive[i];
	struct kv_write write = {
		.value = value,
		.value_size = test_random(4) ? test_random(200)
					     : test_random(NAIVE_VALUE),
		.flags = flags[test_random(6)],
		.version = n->version + (test_random(4) == 0),
		.expires_ns = test_random(3) ? 0
					     : naive_now + 1 + test_random(50),
	};
	int wanted = naive_check(n, &write);
	struct number key;
	uint64_t version;

	memset(value, (int)(naive_version & 0xff), write.value_size);
	CHECK_EQ(kv_store_set(&store, number(&key, i), &write, naive_now,
			      &version),
		 wanted);
	if (wanted)
		return;
	CHECK_EQ(version, naive_version + 1);
	*n = (struct naive){ true, version, write.expires_ns, write.value_size,
			     (unsigned char)(naive_version & 0xff) };
	naive_version = version;
}

static void check_get(uint32_t i)
{
	static unsigned char value[NAIVE_VALUE];
	const struct naive *n = &naive[i];
	struct sley_kv_entry entry;
	int err = get(i, naive_now, &entry, value, sizeof(value));

	CHECK_EQ(err, naive_is_there(n) ? 0 : -ENOENT);
	if (err)
		return;
	CHECK_EQ(entry.version, n->version);
	CHECK_EQ(entry.value_size, n->size);
	CHECK_EQ(entry.ttl_ms, n->expires_ns ? 1 : 0);
	for (uint32_t at = 0; at < n->size; at++)
		CHECK_EQ(value[at], n->fill);
}

static void random_erase(uint32_t i)
{
	struct naive *n = &naive[i];
	uint64_t version = n->version + (test_random(2) == 0);
	bool any = test_random(2);
	struct number key;
	int wanted = !naive_is_there(n)              ? -ENOENT
		     : !any && version != n->version ? -ESTALE
						     : 0;

	CHECK_EQ(kv_store_delete(&store, number(&key, i), any ? NULL : &version,
				 naive_now),
		 wanted);
	if (!wanted)
		n->is_there = false;
}

/* Each key that is there comes once, and no other. */
static void check_scan(size_t room, uint32_t max)
{
	static unsigned char out[4096];
	bool seen[NR_NAIVE] = { false };
	struct sley_kv_scan_request from = { .max = max };
	struct sley_kv_page page;
	size_t size;

	do {
		const unsigned char *at = out + sizeof(page);

		CHECK_EQ(kv_store_scan(&store, &from, naive_now, out, room,
				       &size),
			 0);
		memcpy(&page, out, sizeof(page));
		CHECK_EQ(size, sizeof(page) + page.size);
		CHECK(size <= room && (!max || page.nr <= max));
		for (uint32_t i = 0; i < page.nr; i++) {
			struct sley_kv_item item;
			char text[32] = "";
			unsigned long k;

			memcpy(&item, at, sizeof(item));
			memcpy(text, at + sizeof(item), item.key_size);
			at += sizeof(item) + (item.key_size + 7u) / 8 * 8;
			CHECK_EQ(sscanf(text, "key %lu", &k), 1);
			CHECK(k < NR_NAIVE && !seen[k]);
			seen[k] = true;
			CHECK(naive_is_there(&naive[k]));
			CHECK_EQ(item.version, naive[k].version);
			CHECK_EQ(item.value_size, naive[k].size);
		}
		CHECK_EQ(at - out, size);
		from.position = page.position;
	} while (!page.done);
	for (int i = 0; i < NR_NAIVE; i++)
		CHECK_EQ(seen[i], naive_is_there(&naive[i]));
}

TEST(random_operations_do_the_same_as_a_naive_store)
{
	begin(0);
	for (int i = 0; i < 200000; i++) {
		uint32_t k = test_random(NR_NAIVE);

		switch (test_random(8)) {
		case 0:
		case 1:
		case 2:
			random_set(k);
			break;
		case 3:
			random_erase(k);
			break;
		case 4:
			naive_now += test_random(10) == 0;
			break;
		default:
			check_get(k);
		}
		if (i % 4096 == 0)
			check_scan(200, 0);
		if (i % 4096 == 2048)
			check_scan(4096, 1 + test_random(20));
	}
	end();
}

/* ---- growing ------------------------------------------------------------------------ */

#define NR_STAY 3000
#define NR_COME 40000

static unsigned char seen[NR_STAY];

/* One page; counts the keys that stay. */
static bool scan_page(struct sley_kv_scan_request *from)
{
	unsigned char out[1024];
	struct sley_kv_page page;
	const unsigned char *at = out + sizeof(page);
	size_t size;

	CHECK_EQ(kv_store_scan(&store, from, 0, out, sizeof(out), &size), 0);
	memcpy(&page, out, sizeof(page));
	for (uint32_t i = 0; i < page.nr; i++) {
		struct sley_kv_item item;
		char text[32] = "";
		unsigned long k;

		memcpy(&item, at, sizeof(item));
		memcpy(text, at + sizeof(item), item.key_size);
		at += sizeof(item) + (item.key_size + 7u) / 8 * 8;
		CHECK_EQ(sscanf(text, "key %lu", &k), 1);
		if (k < NR_STAY)
			seen[k]++;
	}
	from->position = page.position;
	return !page.done;
}

TEST(a_scan_sees_each_key_once_while_the_table_grows)
{
	struct sley_kv_scan_request from = { .position = 0 };
	uint32_t bits, next = NR_STAY;

	begin(0);
	for (uint64_t i = 0; i < NR_STAY; i++)
		set(i, "v", 1);
	bits = store.table.bits;
	while (scan_page(&from)) {
		for (int i = 0; i < 500 && next < NR_COME; i++)
			set(next++, "v", 1);
	}
	CHECK_GT(store.table.bits, bits + 2);
	for (int i = 0; i < NR_STAY; i++)
		CHECK_EQ(seen[i], 1);
	end();
}

TEST(a_table_that_grows_moves_a_few_chains_with_each_change)
{
	uint32_t nr_growing = 0;

	begin(0);
	for (uint64_t i = 0; i < NR_COME; i++) {
		size_t moved = store.table.old ? store.table.nr_moved : 0;

		set(i, "v", 1);
		if (store.table.old) {
			nr_growing++;
			CHECK_LE(store.table.nr_moved, moved + 8);
		}
		if (i % 97 == 0) {
			for (uint64_t k = 0; k <= i; k += 1 + i / 64)
				CHECK(has(k));
		}
	}
	CHECK_GT(nr_growing, NR_COME / 8);
	CHECK_LE(store.table.nr, 2ull << store.table.bits);
	end();
}

TEST(keys_with_the_same_hash_are_told_apart_and_scanned_together)
{
	static const char *const text[] = { "one", "two", "three", "four" };
	struct sley_kv_scan_request from = { .max = 1 };
	struct sley_kv_page page;
	unsigned char out[512];
	uint64_t version;
	size_t size;

	begin(0);
	for (int i = 0; i < 4; i++) {
		struct kv_key key = { text[i], (uint32_t)strlen(text[i]),
				      UINT64_MAX };
		struct kv_write write = { .value = text[i], .value_size = 3 };

		CHECK_EQ(kv_store_set(&store, &key, &write, 0, &version), 0);
	}
	for (int i = 0; i < 4; i++) {
		struct kv_key key = { text[i], (uint32_t)strlen(text[i]),
				      UINT64_MAX };
		struct sley_kv_entry entry;
		char value[4] = "";

		CHECK_EQ(kv_store_get(&store, &key, 0, &entry, value, 3), 0);
		CHECK_EQ(memcmp(value, text[i], 3), 0);
	}
	do {
		CHECK_EQ(kv_store_scan(&store, &from, 0, out, sizeof(out),
				       &size),
			 0);
		memcpy(&page, out, sizeof(page));
		from.position = page.position;
	} while (!page.done && !page.nr);
	CHECK_EQ(page.nr, 4);
	CHECK_EQ(page.done, 1);
	from.position = UINT64_MAX;
	CHECK_EQ(kv_store_scan(&store, &from, 0, out, 100, &size), -EMSGSIZE);
	end();
}

/* ---- the limit ---------------------------------------------------------------------- */

#define LIMIT (64u << 10)

TEST(a_full_store_evicts_and_counts_and_never_exceeds_its_limit)
{
	static unsigned char value[4000];
	uint64_t nr_new = 0;
	struct sley_kv_stats stats;

	begin(LIMIT);
	for (int i = 0; i < 20000; i++) {
		uint64_t k = test_random(3000);
		size_t size = test_random(20) ? test_random(100)
					      : test_random(sizeof(value));

		nr_new += !has(k);
		set(k, value, size);
		CHECK(has(k));
		CHECK_LE(store.bytes, LIMIT);
		CHECK_EQ(store.bytes, mem.allocated);
	}
	stats = kv_store_stats(&store);
	CHECK_GT(stats.evicted, 1000);
	CHECK_EQ(stats.keys + stats.evicted, nr_new);
	CHECK_GT(store.bytes, LIMIT / 2);
	end();
}

TEST(keys_that_are_used_stay_and_the_others_go)
{
	begin(LIMIT);
	for (uint64_t i = 0; i < 100; i++)
		set(i, "hot", 3);
	for (uint64_t i = 1000; i < 20000; i++) {
		set(i, "cold", 4);
		for (uint64_t k = 0; k < 100 && i % 10 == 0; k++)
			CHECK(has(k));
	}
	CHECK_GT(kv_store_stats(&store).evicted, 15000);
	end();
}

TEST(one_write_spares_a_few_used_entries_and_no_more)
{
	uint64_t k = 0, nr_used = 0;

	begin(1 << 20);
	for (; !kv_store_stats(&store).evicted; k++) {
		set(k, "used", 4);
		CHECK(has(k));
	}
	/* The hand has taken the bit of those that it spared. */
	for (uint64_t position = 0; !nr_used || position;) {
		const struct kv_entry *entry =
			*kv_table_at(&store.table, position, &position);

		for (; entry; entry = entry->next)
			nr_used += entry->used;
	}
	CHECK_EQ(kv_store_stats(&store).evicted, 1);
	CHECK_EQ(nr_used, kv_store_stats(&store).keys - KV_SPARED);
	end();
}

TEST(a_value_that_never_fits_is_refused_and_nothing_is_evicted)
{
	static unsigned char value[LIMIT];

	begin(LIMIT);
	for (uint64_t i = 0; i < 100; i++)
		set(i, "v", 1);
	CHECK_EQ(set_if(7, value, sizeof(value), 0), -E2BIG);
	CHECK_EQ(set_if(1000, value, sizeof(value), 0), -E2BIG);
	for (uint64_t i = 0; i < 100; i++)
		CHECK(has(i));
	CHECK_EQ(kv_store_stats(&store).evicted, 0);
	/* The largest that does fit takes the place of all others. */
	CHECK(!store.table.old);
	set(7, value,
	    LIMIT - kv_table_array_size(store.table.bits) -
		    offsetof(struct kv_entry, bytes) - strlen("key 7"));
	CHECK_EQ(kv_store_stats(&store).keys, 1);
	CHECK_EQ(kv_store_stats(&store).evicted, 99);
	end();
}

TEST(a_write_never_evicts_its_own_key)
{
	static unsigned char value[20000];
	struct number n;
	struct kv_write write = { .value = value, .flags = SLEY_KV_IF_VERSION };
	uint64_t version;

	begin(LIMIT);
	set(0, value, 1);
	write.version = store.version;
	for (uint64_t i = 1; i < 1000; i++)
		set(i, "filler", 6);
	if (!has(0)) {
		set(0, value, 1);
		write.version = store.version;
	}
	for (uint32_t size = 100; size <= sizeof(value); size += 100) {
		write.value_size = size;
		CHECK_EQ(kv_store_set(&store, number(&n, 0), &write, 0,
				      &version),
			 0);
		write.version = version;
		CHECK_LE(store.bytes, LIMIT);
	}
	end();
}

TEST(a_condition_that_fails_evicts_nothing)
{
	static unsigned char value[30000];
	uint64_t evicted;

	begin(LIMIT);
	for (uint64_t i = 0; i < 2000; i++)
		set(i, "filler", 6);
	evicted = kv_store_stats(&store).evicted;
	CHECK_EQ(set_if(1999, value, sizeof(value), SLEY_KV_IF_ABSENT),
		 -EEXIST);
	CHECK_EQ(set_if(9999, value, sizeof(value), SLEY_KV_IF_PRESENT),
		 -ENOENT);
	CHECK_EQ(set_if(1999, value, sizeof(value), SLEY_KV_IF_VERSION),
		 -ESTALE);
	CHECK_EQ(kv_store_stats(&store).evicted, evicted);
	end();
}

/* ---- expiry ------------------------------------------------------------------------- */

TEST(a_key_is_there_until_its_time_and_not_at_it)
{
	struct sley_kv_entry entry;
	char value;

	begin(0);
	set_until(1, 100 * MSEC, 1);
	CHECK_EQ(get(1, 1, &entry, &value, 1), 0);
	CHECK_EQ(entry.ttl_ms, 100);
	CHECK_EQ(get(1, 99 * MSEC, &entry, &value, 1), 0);
	CHECK_EQ(entry.ttl_ms, 1);
	CHECK_EQ(get(1, 100 * MSEC - 1, &entry, &value, 1), 0);
	CHECK_EQ(entry.ttl_ms, 1);
	CHECK_EQ(get(1, 100 * MSEC, &entry, &value, 1), -ENOENT);
	CHECK_EQ(kv_store_stats(&store).keys, 0);
	CHECK_EQ(kv_store_stats(&store).expired, 1);
	CHECK_EQ(store.nr_expiring, 0);
	end();
}

TEST(a_write_ends_the_time_of_the_write_before)
{
	struct sley_kv_entry entry;
	char value;

	begin(0);
	set_until(1, 100, 1);
	set_until(1, 0, 2);
	CHECK_EQ(get(1, 1000, &entry, &value, 1), 0);
	CHECK_EQ(entry.ttl_ms, 0);
	CHECK_EQ(store.nr_expiring, 0);
	end();
}

TEST(a_sweep_removes_what_has_expired_and_nothing_else)
{
	begin(0);
	for (uint64_t i = 0; i < 5000; i++)
		set_until(i, i % 2 ? 100 : i % 4 ? 200 : 0, 1);
	CHECK_EQ(kv_store_sweep(&store, 99), 0);
	CHECK_EQ(kv_store_sweep(&store, 100), 2500);
	CHECK_EQ(kv_store_sweep(&store, 100), 0);
	CHECK_EQ(kv_store_stats(&store).keys, 2500);
	CHECK_EQ(kv_store_sweep(&store, 300), 1250);
	CHECK_EQ(store.nr_expiring, 0);
	for (uint64_t i = 0; i < 5000; i++)
		CHECK_EQ(has(i), i % 4 == 0);
	end();
}

TEST(writes_remove_what_has_expired_little_by_little)
{
	begin(0);
	for (uint64_t i = 0; i < 1000; i++)
		set_until(i, 100, 1);
	for (int i = 0; i < 2000 && kv_store_stats(&store).keys > 1; i++)
		set_until(5000, 0, 200);
	CHECK_EQ(kv_store_stats(&store).keys, 1);
	CHECK_EQ(kv_store_stats(&store).expired, 1000);
	end();
}

TEST(what_has_expired_goes_before_what_was_used)
{
	static unsigned char value[700];
	struct kv_write write = { .value = value, .value_size = 700 };
	struct number n;
	uint64_t k = 0, version;

	begin(LIMIT);
	while (store.bytes < LIMIT - 128) {
		set_until(k, k % 2 ? 0 : 100, 1);
		CHECK(has(k++));
	}
	CHECK_EQ(kv_store_stats(&store).evicted, 0);
	CHECK_EQ(kv_store_set(&store, number(&n, k), &write, 200, &version), 0);
	CHECK_GE(kv_store_stats(&store).expired, 8);
	CHECK_EQ(kv_store_stats(&store).evicted, 0);
	end();
}

/* ---- no memory ---------------------------------------------------------------------- */

TEST(a_write_without_memory_fails_and_changes_nothing)
{
	static unsigned char value[3000];
	struct sley_kv_entry entry;

	begin(LIMIT);
	memset(value, 7, sizeof(value));
	set(1, value, sizeof(value));
	for (uint64_t i = 100; i < 2000; i++)
		set(i, "filler", 6);
	set(1, value, sizeof(value));
	for (int flags = 0; flags < 2; flags++) {
		struct sley_kv_stats before = kv_store_stats(&store), after;

		fail_at = 1;
		CHECK_EQ(set_if(1, value, 2000, 0), -ENOMEM);
		fail_at = 1;
		CHECK_EQ(set_if(9999, value, 2000, SLEY_KV_IF_ABSENT), -ENOMEM);
		after = kv_store_stats(&store);
		CHECK_EQ(memcmp(&before, &after, sizeof(after)), 0);
		CHECK_EQ(store.bytes, mem.allocated);
	}
	CHECK_EQ(get(1, 0, &entry, value, sizeof(value)), 0);
	CHECK_EQ(entry.value_size, sizeof(value));
	CHECK_EQ(value[0], 7);
	end();
}

TEST(a_table_without_memory_to_grow_goes_on)
{
	uint32_t bits;
	uint64_t i = 0;

	begin(0);
	bits = store.table.bits;
	for (; i < 8; i++)
		set(i, "v", 1);
	fail_at = 1; /* the array; the entry comes later */
	set(i++, "v", 1);
	CHECK_EQ(fail_at, 0);
	CHECK_EQ(store.table.bits, bits);
	for (; i < 100; i++)
		set(i, "v", 1);
	CHECK_GT(store.table.bits, bits);
	for (uint64_t k = 0; k < i; k++)
		CHECK(has(k));
	end();
}

TEST(no_store_without_memory)
{
	struct kv_limits limits = { 1, 1, UINT64_MAX };
	struct sley_allocator hook = { .alloc = test_alloc, .free = test_free };

	mem_init(&mem, &hook);
	fail_at = 1;
	CHECK_EQ(kv_store_init(&store, &mem, &limits), -ENOMEM);
	CHECK_EQ(mem.allocated, 0);
}

/* ---- sizes -------------------------------------------------------------------------- */

TEST(values_of_all_sizes_come_back_and_too_little_room_is_told)
{
	static unsigned char value[5000], back[5000];
	struct sley_kv_entry entry;

	for (size_t i = 0; i < sizeof(value); i++)
		value[i] = (unsigned char)(i * 7);
	begin(0);
	for (size_t size = 0; size < sizeof(value); size += 1 + size / 9) {
		set(size % 3, value, size);
		memset(back, 0, sizeof(back));
		CHECK_EQ(get(size % 3, 0, &entry, back, size), 0);
		CHECK_EQ(entry.value_size, size);
		CHECK_EQ(memcmp(back, value, size), 0);
		if (!size)
			continue;
		back[0] = 99;
		CHECK_EQ(get(size % 3, 0, &entry, back, size - 1), -EMSGSIZE);
		CHECK_EQ(entry.value_size, size);
		CHECK_EQ(back[0], 99);
	}
	end();
}

TEST(a_deleted_key_that_comes_again_has_another_version)
{
	uint64_t version;

	begin(0);
	set(1, "a", 1);
	version = store.version;
	CHECK_EQ(erase(1, &version), 0);
	CHECK_EQ(erase(1, NULL), -ENOENT);
	set(1, "a", 1);
	CHECK_GT(store.version, version);
	CHECK_EQ(erase(1, &version), -ESTALE);
	CHECK(has(1));
	end();
}
