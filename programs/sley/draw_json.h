/* SPDX-License-Identifier: MIT */
/*
 * draw_json.h - a JSON document, and the members at its places.
 *
 * jansson reads the text, and refuses text that is no JSON or no UTF-8, a name twice in
 * an object, a zero byte, and values that are nested too deeply.  draw_load() bounds how
 * many bytes jansson reads and, with draw_memory.h, how much memory jansson takes.
 *
 * The first fault ends the reading, and is told with its place: the line and column of
 * a fault in the text, the member (nodes[3].worker) of a wrong value.  Each function
 * that returns an int returns 0, or -1 after a message on standard error.
 */
#ifndef SLEY_PROGRAM_DRAW_JSON_H
#define SLEY_PROGRAM_DRAW_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Reads all of @file, which messages call @path.  Free *@document in any case. */
int draw_load(json_t **document, FILE *file, const char *path);

/* Returns -1.  Of @text only characters that no terminal obeys are printed. */
int draw_complain(const char *path, const char *text);

/* An object: the whole document, or an element of one of its arrays. */
struct place {
	const char *path; /* of the file */
	const json_t *object;
	const char *array; /* NULL: the whole */
	size_t index;
};

/* Returns -1, after a message about the member @key; "": the element itself. */
__attribute__((format(printf, 3, 4))) int place_wrong(const struct place *place,
						      const char *key,
						      const char *format, ...);

int place_get_text(const struct place *place, const char *key,
		   const char **out);

/* A whole number from 0 to @max. */
int place_get_number(const struct place *place, const char *key, json_int_t max,
		     json_int_t *out);

/* A number if @is_there, otherwise null, and *@out stays. */
int place_get_if(const struct place *place, const char *key, bool is_there,
		 json_int_t max, json_int_t *out);

/* *@out: the index among the @nr words. */
int place_get_word(const struct place *place, const char *key,
		   const char *const *word, unsigned int nr, unsigned int *out);

/* An array of at most @max elements. */
int place_get_array(const struct place *place, const char *key, size_t max,
		    const json_t **out);

/* Lets @place be the element of @array, an object, at @index. */
int place_get_element(struct place *place, const json_t *array, size_t index);

#endif
