/* SPDX-License-Identifier: MIT */
/*
 * connect.c - <sley/stream.h>: a stream to an address.
 */
#include "stream/address.h"

#include "io/descriptor.h"
#include "os/network.h"
#include "stream/stream.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sley/io.h>

#define ADDRESSES_MAX 8

/* A descriptor or -errno. */
static int connect_to(const struct sley_address *address, uint64_t deadline_ns)
{
	bool unix_socket = address->storage.family == AF_UNIX;
	int fd = os_socket(address->storage.family, SOCK_STREAM), err;

	if (fd < 0)
		return fd;
	err = descriptor_is_new(fd, "sley_stream_connect");
	if (!err && !unix_socket)
		err = os_socket_switch_on(fd, IPPROTO_TCP, TCP_NODELAY);
	if (!err)
		err = sley_io_connect_until(fd, address_sockaddr(address),
					    address->length, deadline_ns);
	if (!err)
		return fd;
	(void)sley_io_close(fd);
	return err;
}

/* Is it of no use to try the next address? */
static bool is_over(int err)
{
	return err == -ECANCELED || err == -EMFILE || err == -ENFILE ||
	       err == -ENOMEM;
}

int sley_stream_connect_until(struct sley_stream *stream, const char *text,
			      uint64_t deadline_ns)
{
	struct sley_address addresses[ADDRESSES_MAX];
	int nr = sley_address_resolve_until(addresses, ADDRESSES_MAX, text,
					    deadline_ns);
	int fd = nr;

	for (int i = 0; i < nr; i++) {
		fd = connect_to(&addresses[i], deadline_ns);
		if (fd >= 0 || is_over(fd))
			break;
	}
	if (fd < 0)
		return fd;
	sley_stream_open(stream, fd);
	return 0;
}
