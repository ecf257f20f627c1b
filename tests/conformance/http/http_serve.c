/* SPDX-License-Identifier: MIT */
/*
 * http_serve.c - <sley/http.h>: good requests and their answers.
 */
#include "conformance/http/serving.h"

static struct reply reply;

TEST_WORKERS(a_request_gets_its_answer_and_the_connection_stays)
{
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, echo, NULL, NULL);
	peer = peer_connect(&serving);
	for (int i = 0; i < 3; i++) {
		peer_send(peer, GET("/a/b?c=%20d"));
		peer_reply(peer, &reply);
		CHECK_EQ(reply.status, 200);
		CHECK_STR(reply.body, "GET /a/b?c=%20d ");
		CHECK(reply_has(&reply, "Content-Type: text/plain"));
		CHECK(reply_has(&reply, "Content-Length: 16"));
		CHECK(strstr(reply.head, "\r\nDate: ") != NULL);
		CHECK(strstr(reply.head, "Connection") == NULL);
		CHECK_EQ(peer->size, 0);
	}
	peer_close(peer);
	serving_stop(&serving);
	stop(rt);
}

TEST_WORKERS(a_client_that_says_close_gets_the_end)
{
	struct sley *rt = start();
	struct serving serving;

	serving_start(&serving, echo, NULL, NULL);
	ask_once(&serving,
		 "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
		 &reply);
	CHECK_EQ(reply.status, 200);
	CHECK(reply_has(&reply, "Connection: close"));
	ask_once(&serving, "GET / HTTP/1.0\r\n\r\n", &reply);
	CHECK_EQ(reply.status, 200);
	CHECK(reply_has(&reply, "Connection: close"));
	serving_stop(&serving);
	stop(rt);
}

TEST_WORKERS(a_client_of_http_1_0_may_keep_the_connection)
{
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, echo, NULL, NULL);
	peer = peer_connect(&serving);
	for (int i = 0; i < 2; i++) {
		peer_send(peer,
			  "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
		peer_reply(peer, &reply);
		CHECK_EQ(reply.status, 200);
		CHECK(reply_has(&reply, "Connection: keep-alive"));
	}
	peer_close(peer);
	serving_stop(&serving);
	stop(rt);
}

TEST_WORKERS(a_request_may_come_byte_by_byte)
{
	struct sley *rt = start();
	static const char request[] =
		"POST /x HTTP/1.1\r\nHost: a\r\n"
		"Content-Length: 5\r\n\r\nhello" GET("/y");
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, echo, NULL, NULL);
	peer = peer_connect(&serving);
	for (size_t i = 0; i < sizeof(request) - 1; i++) {
		peer_send_bytes(peer, request + i, 1);
		sley_yield();
	}
	peer_reply(peer, &reply);
	CHECK_STR(reply.body, "POST /x hello");
	peer_reply(peer, &reply);
	CHECK_STR(reply.body, "GET /y ");
	peer_close(peer);
	serving_stop(&serving);
	stop(rt);
}

/* ---- pipelining ---------------------------------------------------------------------------- */

/* The earlier a request, the longer its handler takes. */
static int slow_first(struct sley_http_request *request,
		      struct sley_http_response *response, void *arg)
{
	int i = request->path.data[1] - 'a';

	if (i < 3 && sley_sleep((uint64_t)(3 - i) * SLEY_MSEC))
		return -ECANCELED;
	return echo(request, response, arg);
}

TEST_WORKERS(answers_to_requests_that_came_together_keep_their_order)
{
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;
	char text[4096] = "", want[32];

	serving_start(&serving, slow_first, NULL, NULL);
	peer = peer_connect(&serving);
	for (int i = 0; i < 26; i++)
		snprintf(text + strlen(text), 128,
			 i % 3 ? "GET /%c HTTP/1.1\r\nHost: a\r\n\r\n"
			       : "POST /%c HTTP/1.1\r\nHost: a\r\n"
				 "Content-Length: 2\r\n\r\nok",
			 'a' + i);
	peer_send(peer, text);
	for (int i = 0; i < 26; i++) {
		peer_reply(peer, &reply);
		snprintf(want, sizeof(want), i % 3 ? "GET /%c " : "POST /%c ok",
			 'a' + i);
		CHECK_STR(reply.body, want);
	}
	peer_close(peer);
	serving_stop(&serving);
	stop(rt);
}

