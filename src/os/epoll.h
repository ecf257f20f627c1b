/* SPDX-License-Identifier: MIT */
/*
 * epoll.h - epoll(7), edge-triggered: the kernel reports each change of a descriptor
 * once, for as long as the descriptor is open.
 *
 * The epolls that os_epoll_create() of os/eventfd.h makes serve here, too.  A
 * descriptor is added once.  If something is there already, that is reported as the
 * first edge.
 *
 * No call changes errno.
 */
#ifndef SLEY_OS_EPOLL_H
#define SLEY_OS_EPOLL_H

#include "base/compiler.h"

/* What has changed. */
#define OS_EDGE_IN 1u  /* there is something to read, or to accept         */
#define OS_EDGE_OUT 2u /* there is room                                    */
#define OS_EDGE_SPECIAL                                                        \
	4u /* the peer writes no more, an error, urgent data   */

struct os_edge {
	int fd;
	unsigned int bits;
};

/*
 * 0, also if @fd is there already; -EPERM: no such descriptor can be waited for, a
 * regular file for example; -ENOMEM, -ENOSPC, -EBADF.
 */
must_check int os_edges_add(int epoll, int fd);

/* Does nothing if @fd is not there. */
void os_edges_remove(int epoll, int fd);

/* Takes the edges that are there, up to @max of them: how many. */
must_check int os_edges_take(int epoll, struct os_edge *edges, int max);

#endif
