/* SPDX-License-Identifier: MIT */
/*
 * http_body.c - bodies in all pieces, and each reason to refuse one.
 */
#include "harness/test.h"
#include "http/message/body.h"

#include <stdlib.h>
#include <string.h>

static struct http_body_limits limits = {
	.size = 1000, .extension_size = 20, .trailer_size = 40, .nr_trailers = 2
};

struct decoded {
	char data[1100];
	size_t size;
	size_t used;
	enum http_body_event event;
	struct http_body body;
};

/* A copy without a byte behind, for sanitizers. */
static void give(struct decoded *to, const char *in, size_t size)
{
	char *copy = malloc(size ? size : 1);
	size_t at = 0;

	memcpy(copy, in, size);
	do {
		struct http_piece piece;

		to->event =
			http_body_next(&to->body, copy + at, size - at, &piece);
		CHECK_LE(piece.used, size - at);
		CHECK_LE(piece.at + piece.size, piece.used);
		CHECK_EQ(piece.size > 0, to->event == HTTP_BODY_DATA);
		CHECK_LE(to->size + piece.size, sizeof(to->data));
		memcpy(to->data + to->size, copy + at + piece.at, piece.size);
		to->size += piece.size;
		at += piece.used;
	} while (to->event == HTTP_BODY_DATA);
	if (to->event == HTTP_BODY_MORE)
		CHECK_EQ(at, size);
	to->used += at;
	free(copy);
}

static void begin(struct decoded *to, enum http_framing framing,
		  uint64_t length)
{
	memset(to, 0, sizeof(*to));
	http_body_init(&to->body, framing, length, &limits);
}

static void compare(const struct decoded *a, const struct decoded *b)
{
	CHECK_EQ(a->event, b->event);
	CHECK_EQ(a->body.error, b->body.error);
	CHECK_EQ(a->used, b->used);
	CHECK_EQ(a->size, b->size);
	CHECK(!memcmp(a->data, b->data, a->size));
}

static bool is_under_way(const struct decoded *body)
{
	return body->event == HTTP_BODY_MORE;
}

/* Decodes the whole, and then in bytes and in all pairs of pieces. */
static void decode(struct decoded *whole, enum http_framing framing,
		   uint64_t length, const char *in, size_t size)
{
	struct decoded other;

	begin(whole, framing, length);
	give(whole, in, size);
	begin(&other, framing, length);
	give(&other, in, 0);
	for (size_t i = 0; i < size && is_under_way(&other); i++)
		give(&other, in + i, 1);
	compare(whole, &other);
	for (size_t cut = 0; cut <= size; cut++) {
		begin(&other, framing, length);
		give(&other, in, cut);
		if (is_under_way(&other))
			give(&other, in + cut, size - cut);
		compare(whole, &other);
	}
}

#define CHUNKS(whole, in) decode(whole, HTTP_CHUNKED, 0, in, sizeof(in) - 1)

#define REFUSED(in, error_, status)                                            \
	do {                                                                   \
		struct decoded whole_;                                         \
		CHUNKS(&whole_, in);                                           \
		CHECK_EQ(whole_.body.error, error_);                           \
		CHECK_EQ(whole_.event, HTTP_BODY_FAILED);                      \
		CHECK_EQ(http_error_status(error_), status);                   \
	} while (0)

/* ---- what is taken --------------------------------------------------------------- */

TEST(no_body_ends_before_it_begins)
{
	struct decoded whole;

	decode(&whole, HTTP_NO_BODY, 0, "next", 4);
	CHECK_EQ(whole.event, HTTP_BODY_END);
	CHECK_EQ(whole.used, 0);
	decode(&whole, HTTP_LENGTH, 0, "next", 4);
	CHECK_EQ(whole.event, HTTP_BODY_END);
}

