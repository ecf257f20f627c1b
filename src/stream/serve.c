/* SPDX-License-Identifier: MIT */
/*
 * serve.c - <sley/listener.h>: a task for each connection, and their end.
 *
 * The server is one task, which accepts and spawns.
 *
 *   server                                task of a connection
 *   1. at the limit: waits for a change   1. takes its arrival from the list, and
 *   2. accepts, notes an arrival, spawns;    enters the list of open connections; the
 *      again                                 server cancels: 4
 *   3. the end: waits for the group of    2. calls the function of the program
 *      all tasks; cancels what is in the  3. leaves the list
 *      list of open connections           4. closes the stream, counts itself out,
 *   4. resets the arrivals whose tasks       says that there is a change; ends
 *      were cancelled before they began
 *
 * Both lists are under the lock.  A task that is in the list of open connections has
 * not ended: the server may cancel it there.  What the task of a connection uses of the
 * server is there until the group is joined.
 *
 * The memory of the next connection is there before the accept.  So without memory the
 * connection waits in the backlog, as it does without descriptors.
 *
 * An idle connection is small.  It is on the stack of its task, which has a page in any
 * case, and so is its stream.  The task itself is an object of a slab of the runtime,
 * and freed by the worker.  An arrival lives until its task has begun, and its slab
 * keeps its chunks until the server ends.
 *
 * Rejected: a scope around all connections (a member's memory is borrowed until the
 * scope is closed, so a server would grow for ever, and its first failure would end the
 * others); accepting in several tasks (each connection would wake all of them); memory
 * of the server for each connection until the server has joined it (64 bytes more, and
 * the server wakes up for each end).
 */
#include "stream/listener.h"

#include "base/atomic.h"
#include "base/list.h"
#include "base/options.h"
#include "core/life/after_fork.h"
#include "core/sched/worker.h"
#include "core/task/spawn.h"
#include "core/task/then.h"
#include "core/trace/report.h"
#include "lf/spin.h"
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
	struct sley_group group; /* of the tasks of all connections      */
	uint32_t nr_open;        /* connections; counted out by their tasks */
	struct spinlock lock;
	struct list arrived;          /* (lock) of struct arrival             */
	struct list open;             /* (lock) of struct connection          */
	bool cancels;                 /* (lock) no connection begins any more */
	struct slab memory;           /* of arrivals                          */
	struct arrival *next_arrival; /* for the next connection, or NULL     */
	struct sley_task *next_task;  /* the same                             */
	uint64_t back_off_ns;         /* 0: there is no shortage              */
	uint64_t reported_ns;         /* 0: no shortage was reported          */
};

/* A connection whose task has not begun. */
struct arrival {
	struct server *server;
	struct list link; /* in server.arrived */
	int fd;
};

/* A connection, in the frame of its task. */
struct connection {
	struct list link; /* in server.open */
	struct sley_task *task;
};

static void enlist(struct server *server, struct list *list, struct list *link)
{
	list_init(link);
	spin_lock(&server->lock);
	list_append(list, link);
	spin_unlock(&server->lock);
}

static void strike(struct server *server, struct list *link)
{
	spin_lock(&server->lock);
	list_remove(link);
	spin_unlock(&server->lock);
}

/* ---- a connection --------------------------------------------------------------------- */

/* The stream of @arrival, which is freed: its server. */
static struct server *begin(struct arrival *arrival, struct sley_stream *stream)
{
	struct server *server = arrival->server;

	sley_stream_open(stream, arrival->fd);
	strike(server, &arrival->link);
	slab_free(&server->memory, arrival);
	return server;
}

/* False: the server ends, and has looked for connections to cancel. */
static bool enter(struct server *server, struct connection *connection)
{
	bool may;

	connection->task = strand_current()->task;
	list_init(&connection->link);
	spin_lock(&server->lock);
	may = !server->cancels;
	if (may)
		list_append(&server->open, &connection->link);
	spin_unlock(&server->lock);
	return may;
}

/* Calls the function of the program: what it has returned. */
static int call(struct server *server, struct sley_stream *stream)
{
	struct connection connection;
	int result;

	if (!enter(server, &connection))
		return -ECANCELED;
	result = server->fn(stream, server->arg);
	strike(server, &connection.link);
	return result;
}

