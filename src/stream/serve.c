/* SPDX-License-Identifier: MIT */
/*
 * serve.c - <sley/listener.h>: a task for each connection, and their end.
 *
 * The server is one task.  It accepts, spawns, and frees: the list of connections is
 * its own, and needs no lock.
 *
 *   server                                task of a connection
 *   1. frees the connections that ended   1. calls the function of the program
 *   2. at the limit: waits for a change   2. closes the stream
 *   3. accepts, spawns; again             3. pushes itself to `ended`, says that there
 *                                            is a change; ends
 *
 * The memory of a connection is freed after the join of its group, which has this one
 * task: the worker uses the task for a moment after its function has returned.
 *
 * The memory of the next connection is there before the accept.  So without memory the
 * connection waits in the backlog, as it does without descriptors.
 *
 * An idle connection is small.  Its stream is on the stack of its task, which has a page
 * in any case.  The rest is an object of a slab: an allocator would add a header and the
 * padding of its alignment.  The slab keeps its chunks until the server ends.
 *
 * Rejected: a scope around all connections (a member's memory is borrowed until the
 * scope is closed, so a server would grow for ever, and its first failure would end the
 * others); accepting in several tasks (each connection would wake all of them).
 */
#include "stream/listener.h"

#include "base/atomic.h"
#include "base/list.h"
#include "base/options.h"
#include "core/life/after_fork.h"
#include "core/sched/worker.h"
#include "core/trace/report.h"
#include "lf/push_list.h"
#include "mem/slab.h"
#include "stream/stream.h"

#include <sley/error.h>
#include <sley/task.h>

#define BACK_OFF_NS_MIN (1 * SLEY_MSEC)
#define BACK_OFF_NS_MAX (100 * SLEY_MSEC)
#define REPORT_GAP_NS (10 * SLEY_SEC)

struct server {
	struct sley *rt;
	struct sley_listener *listener;
	sley_serve_fn *fn;
	void *arg;
	struct sley_serve_options options;
	struct slab memory; /* of connections                       */
	struct list open;   /* connections that are not freed       */
	uint32_t nr_open;
	struct connection *spare; /* for the next connection, or NULL     */
	struct push_list ended;   /* by their tasks                       */
	uint64_t back_off_ns;     /* 0: there is no shortage              */
	uint64_t reported_ns;     /* 0: no shortage was reported          */
};

struct connection {
	struct server *server;
	struct list link;       /* in server.open        */
	struct push_node ended; /* in server.ended       */
	struct sley_group group;
	struct sley_task task;
	int fd; /* until the task has begun; then -1 */
};

_Static_assert(sizeof(struct connection) <= 2 * CACHE_LINE,
	       "a connection has grown: see bench, row `http-idle`");

/* ---- a connection --------------------------------------------------------------------- */

static void run(void *arg)
{
	struct connection *connection = arg;
	struct server *server = connection->server;
	struct sley_stream stream;

	sley_stream_open(&stream, connection->fd);
	connection->fd = -1;
	if (server->fn(&stream, server->arg) < 0)
		sley_stream_abort(&stream);
	else
		(void)sley_stream_close(&stream);
	(void)push_list_push(&server->ended, &connection->ended);
	sley_event_set(&server->listener->changed);
}

/* The connection of a task that was cancelled before it began. */
static void reset(int fd)
{
	struct sley_stream stream;

	sley_stream_open(&stream, fd);
	sley_stream_abort(&stream);
}

/* The task has ended, or is about to. */
static void free_connection(struct server *server,
			    struct connection *connection)
{
	sley_join(&connection->group);
	list_remove(&connection->link);
	server->nr_open--;
	if (connection->fd >= 0)
		reset(connection->fd);
	slab_free(&server->memory, connection);
}

static void free_ended(struct server *server)
{
	struct push_node *node = push_list_take_all(&server->ended);

	while (node) {
		struct connection *connection =
			container_of(node, struct connection, ended);

		node = node->next;
		free_connection(server, connection);
	}
}

/* ---- accepting ------------------------------------------------------------------------ */

/* 0 or -ECANCELED; a closed listener shows in the accept. */
static int wait_for_room(struct server *server)
{
	uint32_t max = server->options.connections_max;
	int err = 0;

	free_ended(server);
	while (!err && max && server->nr_open >= max &&
	       !listener_is_closed(server->listener)) {
		err = sley_event_wait_until(&server->listener->changed,
					    SLEY_FOREVER);
		free_ended(server);
	}
	return err;
}

