/* SPDX-License-Identifier: MIT */
/*
 * subprocess.h - functions that subprocesses run; how a test begins and ends.
 */
#ifndef SLEY_TESTS_CONFORMANCE_SUBPROCESS_SUBPROCESS_H
#define SLEY_TESTS_CONFORMANCE_SUBPROCESS_SUBPROCESS_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "conformance/bound.h"

/* What is forked here has one thread, which sanitizers survive. */
static inline void skip_where_fork_hurts(void)
{
	if (test_emulated())
		test_skip("qemu-user dies of threads in the forked child of a "
			  "process with threads");
}

/* What comes back is one more. */
static inline int add_one(struct sley_subprocess_work *work)
{
	uint64_t value;

	memcpy(&value, work->arg, sizeof(value));
	value++;
	memcpy(work->result, &value, sizeof(value));
	work->result_size = sizeof(value);
	return 0;
}

/* All of it, backwards. */
static inline int reverse(struct sley_subprocess_work *work)
{
	const unsigned char *from = work->arg;
	unsigned char *to = work->result;

	for (size_t i = 0; i < work->arg_size; i++)
		to[i] = from[work->arg_size - 1 - i];
	work->result_size = work->arg_size;
	return (int)work->arg_size;
}

static inline int complain(struct sley_subprocess_work *work)
{
	snprintf(work->text, SLEY_SUBPROCESS_TEXT_MAX, "line %d: no such thing",
		 *(const int *)work->arg);
	return -EDOM;
}

static inline int complain_at_length(struct sley_subprocess_work *work)
{
	memset(work->text, 'x', SLEY_SUBPROCESS_TEXT_MAX);
	return -EDOM;
}

static inline int crash(struct sley_subprocess_work *work)
{
	(void)work;
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
	return 0;
}

/* Does not return. */
static inline int leave(struct sley_subprocess_work *work)
{
	_exit(*(const int *)work->arg);
	return 0;
}

static inline int hang(struct sley_subprocess_work *work)
{
	(void)work;
	for (;;)
		pause();
	return 0;
}

static inline int nap(struct sley_subprocess_work *work)
{
	test_nap_ms(*(const unsigned int *)work->arg);
	return 0;
}

static inline int count_calls(struct sley_subprocess_work *work)
{
	static int nr;

	(void)work;
	return ++nr;
}

static inline int say_pid(struct sley_subprocess_work *work)
{
	pid_t pid = getpid();

	memcpy(work->result, &pid, sizeof(pid));
	work->result_size = sizeof(pid);
	return 0;
}

static inline int not_registered(struct sley_subprocess_work *work)
{
	(void)work;
	return 0;
}

static inline void begin_subprocesses(void)
{
	static const struct {
		const char *name;
		sley_subprocess_fn *fn;
	} functions[] = {
		{ "add_one", add_one },
		{ "reverse", reverse },
		{ "complain", complain },
		{ "complain_at_length", complain_at_length },
		{ "crash", crash },
		{ "leave", leave },
		{ "hang", hang },
		{ "nap", nap },
		{ "count_calls", count_calls },
		{ "say_pid", say_pid },
	};

	skip_where_fork_hurts();
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		CHECK_EQ(sley_subprocess_register(functions[i].name,
						  functions[i].fn),
			 0);
	CHECK_EQ(sley_subprocesses_init(), 0);
}

static inline struct sley_subprocess *
subprocess_new(const struct sley_subprocess_options *options)
{
	struct sley_subprocess *subprocess = NULL;

	CHECK_EQ(sley_subprocess_create(&subprocess, options), 0);
	CHECK(subprocess != NULL);
	return subprocess;
}

/* A call that must work. */
static inline void check_add_one(struct sley_subprocess *subprocess,
				 uint64_t value)
{
	uint64_t got = 0;
	struct sley_subprocess_result result = { .data = &got,
						 .size = sizeof(got) };

	CHECK_EQ(sley_subprocess_call(subprocess, add_one, &value,
				      sizeof(value), &result),
		 0);
	CHECK_EQ(result.outcome, SLEY_OUTCOME_SUCCESS);
	CHECK_EQ(result.size, sizeof(got));
	CHECK_EQ(got, value + 1);
}

static inline void check_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		CHECK_STR(text, part);
}

#endif
