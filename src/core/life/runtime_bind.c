/* SPDX-License-Identifier: MIT */
/*
 * runtime_bind.c - threads that become part of a runtime, and leave it.
 *
 * A thread that binds passes the gate (core/life/drain.h), so the thread is counted
 * before the gate is shut, or refused.  From then on the runtime is not freed
 * before the thread has unbound.  A thread that binds to a single-threaded runtime
 * becomes a worker of it.
 *
 * Edges:
 *
 *   RT1  see core/life/runtime.h
 */
#include "core/life/drain.h"
#include "core/life/after_fork.h"
#include "core/life/hooks.h"
#include "core/life/runtime.h"

#include <errno.h>
#include <sley/error.h>

static int bind_worker(struct sley *rt)
{
	struct worker *worker;
	int err = worker_create(rt, rt->nr_workers, &worker);

	if (err)
		return err;
	err = worker_bind(worker);
	if (err) {
		worker_destroy(worker);
		return err;
	}
	spin_lock(&rt->bound_lock);
	list_append(&rt->bound, &worker->link);
	/* A canceller of everything from here on finds the worker in the list. */
	worker->cancelled = load_acquire(&rt->cancelled); /* RT1 */
	spin_unlock(&rt->bound_lock);
	return 0;
}

int runtime_bind(struct sley *rt)
{
	int err = 0;

	if (runtime_is_lost(rt))
		return SLEY_EFORKED;
	if (!gate_enter(rt))
		return -ESHUTDOWN;
	if (!rt->nr_workers)
		err = bind_worker(rt);
	else
		sley__self.bound = rt;
	if (!err) {
		sley__self.forked = false;
		/* relaxed: D2 of core/life/drain.h publishes it. */
		(void)add_relaxed(&rt->nr_bound, 1);
	}
	gate_leave(rt);
	if (!err && !rt->nr_workers)
		hooks_call_start(rt);
	return err;
}

static void unbind_worker(struct worker *worker)
{
	struct sley *rt = worker->rt;

	worker_unbind(worker);
	spin_lock(&rt->bound_lock);
	list_remove(&worker->link);
	spin_unlock(&rt->bound_lock);
	worker_destroy(worker);
}

void runtime_unbind(struct sley *rt)
{
	struct worker *worker = worker_current();

	if (worker)
		unbind_worker(worker);
	sley__self.bound = NULL;
	/* A destroyer that sees no bound thread locks before it frees @rt. */
	spin_lock(&rt->bound_lock);
	/* relaxed: under that lock. */
	(void)sub_relaxed(&rt->nr_bound, 1);
	drain_signal_if_wanted(rt);
	spin_unlock(&rt->bound_lock);
}
