/* SPDX-License-Identifier: MIT */
/*
 * control.h - the pool "daemon": requests about the daemon itself.
 *
 * The admin pool (<sley/admin.h>) has what a router can do.  The pool "daemon" has what
 * needs the server or the process.  IN and OUT parts have a fixed layout and no pointers, as
 * the parts of admin.  The command line (programs/sley) is the other side.
 */
#ifndef SLEYD_CONTROL_H
#define SLEYD_CONTROL_H

#include <sley/module.h>
#include <sley/server.h>

/* Of the module, and of its one pool. */
#define CONTROL_MODULE "daemon"

enum control_method {
	CONTROL_STATUS,  /* OUT: struct control_status                        */
	CONTROL_STOP,    /* IN: struct control_stop                           */
	CONTROL_CLIENTS, /* OUT: a struct sley_server_client each             */
	CONTROL_EJECT,   /* IN: struct control_eject                          */
};

/* For .flags of a status. */
#define CONTROL_STOPPING 1u
#define CONTROL_FILTERED 2u /* by seccomp                                     */
#define CONTROL_MANAGED 4u  /* by systemd: it starts the daemon again         */

#define CONTROL_PATH 512

struct control_status {
	uint32_t pid;
	uint32_t uid;
	uint32_t flags;
	uint32_t grace_ms;
	uint32_t nr_workers;
	uint32_t nr_pools;
	uint32_t nr_clients;
	uint32_t reserved;
	uint64_t uptime_ns;
	uint64_t nr_accepted;
	uint64_t nr_refused;
	uint64_t nr_ejected;
	uint64_t nr_requests;
	uint64_t nr_in_flight;
	uint64_t segment_bytes;
	uint64_t reserved_counts[4];
	char name[32];
	char version[32];
	/* Absolute paths; empty: none. */
	char socket[108];
	char config[CONTROL_PATH];
	char log[CONTROL_PATH];
	char state_dir[CONTROL_PATH];
	char reserved_text[20];
};

_Static_assert(sizeof(struct control_status) == 1848, "the same everywhere");

#define CONTROL_NOW                                                            \
	1u /* requests under way are cancelled                     */

struct control_stop {
	uint32_t grace_ms; /* 0: as the daemon was told                        */
	uint32_t flags;
	uint64_t reserved[2];
};

_Static_assert(sizeof(struct control_stop) == 24, "the same everywhere");

struct control_eject {
	uint64_t session;
	char reason[104]; /* with a 0 at its end                               */
	uint64_t reserved;
};

_Static_assert(sizeof(struct control_eject) == 120, "the same everywhere");
_Static_assert(sizeof(struct sley_server_client) == 160, "as above");

#endif
