/* SPDX-License-Identifier: MIT */
/*
 * bin.h - entries that were removed from a store with the lock, to be freed without
 * the lock.
 */
#ifndef SLEY_MODULES_KV_BIN_H
#define SLEY_MODULES_KV_BIN_H

#include "modules/kv/store.h"
#include "os/clock.h"

struct kv_bin {
	struct kv_entry *first;
	uint32_t nr; /* entries that were removed, also if a reader frees them */
	struct kv_entry **array; /* or NULL                                  */
	size_t array_size;
};

static inline void kv_bin_add(struct kv_bin *bin, struct kv_entry *entry)
{
	entry->next = bin->first;
	bin->first = entry;
}

/* Without the lock. */
static inline void kv_bin_empty(struct kv_bin *bin, struct mem *mem)
{
	struct kv_entry *entry = bin->first;

	while (entry) {
		struct kv_entry *next = entry->next;

		mem_free(mem, entry, kv_entry_size(entry));
		entry = next;
	}
	mem_free(mem, bin->array, bin->array_size);
	*bin = (struct kv_bin){ .first = NULL };
}

/* ---- for the files of the store, with the lock -------------------------------------- */

/* The entry is in the table no more: it goes into @bin, or to its readers. */
static inline void kv_store_drop(struct kv_store *store, struct kv_entry *entry,
				 struct kv_bin *bin)
{
	store->bytes -= kv_entry_size(entry);
	kv_store_set_expiry(store, entry, 0);
	bin->nr++;
	if (unlikely(entry->nr_readers))
		entry->is_gone = true;
	else
		kv_bin_add(bin, entry);
}

static inline void kv_store_remove(struct kv_store *store,
				   struct kv_entry **place, struct kv_bin *bin)
{
	kv_store_drop(store, kv_table_remove(&store->table, place), bin);
}

/* The place of the entry with @key; NULL: none, or none any more. */
static inline struct kv_entry **kv_store_find(struct kv_store *store,
					      const struct kv_key *key,
					      uint64_t now_ns,
					      struct kv_bin *bin)
{
	struct kv_entry **place = kv_table_find(&store->table, key);

	if (unlikely(place && kv_entry_is_expired(*place, now_ns))) {
		kv_store_remove(store, place, bin);
		store->counts.expired++;
		return NULL;
	}
	return place;
}

/*
 * Removes what has expired in up to @nr_chains chains, from *@position on, which becomes
 * the position behind them; 0: the last chain was seen.
 */
static inline void kv_store_sweep_some(struct kv_store *store,
				       uint64_t *position, uint32_t nr_chains,
				       uint64_t now_ns, struct kv_bin *bin)
{
	do {
		struct kv_entry **place =
			kv_table_at(&store->table, *position, position);

		while (*place) {
			if (kv_entry_is_expired(*place, now_ns)) {
				kv_store_remove(store, place, bin);
				store->counts.expired++;
			} else {
				place = &(*place)->next;
			}
		}
	} while (*position && --nr_chains && bin->nr < KV_BATCH);
}

/* Each change of the table moves some chains of a table that grows. */
static inline void kv_store_move_some(struct kv_store *store,
				      struct kv_bin *bin)
{
	struct kv_entry **old = kv_table_move(&store->table, 4);

	if (likely(!old))
		return;
	bin->array = old;
	bin->array_size = kv_table_array_size(store->table.bits - 1);
	store->bytes -= bin->array_size;
}

/* How long the entry stays, in milliseconds, rounded up; 0: for ever. */
static inline uint64_t kv_entry_ttl_ms(const struct kv_entry *entry,
				       uint64_t now_ns)
{
	if (likely(!entry->expires_ns))
		return 0;
	if (!now_ns) /* written after kv_store_now() */
		now_ns = os_now();
	if (entry->expires_ns <= now_ns)
		return 1;
	return (entry->expires_ns - now_ns - 1) / 1000000 + 1;
}

#endif
