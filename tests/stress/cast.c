/* SPDX-License-Identifier: MIT */
/*
 * cast.c - see cast.h.
 */
#include "stress/cast.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

pid_t cast_fork(void (*fn)(void *arg), void *arg)
{
	pid_t pid = fork();

	CHECK_GE(pid, 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fn(arg);
		exit(0);
	}
	return pid;
}

void cast_reap(pid_t pid, int signal_number)
{
	int status;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	if (signal_number)
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signal_number);
	else
		CHECK_EQ(status, 0);
}

void cast_kill(pid_t pid)
{
	CHECK_EQ(kill(pid, SIGKILL), 0);
	cast_reap(pid, SIGKILL);
}

void cast_stop(pid_t pid)
{
	CHECK_EQ(kill(pid, SIGSTOP), 0);
	CHECK_EQ(waitpid(pid, NULL, WUNTRACED), pid);
}

void cast_nap(uint32_t us)
{
	struct timespec nap = { .tv_nsec = (long)test_random(us) * 1000 };

	nanosleep(&nap, NULL);
}

void *cast_share(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	return memory;
}

uint32_t cast_how_often(const char *name, uint32_t which, uint32_t usual)
{
	const char *text = getenv(name);
	char *end;

	if (!text)
		return (uint32_t)test_scale((int)usual);
	for (;;) {
		unsigned long nr = strtoul(text, &end, 10);

		CHECK(end != text);
		if (!which--)
			return (uint32_t)nr;
		text = end;
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t cast_percentile(uint64_t *times_ns, size_t nr, uint32_t percent)
{
	qsort(times_ns, nr, sizeof(*times_ns), compare);
	return nr ? times_ns[(nr - 1) * percent / 100] : 0;
}
