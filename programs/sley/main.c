/* SPDX-License-Identifier: MIT */
/*
 * main.c - sley: the command line.
 *
 * Each command is a file of its own; this one finds it in the table, and
 * explains.
 */
#include "command.h"
#include "screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int help(int argc, char **argv);

static const struct command command_help = {
	.name = "help",
	.arguments = "[COMMAND|CALL]",
	.summary = "explain a command, or a call of the library",
	.help = "Without an argument it lists all commands.  For a call, such\n"
		"as sley_spawn, it opens the page of the manual; sley.h is\n"
		"the page that lists all calls.\n",
	.run = help,
};

static const struct command *const commands[] = {
	&command_tour,
	&command_doctor,
	&command_version,
	&command_help,
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
	fputs("\nMore: sley help COMMAND, man 1 sley, man 7 sley.\n", file);
}

static int unknown(const char *name)
{
	fprintf(stderr, "sley: there is no command '%s'\n\n", name);
	list(stderr);
	return STATUS_USAGE;
}

/*
 * Let man look first at the pages that came with this program: it may have been
 * installed where man does not look, or not at all.
 */
static void add_manpath(void)
{
	static const char *const places[] = { "/../share/man", "/../man" };
	const char *others = getenv("MANPATH");
	char program[1024], pages[2048], value[4096];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program));
	const char *slash;

	if (length <= 0)
		return;
	slash = memrchr(program, '/', (size_t)length);
	for (size_t i = 0; slash && i < sizeof(places) / sizeof(*places); i++) {
		snprintf(pages, sizeof(pages), "%.*s%s/man3/sley.h.3",
			 (int)(slash - program), program, places[i]);
		if (access(pages, R_OK))
			continue;
		/* An empty place means: where man looks by itself. */
		snprintf(value, sizeof(value), "%.*s%s:%s",
			 (int)(slash - program), program, places[i],
			 others ? others : "");
		setenv("MANPATH", value, 1);
		return;
	}
}

/* The manual page of a call of the library, or of a header. */
static int manual(const char *name)
{
	add_manpath();
	execlp("man", "man", "3", name, (char *)NULL);
	perror("sley: cannot run man");
	return STATUS_TROUBLE;
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
	if (!command && (strncmp(argv[1], "sley_", 5) == 0 ||
			 strcmp(argv[1], "sley.h") == 0))
		return manual(argv[1]);
	if (!command)
		return unknown(argv[1]);
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

/* The options everybody tries first. */
static const char *spelled(const char *word)
{
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return "help";
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		return "version";
	return word;
}

/* What was printed may not have arrived: a full disk, for example. */
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
		return unknown(argv[1]);
	if (argc == 3 && strcmp(spelled(argv[2]), "help") == 0 &&
	    argv[2][0] == '-') {
		char *words[] = { argv[0], argv[1], NULL };

		return finish(help(2, words));
	}
	return finish(command->run(argc - 1, argv + 1));
}
