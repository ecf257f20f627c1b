/* SPDX-License-Identifier: MIT */
/*
 * datagram.c - <sley/datagram.h>.
 */
#include <sley/datagram.h>

#include "io/descriptor.h"
#include "os/network.h"
#include "os/shared_memory.h"
#include "stream/address.h"

#include <sley/io.h>

int sley_datagram_open(const char *text)
{
	struct sley_address address;
	int err = sley_address_parse(&address, text), fd;

	if (err)
		return err;
	fd = os_socket(address.storage.family, SOCK_DGRAM);
	if (fd < 0)
		return fd;
	err = descriptor_is_new(fd, "sley_datagram_open");
	if (!err)
		err = os_bind(fd, address_sockaddr(&address), address.length);
	if (!err)
		return fd;
	os_close(fd);
	return err;
}

ssize_t sley_datagram_send_until(int fd, const void *data, size_t size,
				 const struct sley_address *to,
				 uint64_t deadline_ns)
{
	struct iovec part = { (void *)(uintptr_t)data, size };
	const struct msghdr msg = {
		.msg_name = (void *)(uintptr_t)&to->storage,
		.msg_namelen = to->length,
		.msg_iov = &part,
		.msg_iovlen = 1,
	};

	return sley_io_sendmsg_until(fd, &msg, 0, deadline_ns);
}

ssize_t sley_datagram_recv_until(int fd, void *data, size_t size,
				 struct sley_address *from,
				 uint64_t deadline_ns)
{
	struct iovec part = { data, size };
	struct msghdr msg = {
		.msg_name = from ? &from->storage : NULL,
		.msg_namelen = from ? sizeof(from->storage) : 0,
		.msg_iov = &part,
		.msg_iovlen = 1,
	};
	ssize_t n = sley_io_recvmsg_until(fd, &msg, 0, deadline_ns);

	if (n < 0)
		return n;
	if (from)
		from->length = msg.msg_namelen;
	return msg.msg_flags & MSG_TRUNC ? -EMSGSIZE : n;
}
