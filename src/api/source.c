/* SPDX-License-Identifier: MIT */
/*
 * source.c - <sley/source.h>: checks the user's arguments, and passes them on.
 */
#include <sley/source.h>

#include "base/options.h"
#include "core/life/after_fork.h"
#include "core/life/drain.h"
#include "core/sched/source.h"

#include <sley/error.h>

_Static_assert(SLEY_SOURCES_MAX == SOURCES_OF_USERS, "one limit, two names");

#define GONE "the source was destroyed"

int sley_source_create(struct sley *rt, struct sley_source **source,
		       const struct sley_source_options *given, void *arg)
{
	struct sley_source_options options;
	int err = options_take(&options, given);
	struct source_ops ops;

	if (err)
		return err;
	if (options.fd < 0)
		return -EBADF;
	sley_check_fn(options.take);
	if (runtime_is_lost(rt))
		return SLEY_EFORKED;
	ops = (struct source_ops){
		.has = options.has,
		.take = options.take,
		.arm = options.arm,
		.disarm = options.disarm,
		.fd = options.fd,
	};
	/* As below: the first take() may come before this call returns. */
	gate_pass(rt);
	err = source_add(rt, source, &ops, arg, true);
	gate_leave(rt);
	return err;
}

/* Is the caller take() of @source, on a worker or on a thread that serves it? */
static bool takes(const struct sley_source *source)
{
	const struct strand *strand = strand_current();

	return strand && strand->task == &source->taker;
}

void sley_source_destroy(struct sley_source *source)
{
	const struct worker *worker = worker_current();

	if (!source)
		return;
	sley_check(!runtime_is_lost(source->rt), FORKED_RULE);
	sley_check(source_is_live(source), GONE);
	sley_check(!takes(source) && !(worker && worker->asks),
		   "a function of a source must not destroy the source: let "
		   "another task or thread do it");
	source_remove(source);
}

int sley_source_notify(struct sley_source *source)
{
	struct sley *rt = source->rt;

	if (runtime_is_lost(rt))
		return SLEY_EFORKED;
	sley_check(source_is_live(source), GONE);
	/* The task that take() wakes may be the last that a destroyer waits for. */
	gate_pass(rt);
	source_notify(source);
	gate_leave(rt);
	return 0;
}
