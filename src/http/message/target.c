/* SPDX-License-Identifier: MIT */
#include "http/message/target.h"

#include "http/message/chars.h"

/* The place of @c in @text from @from on, or @size. */
static uint32_t find(const char *text, uint32_t from, uint32_t size, char c)
{
	while (from < size && text[from] != c)
		from++;
	return from;
}

/* The path from @at on, and the query. */
static void split_path(const char *text, uint32_t at, uint32_t size,
		       struct http_target *target)
{
	uint32_t mark = find(text, at, size, '?');

	target->path = (struct http_slice){ at, mark - at };
	target->has_query = mark < size;
	if (target->has_query)
		target->query =
			(struct http_slice){ mark + 1, size - mark - 1 };
}

/* The size of "http://" or "https://", or 0. */
static uint32_t scheme_size(const char *text, uint32_t size)
{
	const unsigned char *bytes = (const unsigned char *)text;

	if (size >= 7 && http_same(bytes, "http", 4) &&
	    memcmp(text + 4, "://", 3) == 0)
		return 7;
	if (size >= 8 && http_same(bytes, "https", 5) &&
	    memcmp(text + 5, "://", 3) == 0)
		return 8;
	return 0;
}

static enum http_error split_address(const char *text, uint32_t size,
				     struct http_target *target)
{
	uint32_t begin = scheme_size(text, size);
	uint32_t end = begin;

	if (!begin)
		return HTTP_BAD_FORM;
	while (end < size && text[end] != '/' && text[end] != '?') {
		/* Neither a user nor a password: RFC 9110, section 4.2.4. */
		if (!http_is((unsigned char)text[end], HTTP_HOST))
			return HTTP_BAD_FORM;
		end++;
	}
	if (end == begin)
		return HTTP_BAD_FORM;
	target->form = HTTP_FORM_ADDRESS;
	target->is_secure = begin == 8;
	target->host = (struct http_slice){ begin, end - begin };
	split_path(text, end, size, target);
	return HTTP_OK;
}

enum http_error http_target_split(const char *text, uint32_t size,
				  struct http_target *target)
{
	*target = (struct http_target){ .form = HTTP_FORM_PATH };
	/* A fragment stays with the client. */
	if (find(text, 0, size, '#') < size)
		return HTTP_BAD_FORM;
	if (size == 1 && text[0] == '*') {
		target->form = HTTP_FORM_SERVER;
		return HTTP_OK;
	}
	if (size == 0 || text[0] != '/')
		return split_address(text, size, target);
	split_path(text, 0, size, target);
	return HTTP_OK;
}

/* Does a segment that ends before @end, in a path without escapes, have only dots? */
static bool is_dots(const char *path, size_t end)
{
	size_t nr = 0;

	while (path[end - nr - 1] == '.')
		nr++;
	return (nr == 1 || nr == 2) && path[end - nr - 1] == '/';
}

/* The byte at path[*@at], which may be an escape; *@at moves behind. */
static enum http_error take_byte(const char *path, uint32_t size, uint32_t *at,
				 char *byte)
{
	unsigned char high, low;

	*byte = path[(*at)++];
	if (*byte != '%')
		return http_is((unsigned char)*byte, HTTP_VISIBLE)
			       ? HTTP_OK
			       : HTTP_BAD_TARGET;
	if (size - *at < 2)
		return HTTP_BAD_ESCAPE;
	high = (unsigned char)path[(*at)++];
	low = (unsigned char)path[(*at)++];
	if (!http_is(high, HTTP_HEX) || !http_is(low, HTTP_HEX))
		return HTTP_BAD_ESCAPE;
	*byte = (char)(http_hex_value(high) << 4 | http_hex_value(low));
	if (*byte == '/')
		return HTTP_ESCAPED_SLASH;
	if ((unsigned char)*byte < ' ' || *byte == 0x7f)
		return HTTP_ESCAPED_CONTROL;
	return HTTP_OK;
}

enum http_error http_path_decode(const char *path, uint32_t size, char *to,
				 size_t max, size_t *length)
{
	size_t nr = 0;

	if (!size) {
		path = "/";
		size = 1;
	}
	if (path[0] != '/')
		return HTTP_BAD_FORM;
	for (uint32_t at = 0; at < size;) {
		char byte;
		enum http_error error = take_byte(path, size, &at, &byte);

		if (error)
			return error;
		if (byte == '/' && nr && is_dots(to, nr))
			return HTTP_DOT_SEGMENT;
		if (nr + 1 >= max)
			return HTTP_PATH_TOO_LONG;
		to[nr++] = byte;
	}
	if (is_dots(to, nr))
		return HTTP_DOT_SEGMENT;
	to[nr] = '\0';
	*length = nr;
	return HTTP_OK;
}
