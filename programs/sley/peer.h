/* SPDX-License-Identifier: MIT */
/*
 * peer.h - the process behind a socket, for a daemon that does not talk.
 *
 * The kernel tells which process listens: no file has to be believed, and a number that
 * another process has got meanwhile is not taken for the daemon's.
 */
#ifndef SLEY_PROGRAM_PEER_H
#define SLEY_PROGRAM_PEER_H

#include <stdbool.h>

struct peer {
	int pid;
	int process;    /* a pidfd: its end is seen                           */
	char path[128]; /* of the socket                                      */
};

/* Behind the path of a daemon that stops already: programs/sleyd/farewell.h. */
#define PEER_STOPPING ".stopping"

/*
 * The daemon that listens at the socket @given, which may be NULL, with @suffix behind its
 * path.  False: there is none; .path is set all the same.
 */
bool peer_find(struct peer *peer, const char *given, const char *suffix);

/*
 * The process that holds the lock of the socket @path, though the socket is gone; 0: there
 * is none, or the user may not see it.
 */
int peer_holder(const char *path);
void peer_close(struct peer *peer);

/* 0, or -1 and errno. */
int peer_signal(const struct peer *peer, int number);

#endif
