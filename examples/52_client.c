/* SPDX-License-Identifier: MIT */
/*
 * 52_client.c - a store in a daemon, used by a client; both in one program here.
 *
 *   cc 52_client.c $(pkg-config --cflags --libs sley)
 */
#define _XOPEN_SOURCE 700
#include <sley/sley.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/sley-52-XXXXXX", path[64];

/* In another process this is all: it starts no thread. */
static int use_store(void)
{
	struct sley_client *client;
	struct sley_pool *store;
	char value[16] = "";
	size_t size = 0;
	int err =
		sley_client_open(&client, SLEY_CLIENT_OPTIONS(.socket = path));

	if (err)
		return err;
	err = sley_client_pool_open(client, &store, "store",
				    SLEY_POOL_OPTIONS(.module = "kv"));
	if (!err) {
		err = sley_kv_set(store, "user", 4, "ada", 3, NULL);
		if (!err)
			err = sley_kv_get(store, "user", 4, value,
					  sizeof(value) - 1, &size);
		sley_pool_close(store);
	}
	printf("user is %.*s\n", (int)size, value);
	return sley_client_close(client) ? -1 : err ? err : size != 3;
}

int main(void)
{
	struct sley_router *router;
	struct sley_server *server;
	struct sley *rt;
	int failed;

	if (!mkdtemp(folder) || sley_create(&rt, NULL) ||
	    sley_router_create(rt, &router, NULL) ||
	    sley_router_add(router, &sley_kv_module))
		return 1;
	snprintf(path, sizeof(path), "%s/s", folder);
	if (sley_server_create(router, &server,
			       SLEY_SERVER_OPTIONS(.socket = path)))
		return 1;
	failed = use_store();
	sley_server_destroy(server);
	if (sley_router_destroy(router) || sley_destroy(rt))
		return 1;
	return failed || rmdir(folder);
}
