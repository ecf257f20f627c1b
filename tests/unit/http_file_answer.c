/* SPDX-License-Identifier: MIT */
/*
 * http_file_answer.c - conditions and ranges of requests for a file of 100 bytes.
 */
#include "harness/test.h"
#include "http/message/file_answer.h"

#include <stdio.h>
#include <string.h>

/* The file was changed at 784111777.5: Sun, 06 Nov 1994 08:49:37 GMT. */
#define TAG "\"2ebc98a1-1dcd6500-64\""
#define THEN "Sun, 06 Nov 1994 08:49:37 GMT"
#define BEFORE "Sun, 06 Nov 1994 08:49:36 GMT"
#define LATER "Mon, 07 Nov 1994 08:49:37 GMT"

static const char *asked(const char *method, const char *fields)
{
	static const struct http_head_limits limits = HTTP_HEAD_LIMITS_DEFAULT;
	static char answer[80];
	struct http_field field[16];
	struct http_range part;
	struct http_head head;
	struct http_file file;
	char text[1024];
	int status, size = snprintf(text, sizeof(text),
				    "%s / HTTP/1.1\r\nHost: a\r\n%s\r\n",
				    method, fields);

	http_file_init(&file, 100, (struct timespec){ 784111777, 500000000 });
	http_request_init(&head, field, 16, &limits);
	CHECK_EQ(http_head_parse(&head, text, (size_t)size), HTTP_DONE);
	status = http_file_status(&file, &head, text, &part);
	snprintf(answer, sizeof(answer), "%d %llu+%llu", status,
		 (unsigned long long)part.first, (unsigned long long)part.size);
	return answer;
}

#define GET(fields) asked("GET", fields)

TEST(a_plain_request_gets_the_whole_file)
{
	CHECK_STR(GET(""), "200 0+100");
	CHECK_STR(asked("HEAD", ""), "200 0+100");
}

TEST(the_tag_tells_the_change_and_the_size)
{
	struct http_file file;

	http_file_init(&file, 100, (struct timespec){ 784111777, 500000000 });
	CHECK_STR(file.tag, TAG);
	http_file_init(&file, UINT64_MAX,
		       (struct timespec){ INT64_MAX, 999999999 });
	CHECK_LT(strlen(file.tag), HTTP_TAG_MAX - 1);
	http_file_init(&file, UINT64_MAX, (struct timespec){ -1, 999999999 });
	CHECK_EQ(file.tag[strlen(file.tag) - 1], '"');
}

TEST(one_range_gets_a_part_and_several_get_all)
{
	CHECK_STR(GET("Range: bytes=10-19\r\n"), "206 10+10");
	CHECK_STR(GET("Range: bytes=-1\r\n"), "206 99+1");
	CHECK_STR(GET("Range: bytes=0-1,5-6\r\n"), "200 0+100");
	CHECK_STR(GET("Range: bytes=100-\r\n"), "416 0+0");
	CHECK_STR(GET("Range: lines=1-2\r\n"), "200 0+100");
	CHECK_STR(asked("HEAD", "Range: bytes=10-19\r\n"), "200 0+100");
}

TEST(a_fresh_copy_is_not_sent_again)
{
	CHECK_STR(GET("If-None-Match: " TAG "\r\n"), "304 0+0");
	CHECK_STR(GET("If-None-Match: W/" TAG "\r\n"), "304 0+0");
	CHECK_STR(GET("If-None-Match: *\r\n"), "304 0+0");
	CHECK_STR(GET("If-None-Match: \"a,\", \"b\" ," TAG "\r\n"), "304 0+0");
	CHECK_STR(GET("If-None-Match: \"a\", \"b\"\r\n"), "200 0+100");
	CHECK_STR(GET("If-None-Match: " TAG "x\r\n"), "304 0+0");
	CHECK_STR(GET("If-None-Match: \"unclosed\r\n"), "200 0+100");
	CHECK_STR(GET("If-None-Match: W/\r\n"), "200 0+100");
	CHECK_STR(GET("If-Modified-Since: " THEN "\r\n"), "304 0+0");
	CHECK_STR(GET("If-Modified-Since: " LATER "\r\n"), "304 0+0");
	CHECK_STR(GET("If-Modified-Since: " BEFORE "\r\n"), "200 0+100");
	CHECK_STR(GET("If-Modified-Since: yesterday\r\n"), "200 0+100");
}

/* The tag goes before the date. */
TEST(a_date_beside_a_tag_is_not_looked_at)
{
	CHECK_STR(GET("If-None-Match: \"a\"\r\nIf-Modified-Since: " LATER
		      "\r\n"),
		  "200 0+100");
	CHECK_STR(GET("If-Match: " TAG "\r\nIf-Unmodified-Since: " BEFORE
		      "\r\n"),
		  "200 0+100");
}

TEST(a_condition_that_does_not_hold_fails)
{
	CHECK_STR(GET("If-Match: " TAG "\r\n"), "200 0+100");
	CHECK_STR(GET("If-Match: *\r\n"), "200 0+100");
	CHECK_STR(GET("If-Match: \"a\"\r\n"), "412 0+0");
	CHECK_STR(GET("If-Match: W/" TAG "\r\n"), "412 0+0");
	CHECK_STR(GET("If-Unmodified-Since: " BEFORE "\r\n"), "412 0+0");
	CHECK_STR(GET("If-Unmodified-Since: " THEN "\r\n"), "200 0+100");
	CHECK_STR(GET("If-Unmodified-Since: later\r\n"), "200 0+100");
}

TEST(a_range_of_another_file_gets_all)
{
	static const struct {
		const char *value, *answer;
	} table[] = {
		{ TAG, "206 1+2" },        { "\"a\"", "200 0+100" },
		{ "W/" TAG, "200 0+100" }, { "*", "200 0+100" },
		{ THEN, "206 1+2" },       { BEFORE, "200 0+100" },
		{ LATER, "200 0+100" },
	};
	char fields[200];

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		snprintf(fields, sizeof(fields),
			 "Range: bytes=1-2\r\nIf-Range: %s\r\n",
			 table[i].value);
		CHECK_STR(GET(fields), table[i].answer);
	}
}
