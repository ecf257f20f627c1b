/* SPDX-License-Identifier: MIT */
/*
 * name_wait.h - waiting until some process has a name.
 *
 * Waiters are in lists, by the hash of the name.  A list may have waiters for
 * different names: a woken waiter looks again, and waits again if need be.
 *
 *   finder                              registrar (actor/name/name.c)
 *   locks the list                      registers the name
 *   looks for the name                  locks the list, wakes all in it
 *   not there: is linked, and waits     unlocks it
 *
 * If the finder does not see the name, it has the lock before the registrar, and
 * is in the list when the registrar comes.
 *
 * A list is locked before a shard of names, never the other way round.  In a
 * child of fork() there are no waiters.
 *
 * Edges: W1 of core/wait/waitq.h, and those of the shards.
 *
 * Rejected: to wake the waiters of that name only (a second look costs less than a
 * name in each waiter, and a list seldom has more than one name).
 */
#ifndef SLEY_ACTOR_NAME_NAME_WAIT_H
#define SLEY_ACTOR_NAME_NAME_WAIT_H

#include <stdint.h>

/* A name with that hash was registered. */
void name_appeared(uint64_t hash);

#endif
