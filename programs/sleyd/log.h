/* SPDX-License-Identifier: MIT */
/*
 * log.h - the lines of the daemon, for people.
 *
 * A line goes to stderr, or to a file that is opened anew when the operator has moved it
 * away (log_reopen()).  Lines are written by one write(2) each, so that lines of several
 * threads do not mix.
 */
#ifndef SLEYD_LOG_H
#define SLEYD_LOG_H

#include <stdbool.h>

/* @name stands in front of each line; @path may be NULL: stderr.  0, or -errno. */
int log_open(const char *name, const char *path);

/* Opens the file again, if there is one.  0, or -errno: lines go to the old file. */
int log_reopen(void);

void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For .report of a runtime. */
void log_report(void *self, const char *line);

#endif
