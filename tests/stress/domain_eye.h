/* SPDX-License-Identifier: MIT */
/*
 * domain_eye.h - looks at the pages of a domain from outside: which member has which core.
 *
 * The eye asks the host for all pages, as sley_domain_list() does, and keeps them mapped,
 * also the page of a member that has died since.  A look is some loads: thousands in a
 * second disturb nobody.
 *
 * Each look checks the promise that a core is nobody's twice for longer than a tick.  The
 * measure is no clock, which says little on a busy machine, but the beat of the member that
 * has lost the core: a member that was stopped, or did not get a CPU, notices at its first
 * tick afterwards.  Words of different pages are not read at one moment, so a word counts
 * only if it is the same before and after.
 */
#ifndef SLEY_TESTS_STRESS_DOMAIN_EYE_H
#define SLEY_TESTS_STRESS_DOMAIN_EYE_H

#include "domain/page.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define EYE_CORES 8u
#define EYE_NOBODY UINT32_MAX

/* A member that says that it runs on a core, which another member has got since. */
struct eye_claim {
	uint64_t generation; /* of its word; 0: none                         */
	uint32_t beat;       /* its own, when that was seen first            */
};

struct eye_member {
	pid_t pid;
	uint32_t seat;
	uint64_t generation;
	const struct member_page foreign *page;
	bool is_gone; /* what its page says is not looked at any more         */
	struct eye_claim claims[EYE_CORES];
};

struct eye {
	const struct host_page foreign *host;
	uint32_t nr_cores, nr;
	struct eye_member members[DOMAIN_MEMBERS_MAX];
	/* Of the last look: the member that has the core, an index; or EYE_NOBODY. */
	uint32_t holder[EYE_CORES];
	bool is_busy[EYE_CORES];
	/* Of all looks: cores that two members had, and the most beats for which. */
	uint64_t nr_twice;
	uint32_t beats_max;
	uint64_t generation_max; /* of members                              */
	/* A member lies, and another one may believe it until the host looks. */
	bool may_be_fooled;
};

/* All zero before.  Maps what is there now; what was there before is unmapped. */
void eye_open(struct eye *eye, const char *path);
void eye_close(struct eye *eye);

/* The member of the process @pid, or NULL. */
struct eye_member *eye_find(struct eye *eye, pid_t pid);

void eye_look(struct eye *eye);

/* Does a word of the host still name the member of @seat? */
bool eye_names(const struct eye *eye, uint32_t seat, uint64_t generation);

/* How often the members that are left, and how often the host, gave a core to @seat. */
uint64_t eye_gives_of_members(const struct eye *eye, uint32_t seat);
uint32_t eye_gives_of_host(const struct eye *eye, uint32_t seat);

#endif
