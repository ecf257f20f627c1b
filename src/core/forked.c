/* SPDX-License-Identifier: MIT */
/*
 * forked.c - see forked.h.
 */
#include "core/forked.h"

#include "base/assert.h"
#include "fiber/overflow.h"
#include "os/thread.h"

#include <sley/error.h>

void forked_begin(struct sley *rt)
{
	rt->generation = os_fork_generation();
	os_thread_get_signals(&rt->signals);
}

int forked_error(void)
{
	return sley__self.forked ? SLEY_EFORKED : SLEY_ENORUNTIME;
}

const char *forked_rule(const char *rule)
{
	return sley__self.forked ? FORKED_RULE : rule;
}

static void forbid_return(struct ending *ending)
{
	(void)ending;
	sley_fatal("a child of fork() returned from the task that forked it: "
		   "let it call exec or _exit() there");
}

/* One at a time: only the task that forked last can return. */
static struct ending return_of_child;

static void leave_worker(struct worker *worker)
{
	struct strand *strand = worker->strand;

	if (strand != &worker->base)
		ending_add(&strand->endings, &return_of_child, forbid_return);
	fiber_thread_forget();
	/* Workers take no signals; what is alone in its process should. */
	if (worker->rt->nr_workers)
		os_thread_set_signals(&worker->rt->signals);
}

static void enter_child(void)
{
	fiber_overflow_unlock();
	if (!sley__self.bound)
		return;
	if (sley__self.worker)
		leave_worker(sley__self.worker);
	sley__self = (struct self){ .forked = true };
}

__attribute__((constructor)) static void watch_forks(void)
{
	os_fork_watch(fiber_overflow_lock, fiber_overflow_unlock, enter_child);
}
