/* SPDX-License-Identifier: MIT */
/*
 * 43_programs.c - a program that sorts, and one that takes too long and is killed.
 *
 *   cc 43_programs.c $(pkg-config --cflags --libs sley)
 */
#include <errno.h>
#include <sley/sley.h>
#include <stdio.h>

static int sort(void)
{
	const char *const argv[] = { "sort", "-n", NULL };
	struct sley_program_end end;
	struct sley_program program;
	char out[64];
	ssize_t n;
	int err = sley_program_start(
		&program, argv,
		SLEY_PROGRAM_OPTIONS(.in = SLEY_PROGRAM_PIPE,
				     .out = SLEY_PROGRAM_PIPE));

	if (err)
		return err;
	n = sley_io_write(program.in, "30\n4\n100\n", 9);
	sley_program_shut(&program); /* the end of its input */
	n = n < 0 ? n : sley_io_read(program.out, out, sizeof(out));
	err = n < 0 ? (int)n : sley_program_wait(&program, &end);
	sley_program_close(&program);
	if (!err)
		printf("%.*ssort ended with %d\n", (int)n, out, end.code);
	return err;
}

static int be_patient(void)
{
	const char *const argv[] = { "sleep", "60", NULL };
	struct sley_program_end end;
	struct sley_program program;
	int err = sley_program_start(&program, argv, NULL);

	if (err)
		return err;
	err = sley_program_wait_until(&program, &end, sley_after(SLEY_MSEC));
	printf("sleep: %s\n", sley_strerror(err));
	sley_program_close(&program); /* kills it */
	return err == -ETIMEDOUT ? 0 : -EPROTO;
}

static void root(void *failed)
{
	*(int *)failed = sort() != 0 || be_patient() != 0;
}

int main(void)
{
	int failed = 1;

	return sley_run(NULL, root, &failed) || failed;
}
