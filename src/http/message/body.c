/* SPDX-License-Identifier: MIT */
/*
 * body.c - data by the block, and all else a byte at a time.
 *
 *   SIZE -> [BLANK | EXTENSION] -> SIZE_LF -> DATA -> DATA_CR -> DATA_LF -> SIZE
 *                                          -> TRAILER -> ENDED, behind a size of 0
 */
#include "http/message/body.h"

#include "http/message/chars.h"
#include "http/message/field.h"

enum body_state {
	BODY_SIZE,
	BODY_BLANK, /* spaces before the semicolon of an extension */
	BODY_EXTENSION,
	BODY_SIZE_LF,
	BODY_DATA, /* of a chunk */
	BODY_DATA_CR,
	BODY_DATA_LF,
	BODY_TRAILER,
	BODY_PLAIN, /* .left bytes without a frame */
	BODY_OPEN,  /* bytes until the connection ends */
	BODY_ENDED,
	BODY_FAILED,
};

enum http_framing http_request_framing(const struct http_head *head)
{
	if (head->is_chunked)
		return HTTP_CHUNKED;
	return head->has_length && head->length ? HTTP_LENGTH : HTTP_NO_BODY;
}

enum http_framing http_response_framing(const struct http_head *head,
					enum http_asked asked)
{
	bool is_success = head->status >= 200 && head->status < 300;

	if (asked == HTTP_ASKED_HEAD || head->status < 200 ||
	    head->status == 204 || head->status == 304 ||
	    (asked == HTTP_ASKED_CONNECT && is_success))
		return HTTP_NO_BODY;
	if (!head->is_chunked && !head->has_length)
		return HTTP_UNTIL_CLOSE;
	return http_request_framing(head);
}

static void fail(struct http_body *body, enum http_error error)
{
	body->error = error;
	body->state = BODY_FAILED;
}

void http_body_init(struct http_body *body, enum http_framing framing,
		    uint64_t length, const struct http_body_limits *limits)
{
	static const uint8_t states[] = { [HTTP_NO_BODY] = BODY_ENDED,
					  [HTTP_LENGTH] = BODY_PLAIN,
					  [HTTP_CHUNKED] = BODY_SIZE,
					  [HTTP_UNTIL_CLOSE] = BODY_OPEN };

	*body = (struct http_body){ .limits = limits,
				    .state = states[framing] };
	if (framing != HTTP_LENGTH)
		return;
	body->left = length;
	if (length > limits->size)
		fail(body, HTTP_BODY_TOO_LARGE);
	else if (!length)
		body->state = BODY_ENDED;
}

/* ---- the frame, a byte at a time ------------------------------------------------- */

static enum http_error size_step(struct http_body *body, unsigned char c)
{
	if (http_is(c, HTTP_HEX)) {
		if (body->nr_digits == 16 || body->left >> 59)
			return HTTP_CHUNK_OVERFLOW;
		body->nr_digits++;
		body->left = body->left << 4 | http_hex_value(c);
		return HTTP_OK;
	}
	if (c == '\n')
		return HTTP_BARE_LF;
	if (!body->nr_digits)
		return HTTP_BAD_CHUNK_SIZE;
	if (c == '\r')
		body->state = BODY_SIZE_LF;
	else if (c == ';')
		body->state = BODY_EXTENSION;
	else if (http_is(c, HTTP_SPACE))
		body->state = BODY_BLANK;
	else
		return HTTP_BAD_CHUNK_SIZE;
	return HTTP_OK;
}

static enum http_error extension_step(struct http_body *body, unsigned char c)
{
	if (c == '\n')
		return HTTP_BARE_LF;
	if (body->state == BODY_BLANK) {
		if (c == ';')
			body->state = BODY_EXTENSION;
		else if (!http_is(c, HTTP_SPACE))
			return HTTP_BAD_CHUNK_SIZE;
	} else if (c == '\r') {
		body->state = BODY_SIZE_LF;
		return HTTP_OK;
	} else if (!http_is(c, HTTP_VALUE)) {
		return HTTP_BAD_EXTENSION;
	}
	if (body->extension_size == body->limits->extension_size)
		return HTTP_EXTENSION_TOO_LONG;
	body->extension_size++;
	return HTTP_OK;
}

