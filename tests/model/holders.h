/* SPDX-License-Identifier: MIT */
/*
 * holders.h - what a mutex takes its callers for, in a model.
 *
 * A task is the strand of its worker, as in a runtime, and takes the inline paths.
 * So do plain threads, unless holders_setup() is told otherwise: then they come to
 * the slow paths, as in a runtime those do that the inline paths do not know.
 *
 * Include it behind selves.h, and link src/core/wait/holder.c.
 */
#ifndef SLEY_TESTS_MODEL_HOLDERS_H
#define SLEY_TESTS_MODEL_HOLDERS_H

#include "core/wait/holder.h"

#include <sley/fork_stack.h>

/* Of model threads that are no tasks, as in selves.h. */
static _Alignas(64) struct sley_forks holders[1 + MODEL_THREADS_MAX];
static struct sley_forks holders_unknown = { .unlocked = HOLDER_TAKES_NONE };
static bool holders_slow;

struct sley_forks *holder_forks(void)
{
	return &holders[1 + model_thread()];
}

struct sley_forks *sley_forks_slow(void)
{
	struct worker *worker = sley__self.worker;

	if (worker && worker->strand)
		return &worker->strand->forks;
	return holders_slow ? &holders_unknown : holder_forks();
}

/* In setup. */
static void holders_setup(bool slow)
{
	holders_slow = slow;
}

/* What the model thread @id is, unless it is a task. */
__attribute__((unused)) static uint64_t holder_of_model_thread(int id)
{
	return (uintptr_t)&holders[1 + id];
}

#endif
