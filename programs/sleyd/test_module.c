/* SPDX-License-Identifier: MIT */
/*
 * test_module.c - a module that is a file, for the tests: it waits, echoes, crashes, tells
 * its priority, takes turns, and notes what it runs in the file that $SLEYD_TEST_RECORD
 * names.
 *
 * VERSION is the version of the module; the second knows one method more.
 */
#include "test_turns.h"

#include <errno.h>
#include <fcntl.h>
#include <sley/module.h>
#include <sley/task.h>
#include <sley/time.h>
#include <sley/waker.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int echo(void *self, struct sley_request *request)
{
	size_t size;
	const void *in = sley_request_in(request, &size);

	(void)self;
	return sley_request_answer(request, in, size);
}

/* IN: milliseconds, as a text. */
static int wait_ms(void *self, struct sley_request *request)
{
	char text[16] = "";
	size_t size;
	const char *in = sley_request_in(request, &size);
	int err;

	(void)self;
	if (!size || size >= sizeof(text))
		return -EINVAL;
	memcpy(text, in, size);
	err = sley_sleep(strtoul(text, NULL, 10) * SLEY_MSEC);
	return err ? err : sley_request_answer(request, "waited", 6);
}

/* As echo; the IN part is at the end of the file before the answer is sent. */
static int record(void *self, struct sley_request *request)
{
	size_t size;
	const void *in = sley_request_in(request, &size);
	int fd = open(getenv("SLEYD_TEST_RECORD"),
		      O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

	(void)self;
	if (fd < 0 || write(fd, in, size) != (ssize_t)size)
		return -EIO;
	close(fd);
	return sley_request_answer(request, in, size);
}

static int crash(void *self, struct sley_request *request)
{
	(void)self;
	(void)request;
	abort();
}

/* IN: the path of a file, which is there once the method runs.  The method never ends. */
static int spin(void *self, struct sley_request *request)
{
	char path[256] = "";
	size_t size;
	const char *in = sley_request_in(request, &size);
	volatile unsigned int turns = 0;

	(void)self;
	if (size >= sizeof(path))
		return -EINVAL;
	memcpy(path, in, size);
	if (open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0)
		return -EIO;
	for (;;)
		turns++;
}

/* IN: as test_turns_take() wants it. */
static int turns(void *self, struct sley_request *request)
{
	char where[256] = "";
	size_t size;
	const char *in = sley_request_in(request, &size);

	(void)self;
	if (size >= sizeof(where))
		return -EINVAL;
	memcpy(where, in, size);
	return test_turns_take(where);
}

static int version(void *self, struct sley_request *request)
{
	char digit = '0' + VERSION;

	(void)self;
	return sley_request_answer(request, &digit, 1);
}

/* The priority at which the method runs, as a text. */
static int priority(void *self, struct sley_request *request)
{
	struct sley_waker waker;
	char text[16];
	int size, err = sley_waker_self(&waker);

	(void)self;
	if (err)
		return err;
	size = snprintf(text, sizeof(text), "%d", waker.priority);
	return sley_request_answer(request, text, (size_t)size);
}

static int upgrade(void **self, uint32_t from,
		   const struct sley_container_info *info)
{
	(void)self;
	(void)info;
	return from < VERSION ? 0 : -EINVAL;
}

static const struct sley_method methods[] = {
	{ .name = "echo", .run = echo },
	{ .name = "wait", .run = wait_ms },
	{ .name = "crash", .run = crash },
	{ .name = "version", .run = version },
	{ .name = "record", .run = record },
	{ .name = "spin", .run = spin },
	{ .name = "priority", .run = priority },
	{ .name = "turns", .run = turns },
};

SLEY_MODULE("test", .version = VERSION, .methods = methods,
	    .nr_methods = sizeof(methods) / sizeof(*methods),
	    .upgrade = upgrade);
