/* SPDX-License-Identifier: MIT */
/*
 * drain_fields.h - the part of a runtime that core/life/drain.h works with.
 *
 * Apart from drain.h, which needs the whole struct sley.
 */
#ifndef SLEY_CORE_LIFE_DRAIN_FIELDS_H
#define SLEY_CORE_LIFE_DRAIN_FIELDS_H

#include <stdint.h>

struct drain {
	uint64_t gate;            /* bit 0: shut; the rest counts            */
	uint64_t foreign_spawned; /* spawned by threads without a worker     */
	uint32_t events;          /* futex: something may have ended         */
	uint32_t wanted;          /* a drainer waits for events              */
};

#endif
