/* SPDX-License-Identifier: MIT */
/*
 * http_epoll.c - the floor of the rows `http-...`: an epoll loop that answers without
 * parsing.  It looks for the ends of heads only, and gathers the answers to the
 * requests of one read into one send.
 */
#include "../problems/http_load.h"

#include <sys/epoll.h>

#define ANSWER                                                                 \
	"HTTP/1.1 200 OK\r\nServer: epoll\r\n"                                 \
	"Date: Wed, 18 Nov 2026 01:00:00 GMT\r\n"                              \
	"Content-Type: text/plain\r\nContent-Length: 13\r\n"                   \
	"Connection: keep-alive\r\n\r\n" HTTP_BODY

static void answer(int fd, const char *data, size_t size)
{
	static char out[64 * sizeof(ANSWER)];
	size_t length = 0;
	const char *at = data, *end = data + size;

	while ((at = memmem(at, (size_t)(end - at), "\r\n\r\n", 4)) &&
	       length + sizeof(ANSWER) < sizeof(out)) {
		memcpy(out + length, ANSWER, sizeof(ANSWER) - 1);
		length += sizeof(ANSWER) - 1;
		at += 4;
	}
	if (length && send(fd, out, length, MSG_NOSIGNAL) != (ssize_t)length)
		close(fd);
}

static void watch(int epoll, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	event.data.fd = fd;
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		_exit(1);
}

static void serve(int port, const struct measure *m)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct epoll_event events[64];
	int epoll = epoll_create1(EPOLL_CLOEXEC), one = 1;
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address.sin_port = htons((uint16_t)port);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	MEASURE_CHECK(m, bind(listener, (struct sockaddr *)&address,
			      sizeof(address)) == 0 &&
				 listen(listener, 1024) == 0);
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

static void run_hello(const struct measure *m)
{
	http_hello(m, serve);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "http-hello", run_hello },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
