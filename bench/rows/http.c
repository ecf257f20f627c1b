/* SPDX-License-Identifier: MIT */
/*
 * http.c - rows `http-...`: the server of <sley/http.h>, as users get it: its parser,
 * its limits and its deadlines are on.
 */
#include "../problems/http_rows.h"

#include <fcntl.h>
#include <sley/http.h>
#include <sley/sley.h>

static int dir; /* with the files */

/* The fields that all servers of these rows send.  For HTTP/1.1 ours needs no second. */
static int add_fields(struct sley_http_response *response)
{
	int err = sley_http_add(response, "Server", "sley");

	return err ? err : sley_http_add(response, "Connection", "keep-alive");
}

static int hello(struct sley_http_request *request,
		 struct sley_http_response *response, void *arg)
{
	int err = add_fields(response);

	(void)request;
	(void)arg;
	if (err)
		return err;
	return sley_http_respond(response, 200, "text/plain", HTTP_BODY,
				 sizeof(HTTP_BODY) - 1);
}

/* Opens the file for each request: nothing is kept from one request to the next. */
static int send_file(struct sley_http_request *request,
		     struct sley_http_response *response, void *arg)
{
	char path[256];
	ssize_t length = sley_http_path(request, path, sizeof(path));
	int fd, err = length < 0 ? (int)length : add_fields(response);

	(void)arg;
	if (err)
		return err;
	fd = sley_io_openat(dir, path + 1, O_RDONLY, 0);
	if (fd < 0)
		return fd;
	err = sley_http_respond_file(response, fd, "text/plain");
	sley_io_close(fd);
	return err;
}

static void run_server(void *arg)
{
	const struct http_server *row = arg;
	static struct sley_http_server server;
	char address[32];
	int err;

	snprintf(address, sizeof(address), "127.0.0.1:%d", row->port);
	dir = open(row->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = sley_http_server_open(
		&server, address, http_wants_files(row) ? send_file : hello,
		NULL,
		SLEY_HTTP_OPTIONS(.requests_max = SLEY_HTTP_NO_LIMIT,
				  .connections_max = 20000,
				  .idle_ms = HTTP_IDLE_SECONDS * 1000));
	if (!err)
		err = sley_http_server_run(&server);
	fprintf(stderr, "sley: %s\n", sley_strerror(err));
	_exit(1);
}

static void serve(const struct http_server *server)
{
	struct http_server copy = *server;

	(void)!sley_run(SLEY_CONFIG(.workers = server->m->workers), run_server,
			&copy);
}

int main(int argc, char **argv)
{
	return http_main(argc, argv, serve);
}
