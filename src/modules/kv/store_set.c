/* SPDX-License-Identifier: MIT */
/*
 * store_set.c - a store is written to: see store.h.
 *
 * A write goes in rounds, each with the lock:
 *
 *      the table is crowded: it grows, AGAIN
 *      look for the key ──► not as the write wants it: an error
 *        │
 *        ├──► a small entry of the same size is there: written over, done
 *        ├──► the write has no entry yet: NEEDS_ENTRY, allocated without the lock
 *        ├──► too many bytes: some entries are evicted, AGAIN
 *        └──► the new entry goes in, the old entry into the bin: done
 */
#include "modules/kv/bin.h"
#include "modules/kv/store.h"

#include <errno.h>

enum round {
	DONE,
	NEEDS_ENTRY,
	AGAIN,
};

/* Chains that a write looks through for entries that have expired. */
#define SWEPT 2

/* ---- room --------------------------------------------------------------------------- */

static bool fits(const struct kv_store *store, uint64_t more)
{
	return more <= store->limits.max_bytes &&
	       store->bytes <= store->limits.max_bytes - more;
}

/* The hand, while a write needs room. */
struct hunt {
	const struct kv_entry *keep; /* the entry of the key itself, or NULL */
	uint64_t now_ns;
	uint32_t nr_spared; /* since the last entry that went                */
	struct kv_bin *bin;
};

/* Does the entry at @place go?  Then it is gone. */
static bool evict(struct kv_store *store, struct kv_entry **place,
		  struct hunt *hunt)
{
	struct kv_entry *entry = *place;

	if (entry == hunt->keep)
		return false;
	if (kv_entry_is_expired(entry, hunt->now_ns)) {
		store->counts.expired++;
	} else if (entry->used && hunt->nr_spared < KV_SPARED) {
		entry->used = false;
		hunt->nr_spared++;
		return false;
	} else {
		store->counts.evicted++;
	}
	hunt->nr_spared = 0;
	kv_store_remove(store, place, hunt->bin);
	return true;
}

static void evict_chain(struct kv_store *store, uint64_t more,
			struct hunt *hunt)
{
	struct kv_entry **place =
		kv_table_at(&store->table, store->hand, &store->hand);

	while (*place && !fits(store, more)) {
		if (!evict(store, place, hunt))
			place = &(*place)->next;
	}
}

/* Is there room for @more bytes?  If not, some entries went, or soon will. */
static bool has_room(struct kv_store *store, uint64_t more, struct hunt *hunt)
{
	if (likely(fits(store, more)))
		return true;
	for (int i = 0; i < KV_LOOKS && hunt->bin->nr < KV_BATCH; i++) {
		evict_chain(store, more, hunt);
		if (fits(store, more))
			break;
	}
	return false;
}

/* Is there room for an entry of @size bytes, if all others go? */
static bool can_ever_fit(const struct kv_store *store, size_t size)
{
	const struct kv_table *table = &store->table;
	size_t arrays = kv_table_array_size(table->bits);

	if (table->old)
		arrays += kv_table_array_size(table->old_bits);
	return size <= store->limits.max_bytes &&
	       arrays <= store->limits.max_bytes - size;
}

/* ---- the round ---------------------------------------------------------------------- */

/* May @write go to the key, whose entry is @old or NULL? */
static int check(const struct kv_write *write, const struct kv_entry *old)
{
	if (likely(!write->flags))
		return 0;
	if (!old)
		return write->flags & SLEY_KV_IF_ABSENT ? 0 : -ENOENT;
	if (write->flags & SLEY_KV_IF_ABSENT)
		return -EEXIST;
	if (write->flags & SLEY_KV_IF_VERSION && write->version != old->version)
		return -ESTALE;
	return 0;
}

static void stamp(struct kv_store *store, struct kv_entry *entry,
		  uint64_t expires_ns)
{
	entry->version = ++store->version;
	kv_store_set_expiry(store, entry, expires_ns);
	store->counts.writes++;
}

static bool can_be_written_over(const struct kv_entry *entry, size_t size)
{
	return size <= KV_SMALL && kv_entry_size(entry) == size &&
	       !entry->nr_readers;
}

static void write_over(struct kv_store *store, struct kv_entry *entry,
		       const struct kv_write *write)
{
	entry->value_size = write->value_size;
	if (write->value_size)
		memcpy(kv_entry_value(entry), write->value, write->value_size);
	entry->used = true;
	stamp(store, entry, write->expires_ns);
}

/* The entry @made takes the place of the old entry, or is added. */
static void put_in(struct kv_store *store, struct kv_entry **place,
		   struct kv_entry *made, const struct kv_write *write,
		   struct kv_bin *bin)
{
	made->used = place; /* a new key is not used yet */
	if (place)
		kv_store_remove(store, place, bin);
	kv_table_add(&store->table, made);
	store->bytes += kv_entry_size(made);
	stamp(store, made, write->expires_ns);
}