static int accept_next(struct server *server)
{
	struct connection *connection = server->spare;
	struct sley_stream stream;
	int err;

	if (!connection)
		connection = slab_alloc(&server->memory);
	if (!connection)
		return -ENOMEM;
	server->spare = connection;
	err = sley_listener_accept(server->listener, &stream);
	if (err)
		return err;
	server->spare = NULL;
	*connection = (struct connection){
		.server = server,
		.fd = sley_stream_fd(&stream),
	};
	server->back_off_ns = 0;
	server->nr_open++;
	list_init(&connection->link);
	list_append(&server->open, &connection->link);
	sley_spawn(&connection->group, &connection->task, run, connection);
	return 0;
}

/* Does a wait mend it? */
static bool is_shortage(int err)
{
	switch (-err) {
	case EAGAIN: /* no thread, with SLEY_IO_THREADS */
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
	case ENOSPC: /* of the reactor */
		return true;
	default:
		return false;
	}
}

/* Not more often than every ten seconds. */
static void report_shortage(struct server *server, int shortage)
{
	uint64_t now_ns = sley_now();

	if (server->reported_ns && now_ns - server->reported_ns < REPORT_GAP_NS)
		return;
	server->reported_ns = now_ns;
	report(server->rt,
	       "sley_listener_serve() cannot accept a connection (%s): the "
	       "server tries again until it can, and %u connection(s) are "
	       "open; raise the limit (ulimit -n), or set .connections_max "
	       "below it",
	       sley_strerror(shortage), server->nr_open);
}

/*
 * Longer each time, or until a connection ends: 0 or -errno.  Without descriptors the
 * kernel refuses an accept also where no connection has come: then there is no
 * shortage yet.
 */
static int back_off(struct server *server, int shortage)
{
	int err = listener_await(server->listener);

	if (err <= 0)
		return err;
	if (!server->back_off_ns)
		server->back_off_ns = BACK_OFF_NS_MIN;
	report_shortage(server, shortage);
	err = sley_event_wait_until(&server->listener->changed,
				    sley_after(server->back_off_ns));
	if (server->back_off_ns < BACK_OFF_NS_MAX)
		server->back_off_ns *= 2;
	return err == -ETIMEDOUT ? 0 : err;
}

/* 0: the listener was closed; or why the server ends. */
static int accept_all(struct server *server)
{
	int err;

	do {
		err = wait_for_room(server);
		if (!err)
			err = accept_next(server);
		if (is_shortage(err))
			err = back_off(server, err);
	} while (!err);
	return listener_is_closed(server->listener) && err != -ECANCELED ? 0
									 : err;
}

/* ---- the end -------------------------------------------------------------------------- */

static void cancel_open(struct server *server)
{
	for (struct list *link = server->open.next; link != &server->open;
	     link = link->next)
		sley_cancel(&container_of(link, struct connection, link)->task);
}

/* Until no connection is left; a cancel, and .drain_ns, cut that short.  @err: why. */
static void drain(struct server *server, int err)
{
	uint64_t deadline_ns = server->options.drain_ns
				       ? sley_after(server->options.drain_ns)
				       : SLEY_FOREVER;

	free_ended(server);
	while (server->nr_open && err != -ECANCELED && err != -ETIMEDOUT) {
		err = sley_event_wait_until(&server->listener->changed,
					    deadline_ns);
		free_ended(server);
	}
	cancel_open(server);
	while (server->nr_open)
		free_connection(server, container_of(server->open.next,
						     struct connection, link));
}

int sley_listener_serve(struct sley_listener *listener, sley_serve_fn *fn,
			void *arg, const struct sley_serve_options *options)
{
	struct server server = {
		.rt = sley__self.bound,
		.listener = listener,
		.fn = fn,
		.arg = arg,
	};
	int err = options_take(&server.options, options);

	sley_check_fn(fn);
	if (err)
		return err;
	if (!server.rt)
		return after_fork_error();
	/* relaxed: only keeps a second server out. */
	if (xchg_relaxed(&listener->serving, 1))
		return -EBUSY;
	list_init(&server.open);
	slab_init(&server.memory, &server.rt->mem, sizeof(struct connection));
	err = accept_all(&server);
	drain(&server, err);
	slab_fini(&server.memory);
	/* relaxed: the caller lets the next server know. */
	store_relaxed(&listener->serving, 0);
	return err;
}
