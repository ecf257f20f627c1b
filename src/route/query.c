/* SPDX-License-Identifier: MIT */
/*
 * query.c - <sley/query.h>: queries from texts, and as texts.
 *
 *   text     =  word  [ ":" number  [ ":" number ] ]  [ "@" number ]
 *
 * The table says how many numbers follow each word.  A number has digits only: no
 * sign, no blank, no prefix.
 */
#include "base/compiler.h"

#include <sley/query.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct form {
	const char *word;
	int nr_numbers;
} forms[] = {
	[SLEY_QUERY_LOCAL] = { "local", 0 },
	[SLEY_QUERY_DYNAMIC] = { "dynamic", 0 },
	[SLEY_QUERY_ID] = { "direct_id", 1 },
	[SLEY_QUERY_HASH] = { "direct_hash", 1 },
	[SLEY_QUERY_RANGE] = { "range", 2 },
	[SLEY_QUERY_BROADCAST] = { "broadcast", 0 },
	[SLEY_QUERY_PHYSICAL] = { "physical", 1 },
};

/* ---- from a text ------------------------------------------------------------------ */

/* The number at *@at, which is moved behind it. */
static int parse_number(const char **at, uint64_t *number)
{
	const char *digit = *at;

	*number = 0;
	for (; *digit >= '0' && *digit <= '9'; digit++) {
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, (uint64_t)(*digit - '0'),
					   number))
			return -ERANGE;
	}
	if (digit == *at)
		return -EINVAL;
	*at = digit;
	return 0;
}

/* ":" and a number. */
static int parse_part(const char **at, uint64_t *number)
{
	if (**at != ':')
		return -EINVAL;
	(*at)++;
	return parse_number(at, number);
}

static int parse_timeout(const char **at, struct sley_query *query)
{
	uint64_t ms;
	int err;

	if (**at != '@')
		return 0;
	(*at)++;
	err = parse_number(at, &ms);
	if (err)
		return err;
	if (ms > SLEY_QUERY_TIMEOUT_MAX)
		return -ERANGE;
	*query = sley_query_within(*query, ms);
	return 0;
}

/* The kind that the word at *@at names; -EINVAL: none. */
static int parse_word(const char **at)
{
	size_t length = strcspn(*at, ":@");

	for (size_t i = 0; i < array_size(forms); i++) {
		if (strlen(forms[i].word) == length &&
		    strncasecmp(*at, forms[i].word, length) == 0) {
			*at += length;
			return (int)i;
		}
	}
	return -EINVAL;
}

int sley_query_parse(struct sley_query *query, const char *text)
{
	struct sley_query parsed = { 0 };
	int kind = parse_word(&text);
	int err = 0;

	if (kind < 0)
		return kind;
	parsed.kind = (uint32_t)kind;
	if (forms[kind].nr_numbers > 0)
		err = parse_part(&text, &parsed.first);
	if (!err && forms[kind].nr_numbers > 1)
		err = parse_part(&text, &parsed.count);
	if (!err)
		err = parse_timeout(&text, &parsed);
	if (!err && *text)
		err = -EINVAL;
	if (!err)
		*query = parsed;
	return err;
}

/* ---- as a text -------------------------------------------------------------------- */

int sley_query_text(const struct sley_query *query, char *text, size_t size)
{
	unsigned long long first = query->first, count = query->count;
	char part[2 * 21 + 1] = "", timeout[12] = "";
	int length;

	if (query->kind >= array_size(forms))
		return -EINVAL;
	if (forms[query->kind].nr_numbers == 1)
		snprintf(part, sizeof(part), ":%llu", first);
	else if (forms[query->kind].nr_numbers == 2)
		snprintf(part, sizeof(part), ":%llu:%llu", first, count);
	if (query->timeout)
		snprintf(timeout, sizeof(timeout), "@%u", query->timeout - 1);
	length = snprintf(text, size, "%s%s%s", forms[query->kind].word, part,
			  timeout);
	return (size_t)length < size ? length : -ENOSPC;
}
