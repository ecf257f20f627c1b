/* SPDX-License-Identifier: MIT */
/*
 * doctor_cpus.c - probes of the doctor: CPUs and threads.
 */
#include "doctor.h"

#include <sched.h>
#include <sley/sley.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Ask the library: the library also knows the quota of the cgroup. */
static int count_workers(void)
{
	struct sley *rt;
	int nr;

	if (sley_create(&rt, NULL))
		return 0;
	nr = sley_nr_workers(rt);
	(void)sley_destroy(rt);
	return nr;
}

void probe_cpus(struct finding *out)
{
	int online = (int)sysconf(_SC_NPROCESSORS_ONLN);
	struct sley_cpus cpus;
	int allowed = sley_cpus_usable(&cpus);
	int workers = count_workers();
	char quota[48] = "no cgroup quota";
	char fix[96] = "echo max > /sys/fs/cgroup/PATH/cpu.max, or docker run "
		       "--cpus N";

	if (workers && workers < allowed)
		(void)snprintf(quota, sizeof(quota), "cgroup quota of %d",
			       workers);
	found(out, "%d online, %d in the affinity mask, %s", online, allowed,
	      quota);
	if (workers != 1 || online == 1)
		return;
	if (allowed == 1)
		(void)snprintf(fix, sizeof(fix),
			       "taskset --cpu-list 0-%d PROGRAM", online - 1);
	not_ok(out, VERDICT_DEGRADED, "One worker: nothing runs in parallel.",
	       fix);
}

/* How many different values @field has; all fields are int32_t. */
static int count_distinct(const struct sley_cpu *cpu, int nr, size_t field)
{
	struct sley_cpus seen = { { 0 } };

	for (int i = 0; i < nr; i++) {
		int32_t value;

		memcpy(&value, (const char *)&cpu[i] + field, sizeof(value));
		(void)sley_cpus_add(&seen, value);
	}
	return sley_cpus_count(&seen);
}

/* Only placing a worker on each CPU shows that placing is allowed. */
static int try_placement(void)
{
	struct sley *rt;
	int err = sley_create(&rt, SLEY_CONFIG(.placement = SLEY_PLACE_ONE_OF));

	if (!err)
		(void)sley_destroy(rt);
	return err;
}

void probe_placement(struct finding *out)
{
	static struct sley_cpu cpu[SLEY_CPUS_MAX];
	int nr = sley_cpus_topology(cpu, SLEY_CPUS_MAX);
	int err = try_placement();

	found(out, "usable: %d CPU(s), %d core(s), %d cache(s), %d node(s)", nr,
	      count_distinct(cpu, nr, offsetof(struct sley_cpu, core)),
	      count_distinct(cpu, nr, offsetof(struct sley_cpu, cache)),
	      count_distinct(cpu, nr, offsetof(struct sley_cpu, node)));
	if (!err)
		return;
	if (!count_workers()) {
		found(out, "not tried: there is no runtime to be had");
		return; /* see the last line */
	}
	found(out, "refused: %s", sley_strerror(err));
	not_ok(out, VERDICT_DEGRADED, "Workers cannot be kept on their CPUs.",
	       "allow sched_setaffinity in the seccomp profile");
}

/* ---- against other programs --------------------------------------------------- */

void probe_priority(struct finding *out)
{
	int nice = getpriority(PRIO_PROCESS, 0);
	int policy = sched_getscheduler(0);
	bool behind = policy == SCHED_BATCH || policy == SCHED_IDLE;

	found(out, "nice %d%s", nice,
	      policy == SCHED_IDLE    ? ", SCHED_IDLE"
	      : policy == SCHED_BATCH ? ", SCHED_BATCH"
				      : "");
	if (nice > 0 || behind)
		not_ok(out, VERDICT_DEGRADED,
		       "Beside busy programs, wake-ups and timeouts come late.",
		       "start it without nice and chrt");
}

/* ---- threads ---------------------------------------------------------------------- */

void probe_threads(struct finding *out)
{
	uint64_t limit = read_limit(out, RLIMIT_NPROC, "RLIMIT_NPROC", 1);
	uint64_t pids = read_cgroup("pids", "pids.max", "pids.max");
	uint64_t few = 4 * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);

	if (pids < limit)
		found(out, "pids.max of the cgroup %llu",
		      (unsigned long long)pids);
	if (limit < few || pids < few)
		not_ok(out, VERDICT_DEGRADED,
		       "A runtime may not get all its worker threads.",
		       pids < limit ? "raise pids.max of the cgroup"
				    : "ulimit -u 4096");
}

#define THREAD_STACK_SMALL ((uint64_t)64 << 10)
#define THREAD_STACK_LARGE ((uint64_t)1 << 30)

void probe_thread_stack(struct finding *out)
{
	uint64_t limit = read_limit(out, RLIMIT_STACK, "RLIMIT_STACK", 1024);

	if (limit < THREAD_STACK_SMALL)
		not_ok(out, VERDICT_DEGRADED,
		       "Threads get small stacks (fibers have their own).",
		       "ulimit -s 8192");
	else if (limit > THREAD_STACK_LARGE && limit != NO_LIMIT)
		not_ok(out, VERDICT_DEGRADED,
		       "Each thread takes as much address space.",
		       "ulimit -s 8192");
}
