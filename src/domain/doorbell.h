/* SPDX-License-Identifier: MIT */
/*
 * doorbell.h - a process wakes a task of another process of its domain.
 *
 * Each two members have a *line*, a pair of SEQPACKET sockets that the host has made: one
 * end came to each of them with the page of the other (PEER of domain/packet.h).  A packet
 * on the line names a waker (<sley/waker.h>) of the receiver.  A thread of the receiver,
 * the one that speaks to the host, sleeps on all lines at once, takes the packets, and
 * wakes as sley_wake() does: the task is woken at the level that it has then.
 *
 *   ringer                                hearer
 *   1. the waker, as plain numbers,       1. sleeps on doorbell_fd()
 *      from wherever it came
 *   2. doorbell_ring(): a packet  ----->  2. doorbell_hear(): checks, and wakes
 *
 * The hearer is no worker: it hears at once when all workers are busy, and costs a pick
 * nothing.
 *
 * Trust.  The number of a waker can be guessed.  So a packet has a *token* as well, a hash
 * of the number with a secret of the receiver: a process can wake only what it was told the
 * waker of, by the task or by somebody that the task told.  The hearer refuses, and counts
 *
 *   stale     the token is right, the task has ended: usual
 *   forged    the token is wrong; after DOORBELL_FORGED_MAX of them the line is cut
 *   garbage   no packet of ours, or one with descriptors, which are closed: the line is cut
 *
 * A line has two ends and no third party.  So a process that floods its line, shuts it down
 * or fills it concerns no line of others, and the receiver knows the ringer without asking.  The
 * hearer takes DOORBELL_BATCH packets of each line in turn.  The ringer never waits: a line
 * that is full is -EAGAIN.  A wake that was remembered once is not remembered twice, so a
 * ringer that gives up on a full line has perhaps nothing to add.
 *
 * The kernel's queue is all the protocol there is: no word is shared, and a ringer that is
 * killed has sent a packet or none.  docs/adr/0047 has the designs that were rejected.
 *
 * The end of a line.  Packets that were sent before are heard: the hearer shuts its end down
 * first, so that no more come, takes those in the queue, and closes then.  So a ring that
 * returned 0 was heard, or the hearer has been killed.
 */
#ifndef SLEY_DOMAIN_DOORBELL_H
#define SLEY_DOMAIN_DOORBELL_H

#include "domain/page.h"
#include "lf/spin.h"

#include <stdbool.h>
#include <stdint.h>

#define DOORBELL_BATCH 16
#define DOORBELL_FORGED_MAX 64

/* A waker, for other processes: numbers that may be sent anywhere. */
struct doorbell_waker {
	uint64_t id;
	uint64_t token;
};

struct doorbell_counts {
	uint64_t rung;    /* sent                                          */
	uint64_t full;    /* not sent, since the line was full             */
	uint64_t woken;   /* heard, and a task was woken or will find it   */
	uint64_t stale;   /* see above                                     */
	uint64_t forged;  /* as above                                      */
	uint64_t garbage; /* as above                                      */
	uint64_t cut;     /* lines that were cut                           */
};

struct doorbell_line {
	struct spinlock lock;
	int fd; /* (lock) -1: none                                         */
	uint64_t generation; /* (lock) of the member; 0: there is none     */
	uint32_t nr_forged;  /* (lock)                                     */
};

struct doorbell {
	int epoll;
	struct doorbell_counts counts;
	struct doorbell_line line[DOMAIN_MEMBERS_MAX];
};

/* No system call: it can be asked from now on, and knows nobody. */
void doorbell_init(struct doorbell *bell);

/* Before the first line: 0, or the errors of epoll_create1(2). */
must_check int doorbell_open(struct doorbell *bell);
/* All lines end, and it may be opened again.  By the hearer, or when there is none. */
void doorbell_close(struct doorbell *bell);

/* Can be read when there is something to hear. */
int doorbell_fd(const struct doorbell *bell);

/*
 * Member @index of @generation is there, at the other end of @fd, which is the doorbell's
 * after a 0.  -EEXIST: somebody else is; -EINVAL; -ENOMEM, -ENOSPC: it is there without a
 * line, as it is with an @fd of -1.
 */
must_check int doorbell_add(struct doorbell *bell, uint32_t index,
			    uint64_t generation, int fd);
/* The member is gone.  Nothing to do if it is another one by now.  By the hearer. */
void doorbell_remove(struct doorbell *bell, uint32_t index,
		     uint64_t generation);
/* All of them are. */
void doorbell_remove_all(struct doorbell *bell);

/* Takes the packets of the lines in turn.  True: there is more.  One thread at a time. */
bool doorbell_hear(struct doorbell *bell);

/* @id, a waker of this process, for others. */
struct doorbell_waker doorbell_share(uint64_t id);

/* A process rings at itself: checked and counted as if it came by a line; 0 or -ESRCH. */
must_check int doorbell_ring_own(struct doorbell *bell,
				 const struct doorbell_waker *waker);

/*
 * Rings at member @index.  0: it will hear, and may find that the task has ended.
 *   -ESRCH   there is no such member (any more), or not yet
 *   -ENOLINK there is, and no line to it (any more): it has just ended, has cut the line, or
 *            there never was one
 *   -EAGAIN  it has not heard what was rung before, or the kernel has no memory
 * Any thread; never waits for the member.
 */
must_check int doorbell_ring(struct doorbell *bell, uint32_t index,
			     uint64_t generation,
			     const struct doorbell_waker *waker);

void doorbell_get_counts(const struct doorbell *bell,
			 struct doorbell_counts *out);

#endif
