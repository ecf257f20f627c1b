/* SPDX-License-Identifier: MIT */
#include "fuzz/http_reference.h"

#include <string.h>
#include <strings.h>

static const char letters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

static bool is_one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

static bool all_of(const char *text, size_t size, const char *more)
{
	for (size_t i = 0; i < size; i++) {
		if (!is_one_of(text[i], letters) && !is_one_of(text[i], more))
			return false;
	}
	return true;
}

static bool is_token(const char *text, size_t size)
{
	return size && all_of(text, size, "!#$%&'*+-.^_`|~");
}

/* No control characters but tabs. */
static bool is_text(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if ((c < 32 && c != 9) || c == 127)
			return false;
	}
	return true;
}

/* The size of the line at @text without its CR LF; -1: no line, or not a good one. */
static long line_size(const char *text, size_t size)
{
	for (size_t i = 0; i + 1 < size; i++) {
		if (text[i] == '\r' && text[i + 1] == '\n')
			return is_text(text, i) ? (long)i : -1;
	}
	return -1;
}

static bool is(const char *text, size_t size, const char *wanted)
{
	return size == strlen(wanted) && !strncasecmp(text, wanted, size);
}

static void trim(const char **text, size_t *size)
{
	while (*size && is_one_of(**text, " \t")) {
		++*text;
		--*size;
	}
	while (*size && is_one_of((*text)[*size - 1], " \t"))
		--*size;
}

static bool lists(const char *text, size_t size, const char *wanted)
{
	while (size) {
		const char *comma = memchr(text, ',', size);
		size_t used = comma ? (size_t)(comma - text) : size;
		const char *element = text;
		size_t element_size = used;

		trim(&element, &element_size);
		if (is(element, element_size, wanted))
			return true;
		used += comma != NULL;
		text += used;
		size -= used;
	}
	return false;
}

static bool request_line(const char *line, size_t size, int *minor)
{
	const char *first = memchr(line, ' ', size);
	const char *second;

	if (!first || !is_token(line, (size_t)(first - line)))
		return false;
	second = memchr(first + 1, ' ', size - (size_t)(first + 1 - line));
	if (!second || second == first + 1 || line + size - second != 9)
		return false;
	for (const char *c = first + 1; c < second; c++) {
		if (*c < 33 || *c > 126)
			return false;
	}
	*minor = second[8] - '0';
	return !memcmp(second, " HTTP/1.", 8) && (*minor == 0 || *minor == 1);
}

static bool status_line(const char *line, size_t size, int *minor, int *status)
{
	if (size < 13 || memcmp(line, "HTTP/1.", 7) != 0 || line[8] != ' ' ||
	    line[12] != ' ')
		return false;
	for (int i = 9; i < 12; i++) {
		if (!is_one_of(line[i], "0123456789"))
			return false;
		*status = *status * 10 + line[i] - '0';
	}
	*minor = line[7] - '0';
	return (*minor == 0 || *minor == 1) && *status >= 100 && *status < 600;
}

static bool number(const char *text, size_t size, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < size; i++) {
		if (!is_one_of(text[i], "0123456789"))
			return false;
		*value = *value * 10 + (uint64_t)(text[i] - '0');
		if (*value > INT64_MAX)
			return false;
	}
	/* More digits than these could have wrapped around. */
	while (size > 19 && *text == '0') {
		text++;
		size--;
	}
	return size && size <= 19;
}

static bool meanings(struct reference_head *head, int minor, bool is_response)
{
	int nr_hosts = 0, nr_lengths = 0, nr_codings = 0;
	bool closes = false, keeps = false;

	for (size_t i = 0; i < head->nr_fields; i++) {
		const char *name = head->names[i], *value = head->values[i];
		size_t size = head->name_sizes[i];
		size_t value_size = head->value_sizes[i];

		if (is(name, size, "host") && !is_response) {
			nr_hosts++;
			if (!all_of(value, value_size, "!$%&'()*+,-.:;=[]_~"))
				return false;
		} else if (is(name, size, "content-length")) {
			nr_lengths++;
			if (!number(value, value_size, &head->length))
				return false;
		} else if (is(name, size, "transfer-encoding")) {
			nr_codings++;
			if (!is(value, value_size, "chunked"))
				return false;
		} else if (is(name, size, "connection")) {
			closes |= lists(value, value_size, "close");
			keeps |= lists(value, value_size, "keep-alive");
		} else if (is(name, size, "expect") && !is_response) {
			head->expects_continue |=
				minor && is(value, value_size, "100-continue");
		}
	}
	head->keep_alive = !closes && (minor || keeps);
	head->has_length = nr_lengths;
	head->is_chunked = nr_codings;
	return nr_hosts <= 1 && (nr_hosts || !minor || is_response) &&
	       nr_lengths + nr_codings <= 1 && (minor || !nr_codings);
}

