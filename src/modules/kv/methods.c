/* SPDX-License-Identifier: MIT */
/*
 * methods.c - the module "kv": requests as they come, checked, and done by the store.
 *
 * IN parts may come from strangers: sizes are checked before anything is read, the head
 * is copied (it may lie at any address), and nothing is changed if a check fails.
 */
#include "base/options.h"
#include "core/sched/worker.h"
#include "modules/kv/store.h"
#include "modules/params.h"
#include "os/clock.h"
#include "os/secret.h"

#include <errno.h>
#include <sley/kv.h>
#include <sley/time.h>
#include <stdio.h>

/* ---- life --------------------------------------------------------------------------- */

/* The params as a text, from a configuration file. */
static int take_text(struct sley_kv_params *params,
		     const struct sley_container_info *info)
{
	static const char *const names[] = { "max_bytes", "key_max",
					     "value_max", NULL };
	int err = sley_params_check(info->params, info->params_size, names);

	*params = (struct sley_kv_params){ .size = sizeof(*params) };
	if (!err)
		err = sley_param_number(info->params, info->params_size,
					"max_bytes", &params->max_bytes);
	if (!err || err == -ENOENT)
		err = params_number(info, "key_max", SLEY_KV_KEY_MAX,
				    &params->key_max);
	if (!err)
		err = params_number(info, "value_max", SLEY_KV_VALUE_MAX,
				    &params->value_max);
	return err;
}

/* The params as this library knows them; NULL: the defaults. */
static int take_params(struct sley_kv_params *params,
		       const struct sley_container_info *info)
{
	if (params_are_text(info))
		return take_text(params, info);
	if (info->params && !params_are_struct(info))
		return -EINVAL;
	return options_take(params, info->params);
}

static int set_limits(struct kv_limits *limits,
		      const struct sley_container_info *info)
{
	struct sley_kv_params params;
	int err = take_params(&params, info);

	if (err)
		return err;
	if (params.reserved_flags)
		return -E2BIG;
	limits->key_max = params.key_max ? params.key_max : SLEY_KV_KEY_MAX;
	limits->value_max = params.value_max ? params.value_max
					     : SLEY_KV_VALUE_MAX;
	limits->max_bytes = params.max_bytes ? params.max_bytes / info->nr
					     : UINT64_MAX;
	if (limits->key_max > SLEY_KV_KEY_MAX ||
	    limits->value_max > SLEY_KV_VALUE_MAX ||
	    limits->max_bytes < KV_BYTES_MIN)
		return -EINVAL;
	return 0;
}

static int create(void **self, const struct sley_container_info *info)
{
	struct mem *mem = &info->rt->mem;
	struct kv_limits limits;
	struct kv_store *store;
	int err = set_limits(&limits, info);

	if (err)
		return err;
	store = mem_alloc(mem, sizeof(*store));
	if (!store)
		return -ENOMEM;
	err = kv_store_init(store, mem, &limits);
	if (err)
		mem_free(mem, store, sizeof(*store));
	else
		*self = store;
	return err;
}

static void destroy(void *self)
{
	struct kv_store *store = self;

	kv_store_fini(store);
	mem_free(store->mem, store, sizeof(*store));
}

/* ---- what requests say -------------------------------------------------------------- */

/* The IN part of a request about one key. */
struct ask {
	struct sley_kv_request head;
	const unsigned char *key; /* of head.key_size bytes                  */
	const unsigned char *value;
};

/* Copies the head, and finds the rest.  False: there is no such rest. */
static bool take_ask(const struct sley_request *request, struct ask *ask)
{
	size_t size;
	const unsigned char *in = sley_request_in(request, &size);

	if (!in || size < sizeof(ask->head))
		return false;
	memcpy(&ask->head, in, sizeof(ask->head));
	if (!ask->head.key_size || ask->head.reserved ||
	    (uint64_t)ask->head.key_size + ask->head.value_size !=
		    size - sizeof(ask->head))
		return false;
	ask->key = in + sizeof(ask->head);
	ask->value = ask->key + ask->head.key_size;
	return true;
}

/* The ask, with at most @flags of the flags; *@key gets the key.  0 or -EINVAL. */
static int take_key(const struct kv_store *store,
		    const struct sley_request *request, uint32_t flags,
		    struct ask *ask, struct kv_key *key)
{
	struct sip_key secret = os_secret();

