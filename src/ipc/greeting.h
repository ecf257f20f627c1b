/* SPDX-License-Identifier: MIT */
/*
 * greeting.h - a process connects, and becomes a client: the handshake of ipc/wire.h.
 *
 * By the taker of the server.  A handshake that stops in the middle holds a place for
 * GREETING_NS at least; then it loses the place to a client that needs one.  No timer is
 * needed for that.
 */
#ifndef SLEY_IPC_GREETING_H
#define SLEY_IPC_GREETING_H

#include "ipc/server.h"

#define GREETING_NS 5000000000ull

/* From now on the taker hears of processes that connect: 0 or -errno. */
must_check int greeting_listen(struct sley_server *server);

/* Accepts clients that wait, some of them.  True: there are more. */
must_check bool greeting_accept(struct sley_server *server);

/* After a pause, for want of descriptors or memory: listens again. */
void greeting_resume(struct sley_server *server);

/* A packet may have come: receives it, and answers. */
void greeting_hear(struct connection *connection);

#endif
