/* SPDX-License-Identifier: MIT */
/*
 * io_flags.c - flags of recv(2), and receivers that a message names: what such a call
 * finds is not what the next call finds.
 */
#include <poll.h>
#include <stdio.h>
#include <sys/un.h>

#include "conformance/io/pairs.h"

static void do_in_task(void (*fn)(void *))
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, fn, NULL);
	sley_join(&group);
	stop(rt);
}

/* A peek takes less than it asks for, and leaves all. */
static void peek_and_read(void *arg)
{
	struct pair pair = open_pair(PAIR_TCP);
	char data[8];

	(void)arg;
	for (int i = 0; i < 10; i++) {
		CHECK_EQ(sley_io_write(pair.to, "abc", 3), 3);
		CHECK_EQ(sley_io_recv_until(pair.from, data, sizeof(data),
					    MSG_PEEK, in_ms(5000)),
			 3);
		CHECK_EQ(sley_io_recv_until(pair.from, data, sizeof(data),
					    MSG_PEEK | MSG_WAITALL,
					    in_ms(5000)),
			 3);
		CHECK_EQ(sley_io_read_until(pair.from, data, sizeof(data),
					    in_ms(5000)),
			 3);
		CHECK_EQ(memcmp(data, "abc", 3), 0);
	}
	close_pair(&pair);
}

TEST_WORKERS(bytes_that_were_peeked_at_are_read)
{
	do_in_task(peek_and_read);
}

/* No task waits, so no reactor knows of the socket, and no edge is counted. */
static void ask_and_read(void *arg)
{
	struct pair pair = open_pair(PAIR_TCP);
	uint64_t end_ns = in_ms(5000);
	char data[8];
	ssize_t n;

	(void)arg;
	for (int i = 0; i < 10; i++) {
		CHECK_EQ(sley_io_recv(pair.from, data, sizeof(data),
				      MSG_DONTWAIT),
			 -EAGAIN);
		CHECK_EQ(sley_io_write(pair.to, "abc", 3), 3);
		do {
			n = sley_io_recv(pair.from, data, sizeof(data),
					 MSG_DONTWAIT);
		} while (n == -EAGAIN && sley_now() < end_ns);
		CHECK_EQ(n, 3);
	}
	close_pair(&pair);
}

TEST_WORKERS(a_call_that_never_waits_finds_what_came)
{
	do_in_task(ask_and_read);
}

/* There are no errors in the queue of errors; there are bytes. */
static void look_and_read(void *arg)
{
	struct pair pair = open_pair(PAIR_TCP);
	struct msghdr msg = { 0 };
	char data[8];

	(void)arg;
	for (int i = 0; i < 10; i++) {
		CHECK_EQ(sley_io_write(pair.to, "abc", 3), 3);
		CHECK(sley_io_poll_until(pair.from, POLLIN, in_ms(5000)) > 0);
		CHECK_EQ(sley_io_recvmsg_until(pair.from, &msg, MSG_ERRQUEUE,
					       in_ms(2)),
			 -ETIMEDOUT);
		CHECK_EQ(sley_io_read_until(pair.from, data, sizeof(data),
					    in_ms(5000)),
			 3);
	}
	close_pair(&pair);
}

TEST_WORKERS(a_look_for_errors_hides_no_bytes)
{
	do_in_task(look_and_read);
}

/* ---- datagrams to a name ---------------------------------------------------------------- */

struct receiver {
	struct sockaddr_un address;
	int fd;
	int sender;
	atomic_bool timed_out;
};

static void open_receiver(struct receiver *receiver, int i)
{
	*receiver = (struct receiver){ .address = { .sun_family = AF_UNIX } };
	(void)snprintf(receiver->address.sun_path + 1,
		       sizeof(receiver->address.sun_path) - 1,
		       "sley-flags-%d-%d", (int)getpid(), i);
	receiver->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK_EQ(bind(receiver->fd, (struct sockaddr *)&receiver->address,
		      sizeof(receiver->address)),
		 0);
}

static ssize_t send_to(struct receiver *receiver, int flags,
		       uint64_t deadline_ns)
{
	struct iovec part = { "x", 1 };
	struct msghdr msg = {
		.msg_name = &receiver->address,
		.msg_namelen = sizeof(receiver->address),
		.msg_iov = &part,
		.msg_iovlen = 1,
	};

	return sley_io_sendmsg_until(receiver->sender, &msg, flags,
				     deadline_ns);
}

/* Each try in vain is an edge of its own: the sender must not follow these. */
static void send_to_full(void *arg)
{
	uint64_t cpu_ns = test_process_cpu_ns();

	CHECK_EQ(send_to(arg, 0, in_ms(300)), -ETIMEDOUT);
	CHECK(test_process_cpu_ns() - cpu_ns < 150 * SLEY_MSEC);
	atomic_store(&((struct receiver *)arg)->timed_out, true);
	CHECK_EQ(send_to(arg, 0, in_ms(5000)), 1);
}

static void send_to_names(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	int filler = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct receiver full, other;
	struct sley_task task;
	char data[8];

	(void)arg;
	open_receiver(&full, 0);
	open_receiver(&other, 1);
	/* Another socket fills it: its messages are not counted for the sender. */
	full.sender = filler;
	while (send_to(&full, MSG_DONTWAIT, SLEY_FOREVER) == 1)
		continue;
	full.sender = other.sender =
		socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK(full.sender >= 0);
	CHECK_EQ(send_to(&full, MSG_DONTWAIT, SLEY_FOREVER), -EAGAIN);
	CHECK_EQ(send_to(&other, 0, in_ms(5000)), 1);
	sley_spawn(&group, &task, send_to_full, &full);
	while (!atomic_load(&full.timed_out))
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	CHECK_EQ(send_to(&other, 0, in_ms(5000)), 1);
	CHECK_EQ(sley_io_read(full.fd, data, sizeof(data)), 1);
	sley_join(&group);
	CHECK_EQ(sley_io_close(full.fd), 0);
	CHECK_EQ(sley_io_close(other.fd), 0);
	CHECK_EQ(sley_io_close(full.sender), 0);
	CHECK_EQ(sley_io_close(filler), 0);
}

TEST_WORKERS(a_receiver_that_is_full_is_waited_for)
{
	do_in_task(send_to_names);
}
