/* SPDX-License-Identifier: MIT */
/*
 * http_target.c - targets and paths.
 */
#include "harness/test.h"
#include "http/message/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *part(const char *text, struct http_slice slice)
{
	static char parts[4][100];
	static int next;
	char *to = parts[next++ % 4];

	snprintf(to, 100, "%.*s", (int)slice.size, text + slice.at);
	return to;
}

static struct http_target split(const char *text)
{
	struct http_target target;

	CHECK_EQ(http_target_split(text, (uint32_t)strlen(text), &target),
		 HTTP_OK);
	return target;
}

static void check_no_target(const char *text)
{
	struct http_target target;

	CHECK_EQ(http_target_split(text, (uint32_t)strlen(text), &target),
		 HTTP_BAD_FORM);
}

/* The path without escapes, or the error. */
static enum http_error decode(const char *path, const char **decoded)
{
	static char text[16];
	size_t size = strlen(path), length = 99;
	char *copy = malloc(size ? size : 1);
	enum http_error error;

	memcpy(copy, path, size);
	error = http_path_decode(copy, (uint32_t)size, text, sizeof(text),
				 &length);
	free(copy);
	if (!error) {
		CHECK_EQ(length, strlen(text));
		*decoded = text;
	}
	return error;
}

static const char *path(const char *text)
{
	const char *decoded = NULL;

	CHECK_EQ(decode(text, &decoded), HTTP_OK);
	return decoded;
}

static void check_refused(const char *text, enum http_error error)
{
	const char *decoded;

	CHECK_EQ(decode(text, &decoded), error);
	CHECK_EQ(http_error_status(error),
		 error == HTTP_PATH_TOO_LONG ? 414 : 400);
}

TEST(a_path_may_have_a_query)
{
	struct http_target target = split("/a/b?c?d");

	CHECK_EQ(target.form, HTTP_FORM_PATH);
	CHECK_STR(part("/a/b?c?d", target.path), "/a/b");
	CHECK_STR(part("/a/b?c?d", target.query), "c?d");
	CHECK(target.has_query);
	target = split("/");
	CHECK_STR(part("/", target.path), "/");
	CHECK(!target.has_query);
	target = split("/?");
	CHECK(target.has_query);
	CHECK_EQ(target.query.size, 0);
	target = split("//a://b");
	CHECK_EQ(target.form, HTTP_FORM_PATH);
}

TEST(an_address_has_a_host)
{
	static const char text[] = "HTTP://a.b:80/c?d",
			  secure[] = "https://[::1]?x";
	struct http_target target = split(text);

	CHECK_EQ(target.form, HTTP_FORM_ADDRESS);
	CHECK_STR(part(text, target.host), "a.b:80");
	CHECK_STR(part(text, target.path), "/c");
	CHECK_STR(part(text, target.query), "d");
	CHECK(!target.is_secure);
	target = split(secure);
	CHECK(target.is_secure);
	CHECK_STR(part(secure, target.host), "[::1]");
	CHECK_STR(part(secure, target.path), "");
	CHECK_STR(part(secure, target.query), "x");
	CHECK_EQ(split("http://a").form, HTTP_FORM_ADDRESS);
}

TEST(an_asterisk_is_the_server)
{
	CHECK_EQ(split("*").form, HTTP_FORM_SERVER);
}

TEST(other_forms_are_refused)
{
	check_no_target("");
	check_no_target("**");
	check_no_target("a/b");
	check_no_target("host:80");
	check_no_target("ftp://a/b");
	check_no_target("http:/a");
	check_no_target("http");
}

TEST(an_address_without_a_host_is_refused)
{
	check_no_target("http://");
	check_no_target("http:///a");
	check_no_target("https://?a");
}

TEST(an_address_with_a_user_is_refused)
{
	check_no_target("http://user:password@host/");
	check_no_target("http://a\\b/");
}

TEST(a_fragment_is_refused)
{
	check_no_target("/a#b");
	check_no_target("/a?b#c");
	check_no_target("http://a#b");
}

TEST(escapes_are_decoded)
{
	CHECK_STR(path("/"), "/");
	CHECK_STR(path(""), "/");
	CHECK_STR(path("/a%20b"), "/a b");
	CHECK_STR(path("/%41%7a%C3%a4"), "/Az\xc3\xa4");
	CHECK_STR(path("/%2541"), "/%41");
	CHECK_STR(path("/a+b"), "/a+b");
	CHECK_STR(path("//a//"), "//a//");
}

TEST(a_bad_escape_is_refused)
{
	check_refused("/%", HTTP_BAD_ESCAPE);
	check_refused("/%4", HTTP_BAD_ESCAPE);
	check_refused("/%4g", HTTP_BAD_ESCAPE);
	check_refused("/%g4", HTTP_BAD_ESCAPE);
	check_refused("/%%41", HTTP_BAD_ESCAPE);
	check_refused("/%u0041", HTTP_BAD_ESCAPE);
}

TEST(an_escaped_nul_or_control_character_is_refused)
{
	check_refused("/%00", HTTP_ESCAPED_CONTROL);
	check_refused("/a%0a", HTTP_ESCAPED_CONTROL);
	check_refused("/a%0D", HTTP_ESCAPED_CONTROL);
	check_refused("/a%7f", HTTP_ESCAPED_CONTROL);
}

TEST(a_character_that_must_be_escaped_is_refused)
{
	check_refused("/a b", HTTP_BAD_TARGET);
	check_refused("/a\nb", HTTP_BAD_TARGET);
	check_refused("/\xc3\xa4", HTTP_BAD_TARGET);
}

TEST(an_escaped_slash_is_refused)
{
	check_refused("/a%2fb", HTTP_ESCAPED_SLASH);
	check_refused("/a%2Fb", HTTP_ESCAPED_SLASH);
	check_refused("%2fb", HTTP_BAD_FORM);
}

TEST(dot_segments_are_refused)
{
	check_refused("/.", HTTP_DOT_SEGMENT);
	check_refused("/..", HTTP_DOT_SEGMENT);
	check_refused("/../a", HTTP_DOT_SEGMENT);
	check_refused("/a/../b", HTTP_DOT_SEGMENT);
	check_refused("/a/./b", HTTP_DOT_SEGMENT);
	check_refused("/a/..", HTTP_DOT_SEGMENT);
	check_refused("/a//../", HTTP_DOT_SEGMENT);
}

TEST(escaped_dot_segments_are_refused)
{
	check_refused("/%2e", HTTP_DOT_SEGMENT);
	check_refused("/a/%2E./b", HTTP_DOT_SEGMENT);
	check_refused("/.%2e/", HTTP_DOT_SEGMENT);
}

TEST(other_dots_are_taken)
{
	CHECK_STR(path("/..."), "/...");
	CHECK_STR(path("/.a/b./..c"), "/.a/b./..c");
	CHECK_STR(path("/a../b"), "/a../b");
}

TEST(a_long_path_is_refused)
{
	CHECK_STR(path("/23456789012345"), "/23456789012345");
	check_refused("/234567890123456", HTTP_PATH_TOO_LONG);
	CHECK_STR(path("/2345678901234%35"), "/23456789012345");
}

TEST(a_path_without_a_slash_is_refused)
{
	check_refused("a", HTTP_BAD_FORM);
}
