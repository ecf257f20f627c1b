/* SPDX-License-Identifier: MIT */
/*
 * packet.h - the packets of the handshake (ipc/wire.h), built and checked.
 *
 * Both sides use it, and the simulator does: no function makes a system call.
 *
 * A packet that was received is a private copy.  packet_check() looks at all of it before
 * anything else does: afterwards the kind is one that the sender may send, the right
 * number of descriptors has come, and the text is a string of printable characters, which
 * can go into a log.
 */
#ifndef SLEY_IPC_PACKET_H
#define SLEY_IPC_PACKET_H

#include "base/compiler.h"
#include "ipc/wire.h"

#include <stdbool.h>
#include <stdint.h>

/* The sender of a packet. */
enum packet_from {
	PACKET_FROM_CLIENT,
	PACKET_FROM_DAEMON,
};

/* What a WELCOME says. */
struct packet_offer {
	uint64_t session;
	uint64_t generation;
	uint64_t segment_bytes;
	uint32_t depth;
	uint32_t slot_size;
};

/* ---- building ------------------------------------------------------------------------ */

/* 0 for @depth or @slot_size: as the daemon likes.  A long @name is cut. */
void packet_hello(struct wire_packet *out, const char *name, uint32_t depth,
		  uint32_t slot_size, bool adopt);
void packet_ready(struct wire_packet *out, uint32_t life);
void packet_welcome(struct wire_packet *out, const struct packet_offer *offer);
/* @code is below 0; the text says why, and what to do. */
printf_like(3, 4) void packet_refused(struct wire_packet *out, int32_t code,
				      const char *format, ...);
printf_like(3, 4) void packet_goodbye(struct wire_packet *out, int32_t code,
				      const char *format, ...);
void packet_segment(struct wire_packet *out, uint32_t number, uint64_t bytes);

/* The versions of both sides differ: the packet that says so, for the sender of @theirs. */
void packet_refuse_version(struct wire_packet *out,
			   const struct wire_packet *theirs);
/* The same for the user of this client: @theirs is of the daemon, @text has WIRE_TEXT bytes. */
void packet_explain_version(char *text, const struct wire_packet *theirs);

/* ---- checking ------------------------------------------------------------------------ */

/* How many descriptors come with @packet; @adopted: of a client that adopts. */
uint32_t packet_nr_fds(const struct wire_packet *packet, bool adopted);

/*
 * Checks @packet, and makes its text harmless.  @adopted: for packets of the daemon, as
 * above.
 *
 *   -EPROTO           it is no packet of the protocol
 *   -EPROTONOSUPPORT  it is, of another major version: nothing but the versions may be
 *                     used
 */
must_check int packet_check(struct wire_packet *packet, enum packet_from from,
			    uint32_t nr_fds, bool adopted);

/* The minor version that both sides know. */
uint16_t packet_minor(const struct wire_packet *packet);

#endif