TEST(a_length_is_counted)
{
	struct decoded whole;

	decode(&whole, HTTP_LENGTH, 5, "01234next", 9);
	CHECK_EQ(whole.event, HTTP_BODY_END);
	CHECK_EQ(whole.used, 5);
	CHECK_EQ(whole.size, 5);
	CHECK(!memcmp(whole.data, "01234", 5));
	decode(&whole, HTTP_LENGTH, 10, "01234next", 9);
	CHECK_EQ(whole.event, HTTP_BODY_MORE);
}

TEST(chunks_are_joined)
{
	static const char chunks[] = "5\r\nhello\r\n"
				     "0A;x=\"y\t\xff\"\r\n0123456789\r\n"
				     "1 \t; a\r\n\n\r\n"
				     "0\r\n\r\n";
	char text[100];
	struct decoded whole;

	memcpy(text, chunks, sizeof(chunks) - 1);
	memcpy(text + sizeof(chunks) - 1, "next", 4);
	decode(&whole, HTTP_CHUNKED, 0, text, sizeof(chunks) + 3);
	CHECK_EQ(whole.event, HTTP_BODY_END);
	CHECK_EQ(whole.used, sizeof(chunks) - 1);
	CHECK_EQ(whole.size, 16);
	CHECK(!memcmp(whole.data, "hello0123456789\n", 16));
}

TEST(trailers_are_skipped)
{
	struct decoded whole;

	CHUNKS(&whole, "1\r\nx\r\n000;end\r\nA: b\r\nContent-Length:9\r\n\r\n");
	CHECK_EQ(whole.event, HTTP_BODY_END);
	CHECK_EQ(whole.size, 1);
}

TEST(an_open_body_ends_with_the_connection)
{
	struct decoded whole;

	decode(&whole, HTTP_UNTIL_CLOSE, 0, "abc", 3);
	CHECK_EQ(whole.event, HTTP_BODY_MORE);
	CHECK_EQ(whole.size, 3);
	CHECK_EQ(http_body_close(&whole.body), HTTP_BODY_END);
	CHECK_EQ(http_body_close(&whole.body), HTTP_BODY_END);
}

static struct http_head parsed(const char *text, bool is_response)
{
	static const struct http_head_limits head_limits =
		HTTP_HEAD_LIMITS_DEFAULT;
	static struct http_field fields[8];
	struct http_head head;

	(is_response ? http_response_init : http_request_init)(&head, fields, 8,
							       &head_limits);
	CHECK_EQ(http_head_parse(&head, text, strlen(text)), HTTP_DONE);
	return head;
}

static enum http_framing framing_of(const char *text, enum http_asked asked)
{
	struct http_head head = parsed(text, text[0] == 'H');

	return text[0] == 'H' ? http_response_framing(&head, asked)
			      : http_request_framing(&head);
}

#define LENGTH_3 "Content-Length: 3\r\n\r\n"
#define IN_CHUNKS "Transfer-Encoding: chunked\r\n\r\n"

TEST(the_head_of_a_request_says_how_its_body_is_framed)
{
#define POST "POST / HTTP/1.1\r\nHost:\r\n"
	CHECK_EQ(framing_of(POST "\r\n", 0), HTTP_NO_BODY);
	CHECK_EQ(framing_of(POST LENGTH_3, 0), HTTP_LENGTH);
	CHECK_EQ(framing_of(POST "Content-Length: 0\r\n\r\n", 0), HTTP_NO_BODY);
	CHECK_EQ(framing_of(POST IN_CHUNKS, 0), HTTP_CHUNKED);
}

