/* SPDX-License-Identifier: MIT */
/*
 * epoll.c - see epoll.h.
 */
#include "os/epoll.h"

#include "base/assert.h"
#include "os/direct.h"
#include "os/fault.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#define AT_ONCE 64

int os_edges_add(int epoll, int fd)
{
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET,
		.data.fd = fd,
	};
	int saved_errno = errno, err = 0;

	if (fault_errno("epoll_ctl", ENOMEM, ENOSPC) ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		err = errno == EEXIST ? 0 : -errno;
	errno = saved_errno;
	return err;
}

void os_edges_remove(int epoll, int fd)
{
	int saved_errno = errno;

	/* fault: a removal needs no resources. */
	(void)epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
	errno = saved_errno;
}

static unsigned int bits_of(uint32_t events)
{
	const uint32_t special = EPOLLRDHUP | EPOLLPRI | EPOLLHUP | EPOLLERR;

	return (events & (EPOLLIN | special) ? OS_EDGE_IN : 0) |
	       (events & (EPOLLOUT | EPOLLHUP | EPOLLERR) ? OS_EDGE_OUT : 0) |
	       (events & special ? OS_EDGE_SPECIAL : 0);
}

int os_edges_take(int epoll, struct os_edge *edges, int max)
{
	struct epoll_event events[AT_ONCE];
	int saved_errno = errno, nr;

	/* fault: does not wait, so no signal ends it. */
	nr = direct_epoll_look(epoll, events, max < AT_ONCE ? max : AT_ONCE);
	if (nr < 0 && errno != EINTR)
		sley_fatal("epoll_wait failed: %s", strerror(errno));
	errno = saved_errno;
	for (int i = 0; i < nr; i++)
		edges[i] = (struct os_edge){ events[i].data.fd,
					     bits_of(events[i].events) };
	return nr < 0 ? 0 : nr;
}
