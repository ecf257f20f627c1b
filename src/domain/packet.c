/* SPDX-License-Identifier: MIT */
/*
 * packet.c - see packet.h.
 */
#include "domain/packet.h"

#include "base/printable.h"

#include <errno.h>
#include <sley/runtime.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- building ------------------------------------------------------------------------ */

static void begin(struct domain_packet *out, enum domain_packet_kind kind)
{
	/* All bytes are sent, and there is no padding. */
	memset(out, 0, sizeof(*out));
	out->magic = DOMAIN_MAGIC;
	out->major = DOMAIN_MAJOR;
	out->minor = DOMAIN_MINOR;
	out->kind = kind;
}

static void set_text(struct domain_packet *out, const char *text)
{
	(void)snprintf(out->text, sizeof(out->text), "%s", text);
}

void domain_packet_hello(struct domain_packet *out, const char *name,
			 uint32_t nr_workers)
{
	begin(out, DOMAIN_HELLO);
	out->nr = nr_workers;
	set_text(out, name);
}

void domain_packet_list(struct domain_packet *out)
{
	begin(out, DOMAIN_LIST);
}

void domain_packet_welcome(struct domain_packet *out, uint32_t index,
			   uint64_t generation, uint32_t nr_cores, bool lasting)
{
	begin(out, DOMAIN_WELCOME);
	out->flags = lasting ? DOMAIN_LASTING : 0;
	out->index = index;
	out->generation = generation;
	out->nr_cores = nr_cores;
}

void domain_packet_refused(struct domain_packet *out, int32_t code,
			   const char *format, ...)
{
	va_list args;

	begin(out, DOMAIN_REFUSED);
	out->code = code;
	va_start(args, format);
	(void)vsnprintf(out->text, sizeof(out->text), format, args);
	va_end(args);
}

void domain_packet_peer(struct domain_packet *out,
			const struct domain_person *person)
{
	begin(out, DOMAIN_PEER);
	out->flags = person->share;
	out->index = person->index;
	out->nr = person->nr_workers;
	out->generation = person->generation;
	out->pid = person->pid;
	out->uid = person->uid;
	set_text(out, person->name);
}

void domain_packet_gone(struct domain_packet *out, uint32_t index,
			uint64_t generation)
{
	begin(out, DOMAIN_GONE);
	out->index = index;
	out->generation = generation;
}

void domain_packet_listed(struct domain_packet *out, uint32_t nr,
			  uint32_t nr_cores)
{
	begin(out, DOMAIN_LISTED);
	out->nr = nr;
	out->nr_cores = nr_cores;
}

void domain_packet_explain_version(char *text,
				   const struct domain_packet *theirs)
{
	(void)snprintf(text, DOMAIN_TEXT,
		       "one side speaks version %u.%u of the domain, the other "
		       "%u.%u: update the older of the two",
		       theirs->major, theirs->minor, DOMAIN_MAJOR,
		       DOMAIN_MINOR);
}

/* ---- checking ------------------------------------------------------------------------ */

uint32_t domain_packet_nr_fds(uint32_t kind)
{
	switch (kind) {
	case DOMAIN_HELLO:
	case DOMAIN_WELCOME:
	case DOMAIN_PEER:
	case DOMAIN_LISTED:
		return 1;
	default:
		return 0;
	}
}

static bool may_send(enum domain_side side, uint32_t kind)
{
	if (side == DOMAIN_OF_GUEST)
		return kind == DOMAIN_HELLO || kind == DOMAIN_LIST;
	return kind >= DOMAIN_WELCOME && kind <= DOMAIN_LISTED;
}

static bool is_between(uint64_t number, uint64_t min, uint64_t max)
{
	return number >= min && number <= max;
}

static bool has_workers(const struct domain_packet *packet)
{
	return is_between(packet->nr, 1, SLEY_WORKERS_MAX);
}

static bool has_cores(const struct domain_packet *packet)
{
	return is_between(packet->nr_cores, 1, DOMAIN_CORES_MAX);
}

static bool names_member(const struct domain_packet *packet)
{
	return packet->index < DOMAIN_MEMBERS_MAX && packet->generation;
}

static bool may_bring(uint32_t kind, uint32_t nr_fds)
{
	uint32_t min = domain_packet_nr_fds(kind);

	return is_between(nr_fds, min, min + (kind == DOMAIN_PEER));
}

/* Are the fields that a packet of this kind has in their ranges? */
static bool has_good_fields(const struct domain_packet *packet)
{
	switch (packet->kind) {
	case DOMAIN_HELLO:
		return has_workers(packet);
	case DOMAIN_WELCOME:
		return names_member(packet) && has_cores(packet) &&
		       !(packet->flags & ~DOMAIN_LASTING);
	case DOMAIN_REFUSED:
		return packet->code < 0;
	case DOMAIN_PEER:
		return names_member(packet) && has_workers(packet) &&
		       packet->pid >= 0;
	case DOMAIN_GONE:
		return names_member(packet);
	case DOMAIN_LISTED:
		return has_cores(packet) && packet->nr <= DOMAIN_MEMBERS_MAX;
	default:
		return true;
	}
}

int domain_packet_check(struct domain_packet *packet, enum domain_side side,
			uint32_t nr_fds)
{
	if (packet->magic != DOMAIN_MAGIC)
		return -EPROTO;
	text_make_printable(packet->text, sizeof(packet->text));
	if (packet->major != DOMAIN_MAJOR)
		return -EPROTONOSUPPORT;
	if (!may_send(side, packet->kind) || !has_good_fields(packet) ||
	    !may_bring(packet->kind, nr_fds))
		return -EPROTO;
	return 0;
}

void domain_packet_read(const struct domain_packet *packet,
			struct domain_person *out)
{
	*out = (struct domain_person){
		.index = packet->index,
		.nr_workers = packet->nr,
		.generation = packet->generation,
		.pid = packet->pid,
		.uid = packet->uid,
		.share = packet->flags,
	};
	memcpy(out->name, packet->text, sizeof(out->name));
}
