/* SPDX-License-Identifier: MIT */
/*
 * json_text.h - JSON in memory of the caller, with a length as of snprintf(3).
 *
 * What does not fit is counted and not written.  So the caller learns how much memory
 * the whole text takes, and the text ends with a 0 in any case.
 */
#ifndef SLEY_ROUTE_JSON_TEXT_H
#define SLEY_ROUTE_JSON_TEXT_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_text {
	char *text;
	size_t size;   /* of the memory                               */
	size_t length; /* of the whole text, without the 0 at its end */
	bool is_first; /* the next member needs no comma              */
};

void json_begin(struct json_text *json, char *text, size_t size);

/* The length, or -EOVERFLOW. */
must_check int json_end(const struct json_text *json);

/*
 * Members of an object; @key NULL: of an array.  json_open() begins an object or
 * array, of which @bracket is the first letter, and json_close() ends it.
 */
void json_open(struct json_text *json, const char *key, char bracket);
void json_close(struct json_text *json, char bracket);
void json_number(struct json_text *json, const char *key, uint64_t number);
void json_bool(struct json_text *json, const char *key, bool value);
void json_null(struct json_text *json, const char *key);
void json_string(struct json_text *json, const char *key, const char *value);

#endif
