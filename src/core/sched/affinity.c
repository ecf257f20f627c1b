/* SPDX-License-Identifier: MIT */
/*
 * affinity.c - see affinity.h.
 *
 * A round visits each CPU once and asks the kernel for its core.  So dealing out
 * all CPUs takes as many looks as there are CPUs, times the threads of a core.
 */
#include "core/sched/affinity.h"

#include "os/cpus.h"

#include <sley/error.h>

void affinity_init(struct affinity *affinity, const char *root,
		   const struct sley_config *config)
{
	*affinity = (struct affinity){ .root = root, .config = config };
}

static void begin_round(struct affinity *affinity)
{
	affinity->used = (struct sley_cpus){ { 0 } };
	affinity->cursor = 0;
	if (!sley_cpus_count(&affinity->left))
		affinity->left = *affinity->config->cpus;
}

int affinity_deal(struct affinity *affinity)
{
	for (;;) {
		int cpu = sley_cpus_next(&affinity->left, affinity->cursor);
		int core;

		if (cpu < 0) {
			begin_round(affinity);
			continue;
		}
		affinity->cursor = cpu + 1;
		core = os_cpu_core(affinity->root, cpu);
		if (sley_cpus_has(&affinity->used, core))
			continue;
		(void)sley_cpus_add(&affinity->used, core);
		(void)sley_cpus_remove(&affinity->left, cpu);
		return cpu;
	}
}

int affinity_next(struct affinity *affinity, unsigned int worker,
		  struct sley_cpus *out)
{
	const struct sley_config *config = affinity->config;

	switch (config->placement) {
	case SLEY_PLACE_NONE:
		return 0;
	case SLEY_PLACE_ANY_OF:
		*out = *config->cpus;
		return 1;
	case SLEY_PLACE_ONE_OF:
		*out = (struct sley_cpus){ { 0 } };
		(void)sley_cpus_add(out, affinity_deal(affinity));
		return 1;
	default:
		*out = *config->cpus;
		config->place(config->hook_self, (int)worker, out);
		sley_cpus_intersect(out, config->cpus);
		return sley_cpus_count(out) ? 1 : SLEY_ECPUS;
	}
}
