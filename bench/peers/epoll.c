/* SPDX-License-Identifier: MIT */
/*
 * epoll.c - the reference `epoll`: a loop by hand, without fibers.  The least that a
 * server pays on this kernel.
 *
 * io-echo    level-triggered: one recv() and one send() for each message
 * io-accept  level-triggered: one accept4() and one close() for each connection, and
 *            an epoll_wait() before each
 */
#include "../problems/arrivals.h"
#include "../problems/echo.h"

static void serve_echo(const struct echo *echo)
{
	struct epoll_event events[64];
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int left = echo->nr_connections;

	for (int i = 0; i < echo->nr_connections; i++) {
		struct epoll_event event = { .events = EPOLLIN };
		int fd = accept4(echo->listener, NULL, NULL, SOCK_NONBLOCK);

		event.data.fd = fd;
		MEASURE_CHECK(echo->m,
			      fd >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd,
						   &event) == 0);
	}
	while (left) {
		int nr = epoll_wait(epoll, events, 64, -1);

		for (int i = 0; i < nr; i++) {
			int fd = events[i].data.fd;
			char data[4096];
			ssize_t n = recv(fd, data, sizeof(data), 0);

			if (n > 0) {
				MEASURE_CHECK(echo->m, send(fd, data, (size_t)n,
							    MSG_NOSIGNAL) == n);
				continue;
			}
			close(fd);
			left--;
		}
	}
	close(epoll);
}

static void serve_accept(const struct arrivals *arrivals)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	uint64_t left = arrivals->nr;

	MEASURE_CHECK(arrivals->m, epoll_ctl(epoll, EPOLL_CTL_ADD,
					     arrivals->listener, &event) == 0);
	while (left) {
		int fd;

		if (epoll_wait(epoll, &event, 1, -1) != 1)
			continue;
		fd = accept4(arrivals->listener, NULL, NULL,
			     SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		close(fd);
		left--;
	}
	close(epoll);
}

static void run_echo(const struct measure *m)
{
	echo_peer(m, serve_echo);
}

static void run_accept(const struct measure *m)
{
	arrivals_peer(m, serve_accept);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "io-echo", run_echo },
		{ "io-accept", run_accept },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
