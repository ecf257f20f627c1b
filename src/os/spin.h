/* SPDX-License-Identifier: MIT */
/*
 * spin.h - how a waiter for a spin lock sleeps.
 *
 * The lock is in lf/spin.h.  The layer lf may not include the layer os
 * (tools/layers.txt), so lf/spin.h declares these three names a second time.  Change
 * both files together.
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
