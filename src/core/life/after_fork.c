/* SPDX-License-Identifier: MIT */
/*
 * after_fork.c - see after_fork.h.
 */
#include "core/life/after_fork.h"

#include "base/assert.h"
#include "core/wait/holder.h"
#include "os/thread.h"

#include <sley/error.h>

void after_fork_begin(struct sley *rt)
{
	rt->generation = os_fork_generation();
	os_thread_get_signals(&rt->signals);
}

int after_fork_error(void)
{
	return sley__self.forked ? SLEY_EFORKED : SLEY_ENORUNTIME;
}

int runtime_of_caller(struct sley **rt)
{
	struct worker *worker = worker_current();

	*rt = worker ? worker->rt : sley__self.bound;
	if (!*rt)
		return after_fork_error();
	return runtime_is_lost(*rt) ? SLEY_EFORKED : 0;
}

const char *after_fork_rule(const char *rule)
{
	return sley__self.forked ? FORKED_RULE : rule;
}

void after_fork_returns(void)
{
	sley_fatal("a child of fork() returned from the task that forked it: "
		   "let it call exec or _exit() there");
}

static void forbid_return(struct cleanup *cleanup)
{
	(void)cleanup;
	after_fork_returns();
}

/* A single cleanup is enough: only the task that forked last can return. */
static struct cleanup return_of_child;

/* The strand of the task that forked; NULL: the code of a thread forked. */
static struct strand *strand_of(struct worker *worker)
{
	if (!worker)
		return sley__self.strand;
	return worker->strand != &worker->base ? worker->strand : NULL;
}

/* On a worker, or on a thread for blocking calls, which is no worker. */
static void leave_thread(const struct sley *rt, struct worker *worker)
{
	struct strand *strand = strand_of(worker);

	if (strand)
		cleanup_add(&strand->cleanups, &return_of_child, forbid_return);
	/*
	 * Threads of ours take no signals; the only thread of a process should.
	 * A thread that is bound to a single-threaded runtime is not a thread of
	 * ours.
	 */
	if (!worker || rt->nr_workers)
		os_thread_set_signals(&rt->signals);
}

static void leave_runtime(void)
{
	const struct sley *rt = sley__self.bound;
	uint64_t holder;

	if (!rt) {
		/* The scopes stay open; a canceller may have held the lock. */
		sley__self.opener.lock = (struct spinlock){ 0 };
		return;
	}
	/* The thread keeps the locks that it held: core/wait/holder.h. */
	holder = holder_current();
	if (fiber_thread_forget())
		leave_thread(rt, sley__self.worker);
	sley__self = (struct self){ .forked = true, .holder = holder };
	sley_forks_current = &sley__no_forks;
}

FORK_PART(FORK_THREAD, .renew = leave_runtime);
