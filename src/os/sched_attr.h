/* SPDX-License-Identifier: MIT */
/*
 * sched_attr.h - how the kernel shares a CPU among the threads on it: the policy,
 * the slice and the nice value of a thread, and the slack of its timers.
 *
 * A thread is named by its kernel's number, os_thread_id(); 0 is the caller.  What a
 * process may do without privilege:
 *
 *   policy OTHER <-> BATCH   both ways, threads of all processes of the user
 *   slice                    both ways, the same threads; Linux 6.12
 *   nice, a higher value     the same threads
 *   nice, a lower value      never: lowering a thread is one-way, but for a process
 *                            with CAP_SYS_NICE, or within RLIMIT_NICE
 *   timer slack              of the caller
 *
 * No real-time class is ever asked for, and a thread whose policy is neither OTHER
 * nor BATCH is not touched: its owner meant it so.  Deadline, real-time and idle
 * threads all are such.
 *
 * The kernel takes a slice between 0.1 ms and 100 ms, and moves others to the nearer
 * end.  A kernel without slices takes the call and does nothing, so a caller that
 * wants to know has to look: os_sched_has_slices().
 */
#ifndef SLEY_OS_SCHED_ATTR_H
#define SLEY_OS_SCHED_ATTR_H

#include "base/compiler.h"
#include "os/fault.h"

#include <stdbool.h>
#include <stdint.h>

#define OS_SLICE_MIN_NS 100000ull
#define OS_SLICE_MAX_NS 100000000ull

enum os_sched_policy {
	OS_SCHED_OTHER,
	OS_SCHED_BATCH,   /* does not preempt a thread that runs  */
	OS_SCHED_FOREIGN, /* any other; never given to a thread */
};

struct os_sched {
	enum os_sched_policy policy;
	int nice;
	uint64_t slice_ns; /* 0: the kernel's choice, or a kernel without slices */
};

/*
 * What thread @tid has.  A slice that nobody asked for is the kernel's usual one, and
 * not 0: the kernel does not tell the two apart.  -ESRCH: there is no such thread.
 */
must_check int os_sched_get(int tid, struct os_sched *out);

/*
 * Gives thread @tid a policy and a slice; its nice value stays.  @slice_ns 0: the
 * kernel's usual slice.
 *   -ESRCH   there is no such thread
 *   -EPERM   a thread of another user, or a filter forbids it
 *   -EBUSY   the thread has another policy, which stays
 */
int os_sched_set(int tid, enum os_sched_policy policy, uint64_t slice_ns);

/*
 * Gives thread @tid a nice value; policy and slice stay.
 *   -ESRCH   there is no such thread
 *   -EACCES  the value is lower, and this process may not lower it
 *   -EPERM   a thread of another user
 */
int os_sched_set_nice(int tid, int nice);

/*
 * Does the kernel keep slices?  Tries it on the calling thread, whose attributes are
 * the same afterwards.
 */
bool os_sched_has_slices(void);

/*
 * May this process lower the nice value of a thread that it has raised?  Only a process
 * that may should raise one.
 */
bool os_sched_may_restore_nice(void);

/*
 * How late the kernel may let a timed wait of the calling thread end; 50 us at first.
 * 0: the slack that the thread began with.  The result is the slack before, or -errno.
 */
int64_t os_thread_set_slack(uint64_t slack_ns);

#endif