TEST(the_head_of_a_response_says_how_its_body_is_framed)
{
#define OK_ "HTTP/1.1 200 OK\r\n"
	CHECK_EQ(framing_of(OK_ "\r\n", 0), HTTP_UNTIL_CLOSE);
	CHECK_EQ(framing_of(OK_ LENGTH_3, 0), HTTP_LENGTH);
	CHECK_EQ(framing_of(OK_ "Content-Length: 0\r\n\r\n", 0), HTTP_NO_BODY);
	CHECK_EQ(framing_of(OK_ IN_CHUNKS, 0), HTTP_CHUNKED);
	CHECK_EQ(framing_of(OK_ LENGTH_3, HTTP_ASKED_HEAD), HTTP_NO_BODY);
	CHECK_EQ(framing_of(OK_ LENGTH_3, HTTP_ASKED_CONNECT), HTTP_NO_BODY);
	CHECK_EQ(framing_of("HTTP/1.1 403 No\r\n" LENGTH_3, HTTP_ASKED_CONNECT),
		 HTTP_LENGTH);
	CHECK_EQ(framing_of("HTTP/1.1 304 \r\n" LENGTH_3, 0), HTTP_NO_BODY);
	CHECK_EQ(framing_of("HTTP/1.1 204 \r\n\r\n", 0), HTTP_NO_BODY);
	CHECK_EQ(framing_of("HTTP/1.1 100 \r\n\r\n", 0), HTTP_NO_BODY);
}

/* ---- what is refused ------------------------------------------------------------- */

TEST(a_chunk_without_a_size_is_refused)
{
	REFUSED("\r\n", HTTP_BAD_CHUNK_SIZE, 400);
	REFUSED(";a\r\n", HTTP_BAD_CHUNK_SIZE, 400);
	REFUSED(" 1\r\n", HTTP_BAD_CHUNK_SIZE, 400);
}

TEST(a_chunk_size_with_other_characters_is_refused)
{
	REFUSED("+1\r\n", HTTP_BAD_CHUNK_SIZE, 400);
	REFUSED("0x1\r\n", HTTP_BAD_CHUNK_SIZE, 400);
	REFUSED("1g\r\n", HTTP_BAD_CHUNK_SIZE, 400);
}

TEST(a_space_behind_a_chunk_size_is_refused)
{
	REFUSED("1 \r\n", HTTP_BAD_CHUNK_SIZE, 400);
	REFUSED("1 1\r\n", HTTP_BAD_CHUNK_SIZE, 400);
}

TEST(a_chunk_size_that_overflows_is_refused)
{
	limits.size = UINT64_MAX;
	REFUSED("8000000000000000\r\n", HTTP_CHUNK_OVERFLOW, 413);
	REFUSED("fffffffffffffffff\r\n", HTTP_CHUNK_OVERFLOW, 413);
}

TEST(a_chunk_size_with_too_many_zeros_is_refused)
{
	struct decoded whole;

	CHUNKS(&whole, "0000000000000001\r\na\r\n0\r\n\r\n");
	CHECK_EQ(whole.event, HTTP_BODY_END);
	REFUSED("00000000000000001\r\n", HTTP_CHUNK_OVERFLOW, 413);
}

TEST(the_largest_chunk_size_is_taken)
{
	struct decoded whole;

	limits.size = UINT64_MAX;
	CHUNKS(&whole, "7fffffffffffffff\r\na");
	CHECK_EQ(whole.event, HTTP_BODY_MORE);
	CHECK_EQ(whole.body.left, INT64_MAX - 1);
}

TEST(a_bare_lf_in_chunks_is_refused)
{
	REFUSED("1\na", HTTP_BARE_LF, 400);
	REFUSED("\n", HTTP_BARE_LF, 400);
	REFUSED("1;a\n", HTTP_BARE_LF, 400);
	REFUSED("1 \n", HTTP_BARE_LF, 400);
	REFUSED("1\r\na\n", HTTP_BARE_LF, 400);
	REFUSED("0\r\n\n", HTTP_BARE_LF, 400);
	REFUSED("0\r\nA: b\n", HTTP_BARE_LF, 400);
}

TEST(a_bare_cr_in_chunks_is_refused)
{
	REFUSED("1\ra", HTTP_BARE_CR, 400);
	REFUSED("1;a\rb", HTTP_BARE_CR, 400);
	REFUSED("1\r\na\r1", HTTP_BARE_CR, 400);
	REFUSED("0\r\n\r0", HTTP_BARE_CR, 400);
}

TEST(a_chunk_that_is_longer_than_its_size_is_refused)
{
	REFUSED("1\r\nab\r\n", HTTP_BAD_CHUNK_END, 400);
}

