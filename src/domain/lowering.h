/* SPDX-License-Identifier: MIT */
/*
 * lowering.h - the host lowers a process that does not yield, and restores it.
 *
 * A member that keeps a core for more than a tick although more urgent work wants the core
 * either runs a task that does not come to a pick, or does not play by the rules.  A host
 * that may restore a nice value (os_sched_may_restore_nice()) gives the workers of this
 * member that run such a task 19, the lowest, until no more urgent work has wanted a core of the
 * member for a while (domain/host_lower.c).  Then urgent work that overtakes gets the CPU from
 * them at once, even where the kernel has no slices, and also if it takes more of the CPU than
 * a fair share, for which slices alone do nothing.  Nice values count among the threads of one
 * group of the kernel (a session, a cgroup): between groups nothing is won or lost.  A
 * host that may not restore does nothing at all: lowering would be for ever.
 *
 * The workers are named by the member, in .tid of its page: those that are LONG
 * (domain/slices.h).  A worker that is not named any more is restored on the next tick, for it
 * may get urgent work.  A member could name threads of others.  So the host lowers a thread
 * only if it belongs to the process that the kernel names as the peer of the connection; /proc
 * tells.  A member that has named another thread is not lowered again: each look costs
 * system calls.  Threads of this process that are no workers are this process's own loss.
 *
 * The nice value before is read from the kernel, and kept here.  A host that ends restores
 * first.  A host that dies in between leaves workers lowered: the member, which sees the end
 * of its host, finds itself in .lowered of the host's page.  It restores its own workers if it may
 * (slices_raise() of domain/slices.h), and otherwise they stay at 19, and it says so in a line.
 * The next host takes the value that it finds for the thread's own.
 *
 * Rejected: SCHED_IDLE in place of 19: a thread without privilege does not come back from
 * it, and a lock that the thread holds may never be released beside busy programs; a frozen
 * cgroup, SIGSTOP: the member's urgent tasks would stand still, too; all threads of the
 * process: threads that the program uses for its own ends did not take the core.
 */
#ifndef SLEY_DOMAIN_LOWERING_H
#define SLEY_DOMAIN_LOWERING_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

#define LOWERING_THREADS 64
#define LOWERING_NICE 19

/* Of one member. */
struct lowering {
	uint32_t nr;         /* threads that are lowered now          */
	uint32_t nr_foreign; /* threads that are not the member's     */
	uint32_t nr_kept;    /* threads that could not be restored    */
	struct lowered {
		int tid;
		int nice; /* before */
	} of[LOWERING_THREADS];
};

/*
 * Lowers the @nr threads @tids of the process @pid, copied and not checked, where 0 is none;
 * threads that are lowered already stay so, and others are restored.  How many are lowered
 * now.  Only by a host that may restore.
 */
uint32_t lowering_begin(struct lowering *lowering, int pid, const int32_t *tids,
			uint32_t nr);

/*
 * Gives all threads that still live, and still have LOWERING_NICE, their value back: a
 * value that somebody else has set in between is left.
 */
void lowering_end(struct lowering *lowering, int pid);

static inline bool lowering_is_on(const struct lowering *lowering)
{
	return lowering->nr;
}

#endif
