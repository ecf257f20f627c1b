/* SPDX-License-Identifier: MIT */
/*
 * head.h - the head of a request or of a response.
 *
 * The caller has a buffer that grows at its end, and calls http_head_parse() whenever
 * bytes were added, until the answer is not HTTP_MORE:
 *
 *	struct http_field fields[32];
 *	struct http_head head;
 *
 *	http_request_init(&head, fields, 32, &limits);
 *	while ((result = http_head_parse(&head, buffer, size)) == HTTP_MORE)
 *		size += read_more(buffer + size);
 *
 * Slices are offsets and not pointers, so the buffer may move while it grows.  The
 * cost is linear in the bytes, however the bytes arrive.  The result depends on the
 * bytes alone, not on the pieces they came in: a head is refused when the first byte
 * is there that no good head could have.  (The meaning of a field is judged when its
 * line has ended.)
 *
 * The parser makes no system call, allocates nothing and calls nothing but memcpy().
 */
#ifndef SLEY_HTTP_HEAD_H
#define SLEY_HTTP_HEAD_H

#include "http/message/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of the buffer. */
struct http_slice {
	uint32_t at;
	uint32_t size;
};

struct http_field {
	struct http_slice name;
	struct http_slice value; /* without the spaces around it */
};

struct http_head_limits {
	uint32_t line_size; /* the first line, with CR LF               */
	uint32_t head_size; /* the whole, with all lines' CR LF         */
};

#define HTTP_HEAD_LIMITS_DEFAULT { .line_size = 8192, .head_size = 16384 }

enum http_result {
	HTTP_MORE,  /* call again when there are more bytes */
	HTTP_DONE,  /* the head has ended                   */
	HTTP_FAILED /* .error says why, and stays           */
};

struct http_head {
	/* The result; valid after HTTP_DONE. */
	uint32_t size; /* of the head: the body begins here */
	uint32_t nr_fields;
	struct http_field *fields;
	struct http_slice method, target; /* of a request  */
	struct http_slice reason;         /* of a response */
	uint64_t length;                  /* if .has_length */
	uint16_t status;                  /* of a response */
	uint8_t minor;                    /* of the version: 1.0 or 1.1 */
	bool is_response;
	bool keep_alive;       /* the sender does not ask to close */
	bool expects_continue; /* the client waits for "100 Continue" */
	bool has_length;       /* there is a Content-Length */
	bool is_chunked;       /* there is a "Transfer-Encoding: chunked" */

	enum http_error error; /* after HTTP_FAILED */

	/* The parser's own. */
	uint8_t state;   /* of the first line, or of a field */
	uint8_t part;    /* the first line, fields, or past both */
	uint8_t seen;    /* fields with a meaning */
	uint32_t looked; /* the first byte that was not looked at */
	uint32_t token;  /* where the current part of a line begins */
	uint32_t max_fields;
	uint32_t line_end; /* where the first line must have ended */
	const struct http_head_limits *limits;
};

/*
 * @fields is the caller's array of @max_fields fields.  The array and @limits must stay
 * until the head has ended.
 */
void http_request_init(struct http_head *head, struct http_field *fields,
		       uint32_t max_fields,
		       const struct http_head_limits *limits);
void http_response_init(struct http_head *head, struct http_field *fields,
			uint32_t max_fields,
			const struct http_head_limits *limits);

/*
 * Parses the first @size bytes of @buffer: the bytes of earlier calls, and perhaps
 * more.  Bytes behind the head may be there; .size says where they begin.
 */
enum http_result http_head_parse(struct http_head *head, const char *buffer,
				 size_t size);

/*
 * The first field with the name @lower, in lower case, from field @from on; NULL: none.
 * To find the next one, begin behind: field - head->fields + 1.
 */
const struct http_field *http_head_find(const struct http_head *head,
					const char *buffer, const char *lower,
					uint32_t from);

#endif
