/* SPDX-License-Identifier: MIT */
/*
 * cpus.c - see cpus.h.
 *
 * A core or a cache is known by its lowest CPU.  The kernel has numbers, too
 * (core_id), but these count anew in each package, or die, or cluster; the lists of
 * siblings are the same everywhere and need no table.  A list begins with its
 * lowest CPU, so the first number is enough, however long the list is.
 *
 * Rejected: the lists of CPUs of each memory node.  Where nodes alternate, the lists
 * have thousands of numbers and fit no small buffer.  Each CPU has a link to
 * its node; the link is found by trying.
 */
#include "os/cpus.h"

#include "os/fault.h"
#include "os/text.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Twice the most that a kernel for x86-64 can be built for.  A mask larger
 * than the kernel's own is fine, a smaller mask is an error, so one large mask
 * replaces a mask that grows until it fits.
 */
#define KERNEL_CPUS_MAX 16384

#define CPU_DIR "/sys/devices/system/cpu"
#define NODE_DIR "/sys/devices/system/node"

/* The caller may be a fiber: every frame here stays below a page. */
#define LIST_SIZE 1024

/* ---- sets --------------------------------------------------------------------- */

static void add_range(struct sley_cpus *cpus, uint64_t first, uint64_t last)
{
	while (first <= last && first < SLEY_CPUS_MAX)
		(void)sley_cpus_add(cpus, (int)first++);
}

bool os_cpus_parse(const char *text, struct sley_cpus *out)
{
	*out = (struct sley_cpus){ 0 };
	while (*text && *text != '\n') {
		uint64_t first, last;

		if (!os_text_number(&text, &first))
			return false;
		last = first;
		if (*text == '-') {
			text++;
			if (!os_text_number(&text, &last) || last < first)
				return false;
		}
		add_range(out, first, last);
		if (*text == ',')
			text++;
		else if (*text && *text != '\n')
			return false;
	}
	return true;
}

/* False also if the list is too long to be read as a whole. */
static bool read_list(struct sley_cpus *out, const char *root, const char *path)
{
	char text[LIST_SIZE];

	return os_text_read(text, sizeof(text), "%s%s", root, path) &&
	       strlen(text) < sizeof(text) - 1 && os_cpus_parse(text, out);
}

void os_cpus_drop_offline(const char *root, struct sley_cpus *cpus)
{
	struct sley_cpus online;

	if (!read_list(&online, root, CPU_DIR "/online"))
		return;
	sley_cpus_intersect(&online, cpus);
	if (sley_cpus_count(&online))
		*cpus = online;
}

/* Of the calling thread: new threads inherit the affinity. */
static bool read_affinity(struct sley_cpus *out)
{
	uint64_t mask[KERNEL_CPUS_MAX / 64] = { 0 };

	if (fault_errno("sched_getaffinity", EPERM, EINVAL) ||
	    sched_getaffinity(0, sizeof(mask), (cpu_set_t *)mask) < 0)
		return false;
	memcpy(out->word, mask, sizeof(out->word));
	return sley_cpus_count(out) > 0;
}

void os_cpus_usable(const char *root, struct sley_cpus *out)
{
	int saved = errno;
	long nr;

	*out = (struct sley_cpus){ 0 };
	if (!read_affinity(out)) {
		nr = fault_errno("sysconf", EINVAL)
			     ? -1
			     : sysconf(_SC_NPROCESSORS_ONLN);
		add_range(out, 0, nr > 1 ? (uint64_t)nr - 1 : 0);
	}
	os_cpus_drop_offline(root, out);
	errno = saved;
}

/* ---- shared cores and caches ---------------------------------------------------- */

/* The first number in a file about @cpu; @otherwise: there is no number. */
static int read_number(const char *root, int cpu, const char *name,
		       int otherwise)
{
	char text[32];
	const char *start = text;
	uint64_t number;

	if (!os_text_read(text, sizeof(text), "%s" CPU_DIR "/cpu%d/%s", root,
			  cpu, name) ||
	    !os_text_number(&start, &number) || number > INT32_MAX)
		return otherwise;
	return (int)number;
}

int os_cpu_core(const char *root, int cpu)
{
	int core = read_number(root, cpu, "topology/core_cpus_list", -1);

	if (core < 0) /* before Linux 5.3 */
		core = read_number(root, cpu, "topology/thread_siblings_list",
				   cpu);
	return core < SLEY_CPUS_MAX ? core : cpu;
}

/* A list about @cpu.  False: there is no list, or the list is too long. */
static bool read_cpu_list(struct sley_cpus *out, const char *root, int cpu,
			  const char *name)
{
	char path[96];

	(void)snprintf(path, sizeof(path), CPU_DIR "/cpu%d/%s", cpu, name);
	return read_list(out, root, path);
}

/* The name of the list of CPUs that share the cache of the highest level. */
static bool name_last_cache(const char *root, int cpu, char *out, size_t size)
{
	int highest = 0;
	char name[48];

	*out = '\0';
	for (int i = 0;; i++) {
		int level;

		(void)snprintf(name, sizeof(name), "cache/index%d/level", i);
		level = read_number(root, cpu, name, -1);
		if (level < 0)
			return *out;
		if (level >= highest) {
			(void)snprintf(out, size,
				       "cache/index%d/shared_cpu_list", i);
			highest = level;
		}
	}
}

static int lowest_of_cache(const char *root, int cpu)
{
	char name[48];

	if (!name_last_cache(root, cpu, name, sizeof(name)))
		return cpu;
	return read_number(root, cpu, name, cpu);
}

bool os_cpu_core_cpus(const char *root, int cpu, struct sley_cpus *out)
{
	return read_cpu_list(out, root, cpu, "topology/core_cpus_list") ||
	       read_cpu_list(out, root, cpu, "topology/thread_siblings_list");
}

bool os_cpu_cache_cpus(const char *root, int cpu, struct sley_cpus *out)
{
	char name[48];

	return name_last_cache(root, cpu, name, sizeof(name)) &&
	       read_cpu_list(out, root, cpu, name);
}

int os_cpu_current(void)
{
	return sched_getcpu();
}

int os_cpu_node(const char *root, int cpu)
{
	struct sley_cpus nodes; /* node numbers, as if of CPUs */
	char path[OS_PATH_SIZE];

	if (!read_list(&nodes, root, NODE_DIR "/online"))
		return 0;
	for (int i = sley_cpus_next(&nodes, 0); i >= 0;
	     i = sley_cpus_next(&nodes, i + 1)) {
		(void)snprintf(path, sizeof(path), "%s" CPU_DIR "/cpu%d/node%d",
			       root, cpu, i);
		if (!fault_errno("access", ENOENT, EACCES) &&
		    access(path, F_OK) == 0)
			return i;
	}
	return 0;
}

void os_cpu_describe(const char *root, int cpu, struct sley_cpu *out)
{
	int saved = errno;

	*out = (struct sley_cpu){
		.cpu = cpu,
		.core = os_cpu_core(root, cpu),
		.cache = lowest_of_cache(root, cpu),
		.node = os_cpu_node(root, cpu),
		.package = read_number(root, cpu,
				       "topology/physical_package_id", 0),
	};
	errno = saved;
}