static void run(void *arg)
{
	struct sley_stream stream;
	struct server *server = begin(arg, &stream);

	if (call(server, &stream) < 0)
		sley_stream_abort(&stream);
	else
		(void)sley_stream_close(&stream);
	/* relaxed: a count; the event publishes it. */
	(void)sub_relaxed(&server->nr_open, 1);
	sley_event_set(&server->listener->changed);
}

/* ---- accepting ------------------------------------------------------------------------ */

static uint32_t nr_open(const struct server *server)
{
	/* relaxed: a count; a change of it comes with an event. */
	return load_relaxed(&server->nr_open);
}

/* 0 or -ECANCELED; a closed listener shows in the accept. */
static int wait_for_room(struct server *server)
{
	uint32_t max = server->options.connections_max;
	int err = 0;

	while (!err && max && nr_open(server) >= max &&
	       !listener_is_closed(server->listener))
		err = sley_event_wait_until(&server->listener->changed,
					    SLEY_FOREVER);
	return err;
}

/* Memory for the next connection: 0 or -ENOMEM. */
static int prepare(struct server *server)
{
	if (!server->next_arrival)
		server->next_arrival = slab_alloc(&server->memory);
	if (!server->next_task)
		server->next_task = slab_alloc(&server->rt->tasks);
	return server->next_arrival && server->next_task ? 0 : -ENOMEM;
}

/* A task of the slab: the worker frees it. */
static int spawn(struct server *server, struct arrival *arrival)
{
	static const struct sley_options defaults;
	struct sley_task *task = server->next_task;
	int err;

	task->fn = run;
	task->arg = arrival;
	task->name = "connection";
	err = spawn_into(server->rt, then_freed(&server->group), task,
			 &defaults);
	if (!err)
		server->next_task = NULL;
	return err;
}

static int accept_next(struct server *server)
{
	struct sley_stream stream;
	struct arrival *arrival;
	int err = prepare(server);

	if (!err)
		err = sley_listener_accept(server->listener, &stream);
	if (err)
		return err;
	arrival = server->next_arrival;
	server->next_arrival = NULL;
	*arrival = (struct arrival){ .server = server,
				     .fd = sley_stream_fd(&stream) };
	server->back_off_ns = 0;
	enlist(server, &server->arrived, &arrival->link);
	/* relaxed: as in nr_open(). */
	(void)add_relaxed(&server->nr_open, 1);
	return spawn(server, arrival);
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
	       sley_strerror(shortage), nr_open(server));
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
	spin_lock(&server->lock);
	server->cancels = true;
	for (struct list *link = server->open.next; link != &server->open;
	     link = link->next)
		sley_cancel(container_of(link, struct connection, link)->task);
	spin_unlock(&server->lock);
}

/* Until no connection is left; a cancel, and .drain_ns, cut that short.  @err: why. */
static void drain(struct server *server, int err)
{
	uint64_t deadline_ns = server->options.drain_ns
				       ? sley_after(server->options.drain_ns)
				       : SLEY_FOREVER;

	if (err != -ECANCELED && !sley_join_until(&server->group, deadline_ns))
		return;
	cancel_open(server);
	sley_join(&server->group);
}

/* The connections of tasks that were cancelled before they began. */
static void reset_arrived(struct server *server)
{
	while (!list_empty(&server->arrived)) {
		struct sley_stream stream;

		(void)begin(container_of(server->arrived.next, struct arrival,
					 link),
			    &stream);
		sley_stream_abort(&stream);
	}
}

static void free_prepared(struct server *server)
{
	if (server->next_task)
		slab_free(&server->rt->tasks, server->next_task);
	slab_fini(&server->memory);
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
	list_init(&server.arrived);
	list_init(&server.open);
	slab_init(&server.memory, &server.rt->mem, sizeof(struct arrival));
	err = accept_all(&server);
	drain(&server, err);
	reset_arrived(&server);
	free_prepared(&server);
	/* relaxed: the caller lets the next server know. */
	store_relaxed(&listener->serving, 0);
	return err;
}
