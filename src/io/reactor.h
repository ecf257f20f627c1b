/* SPDX-License-Identifier: MIT */
/*
 * reactor.h - the part of a runtime that the kernel tells of changes of descriptors.
 *
 * A reactor is made when a task of its runtime has to wait for a descriptor for the
 * first time.  It has an epoll, which is a source of the runtime
 * (core/sched/source.h): a worker that has nothing else to do, or sleeps in the poller,
 * or makes a fair pick, finds that the epoll can be read, and a taker takes the edges
 * and makes the waiters ready (io/ready.h).  There is no thread of its own.
 *
 * A descriptor stays in the epoll until it is closed, edge-triggered: a wait costs no
 * system call.  All tasks of all runtimes may wait for one descriptor; each reactor
 * whose tasks do is told of each edge.
 *
 * A reactor has a number below REACTORS_MAX: its bit in each descriptor that it knows.
 *
 * With SLEY_IO_THREADS there is no epoll, but a thread (io/poll_thread.h), which makes
 * the waiters ready by itself.
 *
 * Plain threads have no reactor: io/thread_wait.c.
 */
#ifndef SLEY_IO_REACTOR_H
#define SLEY_IO_REACTOR_H

#include "io/descriptor.h"

#define REACTORS_MAX 64

struct worker;

/*
 * The reactor of the runtime of @worker, the caller's, is told of @descriptor, which is
 * @fd: of the next event among @bits (os/epoll.h) at least.  0; -EMFILE, -ENFILE, -ENOMEM, -ENOSPC: there is no room for a reactor, or for
 * another descriptor in it; -EPERM: nothing can be told of such a descriptor.
 */
must_check int reactor_watch(struct worker *worker,
			     struct io_descriptor *descriptor, int fd,
			     unsigned int bits);

/* By a closer: no reactor is told of @descriptor any more. */
void reactors_forget(struct io_descriptor *descriptor, int fd);

#endif
