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
	struct near near;

	near_init(&near, name);
	for (; options->name; options++)
		near_offer(&near, options->name, options->name, NULL);
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
	(void)command_usage(command);
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
		fprintf(stderr, "usage: sley %s %s %s\n", command->name,
			found->name, found->arguments);
		return NULL;
	}
	unknown_word(words, command, subcommands, nr);
	return NULL;
}

int words_number(const struct command *command, const char *what,
		 const char *text, uint64_t max, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *number <= max)
		return STATUS_OK;
	fprintf(stderr,
		"sley %s: %s wants a number from 0 to %llu, and this is "
		"'%s'\n",
		command->name, what, (unsigned long long)max, text);
	return STATUS_USAGE;
}