	if (!take_ask(request, ask) ||
	    ask->head.key_size > store->limits.key_max ||
	    ask->head.flags & ~flags ||
	    (ask->head.version && !(ask->head.flags & SLEY_KV_IF_VERSION)))
		return -EINVAL;
	*key = (struct kv_key){
		.bytes = ask->key,
		.size = ask->head.key_size,
		.hash = sip_hash(&secret, ask->key, ask->head.key_size),
	};
	return 0;
}

/* The same for a request that writes nothing. */
static int take_bare_key(const struct kv_store *store,
			 const struct sley_request *request, uint32_t flags,
			 struct ask *ask, struct kv_key *key)
{
	int err = take_key(store, request, flags, ask, key);

	return err || ask->head.value_size || ask->head.ttl_ms ? -EINVAL : 0;
}

static struct sley_query schedule(void *self,
				  const struct sley_request *request)
{
	struct ask ask;

	(void)self;
	if (request->method > SLEY_KV_DELETE)
		return request->method == SLEY_KV_SCAN ? sley_query_local()
						       : sley_query_broadcast();
	/* A request that makes no sense fails in any container. */
	return take_ask(request, &ask)
		       ? sley_kv_query(ask.key, ask.head.key_size)
		       : sley_query_local();
}

/* ---- one key ------------------------------------------------------------------------ */

static int get_bare(struct kv_store *store, struct sley_request *request,
		    const struct kv_key *key)
{
	struct sley_kv_entry entry;
	size_t room;
	void *out = sley_request_out(request, &room);
	int err = kv_store_get(store, key, kv_store_now(store), &entry, out,
			       room);

	return err ? err : sley_request_answer(request, out, entry.value_size);
}

static int get_entry(struct kv_store *store, struct sley_request *request,
		     const struct kv_key *key)
{
	struct sley_kv_entry entry;
	size_t room;
	unsigned char *out = sley_request_out(request, &room);
	int err, failed;

	if (room < sizeof(entry))
		return -EINVAL;
	err = kv_store_get(store, key, kv_store_now(store), &entry,
			   out + sizeof(entry), room - sizeof(entry));
	if (err == -ENOENT)
		return err;
	memcpy(out, &entry, sizeof(entry));
	failed = sley_request_answer(
		request, out, sizeof(entry) + (err ? 0 : entry.value_size));
	return failed ? failed : err;
}

static int get(void *self, struct sley_request *request)
{
	struct kv_store *store = self;
	struct kv_key key;
	struct ask ask;
	int err = take_bare_key(store, request, SLEY_KV_BARE, &ask, &key);

	if (unlikely(err))
		return err;
	return likely(ask.head.flags & SLEY_KV_BARE)
		       ? get_bare(store, request, &key)
		       : get_entry(store, request, &key);
}

/* When a key that is written at @now_ns goes. */
static uint64_t expiry(uint64_t ttl_ms, uint64_t now_ns)
{
	if (!ttl_ms)
		return 0;
	return ttl_ms < (UINT64_MAX - now_ns) / SLEY_MSEC
		       ? now_ns + ttl_ms * SLEY_MSEC
		       : UINT64_MAX;
}

/* At most one condition. */
static bool is_condition(uint32_t flags)
{
	return (flags & (flags - 1)) == 0;
}

static int set(void *self, struct sley_request *request)
{
	struct kv_store *store = self;
	struct kv_key key;
	struct ask ask;
	struct kv_write write;
	uint64_t now_ns, version;
	int err = take_key(store, request,
			   SLEY_KV_IF_ABSENT | SLEY_KV_IF_PRESENT |
				   SLEY_KV_IF_VERSION,
			   &ask, &key);

	if (err || !is_condition(ask.head.flags))
		return -EINVAL;
	if (ask.head.value_size > store->limits.value_max)
		return -E2BIG;
	now_ns = ask.head.ttl_ms ? os_now() : kv_store_now(store);
	write = (struct kv_write){
		.value = ask.value,
		.value_size = ask.head.value_size,
		.flags = ask.head.flags,
		.version = ask.head.version,
		.expires_ns = expiry(ask.head.ttl_ms, now_ns),
	};
	err = kv_store_set(store, &key, &write, now_ns, &version);
	if (err || !request->out_size)
		return err;
	return sley_request_answer(request, &version, sizeof(version));
}

