/* SPDX-License-Identifier: MIT */
/*
 * limits.c - what setrlimit(2), the kernel and cgroups limit: mappings, address
 * space, threads, their stacks, files.
 */
#include "hostile/filter.h"
#include "hostile/surrounding.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

TEST_PROOF("limit")

static void limit(int resource, rlim_t value)
{
	struct rlimit now;

	need(getrlimit(resource, &now) == 0, "no such limit");
	now.rlim_cur = value;
	if (now.rlim_max < value)
		now.rlim_max = value;
	need(setrlimit(resource, &now) == 0, "the hard limit is lower");
}

/* ---- mappings -------------------------------------------------------------------- */

/* vm.max_map_count is the machine's: the scene uses up what it allows. */
TEST(mappings_few_left)
{
	check_works(NULL, "2 leave-maps=200");
	check_works(NULL, "2 leave-maps=200 block=3000");
}

TEST(mappings_hardly_any_left)
{
	int nr_working = 0;

	for (int left = 1; left < 64; left *= 4) {
		char options[64];

		snprintf(options, sizeof(options), "2 leave-maps=%d", left);
		nr_working += check_works_or_says(NULL, options);
	}
	CHECK_LT(nr_working, 3);
	test_result("says why");
}

static void no_guards(void)
{
	need(filter_forbid_argument(SYS_madvise, 2, 102, EINVAL) == 0,
	     "seccomp is not to be had");
	need(filter_forbid(SYS_process_madvise, ENOSYS) == 0,
	     "seccomp is not to be had");
}

/* Each guard takes two: three thousand cannot be blocked at once. */
TEST(mappings_few_left_for_guards)
{
	const char *line;
	struct ending e;
	int blocked;

	run_scene(no_guards, "2 leave-maps=1000 block=3000", &e);
	if (e.status)
		CHECK_STR(e.text, "works");
	CHECK(strstr(e.text, "works"));
	line = strstr(e.text, "blocked: ");
	CHECK(line && sscanf(line, "blocked: %d of 3000", &blocked) == 1);
	CHECK_LT(blocked, 600);
	CHECK(strstr(e.text, "sley: no memory for another stack"));
	test_result("works, and says why it waits");
}

/* ---- address space ------------------------------------------------------------------ */

static rlim_t address_space;

static void little_address_space(void)
{
	limit(RLIMIT_AS, address_space);
}

TEST(address_space_of_all_sizes)
{
	int nr_working = 0, nr_said = 0;

	for (address_space = 16 << 20; address_space <= (rlim_t)2 << 30;
	     address_space *= 2) {
		if (check_works_or_says(little_address_space, "2"))
			nr_working++;
		else
			nr_said++;
	}
	CHECK_GE(nr_working, 2);
	CHECK_GE(nr_said, 1);
	test_result("says why");
}

TEST(address_space_for_few_stacks)
{
	address_space = 512 << 20;
	check_works(little_address_space, "2");
	check_works(little_address_space, "2 block=5000");
	check_doctor(little_address_space,
		     "degraded address space RLIMIT_AS 524,288 KiB\n"
		     " At most 2048 fibers of 256 KiB fit in.");
}

/* Fewer tasks than @nr get a stack, and the task that forks goes on all the same. */
static void check_forks(const char *options, int nr)
{
	const char *line;
	struct ending e;
	int blocked, of;

	address_space = 512 << 20; /* at most 2048 stacks */
	run_scene(little_address_space, options, &e);
	if (e.status)
		CHECK_STR(e.text, "works");
	line = strstr(e.text, "blocked: ");
	CHECK(line && sscanf(line, "blocked: %d of %d", &blocked, &of) == 2);
	CHECK_EQ(of, nr);
	CHECK_GE(blocked, 100);
	CHECK_LT(blocked, 2048);
	CHECK(strstr(e.text, "works"));
	test_result("works");
}

TEST(address_space_for_few_urgent_tasks_while_a_task_forks)
{
	check_forks("1 overtake=3500", 3500);
}

TEST(address_space_for_no_stack_of_a_forked_child)
{
	check_forks("1 leave-child=3500", 3500);
}

TEST(address_space_for_no_stack_of_a_forked_child_of_an_urgent_task)
{
	check_forks("1 leave-child=3500 priority=-1", 3500);
}

TEST(address_space_for_no_stack_of_a_forked_child_of_a_low_task)
{
	check_forks("1 leave-child=3500 priority=1", 3500);
}

/* ---- threads --------------------------------------------------------------------------- */

static rlim_t nr_threads;

/* Root is not limited; and of this user there is nobody else. */
static void few_threads(void)
{
	unsigned int nobody = 100000 + (unsigned int)getpid();

	if (getuid() == 0)
		need(setgid(nobody) == 0 && setuid(nobody) == 0, "no setuid()");
	limit(RLIMIT_NPROC, nr_threads);
}

TEST(threads_none)
{
	nr_threads = 1;
	check_says(few_threads, "4",
		   "no runtime: Resource temporarily unavailable");
	check_doctor(few_threads, "threads RLIMIT_NPROC 1\n A runtime may not");
	check_doctor(few_threads, "broken sley does not start: Resource");
	check_works(few_threads, "-1");
	test_result("says why");
}

TEST(threads_for_the_workers_alone)
{
	struct ending e;

	if (getuid() != 0)
		test_skip("of this user there may be other processes");
	nr_threads = 4; /* itself, two workers, the monitor */
	run_scene(few_threads, "2", &e);
	CHECK_EQ(e.status, 0);
	CHECK(strstr(e.text, "works, without blocking calls"));
	test_result("works without blocking calls");
}

/* ---- stacks of threads -------------------------------------------------------------------- */

static rlim_t stack_size;

static void other_stack(void)
{
	limit(RLIMIT_STACK, stack_size);
}

TEST(thread_stack_tiny)
{
	stack_size = 48 << 10;
	check_works(other_stack, "2");
	check_doctor(other_stack, "degraded thread stack RLIMIT_STACK 48 KiB");
}

TEST(thread_stack_unlimited)
{
	stack_size = RLIM_INFINITY;
	check_works(other_stack, "2");
	check_doctor(other_stack, "ok thread stack RLIMIT_STACK unlimited");
}

/* Each thread asks for all of it, and some get it. */
TEST(thread_stack_enormous)
{
	stack_size = (rlim_t)1 << 40;
	if (check_works_or_says(other_stack, "2"))
		test_result("works");
	else
		test_result("says why");
	check_doctor(other_stack, "degraded thread stack RLIMIT_STACK");
}

/* ---- files --------------------------------------------------------------------------------- */

static void few_files(void)
{
	limit(RLIMIT_NOFILE, 16);
}

TEST(files_few)
{
	check_works(few_files, NULL);
	check_doctor(few_files, "ok files RLIMIT_NOFILE 16");
}

TEST(files_none_left)
{
	check_works(few_files, "0 use-files");
	check_works(few_files, "2 use-files placed");
}
