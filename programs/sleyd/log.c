/* SPDX-License-Identifier: MIT */
/*
 * log.c - see log.h.
 */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_SIZE 2048
#define TIME_SIZE 40

static const char *log_name = "sleyd";
static const char *log_path;

int log_reopen(void)
{
	int fd, err = 0;

	if (!log_path)
		return 0;
	fd = open(log_path,
		  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (fd < 0)
		return -errno;
	/* Every thread writes to 2, and goes on to do so. */
	if (dup3(fd, STDERR_FILENO, 0) < 0)
		err = -errno;
	close(fd);
	return err;
}

int log_open(const char *name, const char *path)
{
	log_name = name;
	log_path = path;
	return log_reopen();
}

/* For a line of a file.  The reader of stderr, such as a journal, has a clock. */
static void put_time(char text[TIME_SIZE])
{
	time_t now = time(NULL);
	struct tm parts;

	text[0] = '\0';
	if (log_path && gmtime_r(&now, &parts))
		(void)strftime(text, TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ ", &parts);
}

void log_report(void *self, const char *line)
{
	char text[LINE_SIZE], when[TIME_SIZE];
	int length;

	(void)self;
	put_time(when);
	length = snprintf(text, sizeof(text), "%s%s: %s\n", when, log_name,
			  line);
	if (length < 0)
		return;
	if ((size_t)length >= sizeof(text)) {
		length = sizeof(text) - 1;
		text[length - 1] = '\n';
	}
	/* A log that cannot be written is no reason to end. */
	(void)!write(STDERR_FILENO, text, (size_t)length);
}

void log_line(const char *format, ...)
{
	char text[LINE_SIZE];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	log_report(NULL, text);
}
