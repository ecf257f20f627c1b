/* SPDX-License-Identifier: MIT */
/*
 * io_socket.c - connections: sley_io_accept(), sley_io_connect(), sley_io_poll().
 */
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "conformance/io/pairs.h"
#include "hostile/filter.h"

enum { NR_CLIENTS = 32 };

struct server {
	int listener;
	struct sockaddr_in address;
	atomic_int served;
};

static void serve_one(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char data[8];
	ssize_t n = sley_io_read(fd, data, sizeof(data));

	CHECK_GT(n, 0);
	CHECK_EQ(sley_io_write(fd, data, (size_t)n), n);
	CHECK_EQ(sley_io_close(fd), 0);
}

static void serve(void *arg)
{
	struct server *server = arg;

	for (int i = 0; i < NR_CLIENTS; i++) {
		struct sockaddr_in peer = { .sin_port = 0 };
		socklen_t length = sizeof(peer);
		int fd = sley_io_accept(server->listener,
					(struct sockaddr *)&peer, &length);

		CHECK(fd >= 0);
		CHECK_EQ(length, sizeof(peer));
		CHECK_NE(peer.sin_port, 0);
		CHECK_EQ(sley_schedule(serve_one, (void *)(intptr_t)fd), 0);
	}
}

static void ask(void *arg)
{
	struct server *server = arg;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char data[8];

	CHECK(fd >= 0);
	CHECK_EQ(sley_io_connect(fd, (struct sockaddr *)&server->address,
				 sizeof(server->address)),
		 0);
	CHECK_EQ(sley_io_write(fd, "ping", 4), 4);
	CHECK_EQ(sley_io_read(fd, data, sizeof(data)), 4);
	CHECK_EQ(sley_io_read(fd, data, sizeof(data)), 0);
	CHECK_EQ(sley_io_close(fd), 0);
	atomic_fetch_add(&server->served, 1);
}

TEST_WORKERS(clients_are_accepted_and_served)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[NR_CLIENTS + 1];
	struct server server = { .served = 0 };

	server.listener = tcp_listener(&server.address, NR_CLIENTS);
	sley_spawn(&group, &task[NR_CLIENTS], serve, &server);
	for (int i = 0; i < NR_CLIENTS; i++)
		sley_spawn(&group, &task[i], ask, &server);
	sley_join(&group);
	CHECK_EQ(server.served, NR_CLIENTS);
	CHECK_EQ(sley_io_close(server.listener), 0);
	stop(rt);
}

TEST_WORKERS(a_connection_that_is_refused_is_an_error)
{
	struct sley *rt = start();
	struct sockaddr_in address;
	int listener = tcp_listener(&address, 1);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK_EQ(close(listener), 0);
	CHECK_EQ(sley_io_connect(fd, (struct sockaddr *)&address,
				 sizeof(address)),
		 -ECONNREFUSED);
	CHECK_EQ(sley_io_close(fd), 0);
	stop(rt);
}

TEST_WORKERS(a_wait_for_a_connection_ends_at_its_deadline)
{
	struct sley *rt = start();
	struct sockaddr_in address;
	int listener = tcp_listener(&address, 1);
	uint64_t start_ns = sley_now();

	CHECK_EQ(sley_io_accept_until(listener, NULL, NULL, in_ms(5)),
		 -ETIMEDOUT);
	CHECK_GE(ms_since(start_ns), 5);
	CHECK_EQ(sley_io_close(listener), 0);
	stop(rt);
}

