/* SPDX-License-Identifier: MIT */
/*
 * outside_http.c - a program that knows the installed tree only, with libsley-http.
 */
#include <stdio.h>

#include <sley/http.h>
#include <sley/sley.h>

/* A name both libraries have inside, too: it must not collide. */
int options_take(void);

int options_take(void)
{
	return 7;
}

static int answer(struct sley_http_request *request,
		  struct sley_http_response *response, void *arg)
{
	(void)request;
	(void)arg;
	return sley_http_respond(response, 200, "text/plain", "hello", 5);
}

static void serve(void *arg)
{
	if (sley_http_server_run((struct sley_http_server *)arg))
		fprintf(stderr, "the server failed\n");
}

/* The status of the answer, or an error. */
static int ask(const char *address)
{
	static struct sley_http_client client;
	struct sley_http_question question = { .size = sizeof(question),
					       .target = "/" };
	char data[8];
	int status = sley_http_connect(&client, address);

	if (status)
		return status;
	status = sley_http_ask(&client, &question);
	if (sley_http_answer_read(&client, data, sizeof(data)) != 5)
		status = -1;
	(void)sley_http_client_close(&client);
	return status;
}

static void root(void *arg)
{
	static struct sley_http_server server;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	char address[64];
	int *status = (int *)arg;

	*status = sley_http_server_open(&server, "127.0.0.1:0", answer, NULL,
					NULL);
	if (*status)
		return;
	*status = sley_http_server_address(&server, address, sizeof(address));
	sley_spawn(&group, &task, serve, &server);
	if (*status > 0)
		*status = ask(address);
	if (sley_http_server_stop(&server))
		*status = -1;
	sley_join(&group);
}

int main(void)
{
	int status = 0;
	int err = sley_run(NULL, root, &status);

	if (err) {
		fprintf(stderr, "sley_run: %s\n", sley_strerror(err));
		return 1;
	}
	printf("%s %d %d\n", sley_version(), status, options_take());
	return status != 200;
}
