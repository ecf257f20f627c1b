/* SPDX-License-Identifier: MIT */
/*
 * group_one.c - a program of several files runs the tests of one file, or all.
 *
 * This file and group_two.c are one program, called group.  A test here starts
 * the program under one of several names and checks the printed list.
 */
#include "harness/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The output of "@name --list", where @name is a name of this very program. */
static void list(const char *name, char *output, size_t size)
{
	int ends[2], status;
	size_t length = 0;
	ssize_t n;
	pid_t pid;

	if (test_emulated())
		test_skip("qemu-user cannot exec what it emulates");
	CHECK_EQ(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execl("/proc/self/exe", name, "--list", (char *)NULL);
		_exit(99);
	}
	close(ends[1]);
	while ((n = read(ends[0], output + length, size - 1 - length)) > 0)
		length += (size_t)n;
	output[length] = '\0';
	close(ends[0]);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(called_by_the_name_of_a_file_it_has_the_tests_of_this_file)
{
	char output[1024];

	list("/anywhere/group_two", output, sizeof(output));
	CHECK_STR(output, "the_second_file_has_one_test\n");
	list("group_one", output, sizeof(output));
	CHECK(strstr(output, "called_by_its_own_name_"));
	CHECK(!strstr(output, "the_second_file_has_one_test\n"));
}

TEST(called_by_its_own_name_it_has_the_tests_of_all_files)
{
	char output[1024];

	list("/anywhere/group", output, sizeof(output));
	CHECK(strstr(output, "called_by_its_own_name_"));
	CHECK(strstr(output, "the_second_file_has_one_test\n"));
	/* The beginning of the name of a file does not count as the name. */
	list("group_t", output, sizeof(output));
	CHECK(strstr(output, "called_by_its_own_name_"));
}
