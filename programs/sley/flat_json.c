/* SPDX-License-Identifier: MIT */
/*
 * flat_json.c - see flat_json.h.
 */
#include "flat_json.h"

#include <stdbool.h>
#include <string.h>

#define DEPTH_MAX 16

static const char *skip_space(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

/* Behind the text that begins at @at; NULL: it has no end. */
static const char *skip_text(const char *at)
{
	for (at++; *at && *at != '"'; at++) {
		if (*at == '\\' && !*++at)
			return NULL;
	}
	return *at ? at + 1 : NULL;
}

static const char *skip_value(const char *at, int depth);

/* Behind an object or an array. */
static const char *skip_many(const char *at, int depth)
{
	char end = *at == '{' ? '}' : ']';

	at = skip_space(at + 1);
	if (*at == end)
		return at + 1;
	while (depth < DEPTH_MAX) {
		if (end == '}') {
			at = *at == '"' ? skip_text(at) : NULL;
			at = at ? skip_space(at) : NULL;
			if (!at || *at != ':')
				return NULL;
			at = skip_space(at + 1);
		}
		at = skip_value(at, depth + 1);
		at = at ? skip_space(at) : NULL;
		if (!at || *at == end)
			return at ? at + 1 : NULL;
		if (*at != ',')
			return NULL;
		at = skip_space(at + 1);
	}
	return NULL;
}

/* NULL: there is no value. */
static const char *skip_value(const char *at, int depth)
{
	size_t length;

	if (*at == '"')
		return skip_text(at);
	if (*at == '{' || *at == '[')
		return skip_many(at, depth);
	length = strspn(at, "+-.0123456789abcdefghijklmnopqrstuvwxyzE");
	return length ? at + length : NULL;
}

const char *json_first(const char *array)
{
	if (!array || *array != '[')
		return NULL;
	array = skip_space(array + 1);
	return *array && *array != ']' ? array : NULL;
}

const char *json_next(const char *element)
{
	element = skip_value(element, 0);
	element = element ? skip_space(element) : NULL;
	if (!element || *element != ',')
		return NULL;
	element = skip_space(element + 1);
	return *element ? element : NULL;
}

const char *json_member(const char *object, const char *key)
{
	size_t length = strlen(key);
	const char *at;

	if (!object || *object != '{')
		return NULL;
	for (at = skip_space(object + 1); at && *at == '"';) {
		bool is_key = !strncmp(at + 1, key, length) &&
			      at[length + 1] == '"';

		at = skip_text(at);
		at = at ? skip_space(at) : NULL;
		if (!at || *at != ':')
			return NULL;
		at = skip_space(at + 1);
		if (is_key)
			return *at ? at : NULL;
		at = json_next(at);
	}
	return NULL;
}

const char *json_show(const char *value, char *out, size_t size)
{
	const char *end = value ? skip_value(value, 0) : NULL;
	size_t used = 0;

	out[0] = '\0';
	if (!end || *value == '{' || *value == '[')
		return out;
	if (*value == '"') {
		value++;
		end--;
	}
	for (; value < end && used + 1 < size; value++) {
		if (*value == '\\' && value + 1 < end)
			value++;
		out[used++] = *value >= ' ' && *value < 127 ? *value : '?';
	}
	out[used] = '\0';
	return out;
}

void json_put(FILE *file, const char *text, size_t size)
{
	fputc('"', file);
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			fprintf(file, "\\%c", c);
		else if (c < ' ' || c == 127)
			fprintf(file, "\\u%04x", c);
		else
			fputc(c, file);
	}
	fputc('"', file);
}
