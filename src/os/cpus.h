/* SPDX-License-Identifier: MIT */
/*
 * cpus.h - which CPUs there are, which of them may be used, and what they
 * share.
 *
 * @root is put in front of /sys; tests bring their own tree.
 */
#ifndef SLEY_OS_CPUS_H
#define SLEY_OS_CPUS_H

#include "base/compiler.h"

#include <sley/cpus.h>

/*
 * The kernel's lists: "0-3,8" is five CPUs, and an empty text is no CPU.  Numbers
 * that no set has room for are passed over.  False: @text is no list.
 */
must_check bool os_cpus_parse(const char *text, struct sley_cpus *out);

/* Take out offline CPUs, unless that would leave nothing. */
void os_cpus_drop_offline(const char *root, struct sley_cpus *cpus);

/* The CPUs that the calling thread may use: at least one. */
void os_cpus_usable(const char *root, struct sley_cpus *out);

/* The lowest CPU of the core of @cpu. */
int os_cpu_core(const char *root, int cpu);

/* All CPUs of the core of @cpu, and all that share the last-level cache of @cpu. */
must_check bool os_cpu_core_cpus(const char *root, int cpu,
				 struct sley_cpus *out);
must_check bool os_cpu_cache_cpus(const char *root, int cpu,
				  struct sley_cpus *out);

/* The memory node of @cpu; 0 if the kernel has no nodes. */
int os_cpu_node(const char *root, int cpu);

/* The CPU of the calling thread, this very moment; negative: unknown. */
int os_cpu_current(void);

/* All about @cpu. */
void os_cpu_describe(const char *root, int cpu, struct sley_cpu *out);

#endif
