/* SPDX-License-Identifier: MIT */
/*
 * thread_wait.h - a plain thread waits for a descriptor by itself.
 *
 * A plain thread has no runtime that would be told of edges, so the thread sleeps in
 * poll(2).  A closer must be able to wake the thread: so the thread sleeps for an
 * eventfd of its own as well, in a list of all such threads.
 *
 *   thread                                closer
 *   1. enters the list, under its lock    1. sets CLOSING
 *   2. the descriptor closes: leaves      2. signals the threads in the list that
 *   3. sleeps for both                       wait for the descriptor, under the lock
 */
#ifndef SLEY_IO_THREAD_WAIT_H
#define SLEY_IO_THREAD_WAIT_H

#include "io/descriptor.h"

/*
 * Waits for @events of poll(2).  0: try again; -EBADF: @descriptor, which is @fd,
 * closes; -ETIMEDOUT; -EMFILE, -ENFILE, -ENOMEM: there is no eventfd.  Never
 * -ECANCELED: a thread is no task, also a thread of the pool that serves a task.
 */
must_check int thread_wait(struct io_descriptor *descriptor, int fd,
			   short events, uint64_t deadline_ns);

/* By a closer, after CLOSING: all threads that wait for @fd leave. */
void thread_waits_end(int fd);

#endif
