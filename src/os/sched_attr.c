/* SPDX-License-Identifier: MIT */
/*
 * sched_attr.c - sched_setattr(2), setpriority(2), PR_SET_TIMERSLACK.
 *
 * sched_setattr() sets all attributes at once.  So a change reads them first, and
 * another process that lowers the same thread in between is undone, or, where this
 * process may not undo it, makes the call fail: the call is then made again.
 *
 * Rejected: SCHED_FLAG_KEEP_PARAMS, which would keep the nice value, and the slice as
 * well; SCHED_FLAG_RESET_ON_FORK, by which the children of a thread would begin with
 * the usual slice: it cannot be taken back without privilege.
 */
#include "os/sched_attr.h"

#include "os/fault.h"
#include "os/thread.h"

#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* struct sched_attr of the kernel, the first version: all that fair classes have. */
struct attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime; /* the slice */
	uint64_t deadline;
	uint64_t period;
};

#define RESET_ON_FORK 1ull /* the only flag that is kept */
#define NR_RETRIES 3
#define NICE_MAX 19

static int get(int tid, struct attributes *out)
{
	*out = (struct attributes){ .size = sizeof(*out) };
	if (fault_errno("sched_getattr", ENOSYS, EPERM) ||
	    syscall(SYS_sched_getattr, tid, out, sizeof(*out), 0))
		return -errno;
	return 0;
}

static int set(int tid, struct attributes *attributes)
{
	attributes->size = sizeof(*attributes);
	attributes->flags &= RESET_ON_FORK;
	if (fault_errno("sched_setattr", ENOSYS, ESRCH) ||
	    syscall(SYS_sched_setattr, tid, attributes, 0))
		return -errno;
	return 0;
}

static enum os_sched_policy policy_of(const struct attributes *attributes)
{
	switch (attributes->policy) {
	case SCHED_OTHER:
		return OS_SCHED_OTHER;
	case SCHED_BATCH:
		return OS_SCHED_BATCH;
	default:
		return OS_SCHED_FOREIGN;
	}
}

int os_sched_get(int tid, struct os_sched *out)
{
	struct attributes attributes;
	int saved = errno, err = get(tid, &attributes);

	errno = saved;
	if (err)
		return err;
	*out = (struct os_sched){
		.policy = policy_of(&attributes),
		.nice = attributes.nice,
		.slice_ns = attributes.runtime,
	};
	/* Deadline threads have a runtime that is no slice. */
	if (out->policy == OS_SCHED_FOREIGN)
		out->slice_ns = 0;
	return 0;
}

static int change(int tid, enum os_sched_policy policy, uint64_t slice_ns)
{
	struct attributes attributes;
	int err = get(tid, &attributes);

	if (err)
		return err;
	if (policy_of(&attributes) == OS_SCHED_FOREIGN)
		return -EBUSY;
	attributes.policy = policy == OS_SCHED_BATCH ? SCHED_BATCH
						     : SCHED_OTHER;
	attributes.runtime = slice_ns;
	return set(tid, &attributes);
}

int os_sched_set(int tid, enum os_sched_policy policy, uint64_t slice_ns)
{
	int saved = errno, err = -EPERM;

	for (int i = 0; i < NR_RETRIES && err == -EPERM; i++)
		err = change(tid, policy, slice_ns);
	errno = saved;
	return err;
}

int os_sched_set_nice(int tid, int nice)
{
	int saved = errno, err = 0;

	/* Of one thread: the kernel does not do what POSIX says of processes. */
	if (fault_errno("setpriority", EACCES, EPERM) ||
	    setpriority(PRIO_PROCESS, (id_t)tid, nice))
		err = -errno;
	errno = saved;
	return err;
}

/* The usual slice, which 0 asks for, is what a kernel without slices says: 0. */
bool os_sched_has_slices(void)
{
	struct os_sched before, usual, tried;
	bool has;

	if (os_sched_get(0, &before) || before.policy == OS_SCHED_FOREIGN ||
	    os_sched_set(0, before.policy, 0) || os_sched_get(0, &usual))
		return false;
	has = usual.slice_ns &&
	      !os_sched_set(0, before.policy, OS_SLICE_MIN_NS) &&
	      !os_sched_get(0, &tried) && tried.slice_ns == OS_SLICE_MIN_NS;
	if (before.slice_ns == usual.slice_ns)
		before.slice_ns = 0; /* nobody asked for it */
	(void)os_sched_set(0, before.policy, before.slice_ns);
	return has;
}

/*
 * On a thread of its own: where it cannot be undone, nobody has lost anything.  One step, and
 * not all: with the highest value the thread could wait for long on a busy machine.
 */
static void *try_nice(void *arg)
{
	struct os_sched before;
	int from;

	if (os_sched_get(0, &before))
		return NULL;
	from = before.nice < NICE_MAX ? before.nice + 1 : NICE_MAX;
	*(bool *)arg = !os_sched_set_nice(0, from) &&
		       !os_sched_set_nice(0, from - 1);
	return NULL;
}

bool os_sched_may_restore_nice(void)
{
	pthread_t thread;
	bool may = false;

	if (os_thread_start(&thread, "sley-nice", try_nice, &may))
		return false;
	os_thread_join(thread);
	return may;
}

int64_t os_thread_set_slack(uint64_t slack_ns)
{
	int saved = errno, before, err = 0;

	/* fault: cannot fail; filters forbid prctl() as a whole. */
	before = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
	if (before < 0 || fault_errno("prctl", EPERM) ||
	    prctl(PR_SET_TIMERSLACK, (unsigned long)slack_ns, 0, 0, 0))
		err = -errno;
	errno = saved;
	return err ? err : before;
}
