/* SPDX-License-Identifier: MIT */
/*
 * ring_set.h - the rings that workers look at, and those that announce themselves.
 *
 * A ring is *active* if a worker took from it a short time ago: its client is likely to
 * submit again soon.  Workers that look for work look at the words of active rings, a load
 * each.  A *quiet* ring is not looked at: the WATCHED bit in its word
 * (shm/count_word.h) asks the client for a signal, which makes the ring active again.  A
 * ring is *held* while its user has too many requests (ipc/quota.h).
 *
 * A ring becomes quiet when it was armed several times in a row without news.  Until then it
 * has the WATCHED bit, too, and is looked at all the same: while one worker sleeps, which is
 * why the ring is armed, another worker may be awake, and is faster than a wake-up.
 *
 *              took something, heard, added
 *          ┌──────────────────────────────────┐
 *          ▼                                  │
 *        ACTIVE ──armed, again and again───► QUIET
 *          │ ▲
 *          │ └─ recheck ─┐
 *          └─ no quota ─► HELD
 *
 * Askers and a single taker use a set at the same time, as core/sched/source.h has it:
 *
 *   has()    any worker: is there news in an active ring?
 *   arm()    a worker that is about to sleep sets WATCHED in all active rings without news.
 *            Afterwards no client can submit without a signal
 *   take     the taker goes round the active rings, and says of each what it found
 *
 * All of it is under a spin lock, but for the taking itself.  has() does not wait for the
 * lock and says no: another worker is looking, or the taker will look again.  That is no
 * reason to sleep: a worker that sleeps has called arm(), which waits.
 *
 * What a set knows of a ring, `seen`, is the word as the taker found it last.  So a client
 * that writes other bits into its word makes news once, and not for ever.
 *
 * No function makes a system call, but for the sleep of a spin lock.
 */
#ifndef SLEY_IPC_RING_SET_H
#define SLEY_IPC_RING_SET_H

#include "base/assert.h"
#include "lf/spin.h"
#include "shm/entry_ring.h"

#include <stdbool.h>
#include <stdint.h>

/* An active ring in which the taker finds nothing so often in a row becomes quiet. */
#ifndef RING_SET_VAIN
#define RING_SET_VAIN 64
#endif

/* An active ring that was armed so often, and had no news in between, becomes quiet. */
#ifndef RING_SET_ARMS
#define RING_SET_ARMS 8
#endif

#define RING_SET_NO_PLACE UINT32_MAX

enum ring_state {
	RING_OUT, /* in no set */
	RING_ACTIVE,
	RING_QUIET,
	RING_HELD,
};

struct ring_member {
	uint32_t foreign *word;
	uint32_t seen;         /* (lock) as entry_ring_seen()        */
	uint32_t place;        /* (lock) among the active            */
	uint32_t nr_vain;      /* of the taker                       */
	enum ring_state state; /* (lock)                          */
	uint32_t nr_armed;     /* (lock) since the last news */
	bool poked;            /* (lock) the taker shall look, news or not   */
};

struct ring_set {
	struct spinlock lock;
	uint32_t nr_active; /* (lock; has() glances at it)        */
	uint32_t nr_quiet;  /* (lock; as above)                   */
	uint32_t turn;      /* of the taker                       */
	uint32_t max;       /* members                            */
	struct ring_member **active;
};

/* What the taker found in a ring. */
enum ring_found {
	RING_FOUND_SOME,
	RING_FOUND_NONE,
	RING_FOUND_NO_QUOTA,
	RING_FOUND_END, /* leaves the set */
};

/* ---- with the lock ----------------------------------------------------------------------- */

static inline void ring_set_put(struct ring_set *set,
				struct ring_member *member)
{
	sley_assert(set->nr_active < set->max);
	member->place = set->nr_active;
	member->state = RING_ACTIVE;
	set->active[set->nr_active] = member;
	/* relaxed: a glance of has(); the lock publishes it. */
	store_relaxed(&set->nr_active, set->nr_active + 1);
}

/* The last of the active takes its place. */
static inline void ring_set_drop(struct ring_set *set,
				 struct ring_member *member)
{
	uint32_t last = set->nr_active - 1;

	sley_assert(set->active[member->place] == member);
	set->active[member->place] = set->active[last];
	set->active[member->place]->place = member->place;
	member->place = RING_SET_NO_PLACE;
	/* relaxed: as above. */
	store_relaxed(&set->nr_active, last);
}

static inline void ring_set_count_quiet(struct ring_set *set, int change)
{
	/* relaxed: as above. */
	store_relaxed(&set->nr_quiet, set->nr_quiet + (uint32_t)change);
}

static inline void ring_set_activate(struct ring_set *set,
				     struct ring_member *member)
{
	if (member->state == RING_ACTIVE || member->state == RING_OUT)
		return;
	if (member->state == RING_QUIET)
		ring_set_count_quiet(set, -1);
	ring_set_put(set, member);
}