TEST(a_control_character_in_an_extension_is_refused)
{
	REFUSED("1;a\0b\r\n", HTTP_BAD_EXTENSION, 400);
	REFUSED("1;\x7f\r\n", HTTP_BAD_EXTENSION, 400);
}

TEST(long_extensions_are_refused)
{
	struct decoded whole;

	CHUNKS(&whole, "1;012345678\r\na\r\n0;012345678\r\n\r\n");
	CHECK_EQ(whole.event, HTTP_BODY_END);
	REFUSED("1;0123456789012345678901\r\na\r\n", HTTP_EXTENSION_TOO_LONG,
		413);
	REFUSED("1;012345678\r\na\r\n0;012345678901\r\n\r\n",
		HTTP_EXTENSION_TOO_LONG, 413);
	REFUSED("1                          ;\r\n", HTTP_EXTENSION_TOO_LONG,
		413);
}

TEST(trailers_have_the_rules_of_fields)
{
	REFUSED("0\r\nA : b\r\n\r\n", HTTP_SPACE_BEFORE_COLON, 400);
	REFUSED("0\r\n: b\r\n\r\n", HTTP_EMPTY_NAME, 400);
	REFUSED("0\r\nA: b\r\n c\r\n\r\n", HTTP_FOLDED_LINE, 400);
	REFUSED("0\r\nA\0: b\r\n\r\n", HTTP_BAD_NAME, 400);
	REFUSED("0\r\nA: \0\r\n\r\n", HTTP_BAD_VALUE, 400);
}

TEST(large_trailers_are_refused)
{
	struct decoded whole;

	CHUNKS(&whole, "0\r\nA: 01234567890123456789012345678901234\r\n\r\n");
	CHECK_EQ(whole.event, HTTP_BODY_END);
	REFUSED("0\r\nA: 012345678901234567890123456789012345\r\n\r\n",
		HTTP_TRAILERS_TOO_LARGE, 431);
}

TEST(many_trailers_are_refused)
{
	REFUSED("0\r\nA:\r\nB:\r\nC:\r\n\r\n", HTTP_TRAILERS_TOO_LARGE, 431);
}

TEST(a_body_above_its_limit_is_refused)
{
	struct decoded whole;

	limits.size = 3;
	decode(&whole, HTTP_LENGTH, 4, "0123", 4);
	CHECK_EQ(whole.body.error, HTTP_BODY_TOO_LARGE);
	CHECK_EQ(whole.used, 0);
	decode(&whole, HTTP_LENGTH, 3, "0123", 4);
	CHECK_EQ(whole.event, HTTP_BODY_END);
	decode(&whole, HTTP_UNTIL_CLOSE, 0, "0123", 4);
	CHECK_EQ(whole.body.error, HTTP_BODY_TOO_LARGE);
	CHECK_EQ(whole.size, 3);
	REFUSED("2\r\nab\r\n2\r\n", HTTP_BODY_TOO_LARGE, 413);
	CHUNKS(&whole, "2\r\nab\r\n1\r\nc\r\n0\r\n\r\n");
	CHECK_EQ(whole.event, HTTP_BODY_END);
}

TEST(a_body_that_is_cut_is_an_error)
{
	struct decoded whole;

	decode(&whole, HTTP_LENGTH, 5, "012", 3);
	CHECK_EQ(http_body_close(&whole.body), HTTP_BODY_FAILED);
	CHECK_EQ(whole.body.error, HTTP_BODY_CUT);
	CHUNKS(&whole, "1\r\na\r\n0\r\n");
	CHECK_EQ(http_body_close(&whole.body), HTTP_BODY_FAILED);
	CHECK_EQ(whole.body.error, HTTP_BODY_CUT);
	/* An earlier error stays. */
	CHUNKS(&whole, "x");
	CHECK_EQ(http_body_close(&whole.body), HTTP_BODY_FAILED);
	CHECK_EQ(whole.body.error, HTTP_BAD_CHUNK_SIZE);
}