/* All answers are there at once: they were one segment. */
TEST_WORKERS(answers_to_requests_that_came_together_go_out_together)
{
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;
	char text[4096] = "";
	size_t size;

	serving_start(&serving, echo, NULL, NULL);
	peer = peer_connect(&serving);
	peer_send(peer, GET("/0"));
	peer_reply(peer, &reply);
	size = strlen(reply.head) + reply.size;
	for (int i = 0; i < 16; i++)
		snprintf(text + strlen(text), 64, GET("/%d"), i % 10);
	peer_send(peer, text);
	CHECK_EQ(peer_receive(peer), 16 * size);
	peer_close(peer);
	serving_stop(&serving);
	stop(rt);
}

/* An incomplete request follows: the answer does not wait for its rest. */
TEST_WORKERS(an_answer_does_not_wait_for_half_a_request)
{
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, echo, NULL, NULL);
	peer = peer_connect(&serving);
	peer_send(peer, GET("/1") "GET /2 HTTP/1.1\r\n");
	peer_reply(peer, &reply);
	CHECK_STR(reply.body, "GET /1 ");
	peer_send(peer, "Host: a\r\n\r\n" GET(
				"/3") "POST /4 HTTP/1.1\r\n"
				      "Host: a\r\nContent-Length: 3\r\n\r\na");
	peer_reply(peer, &reply);
	CHECK_STR(reply.body, "GET /2 ");
	peer_reply(peer, &reply);
	CHECK_STR(reply.body, "GET /3 ");
	peer_send(peer, "bc");
	peer_reply(peer, &reply);
	CHECK_STR(reply.body, "POST /4 abc");
	peer_close(peer);
	serving_stop(&serving);
	stop(rt);
}

TEST_WORKERS(the_last_request_of_a_connection_is_told)
{
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, echo, NULL,
		      SLEY_HTTP_OPTIONS(.requests_max = 3));
	peer = peer_connect(&serving);
	peer_send(peer, GET("/1") GET("/2") GET("/3") GET("/4"));
	for (int i = 1; i <= 3; i++) {
		peer_reply(peer, &reply);
		CHECK_EQ(reply.body[5], '0' + i);
		CHECK_EQ(reply_has(&reply, "Connection: close"), i == 3);
	}
	peer_check_end(peer);
	peer_close(peer);
	serving_stop(&serving);
	stop(rt);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static size_t sum_of(const char *data, size_t size)
{
	size_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += (unsigned char)data[i] * (i + 1);
	return sum;
}

/* Bodies around the size of the buffer, with a length and in chunks. */
TEST_WORKERS(bodies_of_all_sizes_arrive_whole)
{
	static const size_t sizes[] = { 1, 100, 16300, 16384, 16385, 100000 };
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;
	static char data[100000];
	char text[128];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7 + i / 255);
	serving_start(&serving, count_bytes, NULL, NULL);
	peer = peer_connect(&serving);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(sizes); i++) {
		size_t size = sizes[i / 2], half = size / 2;

		if (i % 2) {
			snprintf(text, sizeof(text),
				 "POST /some/path HTTP/1.1\r\nHost: a\r\n"
				 "Content-Length: %zu\r\n\r\n",
				 size);
			peer_send(peer, text);
			peer_send_bytes(peer, data, size);
		} else {
			peer_send(peer,
				  "POST /some/path HTTP/1.1\r\nHost: a\r\n"
				  "Transfer-Encoding: chunked\r\n\r\n");
			if (half) {
				snprintf(text, sizeof(text), "%zx;a=b\r\n",
					 half);
				peer_send(peer, text);
				peer_send_bytes(peer, data, half);
				peer_send(peer, "\r\n");
			}
			snprintf(text, sizeof(text), "%zX\r\n", size - half);
			peer_send(peer, text);
			peer_send_bytes(peer, data + half, size - half);
			peer_send(peer, "\r\n0\r\nTrailer: x\r\n\r\n");
		}
		peer_reply(peer, &reply);
		snprintf(text, sizeof(text), "/some/path %zu %zu", size,
			 sum_of(data, size));
		CHECK_STR(reply.body, text);
	}
	peer_close(peer);
	serving_stop(&serving);
	stop(rt);
}

