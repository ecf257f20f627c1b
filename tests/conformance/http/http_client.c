/* SPDX-License-Identifier: MIT */
/*
 * http_client.c - <sley/http.h>: a client, against our server and against bytes.
 */
#include "conformance/http/serving.h"
#include "conformance/io/pairs.h"

static ssize_t read_all(struct sley_http_client *client, char *body,
			size_t size)
{
	size_t total = 0;
	ssize_t n;

	while ((n = sley_http_answer_read(client, body + total,
					  size - total - 1)) > 0)
		total += (size_t)n;
	body[total] = '\0';
	return n < 0 ? n : (ssize_t)total;
}

TEST_WORKERS(a_client_asks_many_times_on_one_connection)
{
	struct sley *rt = start();
	struct sley_http_client client;
	struct sley_http_text type;
	struct serving serving;
	char body[256], want[64], path[32];

	serving_start(&serving, echo, NULL, NULL);
	CHECK_EQ(sley_http_connect(&client, serving.address), 0);
	for (int i = 0; i < test_scale(200); i++) {
		snprintf(path, sizeof(path), "/%d", i);
		snprintf(want, sizeof(want), "%s %s %s", i % 2 ? "POST" : "GET",
			 path, i % 2 ? "data" : "");
		CHECK_EQ(
			sley_http_ask(
				&client,
				SLEY_HTTP_QUESTION(.method = i % 2 ? "POST"
								   : NULL,
						   .target = path,
						   .fields = i % 3 ? "X-Y: z\r\n"
								   : NULL,
						   .data = "data",
						   .data_size = i % 2 ? 4 : 0)),
			200);
		type = sley_http_answer_find(&client, "content-type");
		CHECK_EQ(type.size, 10);
		CHECK_EQ(memcmp(type.data, "text/plain", 10), 0);
		CHECK(!sley_http_answer_find(&client, "x-none").data);
		if (i % 5 == 0)
			continue; /* the next request passes it over */
		CHECK_EQ(read_all(&client, body, sizeof(body)), strlen(want));
		CHECK_STR(body, want);
	}
	CHECK_EQ(sley_http_ask(&client, SLEY_HTTP_QUESTION(.method = "HEAD",
							   .target = "/")),
		 200);
	CHECK_EQ(read_all(&client, body, sizeof(body)), 0);
	CHECK_EQ(sley_http_ask(
			 &client,
			 SLEY_HTTP_QUESTION(.target = "/",
					    .fields = "Connection: close\r\n")),
		 200);
	CHECK_EQ(sley_http_ask(&client, SLEY_HTTP_QUESTION(.target = "/")),
		 -ENODATA);
	sley_http_client_close(&client);
	serving_stop(&serving);
	stop(rt);
}

/* ---- against bytes ------------------------------------------------------------------------ */

struct scripted {
	int listener;
	const char *answer;
};

/* Accepts, waits for a request, and sends what the script says. */
static void play(void *arg)
{
	const struct scripted *scripted = arg;
	int fd = sley_io_accept(scripted->listener, NULL, NULL);
	char data[4096];

	CHECK(fd >= 0);
	CHECK_GT(sley_io_read(fd, data, sizeof(data)), 0);
	if (scripted->answer) {
		CHECK_GE(sley_io_write(fd, scripted->answer,
				       strlen(scripted->answer)),
			 0);
		CHECK_EQ(shutdown(fd, SHUT_WR), 0);
	}
	while (sley_io_read(fd, data, sizeof(data)) > 0)
		;
	CHECK_EQ(sley_io_close(fd), 0);
}

/* What a client makes of an answer: the status, and the size of the body or an error. */
static void check_script(const char *answer, int status, ssize_t size)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sockaddr_in address;
	struct scripted scripted = { tcp_listener(&address, 1), answer };
	struct sley_http_client client;
	struct sley_task task;
	char text[64], body[256];

	snprintf(text, sizeof(text), "127.0.0.1:%d", ntohs(address.sin_port));
	sley_spawn(&group, &task, play, &scripted);
	CHECK_EQ(sley_http_connect(&client, text), 0);
	CHECK_EQ(sley_http_ask_until(&client, SLEY_HTTP_QUESTION(.target = "/"),
				     in_ms(answer ? 10000 : 20)),
		 status);
	if (status > 0)
		CHECK_EQ(read_all(&client, body, sizeof(body)), size);
	sley_http_client_close(&client);
	sley_join(&group);
	CHECK_EQ(sley_io_close(scripted.listener), 0);
}

TEST_WORKERS(a_client_takes_good_answers_and_refuses_bad_ones)
{
	static const struct {
		const char *answer;
		int status;
		ssize_t size;
	} table[] = {
		{ "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 200, 3 },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		  "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
		  200, 5 },
		{ "HTTP/1.0 200 OK\r\n\r\nuntil the end", 200, 13 },
		{ "HTTP/1.1 204 No\r\n\r\n", 204, 0 },
		{ "HTTP/1.1 100 Continue\r\n\r\n"
		  "HTTP/1.1 404 No\r\nContent-Length: 1\r\n\r\nx",
		  404, 1 },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", 200,
		  -ENODATA },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		  "3\r\nabc\r\n",
		  200, -ENODATA },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
		  200, -EBADMSG },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n"
		  "Content-Length: 2\r\n\r\n",
		  -EBADMSG, 0 },
		{ "SSH-2.0\r\n\r\n", -EBADMSG, 0 },
		{ "HTTP/1.1 200 OK\r\nX: ", -ENODATA, 0 },
		{ "", -ENODATA, 0 },
		{ NULL, -ETIMEDOUT, 0 },
	};
	struct sley *rt = start();

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		check_script(table[i].answer, table[i].status, table[i].size);
	stop(rt);
}

TEST_WORKERS(what_does_not_fit_is_refused)
{
	struct sley *rt = start();
	struct sley_http_client client;
	struct serving serving;
	static char text[5000];

	memset(text, '/', sizeof(text) - 1);
	CHECK_EQ(sley_http_connect(&client, text), -ENAMETOOLONG);
	serving_start(&serving, echo, NULL, NULL);
	CHECK_EQ(sley_http_connect(&client, serving.address), 0);
	CHECK_EQ(sley_http_ask(&client, SLEY_HTTP_QUESTION(.target = NULL)),
		 -EINVAL);
	CHECK_EQ(sley_http_ask(&client, SLEY_HTTP_QUESTION(.target = text)),
		 -EMSGSIZE);
	sley_http_client_close(&client);
	serving_stop(&serving);
	stop(rt);
}
