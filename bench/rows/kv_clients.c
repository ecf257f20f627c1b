/* SPDX-License-Identifier: MIT */
/*
 * kv_clients.c - row `kv`: the module "kv" in a daemon, used by client processes.
 */
#include "daemon.h"

#include "../problems/kv_clients.h"

static int get(void *store, const void *key, void *value, size_t room)
{
	return sley_kv_get(store, key, KV_KEY_SIZE, value, room, NULL);
}

static int set(void *store, const void *key, const void *value)
{
	return sley_kv_set(store, key, KV_KEY_SIZE, value, KV_VALUE_SIZE, NULL);
}

static void fill(const struct measure *m, struct sley_pool *pool)
{
	struct kv_side side = { get, set, pool };

	kv_fill(m, &side);
}

static void open_store(const struct kv_clients *clients, struct kv_side *side)
{
	struct daemon_client client;

	daemon_connect(clients->arg, &client);
	*side = (struct kv_side){ get, set, client.pool };
}

static void run(const struct measure *m, enum daemon_wait wait,
		const char *name)
{
	struct daemon daemon = { .m = m,
				 .module = &sley_kv_module,
				 .containers = KV_SHARDS,
				 .wait = wait,
				 .fill = fill };
	struct kv_clients clients = { .m = m,
				      .open = open_store,
				      .arg = &daemon };
	const char *const names[2] = { name, NULL };

	daemon_start(&daemon);
	kv_clients_run(&clients, names);
	daemon_stop(&daemon);
}

void row_kv(const struct measure *m)
{
	crowd_needs_two_cpus();
	run(m, m->workers == 1 ? DAEMON_SPINS : DAEMON_DEFAULT, "");
	run(m, DAEMON_PARKS, "parked_");
}
