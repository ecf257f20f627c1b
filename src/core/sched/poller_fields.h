/* SPDX-License-Identifier: MIT */
/*
 * poller_fields.h - the parts of a runtime and of a worker that core/sched/poller.h
 * works with.
 *
 * Apart from poller.h, which needs the whole struct sley.
 */
#ifndef SLEY_CORE_SCHED_POLLER_FIELDS_H
#define SLEY_CORE_SCHED_POLLER_FIELDS_H

#include "lf/spin.h"
#include "os/uring.h"

#include <stdbool.h>
#include <stdint.h>

struct poller {
	uint32_t taken;       /* 1 + index of the worker in the poller  */
	uint32_t nr_watched;  /* descriptors                            */
	uint64_t nr_readable; /* wake-ups by a descriptor               */
	struct spinlock lock; /* of the first watch                     */
	bool open;            /* under the lock: the descriptors exist  */
	int epoll;            /* constant once a descriptor is watched  */
};

/* Of one worker: touched by its thread alone. */
struct poller_ring {
	struct os_uring ring;
	bool denied; /* there will be no ring: epoll */
	bool heard;  /* a descriptor woke the worker: its owner must read it */
	/* Edges that the worker has taken since its last search, and before. */
	uint32_t nr_edges;
	uint32_t average; /* in sixteenths of an edge */
};

#endif
