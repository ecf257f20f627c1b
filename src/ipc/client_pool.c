/* SPDX-License-Identifier: MIT */
/*
 * client_pool.c - see client_pool.h.
 */
#include "ipc/client_pool.h"

#include "base/options.h"
#include "core/sched/worker.h"
#include "ipc/client_control.h"
#include "ipc/client_submit.h"
#include "ipc/client_wait.h"
#include "ipc/client_connection.h"

#include <errno.h>
#include <sley/error.h>
#include <string.h>

static struct client_pool *pool_of_link(struct list *link)
{
	return container_of(link, struct client_pool, link);
}

static void close_pool(struct sley_pool *pool);

static bool look(const struct sley_request *request)
{
	struct sley_client *client = client_of(request);

	if (client_is_lost(client))
		return false;
	client_enter(client);
	client_poll(client);
	client_leave(client);
	return sley_future_is_done(&request->done);
}

static void cancel(struct sley_request *request)
{
	struct sley_client *client = client_of(request);

	if (client_is_lost(client) || sley_future_is_done(&request->done))
		return;
	client_enter(client);
	client_lock(client);
	link_cancel(&client->link, request->worker, request);
	client_unlock(client);
	(void)client_collect(client);
	client_leave(client);
}

static const struct pool_remote remote = {
	.submit = client_submit,
	.forget = client_forget,
	.call = client_call,
	.wait_any = client_wait_any,
	.look = look,
	.cancel = cancel,
	.close = close_pool,
};

void client_pool_init_daemon(struct sley_client *client)
{
	client->daemon.client = client;
	client->daemon.pool.remote = &remote;
}

/* ---- opening ------------------------------------------------------------------------- */

static size_t pool_size(size_t params_size)
{
	return sizeof(struct client_pool) + params_size;
}

static void pool_free(struct client_pool *pool)
{
	mem_free(pool->client->mem, pool,
		 pool_size(pool->wish_size - sizeof(pool->wish)));
}

static int check_name(const char *name)
{
	size_t length = strnlen(name, SLEY_POOL_NAME_MAX + 1);

	if (!length)
		return -EINVAL;
	return length > SLEY_POOL_NAME_MAX ? -ENAMETOOLONG : 0;
}

/* As sley_pool_open() checks; the daemon checks again. */
static int check_options(const struct sley_client *client,
			 const struct sley_pool_options *options)
{
	uint32_t room = client->link.submitter->ring.slot_size -
			(uint32_t)sizeof(struct wire_head) -
			(uint32_t)sizeof(struct wire_open);

	if (options->containers > SLEY_CONTAINERS_MAX)
		return -E2BIG;
	if (!options->isolated && (options->limit_ns || options->max_restarts))
		return -EINVAL;
	if (options->permanent)
		return -EOPNOTSUPP;
	if (options->module && check_name(options->module))
		return check_name(options->module);
	return options->params_size > room ? -EMSGSIZE : 0;
}

static struct client_pool *make(struct sley_client *client, const char *name,
				const struct sley_pool_options *options)
{
	struct client_pool *pool =
		mem_alloc(client->mem, pool_size(options->params_size));
	struct wire_open *wish;

	if (!pool)
		return NULL;
	pool->client = client;
	pool->pool.remote = &remote;
	list_init(&pool->link);
	memcpy(pool->pool.name, name, strlen(name) + 1);
	wish = &pool->wish;
	memcpy(wish->pool, name, strlen(name) + 1);
	if (options->module)
		memcpy(wish->module, options->module,
		       strlen(options->module) + 1);
	wish->containers = options->containers;
	wish->flags = options->isolated ? WIRE_OPEN_ISOLATED : 0;
	wish->max_restarts = options->max_restarts;
	wish->limit_ns = options->limit_ns;
	pool->wish_size = (uint32_t)(sizeof(*wish) + options->params_size);
	if (options->params_size)
		memcpy(wish + 1, options->params, options->params_size);
	return pool;
}

/*
 * With the lock: the daemon that gave the number has perhaps ended by now; then the pool
 * is opened again.
 */
static void set_open(struct sley_client *client, struct client_pool *pool,
		     uint64_t session)
{
	pool->pool.nr_containers = pool->opened.nr_containers;
	if (session == client->session && client->link.state == LINK_LIVE)
		link_pool_open(&client->link, pool->place, pool->opened.pool);
	else
		pool->shut = true;
}

static struct link_submission open_request(struct client_pool *pool,
					   struct sley_request *owner)
{
	return (struct link_submission){
		.head = { .method = WIRE_CONTROL_OPEN,
			  .out_room = sizeof(pool->opened) },
		.in = &pool->wish,
		.in_size = pool->wish_size,
		.out = &pool->opened,
		.owner = owner,
	};
}

