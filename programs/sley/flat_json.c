/* SPDX-License-Identifier: MIT */
/*
 * flat_json.c - see flat_json.h.
 */
#include "flat_json.h"

#include "screen.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define DEPTH_MAX 16

/* The length of the letter of UTF-8 at @text; 0: there is none. */
static size_t utf8_size(const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t length = at[0] < 0x80                    ? 1
			: at[0] >= 0xc2 && at[0] < 0xe0 ? 2
			: at[0] >= 0xe0 && at[0] < 0xf0 ? 3
			: at[0] >= 0xf0 && at[0] < 0xf5 ? 4
							: 0;

	if (length > size)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	}
	/* An overlong form, a half of a pair, or beyond Unicode. */
	if ((at[0] == 0xe0 && at[1] < 0xa0) ||
	    (at[0] == 0xed && at[1] >= 0xa0) ||
	    (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] >= 0x90))
		return 0;
	return length;
}

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

/* ---- letters --------------------------------------------------------------------------- */

/* The number of four hexadecimal digits; UINT32_MAX: these are none. */
static uint32_t read_code(const char *at)
{
	uint32_t code = 0;

	for (int i = 0; i < 4; i++) {
		const char digit = at[i];

		if (digit >= '0' && digit <= '9')
			code = code << 4 | (uint32_t)(digit - '0');
		else if (digit >= 'a' && digit <= 'f')
			code = code << 4 | (uint32_t)(digit - 'a' + 10);
		else if (digit >= 'A' && digit <= 'F')
			code = code << 4 | (uint32_t)(digit - 'A' + 10);
		else
			return UINT32_MAX;
	}
	return code;
}

/* As UTF-8; a half of a pair, and a zero, which would end the text, become U+FFFD. */
static size_t write_code(uint32_t code, char letter[4])
{
	if (!code || (code >= 0xd800 && code < 0xe000))
		code = 0xfffd;
	if (code < 0x80) {
		letter[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		letter[0] = (char)(0xc0 | code >> 6);
		letter[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	letter[0] = (char)(0xe0 | code >> 12);
	letter[1] = (char)(0x80 | (code >> 6 & 0x3f));
	letter[2] = (char)(0x80 | (code & 0x3f));
	return 3;
}

/* The letter at *@at, which moves behind it.  Its length. */
static size_t take_letter(const char **at, const char *end, char letter[4])
{
	static const char names[] = "bfnrt", meant[] = "\b\f\n\r\t";
	const char *name;
	size_t length;

	if (**at != '\\' || end - *at < 2) {
		length = utf8_size(*at, (size_t)(end - *at));
		length = length ? length : 1;
		memcpy(letter, *at, length);
		*at += length;
		return length;
	}
	if ((*at)[1] == 'u' && end - *at >= 6 &&
	    read_code(*at + 2) != UINT32_MAX) {
		length = write_code(read_code(*at + 2), letter);
		*at += 6;
		return length;
	}
	name = strchr(names, (*at)[1]);
	letter[0] = name ? meant[name - names] : (*at)[1];
	*at += 2;
	return 1;
}

const char *json_text(const char *value, char *out, size_t size)
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
	while (value < end) {
		char letter[4];
		size_t length = take_letter(&value, end, letter);

		if (used + length >= size)
			break;
		memcpy(out + used, letter, length);
		used += length;
	}
	out[used] = '\0';
	return out;
}

const char *json_show(const char *value, char *out, size_t size)
{
	(void)json_text(value, out, size);
	return screen_clean(out);
}

void json_put(FILE *file, const char *text, size_t size)
{
	fputc('"', file);
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		size_t length = utf8_size(text + i, size - i);

		if (!length)
			fputs("\\ufffd", file);
		else if (c == '"' || c == '\\')
			fprintf(file, "\\%c", c);
		else if (c < ' ' || c == 127)
			fprintf(file, "\\u%04x", c);
		else
			fwrite(text + i, 1, length, file);
		i += length ? length - 1 : 0;
	}
	fputc('"', file);
}
