/* SPDX-License-Identifier: MIT */
/*
 * actor_glob.c - names and patterns.
 */
#include "actor/name/glob.h"
#include "harness/test.h"

static const struct {
	const char *glob, *text;
	bool matches;
} cases[] = {
	{ "a", "a", true },
	{ "a", "b", false },
	{ "a", "aa", false },
	{ "aa", "a", false },
	{ "?", "a", true },
	{ "?", "", false },
	{ "?", "ab", false },
	{ "*", "", true },
	{ "*", "anything", true },
	{ "***", "x", true },
	{ "a*", "a", true },
	{ "a*", "ab.c", true },
	{ "a*", "ba", false },
	{ "*a", "ba", true },
	{ "*a", "ab", false },
	{ "a*c", "abc", true },
	{ "a*c", "ac", true },
	{ "a*c", "acb", false },
	{ "a*c", "abcbc", true },
	{ "*.log", "x.log.log", true },
	{ "*.log", "x.log.l", false },
	{ "*a?c*", "aabcabx", true },
	{ "*ab*ab", "abab", true },
	{ "*ab*ab", "abaab", true },
	{ "*ab*ab", "ab", false },
	{ "[a]", "a", false },
	{ "\\*", "*", false },
	{ "*", "*", true },
	{ "?", "*", true },
	{ "a", "*", false },
};

TEST(patterns_match_what_they_say)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (glob_matches(cases[i].glob, cases[i].text) !=
		    cases[i].matches)
			test_failed(TEST_PLACE(cases[i].glob), cases[i].text);
}

/* By its definition, whatever that costs. */
static bool plainly(const char *glob, const char *text)
{
	if (*glob == '*')
		return plainly(glob + 1, text) ||
		       (*text && plainly(glob, text + 1));
	if (!*glob || !*text)
		return *glob == *text;
	return (*glob == '?' || *glob == *text) && plainly(glob + 1, text + 1);
}

static void write(char *to, size_t max, const char *letters, uint32_t nr)
{
	size_t length = test_random((uint32_t)max);

	for (size_t i = 0; i < length; i++)
		to[i] = letters[test_random(nr)];
	to[length] = '\0';
}

TEST(all_short_ones_are_as_defined)
{
	char glob[9], text[11];
	int nr = 0;

	for (int i = 0; i < 200000; i++) {
		write(glob, sizeof(glob), "ab*?*", 5);
		write(text, sizeof(text), "ab*", i % 2 ? 2 : 3);
		nr += plainly(glob, text);
		CHECK_EQ(glob_matches(glob, text), plainly(glob, text));
	}
	CHECK(nr > 1000);
}
