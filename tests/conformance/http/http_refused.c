/* SPDX-License-Identifier: MIT */
/*
 * http_refused.c - <sley/http.h>: requests that are malformed, too large or too slow.
 */
#include "conformance/http/serving.h"

static struct reply reply;

/* A request, and the status of its answer. */
static const struct {
	const char *request;
	int status;
} bad[] = {
	/* two lengths, two codings, and both */
	{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
	  "Content-Length: 3\r\n\r\nabc",
	  400 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\n", 400 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
	  "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	  400 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
	  "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	  400 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n"
	  "\r\n",
	  400 },
	{ "POST / HTTP/1.1\r\nHost: a\r\n"
	  "Transfer-Encoding: gzip, chunked\r\n\r\n",
	  501 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\n", 400 },
	{ "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"
	  "0\r\n\r\n",
	  400 },
	/* lines */
	{ "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\nHost: a\n\n", 400 },
	{ "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n", 400 },
	{ "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
	{ "GET /\r\n\r\n", 400 },
	{ "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505 },
	{ "GET / HTCPCP/1.0\r\nHost: a\r\n\r\n", 400 },
	{ "\x16\x03\x01\x02", 400 }, /* the hello of TLS */
	/* hosts */
	{ "GET / HTTP/1.1\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400 },
	/* targets */
	{ "GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
	{ "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
	/* chunks */
	{ "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
	  "\r\nzz\r\n",
	  400 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
	  "\r\n3\r\nabcd\r\n0\r\n\r\n",
	  400 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
	  "\r\n3\nabc\r\n0\r\n\r\n",
	  400 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
	  "\r\nfffffffffffffffff\r\n",
	  413 },
	/* limits */
	{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n", 413 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
	  "\r\n3e9\r\n",
	  413 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
	  "Content-Length: 1001\r\n\r\n",
	  413 },
};

/* Each gets its status, and then the end of the connection. */
TEST_WORKERS(each_bad_request_is_refused_with_its_status)
{
	struct sley *rt = start();
	struct serving serving;

	serving_start(&serving, echo, NULL,
		      SLEY_HTTP_OPTIONS(.body_max = 1000));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ask_once(&serving, bad[i].request, &reply);
		if (reply.status != bad[i].status)
			test_failed(TEST_PLACE("the status"), bad[i].request);
		CHECK(reply_has(&reply, "Connection: close"));
	}
	/* What follows a refused request is not looked at. */
	ask_once(&serving, "GET / HTTP/1.1\r\n\r\n" GET("/next"), &reply);
	CHECK_EQ(reply.status, 400);
	serving_stop(&serving);
	stop(rt);
}

/* Requests before the bad one are answered, and in their order. */
TEST_WORKERS(good_requests_before_a_bad_one_are_answered)
{
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, echo, NULL, NULL);
	peer = peer_connect(&serving);
	peer_send(peer, GET("/1") GET("/2") "GET\r\n\r\n" GET("/3"));
	peer_reply(peer, &reply);
	CHECK_STR(reply.body, "GET /1 ");
	peer_reply(peer, &reply);
	CHECK_STR(reply.body, "GET /2 ");
	peer_reply(peer, &reply);
	CHECK_EQ(reply.status, 400);
	peer_check_end(peer);
	peer_close(peer);
	serving_stop(&serving);
	stop(rt);
}

/* A reset would make the client's system drop the answer before it is read. */
TEST_WORKERS(a_client_that_still_sends_is_not_reset)
{
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, echo, NULL, NULL);
	peer = peer_connect(&serving);
	peer_send(peer, "GET\r\n");
	peer_reply(peer, &reply);
	CHECK_EQ(reply.status, 400);
	peer_check_end(peer);
	for (int i = 0; i < 5; i++) {
		peer_send(peer, "more");
		sley_yield();
	}
	peer_close(peer);
	serving_stop(&serving);
	stop(rt);
}

/* A line, a head and a number of fields: the largest good one, and one more. */
TEST_WORKERS(heads_up_to_the_limit_are_taken)
{
	struct sley *rt = start();
	struct serving serving;
	static char text[20000];

	serving_start(&serving, echo, NULL,
		      SLEY_HTTP_OPTIONS(.head_max = 1000));
	for (int more = 0; more < 2; more++) {
		int used = snprintf(text, sizeof(text),
				    "GET / HTTP/1.1\r\nHost: a\r\n"
				    "Connection: close\r\nX: ");
		int left = 1000 - used - 4 + more;

		memset(text + used, 'x', (size_t)left);
		memcpy(text + used + left, "\r\n\r\n", 5);
		ask_once(&serving, text, &reply);
		CHECK_EQ(reply.status, more ? 431 : 200);
	}
	serving_stop(&serving);

	serving_start(&serving, echo, NULL,
		      SLEY_HTTP_OPTIONS(.head_max = SLEY_HTTP_HEAD_MAX));
	memset(text, 'x', sizeof(text));
	memcpy(text, "GET /", 5);
	text[sizeof(text) - 1] = '\0';
	ask_once(&serving, text, &reply);
	CHECK_EQ(reply.status, 414);
	memcpy(text, "GET / HTTP/1.1\r\nHost: a\r\nX: ", 28);
	ask_once(&serving, text, &reply);
	CHECK_EQ(reply.status, 431);
	for (int nr = 63; nr <= 64; nr++) {
		int used = snprintf(text, sizeof(text),
				    "GET / HTTP/1.0\r\nHost: a\r\n");

		for (int i = 0; i < nr; i++)
			used += snprintf(text + used, 20, "X: %d\r\n", i);
		snprintf(text + used, 20, "\r\n");
		ask_once(&serving, text, &reply);
		CHECK_EQ(reply.status, nr == 63 ? 200 : 431);
	}
	serving_stop(&serving);
	stop(rt);
}

TEST(options_out_of_range_are_refused)
{
	struct sley_http_server server;
	struct sley_http_options options = { .size = 0 };

	CHECK_EQ(sley_http_server_open(&server, "127.0.0.1:0", echo, NULL,
				       &options),
		 -EINVAL);
	options.size = sizeof(options);
	options.head_max = SLEY_HTTP_HEAD_MAX + 1;
	CHECK_EQ(sley_http_server_open(&server, "127.0.0.1:0", echo, NULL,
				       &options),
		 -EINVAL);
	options.head_max = 0;
	options.reserved[0] = 1;
	CHECK_EQ(sley_http_server_open(&server, "127.0.0.1:0", echo, NULL,
				       &options),
		 -E2BIG);
}

/* ---- time ------------------------------------------------------------------------------- */

/* Sends a byte now and then until an answer comes: no byte puts the deadline off. */
static void drip(struct peer *peer, const char *byte)
{
	uint64_t start_ns = sley_now();
	ssize_t n;

	do {
		CHECK_LT(ms_since(start_ns), 5000);
		peer_send(peer, byte);
		n = sley_io_read_until(peer->fd, peer->data,
				       sizeof(peer->data) - 1, in_ms(5));
	} while (n == -ETIMEDOUT);
	CHECK_GT(n, 0);
	peer->size = (size_t)n;
	peer_reply(peer, &reply);
	CHECK_EQ(reply.status, 408);
	CHECK_GE(ms_since(start_ns), 59);
	peer_check_end(peer);
}

TEST_WORKERS(a_head_that_comes_too_slowly_gets_408)
{
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, echo, NULL, SLEY_HTTP_OPTIONS(.head_ms = 300));
	peer = peer_connect(&serving);
	peer_send(peer, GET("/"));
	peer_reply(peer, &reply);
	CHECK_EQ(reply.status, 200);
	drip(peer, "x");
	peer_close(peer);
	serving_stop(&serving);
	stop(rt);
}

TEST_WORKERS(a_body_that_comes_too_slowly_gets_408)
{
	static const char *const heads[] = {
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\n"
		"Transfer-Encoding: chunked\r\n\r\nff;",
	};
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, count_bytes, NULL,
		      SLEY_HTTP_OPTIONS(.body_ms = 60));
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		peer = peer_connect(&serving);
		peer_send(peer, heads[i]);
		drip(peer, "x");
		peer_close(peer);
	}
	serving_stop(&serving);
	stop(rt);
}

