/* SPDX-License-Identifier: MIT */
/*
 * http_pieces.h - heads that arrive in pieces.
 *
 * Each call of the parser gets a fresh copy of its bytes, with nothing behind: so a
 * sanitizer sees a byte too many, and a pointer that was kept is stale.
 */
#ifndef SLEY_TESTS_UNIT_HTTP_PIECES_H
#define SLEY_TESTS_UNIT_HTTP_PIECES_H

#include "harness/test.h"
#include "http/message/head.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FIELDS 16

struct parsed {
	struct http_head head;
	struct http_field fields[MAX_FIELDS];
	enum http_result result;
};

struct message {
	const char *text;
	size_t size;
	bool is_response;
	uint32_t max_fields;
	struct http_head_limits limits;
};

static inline void begin_head(struct parsed *to, const struct message *message)
{
	memset(to, 0, sizeof(*to));
	(message->is_response ? http_response_init : http_request_init)(
		&to->head, to->fields, message->max_fields, &message->limits);
}

static inline void give(struct parsed *to, const struct message *message,
			size_t size)
{
	char *copy = malloc(size ? size : 1);

	memcpy(copy, message->text, size);
	to->result = http_head_parse(&to->head, copy, size);
	free(copy);
}

static inline void compare(const struct parsed *a, const struct parsed *b)
{
	CHECK_EQ(a->result, b->result);
	CHECK_EQ(a->head.error, b->head.error);
	if (a->result != HTTP_DONE)
		return;
	CHECK_EQ(a->head.size, b->head.size);
	CHECK_EQ(a->head.nr_fields, b->head.nr_fields);
	CHECK_EQ(a->head.status, b->head.status);
	CHECK_EQ(a->head.minor, b->head.minor);
	CHECK_EQ(a->head.keep_alive, b->head.keep_alive);
	CHECK_EQ(a->head.expects_continue, b->head.expects_continue);
	CHECK_EQ(a->head.has_length, b->head.has_length);
	CHECK_EQ(a->head.is_chunked, b->head.is_chunked);
	if (a->head.has_length)
		CHECK_EQ(a->head.length, b->head.length);
	CHECK(!memcmp(&a->head.method, &b->head.method, 8));
	CHECK(!memcmp(&a->head.target, &b->head.target, 8));
	CHECK(!memcmp(&a->head.reason, &b->head.reason, 8));
	CHECK(!memcmp(a->fields, b->fields,
		      a->head.nr_fields * sizeof(a->fields[0])));
}

/* Parses the whole, and then in bytes and in all pairs of pieces. */
static inline void parse(struct parsed *whole, const struct message *message)
{
	struct parsed other;

	begin_head(whole, message);
	give(whole, message, message->size);
	begin_head(&other, message);
	for (size_t size = 0; size <= message->size; size++)
		give(&other, message, size);
	compare(whole, &other);
	for (size_t cut = 0; cut <= message->size; cut++) {
		begin_head(&other, message);
		give(&other, message, cut);
		give(&other, message, message->size);
		compare(whole, &other);
	}
}

#define MESSAGE(text_)                                                         \
	{                                                                      \
		.text = (text_), .size = sizeof(text_) - 1,                    \
		.max_fields = MAX_FIELDS, .limits = HTTP_HEAD_LIMITS_DEFAULT   \
	}

/* For literals, which may have a NUL. */
#define ACCEPTED(whole, text_)                                                 \
	do {                                                                   \
		struct message message_ = MESSAGE(text_);                      \
		parse(whole, &message_);                                       \
		CHECK_EQ((whole)->head.error, HTTP_OK);                        \
		CHECK_EQ((whole)->result, HTTP_DONE);                          \
	} while (0)
#define ACCEPTED_RESPONSE(whole, text_)                                        \
	do {                                                                   \
		struct message message_ = MESSAGE(text_);                      \
		message_.is_response = true;                                   \
		parse(whole, &message_);                                       \
		CHECK_EQ((whole)->head.error, HTTP_OK);                        \
		CHECK_EQ((whole)->result, HTTP_DONE);                          \
	} while (0)

static inline void check_refused(const struct message *message,
				 enum http_error error, int status)
{
	struct parsed whole;

	parse(&whole, message);
	CHECK_EQ(whole.head.error, error);
	CHECK_EQ(whole.result, HTTP_FAILED);
	CHECK_EQ(http_error_status(error), status);
}

#define REFUSED(text_, error, status)                                          \
	do {                                                                   \
		struct message message_ = MESSAGE(text_);                      \
		check_refused(&message_, error, status);                       \
	} while (0)
#define REFUSED_RESPONSE(text_, error)                                         \
	do {                                                                   \
		struct message message_ = MESSAGE(text_);                      \
		message_.is_response = true;                                   \
		check_refused(&message_, error, 400);                          \
	} while (0)

#endif
