/* SPDX-License-Identifier: MIT */
/*
 * draw_json.c - see draw_json.h.
 */
#include "draw_json.h"
#include "draw_memory.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define BYTES_MAX (256u << 20)

/* ---- complaints ----------------------------------------------------------- */

int draw_complain(const char *path, const char *text)
{
	fprintf(stderr, "sley draw: %s: ", path);
	for (; *text; text++)
		fputc(*text < 0x20 || *text > 0x7e ? '?' : *text, stderr);
	fputc('\n', stderr);
	return -1;
}

int place_wrong(const struct place *place, const char *key, const char *format,
		...)
{
	char what[200], text[320];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (place->array)
		snprintf(text, sizeof(text), "%s[%zu]%s%s: %s", place->array,
			 place->index, *key ? "." : "", key, what);
	else
		snprintf(text, sizeof(text), "%s: %s", key, what);
	return draw_complain(place->path, text);
}

/* ---- the text -------------------------------------------------------------- */

struct source {
	FILE *file;
	size_t nr_bytes;
	int error; /* of reading */
};

static size_t next_bytes(void *buffer, size_t size, void *arg)
{
	struct source *source = arg;
	size_t nr = fread(buffer, 1, size, source->file);

	if (ferror(source->file))
		source->error = errno;
	source->nr_bytes += nr;
	return source->nr_bytes > BYTES_MAX ? 0 : nr;
}

int draw_load(json_t **document, FILE *file, const char *path)
{
	struct source source = { .file = file };
	json_error_t error = { .line = 0 };
	char text[JSON_ERROR_TEXT_LENGTH + 80];

	json_set_alloc_funcs(draw_malloc, draw_free);
	*document = json_load_callback(next_bytes, &source,
				       JSON_REJECT_DUPLICATES, &error);
	if (source.error)
		return draw_complain(path, strerror(source.error));
	if (source.nr_bytes > BYTES_MAX)
		return draw_complain(path, "is longer than 256 MiB");
	if (*document)
		return 0;
	if (draw_memory_refused())
		return draw_complain(path, "takes more than 2 GiB of memory, "
					   "or more than there is");
	snprintf(text, sizeof(text), "line %d, column %d: %s", error.line,
		 error.column, error.text);
	return draw_complain(path, text);
}

/* ---- members --------------------------------------------------------------- */

int place_get_text(const struct place *place, const char *key, const char **out)
{
	const json_t *value = json_object_get(place->object, key);

	if (!json_is_string(value))
		return place_wrong(place, key, "a text is expected");
	*out = json_string_value(value);
	return 0;
}

int place_get_number(const struct place *place, const char *key, json_int_t max,
		     json_int_t *out)
{
	const json_t *value = json_object_get(place->object, key);

	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    json_integer_value(value) > max)
		return place_wrong(
			place, key,
			"a whole number from 0 to %" JSON_INTEGER_FORMAT
			" is expected",
			max);
	*out = json_integer_value(value);
	return 0;
}

int place_get_if(const struct place *place, const char *key, bool is_there,
		 json_int_t max, json_int_t *out)
{
	if (is_there)
		return place_get_number(place, key, max, out);
	if (!json_is_null(json_object_get(place->object, key)))
		return place_wrong(place, key,
				   "null is expected in this state");
	return 0;
}

int place_get_word(const struct place *place, const char *key,
		   const char *const *word, unsigned int nr, unsigned int *out)
{
	const char *text = NULL;

	if (place_get_text(place, key, &text))
		return -1;
	for (*out = 0; *out < nr; ++*out) {
		if (!strcmp(text, word[*out]))
			return 0;
	}
	return place_wrong(place, key, "\"%.40s\" is none of its words", text);
}

int place_get_array(const struct place *place, const char *key, size_t max,
		    const json_t **out)
{
	*out = json_object_get(place->object, key);
	if (!json_is_array(*out))
		return place_wrong(place, key, "an array is expected");
	if (json_array_size(*out) > max)
		return place_wrong(place, key, "there are more than %zu", max);
	return 0;
}

int place_get_element(struct place *place, const json_t *array, size_t index)
{
	place->index = index;
	place->object = json_array_get(array, index);
	if (!json_is_object(place->object))
		return place_wrong(place, "", "an object is expected");
	return 0;
}
