/* SPDX-License-Identifier: MIT */
/*
 * rows.c - what is built is what was promised: M41, M42.
 *
 * The install test builds programs against either library.  This one loads the
 * shared one at run time, as interpreters do, and looks at what the examples
 * print: that they end with status 0 is a test of each.
 */
#include <dlfcn.h>
#include <sley/sley.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "harness/test.h"

/* ---- M41: the shared library, loaded late ---------------------------------------- */

static void *find(void *library, const char *name)
{
	void *address = dlsym(library, name);

	CHECK(address);
	return address;
}

static void count(void *arg)
{
	atomic_fetch_add((atomic_int *)arg, 1);
}

TEST(m41_the_shared_library_can_be_loaded_at_run_time)
{
	void *library = dlopen(SHARED_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	__typeof__(&sley_version) version;
	__typeof__(&sley_run) run;
	atomic_int ran = 0;

	if (!library)
		puts(dlerror());
	CHECK(library);
	*(void **)&version = find(library, "sley_version");
	*(void **)&run = find(library, "sley_run");
	CHECK(version != sley_version); /* not the copy we are linked with */
	CHECK_STR(version(), SLEY_VERSION);
	CHECK_EQ(run(NULL, count, &ran), 0);
	CHECK_EQ(ran, 1);
	/* Internal names stay inside. */
	CHECK(!dlsym(library, "sley__self"));
	CHECK(!dlsym(library, "sley__ctx_start"));
}

/* ---- M42: the examples -------------------------------------------------------------- */

static FILE *run_example(const char *name)
{
	char command[512];
	FILE *output;

	snprintf(command, sizeof(command), "%s/%s", EXAMPLES, name);
	output = popen(command, "r");
	CHECK(output);
	return output;
}

static int count_lines(const char *example, const char *start)
{
	FILE *output = run_example(example);
	char line[256];
	int nr = 0;

	while (fgets(line, sizeof(line), output))
		nr += strncmp(line, start, strlen(start)) == 0;
	CHECK_EQ(pclose(output), 0);
	return nr;
}

TEST(m42_hello_comes_from_every_task)
{
	CHECK_EQ(count_lines("01_hello", "hello from worker "), 8);
}

TEST(m42_tasks_in_tasks_run_all_of_them)
{
	char start[16];

	for (int i = 0; i < 9; i++) {
		snprintf(start, sizeof(start), "task %d.%d ", i / 3 + 1,
			 i % 3 + 1);
		CHECK_EQ(count_lines("16_tasks_in_tasks", start), 1);
	}
}

TEST(m42_primes_are_printed_in_order)
{
	FILE *output = run_example("10_tickets");
	int nr, up_to, largest, last = 0;

	while (fscanf(output, "%d primes up to %d, the largest is %d\n", &nr,
		      &up_to, &largest) == 3) {
		CHECK_EQ(up_to, last + 10000);
		CHECK_GT(largest, last);
		CHECK_LT(largest, up_to);
		last = up_to;
	}
	CHECK_EQ(pclose(output), 0);
	CHECK_EQ(last, 200000);
}

TEST(m42_the_fractal_has_all_its_rows)
{
	FILE *output = run_example("17_fractal");
	int nr = 0, nr_inside = 0;
	char line[256];

	for (; fgets(line, sizeof(line), output); nr++) {
		CHECK_EQ(strcspn(line, "\n"), 72);
		nr_inside += strchr(line, '#') != NULL;
	}
	CHECK_EQ(pclose(output), 0);
	CHECK_EQ(nr, 28);
	CHECK_GT(nr_inside, 10);
}
