/* SPDX-License-Identifier: MIT */
/*
 * daemon_start.h - sleyd in the background, and the wait until it serves.
 */
#ifndef SLEY_PROGRAM_DAEMON_START_H
#define SLEY_PROGRAM_DAEMON_START_H

#include <stdbool.h>

/* Options of sleyd; NULL: not given. */
struct daemon_start {
	const char *config;
	const char *log;
	const char *socket;
};

/* The status; a line says what happened. */
int daemon_start(const struct daemon_start *start, bool json);

#endif