/* The client has to signal.  True: there is news already. */
static inline bool ring_set_hush(struct ring_set *set,
				 struct ring_member *member)
{
	if (entry_ring_watch(member->word, member->seen) || member->poked)
		return true;
	if (++member->nr_armed < RING_SET_ARMS)
		return false;
	ring_set_drop(set, member);
	member->state = RING_QUIET;
	ring_set_count_quiet(set, 1);
	return false;
}

static inline bool ring_member_has_news(const struct ring_member *member)
{
	return member->poked ||
	       entry_ring_is_news(count_word_load(member->word), member->seen);
}

/* ---- by anyone ---------------------------------------------------------------------------- */

/* @word is the word of the submissions; the server of the ring has seen @seen. */
static inline void ring_set_add(struct ring_set *set,
				struct ring_member *member,
				uint32_t foreign *word, uint32_t seen)
{
	*member = (struct ring_member){ .word = word, .seen = seen };
	spin_lock(&set->lock);
	ring_set_put(set, member);
	spin_unlock(&set->lock);
}

/* A signal of the client has come. */
static inline void ring_set_heard(struct ring_set *set,
				  struct ring_member *member)
{
	spin_lock(&set->lock);
	ring_set_activate(set, member);
	spin_unlock(&set->lock);
}

/* The taker has to look for another reason. */
static inline void ring_set_poke(struct ring_set *set,
				 struct ring_member *member)
{
	spin_lock(&set->lock);
	member->poked = true;
	ring_set_activate(set, member);
	spin_unlock(&set->lock);
}

static inline bool ring_set_is_empty(const struct ring_set *set)
{
	/* relaxed: a glance, see above. */
	return !load_relaxed(&set->nr_active);
}

static inline bool ring_set_has_quiet(const struct ring_set *set)
{
	/* relaxed: a glance, see above. */
	return load_relaxed(&set->nr_quiet);
}

static inline must_check bool ring_set_has(struct ring_set *set)
{
	bool news = false;

	if (ring_set_is_empty(set) || !spin_try_lock(&set->lock))
		return false;
	for (uint32_t i = 0; i < set->nr_active && !news; i++)
		news = ring_member_has_news(set->active[i]);
	spin_unlock(&set->lock);
	return news;
}

/* From now on each client signals.  True: there is news already. */
static inline must_check bool ring_set_arm(struct ring_set *set)
{
	bool news = false;

	spin_lock(&set->lock);
	for (uint32_t i = set->nr_active; i-- > 0;)
		news = ring_set_hush(set, set->active[i]) || news;
	spin_unlock(&set->lock);
	return news;
}

/* ---- by the taker ------------------------------------------------------------------------- */

/*
 * The next active ring with news, in turn; NULL: there is none.  Each ring has its turn
 * before a ring has a second one, unless a ring leaves.  Then the last ring is moved, perhaps
 * to a place that has had its turn in this round.  Each move of a ring is to a lower place, so
 * rings that come and go cannot keep it from its turn.
 */
static inline struct ring_member *ring_set_next(struct ring_set *set)
{
	struct ring_member *found = NULL;

	spin_lock(&set->lock);
	for (uint32_t i = 0; i < set->nr_active && !found; i++) {
		uint32_t place = (set->turn + i) % set->nr_active;

		if (ring_member_has_news(set->active[place])) {
			found = set->active[place];
			found->poked = false;
			set->turn = place + 1;
		}
	}
	spin_unlock(&set->lock);
	return found;
}

static inline void ring_set_judge(struct ring_set *set,
				  struct ring_member *member,
				  enum ring_found found)
{
	ring_set_activate(set, member);
	if (found == RING_FOUND_SOME) {
		member->nr_vain = member->nr_armed = 0;
	} else if (found == RING_FOUND_NONE) {
		if (++member->nr_vain >= RING_SET_VAIN)
			(void)ring_set_hush(set, member);
	} else {
		ring_set_drop(set, member);
		member->state = found == RING_FOUND_END ? RING_OUT : RING_HELD;
	}
}

/* The taker has looked at @member.  @seen: the word, as the taker found it last. */
static inline void ring_set_looked(struct ring_set *set,
				   struct ring_member *member, uint32_t seen,
				   enum ring_found found)
{
	spin_lock(&set->lock);
	member->seen = seen;
	ring_set_judge(set, member, found);
	spin_unlock(&set->lock);
}

/* If it is held: is looked at again. */
static inline void ring_set_recheck(struct ring_set *set,
				    struct ring_member *member)
{
	spin_lock(&set->lock);
	if (member->state == RING_HELD) {
		member->poked = true;
		ring_set_activate(set, member);
	}
	spin_unlock(&set->lock);
}

#endif
