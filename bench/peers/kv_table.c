/* SPDX-License-Identifier: MIT */
/*
 * kv_table.c - the peer of row `kv-local`: the very table of the module "kv", in as many
 * shards with a lock each, called directly by plain threads.  The difference is the way
 * of a request: the message, the container, the policy, the answer.
 */
#include "../problems/kv.h"

#include "modules/kv/store.h"
#include "os/secret.h"

#include <pthread.h>

static struct kv_store stores[KV_SHARDS];
static struct mem mem;

static struct kv_store *find(const void *bytes, struct kv_key *key)
{
	struct sip_key secret = os_secret();

	*key = (struct kv_key){ bytes, KV_KEY_SIZE,
				sip_hash(&secret, bytes, KV_KEY_SIZE) };
	return &stores[key->hash % KV_SHARDS];
}

static int get(void *self, const void *bytes, void *value, size_t room)
{
	struct sley_kv_entry entry;
	struct kv_key key;
	struct kv_store *store = find(bytes, &key);

	(void)self;
	return kv_store_get(store, &key, kv_store_now(store), &entry, value,
			    room);
}

static int set(void *self, const void *bytes, const void *value)
{
	struct kv_write write = { .value = value, .value_size = KV_VALUE_SIZE };
	struct kv_key key;
	struct kv_store *store = find(bytes, &key);
	uint64_t version;

	(void)self;
	return kv_store_set(store, &key, &write, kv_store_now(store), &version);
}

static void *run(void *client)
{
	kv_client_run(client);
	return NULL;
}

static uint64_t crowd(const struct kv_run *all, struct kv_client *clients)
{
	const struct measure *m = all->m;
	pthread_t threads[KV_CLIENTS_MAX];
	uint64_t start = measure_now();

	for (int i = 0; i < m->workers; i++)
		MEASURE_CHECK(m, pthread_create(&threads[i], NULL, run,
						&clients[i]) == 0);
	for (int i = 0; i < m->workers; i++)
		pthread_join(threads[i], NULL);
	return measure_now() - start;
}

static void run_kv_local(const struct measure *m)
{
	const struct kv_limits limits = { 1024, 1 << 20, UINT64_MAX };
	const struct kv_side side = { get, set, NULL };
	struct kv_run all = { .m = m, .side = &side, .crowd = crowd };

	mem_init(&mem, NULL);
	for (int i = 0; i < KV_SHARDS; i++)
		MEASURE_CHECK(m, kv_store_init(&stores[i], &mem, &limits) == 0);
	kv_local(&all);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "kv-local", run_kv_local },
	};

	return measure_main(argc, argv, rows, 1);
}
