/* SPDX-License-Identifier: MIT */
/*
 * param.c - <sley/param.h>: lines of "name=value".
 */
#include "base/compiler.h"

#include <errno.h>
#include <sley/param.h>
#include <string.h>
#include <strings.h>

/* A line of the text: its name, and the value behind the '='. */
struct line {
	const char *name, *value;
	size_t name_size, value_size;
};

/* Takes the line at *@at, and moves *@at behind it.  -ENOENT: no more; -EINVAL. */
static int take_line(const char **at, const char *end, struct line *line)
{
	const char *stop, *equals;

	if (*at == end)
		return -ENOENT;
	stop = memchr(*at, '\n', (size_t)(end - *at));
	if (!stop)
		stop = end;
	equals = memchr(*at, '=', (size_t)(stop - *at));
	if (!equals)
		return -EINVAL;
	*line = (struct line){
		.name = *at,
		.name_size = (size_t)(equals - *at),
		.value = equals + 1,
		.value_size = (size_t)(stop - equals - 1),
	};
	*at = stop == end ? end : stop + 1;
	return 0;
}

bool sley_params_are_text(const void *params, size_t size)
{
	uint32_t first;

	if (!params || !size)
		return false;
	if (size < sizeof(first))
		return true;
	memcpy(&first, params, sizeof(first));
	return first > size; /* four letters are a large number */
}

/* Is the name one of @names, or does it begin with one that ends with a point? */
static bool is_known(const struct line *line, const char *const *names)
{
	for (; *names; names++) {
		size_t size = strlen(*names);
		bool begins = size && (*names)[size - 1] == '.';

		if ((begins ? line->name_size > size
			    : line->name_size == size) &&
		    !memcmp(line->name, *names, size))
			return true;
	}
	return false;
}

int sley_params_check(const void *params, size_t size, const char *const *names)
{
	const char *at = params, *end = params ? at + size : at;
	struct line line;
	int err;

	while (!(err = take_line(&at, end, &line))) {
		if (!is_known(&line, names))
			return -EINVAL;
	}
	return err == -ENOENT ? 0 : err;
}

const char *sley_param_find(const void *params, size_t size, const char *name,
			    size_t *value_size)
{
	const char *at = params, *end = params ? at + size : at;
	const char *const names[] = { name, NULL };
	struct line line;

	while (!take_line(&at, end, &line)) {
		if (line.name_size == strlen(name) && is_known(&line, names)) {
			*value_size = line.value_size;
			return line.value;
		}
	}
	return NULL;
}

/* Is the text of @size letters this @word?  Capital letters count as small. */
static bool is_word(const char *text, size_t size, const char *word)
{
	return size == strlen(word) && !strncasecmp(text, word, size);
}

int sley_param_switch(const void *params, size_t size, const char *name,
		      bool *on)
{
	static const char *const words[][2] = { { "false", "true" },
						{ "no", "yes" },
						{ "off", "on" } };
	size_t nr = 0;
	const char *text = sley_param_find(params, size, name, &nr);

	if (!text)
		return -ENOENT;
	for (size_t i = 0; i < array_size(words); i++) {
		bool is_on = is_word(text, nr, words[i][1]);

		if (is_on || is_word(text, nr, words[i][0])) {
			*on = is_on;
			return 0;
		}
	}
	return -EINVAL;
}

int sley_param_number(const void *params, size_t size, const char *name,
		      uint64_t *number)
{
	size_t nr = 0;
	const char *text = sley_param_find(params, size, name, &nr);
	uint64_t sum = 0;

	if (!text)
		return -ENOENT;
	for (size_t i = 0; i < nr; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -EINVAL;
	}
	for (size_t i = 0; i < nr; i++) {
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(text[i] - '0'),
					   &sum))
			return -ERANGE;
	}
	if (!nr)
		return -EINVAL;
	*number = sum;
	return 0;
}