static bool field(const char *line, size_t size, struct reference_head *head)
{
	const char *colon = memchr(line, ':', size), *value;
	size_t nr = head->nr_fields, value_size;

	if (!colon || !is_token(line, (size_t)(colon - line)))
		return false;
	value = colon + 1;
	value_size = size - (size_t)(value - line);
	trim(&value, &value_size);
	head->names[nr] = line;
	head->name_sizes[nr] = (size_t)(colon - line);
	head->values[nr] = value;
	head->value_sizes[nr] = value_size;
	head->nr_fields++;
	return true;
}

bool reference_head(const char *text, size_t size, bool is_response,
		    const struct reference_limits *limits,
		    struct reference_head *head)
{
	int minor = 0;
	long line;

	memset(head, 0, sizeof(*head));
	if (!is_response && size >= 2 && !memcmp(text, "\r\n", 2))
		head->size = 2;
	line = line_size(text + head->size, size - head->size);
	if (line < 0 || (size_t)line + 2 > limits->line_size)
		return false;
	if (is_response
		    ? !status_line(text, (size_t)line, &minor, &head->status)
		    : !request_line(text + head->size, (size_t)line, &minor))
		return false;
	for (;;) {
		head->size += (size_t)line + 2;
		line = line_size(text + head->size, size - head->size);
		if (line <= 0)
			break;
		if (head->nr_fields == limits->nr_fields ||
		    !field(text + head->size, (size_t)line, head))
			return false;
	}
	head->size += 2;
	return line == 0 && head->size <= limits->head_size &&
	       meanings(head, minor, is_response);
}

/* The size in front of a line of @line bytes; -1: malformed. */
static long chunk_size(const char *text, size_t line, size_t *extensions)
{
	size_t nr = 0;
	long size = 0;

	while (nr < line && is_one_of(text[nr], "0123456789abcdefABCDEF")) {
		int digit = text[nr] <= '9' ? text[nr] - '0'
					    : (text[nr] | 32) - 'a' + 10;

		if (size < 1 << 20)
			size = size * 16 + digit;
		nr++;
	}
	if (nr == 0 || nr > 16)
		return -1;
	if (nr == line)
		return size;
	text += nr;
	line -= nr;
	/* The first byte does not count. */
	*extensions += line - 1;
	while (line && is_one_of(*text, " \t")) {
		text++;
		line--;
	}
	return line && *text == ';' ? size : -1;
}

static bool trailers(const char *text, size_t size, size_t max,
		     struct reference_chunks *chunks)
{
	size_t begin = chunks->size;
	struct reference_head head = { 0 };

	for (;;) {
		long line = line_size(text + chunks->size, size - chunks->size);

		if (line < 0)
			return false;
		if (line == 0)
			break;
		if (head.nr_fields == 3 ||
		    !field(text + chunks->size, (size_t)line, &head))
			return false;
		chunks->size += (size_t)line + 2;
	}
	if (chunks->size - begin > max)
		return false;
	chunks->size += 2;
	return true;
}

bool reference_chunks(const char *text, size_t size, size_t max_extensions,
		      size_t max_trailers, struct reference_chunks *chunks)
{
	size_t extensions = 0;

	chunks->size = chunks->data_size = 0;
	for (;;) {
		long line = line_size(text + chunks->size, size - chunks->size);
		long chunk;

		if (line < 0)
			return false;
		chunk = chunk_size(text + chunks->size, (size_t)line,
				   &extensions);
		if (chunk < 0 || extensions > max_extensions)
			return false;
		chunks->size += (size_t)line + 2;
		if (chunk == 0)
			return trailers(text, size, max_trailers, chunks);
		if ((size_t)chunk + 2 > size - chunks->size ||
		    (size_t)chunk > sizeof(chunks->data) - chunks->data_size)
			return false;
		memcpy(chunks->data + chunks->data_size, text + chunks->size,
		       (size_t)chunk);
		chunks->data_size += (size_t)chunk;
		chunks->size += (size_t)chunk + 2;
		if (memcmp(text + chunks->size - 2, "\r\n", 2) != 0)
			return false;
	}
}
