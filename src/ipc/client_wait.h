/* SPDX-License-Identifier: MIT */
/*
 * client_wait.h - how threads and tasks wait for the answers of a daemon.
 *
 * A task of the runtime of the client waits for the future; the source of the client
 * completes it (client_source.h).  Other tasks look again and again, and sleep in
 * between: nothing wakes them.
 *
 * Plain threads.  One of them, the *leader*, sleeps on the word of the completions and
 * collects for all.  The others, the *followers*, wait for their futures, and for the
 * event `handover`: a leader that leaves sets it, and a follower becomes the leader.  A
 * follower collects once before: its request may have ended without the daemon, and then
 * nothing wakes the leader.
 * `duty` has a bit for the leader, and counts the followers, so that a leader that leaves
 * and a follower that comes cannot miss each other:
 *
 *   follower                            leader
 *   duty += FOLLOWER                    its own request is complete
 *   duty |= LEADER: was set, so waits   duty &= ~LEADER: there is a follower, so sets
 *   for its futures or for handover       handover
 *
 * The sleep of the leader.  Under the lock it finds that its requests have a slot, and
 * reads what has been collected so far (*seen*).  Then it sleeps unless the word has other
 * news than that.  A thread that submits, or polls, may collect the leader's answer
 * meanwhile, but that answer is news: the word has changed, and the leader does not sleep,
 * or the daemon has woken it.  A request of the leader that has no slot any more is
 * in the hands of such a thread: the leader waits for its future then, which is set soon.
 * While there is no daemon the leader sleeps on `epoch` instead.
 *
 * Edges:
 *
 *  CL1  see ipc/client.h
 *  CW1  see shm/count_word.h
 *
 * Rejected: all threads sleep on the word of the completions.  A thread whose answer is in
 * the hands of another would sleep with nobody to wake it, or each collector would have to
 * wake all.  A thread of the library that collects: one more wake-up for each answer, and
 * programs that only submit would have a thread.
 */
#ifndef SLEY_IPC_CLIENT_WAIT_H
#define SLEY_IPC_CLIENT_WAIT_H

#include "core/wait/waitq.h"
#include "ipc/client.h"

/* As sley_request_wait_any_until(); some are of a daemon. */
must_check int client_wait_any(struct sley_request *const *requests, size_t nr,
			       uint64_t deadline_ns);

/* Until the request is complete; @flags: WAIT_SHIELDED, or 0.  0, -ECANCELED. */
must_check int client_wait(struct sley_client *client,
			   struct sley_request *request, enum wait_flags flags);

/* Until a slot may be free, or the state has changed.  0, -ECANCELED. */
must_check int client_wait_room(struct sley_client *client,
				enum wait_flags flags);

/* Until the state may have changed: it is not LIVE.  0, -ECANCELED. */
must_check int client_wait_live(struct sley_client *client,
				enum wait_flags flags);

/* Collects, and drives if it is time for that. */
void client_poll(struct sley_client *client);

/* The first connection: 0, or why there is none. */
must_check int client_wait_connect(struct sley_client *client);

/* All calls that were waiting have left; by the closer. */
void client_wait_until_left(struct sley_client *client);

#endif