/* The line with the size of a chunk has ended. */
static enum http_error begin_chunk(struct http_body *body)
{
	body->nr_digits = 0;
	if (!body->left) {
		body->state = BODY_TRAILER;
		return HTTP_OK;
	}
	if (body->left > body->limits->size - body->size)
		return HTTP_BODY_TOO_LARGE;
	body->size += body->left;
	body->state = BODY_DATA;
	return HTTP_OK;
}

/* The empty line behind the last chunk is not a trailer, and has no limit. */
static enum http_error trailer_step(struct http_body *body, unsigned char c)
{
	enum http_field_state state = body->trailer_state;
	enum http_error error = http_field_step(&state, c);

	if (error)
		return error;
	if (state == HTTP_FIELD_END) {
		body->state = BODY_ENDED;
		return HTTP_OK;
	}
	if (state != HTTP_FIELD_LAST_LF &&
	    ++body->trailer_size > body->limits->trailer_size)
		return HTTP_TRAILERS_TOO_LARGE;
	if (body->trailer_state == HTTP_FIELD_BEGIN &&
	    state == HTTP_FIELD_NAME &&
	    ++body->nr_trailers > body->limits->nr_trailers)
		return HTTP_TRAILERS_TOO_LARGE;
	body->trailer_state = state == HTTP_FIELD_DONE ? HTTP_FIELD_BEGIN
						       : (uint8_t)state;
	return HTTP_OK;
}

static enum http_error step(struct http_body *body, unsigned char c)
{
	switch ((enum body_state)body->state) {
	case BODY_SIZE:
		return size_step(body, c);
	case BODY_BLANK:
	case BODY_EXTENSION:
		return extension_step(body, c);
	case BODY_SIZE_LF:
		return c == '\n' ? begin_chunk(body) : HTTP_BARE_CR;
	case BODY_DATA_CR:
		if (c != '\r')
			return c == '\n' ? HTTP_BARE_LF : HTTP_BAD_CHUNK_END;
		body->state = BODY_DATA_LF;
		return HTTP_OK;
	case BODY_DATA_LF:
		if (c != '\n')
			return HTTP_BARE_CR;
		body->state = BODY_SIZE;
		return HTTP_OK;
	default:
		return trailer_step(body, c);
	}
}

/* ---- the data, by the block ------------------------------------------------------ */

/* How much more data there may be. */
static uint64_t room(const struct http_body *body)
{
	return body->state == BODY_OPEN ? body->limits->size - body->size
					: body->left;
}

/* Takes data from @piece->used on. */
static enum http_body_event take_data(struct http_body *body, size_t size,
				      struct http_piece *piece)
{
	uint64_t there = size - piece->used;

	if (there > room(body))
		there = room(body);
	if (!there) { /* only in BODY_OPEN */
		fail(body, HTTP_BODY_TOO_LARGE);
		return HTTP_BODY_FAILED;
	}
	piece->at = piece->used;
	piece->size = (size_t)there;
	piece->used += (size_t)there;
	if (body->state == BODY_OPEN) {
		body->size += there;
		return HTTP_BODY_DATA;
	}
	body->left -= there;
	if (!body->left)
		body->state = body->state == BODY_DATA ? BODY_DATA_CR
						       : BODY_ENDED;
	return HTTP_BODY_DATA;
}

enum http_body_event http_body_next(struct http_body *body, const char *in,
				    size_t size, struct http_piece *piece)
{
	*piece = (struct http_piece){ 0 };
	for (;;) {
		unsigned char c;

		if (body->state == BODY_ENDED)
			return HTTP_BODY_END;
		if (body->state == BODY_FAILED)
			return HTTP_BODY_FAILED;
		if (piece->used == size)
			return HTTP_BODY_MORE;
		if (body->state == BODY_DATA || body->state == BODY_PLAIN ||
		    body->state == BODY_OPEN)
			return take_data(body, size, piece);
		c = (unsigned char)in[piece->used++];
		body->error = step(body, c);
		if (body->error)
			body->state = BODY_FAILED;
	}
}

enum http_body_event http_body_close(struct http_body *body)
{
	if (body->state == BODY_OPEN)
		body->state = BODY_ENDED;
	if (body->state == BODY_ENDED)
		return HTTP_BODY_END;
	if (body->state != BODY_FAILED)
		fail(body, HTTP_BODY_CUT);
	return HTTP_BODY_FAILED;
}
