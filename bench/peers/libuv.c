/* SPDX-License-Identifier: MIT */
/*
 * libuv.c - the peer libuv: callbacks on its loop, one thread.
 *
 * io-echo    uv_read_start(), and uv_write() of what came
 * io-accept  uv_accept() and uv_close()
 */
#include "../problems/arrivals.h"
#include "../problems/echo.h"

#include <uv.h>

/* A connection: one message is under way, so one request to write is enough. */
struct connection {
	uv_tcp_t tcp; /* first: a pointer to it is a pointer to this */
	uv_write_t write;
	char data[4096];
};

/* Of the loop: the connections that have not come yet. */
struct server {
	const struct measure *m;
	uv_tcp_t listener;
	uint64_t left;
};

static void run_server(struct server *server, int listener, uint64_t nr,
		       uv_connection_cb on_connection)
{
	uv_loop_t loop;

	server->left = nr;
	MEASURE_CHECK(server->m, uv_loop_init(&loop) == 0);
	loop.data = server;
	/* libuv closes its listener, the caller the other descriptor. */
	MEASURE_CHECK(server->m,
		      uv_tcp_init(&loop, &server->listener) == 0 &&
			      uv_tcp_open(&server->listener, dup(listener)) ==
				      0 &&
			      uv_listen((uv_stream_t *)&server->listener,
					LOOPBACK_BACKLOG, on_connection) == 0);
	MEASURE_CHECK(server->m, uv_run(&loop, UV_RUN_DEFAULT) == 0);
	MEASURE_CHECK(server->m, uv_loop_close(&loop) == 0);
}

static void free_connection(uv_handle_t *handle)
{
	free(handle);
}

/* The last connection has come: the loop ends with the last that is closed. */
static struct connection *take_one(uv_stream_t *listener)
{
	struct server *server = listener->loop->data;
	struct connection *connection = malloc(sizeof(*connection));

	MEASURE_CHECK(server->m, connection != NULL);
	MEASURE_CHECK(server->m,
		      uv_tcp_init(listener->loop, &connection->tcp) == 0 &&
			      uv_accept(listener,
					(uv_stream_t *)&connection->tcp) == 0);
	if (--server->left == 0)
		uv_close((uv_handle_t *)listener, NULL);
	return connection;
}

/* ---- io-echo ---------------------------------------------------------------------- */

static void get_memory(uv_handle_t *handle, size_t size, uv_buf_t *memory)
{
	struct connection *connection = (struct connection *)handle;

	(void)size;
	*memory = uv_buf_init(connection->data, sizeof(connection->data));
}

static void check_write(uv_write_t *write, int status)
{
	const struct server *server = write->handle->loop->data;

	MEASURE_CHECK(server->m, status == 0);
}

static void send_back(uv_stream_t *stream, ssize_t nr, const uv_buf_t *memory)
{
	struct connection *connection = (struct connection *)stream;
	const struct server *server = stream->loop->data;
	uv_buf_t message;

	if (nr < 0) {
		uv_close((uv_handle_t *)stream, free_connection);
		return;
	}
	message = uv_buf_init(memory->base, (unsigned int)nr);
	MEASURE_CHECK(server->m, uv_write(&connection->write, stream, &message,
					  1, check_write) == 0);
}

static void begin_echo(uv_stream_t *listener, int status)
{
	const struct server *server = listener->loop->data;
	struct connection *connection;

	MEASURE_CHECK(server->m, status == 0);
	connection = take_one(listener);
	MEASURE_CHECK(server->m, uv_read_start((uv_stream_t *)&connection->tcp,
					       get_memory, send_back) == 0);
}

static void serve_echo(const struct echo *echo)
{
	struct server server = { .m = echo->m };

	run_server(&server, echo->listener, (uint64_t)echo->nr_connections,
		   begin_echo);
}

static void run_echo(const struct measure *m)
{
	echo_peer(m, serve_echo);
}

/* ---- io-accept -------------------------------------------------------------------- */

static void accept_and_close(uv_stream_t *listener, int status)
{
	const struct server *server = listener->loop->data;

	MEASURE_CHECK(server->m, status == 0);
	uv_close((uv_handle_t *)take_one(listener), free_connection);
}

static void serve_arrivals(const struct arrivals *arrivals)
{
	struct server server = { .m = arrivals->m };

	run_server(&server, arrivals->listener, arrivals->nr, accept_and_close);
}

static void run_accept(const struct measure *m)
{
	arrivals_peer(m, serve_arrivals);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "io-echo", run_echo },
		{ "io-accept", run_accept },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
