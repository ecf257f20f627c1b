/* SPDX-License-Identifier: MIT */
/*
 * error.h - why a message is refused.
 *
 * Each reason has a sentence for a log or for the body of an answer, and the status
 * code that a server answers with.  docs/adr/0034-http-is-parsed-strictly.md says why
 * these messages are refused.
 */
#ifndef SLEY_HTTP_ERROR_H
#define SLEY_HTTP_ERROR_H

enum http_error {
	HTTP_OK,

	/* any line of a head */
	HTTP_BARE_CR,
	HTTP_BARE_LF,

	/* the first line */
	HTTP_EMPTY_LINES,
	HTTP_BAD_LINE,
	HTTP_BAD_METHOD,
	HTTP_BAD_TARGET,
	HTTP_BAD_VERSION,
	HTTP_OTHER_VERSION,
	HTTP_BAD_STATUS,
	HTTP_BAD_REASON,

	/* fields */
	HTTP_FOLDED_LINE,
	HTTP_SPACE_BEFORE_COLON,
	HTTP_EMPTY_NAME,
	HTTP_BAD_NAME,
	HTTP_BAD_VALUE,

	/* what fields mean */
	HTTP_LENGTH_TWICE,
	HTTP_BAD_LENGTH,
	HTTP_LENGTH_OVERFLOW,
	HTTP_LENGTH_AND_CODING,
	HTTP_CODING_TWICE,
	HTTP_CODING_IN_1_0,
	HTTP_CODING_NOT_CHUNKED,
	HTTP_OTHER_CODING,
	HTTP_NO_HOST,
	HTTP_HOST_TWICE,
	HTTP_BAD_HOST,

	/* limits of a head */
	HTTP_LINE_TOO_LONG,
	HTTP_HEAD_TOO_LARGE,
	HTTP_TOO_MANY_FIELDS,

	/* bodies */
	HTTP_BAD_CHUNK_SIZE,
	HTTP_CHUNK_OVERFLOW,
	HTTP_BAD_CHUNK_END,
	HTTP_BAD_EXTENSION,
	HTTP_EXTENSION_TOO_LONG,
	HTTP_TRAILERS_TOO_LARGE,
	HTTP_BODY_TOO_LARGE,
	HTTP_BODY_CUT,

	/* targets */
	HTTP_BAD_FORM,
	HTTP_BAD_ESCAPE,
	HTTP_ESCAPED_CONTROL,
	HTTP_ESCAPED_SLASH,
	HTTP_DOT_SEGMENT,
	HTTP_PATH_TOO_LONG,

	HTTP_NR_ERRORS
};

/* A sentence without its full stop. */
const char *http_error_text(enum http_error error);

/* 400, 413, 414, 431, 501 or 505; 200 for HTTP_OK. */
int http_error_status(enum http_error error);

#endif
