/* SPDX-License-Identifier: MIT */
/*
 * store.h - the state of a container: a table under a lock, with limits and counters.
 *
 * The lock is a spin lock, and is held for a bounded number of steps, whatever the sizes
 * of values and of the table are:
 *
 *   - Memory is allocated and freed without the lock.  What a holder removes goes into a
 *     *bin*, which is emptied after the unlock.
 *   - Values above KV_SMALL are copied without the lock.  A reader counts itself in the
 *     entry first; an entry that is removed meanwhile is freed by its last reader.  A new
 *     value is written to a new entry, and the lock is needed to put it in.
 *   - A write that needs room evicts some entries, gives the lock back, and tries
 *     again.  So each write begins anew after each round: whether its key is there,
 *     and has the version that it wants, is decided in the round in which the value is
 *     written.
 *
 * Which entries go: the *hand* walks over the table.  It spares an entry that was used
 * since it passed, and takes the others; but it spares at most KV_SPARED entries for
 * each that it takes, or a write would wait for a whole round of the hand.
 *
 * `bytes` is the memory of all entries and arrays that are in the table.  It never
 * exceeds the limit at an unlock.  Entries that are in a bin, being read or being filled
 * are not counted.
 *
 * Rejected: a list in the order of use (each read would write to three entries); a lock
 * for readers and writers (each read writes `used` and a counter, and the sections are
 * short); more locks in a container (the door of the container is one cache line for all
 * its requests anyway; more containers divide both); counting what is not in the table
 * (a write that fails for want of memory would have evicted others for nothing).
 */
#ifndef SLEY_MODULES_KV_STORE_H
#define SLEY_MODULES_KV_STORE_H

#include "lf/spin.h"
#include "mem/alloc.h"
#include "modules/kv/table.h"

#include <sley/kv.h>

/* Entries up to so many bytes are copied and written over with the lock. */
#define KV_SMALL 1024

/* Entries that the hand spares for each entry that it takes. */
#define KV_SPARED 16

/* What one hold of the lock may do: entries removed, chains looked at. */
#define KV_BATCH 32
#define KV_LOOKS 256

/* The least limit of a container. */
#define KV_BYTES_MIN 4096

struct kv_limits {
	uint32_t key_max;
	uint32_t value_max;
	uint64_t max_bytes; /* UINT64_MAX: none                              */
};

struct kv_store {
	cache_aligned struct spinlock lock;
	bool is_growing;      /* a writer brings a longer array               */
	uint64_t nr_expiring; /* entries that expire; read without the lock  */
	struct kv_table table;
	uint64_t bytes;
	uint64_t version; /* of the last write                               */
	uint64_t hand;    /* positions                                       */
	uint64_t sweeper;
	uint64_t grow_at; /* not before so many entries                      */
	struct sley_kv_stats counts; /* without .keys, .bytes, .max_bytes     */
	/* Constant. */
	cache_aligned struct kv_limits limits;
	struct mem *mem;
};

/* What a set writes, and when. */
struct kv_write {
	const void *value;
	uint32_t value_size;
	uint32_t flags;      /* SLEY_KV_IF_...                               */
	uint64_t version;    /* with SLEY_KV_IF_VERSION                      */
	uint64_t expires_ns; /* 0: never                                     */
};

/* 0 or -ENOMEM: nothing to end. */
must_check int kv_store_init(struct kv_store *store, struct mem *mem,
			     const struct kv_limits *limits);
void kv_store_fini(struct kv_store *store);

/* The time for the calls below: 0 while nothing in the store expires. */
uint64_t kv_store_now(const struct kv_store *store);

/*
 * The value of @key, up to @room bytes, to @value.  -ENOENT, or -EMSGSIZE: the value is
 * longer, and *@entry was written.
 */
must_check int kv_store_get(struct kv_store *store, const struct kv_key *key,
			    uint64_t now_ns, struct sley_kv_entry *entry,
			    void *value, size_t room);

/* The errors of sley_kv_set() and sley_kv_cas(); *@version is the new version. */
must_check int kv_store_set(struct kv_store *store, const struct kv_key *key,
			    const struct kv_write *write, uint64_t now_ns,
			    uint64_t *version);

/* -ENOENT; or -ESTALE: *@version is given, and not the version of the key. */
must_check int kv_store_delete(struct kv_store *store, const struct kv_key *key,
			       const uint64_t *version, uint64_t now_ns);

/*
 * Writes a page to @out, which has @room bytes, at least sizeof(struct sley_kv_page).
 * 0 or -EMSGSIZE: the next item does not fit.
 */
must_check int kv_store_scan(struct kv_store *store,
			     const struct sley_kv_scan_request *from,
			     uint64_t now_ns, void *out, size_t room,
			     size_t *size);

/* Removes all entries that have expired; returns how many. */
uint64_t kv_store_sweep(struct kv_store *store, uint64_t now_ns);

struct sley_kv_stats kv_store_stats(struct kv_store *store);

/* For the files of the store, with the lock: when the entry goes. */
static inline void kv_store_set_expiry(struct kv_store *store,
				       struct kv_entry *entry,
				       uint64_t expires_ns)
{
	uint64_t nr = store->nr_expiring + !!expires_ns - !!entry->expires_ns;

	entry->expires_ns = expires_ns;
	/* relaxed: written with the lock; see kv_store_now(). */
	store_relaxed(&store->nr_expiring, nr);
}

#endif
