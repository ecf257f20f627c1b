/* SPDX-License-Identifier: MIT */
/*
 * ready.h - a task waits until a descriptor can be read or written.
 *
 * A call is tried first, and waits only if the kernel says that it would have to.  The
 * kernel reports each change of a descriptor, an *edge*, to the reactor of a runtime
 * (io/reactor.h).  Each side of a descriptor has a *number* that counts edges, in the
 * upper half of its word (io/side.h):
 *
 *   caller                                reactor
 *   1. reads the number (W1)              1. takes an edge from the kernel
 *   2. tries the call: -EAGAIN            2. locks the list, number + 1 (W1)
 *   3. lets its reactor know of the       3. wakes all waiters, unlocks
 *      descriptor, if it does not
 *   4. locks the list; another number:
 *      unlocks, goes back to 1; it
 *      closes: leaves with -EBADF
 *      else: waits in the list
 *
 * If data comes after step 2, the kernel reports an edge.  Its reactor comes with the
 * lock before the caller, and the caller finds another number; or comes later, and
 * finds the caller in the list.  If the reactor learns of the descriptor in step 3
 * only, the kernel reports as an edge what is there by then.
 *
 * An edge may stand for several messages or connections, and does not say for how
 * many.  So all waiters are woken, and each tries.  A waiter that takes one message
 * need not tell the others of the next: each of them has tried until there was
 * nothing.
 *
 * Edges:
 *
 *   W1  see core/wait/waitq.h and io/side.h
 *
 * Rejected: a bit that says "ready" and is taken by the caller that tries (of two
 * callers that both found nothing, one takes the bit, and the other sleeps beside a
 * second message); asking the kernel anew for each wait (one more system call for each
 * wait: 0.4 us of 5); waking one waiter for each edge (see above).
 */
#ifndef SLEY_IO_READY_H
#define SLEY_IO_READY_H

#include "io/descriptor.h"

/*
 * Wait until there was an edge after @look.  0: try again; -EBADF: the descriptor was
 * closed; -ETIMEDOUT, -ECANCELED, or the error of reactor_watch().
 */
must_check int ready_wait(struct io_descriptor *descriptor, int fd,
			  enum io_direction direction,
			  const struct side_look *look, uint64_t deadline_ns);

/* The same for both sides: @look has two, in the order of enum io_direction. */
must_check int ready_wait_both(struct io_descriptor *descriptor, int fd,
			       const struct side_look *look,
			       uint64_t deadline_ns);

/* By a reactor: there was an edge of @bits (os/epoll.h). */
void ready_edge(struct io_descriptor *descriptor, unsigned int bits);

/* By a closer, after CLOSING: all waiters leave with -EBADF. */
void ready_close(struct io_descriptor *descriptor);

#endif