TEST_WORKERS(a_client_that_waits_for_continue_gets_it_by_the_read)
{
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, echo, NULL, NULL);
	peer = peer_connect(&serving);
	for (int i = 0; i < 2; i++) {
		peer_send(peer, "POST /a HTTP/1.1\r\nHost: a\r\n"
				"Expect: 100-continue\r\n"
				"Content-Length: 3\r\n\r\n");
		peer_head(peer, &reply);
		CHECK_STR(reply.head, "HTTP/1.1 100 Continue\r\n\r\n");
		peer_send(peer, "abc");
		peer_reply(peer, &reply);
		CHECK_EQ(reply.status, 200);
		CHECK_STR(reply.body, "POST /a abc");
	}
	peer_close(peer);
	serving_stop(&serving);
	stop(rt);
}

/* The body may come or not, so the next request could not be found. */
TEST_WORKERS(a_body_that_was_never_asked_for_ends_the_connection)
{
	struct sley *rt = start();
	struct serving serving;

	serving_start(&serving, ignore, NULL, NULL);
	ask_once(&serving,
		 "POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
		 "Content-Length: 3\r\n\r\n",
		 &reply);
	CHECK_EQ(reply.status, 200);
	CHECK(reply_has(&reply, "Connection: close"));
	serving_stop(&serving);
	stop(rt);
}

/* A small body is passed over; after a large one the connection ends. */
TEST_WORKERS(a_body_that_is_not_read_is_passed_over)
{
	static char large[400000];
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, ignore, NULL, NULL);
	peer = peer_connect(&serving);
	for (int i = 0; i < 2; i++) {
		peer_send(peer, "POST /a HTTP/1.1\r\nHost: a\r\n"
				"Content-Length: 30000\r\n\r\n");
		peer_send_bytes(peer, large, 30000);
		peer_reply(peer, &reply);
		CHECK_EQ(reply.status, 200);
	}
	peer_send(peer, "POST /a HTTP/1.1\r\nHost: a\r\n"
			"Content-Length: 400000\r\n\r\n");
	(void)!sley_io_write_until(peer->fd, large, sizeof(large), in_ms(2000));
	peer_reply(peer, &reply);
	CHECK_EQ(reply.status, 200);
	CHECK_LE(peer_receive(peer), 0);
	peer_close(peer);
	serving_stop(&serving);
	stop(rt);
}

/* ---- answers ----------------------------------------------------------------------------------- */

static int answer(struct sley_http_request *request,
		  struct sley_http_response *response, void *arg)
{
	static const char large[100000] = { [0 ... 99999] = 'l' };
	struct sley_http_text wish = sley_http_find(request, "x-wish");
	int err;

