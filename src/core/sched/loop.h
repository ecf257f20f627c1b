/* SPDX-License-Identifier: MIT */
/*
 * loop.h - the function at the bottom of every strand.
 */
#ifndef SLEY_CORE_SCHED_LOOP_H
#define SLEY_CORE_SCHED_LOOP_H

#include "core/sched/worker.h"

/* The entry of a strand: takes tasks and runs them, until the worker stops. */
void strand_main(void *arg, struct fiber_thread *thread);

#endif
