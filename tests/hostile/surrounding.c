/* SPDX-License-Identifier: MIT */
/*
 * surrounding.c - see surrounding.h.
 */
#include "hostile/surrounding.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAYS_WHY = 3, CANNOT = 78 };

#define WORDS_MAX 16

void cannot(const char *why)
{
	fputs(why, stdout);
	fflush(stdout);
	_exit(CANNOT);
}

void need(bool holds, const char *why)
{
	if (!holds)
		cannot(why);
}

static void execute(surrounding *take_away, const char *const *arguments,
		    int out)
{
	struct rlimit no_core = { 0, 0 };

	setrlimit(RLIMIT_CORE, &no_core);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	close(out);
	if (take_away)
		take_away();
	execv(arguments[0], (char *const *)(uintptr_t)arguments);
	printf("cannot execute %s: %s", arguments[0], strerror(errno));
	fflush(stdout);
	_exit(127);
}

/* Also what grandchildren write, until the last of them has ended. */
static void read_all(int fd, char *text, size_t size)
{
	size_t length = 0;
	ssize_t nr;

	while (length < size - 1) {
		nr = read(fd, text + length, size - 1 - length);
		if (nr == 0 || (nr < 0 && errno != EINTR))
			break;
		length += nr > 0 ? (size_t)nr : 0;
	}
	text[length] = '\0';
}

void run_in(surrounding *take_away, const char *const *arguments,
	    struct ending *out)
{
	int pipe_of[2];
	pid_t pid;

	if (test_is_slow())
		test_skip("surroundings are for the real thing");
	CHECK_EQ(pipe(pipe_of), 0);
	fflush(NULL);
	pid = fork();
	CHECK_GE(pid, 0);
	if (pid == 0) {
		close(pipe_of[0]);
		execute(take_away, arguments, pipe_of[1]);
	}
	close(pipe_of[1]);
	read_all(pipe_of[0], out->text, sizeof(out->text));
	close(pipe_of[0]);
	CHECK_EQ(waitpid(pid, &out->status, 0), pid);
	if (WIFEXITED(out->status) && WEXITSTATUS(out->status) == CANNOT)
		test_skip(out->text);
}

void run_scene(surrounding *take_away, const char *options, struct ending *out)
{
	const char *arguments[WORDS_MAX] = { SCENE };
	char words[256], *word;
	int nr = 1;

	snprintf(words, sizeof(words), "%s", options ? options : "0");
	for (word = strtok(words, " "); word; word = strtok(NULL, " "))
		arguments[nr++] = word;
	run_in(take_away, arguments, out);
}

/* Shows all of it where a part was expected. */
static void check_text(const char *text, const char *part)
{
	if (!strstr(text, part))
		CHECK_STR(text, part);
}

void check_works(surrounding *take_away, const char *options)
{
	struct ending e;

	run_scene(take_away, options, &e);
	check_text(e.text, "works");
	CHECK_EQ(e.status, 0);
	test_result("works");
}

void check_says(surrounding *take_away, const char *options, const char *text)
{
	struct ending e;

	run_scene(take_away, options, &e);
	check_text(e.text, text);
	CHECK(WIFEXITED(e.status));
	CHECK_EQ(WEXITSTATUS(e.status), SAYS_WHY);
	test_result("says why");
}

bool check_works_or_says(surrounding *take_away, const char *options)
{
	struct ending e;
	bool works;

	run_scene(take_away, options, &e);
	works = e.status == 0;
	check_text(e.text, works ? "works" : "no runtime: ");
	CHECK(WIFEXITED(e.status));
	CHECK(works || WEXITSTATUS(e.status) == SAYS_WHY);
	return works;
}

void check_dies(surrounding *take_away, const char *options, const char *text)
{
	struct ending e;

	run_scene(take_away, options, &e);
	check_text(e.text, text);
	CHECK(WIFSIGNALED(e.status));
	CHECK(WTERMSIG(e.status) == SIGABRT || WTERMSIG(e.status) == SIGSEGV);
	test_result("says why");
}

/* Its columns may move. */
static void squeeze(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++)
		if (*from != ' ' || from[1] != ' ')
			*to++ = *from;
	*to = '\0';
}

void check_doctor(surrounding *take_away, const char *text)
{
	const char *const arguments[] = { DOCTOR, "doctor", NULL };
	struct ending e;

	run_in(take_away, arguments, &e);
	squeeze(e.text);
	check_text(e.text, text);
	/* It ends in an orderly way, whatever it has found. */
	CHECK(WIFEXITED(e.status));
	CHECK_LE(WEXITSTATUS(e.status), 1);
}
