/* SPDX-License-Identifier: MIT */
/*
 * answer.h - the head of a response, as bytes.
 *
 *   HTTP/1.1 200 OK
 *   Date: Sun, 06 Nov 1994 08:49:37 GMT
 *   Content-Type: text/plain
 *   Content-Length: 6
 *   Connection: close                       only if it says something new
 *
 * http_answer_write() writes these lines and not the empty line behind: the caller has
 * more fields, or none.  The caller checks the type and all fields of the user by
 * http_name_is_good() and http_value_is_good(): a line feed in a value would begin a
 * second field, or a second answer.
 */
#ifndef SLEY_HTTP_ANSWER_H
#define SLEY_HTTP_ANSWER_H

#include "http/message/date.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum http_answer_body {
	HTTP_ANSWER_EMPTY,   /* 204: no body, and no length        */
	HTTP_ANSWER_LENGTH,  /* .length bytes                      */
	HTTP_ANSWER_CHUNKED, /* chunks                             */
	HTTP_ANSWER_CLOSE    /* up to the end of the connection    */
};

enum http_answer_connection {
	HTTP_KEEP_SILENTLY, /* HTTP/1.1: what the client expects   */
	HTTP_KEEP_ALOUD,    /* HTTP/1.0: the client must be told   */
	HTTP_CLOSE
};

struct http_answer {
	int status; /* from 100 to 999 */
	enum http_answer_body body;
	enum http_answer_connection connection;
	uint64_t length;
	const char *type; /* or NULL */
	size_t type_size; /* at most HTTP_TYPE_MAX */
};

#define HTTP_TYPE_MAX 127
#define HTTP_ANSWER_MAX 384

/* @date has HTTP_DATE_SIZE bytes.  Returns the end, at most HTTP_ANSWER_MAX behind @to. */
char *http_answer_write(char *to, const struct http_answer *answer,
			const char *date);

/* "OK"; empty if the status has no name here. */
const char *http_status_text(int status);

/* Decimal, without zeros in front; returns the end, at most 20 bytes behind @to. */
char *http_number_write(char *to, uint64_t number);

/* The size of a chunk and CR LF; at most HTTP_CHUNK_SIZE_MAX bytes. */
#define HTTP_CHUNK_SIZE_MAX 18
char *http_chunk_size_write(char *to, uint64_t size);

bool http_name_is_good(const char *name, size_t size);
bool http_value_is_good(const char *value, size_t size);

#endif
