/* SPDX-License-Identifier: MIT */
/*
 * loop.h - strand_main(), the first function on the stack of every strand: the
 * worker's loop, which takes tasks and calls them.
 */
#ifndef SLEY_CORE_SCHED_LOOP_H
#define SLEY_CORE_SCHED_LOOP_H

#include "core/sched/worker.h"

/* The entry of a strand: takes tasks and runs them, until the worker stops. */
void strand_main(void *arg, struct fiber_thread *thread);

#endif
