/* SPDX-License-Identifier: MIT */
/*
 * serve_control.c - see serve_control.h.
 */
#include "ipc/serve_control.h"

#include "ipc/server.h"
#include "os/map.h"
#include "os/shared_memory.h"
#include "route/pool.h"
#include "route/router.h"

#include <errno.h>
#include <sley/task.h>
#include <string.h>

#define SEGMENT_UNIT 4096u

_Static_assert(WIRE_NAME == SLEY_POOL_NAME_MAX + 1, "as pools have it");

/* ---- numbers ------------------------------------------------------------------------- */

static bool take_number(const struct serve *serve, uint64_t *out)
{
	struct wire_number in;

	if (serve->in_size != sizeof(in))
		return false;
	memcpy(&in, serve->in, sizeof(in));
	*out = in.number;
	return true;
}

static int give(struct serve *serve, const void *answer, uint32_t size)
{
	if (serve->out_room < size)
		return -EMSGSIZE;
	memcpy(serve->out, answer, size);
	serve->answer_size = size;
	return 0;
}

/* ---- pools ------------------------------------------------------------------------------ */

static bool may_make(struct connection *connection, const char *pool,
		     const char *module)
{
	const struct sley_server_peer peer = connection_peer(connection);

	return server_may_make(connection->server, &peer, pool, module);
}

static uint64_t may_use(struct connection *connection,
			const struct sley_pool *pool)
{
	const struct sley_server_peer peer = connection_peer(connection);

	return server_may_use(connection->server, &peer, pool->name,
			      pool->module->name);
}

/* The names end, and nothing is set that is not known. */
static bool is_sound(const struct wire_open *open)
{
	return memchr(open->pool, 0, sizeof(open->pool)) &&
	       memchr(open->module, 0, sizeof(open->module)) &&
	       !(open->flags & ~WIRE_OPEN_ISOLATED);
}

static struct sley_pool_options options_of(const struct serve *serve,
					   const struct wire_open *open)
{
	size_t params_size = serve->in_size - sizeof(*open);

	return (struct sley_pool_options){
		.size = sizeof(struct sley_pool_options),
		.containers = open->containers,
		.module = open->module[0] ? open->module : NULL,
		/* A module takes "none" for its defaults. */
		.params = params_size ? (const char *)serve->in + sizeof(*open)
				      : NULL,
		.params_size = params_size,
		.isolated = open->flags & WIRE_OPEN_ISOLATED,
		.max_restarts = open->max_restarts,
		.limit_ns = open->limit_ns,
	};
}

/* The pool, if the client may have it. */
static int open_pool(struct serve *serve, const struct wire_open *open,
		     struct sley_pool **pool)
{
	struct connection *connection = serve->connection;
	struct sley_router *router = connection->server->router;
	struct sley_pool_options options = options_of(serve, open);
	int err = sley_pool_open(router, pool, open->pool, NULL);

	if (!err)
		sley_pool_close(*pool);
	else if (err != -ENOENT)
		return err;
	else if (!options.module)
		return -ENOENT;
	else if (!may_make(connection, open->pool, open->module))
		return -EACCES;
	return sley_pool_open(router, pool, open->pool, &options);
}

/* A number of the session for @pool. */
static int number_pool(struct serve *serve, struct sley_pool *pool)
{
	struct connection *connection = serve->connection;
	uint64_t methods = may_use(connection, pool);
	struct wire_opened opened = { .nr_containers = pool->nr_containers };
	int number;

	if (!methods)
		return -EACCES;
	if (serve->out_room < sizeof(opened))
		return -EMSGSIZE;
	spin_lock(&connection->lock);
	number = session_add_pool(&connection->session, pool, methods);
	spin_unlock(&connection->lock);
	if (number < 0)
		return number;
	opened.pool = (uint32_t)number;
	return give(serve, &opened, sizeof(opened));
}

static void open_as_task(void *arg)
{
	struct serve *serve = arg;
	struct sley_pool *pool = NULL;
	struct wire_open open;
	int err;

	memcpy(&open, serve->in, sizeof(open));
	err = open_pool(serve, &open, &pool);
	if (!err) {
		err = number_pool(serve, pool);
		if (err)
			sley_pool_close(pool);
	}
	serve_end(serve, err, serve->answer_size);
}

