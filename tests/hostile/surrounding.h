/* SPDX-License-Identifier: MIT */
/*
 * surrounding.h - programs in hostile surroundings.
 *
 * A surrounding is a function that takes something away from the calling
 * process, which then executes a program: scene.c, which uses most of sley, or
 * "sley doctor".  sley must work there, or say why not in one line; and the
 * doctor must have the line.
 */
#ifndef SLEY_TESTS_HOSTILE_SURROUNDING_H
#define SLEY_TESTS_HOSTILE_SURROUNDING_H

#include "harness/test.h"

typedef void surrounding(void);

/* How a program ended, and what it wrote to stdout and stderr. */
struct ending {
	int status;
	char text[16384];
};

/* In a surrounding: it cannot be had here.  Skips the test. */
__attribute__((noreturn)) void cannot(const char *why);
/* The same unless @holds. */
void need(bool holds, const char *why);

/* @program with arguments, up to NULL; the environment stays what it is. */
void run_in(surrounding *take_away, const char *const *arguments,
	    struct ending *out);

/* The scene; @options may be NULL, and are words with blanks between them. */
void run_scene(surrounding *take_away, const char *options, struct ending *out);

/* It works. */
void check_works(surrounding *take_away, const char *options);
/* It ends without a runtime, and says @text. */
void check_says(surrounding *take_away, const char *options, const char *text);
/* Either, but nothing else; true: it works. */
bool check_works_or_says(surrounding *take_away, const char *options);
/* It dies of SIGABRT, or SIGSEGV, with @text. */
void check_dies(surrounding *take_away, const char *options, const char *text);

/* The doctor's output has @text in it, with runs of blanks as one. */
void check_doctor(surrounding *take_away, const char *text);

#endif
