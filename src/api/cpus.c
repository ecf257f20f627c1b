/* SPDX-License-Identifier: MIT */
/*
 * cpus.c - <sley/cpus.h>: what the kernel knows of the CPUs.
 */
#include <sley/cpus.h>

#include "os/cpus.h"

int sley_cpus_usable(struct sley_cpus *out)
{
	os_cpus_usable("", out);
	return sley_cpus_count(out);
}

int sley_cpus_topology(struct sley_cpu *out, size_t max)
{
	struct sley_cpus cpus;
	size_t nr = 0;

	os_cpus_usable("", &cpus);
	for (int cpu = sley_cpus_next(&cpus, 0); cpu >= 0 && nr < max;
	     cpu = sley_cpus_next(&cpus, cpu + 1))
		os_cpu_describe("", cpu, &out[nr++]);
	return sley_cpus_count(&cpus);
}
