/* SPDX-License-Identifier: MIT */
/*
 * sley/datagram.h - datagrams: single messages, which may be lost.
 *
 * A socket for datagrams is a descriptor: sley_io_close() closes it, and
 * sley_address_of() says where it is.
 */
#ifndef SLEY_DATAGRAM_H
#define SLEY_DATAGRAM_H

#include <sley/address.h>
#include <sley/compiler.h>
#include <sley/time.h>

#include <sys/types.h>

SLEY_BEGIN_DECLS

/*
 * sley_datagram_open - a socket for datagrams, bound to @address.
 *
 * @address is a text of <sley/address.h> without names: "127.0.0.1:5353",
 * "[::]:0", "unix:/path".  Port 0 lets the system choose.  Returns the descriptor.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller owns the descriptor; @address is borrowed for the call.
 * Errors:   as sley_address_parse(), socket(2) and bind(2): -EADDRINUSE, -EMFILE,
 *           -EACCES, ...
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_datagram_open(const char *address);

/*
 * sley_datagram_send_until - sley_datagram_send() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data and @to are borrowed for the call.
 * Errors:   -ETIMEDOUT  there was no room until @deadline_ns
 *           and as sley_datagram_send()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_datagram_send_until(int fd, const void *data, size_t size,
			 const struct sley_address *to, uint64_t deadline_ns);

/*
 * sley_datagram_send - send one datagram to @to.
 *
 * Returns @size.  The datagram goes as a whole, or not at all.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data and @to are borrowed for the call.
 * Errors:   -EMSGSIZE   it is too long
 *           -ENOBUFS    the system has no memory for it now; it is lost
 *           and as sley_io_sendmsg(): -ECANCELED, -EBADF, -ECONNREFUSED, ...
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_datagram_send(int fd, const void *data, size_t size,
		   const struct sley_address *to)
{
	return sley_datagram_send_until(fd, data, size, to, SLEY_FOREVER);
}

/*
 * sley_datagram_recv_until - sley_datagram_recv() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data and @from are borrowed for the call.
 * Errors:   -ETIMEDOUT  none came until @deadline_ns
 *           and as sley_datagram_recv()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_datagram_recv_until(int fd, void *data, size_t size,
			 struct sley_address *from, uint64_t deadline_ns);

/*
 * sley_datagram_recv - wait for one datagram.
 *
 * Returns its length.  *@from gets the address of the sender, unless it is NULL;
 * an address of length 0 is a sender without one.  A datagram of more than @size
 * bytes is lost.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data and @from are borrowed for the call.
 * Errors:   -EMSGSIZE   it has more than @size bytes, and is lost
 *           and as sley_io_recvmsg(): -ECANCELED, -EBADF, ...
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_datagram_recv(int fd, void *data, size_t size, struct sley_address *from)
{
	return sley_datagram_recv_until(fd, data, size, from, SLEY_FOREVER);
}

SLEY_END_DECLS
#endif
