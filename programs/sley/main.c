/* SPDX-License-Identifier: MIT */
/*
 * main.c - sley: the command line.
 *
 * Each command is a file of its own.  This file finds the command in the table,
 * explains it, and suggests others for a word that is no command.
 */
#include "command.h"
#include "manual.h"
#include "near.h"
#include "screen.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int help(int argc, char **argv);

static const struct command command_help = {
	.name = "help",
	.arguments = "[COMMAND|CALL]",
	.summary = "explain a command, or a call of the library",
	.help = "Without an argument it lists all commands.  For a call, such\n"
		"as sley_spawn, it opens the page of the manual; sley.h is\n"
		"the page that lists all calls.  For a word that is neither it\n"
		"names the nearest commands or calls.\n",
	.run = help,
};

static const struct command *const commands[] = {
	&command_tour,   &command_doctor,
#ifdef SLEY_DRAW
	&command_draw,
#endif
#ifdef SLEY_CONFIG_FILES
	&command_config,
#endif
	&command_serve,  &command_daemon,
#ifdef SLEY_CONFIG_FILES
	&command_pool,
#endif
	&command_module, &command_submit,  &command_client, &command_stats,
	&command_domain, &command_version, &command_help,
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < NR_COMMANDS; i++) {
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	}
	return NULL;
}

static void list(FILE *file)
{
	fputs("usage: sley COMMAND [ARGUMENT...]\n\n", file);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(file, "  sley %-8s %-16s %s\n", commands[i]->name,
			commands[i]->arguments, commands[i]->summary);
	fputs("\nMore: sley help COMMAND, man 1 sley, man 7 sley; man 8 sleyd for "
	      "the daemon.\n",
	      file);
}

/* Where @calls is set, @name may also be meant as a call of the library. */
static int unknown(const char *name, bool calls)
{
	struct near near;

	near_init(&near, name);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		near_offer(&near, commands[i]->name, commands[i]->name,
			   commands[i]->summary);
	if (calls && !near.nr)
		manual_offer(&near);
	fprintf(stderr, "sley: no command '%s'", name);
	if (!near.nr) {
		fputs("\n\n", stderr);
		list(stderr);
		return STATUS_USAGE;
	}
	fputs("; did you mean ", stderr);
	near_print(&near, stderr);
	fputs("?\n", stderr);
	return STATUS_USAGE;
}

/* The manual page of a call of the library, or of a header. */
static int help_call(const char *name)
{
	struct near near;

	near_init(&near, name);
	manual_offer(&near);
	if (!near.nr || near_is_exact(&near))
		return manual_show(name);
	fprintf(stderr, "sley: no call '%s'; did you mean ", name);
	near_print(&near, stderr);
	fputs("?\n", stderr);
	return STATUS_USAGE;
}

static int help(int argc, char **argv)
{
	const struct command *command;

	if (argc > 2)
		return command_usage(&command_help);
	if (argc < 2) {
		list(stdout);
		return STATUS_OK;
	}
	command = find(argv[1]);
	if (!command && strcmp(argv[1], "sley.h") == 0)
		return manual_show(argv[1]);
	if (!command && strncmp(argv[1], "sley_", 5) == 0)
		return help_call(argv[1]);
	if (!command)
		return unknown(argv[1], true);
	printf("sley %s - %s\n\nusage: sley %s%s%s\n\n%s", command->name,
	       command->summary, command->name, *command->arguments ? " " : "",
	       command->arguments, command->help);
	return STATUS_OK;
}

int command_usage(const struct command *command)
{
	fprintf(stderr,
		"usage: sley %s%s%s\n"
		"Run 'sley help %s' for what it does.\n",
		command->name, *command->arguments ? " " : "",
		command->arguments, command->name);
	return STATUS_USAGE;
}

int command_no_arguments(const struct command *command, int argc, char **argv)
{
	if (argc < 2)
		return STATUS_OK;
	fprintf(stderr, "sley %s: unexpected '%s'\n", command->name, argv[1]);
	return command_usage(command);
}

/* The options that most users try first. */
static const char *spelled(const char *word)
{
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return "help";
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		return "version";
	return word;
}

/* Output may be lost, on a full disk for example. */
static int finish(int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		perror("sley: cannot write to standard output");
		return STATUS_TROUBLE;
	}
	return status;
}

int main(int argc, char **argv)
{
	const struct command *command;

	screen_init();
	if (argc < 2) {
		list(stderr);
		return STATUS_USAGE;
	}
	command = find(spelled(argv[1]));
	if (!command)
		return unknown(argv[1], false);
	if (argc == 3 && strcmp(spelled(argv[2]), "help") == 0 &&
	    argv[2][0] == '-') {
		char *words[] = { argv[0], argv[1], NULL };

		return finish(help(2, words));
	}
	return finish(command->run(argc - 1, argv + 1));
}