/* The first time: the caller waits. */
static int open_first(struct sley_client *client, struct client_pool *pool)
{
	struct link_submission what = open_request(pool, NULL);
	uint64_t session = 0;
	int err = client_control(client, &what, &session);

	if (err)
		return err == -EMFILE ? -ENOSPC : err;
	client_lock(client);
	pool->place = link_pool_add(&client->link);
	if (pool->place) {
		list_append(&client->pools, &pool->link);
		client->nr_pools++;
		set_open(client, pool, session);
		client_pools_restore(client);
	}
	client_unlock(client);
	return pool->place ? 0 : -ENOMEM;
}

int sley_client_pool_open(struct sley_client *client, struct sley_pool **out,
			  const char *name,
			  const struct sley_pool_options *given)
{
	struct sley_pool_options options;
	struct client_pool *pool;
	int err = options_take(&options, given);

	if (!err)
		err = check_name(name);
	if (err)
		return err;
	if (client_is_lost(client))
		return SLEY_EFORKED;
	err = check_options(client, &options);
	if (err)
		return err;
	pool = make(client, name, &options);
	if (!pool)
		return -ENOMEM;
	client_enter(client);
	err = open_first(client, pool);
	client_leave(client);
	if (err)
		pool_free(pool);
	else
		*out = &pool->pool;
	return err;
}

/* ---- opening again ------------------------------------------------------------------- */

void client_pools_shut(struct sley_client *client)
{
	for (struct list *link = client->pools.next; link != &client->pools;
	     link = link->next) {
		pool_of_link(link)->shut = true;
		pool_of_link(link)->opening = false;
	}
}

static int open_again(struct sley_client *client, struct client_pool *pool)
{
	struct link_submission what = open_request(pool, &pool->open);
	int64_t slot;

	client_control_fill(client, &pool->open, REQUEST_OPENS_POOL);
	slot = link_submit(&client->link, &what);
	if (slot < 0)
		return (int)slot;
	pool->opening = true;
	pool->shut = false;
	return 0;
}

void client_pools_restore(struct sley_client *client)
{
	if (client->link.state != LINK_LIVE)
		return;
	for (struct list *link = client->pools.next; link != &client->pools;
	     link = link->next) {
		struct client_pool *pool = pool_of_link(link);

		if (pool->shut && !pool->opening && !pool->closed &&
		    open_again(client, pool))
			return; /* no slot: when the next is open */
	}
}

void client_pool_opened(struct sley_request *request)
{
	struct client_pool *pool =
		container_of(request, struct client_pool, open);
	struct sley_client *client = pool->client;
	int code = request->code;

	client_lock(client);
	if (pool->opening) {
		pool->opening = false;
		if (code == -ESTALE)
			pool->shut = true;
		else if (code < 0)
			link_pool_fail(&client->link, pool->place, code);
		else
			set_open(client, pool, client->session);
	}
	client_pools_restore(client);
	client_unlock(client);
	if (code < 0 && code != -ESTALE)
		client_report(client,
			      "the daemon has no pool %s any more (%s): its "
			      "requests fail",
			      pool->pool.name, sley_strerror(code));
}

/* ---- closing ------------------------------------------------------------------------- */

static bool has_requests(const struct sley_client *client,
			 const struct client_pool *pool)
{
	const struct link *link = &client->link;

	if (pool->opening)
		return true;
	for (uint32_t i = 0; i < link->submitter->ring.depth; i++) {
		if (link->requests[i].phase != LINK_SLOT_FREE &&
		    link->requests[i].pool == pool->place)
			return true;
	}
	return false;
}

static void close_pool(struct sley_pool *closed)
{
	struct client_pool *pool = client_pool_of(closed);
	struct sley_client *client = pool->client;
	struct wire_number number;
	bool stays;

	if (client_is_lost(client))
		return;
	client_lock(client);
	client->nr_pools--;
	pool->closed = true;
	stays = has_requests(client, pool);
	if (!stays) {
		list_remove(&pool->link);
		number.number = link_pool_remove(&client->link, pool->place);
		/* Without a slot the daemon keeps the number until the session ends. */
		if (number.number)
			(void)!client_control_locked(client, NULL,
						     WIRE_CONTROL_CLOSE,
						     &number, NULL, 0);
	}
	client_unlock(client);
	if (!stays)
		pool_free(pool);
}

void client_pools_free(struct sley_client *client)
{
	while (!list_empty(&client->pools))
		pool_free(pool_of_link(list_take_first(&client->pools)));
}

void client_release_segments(struct sley_client *client,
			     const struct list *gone)
{
	for (struct list *link = gone->next; link != gone; link = link->next) {
		struct wire_number number = {
			.number =
				container_of(link, struct segment, link)->number
		};

		(void)!client_control_locked(client, NULL, WIRE_CONTROL_RELEASE,
					     &number, NULL, 0);
	}
}
