/* SPDX-License-Identifier: MIT */
/*
 * calls.c - <sley/kv.h>: the calls that make requests for a store, and read the answers.
 *
 * An IN part is one piece of memory: the head, the key, the value.  Up to MESSAGE_SMALL
 * bytes it is made on the stack, so a get or a delete needs no memory; a set of a larger
 * value borrows some.  An answer is written to the memory of the caller directly.
 */
#include "base/options.h"
#include "mem/alloc.h"
#include "os/secret.h"
#include "route/pool.h"
#include "route/router.h"

#include <errno.h>
#include <sley/kv.h>
#include <string.h>

#define MESSAGE_SMALL (sizeof(struct sley_kv_request) + SLEY_KV_KEY_MAX + 256)

/* ---- the message -------------------------------------------------------------------- */

struct message {
	unsigned char *bytes; /* `small`, or borrowed                        */
	size_t size;
	struct mem *mem;
	_Alignas(8) unsigned char small[MESSAGE_SMALL];
};

/* 0 or -ENOMEM: then there is nothing to free. */
static int message_make(struct message *message, struct sley_pool *store,
			struct sley_kv_request *head, const void *key,
			const void *value)
{
	size_t size = sizeof(*head) + head->key_size + head->value_size;

	message->size = size;
	message->bytes = message->small;
	message->mem = store->remote ? &sley__program_mem
				     : &store->router->rt->mem;
	if (unlikely(size > sizeof(message->small))) {
		message->bytes = mem_alloc(message->mem, size);
		if (!message->bytes)
			return -ENOMEM;
	}
	memcpy(message->bytes, head, sizeof(*head));
	memcpy(message->bytes + sizeof(*head), key, head->key_size);
	if (head->value_size)
		memcpy(message->bytes + sizeof(*head) + head->key_size, value,
		       head->value_size);
	return 0;
}

static void message_free(struct message *message)
{
	if (unlikely(message->bytes != message->small))
		mem_free(message->mem, message->bytes, message->size);
}

struct sley_query sley_kv_query(const void *key, size_t key_size)
{
	struct sip_key secret = os_secret();

	return sley_query_hash(sip_hash(&secret, key, key_size));
}

/* A request about one key. */
struct call {
	struct sley_kv_request head;
	const void *key;
	const void *value;
	struct sley_request_spec spec;
};

/* A length that no container accepts must not be cut to 32 bits.  0 or -EINVAL. */
static int set_key(struct call *call, const void *key, size_t size)
{
	if (!size || size > SLEY_KV_KEY_MAX)
		return -EINVAL;
	call->key = key;
	call->head.key_size = (uint32_t)size;
	return 0;
}

/* 0 or -E2BIG. */
static int set_value(struct call *call, const void *value, size_t size)
{
	if (size > SLEY_KV_VALUE_MAX)
		return -E2BIG;
	call->value = value;
	call->head.value_size = (uint32_t)size;
	return 0;
}

/* Sends the request, and waits for the answer. */
static int send(struct sley_pool *store, struct call *call, size_t *answer_size)
{
	struct message message;
	int err = message_make(&message, store, &call->head, call->key,
			       call->value);

	if (unlikely(err))
		return err;
	call->spec.size = sizeof(call->spec);
	/* A daemon has another secret than this process. */
	call->spec.query =
		unlikely(store->remote)
			? sley_query_dynamic()
			: sley_kv_query(call->key, call->head.key_size);
	call->spec.in = message.bytes;
	call->spec.in_size = message.size;
	err = sley_pool_call(store, &call->spec, answer_size);
	message_free(&message);
	return err;
}

/* ---- one key ------------------------------------------------------------------------ */

int sley_kv_get(struct sley_pool *store, const void *key, size_t key_size,
		void *value, size_t room, size_t *size)
{
	struct call call = {
		.head.flags = SLEY_KV_BARE,
		.spec = { .method = SLEY_KV_GET,
			  .out = value,
			  .out_size = room },
	};
	int err = set_key(&call, key, key_size);

	return err ? err : send(store, &call, size);
}

int sley_kv_get_entry(struct sley_pool *store, const void *key, size_t key_size,
		      struct sley_kv_entry *entry, size_t room)
{
	struct call call = {
		.spec = { .method = SLEY_KV_GET,
			  .out = entry,
			  .out_size = room },
	};
	int err = set_key(&call, key, key_size);

	return err ? err : send(store, &call, NULL);
}

int sley_kv_set(struct sley_pool *store, const void *key, size_t key_size,
		const void *value, size_t value_size,
		const struct sley_kv_how *given)
{
	struct call call = { .spec.method = SLEY_KV_SET };
	struct sley_kv_how how;
	int err = set_key(&call, key, key_size);

	if (!err)
		err = set_value(&call, value, value_size);
	if (!err)
		err = options_take(&how, given);
	if (err)
		return err;
	if (how.flags & ~(SLEY_KV_IF_ABSENT | SLEY_KV_IF_PRESENT))
		return -EINVAL;
	call.head.flags = how.flags;
	call.head.ttl_ms = how.ttl_ms;
	call.spec.deadline_ns = how.deadline_ns;
	return send(store, &call, NULL);
}

int sley_kv_cas(struct sley_pool *store, const void *key, size_t key_size,
		const void *value, size_t value_size, uint64_t *version)
{
	struct call call = {
		.head = { .flags = *version ? SLEY_KV_IF_VERSION
					    : SLEY_KV_IF_ABSENT,
			  .version = *version },
		.spec = { .method = SLEY_KV_SET,
			  .out = version,
			  .out_size = sizeof(*version) },
	};
	int err = set_key(&call, key, key_size);

	if (!err)
		err = set_value(&call, value, value_size);
	return err ? err : send(store, &call, NULL);
}

int sley_kv_delete(struct sley_pool *store, const void *key, size_t key_size)
{
	struct call call = { .spec.method = SLEY_KV_DELETE };
	int err = set_key(&call, key, key_size);

	return err ? err : send(store, &call, NULL);
}

/* ---- all keys ----------------------------------------------------------------------- */

int sley_kv_scan(struct sley_pool *store, struct sley_kv_cursor *cursor,
		 struct sley_kv_page *page, size_t room)
{
	struct sley_kv_scan_request from = { .position = cursor->position,
					     .max = cursor->max };
	uint32_t nr = sley_pool_nr_containers(store);
	uint32_t end = cursor->end ? cursor->end : nr;
	int err;

	if (end > nr || cursor->container >= end)
		return -ENXIO;
	err = sley_pool_call(
		store,
		SLEY_REQUEST(.method = SLEY_KV_SCAN,
			     .query = sley_query_id(cursor->container),
			     .in = &from, .in_size = sizeof(from), .out = page,
			     .out_size = room),
		NULL);
	if (err)
		return err;
	cursor->position = page->position; /* 0 if the container is done */
	if (page->done)
		cursor->done = ++cursor->container == end;
	return 0;
}

int sley_kv_get_stats(struct sley_pool *store, struct sley_kv_stats *stats)
{
	return sley_pool_call(store,
			      SLEY_REQUEST(.method = SLEY_KV_STATS,
					   .query = sley_query_broadcast(),
					   .out = stats,
					   .out_size = sizeof(*stats)),
			      NULL);
}
