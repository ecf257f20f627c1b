/* SPDX-License-Identifier: MIT */
/*
 * command.h - the interface between main.c and the file of a command.
 *
 * A command returns the exit status: 0; 1 if the command found trouble; 2 for a
 * wrong call; 3 if there is no daemon to talk to.
 */
#ifndef SLEY_PROGRAM_COMMAND_H
#define SLEY_PROGRAM_COMMAND_H

enum {
	STATUS_OK = 0,
	STATUS_TROUBLE = 1,
	STATUS_USAGE = 2,
	STATUS_NO_DAEMON = 3,
};

struct command {
	const char *name;
	const char *arguments;             /* for the usage                  */
	const char *summary;               /* one line, without a full stop  */
	const char *help;                  /* more, for "sley help NAME"     */
	int (*run)(int argc, char **argv); /* argv[0] is the name */
};

extern const struct command command_tour;
extern const struct command command_doctor;
extern const struct command command_domain;
extern const struct command command_draw;   /* only with SLEY_DRAW */
extern const struct command command_config; /* only with SLEY_CONFIG_FILES */
extern const struct command command_serve;
extern const struct command command_daemon;
extern const struct command command_pool; /* only with SLEY_CONFIG_FILES */
extern const struct command command_module;
extern const struct command command_submit;
extern const struct command command_client;
extern const struct command command_stats;
extern const struct command command_version;

/* Prints the usage of @command to stderr; returns STATUS_USAGE. */
int command_usage(const struct command *command);

/* For commands without arguments: 0, or the status to return. */
int command_no_arguments(const struct command *command, int argc, char **argv);

#endif
