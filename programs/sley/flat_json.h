/* SPDX-License-Identifier: MIT */
/*
 * flat_json.h - the answers of a daemon, which are JSON, without a tree of them.
 *
 * A value is the address of its first letter.  The text may be anything: it comes from
 * another process.  So each step looks where it is, and a text that is no JSON has no
 * members.
 */
#ifndef SLEY_PROGRAM_FLAT_JSON_H
#define SLEY_PROGRAM_FLAT_JSON_H

#include <stddef.h>
#include <stdio.h>

/* The value of the member @key of an object, or NULL. */
const char *json_member(const char *object, const char *key);

/* The first element of an array, and the element behind @element; or NULL. */
const char *json_first(const char *array);
const char *json_next(const char *element);

/*
 * A text, or a number or a word as it is written.  An empty text if @value is NULL, an object
 * or an array.  json_text() is for programs, in UTF-8, whole letters only; json_show() is for
 * people: what is no printable ASCII is shown as '?'.
 */
const char *json_text(const char *value, char *out, size_t size);
const char *json_show(const char *value, char *out, size_t size);

/*
 * Prints @size bytes of @text as a JSON text, with its quotes.  Bytes that are no UTF-8
 * become U+FFFD.
 */
void json_put(FILE *file, const char *text, size_t size);

#endif
