/* SPDX-License-Identifier: MIT */
/*
 * child.c - one measurement, one process: no measurement inherits the heap, the
 * warm caches or the threads of an earlier measurement.
 */
#define _GNU_SOURCE
#include "child.h"

#include "measure.h"
#include "plan.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define CHILD_SECONDS_MAX 300
#define CHILD_OUTPUT_MAX 4096
#define CHILD_ARGUMENTS_MAX 12

static pid_t start(const char *const *argv, int *out)
{
	int fds[2];
	pid_t pid;

	if (pipe(fds) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* children end with us */
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		execvp(argv[0], (char *const *)argv);
		fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	close(fds[1]);
	*out = fds[0];
	if (pid < 0)
		close(fds[0]);
	return pid;
}

/* Reads until the child closes the pipe; false at the deadline. */
static bool read_all(int fd, char *text, size_t size)
{
	uint64_t deadline = measure_now() + CHILD_SECONDS_MAX * 1000000000ull;
	size_t used = 0;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		uint64_t now = measure_now();
		ssize_t got;

		if (now >= deadline || used == size - 1)
			return false;
		if (poll(&p, 1, (int)((deadline - now) / 1000000 + 1)) <= 0)
			continue;
		got = read(fd, text + used, size - 1 - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	text[used] = '\0';
	return true;
}

static bool parse(char *text, struct series *series)
{
	char *rest = text, *line;
	size_t lines = 0;

	while ((line = strsep(&rest, "\n")) != NULL) {
		char metric[SERIES_NAME_MAX];
		double value;

		if (*line == '\0')
			continue;
		if (sscanf(line, "%31s %lf", metric, &value) != 2)
			return false;
		if (!series_add(series, metric, value))
			return false;
		lines++;
	}
	return lines > 0;
}

/* Finds the last line of callgrind: "==123== Collected : 4567". */
static bool parse_count(char *text, struct series *series)
{
	const char *collected = strstr(text, "Collected :");
	double instructions;

	return collected != NULL &&
	       sscanf(collected, "Collected : %lf", &instructions) == 1 &&
	       series_add(series, PLAN_INSTRUCTIONS, instructions);
}

/* Reads the output of a program; false if the output makes no sense. */
typedef bool parse_fn(char *text, struct series *series);

static enum child_result run(const char *const *argv, parse_fn *parse_text,
			     struct series *series)
{
	char text[CHILD_OUTPUT_MAX];
	int fd, status = 0;
	pid_t pid = start(argv, &fd);
	bool complete;

	if (pid < 0) {
		fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
		return CHILD_FAILED;
	}
	complete = read_all(fd, text, sizeof(text));
	if (!complete) {
		fprintf(stderr, "%s %s: no end after %d s\n", argv[0], argv[1],
			CHILD_SECONDS_MAX);
		kill(pid, SIGKILL);
	}
	close(fd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status) && complete)
		fprintf(stderr, "%s %s: %s\n", argv[0], argv[1],
			strsignal(WTERMSIG(status)));
	if (complete && WIFEXITED(status) &&
	    WEXITSTATUS(status) == MEASURE_SKIP)
		return CHILD_SKIPPED;
	if (!complete || status != 0)
		return CHILD_FAILED;
	if (!parse_text(text, series)) {
		fprintf(stderr, "%s %s: not `metric value` lines\n", argv[0],
			argv[1]);
		return CHILD_FAILED;
	}
	return CHILD_OK;
}

enum child_result child_run(const char *const *argv, struct series *series)
{
	return run(argv, parse, series);
}

enum child_result child_count(const char *const *argv, struct series *series)
{
	const char *counted[CHILD_ARGUMENTS_MAX + 1] = {
		"valgrind",
		"--tool=callgrind",
		"--callgrind-out-file=/dev/null",
		"--log-fd=1",
	};
	int nr = 4;

	while (*argv != NULL && nr < CHILD_ARGUMENTS_MAX)
		counted[nr++] = *argv++;
	return run(counted, parse_count, series);
}
