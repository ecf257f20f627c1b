/* SPDX-License-Identifier: MIT */
/*
 * io_accept.c - row `io-accept`: CPU of a server for each connection that it accepts and
 * closes.
 *
 *   ns       64 connections come at a time; the task that accepts closes them, too
 *   task_ns  the same, and a task of its own closes each connection
 *   one_ns   one at a time; the worker does not spin before it sleeps
 */
#include "rows.h"

#include "../problems/arrivals.h"

static int take_one(const struct arrivals *arrivals)
{
	int fd = sley_io_accept(arrivals->listener, NULL, NULL);

	MEASURE_CHECK(arrivals->m, fd >= 0);
	return fd;
}

static void serve(void *arg)
{
	const struct arrivals *arrivals = arg;

	for (uint64_t i = 0; i < arrivals->nr; i++)
		MEASURE_CHECK(arrivals->m,
			      sley_io_close(take_one(arrivals)) == 0);
}

static void close_one(void *arg)
{
	sley_io_close((int)(intptr_t)arg);
}

static void serve_by_tasks(void *arg)
{
	const struct arrivals *arrivals = arg;
	struct sley_task task[ACCEPT_BURST];

	for (uint64_t left = arrivals->nr; left;) {
		struct sley_group group = SLEY_GROUP_INIT;
		uint64_t nr = left < ACCEPT_BURST ? left : ACCEPT_BURST;

		for (uint64_t i = 0; i < nr; i++)
			sley_spawn(&group, &task[i], close_one,
				   (void *)(intptr_t)take_one(arrivals));
		sley_join(&group);
		left -= nr;
	}
}

static void run(struct arrivals *arrivals, uint32_t spin_us, sley_fn *fn,
		const char *metric)
{
	int workers = arrivals->m->workers;

	row_run_config(SLEY_CONFIG(.workers = workers, .spin_us = spin_us), fn,
		       arrivals);
	arrivals_end(arrivals, metric);
}

void row_io_accept(const struct measure *m)
{
	struct arrivals arrivals;

	arrivals_begin(&arrivals, m, ACCEPT_CONNECTIONS_ONE, 1);
	run(&arrivals, SLEY_NO_SPIN, serve, "one_ns");
	arrivals_begin(&arrivals, m, ACCEPT_CONNECTIONS, ACCEPT_BURST);
	run(&arrivals, 0, serve, "ns");
	arrivals_begin(&arrivals, m, ACCEPT_CONNECTIONS, ACCEPT_BURST);
	run(&arrivals, 0, serve_by_tasks, "task_ns");
}
