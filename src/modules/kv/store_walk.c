/* SPDX-License-Identifier: MIT */
/*
 * store_walk.c - the walks over all entries of a store: scans, and the sweep of entries
 * that have expired.
 *
 * A scan goes in the order of the hashes, also within a chain: its position is the least
 * hash that it has not seen.  So a page may end in the middle of a chain.  Entries with
 * the very same hash come together in one page.
 */
#include "modules/kv/bin.h"
#include "modules/kv/store.h"

#include <errno.h>

/* Items of a page at most, for the sake of the lock. */
#define ITEMS_MAX 128

/* A page, while it is filled. */
struct filler {
	unsigned char *out;
	size_t room;
	uint64_t now_ns;
	uint32_t max; /* items */
	uint32_t nr;
	size_t size; /* with the head of the page */
};

static size_t item_size(const struct kv_entry *entry)
{
	return sizeof(struct sley_kv_item) + round_up(entry->key_size, 8);
}

static void add_item(struct filler *page, const struct kv_entry *entry)
{
	struct sley_kv_item item = {
		.version = entry->version,
		.ttl_ms = kv_entry_ttl_ms(entry, page->now_ns),
		.value_size = entry->value_size,
		.key_size = entry->key_size,
	};
	unsigned char *at = page->out + page->size;

	memcpy(at, &item, sizeof(item));
	memset(at + item_size(entry) - 8, 0, 8); /* the gap */
	memcpy(at + sizeof(item), entry->bytes, entry->key_size);
	page->size += item_size(entry);
	page->nr++;
}

/* The entry with the least hash from @position on; or NULL. */
static const struct kv_entry *least_from(const struct kv_entry *entry,
					 uint64_t position)
{
	const struct kv_entry *least = NULL;

	for (; entry; entry = entry->next) {
		if (entry->hash >= position &&
		    (!least || entry->hash < least->hash))
			least = entry;
	}
	return least;
}

/* Adds all entries of @hash.  False: they do not fit, and none was added. */
static bool add_same(struct filler *page, const struct kv_entry *chain,
		     uint64_t hash)
{
	struct filler before = *page;

	for (; chain; chain = chain->next) {
		if (chain->hash != hash ||
		    kv_entry_is_expired(chain, page->now_ns))
			continue;
		if (item_size(chain) > page->room - page->size) {
			*page = before;
			return false;
		}
		add_item(page, chain);
	}
	return true;
}

/*
 * Adds the entries of one chain from *@position on, which becomes the position behind
 * them.  False: the page is full.
 */
static bool add_chain(struct kv_store *store, struct filler *page,
		      uint64_t *position)
{
	const struct kv_entry *chain, *least;
	uint64_t next;

	chain = *kv_table_at(&store->table, *position, &next);
	while ((least = least_from(chain, *position))) {
		if (page->nr >= page->max ||
		    !add_same(page, chain, least->hash)) {
			*position = least->hash;
			return false;
		}
		*position = least->hash + 1;
		if (*position == next)
			break;
	}
	*position = next;
	return true;
}

int kv_store_scan(struct kv_store *store,
		  const struct sley_kv_scan_request *from, uint64_t now_ns,
		  void *out, size_t room, size_t *size)
{
	struct sley_kv_page head = { .position = from->position };
	struct filler page = {
		.out = out,
		.room = room,
		.now_ns = now_ns,
		.max = from->max && from->max < ITEMS_MAX ? from->max
							  : ITEMS_MAX,
		.size = sizeof(head),
	};
	bool has_room = true;

	spin_lock(&store->lock);
	for (int i = 0; i < KV_LOOKS && has_room && !head.done; i++) {
		has_room = add_chain(store, &page, &head.position);
		head.done = has_room && !head.position;
	}
	spin_unlock(&store->lock);
	if (!has_room && !page.nr)
		return -EMSGSIZE;
	head.nr = page.nr;
	head.size = (uint32_t)(page.size - sizeof(head));
	memcpy(out, &head, sizeof(head));
	*size = page.size;
	return 0;
}

uint64_t kv_store_sweep(struct kv_store *store, uint64_t now_ns)
{
	struct kv_bin bin = { .first = NULL };
	uint64_t position = 0, nr = 0;

	do {
		spin_lock(&store->lock);
		kv_store_sweep_some(store, &position, KV_LOOKS, now_ns, &bin);
		spin_unlock(&store->lock);
		nr += bin.nr;
		kv_bin_empty(&bin, store->mem);
	} while (position);
	return nr;
}
