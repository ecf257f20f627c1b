/* SPDX-License-Identifier: MIT */
/*
 * kept_line.c - see kept_line.h.
 */
#include "kept_line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FLAG_ISOLATED 1u
#define FIELDS 8

/* ---- copies --------------------------------------------------------------------------- */

/* @size bytes with a 0 behind. */
static char *copy(const void *from, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return NULL;
	if (size)
		memcpy(text, from, size);
	text[size] = '\0';
	return text;
}

int kept_line_copy(struct kept_pool *pool, const char *name,
		   const struct sley_pool_options *options)
{
	if (!options->module)
		return -EINVAL;
	*pool = (struct kept_pool){ .name = copy(name, strlen(name)),
				    .options = *options };
	pool->options.module = copy(options->module, strlen(options->module));
	pool->options.params = NULL;
	if (options->params_size)
		pool->options.params =
			copy(options->params, options->params_size);
	if (pool->name && pool->options.module &&
	    (pool->options.params || !options->params_size))
		return 0;
	kept_line_free(pool);
	return -ENOMEM;
}

void kept_line_free(struct kept_pool *pool)
{
	free(pool->name);
	free((char *)pool->options.module);
	free((char *)pool->options.params);
}

/* ---- numbers and bytes as texts -------------------------------------------------------- */

static uint32_t checksum(const char *text)
{
	uint32_t sum = UINT32_MAX;

	for (; *text; text++) {
		sum ^= (unsigned char)*text;
		for (int bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
	}
	return ~sum;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The bytes of a field, with a 0 behind; *@size is their number.  In place. */
static bool read_bytes(char *field, size_t *size)
{
	size_t length = strcmp(field, "-") == 0 ? 0 : strlen(field);

	if (length % 2)
		return false;
	for (size_t i = 0; i < length / 2; i++) {
		int high = digit(field[2 * i]), low = digit(field[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		field[i] = (char)(high << 4 | low);
	}
	*size = length / 2;
	field[*size] = '\0';
	return true;
}

static char *write_bytes(char *out, const char *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";

	*out++ = ' ';
	if (!size)
		*out++ = '-';
	for (size_t i = 0; i < size; i++) {
		*out++ = digits[(unsigned char)bytes[i] >> 4];
		*out++ = digits[bytes[i] & 15];
	}
	*out = '\0';
	return out;
}

static bool read_number(const char *field, int base, uint64_t max,
			uint64_t *number)
{
	char *end;

	if (digit(*field) < 0)
		return false;
	errno = 0;
	*number = strtoull(field, &end, base);
	return !*end && !errno && *number <= max;
}

/* ---- lines ------------------------------------------------------------------------------ */

/* Takes the line apart.  False: it has not so many fields. */
static bool split(char *line, char *field[FIELDS])
{
	for (int i = 0; i < FIELDS; i++) {
		field[i] = line;
		if (i + 1 == FIELDS)
			return !strchr(line, ' ');
		line = strchr(line, ' ');
		if (!line)
			return false;
		*line++ = '\0';
	}
	return false;
}

int kept_line_read(char *line, struct kept_pool *pool)
{
	struct sley_pool_options options = { .size = sizeof(options) };
	uint64_t sum, containers, flags, restarts;
	size_t name_size, module_size;
	char *rest = strchr(line, ' '), *field[FIELDS];

	if (!rest)
		return -EINVAL;
	*rest = '\0';
	if (!read_number(line, 16, UINT32_MAX, &sum) ||
	    sum != checksum(rest + 1))
		return -EINVAL;
	*rest = ' ';
	if (!split(line, field) || !read_bytes(field[1], &name_size) ||
	    !read_bytes(field[2], &module_size) ||
	    !read_number(field[3], 10, SLEY_CONTAINERS_MAX, &containers) ||
	    !read_number(field[4], 10, FLAG_ISOLATED, &flags) ||
	    !read_number(field[5], 10, UINT32_MAX, &restarts) ||
	    !read_number(field[6], 10, UINT64_MAX, &options.limit_ns) ||
	    !read_bytes(field[7], &options.params_size))
		return -EINVAL;
	if (strlen(field[1]) != name_size || strlen(field[2]) != module_size ||
	    !module_size)
		return -EINVAL;
	options.module = field[2];
	options.containers = (uint32_t)containers;
	options.isolated = flags & FLAG_ISOLATED;
	options.max_restarts = (uint32_t)restarts;
	options.params = field[7];
	return kept_line_copy(pool, field[1], &options);
}

int kept_line_write(const struct kept_pool *pool, FILE *file)
{
	const struct sley_pool_options *options = &pool->options;
	size_t size = 2 * (strlen(pool->name) + strlen(options->module) +
			   options->params_size) +
		      128;
	char *text = malloc(size), *at;
	int err = 0;

	if (!text)
		return -ENOMEM;
	at = write_bytes(text, pool->name, strlen(pool->name));
	at = write_bytes(at, options->module, strlen(options->module));
	at += snprintf(at, 100, " %u %u %u %" PRIu64, options->containers,
		       options->isolated ? FLAG_ISOLATED : 0,
		       options->max_restarts, options->limit_ns);
	write_bytes(at, options->params, options->params_size);
	if (fprintf(file, "%08" PRIx32 "%s\n", checksum(text + 1), text) < 0)
		err = -EIO;
	free(text);
	return err;
}
