/* SPDX-License-Identifier: MIT */
/*
 * proof.c - see proof.h and TEST_PROOF in test.h.
 *
 * A line is written at once to a file opened for appending, so that programs
 * that run side by side may share it.
 */
#include "harness/proof.h"

#include "harness/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *proof_kind;

void test_prove(const char *kind)
{
	proof_kind = kind;
}

void proof_test(const char *name, const char *verdict, const char *result)
{
	const char *path = getenv("SLEY_PROOF");
	char line[512];
	int fd, n;

	if (!proof_kind || !path || !path[0])
		return;
	/* Names and results are plain words: nothing to escape. */
	n = snprintf(
		line, sizeof(line),
		"{\"kind\":\"%s\",\"name\":\"%s\",\"verdict\":\"%s\"%s%s%s}\n",
		proof_kind, name, verdict, result[0] ? ",\"result\":\"" : "",
		result, result[0] ? "\"" : "");
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		perror(path);
	if (fd >= 0)
		close(fd);
}
