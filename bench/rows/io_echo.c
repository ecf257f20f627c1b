/* SPDX-License-Identifier: MIT */
/*
 * io_echo.c - row `io-echo`: CPU of a server for each message that it sends back, a
 * fiber for each connection.
 *
 *   ns           64 connections
 *   many_ns      1,000 connections
 *   one_ns       one connection; the worker does not spin before it sleeps
 *   one_spin_ns  one connection, as the runtime comes; one_p50_ns: its round trip
 */
#include "rows.h"

#include "../problems/echo.h"

static void serve_one(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char data[512];
	ssize_t n;

	while ((n = sley_io_recv(fd, data, sizeof(data), 0)) > 0) {
		if (sley_io_send(fd, data, (size_t)n, 0) != n)
			break;
	}
	sley_io_close(fd);
}

static void serve(void *arg)
{
	const struct echo *echo = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task *task =
		calloc((size_t)echo->nr_connections, sizeof(*task));

	for (int i = 0; i < echo->nr_connections; i++) {
		int fd = sley_io_accept(echo->listener, NULL, NULL);

		MEASURE_CHECK(echo->m, fd >= 0);
		sley_spawn(&group, &task[i], serve_one, (void *)(intptr_t)fd);
	}
	sley_join(&group);
	free(task);
}

static void run(const struct measure *m, int connections, uint64_t messages,
		uint32_t spin_us, const char *cpu, const char *p50)
{
	struct echo echo;

	echo_begin(&echo, m, connections, messages);
	row_run_config(SLEY_CONFIG(.workers = m->workers, .spin_us = spin_us),
		       serve, &echo);
	(void)echo_end(&echo, cpu, p50);
}

void row_io_echo(const struct measure *m)
{
	run(m, 1, ECHO_MESSAGES_ONE, SLEY_NO_SPIN, "one_ns", NULL);
	run(m, 1, ECHO_MESSAGES_ONE, 0, "one_spin_ns", "one_p50_ns");
	run(m, ECHO_CONNECTIONS, ECHO_MESSAGES, 0, "ns", NULL);
	run(m, ECHO_CONNECTIONS_MAX, ECHO_MESSAGES, 0, "many_ns", NULL);
}
