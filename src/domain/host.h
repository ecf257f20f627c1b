/* SPDX-License-Identifier: MIT */
/*
 * host.h - the host of a domain: its members, and which member has which core.
 *
 * A host is a thread.  The thread must be on time when all workers of the process are
 * busy, and a source of a runtime (core/sched/source.h) has its turn between two tasks at
 * the earliest; nor does a host need a runtime.  Other threads touch the bell and the
 * countdown alone.
 *
 *   fewer than two members   sleeps until a socket or a process has something to tell
 *   two or more              sleeps until the next tick, or until a member asks for a look
 *                            at once (.asks of its page); sockets wait for the tick.  If
 *                            nobody wants anything, ticks are rarer
 *
 * On each tick the ledger (domain/ledger.h) looks at the pages of all members and decides;
 * the broker (domain/broker.h) writes its decisions into the page of the host, and wakes
 * the receivers.
 *
 * A *guest* is a connection: of a member, or of a process that has not said yet what it
 * wants.  A member has a *seat*, its index, which the next member gets when it has gone;
 * the generation tells the two apart.  Before that there is a tick, by which the ledger
 * forgets the member.
 *
 * Nothing of a guest is believed: no packet (domain/packet.h), and no page: the seals of a
 * page say that the guest alone can write there, and that nobody can make the page
 * shorter.  The host waits for no guest: a guest that does not read its packets is sent
 * away, and may come again.  The kernel tells the user of a guest, and the end of the
 * process.
 *
 * A host that may restore nice values lowers members that do not yield (domain/lowering.h).
 *
 * The end of a member is heard by a pidfd; where the kernel gives none, by the socket, which
 * a forked child of the member may hold open for longer.
 *
 * The end.  A host that .ends_alone does so when the last member has gone, or if no member
 * has come for a while.  The host stops listening first, so that a process that comes too
 * late is hung up on, and starts the next host.
 */
#ifndef SLEY_DOMAIN_HOST_H
#define SLEY_DOMAIN_HOST_H

#include "core/wait/waitq.h"
#include "domain/broker.h"
#include "domain/lowering.h"
#include "domain/packet.h"
#include "domain/place.h"
#include "os/local_socket.h"

#include <pthread.h>
#include <sley/domain_host.h>
#include <sley/runtime.h>

/* Members, and as many others at a time as look, or have not said HELLO. */
#define HOST_GUESTS (DOMAIN_MEMBERS_MAX + 32)
#define HOST_NO_SEAT UINT32_MAX
#define HOST_TICK_NS 2000000u

struct guest {
	int socket; /* -1: this place is free                                 */
	int pidfd;  /* -1: the end of the socket has to do                   */
	struct os_peer peer;
	uint64_t connected_ns;
	/* Of a member: */
	uint32_t seat; /* else HOST_NO_SEAT                                  */
	int page_fd;
	const struct member_page foreign *page;
	uint32_t asked; /* .asks of its page, as the last tick has seen it    */
	struct domain_person person;
	bool has_lines; /* it knows what a line is                           */
	int deaf; /* why it could not be told, below 0: it has to go         */
	struct lowering lowering;
	bool slow; /* it has not yielded to more urgent work                  */
	uint32_t pressed; /* the last tick in which such work wanted a core    */
};

struct sley_domain_host {
	struct domain_place place;
	struct sley_domain_host_options options; /* .name is .place.name      */
	struct sley_config says;                 /* .report and .report_self  */
	struct os_local_listener listener;
	unsigned int forks; /* os_fork_generation()                          */
	int epoll;
	int bell; /* readable: the host shall end                   */
	int news; /* readable: .terms has something new to say      */
	int page_fd;
	struct host_page *page;
	uint64_t generation; /* of the last member                           */
	uint32_t nr_members;
	bool had_member;
	uint64_t began_ns;
	uint64_t looked_ns; /* at the pages                                  */
	uint64_t ticked_ns; /* the same, when it was time for a tick         */
	uint64_t listen_again_ns; /* 0: it listens                           */
	uint64_t say_again_ns;
	struct guest guest[HOST_GUESTS];
	struct guest *member[DOMAIN_MEMBERS_MAX]; /* by seat                 */
	struct broker broker;
	bool may_lower; /* and restore                                       */
	pthread_t thread;
	struct sley_waitq running; /* a countdown: 1 while the thread runs   */
};

/* ---- guests: host_guest.c -------------------------------------------------------------- */

/* Somebody connects.  0, or why nobody can be accepted now: -errno. */
must_check int host_accept(struct sley_domain_host *host);

/* The socket of @guest can be read. */
void host_hear(struct sley_domain_host *host, struct guest *guest);

/*
 * @guest is gone; or it has to go, since @code, below 0, and @reason, which it and the log
 * are told.
 */
void host_end_guest(struct sley_domain_host *host, struct guest *guest,
		    int code, const char *reason);

/* Guests that did not read what they were told go.  May be many, one by one. */
void host_end_deaf(struct sley_domain_host *host);

/* A line for the log; not more than some in a second. */
printf_like(2, 3) void host_say(struct sley_domain_host *host,
				const char *format, ...);

/* The process of a guest, for a callback. */
static inline struct sley_domain_peer host_peer(const struct os_peer *peer)
{
	return (struct sley_domain_peer){
		.uid = peer->uid,
		.gid = peer->gid,
		.pid = peer->pid,
	};
}

/* ---- what members may have: host_terms.c ----------------------------------------------- */

/* Asks the callback.  What others are told of it goes to .person of @member. */
struct ledger_terms host_terms(struct sley_domain_host *host,
			       struct guest *member);

/* The same for all members.  The next tick goes by the answers. */
void host_refresh(struct sley_domain_host *host);

/* ---- members that do not yield: host_lower.c -------------------------------------------- */

/* After a tick: lowers and restores. */
void host_lower(struct sley_domain_host *host);

/* @member, which may be lowered, is restored: more urgent work has gone, or the member goes. */
void host_raise(struct sley_domain_host *host, struct guest *member);

/* ---- the cores: host_tick.c ------------------------------------------------------------- */

/* The page of the host is new. */
void host_begin(struct sley_domain_host *host);
void host_join(struct sley_domain_host *host, struct guest *member);
void host_leave(struct sley_domain_host *host, struct guest *member);
void host_tick(struct sley_domain_host *host, uint64_t now_ns);

/* Until the next tick is due, or until a member asks. */
void host_sleep(struct sley_domain_host *host);

#endif