static uint64_t set_io_size(void *self, const struct sley_request *request)
{
	(void)self;
	return request->in_size;
}

static int erase(void *self, struct sley_request *request)
{
	struct kv_store *store = self;
	struct kv_key key;
	struct ask ask;
	int err = take_bare_key(store, request, SLEY_KV_IF_VERSION, &ask, &key);

	if (err)
		return err;
	return kv_store_delete(store, &key,
			       ask.head.flags ? &ask.head.version : NULL,
			       kv_store_now(store));
}

/* ---- all keys ----------------------------------------------------------------------- */

static int scan(void *self, struct sley_request *request)
{
	struct kv_store *store = self;
	struct sley_kv_scan_request from;
	size_t size, room;
	const void *in = sley_request_in(request, &size);
	void *out = sley_request_out(request, &room);
	int err;

	if (!in || size != sizeof(from) || room < sizeof(struct sley_kv_page))
		return -EINVAL;
	memcpy(&from, in, sizeof(from));
	if (from.reserved)
		return -EINVAL;
	err = kv_store_scan(store, &from, kv_store_now(store), out, room,
			    &size);
	return err ? err : sley_request_answer(request, out, size);
}

static int stats(void *self, struct sley_request *request)
{
	struct sley_kv_stats counts = kv_store_stats(self);

	return sley_request_answer(request, &counts, sizeof(counts));
}

static int sweep(void *self, struct sley_request *request)
{
	struct kv_store *store = self;
	uint64_t nr = kv_store_sweep(store, kv_store_now(store));

	return sley_request_answer(request, &nr,
				   request->out_size ? sizeof(nr) : 0);
}

/* Adds the numbers of two containers up; no limit stays no limit. */
static int add(void *into, size_t room, size_t *size, const void *from,
	       size_t from_size)
{
	(void)room;
	if (*size != from_size || from_size % sizeof(uint64_t))
		return -EPROTO;
	for (size_t at = 0; at < from_size; at += sizeof(uint64_t)) {
		uint64_t sum, one;

		memcpy(&sum, (char *)into + at, sizeof(sum));
		memcpy(&one, (const char *)from + at, sizeof(one));
		if (__builtin_add_overflow(sum, one, &sum))
			sum = UINT64_MAX;
		memcpy((char *)into + at, &sum, sizeof(sum));
	}
	return 0;
}

/* ---- the table ---------------------------------------------------------------------- */

static int monitor(void *self, const char *query, char *text, size_t size)
{
	struct sley_kv_stats counts;

	if (strcmp(query, "stats") != 0)
		return -ENOENT;
	counts = kv_store_stats(self);
	return snprintf(text, size,
			"{\"keys\":%llu,\"bytes\":%llu,\"hits\":%llu,"
			"\"misses\":%llu,\"writes\":%llu,\"deletes\":%llu,"
			"\"evicted\":%llu,\"expired\":%llu}",
			(unsigned long long)counts.keys,
			(unsigned long long)counts.bytes,
			(unsigned long long)counts.hits,
			(unsigned long long)counts.misses,
			(unsigned long long)counts.writes,
			(unsigned long long)counts.deletes,
			(unsigned long long)counts.evicted,
			(unsigned long long)counts.expired);
}

static const struct sley_method methods[] = {
	[SLEY_KV_GET] = { .name = "get",
			  .run = get,
			  .flags = SLEY_METHOD_SHORT },
	[SLEY_KV_SET] = { .name = "set",
			  .run = set,
			  .flags = SLEY_METHOD_SHORT,
			  .io_size = set_io_size },
	[SLEY_KV_DELETE] = { .name = "delete",
			     .run = erase,
			     .flags = SLEY_METHOD_SHORT },
	[SLEY_KV_SCAN] = { .name = "scan", .run = scan },
	[SLEY_KV_STATS] = { .name = "stats", .run = stats, .combine = add },
	[SLEY_KV_SWEEP] = { .name = "sweep", .run = sweep, .combine = add },
};

const struct sley_module sley_kv_module = {
	SLEY_MODULE_HEAD("kv"),
	.version = 1,
	.methods = methods,
	.nr_methods = array_size(methods),
	.create = create,
	.destroy = destroy,
	.schedule = schedule,
	.monitor = monitor,
	.flags = SLEY_MODULE_STATELESS,
};
