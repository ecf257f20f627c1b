/* SPDX-License-Identifier: MIT */
#include "http/message/range.h"

#include "http/message/chars.h"

struct text {
	const unsigned char *at, *end;
};

/* Digits, if any; a number that is too large becomes the largest. */
static bool take_number(struct text *text, uint64_t *number)
{
	const unsigned char *from = text->at;

	*number = 0;
	for (; text->at < text->end && http_is(*text->at, HTTP_DIGIT);
	     text->at++) {
		unsigned int digit = *text->at - '0';

		if (*number > (UINT64_MAX - digit) / 10)
			*number = UINT64_MAX;
		else
			*number = *number * 10 + digit;
	}
	return text->at > from;
}

static bool take_char(struct text *text, unsigned char c)
{
	if (text->at == text->end || *text->at != c)
		return false;
	text->at++;
	return true;
}

static void skip_spaces(struct text *text)
{
	while (text->at < text->end && http_is(*text->at, HTTP_SPACE))
		text->at++;
}

/*
 * "first-", "first-last" or "-last_so_many"; false: malformed.  A range without a byte
 * of the file gets the size 0.
 */
static bool take_range(struct text *text, uint64_t file_size,
		       struct http_range *range)
{
	uint64_t first, last;
	bool has_first = take_number(text, &first);

	if (!take_char(text, '-'))
		return false;
	if (!take_number(text, &last)) {
		if (!has_first)
			return false;
		last = UINT64_MAX;
	} else if (!has_first) {
		uint64_t size = last < file_size ? last : file_size;

		*range = (struct http_range){ file_size - size, size };
		return true;
	}
	if (last < first)
		return false;
	*range = (struct http_range){ first, 0 };
	if (first < file_size)
		range->size = (last < file_size ? last + 1 : file_size) - first;
	return true;
}

enum http_range_answer http_range_parse(const char *value, size_t size,
					uint64_t file_size,
					struct http_range *ranges, size_t max,
					size_t *nr)
{
	const unsigned char *begin = (const unsigned char *)value;
	struct text text = { begin, begin + size };
	uint64_t sum = 0;
	size_t nr_ranges = 0, nr_good = 0;

	*nr = 0;
	if (size < 6 || !http_same(begin, "bytes", 5) || begin[5] != '=' ||
	    !file_size)
		return HTTP_RANGE_WHOLE;
	text.at += 6;
	for (;;) {
		struct http_range range;

		skip_spaces(&text);
		if (text.at == text.end)
			break;
		if (take_char(&text, ','))
			continue; /* an empty element of the list */
		if (!take_range(&text, file_size, &range) || nr_ranges++ == max)
			return HTTP_RANGE_WHOLE;
		skip_spaces(&text);
		if (text.at < text.end && !take_char(&text, ','))
			return HTTP_RANGE_WHOLE;
		if (!range.size)
			continue;
		/* No overflow: both were at most the size of the file. */
		if (range.size > file_size - sum)
			return HTTP_RANGE_WHOLE;
		sum += range.size;
		ranges[nr_good++] = range;
	}
	if (!nr_ranges)
		return HTTP_RANGE_WHOLE;
	*nr = nr_good;
	return nr_good ? HTTP_RANGE_PARTS : HTTP_RANGE_UNSATISFIABLE;
}