/*
 * One round, with the lock.  DONE: *@made is NULL if it was used.  An error, or what
 * the next round needs.
 */
static int set_round(struct kv_store *store, const struct kv_key *key,
		     const struct kv_write *write, uint64_t now_ns,
		     struct kv_entry **made, struct kv_bin *bin)
{
	size_t size = kv_entry_size_for(key->size, write->value_size);
	struct kv_entry **place = kv_store_find(store, key, now_ns, bin);
	struct kv_entry *old = place ? *place : NULL;
	size_t old_size = old ? kv_entry_size(old) : 0;
	struct hunt hunt = { .keep = old, .now_ns = now_ns, .bin = bin };
	int err = check(write, old);

	if (err)
		return err;
	if (old && can_be_written_over(old, size)) {
		write_over(store, old, write);
		return DONE;
	}
	if (!can_ever_fit(store, size))
		return -E2BIG;
	if (!*made)
		return NEEDS_ENTRY;
	if (!has_room(store, size > old_size ? size - old_size : 0, &hunt))
		return AGAIN;
	put_in(store, place, *made, write, bin);
	*made = NULL;
	return DONE;
}

/* Without the lock. */
static struct kv_entry *make_entry(struct kv_store *store,
				   const struct kv_key *key,
				   const struct kv_write *write)
{
	struct kv_entry *entry = mem_alloc(
		store->mem, kv_entry_size_for(key->size, write->value_size));

	if (!entry)
		return NULL;
	entry->hash = key->hash;
	entry->key_size = (uint16_t)key->size;
	entry->value_size = write->value_size;
	memcpy(entry->bytes, key->bytes, key->size);
	if (write->value_size)
		memcpy(kv_entry_value(entry), write->value, write->value_size);
	return entry;
}

/* ---- growing ------------------------------------------------------------------------ */

/* Shall the caller make the array longer?  With the lock; then no other caller does. */
static bool begin_growth(struct kv_store *store)
{
	if (likely(!kv_table_is_crowded(&store->table)) || store->is_growing ||
	    store->table.nr < store->grow_at)
		return false;
	store->is_growing = true;
	return true;
}

/*
 * One round of the growth: @chain becomes the array, if there is room for it.  Returns
 * whether the growth is over, one way or the other; *@chain is NULL if it was used.
 */
static bool grow_round(struct kv_store *store, struct kv_entry ***chain,
		       size_t size, struct kv_bin *bin)
{
	struct hunt hunt = { .now_ns = 0, .bin = bin };
	bool is_over = true;

	/* Each entry takes more than its part of the array: there can be room. */
	if (!*chain) {
		/* Longer chains will do; ask again when there are more entries. */
		store->grow_at = store->table.nr + store->table.nr / 8 + 1;
	} else if (has_room(store, size, &hunt)) {
		kv_table_grow(&store->table, *chain);
		store->bytes += size;
		*chain = NULL;
	} else {
		is_over = false;
	}
	if (is_over)
		store->is_growing = false;
	return is_over;
}

/* The caller has begun the growth: only it changes the number of bits. */
static void grow(struct kv_store *store)
{
	size_t size = kv_table_array_size(store->table.bits + 1);
	struct kv_entry **chain = mem_alloc(store->mem, size);
	struct kv_bin bin = { .first = NULL };
	bool is_over;

	do {
		spin_lock(&store->lock);
		is_over = grow_round(store, &chain, size, &bin);
		spin_unlock(&store->lock);
		kv_bin_empty(&bin, store->mem);
	} while (!is_over);
	mem_free(store->mem, chain, size);
}

/* ---- the whole ---------------------------------------------------------------------- */

int kv_store_set(struct kv_store *store, const struct kv_key *key,
		 const struct kv_write *write, uint64_t now_ns,
		 uint64_t *version)
{
	struct kv_bin bin = { .first = NULL };
	struct kv_entry *made = NULL;
	bool grows;
	int result;

	do {
		spin_lock(&store->lock);
		grows = begin_growth(store);
		result = unlikely(grows) ? AGAIN
					 : set_round(store, key, write, now_ns,
						     &made, &bin);
		*version = store->version;
		kv_store_move_some(store, &bin);
		if (unlikely(store->nr_expiring))
			kv_store_sweep_some(store, &store->sweeper, SWEPT,
					    now_ns, &bin);
		spin_unlock(&store->lock);
		kv_bin_empty(&bin, store->mem);
		if (unlikely(grows))
			grow(store);
		if (result == NEEDS_ENTRY) {
			made = make_entry(store, key, write);
			result = made ? AGAIN : -ENOMEM;
		}
	} while (result == AGAIN);
	mem_free(store->mem, made,
		 kv_entry_size_for(key->size, write->value_size));
	return result;
}
