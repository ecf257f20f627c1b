/* SPDX-License-Identifier: MIT */
/*
 * invoke.c - the calls of a list, by fork and join.
 *
 * A range of calls (parallel/split.h), shared at once: each call may be long, and the
 * first says nothing about the others.
 */
#include "base/assert.h"
#include "parallel/split.h"

#include <sley/parallel.h>

struct invoke {
	struct split split;
	const struct sley_invocation *calls;
};

static void invoke_piece(struct split *split, size_t begin, size_t end,
			 void *value)
{
	struct invoke *invoke = container_of(split, struct invoke, split);

	(void)value;
	for (size_t i = begin; i < end; i++) {
		if (unlikely(!invoke->calls[i].fn))
			sley__misuse("sley_invoke", SLEY_NO_FN);
		invoke->calls[i].fn(invoke->calls[i].arg);
	}
}

static int invoke_run(struct invoke *invoke, size_t nr)
{
	/* Not the automatic grain: a call is worth a fork. */
	if (!invoke->split.how.grain)
		invoke->split.how.grain = 1;
	return split_run(&invoke->split, 0, nr, NULL);
}

void sley_invoke(const struct sley_invocation *calls, size_t nr)
{
	struct invoke invoke = {
		.split = { .piece = invoke_piece, .at_once = true },
		.calls = calls,
	};

	how_default(&invoke.split.how);
	(void)!invoke_run(&invoke, nr);
}

int sley_invoke_with(const struct sley_invocation *calls, size_t nr,
		     const struct sley_how *how)
{
	struct invoke invoke = {
		.split = { .piece = invoke_piece, .at_once = true },
		.calls = calls,
	};
	int err = how_read(&invoke.split.how, how);

	return err ? err : invoke_run(&invoke, nr);
}
