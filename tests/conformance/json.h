/* SPDX-License-Identifier: MIT */
/*
 * json.h - a reader of as much of JSON as the library writes, which checks the form.
 */
#ifndef SLEY_TESTS_CONFORMANCE_JSON_H
#define SLEY_TESTS_CONFORMANCE_JSON_H

#include "conformance/bound.h"

static inline const char *skip_space(const char *at)
{
	while (*at == ' ' || *at == '\n')
		at++;
	return at;
}

/* From quote to quote: no bare control character, and only escapes of JSON. */
static inline const char *skip_string(const char *at)
{
	CHECK(*at == '"');
	for (at++; *at != '"'; at++) {
		CHECK((unsigned char)*at >= 0x20 && *at != 0x7f);
		if (*at != '\\')
			continue;
		at++;
		CHECK(*at && strchr("\"\\/bfnrtu", *at));
		if (*at == 'u') {
			CHECK_GE(strspn(at + 1, "0123456789abcdef"), 4);
			at += 4;
		}
	}
	return at + 1;
}

/* A whole number: the library writes no others. */
static inline const char *skip_number(const char *at)
{
	at += *at == '-';
	CHECK(*at >= '0' && *at <= '9');
	CHECK(*at != '0' || !strchr("0123456789", at[1]));
	return at + strspn(at, "0123456789");
}

static inline const char *skip_value(const char *at);

/* An object (@end is a brace) or an array, from its first to its last letter. */
static inline const char *skip_members(const char *at, char end)
{
	at = skip_space(at + 1);
	if (*at == end)
		return at + 1;
	for (;; at = skip_space(at + 1)) {
		if (end == '}') {
			at = skip_string(at);
			CHECK(*at == ':');
			at++;
		}
		at = skip_space(skip_value(at));
		if (*at == end)
			return at + 1;
		CHECK(*at == ',');
	}
}

static inline const char *skip_value(const char *at)
{
	if (*at == '{')
		return skip_members(at, '}');
	if (*at == '[')
		return skip_members(at, ']');
	if (*at == '"')
		return skip_string(at);
	if (!strncmp(at, "null", 4) || !strncmp(at, "true", 4))
		return at + 4;
	if (!strncmp(at, "false", 5))
		return at + 5;
	return skip_number(at);
}

#endif
