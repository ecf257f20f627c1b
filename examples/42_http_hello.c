/* SPDX-License-Identifier: MIT */
/*
 * 42_http_hello.c - a server of HTTP, and a client that asks it.
 *
 *   cc 42_http_hello.c $(pkg-config --cflags --libs sley-http)
 */
#include <sley/http.h>
#include <sley/sley.h>
#include <stdio.h>

static int hello(struct sley_http_request *request,
		 struct sley_http_response *response, void *arg)
{
	(void)request;
	return sley_http_respond(response, 200, "text/plain", arg, 14);
}

/* A member of the scope: if it fails, the scope cancels the server. */
static int ask_and_stop(void *server)
{
	struct sley_http_client client;
	char address[64], text[200] = "";
	ssize_t n = sley_http_server_address(server, address, sizeof(address));

	if (n < 0 || sley_http_connect(&client, address))
		return -1;
	if (sley_http_ask(&client, SLEY_HTTP_QUESTION(.target = "/")) == 200)
		n = sley_http_answer_read(&client, text, sizeof(text) - 1);
	fputs(text, stdout);
	sley_http_client_close(&client);
	return n == 14 ? sley_http_server_stop(server) : -1;
}

static void root(void *arg)
{
	struct sley_http_server server;
	struct sley_scope scope;
	struct sley_task task;
	int *err = arg;

	*err = sley_http_server_open(&server, "127.0.0.1:0", hello,
				     "Hello, world.\n", NULL);
	if (*err)
		return;
	sley_scope_open(&scope);
	sley_scope_spawn(&scope, &task, ask_and_stop, &server);
	*err = sley_http_server_run(&server);
	if (sley_scope_close(&scope))
		*err = -1;
}

int main(void)
{
	int err = -1;

	return sley_run(NULL, root, &err) || err;
}
