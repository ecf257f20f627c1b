/* SPDX-License-Identifier: MIT */
/*
 * affinity.h - on which CPUs each worker thread may run.
 *
 * Worker by worker, from the first to the last.  With SLEY_PLACE_ONE_OF the
 * CPUs are dealt out in rounds: in each round every core gives one CPU, the
 * lowest that is left.  So workers have cores of their own as long as there are
 * any, then share each core with one other worker.  When all CPUs have been dealt
 * out, dealing begins anew.
 */
#ifndef SLEY_CORE_SCHED_AFFINITY_H
#define SLEY_CORE_SCHED_AFFINITY_H

#include "base/compiler.h"

#include <sley/cpus.h>
#include <sley/runtime.h>

struct affinity {
	const char *root; /* in front of /sys, for tests             */
	const struct sley_config *config; /* .cpus may be used         */
	struct sley_cpus left; /* not dealt out yet                        */
	struct sley_cpus used; /* cores that have given a CPU in this round */
	int cursor;            /* of this round                            */
};

void affinity_init(struct affinity *affinity, const char *root,
		   const struct sley_config *config);

/* The next CPU to be dealt out. */
int affinity_deal(struct affinity *affinity);

/*
 * Where the next worker, @worker, may run: 1, and @out is set; 0: anywhere;
 * SLEY_ECPUS: nowhere.
 */
must_check int affinity_next(struct affinity *affinity, unsigned int worker,
			     struct sley_cpus *out);

#endif
