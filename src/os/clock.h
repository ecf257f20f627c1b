/* SPDX-License-Identifier: MIT */
/*
 * clock.h - the monotonic clock: all deadlines are times of this clock.
 */
#ifndef SLEY_OS_CLOCK_H
#define SLEY_OS_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds: never goes back, stops in suspend. */
uint64_t os_now(void);

/*
 * The same clock as of the kernel's last tick: some milliseconds late, and never ahead of
 * os_now().  Costs a fifth of os_now(), which reads the counter of the processor.
 */
uint64_t os_now_coarse(void);

#endif
