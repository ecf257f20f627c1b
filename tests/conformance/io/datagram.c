/* SPDX-License-Identifier: MIT */
/*
 * datagram.c - single messages with the addresses of their senders.
 */
#include <stdio.h>

#include "conformance/io/pairs.h"

struct socket {
	int fd;
	struct sley_address address;
};

static void open_socket(struct socket *socket, const char *address)
{
	socket->fd = sley_datagram_open(address);
	CHECK(socket->fd >= 0);
	CHECK_EQ(sley_address_of(&socket->address, socket->fd), 0);
}

static void answer_one(void *arg)
{
	const struct socket *socket = arg;
	struct sley_address from;
	char data[16];
	ssize_t n = sley_datagram_recv(socket->fd, data, sizeof(data), &from);

	CHECK_EQ(n, 4);
	CHECK_EQ(sley_datagram_send(socket->fd, data, 4, &from), 4);
}

static void check_exchange(const char *one, const char *two)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct socket a, b;
	struct sley_address from;
	char data[16];

	open_socket(&a, one);
	open_socket(&b, two);
	sley_spawn(&group, &task, answer_one, &a);
	CHECK_EQ(sley_datagram_send(b.fd, "ping", 4, &a.address), 4);
	CHECK_EQ(sley_datagram_recv(b.fd, data, sizeof(data), &from), 4);
	CHECK_EQ(memcmp(data, "ping", 4), 0);
	CHECK_EQ(from.length, a.address.length);
	CHECK_EQ(memcmp(&from.storage, &a.address.storage, from.length), 0);
	sley_join(&group);
	CHECK_EQ(sley_io_close(a.fd), 0);
	CHECK_EQ(sley_io_close(b.fd), 0);
}

TEST_WORKERS(a_datagram_comes_with_the_address_of_its_sender)
{
	struct sley *rt = start();
	char one[64], two[64];

	check_exchange("127.0.0.1:0", "127.0.0.1:0");
	(void)snprintf(one, sizeof(one), "unix:@sley-dgram-%d-1",
		       (int)getpid());
	(void)snprintf(two, sizeof(two), "unix:@sley-dgram-%d-2",
		       (int)getpid());
	check_exchange(one, two);
	stop(rt);
}

TEST_WORKERS(a_datagram_is_whole_or_lost)
{
	struct sley *rt = start();
	struct socket a, b;
	static char data[70000];
	char small[3];

	open_socket(&a, "127.0.0.1:0");
	open_socket(&b, "127.0.0.1:0");
	CHECK_EQ(sley_datagram_send(b.fd, "too long", 8, &a.address), 8);
	CHECK_EQ(sley_datagram_send(b.fd, "ok", 2, &a.address), 2);
	CHECK_EQ(sley_datagram_send(b.fd, "", 0, &a.address), 0);
	CHECK_EQ(sley_datagram_recv(a.fd, small, 3, NULL), -EMSGSIZE);
	CHECK_EQ(sley_datagram_recv(a.fd, small, 3, NULL), 2);
	CHECK_EQ(sley_datagram_recv(a.fd, small, 3, NULL), 0);
	CHECK_EQ(sley_datagram_recv_until(a.fd, small, 3, NULL, in_ms(2)),
		 -ETIMEDOUT);
	CHECK_EQ(sley_datagram_send(b.fd, data, sizeof(data), &a.address),
		 -EMSGSIZE);
	CHECK_EQ(sley_io_close(a.fd), 0);
	CHECK_EQ(sley_io_close(b.fd), 0);
	stop(rt);
}

TEST(a_datagram_socket_needs_an_address_of_its_own)
{
	struct sley *rt = start();
	struct socket a;
	char text[SLEY_ADDRESS_TEXT];

	open_socket(&a, "127.0.0.1:0");
	CHECK_GT(sley_address_text(&a.address, text, sizeof(text)), 0);
	CHECK_EQ(sley_datagram_open(text), -EADDRINUSE);
	CHECK_EQ(sley_datagram_open("127.0.0.1"), -EINVAL);
	CHECK_EQ(sley_datagram_open("localhost:0"), -ENOENT);
	CHECK_EQ(sley_io_close(a.fd), 0);
	stop(rt);
}
