/* SPDX-License-Identifier: MIT */
/*
 * fork_server.h - the process that forks children, and what is said to it.
 *
 * A fork of the program from the time when that had one thread, and so a place from
 * which one can fork: nothing there is in the middle of anything.  It does nothing
 * else.  It allocates nothing, has one thread, and sleeps.
 *
 *   START   with a ring and a bell: fork a child    STARTED or FAILED
 *   KILL    the child of this life, if it lives
 *                                                   DIED, when it was reaped
 *
 * DIED is the last that is heard of a life, and says that it is really over: nothing
 * of it writes to the ring any more.  There is one for each STARTED.
 *
 * Who ends with whom: the server watches the program (a pidfd: the end of the whole
 * process, not of the thread that forked), kills its children and ends.  If the
 * server is killed itself, the kernel kills its children (PR_SET_PDEATHSIG), and the
 * program finds the socket closed.
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

/* In the server: until @program ends, or its end of the @socket is closed. */
noreturn_fn void fork_server_run(int socket, int program);

/* In a child: serves the ring; serve.c. */
noreturn_fn void subprocess_serve(int ring, int bell,
				  const struct fork_server_order *order);

#endif
