/* SPDX-License-Identifier: MIT */
/*
 * door.h - counts what is inside, and keeps others out while it is shut.
 *
 * The requests of a container enter through its door when they are accepted, and leave
 * when they are complete.  The keeper of the container shuts the door, waits until the
 * container is empty, changes the container, and opens the door.
 *
 *   word:  count << 1 | SHUT
 *
 *      enter:  SHUT is set: false;  else count + 1, by compare-and-swap
 *      leave:  count - 1;  it was the last, and SHUT is set: set the event `empty`
 *      shut:   set SHUT;  nothing was inside: set `empty`
 *      open:   clear `empty`, then the word, which only the keeper writes by then
 *
 * While the door is shut the count only falls.  So `empty` is set exactly once for each
 * shut: by the keeper, if nothing was inside, or by the last leaver.  A keeper that
 * loses patience opens the door again (door_give_up).  If the count is zero by then, the
 * last leaver has set `empty` or is about to, and the keeper waits for that, so that no
 * late set is left over for the next shut.
 *
 * One keeper at a time; the owner serialises.  The leaver does not touch the door after
 * the event is set, so the keeper may free the door once it has waited.
 *
 * Edges:
 *
 *   DO1  leave -> the keeper finds the door empty : what was done inside
 *   DO2  open -> enter : what the keeper changed
 *
 * Rejected: a count for each worker, as drain.h of core has it.  The keeper would have
 * to add them up again and again, and a container would need a cache line for each
 * worker; the containers of a pool divide the load already.
 */
#ifndef SLEY_ROUTE_DOOR_H
#define SLEY_ROUTE_DOOR_H

#include "base/atomic.h"
#include "base/chaos.h"
#include "base/compiler.h"
#include "sync/event.h"

#include <errno.h>
#include <sley/sync.h>
#include <sley/time.h>

#define DOOR_SHUT 1ull
#define DOOR_ONE 2ull

struct door {
	uint64_t word;
	struct sley_event empty; /* manual: shut, and nothing is inside */
};

/* How many are inside: a hint. */
static inline uint64_t door_count(const struct door *door)
{
	/* relaxed: a hint. */
	return load_relaxed(&door->word) / DOOR_ONE;
}

/* Is nothing inside, at this moment? */
static inline bool door_is_empty(const struct door *door)
{
	return load_acquire(&door->word) < DOOR_ONE; /* DO1 */
}

/* False: the door is shut. */
static inline must_check bool door_enter(struct door *door)
{
	/* relaxed: the CAS checks it. */
	uint64_t word = load_relaxed(&door->word);

	do {
		if (unlikely(word & DOOR_SHUT))
			return false;
	} while (chaos_says(CHAOS_LOSE) ||
		 !cas_acquire(&door->word, &word, word + DOOR_ONE)); /* DO2 */
	return true;
}

static inline void door_leave(struct door *door)
{
	uint64_t word = sub_release(&door->word, DOOR_ONE); /* DO1 */

	if (unlikely(word == (DOOR_ONE | DOOR_SHUT)))
		sley_event_set(&door->empty);
}

/* The door is open: nothing enters from now on. */
static inline void door_shut(struct door *door)
{
	/* relaxed: door_wait() acquires. */
	uint64_t word = or_relaxed(&door->word, DOOR_SHUT);

	if (word < DOOR_ONE)
		sley_event_set(&door->empty);
}

/* The door is empty and shut. */
static inline void door_open(struct door *door)
{
	sley_event_clear(&door->empty);
	store_release(&door->word, 0); /* DO2 */
}

/* The door is shut, and the keeper does not wait any longer. */
static inline void door_give_up(struct door *door)
{
	/*
	 * relaxed: the keeper has changed nothing, and a read-modify-write passes the
	 * DO2 of the last open on.
	 */
	uint64_t word = and_relaxed(&door->word, ~DOOR_SHUT);

	if (word >= DOOR_ONE)
		return;
	(void)!event_wait(&door->empty, SLEY_FOREVER, WAIT_SHIELDED);
	sley_event_clear(&door->empty);
}

/* Waits until the door, which is shut, is empty.  0, -ETIMEDOUT or -ECANCELED. */
static inline must_check int door_wait(struct door *door, uint64_t deadline_ns,
				       enum wait_flags flags)
{
	int err = event_wait(&door->empty, deadline_ns, flags);

	/* The event passes the last leaver on; the word those before it, too. */
	if (!err)
		(void)load_acquire(&door->word); /* DO1 */
	return err;
}

#endif
