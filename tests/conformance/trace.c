/* SPDX-License-Identifier: MIT */
/*
 * trace.c - a full trace is valid JSON and tells what happened.
 *
 * trace.py reads the file and prints what it counted, one "key value" a line.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "conformance/bound.h"

#define NR_TASKS 50

static char directory[] = "/tmp/sley-trace-test-XXXXXX";
static char path[256];
static char told[1024];  /* by trace.py      */
static char lines[1024]; /* through .report */

static void take_report(void *self, const char *line)
{
	(void)self;
	(void)snprintf(lines + strlen(lines), sizeof(lines) - strlen(lines),
		       "%s\n", line);
}

static void begin(void)
{
	CHECK(mkdtemp(directory) != NULL);
	(void)snprintf(path, sizeof(path), "%s/trace.json", directory);
}

static void end(void)
{
	(void)unlink(path);
	CHECK_EQ(rmdir(directory), 0);
}

static struct sley_config tracing(const char *setting)
{
	struct sley_config config = *test_config();

	config.trace = setting;
	config.report = take_report;
	return config;
}

/* Let trace.py read the file; told has what it says. */
static void read_trace(const char *file)
{
	char command[512];
	FILE *pipe;
	size_t size;

	(void)snprintf(command, sizeof(command), "python3 %s %s", TRACE_CHECKER,
		       file);
	pipe = popen(command, "r");
	CHECK(pipe != NULL);
	size = fread(told, 1, sizeof(told) - 1, pipe);
	told[size] = '\0';
	CHECK_EQ(pclose(pipe), 0);
}

/* The number behind @key in what was told. */
static long number(const char *key)
{
	const char *line = told;
	size_t length = strlen(key);

	while (line && *line) {
		if (strncmp(line, key, length) == 0 && line[length] == ' ')
			return strtol(line + length, NULL, 10);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return -1;
}

static void wait_once(void *arg)
{
	sley_event_wait(arg);
}

static void yield_once(void *arg)
{
	(void)arg;
	sley_yield();
}

/* NR_TASKS that block once, NR_TASKS that yield. */
static void work(void)
{
	static struct sley_task tasks[2 * NR_TASKS];
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley_group group = SLEY_GROUP_INIT;
	const struct sley_options *named =
		SLEY_OPTIONS(.name = "say \"\\\303\244\303\244\303\244\303\244"
				     "\303\244\303\244");

	for (int i = 0; i < NR_TASKS; i++) {
		CHECK_EQ(sley_spawn_with(&group, &tasks[i], wait_once, &event,
					 named),
			 0);
		sley_spawn(&group, &tasks[NR_TASKS + i], yield_once, NULL);
	}
	CHECK_EQ(sley_sleep(20 * SLEY_MSEC), 0);
	sley_event_set(&event);
	sley_join(&group);
}

TEST_WORKERS(a_full_trace_has_every_task_on_the_track_of_its_worker)
{
	struct sley_config config;

	begin();
	config = tracing(path);
	{
		struct sley *rt = start_with(&config);

		work();
		stop(rt);
	}
	read_trace(path);
	CHECK_STR(lines, "");
	CHECK_EQ(number("tracks"), nr_runners());
	CHECK_EQ(number("done"), 2 * NR_TASKS);
	/* Whoever comes after the event is set does not block. */
	CHECK_GT(number("blocked"), 0);
	CHECK_LE(number("blocked"), NR_TASKS);
	CHECK_EQ(number("unknown"), 0);
	CHECK_EQ(number("overlaps"), 0);
	CHECK_EQ(number("dropped"), 0);
	CHECK_EQ(number("named"), NR_TASKS + number("blocked"));
	CHECK_EQ(number("strangers"), 0);
	end();
}

static void nothing(void *arg)
{
	(void)arg;
}

TEST(what_a_full_trace_lacks_is_counted_and_reported_once)
{
	static struct sley_task tasks[1000];
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_config config;
	struct sley_stats stats;
	struct sley *rt;

	begin();
	config = tracing(path);
	config.workers = SLEY_SINGLE;
	rt = start_with(&config);
	for (int round = 0; round < 300; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
			sley_spawn(&group, &tasks[i], nothing, NULL);
		sley_join(&group);
	}
	sley_get_stats(rt, &stats);
	CHECK_GT(stats.trace_dropped, 0);
	stop(rt);
	read_trace(path);
	CHECK_EQ(number("dropped"), stats.trace_dropped);
	CHECK(strstr(lines, "overwritten") != NULL);
	CHECK(strchr(lines, '\n') == strrchr(lines, '\n'));
	/* Two events each, and the ring holds a power of two of them. */
	CHECK_EQ(2 * number("done") + number("dropped"), 600000);
	end();
}

TEST(threads_that_have_left_are_in_the_trace)
{
	struct sley_config config;
	struct sley *rt = NULL;

	begin();
	config = tracing(path);
	config.workers = SLEY_SINGLE;
	CHECK_EQ(sley_create(&rt, &config), 0);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(sley_bind(rt), 0);
		work();
		sley_unbind(rt);
	}
	CHECK_EQ(sley_destroy(rt), 0);
	read_trace(path);
	CHECK_EQ(number("done"), 6 * NR_TASKS);
	CHECK_EQ(number("tracks"), 1);
	end();
}

