/* SPDX-License-Identifier: MIT */
/*
 * proof.c - lines of JSON, for tests and for runs that count for docs/PROOF.md:
 *
 *   {"kind":"hazard","name":"signals_on_fibers","verdict":"ok"}
 *   {"kind":"chaos","program":"chan","build":"dev","seed":7,"tests":48}
 *   {"kind":"stress","program":"chan_stress","build":"tsan","seconds":1.9,...}
 *   {"kind":"reliability","what":"clients killed","build":"gcc","count":9,...}
 *
 * A stress program is a program that has counted operations.  Names and results
 * are plain words: nothing to escape.
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

/* NULL: no proof is written. */
static const char *proof_path(void)
{
	const char *path = getenv("SLEY_PROOF");

	return path && path[0] ? path : NULL;
}

/* One write, so that programs that run side by side do not mix. */
static void append(const char *line)
{
	const char *path = proof_path();
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, line, strlen(line)) < 0)
		perror(path);
	if (fd >= 0)
		close(fd);
}

void proof_test(const char *name, const char *verdict, const char *result)
{
	char line[512];

	if (!proof_kind || !proof_path())
		return;
	snprintf(line, sizeof(line),
		 "{\"kind\":\"%s\",\"name\":\"%s\",\"verdict\":\"%s\"%s%s%s}\n",
		 proof_kind, name, verdict, result[0] ? ",\"result\":\"" : "",
		 result, result[0] ? "\"" : "");
	append(line);
}

void proof_run(const struct proof *proof)
{
	const char *slash = strrchr(proof->program, '/');
	const char *program = slash ? slash + 1 : proof->program;
	char line[256];

	if (!proof_path())
		return;
	if (test_is_chaotic()) {
		snprintf(line, sizeof(line),
			 "{\"kind\":\"chaos\",\"program\":\"%s\","
			 "\"build\":\"" TEST_BUILD "\",\"seed\":%llu,"
			 "\"tests\":%d}\n",
			 program, strtoull(getenv("SLEY_CHAOS"), NULL, 0),
			 proof->nr_tests);
		append(line);
	}
	if (proof->nr_operations) {
		snprintf(line, sizeof(line),
			 "{\"kind\":\"stress\",\"program\":\"%s\","
			 "\"build\":\"" TEST_BUILD "\",\"seconds\":%.1f,"
			 "\"operations\":%llu}\n",
			 program, proof->seconds,
			 (unsigned long long)proof->nr_operations);
		append(line);
	}
}

void test_reliability(const char *what, uint64_t count,
		      const struct test_figure *figures, size_t nr)
{
	char line[1024];
	int length;

	if (!proof_path())
		return;
	length = snprintf(line, sizeof(line),
			  "{\"kind\":\"reliability\",\"what\":\"%s\","
			  "\"build\":\"" TEST_BUILD "\",\"seed\":%llu,"
			  "\"count\":%llu,\"figures\":{",
			  what, (unsigned long long)test_seed(),
			  (unsigned long long)count);
	for (size_t i = 0; i < nr; i++) {
		CHECK_LT(length, (int)sizeof(line));
		length += snprintf(line + length, sizeof(line) - (size_t)length,
				   "%s\"%s\":%.10g", i ? "," : "",
				   figures[i].name, figures[i].value);
	}
	CHECK_LT(length + 3, (int)sizeof(line));
	(void)snprintf(line + length, sizeof(line) - (size_t)length, "}}\n");
	append(line);
}
