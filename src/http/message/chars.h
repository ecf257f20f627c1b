/* SPDX-License-Identifier: MIT */
/*
 * chars.h - classes of characters, and how to skip over runs of a class.
 *
 * The skips are the inner loops of the parser.  Two of them look at eight bytes
 * at a time with plain arithmetic, and mark bytes that are not of the class.  Each such
 * byte gets a mark.  A borrow or a carry into the next byte may mark a good byte, too:
 * only the lowest mark counts, and http_skip_value() looks at it again.
 */
#ifndef SLEY_HTTP_CHARS_H
#define SLEY_HTTP_CHARS_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum http_class {
	HTTP_TOKEN = 1 << 0,   /* methods and names of fields             */
	HTTP_VALUE = 1 << 1,   /* values: no control characters but HTAB  */
	HTTP_VISIBLE = 1 << 2, /* targets: ASCII, neither space nor control */
	HTTP_HOST = 1 << 3,    /* a host and its port                     */
	HTTP_DIGIT = 1 << 4,
	HTTP_HEX = 1 << 5,
	HTTP_SPACE = 1 << 6, /* space and HTAB */
};

extern const unsigned char http_classes[256];

static inline bool http_is(unsigned char c, enum http_class class)
{
	return http_classes[c] & class;
}

/* The value of a character of HTTP_HEX. */
static inline unsigned int http_hex_value(unsigned char c)
{
	return c <= '9' ? c - '0' + 0u : (c | 0x20) - 'a' + 10u;
}

#define HTTP_ONES 0x0101010101010101u
#define HTTP_HIGH 0x8080808080808080u

/* Eight bytes; the first one is the lowest. */
static inline uint64_t http_word(const unsigned char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/* In bytes: where the lowest byte with a mark is. */
static inline size_t http_first_mark(uint64_t marks)
{
	return (size_t)__builtin_ctzll(marks) / 8;
}

/*
 * The skips return the first byte that is not of the class.  There must be one before
 * @end: the caller looks for a line feed first.  So single bytes need no comparison
 * with the end.
 */
static inline const unsigned char *http_skip(const unsigned char *at,
					     enum http_class class)
{
	for (;; at += 8) {
		if (!http_is(at[0], class))
			return at;
		if (!http_is(at[1], class))
			return at + 1;
		if (!http_is(at[2], class))
			return at + 2;
		if (!http_is(at[3], class))
			return at + 3;
		if (!http_is(at[4], class))
			return at + 4;
		if (!http_is(at[5], class))
			return at + 5;
		if (!http_is(at[6], class))
			return at + 6;
		if (!http_is(at[7], class))
			return at + 7;
	}
}

static inline const unsigned char *http_skip_visible(const unsigned char *at,
						     const unsigned char *end)
{
	for (; end - at >= 8; at += 8) {
		uint64_t word = http_word(at);
		/* below '!', DEL, above ASCII */
		uint64_t marks =
			((word - HTTP_ONES * '!') | (word + HTTP_ONES) | word) &
			HTTP_HIGH;

		if (marks)
			return at + http_first_mark(marks);
	}
	return http_skip(at, HTTP_VISIBLE);
}

static inline const unsigned char *http_skip_value(const unsigned char *at,
						   const unsigned char *end)
{
	while (end - at >= 8) {
		uint64_t word = http_word(at);
		/* below ' ', DEL, and perhaps a good byte above 0xff */
		uint64_t marks =
			((word - HTTP_ONES * ' ') | (word + HTTP_ONES)) &
			~word & HTTP_HIGH;

		if (!marks) {
			at += 8;
			continue;
		}
		at += http_first_mark(marks);
		if (!http_is(*at, HTTP_VALUE))
			return at;
		at++;
	}
	return http_skip(at, HTTP_VALUE);
}

/*
 * Is @text, whose size is that of @lower, the same but for the case of letters?  @lower
 * has letters, digits and '-' only, and @text has no control characters: then a set
 * bit 0x20 changes nothing but the case.  Both are compared as two or three words that
 * overlap, so @size is a constant of at least 4.
 */
static inline bool http_same(const unsigned char *text, const char *lower,
			     size_t size)
{
	const unsigned char *wanted = (const unsigned char *)lower;
	const uint64_t bits = HTTP_ONES * 0x20;
	uint32_t a, b, c, d;

	if (size >= 8)
		return (http_word(text) | bits) == http_word(wanted) &&
		       (size <= 16 || (http_word(text + 8) | bits) ==
					      http_word(wanted + 8)) &&
		       (http_word(text + size - 8) | bits) ==
			       http_word(wanted + size - 8);
	memcpy(&a, text, 4);
	memcpy(&b, text + size - 4, 4);
	memcpy(&c, wanted, 4);
	memcpy(&d, wanted + size - 4, 4);
	return (a | (uint32_t)bits) == c && (b | (uint32_t)bits) == d;
}

#endif
