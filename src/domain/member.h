/* SPDX-License-Identifier: MIT */
/*
 * member.h - a runtime as a member of a domain: the functions that the gate of its workers
 * asks (core/sched/lease.h), on the words of cores.h and wants.h.
 *
 * The threads of the runtime call these functions; domain/membership.h begins and ends.
 * On each tick the monitor says that the member is alive, shows what it runs, takes cores
 * whose giver died before it could wake anybody, and asks the workers to pass on cores that
 * the host wishes to have, or that peers want more urgently.
 *
 * The pages of peers come and go while workers look at them.  Each index has its own place
 * in one range of addresses.  There the page of a peer is mapped over a page of zeroes, and
 * a page of zeroes over that of a peer that is gone.  So a look never finds nothing, and
 * needs no lock: it sees the old page or the new one.  Rejected: pointers that are replaced,
 * with a count of the threads that look: a read-modify-write for each pick.
 */
#ifndef SLEY_DOMAIN_MEMBER_H
#define SLEY_DOMAIN_MEMBER_H

#include "core/sched/lease.h"
#include "domain/slices.h"
#include "domain/wants.h"

struct domain_member {
	struct domain_view view;
	struct wants wants;
	struct slices slices;
	struct sley *rt;
	const struct host_page *host; /* the same as in .view                */
	unsigned char *peers;         /* addresses for the pages of peers    */
	uint64_t peer_generation[DOMAIN_MEMBERS_MAX]; /* 0: nobody is there  */
	struct spinlock lock;  /* of the mode of the gate             */
	uint32_t nr_peers;     /* under the lock                      */
	bool strict;           /* under the lock                      */
	uint32_t no_wait_many; /* 1: the kernel has no such call             */
	uint32_t obeyed[DOMAIN_CORES_MAX]; /* the last wish for each core    */
	uint64_t nr_taken, wait_ns, wait_max_ns;
	struct lease_counters before; /* of earlier memberships              */
};

/* The page is new, all zero, and will be sent to a host. */
void member_page_begin(struct member_page *page);

/*
 * @rt is a member from now on.  @page, which it alone writes, and @host are mappings that
 * member_end() undoes, but not after an error: -ENOMEM, -ENOTSUP, or -EPROTO: @host or the
 * numbers are nonsense.
 */
must_check int member_begin(struct domain_member *member, struct sley *rt,
			    struct member_page *page,
			    const struct host_page *host, uint32_t index,
			    uint64_t generation);

/* The workers of the runtime need no cores any more.  No call is under way afterwards. */
void member_stop(struct domain_member *member);

/*
 * After member_stop(), if the host is gone: workers that it has lowered get their nice value
 * back.  How many do not, since this process may not.
 */
must_check uint32_t member_raise(struct domain_member *member);

/* After member_stop(): the memory is given back. */
void member_end(struct domain_member *member);

/*
 * Another member is there, whose page is @fd, which stays the caller's.  0; -EPROTO: there
 * is no such index, or the page has another size; -ENOMEM.  One thread at a time.
 */
must_check int member_add_peer(struct domain_member *member, uint32_t index,
			       uint64_t generation, int fd);
void member_remove_peer(struct domain_member *member, uint32_t index,
			uint64_t generation);

/* Any thread, while a member. */
void member_set_strict(struct domain_member *member, bool strict);
uint32_t member_nr_held(const struct domain_member *member);
int member_most_urgent(const struct domain_member *member);

/* Also after member_stop(). */
void member_read_figures(const struct domain_member *member,
			 struct member_figures *out);

#endif
