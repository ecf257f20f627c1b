/* SPDX-License-Identifier: MIT */
/*
 * doctor_probe.c - the list of all probes, and the probes of the kernel, of time
 * and of the library itself.
 */
#include "doctor.h"

#include "screen.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sley/sley.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---- kernel ---------------------------------------------------------------- */

static void probe_kernel(struct finding *out)
{
	struct utsname name;

	if (uname(&name)) {
		found(out, "unknown");
		return;
	}
	found(out, "%s %s, %s", name.sysname, name.release, name.machine);
}

static void probe_futex(struct finding *out)
{
	const struct timespec past = { 0, 0 };
	uint32_t word = 0;
	long result = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0,
			      &past, NULL, FUTEX_BITSET_MATCH_ANY);

	if (result == -1 && errno == ETIMEDOUT) {
		found(out, "waits with an absolute deadline");
		return;
	}
	found(out, "refused: %s", strerror(errno));
	not_ok(out, VERDICT_BROKEN, "Idle workers cannot sleep.",
	       "allow futex in the seccomp profile of the container");
}

static void probe_membarrier(struct finding *out)
{
	long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	if (commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) &&
	    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED,
		    0, 0) == 0 &&
	    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) ==
		    0) {
		found(out, "private, expedited");
		return;
	}
	found(out, "not available: %s",
	      commands < 0 ? strerror(errno) : "no expedited form");
	not_ok(out, VERDICT_DEGRADED,
	       "Each spawn and each wake-up pays for a memory fence.",
	       "run Linux 4.14 or newer; allow it in the seccomp profile");
}

static void probe_mounts(struct finding *out)
{
	bool proc = access("/proc/self/cgroup", R_OK) == 0;
	bool sys = access("/sys/devices/system/cpu", R_OK) == 0;

	if (proc && sys) {
		found(out, "/proc and /sys are there");
		return;
	}
	found(out, "%s not mounted",
	      proc  ? "/sys is"
	      : sys ? "/proc is"
		    : "/proc and /sys are");
	not_ok(out, VERDICT_DEGRADED,
	       "Quotas of cgroups, cores and caches are not seen: there may be "
	       "too many workers.",
	       "mount -t proc proc /proc; mount -t sysfs sysfs /sys");
}

static void probe_files(struct finding *out)
{
	char number[SCREEN_NUMBER_SIZE];
	uint64_t limit = read_limit(out, RLIMIT_NOFILE, "RLIMIT_NOFILE", 1);

	found(out,
	      "RLIMIT_NOFILE %s; a runtime that waits for descriptors keeps a few",
	      limit == NO_LIMIT ? "unlimited" : screen_count(number, limit));
}

/* ---- time ----------------------------------------------------------------------- */

#define CLOCK_ROUNDS 1000
#define CLOCK_SLOW_NS 250.0

static double clock_cost_ns(void)
{
	double best = 1e9;

	for (int i = 0; i < 5; i++) {
		uint64_t start_ns = sley_now();
		double cost;

		for (int j = 0; j < CLOCK_ROUNDS; j++)
			(void)sley_now();
		cost = (double)(sley_now() - start_ns) / CLOCK_ROUNDS;
		best = cost < best ? cost : best;
	}
	return best;
}

static void probe_clock(struct finding *out)
{
	char source[64] = "unknown";
	char cost[SCREEN_NUMBER_SIZE];
	double ns = clock_cost_ns();

	(void)read_line("/sys/devices/system/clocksource/clocksource0/"
			"current_clocksource",
			source, sizeof(source));
	found(out, "%s, %s a look", source, screen_time(cost, ns));
	if (ns > CLOCK_SLOW_NS)
		not_ok(out, VERDICT_DEGRADED,
		       "Each deadline and each idle moment costs a system call.",
		       "echo tsc > /sys/devices/system/clocksource/clocksource0/"
		       "current_clocksource");
}

static void probe_timers(struct finding *out)
{
	uint64_t best_ns = UINT64_MAX;
	char late[SCREEN_NUMBER_SIZE];

	for (int i = 0; i < 5; i++) {
		uint64_t deadline_ns = sley_after(SLEY_MSEC);
		uint64_t late_ns;

		(void)sley_sleep_until(deadline_ns);
		late_ns = sley_now() - deadline_ns;
		best_ns = late_ns < best_ns ? late_ns : best_ns;
	}
	found(out, "a sleep of 1 ms ends %s late",
	      screen_time(late, (double)best_ns));
	if (best_ns > SLEY_MSEC)
		not_ok(out, VERDICT_DEGRADED, "Timeouts come late by as much.",
		       "boot a kernel with CONFIG_HIGH_RES_TIMERS, without "
		       "highres=off");
}

/* ---- the library itself ---------------------------------------------------------- */

#define NR_TASKS 100

static void block_once(void *arg)
{
	(void)sley_sleep(SLEY_USEC);
	atomic_fetch_add((atomic_int *)arg, 1);
}

static void block_all(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[NR_TASKS];

	for (int i = 0; i < NR_TASKS; i++)
		sley_spawn(&group, &task[i], block_once, arg);
	sley_join(&group);
}

static const char *fix_for(int err)
{
	if (err == -EAGAIN) /* threads, or memory for their stacks */
		return "ulimit -u 4096; ulimit -v unlimited; raise pids.max";
	if (err == -ENOMEM)
		return "ulimit -v unlimited";
	if (err == -EPERM) /* after EPERM the C library does not try clone */
		return "let clone3 fail with ENOSYS, not EPERM, in the seccomp "
		       "profile";
	return "see above; if all is ok there, please report this";
}

static void probe_sley(struct finding *out)
{
	atomic_int nr_done = 0;
	int err = sley_run(NULL, block_all, &nr_done);

	if (!err && nr_done == NR_TASKS) {
		found(out, "started, ran %d tasks that block, stopped",
		      NR_TASKS);
		return;
	}
	if (err)
		found(out, "does not start: %s", sley_strerror(err));
	else
		found(out, "only %d of %d tasks ran", nr_done, NR_TASKS);
	not_ok(out, VERDICT_BROKEN, "Nothing runs.", fix_for(err));
}

const struct probe doctor_probes[] = {
	{ "kernel", probe_kernel },
	{ "mounts", probe_mounts },
	{ "CPUs", probe_cpus },
	{ "placement", probe_placement },
	{ "priority", probe_priority },
	{ "slices", probe_slices },
	{ "lowering", probe_lowering },
	{ "futex", probe_futex },
	{ "many words", probe_many_words },
	{ "membarrier", probe_membarrier },
	{ "io_uring", probe_io_uring },
	{ "io", probe_io },
	{ "guards", probe_guards },
	{ "mappings", probe_mappings },
	{ "overcommit", probe_overcommit },
	{ "stacks", probe_stacks },
	{ "huge pages", probe_huge_pages },
	{ "memory", probe_memory },
	{ "address space", probe_address_space },
	{ "threads", probe_threads },
	{ "thread stack", probe_thread_stack },
	{ "files", probe_files },
	{ "clock", probe_clock },
	{ "timers", probe_timers },
	{ "sley", probe_sley },
	{ NULL, NULL },
};
