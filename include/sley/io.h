/* SPDX-License-Identifier: MIT */
/*
 * sley/io.h - input and output: only the fiber waits.
 *
 * These calls do what the system calls of the same name do, on descriptors of any
 * kind: sockets, pipes, terminals, eventfds, files.  Where the system call would
 * block, the task is suspended, and its worker goes on with other tasks:
 *
 *     ssize_t n;
 *
 *     while ((n = sley_io_read(from, buffer, sizeof(buffer))) > 0) {
 *             n = sley_io_write(to, buffer, (size_t)n);
 *             if (n < 0)
 *                     break;
 *     }
 *
 * A call returns what the system call returns, or a negative error value; errno
 * is not used.  Every call has a variant that ends in _until and takes a deadline
 * (<sley/time.h>): -ETIMEDOUT.  A cancel of the task, and so the first failure in
 * its scope, ends a wait: -ECANCELED.  A call that need not wait is carried out,
 * whether or not the deadline has passed or the task is cancelled.  A call that
 * ends early has done nothing, or says how much: no memory of the caller is
 * touched after its return.
 *
 * Descriptors may be blocking or not; the calls change that in two cases.  A
 * socket that accepts or connects becomes non-blocking.  A pipe or a terminal that
 * is blocking stays so, since other programs may share it: if two readers share
 * it, a call may find that the other was faster, and then hold its worker.
 *
 * Several tasks may wait for one descriptor, tasks of several runtimes, too, and
 * plain threads, which sleep.  A task that reads without ever having to wait gives
 * way to other tasks now and then.  Signals do not end a call, and a write raises no
 * SIGPIPE: -EPIPE.
 *
 * Close a descriptor that any of these calls has used by sley_io_close().  It wakes
 * the tasks that wait for the descriptor, with -EBADF.  A plain close(2) is misuse:
 * the waiters stay, and a later file that gets the same number may be waited for in
 * vain.  Where the library notices that, .report gets a line.
 *
 * A runtime that waits for descriptors has two or three of its own.  A child of
 * fork() has the descriptors of its parent, but none of its waits.
 */
#ifndef SLEY_IO_H
#define SLEY_IO_H

#include <sley/compiler.h>
#include <sley/io_file.h>
#include <sley/time.h>

#include <sys/types.h>

SLEY_BEGIN_DECLS

/* Of <sys/socket.h> and <sys/uio.h>, which declare names such as listen() and send(). */
struct iovec;
struct msghdr;
struct sockaddr;

/* ---- bytes -------------------------------------------------------------- */

/*
 * sley_io_read_until - sley_io_read() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.
 * Errors:   -ETIMEDOUT  nothing came until @deadline_ns; nothing is read
 *           and as sley_io_read()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_io_read_until(int fd, void *data, size_t size, uint64_t deadline_ns);

/*
 * sley_io_read - read what is there, up to @size bytes; wait for the first.
 *
 * Returns the number of bytes; 0 at the end of the stream or file.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.
 * Errors:   -ECANCELED  the task was cancelled; nothing is read
 *           -EBADF      @fd is not open, or was closed by sley_io_close()
 *           -EMFILE, -ENFILE, -ENOMEM, -ENOSPC  the call would have to wait, and
 *                       the kernel cannot tell the runtime when to go on
 *           -EAGAIN     the same with SLEY_IO_THREADS: there is no thread
 *           -EPERM, -ENOSYS  the same: a filter of the program forbids epoll
 *           and as read(2): -ENOMEM, -ENOBUFS: the kernel has no memory now, nothing
 *                       is read, and nothing is lost: call again later
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_io_read(int fd, void *data, size_t size)
{
	return sley_io_read_until(fd, data, size, SLEY_FOREVER);
}

/*
 * sley_io_write_until - sley_io_write() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.
 * Errors:   -ETIMEDOUT  nothing could be written until @deadline_ns
 *           and as sley_io_write()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_io_write_until(int fd, const void *data, size_t size,
		    uint64_t deadline_ns);

/*
 * sley_io_write - write @size bytes, all of them.
 *
 * Returns @size.  If the wait for room ends early, or the peer is gone, after some
 * bytes were written, the call returns their number; the next call returns the
 * error.  It is the same where the kernel has no memory for more (-ENOBUFS, -ENOMEM):
 * no byte is lost, and the rest can be written later.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.
 * Errors:   as sley_io_read(); and as write(2): -EPIPE, -ENOSPC, ...
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_io_write(int fd, const void *data, size_t size)
{
	return sley_io_write_until(fd, data, size, SLEY_FOREVER);
}

/*
 * sley_io_readv_until - sley_io_readv() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @parts and the memory they name are borrowed for the call.
 * Errors:   -ETIMEDOUT  nothing came until @deadline_ns; nothing is read
 *           and as sley_io_readv()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_io_readv_until(int fd, const struct iovec *parts, int nr,
		    uint64_t deadline_ns);

/*
 * sley_io_readv - sley_io_read() into @nr parts of memory, one after the other.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @parts and the memory they name are borrowed for the call.
 * Errors:   as sley_io_read(); -EINVAL: @nr is negative, or above IOV_MAX
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_io_readv(int fd, const struct iovec *parts, int nr)
{
	return sley_io_readv_until(fd, parts, nr, SLEY_FOREVER);
}

/*
 * sley_io_writev_until - sley_io_writev() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @parts and the memory they name are borrowed for the call.
 * Errors:   -ETIMEDOUT  nothing could be written until @deadline_ns
 *           and as sley_io_writev()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_io_writev_until(int fd, const struct iovec *parts, int nr,
		     uint64_t deadline_ns);

/*
 * sley_io_writev - sley_io_write() of @nr parts of memory, one after the other.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @parts and the memory they name are borrowed for the call.
 * Errors:   as sley_io_write(); -EINVAL: @nr is negative, or above IOV_MAX
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_io_writev(int fd, const struct iovec *parts, int nr)
{
	return sley_io_writev_until(fd, parts, nr, SLEY_FOREVER);
}

/* ---- sockets ------------------------------------------------------------ */

