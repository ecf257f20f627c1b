/* SPDX-License-Identifier: MIT */
/*
 * eventfd.c - eventfd(2) and epoll(7).
 */
#include "os/eventfd.h"

#include "base/assert.h"
#include "os/clock.h"
#include "os/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define NS_PER_MS 1000000u
#define NS_PER_SEC 1000000000u
#define EVENTS_MAX 16

int os_eventfd_create(void)
{
	int saved_errno = errno;
	int fd = fault_errno("eventfd", EMFILE, ENOMEM)
			 ? -1
			 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0)
		fd = -errno;
	errno = saved_errno;
	return fd;
}

void os_eventfd_signal(int fd)
{
	const uint64_t once = 1;
	int saved_errno = errno;

	/* fault: fails only after 2^64 signals without a clear. */
	(void)!write(fd, &once, sizeof(once));
	errno = saved_errno;
}

void os_eventfd_clear(int fd)
{
	int saved_errno = errno;
	uint64_t nr;

	/* fault: a read without a signal before is no failure. */
	(void)!read(fd, &nr, sizeof(nr));
	errno = saved_errno;
}

int os_fd_check(int fd)
{
	int saved_errno = errno, err = 0;

	/* fault: a question about a number, which needs no resources. */
	if (fcntl(fd, F_GETFD) < 0)
		err = -errno;
	errno = saved_errno;
	return err;
}

bool os_fd_is_readable(int fd)
{
	struct pollfd look = { .fd = fd, .events = POLLIN };
	int saved_errno = errno, nr;

	/* fault: a look; what is not seen now is seen the next time. */
	nr = poll(&look, 1, 0);
	errno = saved_errno;
	return nr > 0 && !(look.revents & POLLNVAL);
}

int(os_epoll_create)(void)
{
	int saved_errno = errno;
	/* fault: in eventfd.h, for each caller. */
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		fd = -errno;
	errno = saved_errno;
	return fd;
}

static int add(int watch, int fd, uint32_t tag, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.u32 = tag };
	int saved_errno = errno, err = 0;

	/* fault: in eventfd.h, for each caller. */
	if (epoll_ctl(watch, EPOLL_CTL_ADD, fd, &event))
		err = -errno;
	errno = saved_errno;
	return err;
}

int(os_epoll_add)(int watch, int fd, uint32_t tag)
{
	return add(watch, fd, tag, EPOLLIN);
}

int(os_epoll_add_edge)(int watch, int fd, uint32_t tag)
{
	return add(watch, fd, tag, EPOLLIN | EPOLLET);
}

void os_epoll_remove(int watch, int fd)
{
	int saved_errno = errno;

	/* fault: a removal needs no resources. */
	(void)epoll_ctl(watch, EPOLL_CTL_DEL, fd, NULL);
	errno = saved_errno;
}

/* Rounded up: nothing happens too early. */
static int timeout_of(uint64_t deadline_ns)
{
	uint64_t now = os_now(), ms;

	if (deadline_ns == UINT64_MAX)
		return -1;
	if (deadline_ns <= now)
		return 0;
	ms = (deadline_ns - now + NS_PER_MS - 1) / NS_PER_MS;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

int os_epoll_wait(int watch, uint32_t *tags, int max, uint64_t deadline_ns)
{
	struct epoll_event events[EVENTS_MAX];
	int saved_errno = errno, nr;

	nr = epoll_wait(watch, events, max < EVENTS_MAX ? max : EVENTS_MAX,
			timeout_of(deadline_ns));
	if (nr < 0 && errno != EINTR)
		sley_fatal("epoll_wait failed: %s", strerror(errno));
	errno = saved_errno;
	for (int i = 0; i < nr; i++)
		tags[i] = events[i].data.u32;
	return nr < 0 ? 0 : nr;
}

/* As exact as a futex: epoll_wait() would round up to a millisecond. */
static int poll_some(struct pollfd *fds, nfds_t nr_fds, uint64_t deadline_ns)
{
	uint64_t now = deadline_ns == UINT64_MAX ? 0 : os_now();
	uint64_t ns = deadline_ns > now ? deadline_ns - now : 0;
	struct timespec timeout = { .tv_sec = (time_t)(ns / NS_PER_SEC),
				    .tv_nsec = (long)(ns % NS_PER_SEC) };
	int saved_errno = errno, nr;
	bool endless = false;

	/* A signal ends the sleep; what can be read is still seen. */
	if (fault_spurious("ppoll", EINTR))
		timeout = (struct timespec){ 0 };
	else
		endless = deadline_ns == UINT64_MAX;
	nr = ppoll(fds, nr_fds, endless ? NULL : &timeout, NULL);
	if (nr < 0 && errno != EINTR)
		sley_fatal("ppoll failed: %s", strerror(errno));
	errno = saved_errno;
	return nr;
}

unsigned int os_poll_two(int first, int second, uint64_t deadline_ns)
{
	struct pollfd fds[] = { { .fd = first, .events = POLLIN },
				{ .fd = second, .events = POLLIN } };

	if (poll_some(fds, 2, deadline_ns) <= 0)
		return 0;
	return (fds[0].revents ? OS_POLL_FIRST : 0) |
	       (fds[1].revents ? OS_POLL_SECOND : 0);
}

unsigned int os_poll_three(int first, int second, int third,
			   uint64_t deadline_ns)
{
	struct pollfd fds[] = { { .fd = first, .events = POLLIN },
				{ .fd = second, .events = POLLIN },
				{ .fd = third, .events = POLLIN } };

	if (poll_some(fds, 3, deadline_ns) <= 0)
		return 0;
	return (fds[0].revents ? OS_POLL_FIRST : 0) |
	       (fds[1].revents ? OS_POLL_SECOND : 0) |
	       (fds[2].revents ? OS_POLL_THIRD : 0);
}

void os_poll_many(struct pollfd *fds, uint32_t nr)
{
	int saved_errno = errno;

	/* fault: at a shortage of memory the caller comes again. */
	if (poll(fds, nr, -1) < 0) {
		for (uint32_t i = 0; i < nr; i++)
			fds[i].revents = 0;
	}
	errno = saved_errno;
}

bool os_fd_wait(int fd, short events, int second, uint64_t deadline_ns)
{
	struct pollfd fds[] = { { .fd = fd, .events = events },
				{ .fd = second, .events = POLLIN } };

	return poll_some(fds, 2, deadline_ns) > 0 && fds[0].revents;
}
