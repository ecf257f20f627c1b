/* SPDX-License-Identifier: MIT */
/*
 * daemon.h - the daemon of the rows `client-...` and `kv`: a process with a server, a
 * migratable runtime of one worker, and one pool; and the way there for a client.
 */
#ifndef BENCH_ROWS_DAEMON_H
#define BENCH_ROWS_DAEMON_H

#include "rows.h"

#include "../problems/crowd.h"

#include <sley/client.h>
#include <sley/server.h>

#define DAEMON_POOL "pool"
#define DAEMON_SPIN_US 1000000u /* as long as a worker may */

/* How long a side that waits looks before it sleeps. */
enum daemon_wait {
	DAEMON_SPINS,   /* for so long that it never sleeps  */
	DAEMON_DEFAULT, /* as it comes                       */
	DAEMON_PARKS,   /* it sleeps at once                 */
};

struct daemon {
	const struct measure *m;
	const struct sley_module *module;
	uint32_t containers;
	enum daemon_wait wait;
	bool pinned; /* to CPU 1                     */
	void (*fill)(const struct measure *m,
		     struct sley_pool *pool); /* NULL */
	/* Of daemon_start(). */
	pid_t pid;
	int life; /* a pipe: its end ends the daemon                         */
	char dir[64];
	char path[96]; /* of the socket                                      */
};

/* ---- the process of the daemon --------------------------------------------------------- */

/* On a thread: a worker that waits for a descriptor asks the kernel at each look. */
static inline void daemon_await_end(void *arg)
{
	const struct daemon *daemon = arg;
	char byte;

	MEASURE_CHECK(daemon->m, read(daemon->life, &byte, 1) == 0);
}

static inline void daemon_serve(const struct daemon *daemon,
				struct sley_router *router)
{
	struct sley_server *server;

	MEASURE_CHECK(daemon->m,
		      sley_server_create(
			      router, &server,
			      SLEY_SERVER_OPTIONS(.socket = daemon->path)) ==
			      0);
	MEASURE_CHECK(daemon->m, sley_blocking_call(daemon_await_end,
						    (void *)daemon) == 0);
	MEASURE_CHECK(daemon->m,
		      sley_server_stop_until(server,
					     sley_after(10 * SLEY_SEC)) == 0);
	sley_server_destroy(server);
}

static inline void daemon_root(void *arg)
{
	const struct daemon *daemon = arg;
	const struct measure *m = daemon->m;
	struct sley_router *router;
	struct sley_pool *pool;

	MEASURE_CHECK(m, sley_router_create(
				 sley_current(), &router,
				 SLEY_ROUTER_OPTIONS(.policy = "local")) == 0);
	MEASURE_CHECK(m, sley_router_add(router, daemon->module) == 0);
	MEASURE_CHECK(
		m, sley_pool_open(
			   router, &pool, DAEMON_POOL,
			   SLEY_POOL_OPTIONS(.module = daemon->module->name,
					     .containers =
						     daemon->containers)) == 0);
	if (daemon->fill)
		daemon->fill(m, pool);
	daemon_serve(daemon, router);
	sley_pool_close(pool);
	MEASURE_CHECK(m, sley_router_destroy(router) == 0);
}

static inline uint32_t daemon_spin_us(const struct daemon *daemon,
				      uint32_t not_at_all)
{
	switch (daemon->wait) {
	case DAEMON_SPINS:
		return DAEMON_SPIN_US;
	case DAEMON_PARKS:
		return not_at_all;
	default:
		return 0;
	}
}

/* ---- for the process that measures ------------------------------------------------------ */

static inline void daemon_start(struct daemon *daemon)
{
	const struct measure *m = daemon->m;
	int life[2];

	snprintf(daemon->dir, sizeof(daemon->dir), "/tmp/sley-bench.XXXXXX");
	MEASURE_CHECK(m, mkdtemp(daemon->dir) != NULL && pipe(life) == 0);
	snprintf(daemon->path, sizeof(daemon->path), "%s/socket", daemon->dir);
	daemon->pid = crowd_fork(m);
	if (daemon->pid != 0) {
		daemon->life = life[1];
		close(life[0]);
		return;
	}
	close(life[1]);
	daemon->life = life[0];
	if (daemon->pinned)
		measure_pin(1);
	row_run_config(
		SLEY_CONFIG(.workers = 1, .migratable = true,
			    .spin_us = daemon_spin_us(daemon, SLEY_NO_SPIN)),
		daemon_root, daemon);
	_exit(0);
}

/* After the end of all clients; the daemon leaves nothing behind. */
static inline void daemon_stop(struct daemon *daemon)
{
	close(daemon->life);
	crowd_join(daemon->m, daemon->pid);
	MEASURE_CHECK(daemon->m, rmdir(daemon->dir) == 0);
}

/* ---- a client ------------------------------------------------------------------------ */

struct daemon_client {
	const struct measure *m;
	struct sley_client *client;
	struct sley_pool *pool;
};

/* Connects as soon as the daemon is there. */
static inline void daemon_connect(const struct daemon *daemon,
				  struct daemon_client *client)
{
	client->m = daemon->m;
	MEASURE_CHECK(
		client->m,
		sley_client_open(
			&client->client,
			SLEY_CLIENT_OPTIONS(.socket = daemon->path,
					    .connect_ns = 60 * SLEY_SEC,
					    .spin_us = daemon_spin_us(
						    daemon,
						    SLEY_CLIENT_NO_SPIN))) ==
			0);
	MEASURE_CHECK(client->m,
		      sley_client_pool_open(client->client, &client->pool,
					    DAEMON_POOL, NULL) == 0);
}

static inline void daemon_leave(struct daemon_client *client)
{
	sley_pool_close(client->pool);
	MEASURE_CHECK(client->m, sley_client_close(client->client) == 0);
}

#endif
