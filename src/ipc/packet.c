/* SPDX-License-Identifier: MIT */
/*
 * packet.c - see packet.h.
 */
#include "ipc/packet.h"

#include "base/printable.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- building ------------------------------------------------------------------------ */

static void begin(struct wire_packet *out, enum wire_kind kind)
{
	/* All bytes are sent, and there is no padding. */
	memset(out, 0, sizeof(*out));
	out->magic = WIRE_MAGIC;
	out->major = WIRE_MAJOR;
	out->minor = WIRE_MINOR;
	out->kind = kind;
	out->reserved = WIRE_RESERVED;
}

void packet_hello(struct wire_packet *out, const char *name, uint32_t depth,
		  uint32_t slot_size, bool adopt)
{
	begin(out, WIRE_HELLO);
	out->flags = adopt ? WIRE_ADOPT : 0;
	out->depth = depth;
	out->slot_size = slot_size;
	(void)snprintf(out->text, sizeof(out->text), "%s", name);
}

void packet_ready(struct wire_packet *out, uint32_t life)
{
	begin(out, WIRE_READY);
	out->life = life;
}

void packet_welcome(struct wire_packet *out, const struct packet_offer *offer)
{
	begin(out, WIRE_WELCOME);
	out->depth = offer->depth;
	out->slot_size = offer->slot_size;
	out->session = offer->session;
	out->generation = offer->generation;
	out->bytes = offer->segment_bytes;
}

static void add_reason(struct wire_packet *out, int32_t code,
		       const char *format, va_list args)
{
	out->code = code;
	(void)vsnprintf(out->text, sizeof(out->text), format, args);
}

void packet_refused(struct wire_packet *out, int32_t code, const char *format,
		    ...)
{
	va_list args;

	begin(out, WIRE_REFUSED);
	va_start(args, format);
	add_reason(out, code, format, args);
	va_end(args);
}

void packet_goodbye(struct wire_packet *out, int32_t code, const char *format,
		    ...)
{
	va_list args;

	begin(out, WIRE_GOODBYE);
	va_start(args, format);
	add_reason(out, code, format, args);
	va_end(args);
}

void packet_segment(struct wire_packet *out, uint32_t number, uint64_t bytes)
{
	begin(out, WIRE_SEGMENT);
	out->segment = number;
	out->bytes = bytes;
}

#define VERSIONS                                                               \
	"the client speaks version %u.%u, the daemon %u.%u: update the older " \
	"of the two"

void packet_refuse_version(struct wire_packet *out,
			   const struct wire_packet *theirs)
{
	packet_refused(out, -EPROTONOSUPPORT, VERSIONS, theirs->major,
		       theirs->minor, WIRE_MAJOR, WIRE_MINOR);
}

void packet_explain_version(char *text, const struct wire_packet *theirs)
{
	(void)snprintf(text, WIRE_TEXT, VERSIONS, WIRE_MAJOR, WIRE_MINOR,
		       theirs->major, theirs->minor);
}

/* ---- checking ------------------------------------------------------------------------ */

uint32_t packet_nr_fds(const struct wire_packet *packet, bool adopted)
{
	switch (packet->kind) {
	case WIRE_HELLO:
		return packet->flags & WIRE_ADOPT ? 1 : 0;
	case WIRE_WELCOME:
		return adopted ? WIRE_FDS_MAX - 1 : WIRE_FDS_MAX;
	case WIRE_SEGMENT:
		return 1;
	default:
		return 0;
	}
}

static bool may_send(enum packet_from from, uint32_t kind)
{
	bool of_client = kind == WIRE_HELLO || kind == WIRE_READY;
	bool of_daemon = kind == WIRE_WELCOME || kind == WIRE_REFUSED ||
			 kind == WIRE_SEGMENT || kind == WIRE_GOODBYE;

	return from == PACKET_FROM_CLIENT ? of_client : of_daemon;
}

/* A code must say that something failed. */
static bool has_reason(const struct wire_packet *packet)
{
	bool ends = packet->kind == WIRE_REFUSED ||
		    packet->kind == WIRE_GOODBYE;

	return !ends || packet->code < 0;
}

int packet_check(struct wire_packet *packet, enum packet_from from,
		 uint32_t nr_fds, bool adopted)
{
	if (packet->magic != WIRE_MAGIC)
		return -EPROTO;
	text_make_printable(packet->text, sizeof(packet->text));
	if (packet->major != WIRE_MAJOR)
		return -EPROTONOSUPPORT;
	if (!may_send(from, packet->kind) ||
	    nr_fds != packet_nr_fds(packet, adopted) || !has_reason(packet) ||
	    (packet->kind == WIRE_READY && !packet->life))
		return -EPROTO;
	return 0;
}

uint16_t packet_minor(const struct wire_packet *packet)
{
	const uint16_t ours = WIRE_MINOR;

	return packet->minor < ours ? packet->minor : ours;
}
