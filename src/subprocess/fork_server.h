/* SPDX-License-Identifier: MIT */
/*
 * fork_server.h - the process that forks subprocesses, and its messages.
 *
 * The fork server is a fork of the program from the time when the program had one
 * thread.  So it can fork safely: no other thread is in the middle of anything.  It
 * does nothing else.  It allocates nothing, has one thread, and sleeps.
 *
 *   START   with a ring, eventfds and crates: fork STARTED or FAILED
 *   KILL    the subprocess of this life, if alive
 *                                                   DIED, when it was reaped
 *
 * DIED is the last message about a life, and says that the life is really over: the
 * subprocess does not write to the ring any more.  There is one DIED for each
 * STARTED.
 *
 * Ends: the fork server watches the program (a pidfd: the end of the whole process,
 * not of the thread that forked).  When the program ends, the fork server kills its
 * subprocesses and ends.  If the fork server itself is killed, the kernel kills its
 * subprocesses (PR_SET_PDEATHSIG), and the program finds the socket closed.
 */
#ifndef SLEY_SUBPROCESS_FORK_SERVER_H
#define SLEY_SUBPROCESS_FORK_SERVER_H

#include "base/compiler.h"

#include <stdint.h>

enum fork_server_order_kind { FORK_SERVER_START, FORK_SERVER_KILL };

struct fork_server_order {
	uint32_t kind;
	uint32_t id; /* below SLEY_SUBPROCESSES_MAX */
	uint32_t life;
	uint32_t depth;
	char name[16];
};

enum fork_server_notice_kind {
	FORK_SERVER_READY,
	FORK_SERVER_STARTED,
	FORK_SERVER_FAILED,
	FORK_SERVER_DIED,
};

struct fork_server_notice {
	uint32_t kind;
	uint32_t id;
	uint32_t life;
	int32_t pid;
	int32_t status; /* of DIED; of FAILED: -errno */
};

/* In the fork server: until @program ends, or its end of @socket is closed. */
noreturn_fn void fork_server_run(int socket, int program);

/* The descriptors that come with FORK_SERVER_START. */
enum fork_server_fd {
	FORK_SERVER_RING,      /* shared memory                           */
	FORK_SERVER_COLLECTOR, /* eventfds, for the bits of done in the ring */
	FORK_SERVER_WORKER,
	FORK_SERVER_CRATES, /* a file, see crate.h; may be missing       */
	NR_FORK_SERVER_FDS
};

/* In a subprocess: serves the ring; serve.c. */
noreturn_fn void subprocess_serve(const int *fds,
				  const struct fork_server_order *order);

#endif
