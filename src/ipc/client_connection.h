/* SPDX-License-Identifier: MIT */
/*
 * client_connection.h - the socket of a client: the handshake, packets, the end of the daemon, and
 * the next daemon.
 *
 * One thread at a time, the *driver*, uses the socket; the others try to be the driver
 * and go on if there is one.  No step blocks: the driver does what can be done now, and
 * connection_next() says when there is something to do again.  So plain threads that wait,
 * the source of a runtime and the opener share one code.
 *
 * The driver and a thread that has something urgent for it cannot miss each other:
 *
 *   thread                              driver
 *   sets urgent                         takes urgent back, works
 *   exchanges driving: there is a       exchanges driving to 0
 *     driver, goes on                   looks at urgent: works again
 *
 * After the end of a daemon the driver connects again after 1 ms, then after twice as
 * long each time, up to 100 ms, until the link gives up.  Once it has, or after the daemon
 * has thrown the client out, each request looks for a daemon at once: connection_look().
 *
 * Edges:
 *
 *  KN1  the driver leaves, or a thread fails to become the driver -> the next exchange of
 *       driving : what the last driver did; urgent
 *  CL1  see ipc/client.h
 *  CL2  see ipc/client.h
 */
#ifndef SLEY_IPC_CLIENT_CONNECTION_H
#define SLEY_IPC_CLIENT_CONNECTION_H

#include "ipc/client.h"

/* A daemon that is there answers within this time, or is not used. */
#define CONNECTION_GREET_NS 5000000000ull

/* Does what can be done now, if anything. */
void connection_drive(struct sley_client *client);

/* The same in any case.  False: there was another driver. */
bool connection_drive_now(struct sley_client *client);

/* For a request that finds the link down: drives, and does not wait for the next attempt. */
void connection_look(struct sley_client *client);

/* When to drive again. */
uint64_t connection_next(struct sley_client *client);

/* The answer to client->ask is there: the segment of the request that moves. */
void connection_has_asked(struct sley_client *client);

/* For good; by the closer. */
void connection_shut(struct sley_client *client);

/* Descriptors and memory; nobody uses them any more. */
void connection_end(struct sley_client *client);

#endif