/*
 * sley_io_recv_until - sley_io_recv() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.
 * Errors:   -ETIMEDOUT  nothing came until @deadline_ns; nothing is received
 *           and as sley_io_recv()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_io_recv_until(int fd, void *data, size_t size, int flags,
		   uint64_t deadline_ns);

/*
 * sley_io_recv - receive from a socket, as recv(2).
 *
 * With MSG_WAITALL a stream socket waits for all @size bytes; fewer come at the
 * end of the stream, if the wait ends early, and with MSG_PEEK.  With MSG_DONTWAIT the
 * call never waits: -EAGAIN.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.
 * Errors:   as sley_io_read(), and as recv(2): -ENOTSOCK, ...
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_io_recv(int fd, void *data, size_t size, int flags)
{
	return sley_io_recv_until(fd, data, size, flags, SLEY_FOREVER);
}

/*
 * sley_io_send_until - sley_io_send() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.
 * Errors:   -ETIMEDOUT  nothing could be sent until @deadline_ns
 *           and as sley_io_send()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_io_send_until(int fd, const void *data, size_t size, int flags,
		   uint64_t deadline_ns);

/*
 * sley_io_send - send to a socket, as send(2): all @size bytes.
 *
 * As sley_io_write().  With MSG_DONTWAIT the call never waits: -EAGAIN, or the
 * number of bytes that were sent.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.
 * Errors:   as sley_io_write(), and as send(2): -EMSGSIZE, -ENOTSOCK, ...
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_io_send(int fd, const void *data, size_t size, int flags)
{
	return sley_io_send_until(fd, data, size, flags, SLEY_FOREVER);
}

/*
 * sley_io_recvmsg_until - sley_io_recvmsg() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @msg and the memory it names are borrowed for the call.
 * Errors:   -ETIMEDOUT  nothing came until @deadline_ns; @msg is not changed
 *           and as sley_io_recvmsg()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_io_recvmsg_until(int fd, struct msghdr *msg, int flags,
		      uint64_t deadline_ns);

/*
 * sley_io_recvmsg - receive with addresses and ancillary data, as recvmsg(2).
 *
 * Descriptors that come with a message are ordinary ones: close them by
 * sley_io_close() if any call of this header was used with them.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @msg and the memory it names are borrowed for the call.
 * Errors:   as sley_io_recv()
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_io_recvmsg(int fd, struct msghdr *msg, int flags)
{
	return sley_io_recvmsg_until(fd, msg, flags, SLEY_FOREVER);
}

/*
 * sley_io_sendmsg_until - sley_io_sendmsg() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @msg and the memory it names are borrowed for the call.
 * Errors:   -ETIMEDOUT  nothing could be sent until @deadline_ns
 *           and as sley_io_sendmsg()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_io_sendmsg_until(int fd, const struct msghdr *msg, int flags,
		      uint64_t deadline_ns);

/*
 * sley_io_sendmsg - send with an address and ancillary data, as sendmsg(2).
 *
 * Returns as soon as the socket has taken something.  On a stream socket that may
 * be less than all; ancillary data goes with the first byte.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @msg and the memory it names are borrowed for the call.
 * Errors:   as sley_io_send()
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_io_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	return sley_io_sendmsg_until(fd, msg, flags, SLEY_FOREVER);
}

/*
 * sley_io_accept_until - sley_io_accept() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    the caller owns the new descriptor.
 * Errors:   -ETIMEDOUT  no connection came until @deadline_ns
 *           and as sley_io_accept()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_io_accept_until(int fd, struct sockaddr *address, uint32_t *length,
		     uint64_t deadline_ns);

/*
 * sley_io_accept - wait for a connection to a listening socket.
 *
 * Returns a descriptor, which is non-blocking and closed by exec.  *@address gets
 * the address of the peer, unless it is NULL: as accept(2).  A connection that its
 * peer has given up before is passed over.  The socket @fd becomes non-blocking at
 * the first call, and must stay so: later calls do not look again, and would hold
 * their worker.
 *
 * At the limit of descriptors the call fails with -EMFILE or -ENFILE, without
 * memory of the kernel with -ENOBUFS or -ENOMEM.  The connection stays where it is:
 * close something, or wait a little, and call again.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    the caller owns the new descriptor.
 * Errors:   -ECANCELED, -EBADF, -EMFILE, -ENFILE, -ENOMEM, -ENOSPC as
 *           sley_io_read(), and as accept(2): -EINVAL (not listening), ...
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_io_accept(int fd, struct sockaddr *address, uint32_t *length)
{
	return sley_io_accept_until(fd, address, length, SLEY_FOREVER);
}

/*
 * sley_io_connect_until - sley_io_connect() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @address is borrowed for the call.
 * Errors:   -ETIMEDOUT  also the network's own time-out: the socket is of no use
 *                       any more, close it
 *           and as sley_io_connect()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_io_connect_until(int fd, const struct sockaddr *address, uint32_t length,
		      uint64_t deadline_ns);

/*
 * sley_io_connect - connect a socket, and wait until it is connected.
 *
 * The socket becomes non-blocking.  After a cancel, and after any other error, the
 * socket may be connecting still: close it.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @address is borrowed for the call.
 * Errors:   -ECANCELED, -EBADF, -EMFILE, -ENFILE, -ENOMEM, -ENOSPC as
 *           sley_io_read(), and as connect(2): -ECONNREFUSED, ...
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_io_connect(int fd, const struct sockaddr *address, uint32_t length)
{
	return sley_io_connect_until(fd, address, length, SLEY_FOREVER);
}

/* ---- pipes ---------------------------------------------------------------- */

