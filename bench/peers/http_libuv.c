/* SPDX-License-Identifier: MIT */
/*
 * http_libuv.c - the peer libuv: a loop with callbacks.  libuv has no parser of HTTP,
 * and neither has this server: it answers as the floor does, http_epoll.c.
 */
#include "../problems/http_bare.h"
#include "../problems/http_rows.h"

#include <uv.h>

static struct http_bare bare;
static char input[16384]; /* one read at a time */

static void give_input(uv_handle_t *handle, size_t size, uv_buf_t *buffer)
{
	(void)handle;
	(void)size;
	*buffer = uv_buf_init(input, sizeof(input));
}

static void free_client(uv_handle_t *client)
{
	free(client);
}

static void end(uv_stream_t *client)
{
	if (!uv_is_closing((uv_handle_t *)client))
		uv_close((uv_handle_t *)client, free_client);
}

static void answer(uv_stream_t *client, ssize_t n, const uv_buf_t *data)
{
	uv_buf_t out;

	if (n <= 0) {
		if (n < 0)
			end(client);
		return;
	}
	out = uv_buf_init(bare.out,
			  (unsigned)http_bare_answer(&bare, "libuv", data->base,
						     (size_t)n));
	/* The socket has room for it: no client has more than 16 under way. */
	if (out.len && uv_try_write(client, &out, 1) != (int)out.len)
		end(client);
}

static void accept_client(uv_stream_t *listener, int status)
{
	uv_tcp_t *client = malloc(sizeof(*client));

	if (status < 0 || !client || uv_tcp_init(listener->loop, client)) {
		free(client);
		return;
	}
	if (uv_accept(listener, (uv_stream_t *)client) ||
	    uv_tcp_nodelay(client, 1) ||
	    uv_read_start((uv_stream_t *)client, give_input, answer))
		end((uv_stream_t *)client);
}

static void serve(const struct http_server *server)
{
	struct sockaddr_in address = http_address(server->port);
	uv_loop_t *loop = uv_default_loop();
	uv_tcp_t listener;

	MEASURE_CHECK(server->m,
		      uv_tcp_init(loop, &listener) == 0 &&
			      uv_tcp_bind(&listener,
					  (const struct sockaddr *)&address,
					  0) == 0 &&
			      uv_listen((uv_stream_t *)&listener, 1024,
					accept_client) == 0);
	uv_run(loop, UV_RUN_DEFAULT);
}

int main(int argc, char **argv)
{
	return http_main(argc, argv, serve);
}