/* The handler is not called: it would answer 200. */
TEST_WORKERS(a_body_above_the_limit_is_refused_before_the_handler)
{
	struct sley *rt = start();
	struct serving serving;

	serving_start(&serving, ignore, NULL,
		      SLEY_HTTP_OPTIONS(.body_max = 1000));
	ask_once(&serving,
		 "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n",
		 &reply);
	CHECK_EQ(reply.status, 413);
	serving_stop(&serving);
	stop(rt);
}

/* Nothing was asked, so nothing is answered. */
TEST_WORKERS(a_connection_that_is_idle_for_too_long_is_closed)
{
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;
	uint64_t start_ns;

	serving_start(&serving, echo, NULL, SLEY_HTTP_OPTIONS(.idle_ms = 300));
	for (int asks = 0; asks < 2; asks++) {
		start_ns = sley_now();
		peer = peer_connect(&serving);
		if (asks) {
			peer_send(peer, GET("/"));
			peer_reply(peer, &reply);
		}
		peer_check_end(peer);
		CHECK_GE(ms_since(start_ns), 299);
		CHECK_LT(ms_since(start_ns), 10000);
		peer_close(peer);
	}
	serving_stop(&serving);
	stop(rt);
}

static int flood(struct sley_http_request *request,
		 struct sley_http_response *response, void *arg)
{
	static char data[1 << 16];
	int err = sley_http_begin(response, 200, NULL);

	(void)request;
	while (!err)
		err = sley_http_write(response, data, sizeof(data));
	*(int *)arg = err;
	return err;
}

TEST_WORKERS(a_client_that_does_not_read_is_given_up)
{
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;
	int err = 0;

	serving_start(&serving, flood, &err, SLEY_HTTP_OPTIONS(.write_ms = 60));
	peer = peer_connect(&serving);
	peer_send(peer, GET("/"));
	peer_head(peer, &reply);
	serving_stop(&serving);
	CHECK_EQ(err, -ETIMEDOUT);
	peer_close(peer);
	stop(rt);
}

/* The client is gone in the middle of a request: no handler sees half of it. */
TEST_WORKERS(a_request_that_is_cut_off_is_dropped)
{
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, echo, NULL, NULL);
	peer = peer_connect(&serving);
	peer_send(peer, "GET / HT");
	CHECK_EQ(shutdown(peer->fd, SHUT_WR), 0);
	peer_check_end(peer);
	peer_close(peer);
	peer = peer_connect(&serving);
	peer_send(peer, "POST / HTTP/1.1\r\nHost: a\r\n"
			"Content-Length: 3\r\n\r\na");
	CHECK_EQ(shutdown(peer->fd, SHUT_WR), 0);
	peer_reply(peer, &reply);
	CHECK_EQ(reply.status, 400);
	peer_check_end(peer);
	peer_close(peer);
	serving_stop(&serving);
	stop(rt);
}