/* From the second call on the kernel is not asked, and would refuse. */
TEST_WORKERS(a_blocking_listener_becomes_non_blocking_once)
{
	struct sley *rt = start();
	struct sockaddr_in address;
	int listener = tcp_listener(&address, 4), client[3];

	CHECK_EQ(fcntl(listener, F_GETFL) & O_NONBLOCK, 0);
	CHECK_EQ(sley_io_accept_until(listener, NULL, NULL, in_ms(1)),
		 -ETIMEDOUT);
	CHECK_EQ(fcntl(listener, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	for (int i = 0; i < 3; i++) {
		client[i] = socket(AF_INET, SOCK_STREAM, 0);
		CHECK_EQ(sley_io_connect(client[i], (struct sockaddr *)&address,
					 sizeof(address)),
			 0);
	}
	if (filter_forbid(SYS_fcntl, EPERM))
		test_skip("seccomp is not to be had");
	for (int i = 0; i < 3; i++) {
		int fd = sley_io_accept(listener, NULL, NULL);

		CHECK_GE(fd, 0);
		CHECK_EQ(sley_io_close(fd), 0);
		CHECK_EQ(sley_io_close(client[i]), 0);
	}
	CHECK_EQ(sley_io_close(listener), 0);
	stop(rt);
}

/* The kernel does not tell when a full listener of AF_UNIX has room. */
struct full {
	struct sockaddr_un address;
	int listener;
	atomic_bool timed_out;
};

static void connect_to_full(void *arg)
{
	struct full *full = arg;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	CHECK_EQ(sley_io_connect_until(fd, (struct sockaddr *)&full->address,
				       sizeof(full->address), in_ms(3)),
		 -ETIMEDOUT);
	atomic_store(&full->timed_out, true);
	CHECK_EQ(sley_io_connect(fd, (struct sockaddr *)&full->address,
				 sizeof(full->address)),
		 0);
	CHECK_EQ(sley_io_close(fd), 0);
}

TEST_WORKERS(a_listener_that_is_full_is_waited_for)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct full full = { .address = { .sun_family = AF_UNIX } };
	struct sley_task task;
	int fd[2];

	(void)snprintf(full.address.sun_path + 1,
		       sizeof(full.address.sun_path) - 1, "sley-test-%d",
		       (int)getpid());
	full.listener = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK_EQ(bind(full.listener, (struct sockaddr *)&full.address,
		      sizeof(full.address)),
		 0);
	CHECK_EQ(listen(full.listener, 0), 0);
	fd[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK_EQ(connect(fd[0], (struct sockaddr *)&full.address,
			 sizeof(full.address)),
		 0);
	sley_spawn(&group, &task, connect_to_full, &full);
	while (!atomic_load(&full.timed_out))
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	fd[1] = sley_io_accept(full.listener, NULL, NULL);
	CHECK(fd[1] >= 0);
	sley_join(&group);
	CHECK_EQ(sley_io_close(fd[0]), 0);
	CHECK_EQ(sley_io_close(fd[1]), 0);
	CHECK_EQ(sley_io_close(full.listener), 0);
	stop(rt);
}

/* The connection is still there when a descriptor is free again. */
TEST(at_the_limit_of_descriptors_a_connection_is_kept)
{
	struct sley *rt = start();
	struct sockaddr_in address;
	int listener = tcp_listener(&address, 4);
	int client = socket(AF_INET, SOCK_STREAM, 0), fd;
	struct rlimit limit, low;

	/* The runtime has its own descriptors before. */
	CHECK_EQ(sley_io_accept_until(listener, NULL, NULL, in_ms(1)),
		 -ETIMEDOUT);
	CHECK_EQ(sley_io_connect(client, (struct sockaddr *)&address,
				 sizeof(address)),
		 0);
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = limit;
	fd = dup(client);
	CHECK_EQ(close(fd), 0);
	low.rlim_cur = (rlim_t)fd;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
	CHECK_EQ(sley_io_accept(listener, NULL, NULL), -EMFILE);
	CHECK_EQ(sley_io_accept(listener, NULL, NULL), -EMFILE);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	fd = sley_io_accept(listener, NULL, NULL);
	CHECK(fd >= 0);
	CHECK_EQ(sley_io_close(fd), 0);
	CHECK_EQ(sley_io_close(client), 0);
	CHECK_EQ(sley_io_close(listener), 0);
	stop(rt);
}

/* ---- poll -------------------------------------------------------------------------------- */

static void write_later(void *arg)
{
	const int *fd = arg;

	CHECK_EQ(sley_sleep(3 * SLEY_MSEC), 0);
	CHECK_EQ(sley_io_write(*fd, "x", 1), 1);
}

TEST_WORKERS(a_poll_waits_for_either_direction)
{
	struct sley *rt = start();
	struct pair pair = open_pair(PAIR_UNIX);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	static char data[1 << 20];

	CHECK_EQ(sley_io_poll(pair.to, POLLOUT), POLLOUT);
	CHECK_EQ(sley_io_poll(pair.to, POLLIN | POLLOUT), POLLOUT);
	CHECK_EQ(sley_io_poll_until(pair.from, POLLIN, in_ms(2)), -ETIMEDOUT);
	/* No room in .to: only what the other side writes can end the wait. */
	CHECK_GT(sley_io_send(pair.to, data, sizeof(data), MSG_DONTWAIT), 0);
	CHECK_EQ(sley_io_poll_until(pair.to, POLLIN | POLLOUT, in_ms(2)),
		 -ETIMEDOUT);
	sley_spawn(&group, &task, write_later, &pair.from);
	CHECK_EQ(sley_io_poll(pair.to, POLLIN | POLLOUT), POLLIN);
	sley_join(&group);
	CHECK_EQ(sley_io_close(pair.from), 0);
	CHECK_EQ(sley_io_poll(pair.to, POLLIN) & POLLHUP, POLLHUP);
	CHECK_EQ(sley_io_close(pair.to), 0);
	stop(rt);
}
