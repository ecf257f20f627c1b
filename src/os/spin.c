/* SPDX-License-Identifier: MIT */
/*
 * spin.c - how a waiter of lf/spin.h sleeps.
 *
 * The awaited address, as a number, chooses the room of a sleeper.  The sleeper
 * sleeps on the room's count of wakes and not on the awaited word, for three
 * reasons.  The word may be 64 bits wide, where a futex compares 32.  Other bits of
 * the word may change all the time, and each change would keep the waiter from
 * sleeping.  And a waker may not touch the word, since an unlocked object may be
 * freed.
 *
 * A wake is for one sleeper of the room, and not for all: of many that are woken at
 * once for one lock, all but one come in vain.  The sleeper that got the lock wakes
 * the next at the unlock.  A sleeper with another address, woken in place of the
 * right sleeper, sleeps again; the right sleeper has a time-out.
 *
 * A time-out is for a wake that was missed.  Each time-out is twice the last, so a
 * missed wake at most doubles the wait, and a waiter whose holder gets no CPU for a
 * second takes next to no CPU time itself.
 *
 * Edges:
 *
 *   SP1  wake counts -> the sleeper sees the count : the awaited change.  A
 *       sleeper that saw the count but not the change would sleep until its
 *       time-out.  All else that was done before has edges of its own.
 */
#include "os/spin.h"

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/hash.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/at_fork.h"

#include <string.h>

#define ROOM_BITS 5
#define NS_FIRST 20000u
#define DOUBLINGS 10 /* 20 us to 20 ms */

struct room {
	uint32_t nr_sleepers;
	uint32_t nr_wakes;
} cache_aligned;

static struct room rooms[1u << ROOM_BITS];

/* On a line of its own: every unlock reads it. */
uint32_t spin_nr_sleepers cache_aligned;

/* In a child of fork(): all sleepers are threads of the parent. */
static void forget_sleepers(void)
{
	memset(rooms, 0, sizeof(rooms));
	/* relaxed: there is one thread. */
	store_relaxed(&spin_nr_sleepers, 0);
}

FORK_PART(FORK_SLEEPERS, .renew = forget_sleepers);

static struct room *room_of(const void *address)
{
	return &rooms[hash_slot(hash_word((uintptr_t)address), ROOM_BITS)];
}

static uint64_t end_of_sleep(uint32_t nr_sleeps)
{
	if (nr_sleeps > DOUBLINGS)
		nr_sleeps = DOUBLINGS;
	return os_now() + (NS_FIRST << nr_sleeps);
}

void spin_sleep(const void *address, bool (*still)(const void *),
		uint32_t nr_sleeps)
{
	struct room *room = room_of(address);
	uint32_t seen;

	/* relaxed: hints; after a missed hint the time-out helps. */
	(void)add_relaxed(&room->nr_sleepers, 1);
	/* relaxed: as above. */
	(void)add_relaxed(&spin_nr_sleepers, 1);
	seen = load_acquire(&room->nr_wakes); /* SP1 */
	if (still(address))
		(void)os_futex_wait(&room->nr_wakes, seen,
				    end_of_sleep(nr_sleeps));
	/* relaxed: as above. */
	(void)sub_relaxed(&spin_nr_sleepers, 1);
	/* relaxed: as above. */
	(void)sub_relaxed(&room->nr_sleepers, 1);
}

void spin_wake(const void *address)
{
	struct room *room = room_of(address);

	/* relaxed: a hint; locks of other rooms cost no system call. */
	if (!load_relaxed(&room->nr_sleepers))
		return;
	(void)add_release(&room->nr_wakes, 1); /* SP1 */
	os_futex_wake(&room->nr_wakes, 1);
}
