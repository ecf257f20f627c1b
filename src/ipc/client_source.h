/* SPDX-License-Identifier: MIT */
/*
 * client_source.h - the workers of a runtime look for the answers of a daemon.
 *
 * A source (core/sched/source.h), whose descriptor is an epoll of the socket and of the bell
 * that the daemon rings.  has() and arm() look at the word of the completions, without a
 * lock: what has been collected, `seen`, may be old there, and then a worker looks in vain
 * or the next look finds it.  While all workers are busy, none listens to the descriptor; so
 * has() asks the kernel about it, too, at most once in a millisecond.
 *
 * While there is no daemon, a task of the runtime drives the connection: nothing else
 * would connect again if all tasks wait for answers.
 *
 * Of a client without a runtime these functions do nothing.
 */
#ifndef SLEY_IPC_CLIENT_SOURCE_H
#define SLEY_IPC_CLIENT_SOURCE_H

#include "ipc/client.h"

must_check int client_source_begin(struct sley_client *client);
void client_source_end(struct sley_client *client);

/* A parked worker listens to @fd.  @edge: each signal is told once. */
must_check int client_source_watch(struct sley_client *client, int fd,
				   bool edge);
void client_source_ignore(struct sley_client *client, int fd);

/* The state has changed: a worker shall look, and a task connect again. */
void client_source_kick(struct sley_client *client);

#endif
