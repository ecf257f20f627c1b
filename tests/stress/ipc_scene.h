/* SPDX-License-Identifier: MIT */
/*
 * ipc_scene.h - real clients and a real daemon, each in a process of its own, and a page
 * outside of the product on which all of them keep count.
 *
 * The stage (cast.h) kills, stops and starts them.  A request has a *record* on the page: its
 * client notes that it was acknowledged and how it ended, its method that it was run.
 */
#ifndef SLEY_TESTS_STRESS_IPC_SCENE_H
#define SLEY_TESTS_STRESS_IPC_SCENE_H

#include "stress/cast.h"

#include <stdatomic.h>

#define IPC_CLIENTS 4
/* Of a client, used again and again: what is forgotten may begin many requests later. */
#define IPC_RECORDS 65536
#define IPC_WINDOW 16 /* requests under way, of a client            */

struct ipc_record {
	atomic_ullong serial; /* 0: none; the client and its request      */
	atomic_uint nr_run;
	atomic_uint acked;
	atomic_uint ended;
	uint32_t idempotent, forgotten;
	int32_t code;
};

/* IN of a request of the pool "work": its method notes the run, and sleeps. */
struct ipc_task {
	uint64_t serial;
	uint32_t place;
	uint32_t sleep_ns;
};

/* Each client has one; a client that comes after it has the same. */
struct ipc_client {
	struct ipc_record records[IPC_RECORDS];
	atomic_ullong nr_acked, nr_ended, nr_unknown, nr_forgotten;
	/* The last record that was taken: what a dead client forgot may run later. */
	atomic_uint last;
};

#define IPC_SAMPLES 4096

struct ipc_page {
	struct ipc_client clients[IPC_CLIENTS];
	atomic_bool stop;     /* clients end, in order               */
	atomic_bool pause;    /* clients submit nothing              */
	atomic_uint nr_stale; /* runs of requests that have ended    */
	atomic_uint nr_twice; /* second runs of what may run once    */
	atomic_uint nr_run;
	/* Of the daemon, several thousand times a second. */
	atomic_uint nr_sessions, nr_in_flight, nr_ejected, nr_fds, nr_maps;
	atomic_ullong nr_bytes; /* of bookkeeping memory                     */
	atomic_ullong nr_looks;
	atomic_uint nr_visits; /* of hostile clients                       */
	atomic_ullong samples_ns[IPC_SAMPLES]; /* of the measured client   */
	atomic_uint nr_samples;
};

struct ipc_scene {
	struct ipc_page *page;
	char folder[64];
	char path[80];
	pid_t daemon;
	pid_t clients[IPC_CLIENTS];
	uint64_t epochs[IPC_CLIENTS]; /* clients so far, by place          */
	uint32_t place; /* of the client that was started last            */
	int ready;      /* of the daemon: it says here that it listens    */
	/* Of the first daemon, before the first client. */
	uint32_t nr_fds, nr_maps;
	uint64_t nr_bytes;
};

void ipc_begin(struct ipc_scene *scene);
/* Of all runs so far. */
void ipc_check(const struct ipc_scene *scene);
/* All processes have ended, well; nothing is left. */
void ipc_end(struct ipc_scene *scene);

void ipc_start_daemon(struct ipc_scene *scene);
void ipc_kill_daemon(struct ipc_scene *scene);
/* With SIGTERM: in order. */
void ipc_stop_daemon(struct ipc_scene *scene);

void ipc_start_client(struct ipc_scene *scene, uint32_t place);
void ipc_kill_client(struct ipc_scene *scene, uint32_t place);
/* All clients have completed what they had, keep nothing of former daemons, and end. */
void ipc_finish_clients(struct ipc_scene *scene);

/* The daemon has looked at itself since the call. */
void ipc_await_look(struct ipc_scene *scene);
/* All clients have gone, and the daemon, the first or a later one, has no more than then. */
void ipc_check_nothing_is_left(struct ipc_scene *scene);

/* One call after the other, measured, until the stop.  @arg is the scene. */
void ipc_measured_client(void *arg);

#endif
