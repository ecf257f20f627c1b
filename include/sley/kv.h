/* SPDX-License-Identifier: MIT */
/*
 * sley/kv.h - the module "kv": a store of keys and values in memory.
 *
 * A pool (<sley/pool.h>) of this module is a store.  Its containers divide the keys by
 * a hash.  The calls below send the requests; tasks and plain threads may use a
 * store at the same time.
 *
 *     err = sley_router_add(router, &sley_kv_module);
 *     err = sley_pool_open(router, &store, "sessions",
 *                          SLEY_POOL_OPTIONS(.module = "kv", .containers = 16,
 *                                            .params = SLEY_KV_PARAMS(
 *                                                    .max_bytes = 1 << 30),
 *                                            .params_size = sizeof(
 *                                                    struct sley_kv_params)));
 *     err = sley_kv_set(store, "user", 4, "ada", 3,
 *                       SLEY_KV_HOW(.ttl_ms = 60000));
 *     err = sley_kv_get(store, "user", 4, value, sizeof(value), &size);
 *
 * Requests of your own with SLEY_KV_GET, SLEY_KV_SET and SLEY_KV_DELETE want the query
 * sley_query_dynamic() (or sley_kv_query(), in the process of the pool): a container keeps
 * the keys that it is given, and a key in another container than its own is not found.
 *
 * Keys are 1 to SLEY_KV_KEY_MAX bytes of any kind, values 0 to SLEY_KV_VALUE_MAX.
 *
 * Versions.  Each write gives its key a new version, a number above 0 that no write of
 * this container has had before, also if the key was deleted meanwhile.
 * sley_kv_cas() writes only if the version is still the version that was read.
 *
 * Expiry.  A key with a .ttl_ms is not found any more after that time.  Its memory is
 * freed at the next access to the key, by later writes, which look after a few other
 * keys each, or by the method SLEY_KV_SWEEP.
 *
 * Memory.  Each container counts the memory of its entries and of its table.  Above its
 * share of .max_bytes a write evicts keys that were not used for some time, and counts
 * them (sley_kv_get_stats()).  Values that are being written or copied at this moment
 * are not counted.
 *
 * Policies.  The policy "default" (<sley/policy.h>) sends all small requests to one
 * worker.  A store is faster under "local": then a request runs on the stack of its
 * caller.
 */
#ifndef SLEY_KV_H
#define SLEY_KV_H

#include <sley/compiler.h>
#include <sley/module.h>
#include <sley/pool.h>
#include <sley/query.h>

SLEY_BEGIN_DECLS

/* For sley_router_add(). */
SLEY_EXPORT extern const struct sley_module sley_kv_module;

#define SLEY_KV_KEY_MAX 1024
#define SLEY_KV_VALUE_MAX (1u << 20)

/*
 * For .params of a pool.  Zero means the default in every field.  A text of lines, such
 * as "max_bytes=67108864" (<sley/param.h>), is taken as well: so a configuration file may
 * make a store.
 */
struct sley_kv_params {
	uint32_t size;      /* of this struct; SLEY_KV_PARAMS sets it         */
	uint32_t key_max;   /* default, and largest: SLEY_KV_KEY_MAX         */
	uint32_t value_max; /* default, and largest: SLEY_KV_VALUE_MAX       */
	uint32_t reserved_flags;
	/*
	 * Of the whole pool, divided evenly among the containers, of which each
	 * needs 4096; default: no limit.
	 */
	uint64_t max_bytes;
	uint64_t reserved[4];
};

#define SLEY_KV_PARAMS(...) SLEY_LITERAL(struct sley_kv_params, __VA_ARGS__)

/* ---- the calls ---------------------------------------------------------------------- */

/*
 * sley_kv_get - the value of a key.
 *
 * *@size gets the length of the value; it may be NULL.
 *
 * Context:  any thread
 * Blocks:   the fiber, as sley_pool_call(); a plain thread sleeps
 * Owner:    @key and @value are borrowed for the call.
 * Errors:   -ENOENT    there is no such key
 *           -EMSGSIZE  the value is longer than @room; nothing was copied, and
 *                      sley_kv_get_entry() tells the length
 *           -EINVAL    @key_size is 0, or above .key_max
 *           as sley_pool_call()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_kv_get(struct sley_pool *store, const void *key, size_t key_size,
	    void *value, size_t room, size_t *size);

/* What sley_kv_get_entry() reads.  The value follows. */
struct sley_kv_entry {
	uint64_t version;
	uint64_t ttl_ms; /* that is left, rounded up; 0: the key stays       */
	uint32_t value_size;
	uint32_t reserved;
};

/*
 * sley_kv_get_entry - the value of a key with its version, and how long it stays.
 *
 * @entry has @room bytes in all, at least sizeof(*entry); the value is written behind
 * the struct.
 *
 * Context:  any thread
 * Blocks:   the fiber, as sley_pool_call(); a plain thread sleeps
 * Owner:    @key and @entry are borrowed for the call.
 * Errors:   -ENOENT    there is no such key
 *           -EMSGSIZE  @room is too small for the value; the struct was written
 *           -EINVAL    @key_size is 0, or above .key_max; or @room is too small for
 *                      the struct
 *           as sley_pool_call()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_kv_get_entry(struct sley_pool *store, const void *key, size_t key_size,
		  struct sley_kv_entry *entry, size_t room);

/* For .flags: write only if the key is not there, or only if it is. */
#define SLEY_KV_IF_ABSENT 1u
#define SLEY_KV_IF_PRESENT 2u

