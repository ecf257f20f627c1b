/* SPDX-License-Identifier: MIT */
/*
 * daemon.h - the daemon, from its runtime to its end.
 *
 * main.c has read the configuration and given rights away.  daemon_run() makes the
 * runtime, the router, the pools and the server, waits until it is asked to stop, and
 * ends all of them in the opposite order.
 *
 * Stopping.  The first request to stop, a signal or CONTROL_STOP, sets .stop.  The thread
 * of main() then lets the server answer what has begun, for the grace period.  A second
 * request, of any kind, ends this wait: the rest is cancelled.  A method that does not end
 * even then must not keep the daemon: an alarm ends the process.  Neither the thread of
 * main() nor the thread of signals.c, which hears the alarm, waits for a worker.
 */
#ifndef SLEYD_DAEMON_H
#define SLEYD_DAEMON_H

#include "kept.h"
#include "rights.h"

#include <pthread.h>
#include <sley/config_file.h>
#include <sley/domain_host.h>
#include <sley/server.h>
#include <sley/sley.h>
#include <stdatomic.h>

struct daemon {
	/* Constant once daemon_run() was called. */
	const struct sley_config_file *file;
	const struct sley_config_daemon *config;
	const char *config_path; /* absolute; or NULL                        */
	const char *log_path;    /* the same                                  */
	const char *socket;
	const char *state_dir; /* or NULL                                    */
	int listen_fd; /* 0: none                                            */
	bool is_managed;
	bool is_filtered;
	struct rights rights;
	struct kept kept;
	uint64_t started_ns;

	struct sley_domain_host *domain; /* or NULL                           */
	struct sley *rt;
	struct sley_router *router;
	struct sley_server *server; /* for requests, which end before it      */
	struct sley_event serving;  /* .server is there                       */
	struct sley_mutex lock;
	struct sley_server *stopped; /* the server until it ends (lock)       */
	struct sley_event stop;
	atomic_uint nr_stops;
	atomic_uint grace_ms;

	/* Of signals.c. */
	pthread_t listener;
	atomic_bool is_deaf; /* the listener ends                        */
	struct sley_event hang_up; /* for the task for hang-ups                */
	struct sley_group tasks;
	struct sley_task hang_ups;
};

extern const struct sley_module control_module;

/* Says which daemon the requests of control.h are about. */
void control_bind(struct daemon *daemon);

/* 0, or 1: the exit status.  The log has the reason. */
int daemon_run(struct daemon *daemon);

/* Asks the daemon to stop; @now: without a grace period.  Any thread. */
void daemon_stop(struct daemon *daemon, uint32_t grace_ms, bool now);

#endif
