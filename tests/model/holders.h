/* SPDX-License-Identifier: MIT */
/*
 * holders.h - the identity of the holder of a mutex, in a model.
 *
 * A task is the strand of its worker, as in a runtime, and takes the inline paths.
 * Plain threads take the inline paths, too, unless holders_setup() is told
 * otherwise: then plain threads take the slow paths, as threads do in a runtime if
 * the inline paths do not know the thread.
 *
 * Include this file after selves.h, and link src/core/wait/holder.c.
 */
#ifndef SLEY_TESTS_MODEL_HOLDERS_H
#define SLEY_TESTS_MODEL_HOLDERS_H

#include "core/wait/holder.h"

#include <sley/fork_stack.h>

/* For model threads that are no tasks, as in selves.h. */
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

/* The holder for the model thread @id, if the thread is no task. */
__attribute__((unused)) static uint64_t holder_of_model_thread(int id)
{
	return (uintptr_t)&holders[1 + id];
}

#endif
