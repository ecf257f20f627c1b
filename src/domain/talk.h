/* SPDX-License-Identifier: MIT */
/*
 * talk.h - a connection to the host of a domain, as members and tools have it.
 *
 * Every wait ends at a deadline, and as soon as the descriptor @cancel can be read (-1:
 * there is none).
 */
#ifndef SLEY_DOMAIN_TALK_H
#define SLEY_DOMAIN_TALK_H

#include "domain/packet.h"
#include "domain/place.h"

/* The time that a host has for an answer. */
#define TALK_NS 10000000000ull

/*
 * A socket to the host, or -errno: -ECONNREFUSED: nobody hosts the domain.
 */
must_check int talk_connect(const struct domain_place *place, int cancel,
			    uint64_t deadline_ns);

/* 0, also if the host has hung up, which talk_receive() tells; or -errno. */
must_check int talk_send(int socket, const struct domain_packet *packet,
			 int fd);

/*
 * The next packet, checked: 0, and @fds, of DOMAIN_PACKET_FDS, are its descriptors, or -1.
 * Else they are -1, and
 *
 *   -ECONNREFUSED  the host has hung up
 *   -EPROTO, -EPROTONOSUPPORT  it speaks nonsense, or another version; the second leaves
 *                  the reason in packet->text
 *   -ETIMEDOUT, -ECANCELED
 */
must_check int talk_receive(int socket, struct domain_packet *packet, int *fds,
			    int cancel, uint64_t deadline_ns);

/* The same without a wait: -EAGAIN. */
must_check int talk_receive_now(int socket, struct domain_packet *packet,
				int *fds);

void talk_close(int *fds);

/*
 * The page that came with a packet, mapped to be read; @fd is closed.  -EPROTO: it is no
 * page that one process alone can write; -ENOMEM.
 */
must_check int talk_map(int fd, const void **page);

#endif
