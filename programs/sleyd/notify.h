/* SPDX-License-Identifier: MIT */
/*
 * notify.h - what a service manager is told, and what it hands over.
 *
 * By hand, without libsystemd: a datagram to the socket that $NOTIFY_SOCKET names, as
 * sd_notify(3) describes, and descriptors from 3 on, as sd_listen_fds(3) describes.  Both
 * variables are taken out of the environment, so that no child believes them.
 */
#ifndef SLEYD_NOTIFY_H
#define SLEYD_NOTIFY_H

/* Opens the way to the manager, if there is one.  Before privileges are dropped. */
void notify_open(void);

/* "READY=1" and the like.  Does nothing without a manager. */
void notify(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * The socket that the manager has opened for the daemon: a descriptor; 0: there is none;
 * -EINVAL: it is no Unix socket of type SEQPACKET that listens, or there are several.
 */
int notify_socket(void);

#endif