/*
 * sley_io_pipe - make a pipe, to write to fd[1] and to read from fd[0].
 *
 * Both ends are non-blocking and closed by exec.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller owns both descriptors.
 * Errors:   -EMFILE, -ENFILE, -ENOMEM
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_io_pipe(int fd[2]);

/* ---- any descriptor ------------------------------------------------------- */

/*
 * sley_io_poll_until - sley_io_poll() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT  none of @events came until @deadline_ns
 *           and as sley_io_poll()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_io_poll_until(int fd, short events, uint64_t deadline_ns);

/*
 * sley_io_poll - wait until a descriptor can be read or written.
 *
 * @events is POLLIN, POLLOUT, or both, as for poll(2).  Returns the events that
 * hold, not 0, with POLLERR and POLLHUP among them if they hold.  For libraries
 * that make their own system calls on non-blocking descriptors.  A regular file is
 * always ready.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ECANCELED, -EBADF, -EMFILE, -ENFILE, -ENOMEM, -ENOSPC as
 *           sley_io_read()
 *           -EINVAL  @events has neither POLLIN nor POLLOUT
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_io_poll(int fd, short events)
{
	return sley_io_poll_until(fd, events, SLEY_FOREVER);
}

/*
 * sley_io_close - close a descriptor, and wake all that wait for it.
 *
 * Each call that waits for @fd, in any task or thread, returns -EBADF.  The
 * descriptor is closed when the last call has left it; so no other file gets its
 * number under a call.  Calls that begin later return -EBADF, too, until the
 * number is used again.  A cancel does not end the call: the descriptor is closed
 * in any case, also if an error is returned.
 *
 * A socket with SO_LINGER and a time is closed when its peer has taken all bytes, or
 * after that time: the call waits, in a thread of the pool of <sley/blocking.h>, and
 * the worker does not.  The number is free at once; only at the limit of
 * descriptors calls with the next file of that number wait until then.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -EBADF  @fd is not open, or another call closes it already
 *           and as close(2): -EIO, -ENOSPC, -EDQUOT
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int sley_io_close(int fd);

SLEY_END_DECLS
#endif
