/* SPDX-License-Identifier: MIT */
/*
 * words.h - the words of a command that has subcommands and options.
 *
 * Options are long and may stand anywhere; "--" ends them, for words that begin with a
 * minus.  A word that is no option and no subcommand is answered with the nearest that is.
 */
#ifndef SLEY_PROGRAM_WORDS_H
#define SLEY_PROGRAM_WORDS_H

#include "command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An option: a switch, a text, or a text that may be given several times. */
struct word_option {
	const char *name; /* without "--"; NULL ends a list                   */
	bool *flag;
	const char **text;
	int (*each)(void *self, const char *text); /* a status             */
	void *self;
};

#define WORDS_MAX 16

struct words {
	const char *word[WORDS_MAX];
	int nr;
};

/* Takes the words behind the command apart.  STATUS_OK, or STATUS_USAGE with a line. */
int words_parse(struct words *words, const struct command *command,
		const struct word_option *options, int argc, char **argv);

struct subcommand {
	const char *name;
	const char *arguments; /* for the usage                               */
	int min, max;          /* words behind the subcommand                 */
	int (*run)(void *self, const char *const *words, int nr);
};

/* The subcommand that the first word names; NULL, with a line: there is none. */
const struct subcommand *words_find(const struct words *words,
				    const struct command *command,
				    const struct subcommand *subcommands,
				    size_t nr);

/*
 * The number @text, of at most @max.  STATUS_OK, or STATUS_USAGE with a line that names
 * @what.
 */
int words_number(const struct command *command, const char *what,
		 const char *text, uint64_t max, uint64_t *number);

/* The same from 1 on. */
int words_count(const struct command *command, const char *what,
		const char *text, uint64_t max, uint64_t *number);

#endif
