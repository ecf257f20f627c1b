/* SPDX-License-Identifier: MIT */
/*
 * selves.h - the thread-local state of core/sched/worker.h, for each model thread.
 *
 * Include this file in one source of a model.  A model whose threads read or change
 * the state sets the state of all threads in setup.
 */
#ifndef SLEY_TESTS_MODEL_SELVES_H
#define SLEY_TESTS_MODEL_SELVES_H

#include "explorer.h"

#include "core/sched/worker.h"

/* The first entry is for setup and finish. */
static struct self selves[1 + MODEL_THREADS_MAX];

struct self *model_self(void)
{
	return &selves[1 + model_thread()];
}

static inline void selves_set(const struct self *self)
{
	for (size_t i = 0; i < array_size(selves); i++)
		selves[i] = *self;
}

#endif
