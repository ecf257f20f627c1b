/* SPDX-License-Identifier: MIT */
/*
 * sley/address.h - addresses of sockets, as a text and as the kernel wants them.
 *
 *   "127.0.0.1:8080"    IPv4 and port
 *   "[::1]:8080"        IPv6 and port
 *   ":8080"             a port on all interfaces, of IPv6 and IPv4
 *   "host:8080"         a name, which is looked up; the port may be a name, too
 *   "unix:/path"        a Unix socket in the file system
 *   "unix:@name"        a Unix socket among the abstract names of Linux
 *
 * Streams and listeners take such texts.  Datagrams need addresses of many peers,
 * in the form of the kernel: struct sley_address.
 */
#ifndef SLEY_ADDRESS_H
#define SLEY_ADDRESS_H

#include <sley/compiler.h>
#include <sley/time.h>

SLEY_BEGIN_DECLS

/* An address: copy it as you like. */
struct sley_address {
	uint32_t length;
	union {
		uint16_t family;    /* AF_INET, ...                         */
		uint64_t bytes[16]; /* a struct sockaddr, of that length    */
	} storage;
};

/* Room for the text of any address, with the 0 at its end. */
#define SLEY_ADDRESS_TEXT 128

/*
 * sley_address_parse - the address that @text names, without looking names up.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @text is borrowed for the call.
 * Errors:   -EINVAL        no port, no bracket where one belongs, an empty path, ...
 *           -ERANGE        the port is above 65535
 *           -ENAMETOOLONG  the host, or the path of a Unix socket, is too long
 *           -ENOENT        the host or the port is a name: sley_address_resolve()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_address_parse(struct sley_address *address, const char *text);

/*
 * sley_address_text - an address as a text, which sley_address_parse() can read.
 *
 * Returns the length of the text, without the 0 at its end.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @text is borrowed for the call; @size bytes.
 * Errors:   -ENOSPC        @text is too small; SLEY_ADDRESS_TEXT bytes are enough
 *           -EAFNOSUPPORT  neither IPv4, IPv6 nor a Unix socket
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_address_text(const struct sley_address *address, char *text, size_t size);

/*
 * sley_address_of - the address that a socket is bound to.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   as getsockname(2): -EBADF, -ENOTSOCK
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_address_of(struct sley_address *address, int fd);

/*
 * sley_address_of_peer - the address that a socket is connected to.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   as getpeername(2): -ENOTCONN, -EBADF, -ENOTSOCK
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_address_of_peer(struct sley_address *address, int fd);

/*
 * sley_address_resolve_until - sley_address_resolve() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @addresses and @text are borrowed for the call.
 * Errors:   -ETIMEDOUT  no answer until @deadline_ns
 *           and as sley_address_resolve()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_address_resolve_until(struct sley_address *addresses, int nr,
			   const char *text, uint64_t deadline_ns);

/*
 * sley_address_resolve - the addresses that @text names.
 *
 * Fills in up to @nr addresses, the best first, and returns their number, not 0.
 * Numbers and Unix sockets need no look-up.  A name is looked up by a thread of
 * <sley/blocking.h>, with getaddrinfo(3).  If the wait ends early, the look-up
 * goes on, and its answer is dropped; sley_destroy() waits for its end.  A thread
 * that is no worker looks up in place, and its deadline is not heeded.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @addresses and @text are borrowed for the call.
 * Errors:   -ECANCELED  the task was cancelled
 *           -ENOENT     there is no host or service of this name
 *           -EAGAIN     the name server does not answer now; or there is no thread
 *           -ENOMEM, -EIO (the look-up failed), -EINVAL (@nr is below 1)
 *           and as sley_address_parse()
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_address_resolve(struct sley_address *addresses, int nr, const char *text)
{
	return sley_address_resolve_until(addresses, nr, text, SLEY_FOREVER);
}

SLEY_END_DECLS
#endif
