/* SPDX-License-Identifier: MIT */
/*
 * call.h - the way of every call of <sley/io.h>: try, wait, try again.
 *
 * A call has an *attempt*: a function that makes its system call, which does not wait,
 * and returns the result, or -EAGAIN.  io_call() does the rest: it makes the caller a
 * user of the descriptor (io/descriptor.h), and waits between two attempts
 * (io/ready.h).
 *
 * A plain thread tries each time: no reactor need know of the descriptor, and then no
 * edge is counted.
 */
#ifndef SLEY_IO_CALL_H
#define SLEY_IO_CALL_H

#include "io/descriptor.h"

struct io_call {
	int fd;
	enum io_direction direction;
	uint64_t deadline_ns;
	ssize_t (*attempt)(struct io_call *call);
	ssize_t (*on_file)(struct io_call *call); /* in its place; or NULL */
	bool never_waits; /* -EAGAIN is the result                        */
	bool tries_first; /* also where the last caller found nothing     */
	bool apart; /* what it finds is not what other calls would find   */
	/* Set by io_call() before the first attempt. */
	struct io_descriptor *descriptor;
	uint32_t traits;
	/* By the attempt: */
	size_t done;  /* bytes so far, if the call ends before it is complete */
	bool emptied; /* a TCP socket: there is nothing left                  */
	/* What the attempts of several calls need. */
	void *data;
	size_t size;
	int flags;
};

/*
 * What the last attempt returned; or ->done, if an error came after some bytes; or an
 * error of descriptor_enter() and ready_wait().
 */
must_check ssize_t io_call(struct io_call *call);

/*
 * By an attempt whose system call has no flag against waiting: O_NONBLOCK is set, if it
 * is not, and the descriptor is known to have it from then on.  0 or -errno.
 */
must_check int io_call_become_nonblocking(struct io_call *call);

/* At the end of a call that did not wait: other tasks have their turn now and then. */
void io_give_way(void);

#endif
