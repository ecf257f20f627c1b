/* SPDX-License-Identifier: MIT */
/*
 * test_turns.h - a task of the tests that takes turns until it may stop, and counts them in
 * a file, where other processes see how the task gets on.
 *
 * The file has two words of 64 bits for each of its places: the turns of the task, and
 * whether it stops.
 */
#ifndef SLEY_PROGRAMS_SLEYD_TEST_TURNS_H
#define SLEY_PROGRAMS_SLEYD_TEST_TURNS_H

#include <errno.h>
#include <fcntl.h>
#include <sley/task.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TEST_TURN 20000 /* rounds of a loop: some tens of microseconds */

struct test_turns {
	atomic_ullong nr, stops;
};

static inline int test_turns_count(struct test_turns *turns)
{
	while (!atomic_load(&turns->stops)) {
		for (volatile int i = 0; i < TEST_TURN; i++)
			;
		atomic_fetch_add(&turns->nr, 1);
		sley_yield();
	}
	return 0;
}

/* @where is PLACE:PATH.  0, or why not. */
static inline int test_turns_take(const char *where)
{
	char *path;
	unsigned long place = strtoul(where, &path, 10);
	struct test_turns *turns;
	size_t size = (place + 1) * sizeof(*turns);
	int fd, err;

	if (*path++ != ':')
		return -EINVAL;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	turns = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	err = turns == MAP_FAILED ? -errno : test_turns_count(&turns[place]);
	close(fd);
	if (turns != MAP_FAILED)
		munmap(turns, size);
	return err;
}

#endif
