/* SPDX-License-Identifier: MIT */
/*
 * place.h - where the host of a domain listens, and how a program starts one.
 *
 * A domain has a name of up to DOMAIN_NAME_MAX letters, digits, '-', '_' and '.', the
 * first of which is no '.'.  Its socket is
 *
 *   root     /run/sley/domain-NAME
 *   others   $XDG_RUNTIME_DIR/sley/domain-NAME, if a host listens there; else
 *            /run/sley/domain-NAME, which a daemon of root may open to them
 *
 * A text that begins with '/' is no name but the path of a socket.
 *
 * If nobody listens anywhere, the first member starts `sleyd --domain-only NAME`.  That
 * program puts itself into the background and ends with status 0 as soon as a host
 * listens, itself or another: the lock of os/local_socket.h decides between two.  So it is
 * no child of the member for long, and the member knows when to connect.
 *
 * Rejected: a host in a process that is a member.  It would end with that process, and all
 * others would have to agree on the next host.
 */
#ifndef SLEY_DOMAIN_PLACE_H
#define SLEY_DOMAIN_PLACE_H

#include "base/compiler.h"
#include "os/local_socket.h"

#include <stdbool.h>
#include <stdint.h>

#define DOMAIN_NAME_MAX 31
#define DOMAIN_PATH_SIZE (OS_LOCAL_PATH_MAX + 1)

struct domain_place {
	char name[DOMAIN_PATH_SIZE]; /* as it was given                      */
	/* Where a host may listen; members look there in this order. */
	char path[2][DOMAIN_PATH_SIZE];
	uint32_t nr;
	int own; /* of .path: where a host of this user listens; -1: nowhere */
};

/* 0; -EINVAL: @name is no name; -ENAMETOOLONG: a path is too long for a socket. */
must_check int domain_place_find(struct domain_place *out, const char *name);

/* Of the place for a host: its folder is there afterwards.  0 or -errno. */
must_check int domain_place_prepare(const struct domain_place *place);

/*
 * Starts a host, and waits until it listens: 0, or -errno.  -EPIPE: the program says that
 * it cannot host; -ECANCELED: @cancel can be read; -ETIMEDOUT.
 */
must_check int domain_place_host(const struct domain_place *place, int cancel);

#endif
