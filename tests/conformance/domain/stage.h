/* SPDX-License-Identifier: MIT */
/*
 * stage.h - a domain with a folder of its own, processes that are members or host, and
 * guests that speak the protocol by hand, so that they can also speak it wrongly.
 *
 * A process is an *actor*: it is forked before this process has threads, and then does what
 * it is told, one letter at a time.
 */
#ifndef SLEY_TESTS_CONFORMANCE_DOMAIN_STAGE_H
#define SLEY_TESTS_CONFORMANCE_DOMAIN_STAGE_H

#include "conformance/bound.h"
#include "conformance/eventually.h"

#include "domain/packet.h"

#include <sley/domain.h>
#include <sley/domain_host.h>

/* ---- the place -------------------------------------------------------------------------- */

/* A folder, and the path of the socket in it; no sleyd is found, so nobody starts a host. */
const char *stage_open(void);
void stage_close(void);

/* ---- a host in this process ------------------------------------------------------------- */

struct sley_domain_host *host_start(void);
/* The same with options, of which .name and .report are set here. */
struct sley_domain_host *
host_start_with(struct sley_domain_host_options options);

/* The last line of a host or an actor in this process, or of another stage_report(). */
const char *stage_line(void);
void stage_report(void *self, const char *line);

/* How many members it has; below 0: an error. */
int nr_members(void);

/* The member in the place @i of the list. */
struct sley_domain_member member_at(uint32_t i);

/* The membership of @rt. */
struct sley_domain_info info_of(struct sley *rt);

/* ---- actors ---------------------------------------------------------------------------- */

enum {
	ACTOR_HOST = 'h', /* begins to host                                 */
	ACTOR_JOIN = 'j', /* a runtime with work, which joins               */
	ACTOR_LEAVE = 'l',
	ACTOR_STATE = 's', /* the answer is its enum sley_domain_state      */
	ACTOR_WORK = 'w',  /* the answer comes after a thousand tasks         */
	ACTOR_NOBODY = 'n', /* becomes a user without rights                 */
	ACTOR_END = 'q',    /* actor_end()                                   */
};

struct actor {
	int pid;
	int to, from;
};

/*
 * Further letters for the actors that are started afterwards, each with its answer; and how
 * many workers their runtimes have, 2 at first.
 */
void actors_learn(int (*lesson)(struct sley *rt, char what));
void actors_have_workers(int workers);

/* Before this process has threads. */
void actor_start(struct actor *actor);
/* Its answer: 0, an error, or a state. */
int actor_do(struct actor *actor, char what);
void actor_kill(struct actor *actor);
/* It ends by itself, with all that it has. */
void actor_end(struct actor *actor);
void actor_signal(const struct actor *actor, int signal);

/* ---- guests ---------------------------------------------------------------------------- */

struct member_guest {
	int socket;
	struct member_page *page;
};

/* A socket to the host. */
int guest_connect(void);

/* Sends bytes, with a descriptor or -1. */
void guest_send(int socket, const void *bytes, size_t size, int fd);

/* The next packet: its kind; 0: the host has hung up.  Its descriptor is closed. */
uint32_t guest_hear(int socket, struct domain_packet *packet);

/* The same, and its line, or -1, is the caller's. */
uint32_t guest_hear_line(int socket, struct domain_packet *packet, int *line);

/* A page as the library makes it. */
int page_make(struct member_page **page);

/* A member: HELLO, and WELCOME. */
void guest_join(struct member_guest *guest);
void guest_leave(struct member_guest *guest);

#endif
