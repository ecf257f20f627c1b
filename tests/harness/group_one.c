/* SPDX-License-Identifier: MIT */
/*
 * group_one.c - a program of several files runs the tests of one file, or all.
 *
 * This file and group_two.c are one program, called group.  A test here starts
 * the program under one of several names and checks the printed list.
 */
#include "harness/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The output of "@name --list" with this $TEST_MATRIX, where @name is a name of this
 * very program.
 */
static void list(const char *name, const char *matrix, char *output,
		 size_t size)
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
		setenv("TEST_MATRIX", matrix, 1);
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

	list("/anywhere/group_two", "few", output, sizeof(output));
	CHECK_STR(output, "the_second_file_has_one_test\n"
			  "workers_have_roles_in_the_second_file/single\n"
			  "workers_have_roles_in_the_second_file/4\n");
	list("group_one", "few", output, sizeof(output));
	CHECK(strstr(output, "called_by_its_own_name_"));
	CHECK(!strstr(output, "the_second_file_has_one_test\n"));
}

TEST(called_by_its_own_name_it_has_the_tests_of_all_files)
{
	char output[1024];

	list("/anywhere/group", "few", output, sizeof(output));
	CHECK(strstr(output, "called_by_its_own_name_"));
	CHECK(strstr(output, "the_second_file_has_one_test\n"));
	/* The beginning of the name of a file does not count as the name. */
	list("group_t", "few", output, sizeof(output));
	CHECK(strstr(output, "called_by_its_own_name_"));
}

/* The file group_two.c has ROLES in CMakeLists.txt, this file has not. */
TEST_WORKERS(workers_have_no_roles_in_the_first_file)
{
	CHECK_NE(test_config()->workers, 3);
}

#define FIRST "workers_have_no_roles_in_the_first_file/"
#define SECOND "workers_have_roles_in_the_second_file/"

/* Lines that "group --list" has, with this $TEST_MATRIX. */
static void check_counts(const char *matrix, const char *first,
			 const char *second)
{
	char output[4096];

	list("group", matrix, output, sizeof(output));
	CHECK(strstr(output, first));
	CHECK(strstr(output, second));
}

TEST(files_with_roles_have_3_and_16_workers)
{
	check_counts("full",
		     FIRST "single\n" FIRST "1\n" FIRST "2\n" FIRST "4\n" FIRST
			   "8\n" FIRST "64\n",
		     SECOND "single\n" SECOND "1\n" SECOND "2\n" SECOND
			    "3\n" SECOND "4\n" SECOND "8\n" SECOND "16\n" SECOND
			    "64\n");
	check_counts("usual", FIRST "2\n" FIRST "4\n" FIRST "64\n",
		     SECOND "2\n" SECOND "3\n" SECOND "16\n");
	check_counts("short", FIRST "2\n" FIRST "8\n",
		     SECOND "3\n" SECOND "16\n");
	check_counts("few", FIRST "single\n" FIRST "8\n",
		     SECOND "single\n" SECOND "4\n");
	check_counts("threads", FIRST "2\n" FIRST "8\n",
		     SECOND "2\n" SECOND "8\n");
}