/* How to write.  Zero means the default in every field. */
struct sley_kv_how {
	uint32_t size;   /* of this struct; SLEY_KV_HOW sets it               */
	uint32_t flags;  /* SLEY_KV_IF_...                                    */
	uint64_t ttl_ms; /* the key goes after so long; 0: it stays           */
	uint64_t deadline_ns; /* of the request; 0: none                      */
	uint64_t reserved[2];
};

#define SLEY_KV_HOW(...) SLEY_LITERAL(struct sley_kv_how, __VA_ARGS__)

/*
 * sley_kv_set - write a value.
 *
 * An older value of the key is replaced, and so is its time to live.  @how may be NULL.
 *
 * Context:  any thread
 * Blocks:   the fiber, as sley_pool_call(); a plain thread sleeps
 * Owner:    @key, @value and @how are borrowed for the call.
 * Order:    everything before the call happens before the return of a call that reads
 *           the value.
 * Errors:   -EEXIST  SLEY_KV_IF_ABSENT, and the key is there
 *           -ENOENT  SLEY_KV_IF_PRESENT, and it is not
 *           -E2BIG   the value is longer than .value_max, or does not fit into the
 *                    memory of its container; or a newer field of @how is set
 *           -EINVAL  @key_size is 0, or above .key_max; how->size is zero; or a flag
 *                    is unknown, or contradicts another
 *           -ENOMEM
 *           as sley_pool_call()
 *           On failure the store is as it was, but for keys that were evicted.
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_kv_set(struct sley_pool *store, const void *key, size_t key_size,
	    const void *value, size_t value_size,
	    const struct sley_kv_how *how);

/*
 * sley_kv_cas - write a value if the key still has the version *@version.
 *
 * Version 0 means that the key is not there.  On success *@version is the new version,
 * and the key has no time to live; a request with SLEY_KV_IF_VERSION may have one.
 *
 * Context:  any thread
 * Blocks:   the fiber, as sley_pool_call(); a plain thread sleeps
 * Owner:    @key and @value are borrowed for the call; *@version is written on success
 *           only.
 * Order:    as sley_kv_set()
 * Errors:   -ESTALE  the key has another version
 *           -EEXIST  *@version is 0, and the key is there
 *           -ENOENT  the key is not there
 *           as sley_kv_set()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_kv_cas(struct sley_pool *store, const void *key, size_t key_size,
	    const void *value, size_t value_size, uint64_t *version);

/*
 * sley_kv_delete - remove a key.
 *
 * Context:  any thread
 * Blocks:   the fiber, as sley_pool_call(); a plain thread sleeps
 * Owner:    @key is borrowed for the call.
 * Errors:   -ENOENT  there is no such key
 *           -EINVAL  @key_size is 0, or above .key_max
 *           as sley_pool_call()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_kv_delete(struct sley_pool *store, const void *key, size_t key_size);

/* ---- all keys ------------------------------------------------------------------------ */

/*
 * Where a scan is.  All zero is the beginning of a scan of the whole store; for a part
 * of the containers set .container and .end before the first call.
 */
struct sley_kv_cursor {
	uint64_t position;  /* private to the container                      */
	uint32_t container; /* that is scanned now                           */
	uint32_t end;       /* the container behind the last; 0: all         */
	uint32_t done;      /* 1: the page was the last page                 */
	uint32_t max;       /* keys of a page; 0: as many as fit             */
};

/* A page of a scan: items follow. */
struct sley_kv_page {
	uint64_t position; /* for the next page                              */
	uint32_t nr;       /* of items                                       */
	uint32_t size;     /* of the items in bytes                          */
	uint32_t done;     /* 1: there are no more in this container         */
	uint32_t reserved;
};

/* The key follows, then up to 7 bytes of nothing: an item is a multiple of 8. */
struct sley_kv_item {
	uint64_t version;
	uint64_t ttl_ms; /* that is left, rounded up; 0: the key stays       */
	uint32_t value_size;
	uint32_t key_size;
};

/* A page of this size has room for any key. */
#define SLEY_KV_PAGE_MIN                                                       \
	(sizeof(struct sley_kv_page) + sizeof(struct sley_kv_item) +           \
	 SLEY_KV_KEY_MAX)