static int begin_open(struct serve *serve)
{
	const struct connection *connection = serve->connection;
	struct wire_open open;
	int err;

	if (serve->in_size < sizeof(open))
		return -EBADMSG;
	memcpy(&open, serve->in, sizeof(open));
	if (!is_sound(&open))
		return -EBADMSG;
	err = sley_schedule_on(
		server_runtime(connection->server), open_as_task, serve,
		SLEY_OPTIONS(.priority = connection_priority(connection, 0)));
	return err ? err : SERVE_LATER;
}

static int close_pool(struct serve *serve)
{
	struct connection *connection = serve->connection;
	uint64_t number;
	void *pool;
	int err;

	if (!take_number(serve, &number))
		return -EBADMSG;
	spin_lock(&connection->lock);
	err = session_close_pool(&connection->session, number, &pool);
	spin_unlock(&connection->lock);
	if (!err)
		sley_pool_close(pool);
	return err;
}

/* ---- segments --------------------------------------------------------------------------- */

/* The memory goes to the client before the answer does. */
static int send_segment(struct connection *connection, uint32_t number, int fd,
			uint64_t size)
{
	struct wire_packet packet;

	packet_segment(&packet, number, size);
	return connection_send(connection, &packet, &fd, 1);
}

static int map_segment(struct connection *connection, uint32_t number,
		       uint64_t size)
{
	int fd = os_shared_memory_create("sley segment", size), err;
	void *memory;

	if (fd < 0)
		return fd;
	memory = os_shared_memory_map(fd, size);
	err = memory ? send_segment(connection, number, fd, size) : -ENOMEM;
	os_close(fd);
	if (!err) {
		spin_lock(&connection->lock);
		session_set_segment(&connection->session, number, memory, size);
		spin_unlock(&connection->lock);
	} else if (memory) {
		os_unmap(memory, size);
	}
	return err;
}

/* Only the taker makes segments: the number stays free meanwhile. */
static int make_segment(struct serve *serve)
{
	struct connection *connection = serve->connection;
	struct wire_number out;
	uint64_t size;
	int number, err;

	if (!take_number(serve, &size))
		return -EBADMSG;
	if (serve->out_room < sizeof(out))
		return -EMSGSIZE;
	if (size <= WIRE_BULK_MAX)
		size = (size + SEGMENT_UNIT - 1) / SEGMENT_UNIT * SEGMENT_UNIT;
	spin_lock(&connection->lock);
	number = session_reserve_segment(&connection->session, size);
	spin_unlock(&connection->lock);
	if (number < 0)
		return number;
	err = map_segment(connection, (uint32_t)number, size);
	out.number = (uint64_t)number;
	return err ? err : give(serve, &out, sizeof(out));
}

static int release_segment(struct serve *serve)
{
	struct connection *connection = serve->connection;
	struct session_segment segment;
	uint64_t number;
	int err;

	if (!take_number(serve, &number))
		return -EBADMSG;
	spin_lock(&connection->lock);
	err = session_release_segment(&connection->session, number, &segment);
	spin_unlock(&connection->lock);
	if (err)
		return err;
	os_unmap((void *)segment.memory, segment.size);
	mem_free(server_mem(connection->server), segment.private,
		 segment.private_size);
	return 0;
}

/* ---- the choice --------------------------------------------------------------------------- */

static int cancel(struct serve *serve)
{
	uint64_t id;

	return take_number(serve, &id) ? serve_cancel(serve->connection, id)
				       : -EBADMSG;
}

int serve_control(struct serve *serve, uint32_t method)
{
	switch (method) {
	case WIRE_CONTROL_OPEN:
		return begin_open(serve);
	case WIRE_CONTROL_CLOSE:
		return close_pool(serve);
	case WIRE_CONTROL_CANCEL:
		return cancel(serve);
	case WIRE_CONTROL_SEGMENT:
		return make_segment(serve);
	case WIRE_CONTROL_RELEASE:
		return release_segment(serve);
	default:
		return -ENOSYS;
	}
}
