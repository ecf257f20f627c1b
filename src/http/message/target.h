/* SPDX-License-Identifier: MIT */
/*
 * target.h - the parts of the target of a request, and the path without escapes.
 *
 *   /path?query                  a path: the usual form
 *   http://host:port/path?query  an address: for proxies, but a server must take it
 *   *                            the server as a whole, for OPTIONS
 *
 * The form of CONNECT, "host:port", is refused: nothing here tunnels.
 *
 * http_path_decode() refuses a path with a segment "." or "..", also in escapes, and
 * does not remove it: clients remove these segments before they send, so only an
 * attack has them; two spellings of one path are a way around rules about paths.  An
 * escaped slash is refused for the same reason: the server would see a file in a
 * folder where its rules saw a single name.
 */
#ifndef SLEY_HTTP_TARGET_H
#define SLEY_HTTP_TARGET_H

#include "http/message/error.h"
#include "http/message/head.h"

enum http_form { HTTP_FORM_PATH, HTTP_FORM_ADDRESS, HTTP_FORM_SERVER };

/* The slices are parts of the target. */
struct http_target {
	enum http_form form;
	struct http_slice host; /* with the port; of an address only          */
	struct http_slice path; /* with escapes; empty: "/" is meant           */
	struct http_slice query; /* with escapes, behind the question mark      */
	bool has_query;
	bool is_secure; /* an address with "https" */
};

/* HTTP_OK or HTTP_BAD_FORM.  @text of @size bytes is .target of a head. */
enum http_error http_target_split(const char *text, uint32_t size,
				  struct http_target *target);

/*
 * Writes @path of @size bytes, without escapes and with a NUL behind, to the @max bytes
 * at @to.  *@length is the length without the NUL.  The path begins with a slash, and
 * has no control character, no slash that was an escape, and no segment "." or "..".
 * Segments may be empty.
 */
enum http_error http_path_decode(const char *path, uint32_t size, char *to,
				 size_t max, size_t *length);

#endif
