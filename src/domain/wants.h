/* SPDX-License-Identifier: MIT */
/*
 * wants.h - a member says what it wants, and looks at what its peers want.
 *
 * A *want* is one word in the page of a member: so many workers wait for a core, and the
 * most urgent of them would run this level.  A member with cores looks at the wants of its
 * peers: at each pick in strict mode, else on the tick.  The member gives a core away if a
 * peer would run a strictly more urgent level; never for an equal one, which is the
 * host's business (domain/ledger.h).
 *
 * A look reads one word of each live peer.  The receiver is, of the peers with the most
 * urgent level, the next one after the peer that was served last.  So equals take turns.
 *
 * Levels count among the members as the host lets them (.highest of its page): a want, what
 * a peer runs, and what this member itself would run.  The word is looked at only where the
 * level that the peer claims would get a core, so a look that finds nothing does not read it
 * for each peer.
 *
 * A want is a hint, so a member remembers how many cores were given for a want.  A peer
 * gets no more cores than wanted until the want changes or a tick has passed.  A peer
 * that ran no task on any of these cores, by its own figures, is ignored from one tick to
 * the next.  So a phantom of a want costs one hand-over in a tick, and the core is not
 * tossed to and fro.
 *
 * A core that becomes idle, and a want that begins, must not miss each other:
 *
 *   leaver                              wanter
 *   1. BUSY -> IDLE                     1. stores its want
 *   2. looks at the wants               2. looks for idle cores
 *   3. a want: resumes, and gives       3. one there: asks the host to look now
 *
 * Each stores and then looks, so that one of them sees the other: DP4 of domain/page.h.
 */
#ifndef SLEY_DOMAIN_WANTS_H
#define SLEY_DOMAIN_WANTS_H

#include "domain/cores.h"

struct wants {
	struct domain_view *view;
	/* Of each peer: {sequence of its want:32, cores given for it:32}. */
	uint64_t served[DOMAIN_MEMBERS_MAX];
	uint64_t ignored; /* bits; set and cleared by the tick                */
	uint32_t last;    /* the peer that was served last; a hint            */
	uint64_t nr_given; /* cores, ever                                    */
	/* Of the tick: cores given since the last one, and .nr_in_vain then. */
	uint32_t given[DOMAIN_MEMBERS_MAX];
	uint64_t in_vain[DOMAIN_MEMBERS_MAX];
};

#define WANTS_NOBODY (-1)
#define WANTS_ANY_LEVEL DOMAIN_LEVELS /* every level is more urgent than this */

void wants_init(struct wants *wants, struct domain_view *view);

/*
 * This member wants @nr cores, the most urgent for @level.  One thread at a time.  Asks
 * the host to look now, if there is an idle core.
 */
void wants_tell(struct wants *wants, uint32_t nr, uint32_t level);

/*
 * The peer that wants a core for a level more urgent than @level, which this member would
 * run; or WANTS_NOBODY.
 */
int wants_look(const struct wants *wants, uint32_t level);

/* Does a worker of a peer run something less urgent than @level?  A hint. */
bool wants_runs_below(const struct wants *wants, uint32_t level);

/*
 * Gives the busy @core to the peer that wants a core most urgently, for a level more urgent
 * than @level, and returns the peer: the core is not this member's any more, and cores_wake()
 * comes next.  WANTS_NOBODY: it still is.
 */
int wants_serve(struct wants *wants, uint32_t core, uint32_t level);

/* The same for @peer alone, as the host wishes: whatever the level. */
bool wants_serve_peer(struct wants *wants, uint32_t core, uint32_t peer);

/*
 * No worker needs the busy @core: a peer that wants it gets it and is woken, or it is kept
 * idle.  Returns that peer, or WANTS_NOBODY.
 */
int wants_leave(struct wants *wants, uint32_t core);

/* How many cores were given for wants. */
uint64_t wants_nr_given(const struct wants *wants);

/* Looks once at what became of the cores that were given.  One thread. */
void wants_tick(struct wants *wants);

#endif
