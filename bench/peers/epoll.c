/* SPDX-License-Identifier: MIT */
/*
 * epoll.c - the reference `epoll`: a loop by hand, without fibers.  The least that a
 * server pays on this kernel.
 *
 * io-echo  level-triggered: one recv() and one send() for each message
 */
#include "../problems/echo.h"

static void serve(const struct echo *echo)
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

static void run_echo(const struct measure *m)
{
	static const struct {
		int connections;
		uint64_t messages;
		const char *cpu, *p50;
	} sizes[] = {
		{ 1, ECHO_MESSAGES_ONE, "one_ns", "one_p50_ns" },
		{ 64, ECHO_MESSAGES, "ns", NULL },
		{ 1000, ECHO_MESSAGES, "many_ns", NULL },
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct echo echo;

		echo_begin(&echo, m, sizes[i].connections, sizes[i].messages);
		serve(&echo);
		echo_end(&echo, sizes[i].cpu, sizes[i].p50);
	}
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "io-echo", run_echo },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
