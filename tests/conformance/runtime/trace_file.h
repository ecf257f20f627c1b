/* SPDX-License-Identifier: MIT */
/*
 * trace_file.h - a trace in a folder of its own, and what is in it.
 *
 * trace.py reads the file and prints what it counted, one "key value" a line.
 */
#ifndef SLEY_TESTS_CONFORMANCE_RUNTIME_TRACE_FILE_H
#define SLEY_TESTS_CONFORMANCE_RUNTIME_TRACE_FILE_H

#include "harness/test.h"

#include <sley/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/sley-trace-test-XXXXXX";
static char path[256];
static char told[1024];  /* by trace.py      */
static char lines[1024]; /* through .report */

static inline void take_report(void *self, const char *line)
{
	(void)self;
	(void)snprintf(lines + strlen(lines), sizeof(lines) - strlen(lines),
		       "%s\n", line);
}

static inline void begin(void)
{
	CHECK(mkdtemp(directory) != NULL);
	(void)snprintf(path, sizeof(path), "%s/trace.json", directory);
}

/* Fails if there is another file in the directory. */
static inline void end(void)
{
	(void)unlink(path);
	CHECK_EQ(rmdir(directory), 0);
}

static inline struct sley_config tracing(const char *setting)
{
	struct sley_config config = *test_config();

	config.trace = setting;
	config.report = take_report;
	return config;
}

/* Let trace.py read the file; told has what it says. */
static inline void read_trace(const char *file)
{
	char command[512];
	FILE *pipe;
	size_t size;

	(void)snprintf(command, sizeof(command), "python3 -I -S %s %s",
		       TRACE_CHECKER, file);
	pipe = popen(command, "r");
	CHECK(pipe != NULL);
	size = fread(told, 1, sizeof(told) - 1, pipe);
	told[size] = '\0';
	CHECK_EQ(pclose(pipe), 0);
}

/* The number behind @key in what was told. */
static inline long number(const char *key)
{
	const char *line = told;
	size_t length = strlen(key);

	while (line && *line) {
		if (strncmp(line, key, length) == 0 && line[length] == ' ')
			return strtol(line + length, NULL, 10);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return -1;
}

#endif
