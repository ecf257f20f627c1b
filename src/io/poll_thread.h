/* SPDX-License-Identifier: MIT */
/*
 * poll_thread.h - a thread that waits in poll(2) for the descriptors that tasks wait
 * for: the reactor of SLEY_IO_THREADS, without epoll.
 *
 * A descriptor is in the set of the thread from the wait of a task until the event has
 * come, or until it is closed.  The thread reports the event as an edge (io/ready.h),
 * and takes the descriptor out.  The next wait puts it in again: then poll(2) reports
 * what is there already, so the steps of io/ready.h hold as with epoll.
 *
 * The thread works in *rounds*.  It copies the set under the lock, and sleeps for the
 * copy and for an eventfd, by which watchers and closers end the round.  While the
 * thread sleeps, the kernel keeps each file of the copy open.  So a closer takes the
 * descriptor out, ends the round and waits until it is over (PT1); only then the file
 * really ends.
 *
 * Edges:
 *
 *   PT1  the thread has left poll(2) -> the closer finds another round
 *
 * Rejected: a thread for each waiting task (as many threads as connections); a pipe to
 * pass descriptors to the thread (its set would be private, but a closer has to wait
 * for the thread in any case).
 */
#ifndef SLEY_IO_POLL_THREAD_H
#define SLEY_IO_POLL_THREAD_H

#include "base/compiler.h"

struct sley;
struct poll_thread;

/* 0; -ENOMEM, -EAGAIN, -EMFILE, -ENFILE. */
must_check int poll_thread_start(struct sley *rt, struct poll_thread **out);

/* No task waits any more. */
void poll_thread_end(struct sley *rt, struct poll_thread *thread);

/* The next event of @fd among @bits (os/epoll.h) is an edge.  0 or -ENOMEM. */
must_check int poll_thread_watch(struct poll_thread *thread, int fd,
				 unsigned int bits);

/* By a closer: when it returns, the thread does not hold @fd. */
void poll_thread_forget(struct poll_thread *thread, int fd);

#endif
