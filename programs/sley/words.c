/* SPDX-License-Identifier: MIT */
/*
 * words.c - see words.h.
 */
#include "words.h"

#include "near.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_MAX 16u /* that are named to a user who mistypes one          */
#define OPTION_LENGTH 24

static const struct word_option *find(const struct word_option *options,
				      const char *name)
{
	for (; options->name; options++) {
		if (strcmp(options->name, name) == 0)
			return options;
	}
	return NULL;
}

static int unknown_option(const struct command *command,
			  const struct word_option *options, const char *name)
{
	char spelled[OPTIONS_MAX][OPTION_LENGTH];
	struct near near;

	near_init(&near, name);
	for (size_t i = 0; i < OPTIONS_MAX && options[i].name; i++) {
		snprintf(spelled[i], sizeof(spelled[i]), "--%s",
			 options[i].name);
		near_offer(&near, options[i].name, spelled[i], NULL);
	}
	fprintf(stderr, "sley %s: no option '--%s'", command->name, name);
	if (near.nr) {
		fputs("; did you mean ", stderr);
		near_print(&near, stderr);
		fputs("?", stderr);
	}
	fputs("\n", stderr);
	return command_usage(command);
}

/* @name is the option, without "--".  *@i moves if its text is a word of its own. */
static int take_option(const struct command *command,
		       const struct word_option *options, int argc, char **argv,
		       int *i)
{
	char *name = argv[*i] + 2, *text = strchr(name, '=');
	const struct word_option *option;

	if (text)
		*text++ = '\0';
	option = find(options, name);
	if (!option)
		return unknown_option(command, options, name);
	if (option->flag && !text) {
		*option->flag = true;
		return STATUS_OK;
	}
	if (!text && !option->flag && *i + 1 < argc)
		text = argv[++*i];
	if (!text || option->flag) {
		fprintf(stderr, "sley %s: --%s %s\n", command->name, name,
			option->flag ? "has no value"
				     : "wants a value behind it");
		return command_usage(command);
	}
	if (!*text && strcmp(name, "socket") == 0) {
		fprintf(stderr, "sley %s: --socket wants a path\n",
			command->name);
		return STATUS_USAGE;
	}
	if (option->each)
		return option->each(option->self, text);
	*option->text = text;
	return STATUS_OK;
}

int words_parse(struct words *words, const struct command *command,
		const struct word_option *options, int argc, char **argv)
{
	bool ended = false;
	int status = STATUS_OK;

	words->nr = 0;
	for (int i = 1; i < argc && !status; i++) {
		if (!ended && strcmp(argv[i], "--") == 0) {
			ended = true;
		} else if (!ended && strncmp(argv[i], "--", 2) == 0) {
			status = take_option(command, options, argc, argv, &i);
		} else if (words->nr == WORDS_MAX) {
			fprintf(stderr, "sley %s: too many words\n",
				command->name);
			status = command_usage(command);
		} else {
			words->word[words->nr++] = argv[i];
		}
	}
	return status;
}

static void unknown_word(const struct words *words,
			 const struct command *command,
			 const struct subcommand *subcommands, size_t nr)
{
	struct near near;

	if (words->nr) {
		near_init(&near, words->word[0]);
		for (size_t i = 0; i < nr; i++)
			near_offer(&near, subcommands[i].name,
				   subcommands[i].name, NULL);
		fprintf(stderr, "sley %s: no '%s'", command->name,
			words->word[0]);
		if (near.nr) {
			fputs("; did you mean ", stderr);
			near_print(&near, stderr);
			fputs("?", stderr);
		}
		fputs("\n", stderr);
	}
	fprintf(stderr, "usage: sley %s ", command->name);
	for (size_t i = 0; i < nr; i++)
		fprintf(stderr, "%s%s", i ? "|" : "", subcommands[i].name);
	fprintf(stderr, "\nRun 'sley help %s' for what it does.\n",
		command->name);
}

const struct subcommand *words_find(const struct words *words,
				    const struct command *command,
				    const struct subcommand *subcommands,
				    size_t nr)
{
	for (size_t i = 0; i < nr && words->nr; i++) {
		const struct subcommand *found = &subcommands[i];
		int more = words->nr - 1;

		if (strcmp(found->name, words->word[0]) != 0)
			continue;
		if (more >= found->min && more <= found->max)
			return found;
		fprintf(stderr, "usage: sley %s %s%s%s\n", command->name,
			found->name, *found->arguments ? " " : "",
			found->arguments);
		return NULL;
	}
	unknown_word(words, command, subcommands, nr);
	return NULL;
}

static int number_between(const struct command *command, const char *what,
			  const char *text, uint64_t min, uint64_t max,
			  uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *number >= min &&
	    *number <= max)
		return STATUS_OK;
	fprintf(stderr,
		"sley %s: %s wants a number from %llu to %llu, and this is "
		"'%s'\n",
		command->name, what, (unsigned long long)min,
		(unsigned long long)max, text);
	return STATUS_USAGE;
}

int words_number(const struct command *command, const char *what,
		 const char *text, uint64_t max, uint64_t *number)
{
	return number_between(command, what, text, 0, max, number);
}

int words_count(const struct command *command, const char *what,
		const char *text, uint64_t max, uint64_t *number)
{
	return number_between(command, what, text, 1, max, number);
}