/*
 * sley_kv_scan - the next keys of a store.
 *
 * Writes a page to @page, which has @room bytes and is aligned as a uint64_t.  A page
 * may be empty; the scan is over when cursor->done is 1:
 *
 *     do {
 *             err = sley_kv_scan(store, &cursor, page, sizeof(buffer));
 *             for (item = err ? NULL : sley_kv_page_first(page); item;
 *                  item = sley_kv_page_next(page, item))
 *                     use(sley_kv_item_key(item), item->key_size);
 *     } while (!err && !cursor.done);
 *
 * The keys come in no order.  A key that is in the store during the whole scan comes
 * exactly once; a key that is written or deleted meanwhile may come or not.
 *
 * Context:  any thread
 * Blocks:   the fiber, as sley_pool_call(); a plain thread sleeps
 * Owner:    @cursor and @page are borrowed for the call.
 * Errors:   -EMSGSIZE  the page has no room for the next key: SLEY_KV_PAGE_MIN is enough
 *           -ENXIO     .container or .end is no container of the store
 *           as sley_pool_call(); on failure the cursor is as before.
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_kv_scan(struct sley_pool *store, struct sley_kv_cursor *cursor,
	     struct sley_kv_page *page, size_t room);

/*
 * sley_kv_item_key - the bytes of the key of an item.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the bytes are a part of the page.
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline const void *
sley_kv_item_key(const struct sley_kv_item *item)
{
	return item + 1;
}

/*
 * sley_kv_page_first - the first item of a page, or NULL.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the item is a part of the page.
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline const struct sley_kv_item *
sley_kv_page_first(const struct sley_kv_page *page)
{
	return page->nr ? (const struct sley_kv_item *)(page + 1) : NULL;
}

/*
 * sley_kv_page_next - the item behind @item, or NULL.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    as sley_kv_page_first()
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline const struct sley_kv_item *
sley_kv_page_next(const struct sley_kv_page *page,
		  const struct sley_kv_item *item)
{
	const char *end = (const char *)(page + 1) + page->size;
	const char *next =
		(const char *)(item + 1) + ((item->key_size + 7u) & ~(size_t)7);

	return next < end ? (const struct sley_kv_item *)(const void *)next
			  : NULL;
}

/* ---- counters ------------------------------------------------------------------------ */

struct sley_kv_stats {
	uint64_t keys;      /* now, with expired ones that were not met yet  */
	uint64_t bytes;     /* of entries and tables, now                    */
	uint64_t max_bytes; /* UINT64_MAX: no limit                          */
	uint64_t hits;      /* keys that a get found                         */
	uint64_t misses;    /* keys that a get did not find                  */
	uint64_t writes;    /* that succeeded                                */
	uint64_t deletes;   /* that succeeded                                */
	uint64_t evicted;   /* keys, for want of memory                      */
	uint64_t expired;   /* keys                                          */
	uint64_t reserved[7];
};

/*
 * sley_kv_get_stats - the counters of a store, of all containers together.
 *
 * Context:  any thread
 * Blocks:   the fiber, as sley_pool_call(); a plain thread sleeps
 * Owner:    @stats is borrowed for the call.
 * Errors:   as sley_pool_call()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_kv_get_stats(struct sley_pool *store, struct sley_kv_stats *stats);

/* ---- the requests themselves --------------------------------------------------------- */

/*
 * For submitters that need a deadline, a priority, or several requests at a time: the
 * methods, and their IN and OUT parts.  All numbers are in the order of the machine.
 *
 *   method           IN                                     OUT
 *   SLEY_KV_GET      sley_kv_request, key                   sley_kv_entry, value;
 *                                                           with SLEY_KV_BARE: value
 *   SLEY_KV_SET      sley_kv_request, key, value            the version, 8 bytes; may be
 *                                                           left out
 *   SLEY_KV_DELETE   sley_kv_request, key                   nothing
 *   SLEY_KV_SCAN     sley_kv_scan_request                   sley_kv_page, items
 *   SLEY_KV_STATS    nothing                                sley_kv_stats
 *   SLEY_KV_SWEEP    nothing                                how many keys had expired,
 *                                                           8 bytes; may be left out
 *
 * The query of the first three is sley_kv_query(), or a dynamic query; scans go to one
 * container, the others to all.
 */
enum sley_kv_method {
	SLEY_KV_GET,
	SLEY_KV_SET,
	SLEY_KV_DELETE,
	SLEY_KV_SCAN,
	SLEY_KV_STATS,
	SLEY_KV_SWEEP,
};

/* For .flags of a request, beside SLEY_KV_IF_...: .version counts. */
#define SLEY_KV_IF_VERSION 4u
/* The answer is the value alone. */
#define SLEY_KV_BARE 8u

/* The key follows, and then the value, without a gap. */
struct sley_kv_request {
	uint32_t flags; /* SLEY_KV_IF_... or SLEY_KV_BARE                    */
	uint32_t key_size;
	uint32_t value_size; /* of a set; else 0                             */
	uint32_t reserved;   /* 0                                            */
	uint64_t version;    /* with SLEY_KV_IF_VERSION; else 0              */
	uint64_t ttl_ms;     /* of a set; else 0                             */
};

struct sley_kv_scan_request {
	uint64_t position; /* 0: from the beginning                          */
	uint32_t max;      /* items; 0: as many as fit                       */
	uint32_t reserved; /* 0                                              */
};

/*
 * sley_kv_query - the container of a key.
 *
 * Only this process knows the hash: another process uses sley_query_dynamic().
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @key is borrowed for the call.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS struct sley_query
sley_kv_query(const void *key, size_t key_size);

SLEY_END_DECLS
#endif
