/* SPDX-License-Identifier: MIT */
/*
 * doorkeeper.h - what a server does rarely: clients come and go.  The source of the server, see
 * ipc/server.h.
 */
#ifndef SLEY_IPC_DOORKEEPER_H
#define SLEY_IPC_DOORKEEPER_H

#include "ipc/server.h"

/* The socket of connection @index is readable, or its process has ended. */
#define DOORKEEPER_SOCKET(index) ((index)*2)
#define DOORKEEPER_PROCESS(index) ((index)*2 + 1)
#define DOORKEEPER_LISTENER UINT32_MAX

/* Opens the source: 0 or the errors of epoll_create(2) and source_add(). */
must_check int doorkeeper_open(struct sley_server *server);

/* No connection is left. */
void doorkeeper_close(struct sley_server *server);

/*
 * The session ends: @code, below 0, and @reason; or, with 0, the client is gone.  By the
 * taker.
 */
void doorkeeper_end(struct connection *connection, int32_t code,
		    const char *reason);

/* Asks for the limit of a client whose handshake ends, or again.  By the taker. */
void doorkeeper_limit(struct connection *connection);

/* Ends and frees what others have left to the taker, the caller. */
void doorkeeper_do_chores(struct sley_server *server);

/* May a line be written to the log?  Not more than some in a second. */
must_check bool doorkeeper_may_say(struct sley_server *server);

#endif
