/* SPDX-License-Identifier: MIT */
/*
 * store.c - see store.h: the life of a store, reading and deleting.  store_set.c writes,
 * store_walk.c looks at all entries.
 */
#include "modules/kv/store.h"

#include "modules/kv/bin.h"
#include "os/clock.h"

#include <errno.h>

/* ---- life --------------------------------------------------------------------------- */

int kv_store_init(struct kv_store *store, struct mem *mem,
		  const struct kv_limits *limits)
{
	size_t size = kv_table_array_size(KV_TABLE_BITS_MIN);
	struct kv_entry **chain = mem_alloc(mem, size);

	if (!chain)
		return -ENOMEM;
	*store = (struct kv_store){
		.bytes = size,
		.limits = *limits,
		.mem = mem,
	};
	kv_table_init(&store->table, chain, KV_TABLE_BITS_MIN);
	return 0;
}

void kv_store_fini(struct kv_store *store)
{
	struct kv_table *table = &store->table;
	struct kv_bin bin = { .first = NULL };
	uint64_t position = 0;

	do {
		struct kv_entry **chain =
			kv_table_at(table, position, &position);

		while (*chain)
			kv_store_remove(store, chain, &bin);
		kv_bin_empty(&bin, store->mem);
	} while (position);
	sley_assert(!table->nr && !store->nr_expiring);
	if (table->old)
		mem_free(store->mem, table->old,
			 kv_table_array_size(table->old_bits));
	mem_free(store->mem, table->chain, kv_table_array_size(table->bits));
}

uint64_t kv_store_now(const struct kv_store *store)
{
	/*
	 * relaxed: a caller that has seen a write that expires sees the count, too.
	 * A write beside this call may have come after it.
	 */
	return load_relaxed(&store->nr_expiring) ? os_now() : 0;
}

/* ---- reading ------------------------------------------------------------------------ */

/* Copies the value of an entry that counts the caller as a reader. */
static void copy_unlocked(struct kv_store *store, struct kv_entry *entry,
			  void *value)
{
	bool is_last;

	memcpy(value, kv_entry_value(entry), entry->value_size);
	spin_lock(&store->lock);
	is_last = --entry->nr_readers == 0 && entry->is_gone;
	spin_unlock(&store->lock);
	if (is_last)
		mem_free(store->mem, entry, kv_entry_size(entry));
}

/* With the lock: what the caller learns of the entry. */
static void describe(struct kv_entry *entry, uint64_t now_ns,
		     struct sley_kv_entry *out)
{
	entry->used = true;
	*out = (struct sley_kv_entry){
		.version = entry->version,
		.ttl_ms = kv_entry_ttl_ms(entry, now_ns),
		.value_size = entry->value_size,
	};
}

int kv_store_get(struct kv_store *store, const struct kv_key *key,
		 uint64_t now_ns, struct sley_kv_entry *out, void *value,
		 size_t room)
{
	struct kv_bin bin = { .first = NULL };
	struct kv_entry **place, *entry = NULL;
	bool is_large = false;

	spin_lock(&store->lock);
	place = kv_store_find(store, key, now_ns, &bin);
	if (likely(place)) {
		entry = *place;
		describe(entry, now_ns, out);
		store->counts.hits++;
		is_large = out->value_size > KV_SMALL &&
			   out->value_size <= room;
		if (unlikely(is_large))
			entry->nr_readers++;
		else if (out->value_size && out->value_size <= room)
			memcpy(value, kv_entry_value(entry), out->value_size);
	} else {
		store->counts.misses++;
	}
	spin_unlock(&store->lock);
	if (unlikely(!entry)) {
		kv_bin_empty(&bin, store->mem);
		return -ENOENT;
	}
	if (unlikely(is_large))
		copy_unlocked(store, entry, value);
	return out->value_size <= room ? 0 : -EMSGSIZE;
}

/* ---- deleting ----------------------------------------------------------------------- */

int kv_store_delete(struct kv_store *store, const struct kv_key *key,
		    const uint64_t *version, uint64_t now_ns)
{
	struct kv_bin bin = { .first = NULL };
	struct kv_entry **place;
	int err = 0;

	spin_lock(&store->lock);
	place = kv_store_find(store, key, now_ns, &bin);
	if (!place) {
		err = -ENOENT;
	} else if (version && *version != (*place)->version) {
		err = -ESTALE;
	} else {
		kv_store_remove(store, place, &bin);
		store->counts.deletes++;
	}
	kv_store_move_some(store, &bin);
	spin_unlock(&store->lock);
	kv_bin_empty(&bin, store->mem);
	return err;
}

/* ---- counters ----------------------------------------------------------------------- */

struct sley_kv_stats kv_store_stats(struct kv_store *store)
{
	struct sley_kv_stats stats;

	spin_lock(&store->lock);
	stats = store->counts;
	stats.keys = store->table.nr;
	stats.bytes = store->bytes;
	spin_unlock(&store->lock);
	stats.max_bytes = store->limits.max_bytes;
	return stats;
}
