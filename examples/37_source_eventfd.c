/* SPDX-License-Identifier: MIT */
/*
 * 37_source_eventfd.c - an event loop of the program's own feeds a runtime.
 *
 * The loop, here main(), knows nothing of tasks: it signals an eventfd.  A worker
 * that sleeps listens to the eventfd, and spawns a task for each event.
 *
 *   cc 37_source_eventfd.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { EVENTS = 1000 };

static atomic_int served;

static void serve(void *arg)
{
	(void)arg;
	atomic_fetch_add(&served, 1);
}

/* EFD_SEMAPHORE: each read takes one event out. */
static bool take(void *arg)
{
	const int *fd = arg;
	eventfd_t one;

	for (int i = 0; i < 32; i++)
		if (eventfd_read(*fd, &one) || sley_schedule(serve, NULL))
			return false;
	return true;
}

int main(void)
{
	int fd = eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE);
	struct sley_source *source;
	struct sley *rt;

	if (fd < 0 || sley_create(&rt, NULL) ||
	    sley_source_create(rt, &source,
			       SLEY_SOURCE_OPTIONS(.fd = fd, .take = take),
			       &fd))
		return 1;
	for (int i = 0; i < EVENTS; i++)
		if (eventfd_write(fd, 1))
			return 1;
	while (atomic_load(&served) < EVENTS)
		sley_sleep(SLEY_MSEC);
	sley_source_destroy(source);
	printf("%d events served\n", atomic_load(&served));
	return sley_destroy(rt) || close(fd);
}
