/* SPDX-License-Identifier: MIT */
/*
 * body.h - how the body of a message is framed, and its bytes without the frame.
 *
 * The decoder takes the bytes behind a head in any pieces, and keeps none of them:
 *
 *	http_body_init(&body, http_request_framing(&head), head.length, &limits);
 *	do {
 *		event = http_body_next(&body, in, size, &piece);
 *		if (event == HTTP_BODY_DATA)
 *			use(in + piece.at, piece.size);
 *		in += piece.used, size -= piece.used;
 *	} while (event == HTTP_BODY_DATA);
 *
 * HTTP_BODY_MORE: all bytes are used, and more must come.  HTTP_BODY_END: the next
 * message begins at @in.  At the end of a connection http_body_close() says whether
 * the body was whole.
 *
 * Extensions of chunks and trailers are checked and skipped.  A trailer has no effect:
 * a Content-Length there cannot change the frame of anything.
 */
#ifndef SLEY_HTTP_BODY_H
#define SLEY_HTTP_BODY_H

#include "http/message/error.h"
#include "http/message/head.h"

enum http_framing {
	HTTP_NO_BODY,
	HTTP_LENGTH,
	HTTP_CHUNKED,
	HTTP_UNTIL_CLOSE /* responses only */
};

/* The method of the request that a response answers, as far as it matters. */
enum http_asked { HTTP_ASKED_ANY, HTTP_ASKED_HEAD, HTTP_ASKED_CONNECT };

enum http_framing http_request_framing(const struct http_head *head);
enum http_framing http_response_framing(const struct http_head *head,
					enum http_asked asked);

struct http_body_limits {
	uint64_t size;           /* of the data */
	uint32_t extension_size; /* of all extensions of a body */
	uint32_t trailer_size;   /* of all lines of trailers */
	uint32_t nr_trailers;
};

#define HTTP_BODY_LIMITS_DEFAULT                                               \
	{                                                                      \
		.size = 1 << 20, .extension_size = 4096, .trailer_size = 4096, \
		.nr_trailers = 32                                              \
	}

enum http_body_event {
	HTTP_BODY_MORE,
	HTTP_BODY_DATA, /* .at and .size of the piece are data */
	HTTP_BODY_END,
	HTTP_BODY_FAILED /* .error says why, and stays */
};

struct http_body {
	uint64_t left; /* of the data, or of a chunk */
	uint64_t size; /* of the chunks so far       */
	const struct http_body_limits *limits;
	uint32_t extension_size;
	uint32_t trailer_size;
	uint32_t nr_trailers;
	enum http_error error; /* after HTTP_BODY_FAILED */
	uint8_t state;
	uint8_t nr_digits;     /* of the size of a chunk */
	uint8_t trailer_state; /* see field.h            */
};

/* What a call has made of its bytes. */
struct http_piece {
	size_t used; /* so many bytes are done with */
	size_t at;   /* the data among them         */
	size_t size;
};

/* @length is that of the head.  @limits must stay until the body has ended. */
void http_body_init(struct http_body *body, enum http_framing framing,
		    uint64_t length, const struct http_body_limits *limits);

enum http_body_event http_body_next(struct http_body *body, const char *in,
				    size_t size, struct http_piece *piece);

/* No more bytes will come: HTTP_BODY_END, or HTTP_BODY_FAILED. */
enum http_body_event http_body_close(struct http_body *body);

#endif
