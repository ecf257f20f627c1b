/* SPDX-License-Identifier: MIT */
/*
 * step.h - where a simulated process may be left: at each atomic operation, and in the
 * middle of each copy, so that one that is killed there leaves half of its data.
 *
 * What is simulated is compiled with this file in front (-include).
 */
#ifndef SLEY_TESTS_SIM_STEP_H
#define SLEY_TESTS_SIM_STEP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Steps that the process may take before it is left. */
extern int64_t sim_steps_left;

void sim_leave(void);
/* The process has stored to @at: the ledger wants to know what is begun. */
void sim_stored(const void *at, size_t size);
void *sim_memcpy(void *to, const void *from, size_t size);
int sim_futex_wait(const uint32_t *word, uint32_t expected,
		   uint64_t deadline_ns);
void sim_futex_wake(const uint32_t *word, int nr);

static inline void sim_step(void)
{
	if (--sim_steps_left <= 0)
		sim_leave();
}

#ifdef SLEY_MODEL
#undef memcpy
#define memcpy sim_memcpy
#define os_futex_wait sim_futex_wait
#define os_futex_wake sim_futex_wake
#endif

#endif
