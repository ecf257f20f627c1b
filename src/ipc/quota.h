/* SPDX-License-Identifier: MIT */
/*
 * quota.h - how many clients a user has, and how many requests of the user run.
 *
 * No function makes a system call: the simulator links it.
 *
 * A taker asks before it takes requests from a ring.  If the user has no room left, the
 * requests stay where they are, and the ring is *held*: no worker looks there until
 * requests of this user have ended.  Count and HELD are one word:
 *
 *   taker                                   a request of the user ends
 *   there is no room                        subtracts, and finds HELD:
 *   sets HELD, and looks at the count          takes HELD back
 *      that it finds:                          tells the ingresses: look at all
 *      still no room: the ring is held         rings that are held
 *
 * One of the two comes first in the word, and nothing else is published by it.  HELD is
 * taken back before the ingresses are told: a ring that is held in between is looked at,
 * too.
 */
#ifndef SLEY_IPC_QUOTA_H
#define SLEY_IPC_QUOTA_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "lf/spin.h"
#include "mem/alloc.h"

#include <stdbool.h>
#include <stdint.h>

#define QUOTA_HELD 1u
#define QUOTA_ONE 2u

/* A user that has clients. */
struct quota_user {
	cache_aligned uint32_t word; /* requests * ONE | HELD            */
	uint32_t max;                /* requests; constant               */
	uint32_t uid;                /* constant while there are clients */
	uint32_t nr_clients;         /* 0: the place is free (lock)      */
};

struct quota {
	struct spinlock lock;
	uint32_t max_clients;
	uint32_t max_clients_per_user;
	uint32_t nr_clients;      /* (lock)                          */
	struct quota_user *users; /* max_clients of them             */
};

must_check int quota_init(struct quota *quota, struct mem *mem,
			  uint32_t max_clients, uint32_t max_clients_per_user,
			  uint32_t max_requests_per_user);
void quota_end(struct quota *quota, struct mem *mem);

/*
 * One more client of the user @uid: 0, and *@user.
 *
 *   -ENOSPC   there are too many clients
 *   -EDQUOT   the user has too many
 */
must_check int quota_enter(struct quota *quota, uint32_t uid,
			   struct quota_user **user);
/* The client has no requests any more. */
void quota_leave(struct quota *quota, struct quota_user *user);

/* Are there no clients?  By the taker that lets them in and out. */
must_check bool quota_is_empty(struct quota *quota);

/* How many requests of the user run, now. */
static inline uint32_t quota_requests(const struct quota_user *user)
{
	/* relaxed: for the eyes. */
	return load_relaxed(&user->word) / QUOTA_ONE;
}

/* The taker wants @want requests: so many it may have; 0: the ring is held. */
static inline must_check uint32_t quota_take(struct quota_user *user,
					     uint32_t want)
{
	/* relaxed: the compare-and-swap checks it. */
	uint32_t word = load_relaxed(&user->word), nr;

	do {
		if (unlikely(word / QUOTA_ONE >= user->max)) {
			/* relaxed: the word alone, see above. */
			word = or_relaxed(&user->word, QUOTA_HELD) | QUOTA_HELD;
			if (word / QUOTA_ONE >= user->max)
				return 0;
		}
		nr = user->max - word / QUOTA_ONE;
		nr = nr < want ? nr : want;
		/* relaxed: the count alone. */
	} while (!cas_relaxed(&user->word, &word, word + nr * QUOTA_ONE));
	return nr;
}

/* @nr requests have ended.  True: rings are held, and the ingresses must look. */
static inline must_check bool quota_give(struct quota_user *user, uint32_t nr)
{
	uint32_t before;

	if (!nr)
		return false;
	/* relaxed: the word alone, see above. */
	before = sub_relaxed(&user->word, nr * QUOTA_ONE);
	if (likely(!(before & QUOTA_HELD)))
		return false;
	/* relaxed: the ingresses are told afterwards, see above. */
	(void)and_relaxed(&user->word, ~QUOTA_HELD);
	return true;
}

#endif
