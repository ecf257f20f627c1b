/* SPDX-License-Identifier: MIT */
/*
 * client_pool.h - the pools of a client, and the requests to them: the table behind
 * pool->remote (route/remote.h).
 *
 * A pool has a name, and a number that is good for one session.  After a reconnect each
 * pool is opened again by its name, and its requests are held meanwhile (ipc/link.h).
 * The requests for that are the pool's own; no thread waits for them.
 *
 * A request whose payload fits no slot gets a segment first, which may have to be asked
 * for: the submitter waits for the daemon then.
 */
#ifndef SLEY_IPC_CLIENT_POOL_H
#define SLEY_IPC_CLIENT_POOL_H

#include "ipc/client.h"
#include "route/remote.h"

static inline struct client_pool *client_pool_of(struct sley_pool *pool)
{
	return container_of(pool, struct client_pool, pool);
}

/* The client of a request; NULL: it is a request to a pool of this process. */
static inline struct sley_client *client_of(const struct sley_request *request)
{
	return request->remote ? client_pool_of(remote_pool(request))->client
			       : NULL;
}

/* Pool 0. */
void client_pool_init_daemon(struct sley_client *client);

/* With the lock: a new session.  All pools are to be opened again. */
void client_pools_shut(struct sley_client *client);
/* With the lock: opens them, as far as slots are free. */
void client_pools_restore(struct sley_client *client);
/* A pool was opened again, or could not be: its request has ended. */
void client_pool_opened(struct sley_request *request);
/* By the closer: pools that were closed while they had requests. */
void client_pools_free(struct sley_client *client);

/*
 * With the lock: a request to the daemon itself, which nobody waits for: 0, -EAGAIN,
 * -ESTALE, -EHOSTDOWN.  @in is a struct wire_number, and so is @out, if it is not NULL.
 */
must_check int client_control_locked(struct sley_client *client,
				     struct sley_request *request,
				     enum wire_control method,
				     const struct wire_number *in,
				     struct wire_number *out, uint32_t flags);

/* With the lock: the daemon may free the segments on this list. */
void client_release_segments(struct sley_client *client,
			     const struct list *gone);

#endif
