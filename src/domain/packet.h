/* SPDX-License-Identifier: MIT */
/*
 * packet.h - what the processes of a domain and its host say to each other: built and
 * checked here, without a system call.
 *
 * A SEQPACKET socket carries who is there, and the pages as descriptors; nothing that is
 * decided while tasks run goes through it (domain/page.h has that).
 *
 *   member                                    host
 *   connect                      -------->    SO_PEERCRED, a pidfd: may this user?
 *   HELLO + its page             -------->    checks the seals and the size, maps it
 *   checks, maps                 <--------    WELCOME + the page of the host
 *     or                         <--------    REFUSED: a code, and why
 *   maps, for each other member  <--------    PEER + the page of this member, and a line
 *   ...                          <--------    PEER, later: another member has come
 *   unmaps                       <--------    GONE: a member has left, or has died
 *   hangs up: it leaves          -------->
 *
 *   tool                                      host
 *   connect, LIST                -------->
 *   maps                         <--------    LISTED + the page of the host
 *   maps, for each member        <--------    PEER + the page of this member
 *
 * All packets have one size.  A packet that was received is a private copy;
 * domain_packet_check() looks at all of it before anything else does.  Afterwards the kind
 * is one that the sender may send, the numbers are in their ranges, the right number of
 * descriptors has come, and the text is a string of printable characters, which can go
 * into a log.
 *
 * A *line* is one end of a pair of sockets, whose other end goes to the other member with
 * its PEER: domain/doorbell.h.  It is missing if one of the two members is older than
 * DOMAIN_MINOR_LINES, or the host has no descriptors left.
 *
 * A version is {major, minor}; it covers the packets and the pages.  The minor number
 * changes with an addition that the older side can do without: it reads no field that it
 * does not know.  The major number changes if the older side would read a field wrongly:
 * then the member is refused, and the reason names both versions.  All major versions
 * agree on the size of a packet, on its first 12 bytes and on the value of REFUSED.
 *
 * All numbers are little-endian and have the same places on all processors.
 *
 * Rejected: one protocol with ipc/wire.h.  The two have a head in common, and no kind; a
 * daemon may be of one version there and of another here.
 */
#ifndef SLEY_DOMAIN_PACKET_H
#define SLEY_DOMAIN_PACKET_H

#include "base/compiler.h"
#include "domain/page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DOMAIN_MAGIC 0x6d6f6473u /* "sdom" */
#define DOMAIN_MAJOR 1u
#define DOMAIN_MINOR 1u
#define DOMAIN_MINOR_LINES 1u /* from here on a PEER may bring a line */

enum domain_packet_kind {
	DOMAIN_HELLO = 1, /* member: here is my page                         */
	DOMAIN_LIST,      /* tool: which members are there?                  */
	DOMAIN_WELCOME,   /* host: here is mine; you are a member            */
	DOMAIN_REFUSED,   /* host: no, since ...                             */
	DOMAIN_PEER,      /* host: this is a member, and its page            */
	DOMAIN_GONE,      /* host: it is no member any more                  */
	DOMAIN_LISTED,    /* host: so many PEERs follow                      */
};

/* For .flags of WELCOME. */
#define DOMAIN_LASTING 1u /* a daemon hosts, and will come again             */

#define DOMAIN_TEXT 144

struct domain_packet {
	uint32_t magic;
	uint16_t major;
	uint16_t minor;
	uint32_t kind;
	uint32_t flags; /* of WELCOME; PEER: its share of the cores          */
	uint32_t index; /* WELCOME, PEER, GONE: of the member                */
	uint32_t nr;    /* HELLO, PEER: its workers; LISTED: its PEERs       */
	uint32_t nr_cores; /* WELCOME, LISTED: of the domain                 */
	int32_t code;      /* REFUSED: an error below 0                      */
	/* WELCOME, PEER, GONE: differs from that of each member before it. */
	uint64_t generation;
	int32_t pid; /* PEER: 0: not known, as of another container          */
	uint32_t uid;
	/*
	 * HELLO, PEER: the name of the program.  WELCOME: the version of the host, as a
	 * text.  REFUSED: the reason, for a person.  Ends with a 0.
	 */
	char text[DOMAIN_TEXT];
};

_Static_assert(sizeof(struct domain_packet) == 192, "the same everywhere");
_Static_assert(offsetof(struct domain_packet, kind) == 8, "as above");
_Static_assert(offsetof(struct domain_packet, index) == 16, "as above");
_Static_assert(offsetof(struct domain_packet, code) == 28, "as above");
_Static_assert(offsetof(struct domain_packet, generation) == 32, "as above");
_Static_assert(offsetof(struct domain_packet, pid) == 40, "as above");
_Static_assert(offsetof(struct domain_packet, text) == 48, "as above");

/* The sender of a packet. */
enum domain_side {
	DOMAIN_OF_GUEST, /* a member, or a tool */
	DOMAIN_OF_HOST,
};

/* A member, as packets describe it. */
struct domain_person {
	uint32_t index;
	uint32_t nr_workers;
	uint64_t generation;
	int32_t pid;
	uint32_t uid;
	uint32_t share; /* by weight, for people                             */
	char name[DOMAIN_TEXT];
};

/* ---- building ------------------------------------------------------------------------ */

/* A long @name is cut. */
void domain_packet_hello(struct domain_packet *out, const char *name,
			 uint32_t nr_workers);
void domain_packet_list(struct domain_packet *out);
void domain_packet_welcome(struct domain_packet *out, uint32_t index,
			   uint64_t generation, uint32_t nr_cores,
			   bool lasting);
/* @code is below 0; the text says why, and what to do. */
printf_like(3, 4) void domain_packet_refused(struct domain_packet *out,
					     int32_t code, const char *format,
					     ...);
void domain_packet_peer(struct domain_packet *out,
			const struct domain_person *person);
void domain_packet_gone(struct domain_packet *out, uint32_t index,
			uint64_t generation);
void domain_packet_listed(struct domain_packet *out, uint32_t nr,
			  uint32_t nr_cores);

/* The versions of both sides differ: the text that says so, of DOMAIN_TEXT bytes. */
void domain_packet_explain_version(char *text,
				   const struct domain_packet *theirs);

/* ---- checking ------------------------------------------------------------------------ */

/* A page, and a line. */
#define DOMAIN_PACKET_FDS 2u

/* How many descriptors come with a packet of this kind; with a PEER one more may. */
uint32_t domain_packet_nr_fds(uint32_t kind);

/*
 * Checks @packet, and makes its text harmless.
 *
 *   -EPROTO           it is no packet of the protocol
 *   -EPROTONOSUPPORT  it is, of another major version: nothing but the versions may be
 *                     used
 */
must_check int domain_packet_check(struct domain_packet *packet,
				   enum domain_side side, uint32_t nr_fds);

/* What a PEER says, which was checked. */
void domain_packet_read(const struct domain_packet *packet,
			struct domain_person *out);

#endif
