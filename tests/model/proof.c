/* SPDX-License-Identifier: MIT */
/*
 * proof.c - what was explored, as a line of JSON.
 *
 * With SLEY_PROOF in the environment, each search appends one line to the file
 * of that name, with one write: several programs may do so at once.  Names
 * here need no quoting: identifiers, and words of this folder.
 */
#include "engine.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *program_name(const char *argv0)
{
	static const char prefix[] = "model_";
	const char *slash = strrchr(argv0, '/');
	const char *name = slash ? slash + 1 : argv0;

	return strncmp(name, prefix, sizeof(prefix) - 1) == 0
		       ? name + sizeof(prefix) - 1
		       : name;
}

static const char *search_name(void)
{
	static const char *const names[] = {
		[SEARCH_REDUCED] = "complete", [SEARCH_BOUNDED] = "preemptions",
		[SEARCH_NAIVE] = "complete",   [SEARCH_DELAYED] = "delays",
		[SEARCH_RANDOM] = "random",
	};

	return names[engine.search];
}

static void append_line(const char *path, const char *line, size_t length)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	if (fd < 0 || write(fd, line, length) != (ssize_t)length) {
		perror(path);
		exit(2);
	}
	close(fd);
}

void proof_append(const char *argv0, const struct search_stats *stats)
{
	const char *path = getenv("SLEY_PROOF");
	const struct model *m = engine.model;
	char line[1024];
	int n;

	if (!path || !*path)
		return;
	n = snprintf(line, sizeof(line),
		     "{\"kind\":\"model\",\"program\":\"%s\",\"model\":\"%s\","
		     "\"mode\":\"%s\",\"search\":\"%s\",\"bound\":%d,"
		     "\"threads\":%d,\"executions\":%llu,\"redundant\":%llu,"
		     "\"steps\":%llu,\"complete\":%s,\"expect\":\"%s\","
		     "\"found\":\"%s\",\"seconds\":%.3f}\n",
		     program_name(argv0), m->name, report_mode(engine.mode),
		     search_name(), engine.bound, engine.nr_threads,
		     (unsigned long long)stats->executions,
		     (unsigned long long)stats->redundant,
		     (unsigned long long)stats->steps,
		     stats->complete ? "true" : "false", report_kind(m->expect),
		     report_kind(engine.failure), stats->seconds);
	append_line(path, line, (size_t)n);
}