	(void)arg;
	if (!wish.data)
		return 0;
	switch (wish.data[0]) {
	case 'p': /* in parts */
		CHECK_EQ(sley_http_add(response, "X-Part", "1"), 0);
		CHECK_EQ(sley_http_begin(response, 200, "text/plain"), 0);
		CHECK_EQ(sley_http_begin(response, 200, NULL), -EALREADY);
		CHECK_EQ(sley_http_add(response, "X", "1"), -EALREADY);
		CHECK_EQ(sley_http_write(response, "abc", 3), 0);
		CHECK_EQ(sley_http_write(response, "", 0), 0);
		return sley_http_write(response, "0123456789abcdefg", 17);
	case 'l':
		return sley_http_respond(response, 201, NULL, large,
					 sizeof(large));
	case 'e':
		CHECK_EQ(sley_http_respond(response, 204, NULL, "x", 1),
			 -EINVAL);
		return sley_http_respond(response, 204, NULL, NULL, 0);
	case 'i': /* no answer in an answer */
		CHECK_EQ(sley_http_add(response, "A", "b\r\nC: d"), -EINVAL);
		CHECK_EQ(sley_http_add(response, "A: b", "c"), -EINVAL);
		CHECK_EQ(sley_http_respond(response, 200, "a\r\nb", "", 0),
			 -EINVAL);
		CHECK_EQ(sley_http_respond(response, 199, NULL, "", 0),
			 -EINVAL);
		CHECK_EQ(sley_http_respond(response, 600, NULL, "", 0),
			 -EINVAL);
		CHECK_EQ(sley_http_write(response, "a", 1), -EINVAL);
		err = sley_http_respond(response, 200, NULL, "good", 4);
		CHECK_EQ(sley_http_respond(response, 200, NULL, "two", 3),
			 -EALREADY);
		return err;
	case 'n':
		return -ENOENT;
	case 'a':
		return -EACCES;
	case 'x': /* broken off in the middle */
		CHECK_EQ(sley_http_begin(response, 200, NULL), 0);
		CHECK_EQ(sley_http_write(response, "abc", 3), 0);
		return -EIO;
	default:
		return -EIO;
	}
}

static void wish(struct peer *peer, const char *method, const char *wish)
{
	char text[200];

	snprintf(text, sizeof(text),
		 "%s / HTTP/1.1\r\nHost: a\r\nX-Wish: %s\r\n\r\n", method,
		 wish);
	peer_send(peer, text);
}

TEST_WORKERS(an_answer_in_parts_comes_in_chunks)
{
	static const char chunks[] = "3\r\nabc\r\n11\r\n0123456789abcdefg\r\n"
				     "0\r\n\r\n";
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, answer, NULL, NULL);
	peer = peer_connect(&serving);
	for (int i = 0; i < 2; i++) {
		wish(peer, "GET", "parts");
		peer_head(peer, &reply);
		CHECK_EQ(reply.status, 200);
		CHECK(reply_has(&reply, "Transfer-Encoding: chunked"));
		CHECK(reply_has(&reply, "X-Part: 1"));
		CHECK(strstr(reply.head, "Content-Length") == NULL);
		peer_body(peer, &reply, sizeof(chunks) - 1);
		CHECK_STR(reply.body, chunks);
	}
	/* A client of HTTP/1.0 knows no chunks. */
	peer_send(peer, "GET / HTTP/1.0\r\nX-Wish: parts\r\n"
			"Connection: keep-alive\r\n\r\n");
	peer_head(peer, &reply);
	CHECK(strstr(reply.head, "Transfer-Encoding") == NULL);
	CHECK(reply_has(&reply, "Connection: close"));
	peer_body(peer, &reply, 20);
	CHECK_STR(reply.body, "abc0123456789abcdefg");
	peer_check_end(peer);
	peer_close(peer);
	serving_stop(&serving);
	stop(rt);
}

TEST_WORKERS(head_gets_the_same_head_and_no_body)
{
	static const char *const wishes[] = { "parts", "large", "empty",
					      "injection" };
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;
	static char head[4096];

	serving_start(&serving, answer, NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(wishes); i++) {
		peer = peer_connect(&serving);
		wish(peer, "GET", wishes[i]);
		peer_head(peer, &reply);
		memcpy(head, reply.head, sizeof(head));
		peer_close(peer);
		peer = peer_connect(&serving);
		wish(peer, "HEAD", wishes[i]);
		peer_head(peer, &reply);
		/* But for the seconds of the Date. */
		CHECK_EQ(strlen(reply.head), strlen(head));
		CHECK_STR(strstr(reply.head, "GMT"), strstr(head, "GMT"));
		wish(peer, "GET", "not found");
		peer_reply(peer, &reply);
		CHECK_EQ(reply.status, 404);
		peer_close(peer);
	}
	serving_stop(&serving);
	stop(rt);
}

