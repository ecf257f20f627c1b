/* SPDX-License-Identifier: MIT */
/*
 * server.c - <sley/http.h>: a server listens, runs and stops.
 *
 * The connections are in a list, under the lock of the server, so that a stop can tell
 * each of them.  A connection that comes after the stop finds .stops set.
 *
 * The stopper waits for .ended, which the runner sets under the lock: after it has
 * locked and unlocked once more, the stopper knows that the runner does not use the
 * event any more, and the runner that no stopper uses the scope.
 */
#include "http/server/server.h"

#include "base/options.h"

#include <errno.h>

void server_add(struct sley_http_server *server, struct connection *connection)
{
	struct connection **first = (struct connection **)&server->connections;

	sley_mutex_lock(&server->lock);
	connection->next = *first;
	connection->link = first;
	if (*first)
		(*first)->link = &connection->next;
	*first = connection;
	if (server->stops)
		connection_stop(connection);
	sley_mutex_unlock(&server->lock);
}

void server_remove(struct sley_http_server *server,
		   struct connection *connection)
{
	sley_mutex_lock(&server->lock);
	*connection->link = connection->next;
	if (connection->next)
		connection->next->link = connection->link;
	sley_mutex_unlock(&server->lock);
}

static void set_default(uint32_t *limit, uint32_t value)
{
	if (!*limit)
		*limit = value;
}

static int take_options(struct sley_http_options *options,
			const struct sley_http_options *given)
{
	int err = options_take(options, given);

	if (err)
		return err;
	set_default(&options->head_max, 8192);
	set_default(&options->idle_ms, 15000);
	set_default(&options->head_ms, 10000);
	set_default(&options->body_ms, 60000);
	set_default(&options->write_ms, 30000);
	set_default(&options->requests_max, 10000);
	set_default(&options->connections_max, 4096);
	if (!options->body_max)
		options->body_max = 1 << 20;
	return options->head_max <= SLEY_HTTP_HEAD_MAX ? 0 : -EINVAL;
}

int sley_http_server_open(struct sley_http_server *server, const char *address,
			  sley_http_handler *handler, void *arg,
			  const struct sley_http_options *options)
{
	int err = take_options(&server->options, options);

	if (err)
		return err;
	server->handler = handler;
	server->arg = arg;
	server->lock = (struct sley_mutex)SLEY_MUTEX_INIT;
	server->ended = (struct sley_event)SLEY_EVENT_INIT;
	server->connections = NULL;
	server->runs = server->stops = false;
	return sley_listener_open(&server->listener, address, NULL);
}

int sley_http_server_address(struct sley_http_server *server, char *text,
			     size_t size)
{
	return sley_listener_address(&server->listener, text, size);
}

void sley_http_server_close(struct sley_http_server *server)
{
	sley_listener_close(&server->listener);
}

/* False: it was stopped before. */
static bool begin(struct sley_http_server *server)
{
	sley_mutex_lock(&server->lock);
	server->runs = !server->stops;
	sley_mutex_unlock(&server->lock);
	return server->runs;
}

static void end(struct sley_http_server *server)
{
	sley_mutex_lock(&server->lock);
	server->runs = false;
	sley_event_set(&server->ended);
	sley_mutex_unlock(&server->lock);
}

int sley_http_server_run(struct sley_http_server *server)
{
	int err = 0, cause;

	sley_scope_open(&server->scope);
	if (begin(server))
		err = sley_listener_serve(
			&server->listener, connection_serve, server,
			SLEY_SERVE_OPTIONS(.connections_max =
						   server->options
							   .connections_max));
	sley_listener_close(&server->listener);
	end(server);
	cause = sley_scope_close(&server->scope);
	return err ? err : cause;
}

int sley_http_server_stop_until(struct sley_http_server *server,
				uint64_t deadline_ns)
{
	struct connection *connection;
	int err;

	sley_mutex_lock(&server->lock);
	server->stops = true;
	for (connection = server->connections; connection;
	     connection = connection->next)
		connection_stop(connection);
	sley_mutex_unlock(&server->lock);
	sley_listener_close(&server->listener);
	err = sley_event_wait_until(&server->ended, deadline_ns);
	sley_mutex_lock(&server->lock);
	if (err && server->runs)
		sley_scope_cancel(&server->scope);
	sley_mutex_unlock(&server->lock);
	return err;
}
