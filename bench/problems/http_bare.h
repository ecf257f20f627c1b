/* SPDX-License-Identifier: MIT */
/*
 * http_bare.h - the answers of servers that parse nothing: they look for the ends of
 * heads only, and gather the answers to the requests of one read.
 */
#ifndef BENCH_PROBLEMS_HTTP_BARE_H
#define BENCH_PROBLEMS_HTTP_BARE_H

#include "http_server.h"

#define HTTP_BARE_MAX 64 /* answers at a time */
#define HTTP_BARE_SIZE 512

struct http_bare {
	time_t second; /* of the Date in .answer */
	size_t answer_size;
	char answer[HTTP_BARE_SIZE];
	char out[HTTP_BARE_MAX * HTTP_BARE_SIZE];
};

/* Writes the answer anew if its Date is not that of now. */
static inline void http_bare_tick(struct http_bare *bare, const char *name)
{
	time_t now = time(NULL);
	struct tm tm;
	char date[64];

	if (now == bare->second)
		return;
	bare->second = now;
	gmtime_r(&now, &tm);
	strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", &tm);
	bare->answer_size = (size_t)snprintf(
		bare->answer, sizeof(bare->answer),
		"HTTP/1.1 200 OK\r\nServer: %s\r\nDate: %s\r\n"
		"Content-Type: text/plain\r\nContent-Length: 13\r\n"
		"Connection: keep-alive\r\n\r\n" HTTP_BODY,
		name, date);
}

/* The answers to @size bytes of requests, in bare->out: their size. */
static inline size_t http_bare_answer(struct http_bare *bare, const char *name,
				      const char *data, size_t size)
{
	size_t length = 0;
	const char *at = data, *end = data + size;

	http_bare_tick(bare, name);
	while ((at = (const char *)memmem(at, (size_t)(end - at), "\r\n\r\n",
					  4)) &&
	       length + bare->answer_size <= sizeof(bare->out)) {
		memcpy(bare->out + length, bare->answer, bare->answer_size);
		length += bare->answer_size;
		at += 4;
	}
	return length;
}

#endif
