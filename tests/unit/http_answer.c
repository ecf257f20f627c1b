/* SPDX-License-Identifier: MIT */
/*
 * http_answer.c - heads of answers, byte by byte.
 */
#include "harness/test.h"
#include "http/message/answer.h"
#include "http/message/head.h"

#include <string.h>

#define DATE "Sun, 06 Nov 1994 08:49:37 GMT"

static const char *head_of(struct http_answer answer)
{
	static char text[HTTP_ANSWER_MAX + 1];
	char *end;

	answer.type_size = answer.type ? strlen(answer.type) : 0;
	memset(text, 'x', sizeof(text));
	end = http_answer_write(text, &answer, DATE);
	CHECK_LE(end - text, HTTP_ANSWER_MAX);
	CHECK_EQ(*end, 'x');
	*end = '\0';
	return text;
}

TEST(an_answer_has_its_status_date_type_and_length)
{
	CHECK_STR(head_of((struct http_answer){ .status = 200,
						.body = HTTP_ANSWER_LENGTH,
						.length = 6,
						.type = "text/plain" }),
		  "HTTP/1.1 200 OK\r\nDate: " DATE
		  "\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n");
	CHECK_STR(head_of((struct http_answer){ .status = 404,
						.body = HTTP_ANSWER_LENGTH,
						.connection = HTTP_CLOSE }),
		  "HTTP/1.1 404 Not Found\r\nDate: " DATE
		  "\r\nContent-Length: 0\r\nConnection: close\r\n");
}

TEST(a_body_without_a_length_says_how_it_ends)
{
	CHECK_STR(head_of((struct http_answer){ .status = 200,
						.body = HTTP_ANSWER_CHUNKED }),
		  "HTTP/1.1 200 OK\r\nDate: " DATE
		  "\r\nTransfer-Encoding: chunked\r\n");
	CHECK_STR(head_of((struct http_answer){ .status = 204,
						.body = HTTP_ANSWER_EMPTY }),
		  "HTTP/1.1 204 No Content\r\nDate: " DATE "\r\n");
	CHECK_STR(
		head_of((struct http_answer){ .status = 200,
					      .body = HTTP_ANSWER_CLOSE,
					      .connection = HTTP_KEEP_ALOUD }),
		"HTTP/1.1 200 OK\r\nDate: " DATE
		"\r\nConnection: keep-alive\r\n");
}

/* The longest parts together; and our own parser takes each head. */
TEST(every_status_fits_and_can_be_parsed)
{
	char type[HTTP_TYPE_MAX + 1];

	memset(type, 't', HTTP_TYPE_MAX);
	type[HTTP_TYPE_MAX] = '\0';
	for (int status = 200; status < 600; status++) {
		static const struct http_head_limits limits =
			HTTP_HEAD_LIMITS_DEFAULT;
		struct http_field fields[8];
		struct http_head head;
		char text[HTTP_ANSWER_MAX + 3];
		size_t size;

		memcpy(text,
		       head_of((struct http_answer){ .status = status,
						     .body = HTTP_ANSWER_LENGTH,
						     .length = UINT64_MAX / 2,
						     .connection =
							     HTTP_KEEP_ALOUD,
						     .type = type }),
		       HTTP_ANSWER_MAX + 1);
		size = strlen(text);
		memcpy(text + size, "\r\n", 2);
		http_response_init(&head, fields, 8, &limits);
		CHECK_EQ(http_head_parse(&head, text, size + 2), HTTP_DONE);
		CHECK_EQ(head.status, status);
		CHECK_EQ(head.length, UINT64_MAX / 2);
	}
	CHECK_STR(http_status_text(418), "");
}

TEST(numbers_are_written_without_zeros_in_front)
{
	char text[32] = "";

	*http_number_write(text, 0) = '\0';
	CHECK_STR(text, "0");
	*http_number_write(text, 18446744073709551615u) = '\0';
	CHECK_STR(text, "18446744073709551615");
	*http_chunk_size_write(text, 0xfedcba9876543210u) = '\0';
	CHECK_STR(text, "fedcba9876543210\r\n");
	CHECK_EQ(strlen(text), HTTP_CHUNK_SIZE_MAX);
	*http_chunk_size_write(text, 16) = '\0';
	CHECK_STR(text, "10\r\n");
}

/* A line feed in a value would be a field, or an answer, of an attacker. */
TEST(values_that_could_end_a_line_are_not_good)
{
	CHECK(http_value_is_good("text/html; charset=utf-8", 24));
	CHECK(http_value_is_good("\xc3\xa4", 2));
	CHECK(!http_value_is_good("a\nb", 3));
	CHECK(!http_value_is_good("a\rb", 3));
	CHECK(!http_value_is_good("a\0b", 3));
	/* At each place, also among eight bytes that are looked at together. */
	for (size_t i = 0; i < 20; i++) {
		char text[21] = "abcdefgh\xff\t ijklmnopq";

		CHECK(http_value_is_good(text, 20));
		for (int c = 0; c < 32; c++) {
			text[i] = (char)c;
			CHECK_EQ(http_value_is_good(text, 20), c == '\t');
		}
		text[i] = 127;
		CHECK(!http_value_is_good(text, 20));
	}
	CHECK(http_name_is_good("X-Name", 6));
	CHECK(!http_name_is_good("", 0));
	CHECK(!http_name_is_good("X:", 2));
	CHECK(!http_name_is_good("X Y", 3));
}
