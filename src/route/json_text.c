/* SPDX-License-Identifier: MIT */
/*
 * json_text.c - see json_text.h.
 */
#include "route/json_text.h"

#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

/* ---- bytes ------------------------------------------------------------------------- */

static void add(struct json_text *json, const char *piece, size_t length)
{
	size_t room = json->length + 1 < json->size
			      ? json->size - 1 - json->length
			      : 0;
	size_t n = length < room ? length : room;

	if (n) {
		memcpy(json->text + json->length, piece, n);
		json->text[json->length + n] = '\0';
	}
	json->length += length;
}

static void add_text(struct json_text *json, const char *text)
{
	add(json, text, strlen(text));
}

static void add_quoted(struct json_text *json, const char *text)
{
	size_t size = strlen(text), used, length;
	char letter[JSON_LETTER];

	add(json, "\"", 1);
	for (; size; text += used, size -= used) {
		used = json_letter(text, size, letter, &length);
		add(json, letter, length);
	}
	add(json, "\"", 1);
}

/* ---- the whole --------------------------------------------------------------------- */

void json_begin(struct json_text *json, char *text, size_t size)
{
	*json = (struct json_text){ .text = text,
				    .size = size,
				    .is_first = true };
	if (size)
		*text = '\0';
}

int json_end(const struct json_text *json)
{
	return json->length <= INT_MAX ? (int)json->length : -EOVERFLOW;
}

/* ---- members ----------------------------------------------------------------------- */

static void add_key(struct json_text *json, const char *key)
{
	if (!json->is_first)
		add(json, ",", 1);
	json->is_first = false;
	if (!key)
		return;
	add_quoted(json, key);
	add(json, ":", 1);
}

void json_open(struct json_text *json, const char *key, char bracket)
{
	add_key(json, key);
	add(json, &bracket, 1);
	json->is_first = true;
}

void json_close(struct json_text *json, char bracket)
{
	add(json, &bracket, 1);
	json->is_first = false;
}

void json_number(struct json_text *json, const char *key, uint64_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, number);
	add_key(json, key);
	add_text(json, digits);
}

void json_bool(struct json_text *json, const char *key, bool value)
{
	add_key(json, key);
	add_text(json, value ? "true" : "false");
}

void json_null(struct json_text *json, const char *key)
{
	add_key(json, key);
	add_text(json, "null");
}

void json_string(struct json_text *json, const char *key, const char *value)
{
	add_key(json, key);
	add_quoted(json, value);
}
