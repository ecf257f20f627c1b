/* SPDX-License-Identifier: MIT */
/*
 * spin.h - sleeping for lf/spin.h, which declares the same and must not include
 * this: see there.
 */
#ifndef SLEY_OS_SPIN_H
#define SLEY_OS_SPIN_H

#include <stdbool.h>
#include <stdint.h>

extern uint32_t spin_nr_sleepers __attribute__((visibility("hidden")));

void spin_sleep(const void *address, bool (*still)(const void *),
		uint32_t nr_sleeps);
void spin_wake(const void *address);

#endif