static void run_traced(const char *setting)
{
	struct sley_config config = tracing(setting);
	struct sley *rt = start_with(&config);

	work();
	stop(rt);
}

static void check_file(const char *name)
{
	char file[300];

	(void)snprintf(file, sizeof(file), "%s/%s", directory, name);
	read_trace(file);
	CHECK_EQ(number("done"), 2 * NR_TASKS);
	CHECK_EQ(unlink(file), 0);
}

TEST(a_second_runtime_does_not_overwrite_the_trace_of_the_first)
{
	char other[300];

	begin();
	(void)snprintf(other, sizeof(other), "%s/other", directory);
	run_traced(path);
	run_traced(other);
	run_traced(path);
	run_traced(other);
	check_file("trace.json");
	check_file("trace.2.json");
	check_file("other");
	check_file("other.2");
	end();
}

TEST(more_traces_than_are_remembered_have_files_of_their_own)
{
	struct sley_config config;
	int nr_files = 0;

	begin();
	config = tracing(path);
	config.workers = SLEY_SINGLE;
	for (int i = 1; i <= 70; i++) {
		struct sley *rt = NULL;

		CHECK_EQ(sley_create(&rt, &config), 0);
		CHECK_EQ(sley_destroy(rt), 0);
	}
	for (int i = 1; i <= 70; i++) {
		char file[300];

		(void)snprintf(file, sizeof(file), "%s/trace.%d.json",
			       directory, i);
		nr_files += unlink(file) == 0;
	}
	CHECK_EQ(nr_files, 69); /* and the first, which has no number */
	end();
}

TEST(the_environment_asks_for_a_trace_too)
{
	char setting[300];

	begin();
	(void)snprintf(setting, sizeof(setting), "full:%s", path);
	CHECK_EQ(setenv("SLEY_TRACE", setting, 1), 0);
	run_traced(NULL);
	read_trace(path);
	CHECK_EQ(number("done"), 2 * NR_TASKS);
	end();
}

TEST(a_file_that_cannot_be_created_is_reported)
{
	run_traced("/does/not/exist");
	CHECK(strstr(lines, "/does/not/exist: No such file") != NULL);
}

TEST(a_file_that_cannot_take_it_all_is_reported)
{
	run_traced("/dev/full");
	CHECK(strstr(lines, "/dev/full is incomplete: No space") != NULL);
}

TEST(without_being_asked_no_file_is_written)
{
	begin();
	CHECK_EQ(unsetenv("SLEY_TRACE"), 0);
	CHECK_EQ(chdir(directory), 0);
	run_traced(NULL);
	run_traced("");
	CHECK_STR(lines, "");
	end(); /* fails if anything is in the directory */
}
