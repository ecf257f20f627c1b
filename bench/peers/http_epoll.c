/* SPDX-License-Identifier: MIT */
/*
 * http_epoll.c - the floor of the rows `http-...`: an epoll loop that answers without
 * parsing, with one read and one send.
 */
#include "../problems/http_bare.h"
#include "../problems/http_rows.h"

#include <sys/epoll.h>

static struct http_bare bare;

static void answer(int fd, const char *data, size_t size)
{
	size_t length = http_bare_answer(&bare, "epoll", data, size);

	if (length &&
	    send(fd, bare.out, length, MSG_NOSIGNAL) != (ssize_t)length)
		close(fd);
}

static void watch(int epoll, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	event.data.fd = fd;
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		_exit(1);
}

static void serve(const struct http_server *server)
{
	struct epoll_event events[64];
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int listener = http_listen(server);

	watch(epoll, listener);
	for (;;) {
		int nr = epoll_wait(epoll, events, 64, -1);

		for (int i = 0; i < nr; i++) {
			int fd = events[i].data.fd;
			char data[16384];
			ssize_t n;

			if (fd == listener) {
				fd = accept4(listener, NULL, NULL,
					     SOCK_NONBLOCK);
				if (fd >= 0)
					watch(epoll, fd);
				continue;
			}
			n = recv(fd, data, sizeof(data), 0);
			if (n > 0)
				answer(fd, data, (size_t)n);
			else
				close(fd);
		}
	}
}

int main(int argc, char **argv)
{
	return http_main(argc, argv, serve);
}