TEST_WORKERS(each_kind_of_answer_leaves_the_connection_usable)
{
	static const struct {
		const char *wish;
		int status;
		size_t size;
	} table[] = {
		{ "large", 201, 100000 },     { "empty", 204, 0 },
		{ "injection", 200, 4 },      { "not found", 404, 14 },
		{ "access denied", 403, 14 }, { "?", 500, 26 },
	};
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, answer, NULL, NULL);
	peer = peer_connect(&serving);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(table); i++) {
		size_t j = i % ARRAY_SIZE(table);

		wish(peer, "GET", table[j].wish);
		peer_reply(peer, &reply);
		CHECK_EQ(reply.status, table[j].status);
		CHECK_EQ(reply.size, table[j].size);
	}
	peer_send(peer, GET("/")); /* the handler says nothing */
	peer_reply(peer, &reply);
	CHECK_EQ(reply.status, 500);
	peer_close(peer);
	serving_stop(&serving);
	stop(rt);
}

/* The client must not take the beginning for the whole. */
TEST_WORKERS(an_answer_that_breaks_off_does_not_look_whole)
{
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;
	ssize_t n;

	serving_start(&serving, answer, NULL, NULL);
	peer = peer_connect(&serving);
	wish(peer, "GET", "x");
	while ((n = peer_receive(peer)) > 0)
		;
	CHECK_EQ(n, -ECONNRESET);
	CHECK(strstr(peer->data, "\r\n0\r\n") == NULL);
	peer_close(peer);
	serving_stop(&serving);
	stop(rt);
}

/* ---- the request, for the handler --------------------------------------------------------------- */

static int look(struct sley_http_request *request,
		struct sley_http_response *response, void *arg)
{
	struct sley_http_text name, value;
	char path[64], text[400];
	ssize_t n = sley_http_path(request, path, sizeof(path));
	int size = 0;

	(void)arg;
	if (n < 0)
		return (int)n;
	for (size_t i = 0; !sley_http_field(request, i, &name, &value); i++)
		size += snprintf(text + size, sizeof(text) - (size_t)size,
				 "%.*s=%.*s ", (int)name.size, name.data,
				 (int)value.size, value.data);
	size += snprintf(text + size, sizeof(text) - (size_t)size, "%s", path);
	CHECK(!sley_http_find(request, "x-none").data);
	return sley_http_respond(response, 200, NULL, text, (size_t)size);
}

TEST_WORKERS(a_handler_sees_fields_and_the_path_without_escapes)
{
	struct sley *rt = start();
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, look, NULL, NULL);
	peer = peer_connect(&serving);
	peer_send(peer, "GET /a%20b/%C3%A4?x HTTP/1.1\r\nHost: h:1\r\n"
			"X-Y:  two words \r\n\r\n");
	peer_reply(peer, &reply);
	CHECK_STR(reply.body, "Host=h:1 X-Y=two words /a b/\xc3\xa4");
	peer_send(peer, "GET http://h/a HTTP/1.1\r\nHost: h\r\n\r\n");
	peer_reply(peer, &reply);
	CHECK_STR(reply.body, "Host=h /a");
	peer_send(peer, "GET http://h HTTP/1.1\r\nHost: h\r\n\r\n");
	peer_reply(peer, &reply);
	CHECK_STR(reply.body, "Host=h /");
	peer_close(peer);
	serving_stop(&serving);
	stop(rt);
}

TEST_WORKERS(a_path_that_is_refused_gets_its_status)
{
	static const struct {
		const char *path;
		int status;
	} table[] = {
		{ "/../a", 400 },
		{ "/a/./b", 400 },
		{ "/%2e%2e/a", 400 },
		{ "/a%2fb", 400 },
		{ "/a%00b", 400 },
		{ "/a%zz", 400 },
		{ "/a%0ab", 400 },
		{ "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		  "aaaaa",
		  414 },
	};
	struct sley *rt = start();
	struct serving serving;
	char text[200];

	serving_start(&serving, look, NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		snprintf(text, sizeof(text),
			 "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", table[i].path);
		ask_once(&serving, text, &reply);
		CHECK_EQ(reply.status, table[i].status);
	}
	serving_stop(&serving);
	stop(rt);
}
