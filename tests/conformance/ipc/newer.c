/* SPDX-License-Identifier: MIT */
/*
 * newer.c - ipc/packet.c of a later minor version, see newer.h.
 *
 * A client says at its end how many heads it has sent with the new flag, and how many
 * without it.
 */
#include "conformance/ipc/newer.h"

#include "ipc/packet.h"

#include <stdio.h>

/* What the older version has, by other names. */
static void older_hello(struct wire_packet *out, const char *name,
			uint32_t depth, uint32_t slot_size, bool adopt);
static void older_welcome(struct wire_packet *out,
			  const struct packet_offer *offer);
static int older_check(struct wire_packet *packet, enum packet_from from,
		       uint32_t nr_fds, bool adopted);

#define packet_hello older_hello
#define packet_welcome older_welcome
#define packet_check older_check
#include "ipc/packet.c"
#undef packet_hello
#undef packet_welcome
#undef packet_check

/* Does the daemon know NEWER_HEAD? */
static uint32_t is_known;
static uint64_t nr_with, nr_without;

void packet_hello(struct wire_packet *out, const char *name, uint32_t depth,
		  uint32_t slot_size, bool adopt)
{
	older_hello(out, name, depth, slot_size, adopt);
	out->flags |= NEWER_ASKS;
}

void packet_welcome(struct wire_packet *out, const struct packet_offer *offer)
{
	older_welcome(out, offer);
	out->flags |= NEWER_KNOWS;
}

/* Of each WELCOME, before a request is sent to this daemon. */
int packet_check(struct wire_packet *packet, enum packet_from from,
		 uint32_t nr_fds, bool adopted)
{
	int err = older_check(packet, from, nr_fds, adopted);

	if (!err && packet->kind == WIRE_WELCOME)
		/* relaxed: the lock of the client is in between. */
		store_relaxed(&is_known, packet_minor(packet) >= WIRE_MINOR &&
						 packet->flags & NEWER_KNOWS);
	return err;
}

uint16_t newer_flags(uint16_t flags)
{
	/* relaxed: as above; and counters. */
	bool known = load_relaxed(&is_known);

	add_relaxed(known ? &nr_with : &nr_without, 1);
	return (uint16_t)(known ? flags | NEWER_HEAD : flags & ~NEWER_HEAD);
}

__attribute__((destructor)) static void say(void)
{
	/* relaxed: all threads have ended. */
	uint64_t with = load_relaxed(&nr_with);
	uint64_t without = load_relaxed(&nr_without);

	if (with || without)
		fprintf(stderr, "heads: %llu newer, %llu older\n",
			(unsigned long long)with, (unsigned long long)without);
}
