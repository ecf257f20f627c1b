/* SPDX-License-Identifier: MIT */
/*
 * doctor_probe.c - the probes of the doctor.
 */
#include "doctor.h"

#include "screen.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sley/sley.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define GUARD_INSTALL 102               /* MADV_GUARD_INSTALL, Linux 6.13 */
#define NONSENSE 0x5ee1                 /* an advice that there is not    */
#define MANY_STACKS ((size_t)256 << 30) /* a million of 256 KiB */

/* ---- what a probe says --------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void found(struct finding *out,
							const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(out->value, sizeof(out->value), format, args);
	va_end(args);
}

static void not_ok(struct finding *out, enum verdict verdict,
		   const char *effect, const char *fix)
{
	out->verdict = verdict;
	(void)snprintf(out->effect, sizeof(out->effect), "%s", effect);
	(void)snprintf(out->fix, sizeof(out->fix), "%s", fix);
}

/* The first line of a file; false: it cannot be read. */
static bool read_line(const char *path, char *line, int size)
{
	FILE *file = fopen(path, "re");
	bool good;

	if (!file)
		return false;
	good = fgets(line, size, file) != NULL;
	fclose(file);
	if (good)
		line[strcspn(line, "\n")] = '\0';
	return good;
}

/* The number in a file; -1: there is none. */
static long read_number(const char *path)
{
	char line[64];

	return read_line(path, line, sizeof(line)) ? strtol(line, NULL, 10)
						   : -1;
}

static void *map(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* What madvise() says to a page; 0 or an errno value. */
static int advise_page(int advice)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = map(size);
	int err;

	if (!page)
		return ENOMEM;
	err = madvise(page, size, advice) ? errno : 0;
	munmap(page, size);
	return err;
}

/* Like the library, this does not believe an emulator that says yes to all. */
static int advise_guard(void)
{
	return advise_page(NONSENSE) ? advise_page(GUARD_INSTALL) : ENOSYS;
}

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

/* ---- CPUs -------------------------------------------------------------------- */

/* What the library makes of it: it also knows the cgroup's quota. */
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

static void probe_cpus(struct finding *out)
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

/* Placing a worker on each is the only way to know that it may be done. */
static int try_placement(void)
{
	struct sley *rt;
	int err = sley_create(&rt, SLEY_CONFIG(.placement = SLEY_PLACE_ONE_OF));

	if (!err)
		(void)sley_destroy(rt);
	return err;
}

static void probe_placement(struct finding *out)
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
	found(out, "refused: %s", sley_strerror(err));
	not_ok(out, VERDICT_DEGRADED, "Workers cannot be kept on their CPUs.",
	       "allow sched_setaffinity in the seccomp profile");
}

/* ---- memory ------------------------------------------------------------------ */

static void probe_guards(struct finding *out)
{
	long mappings = read_number("/proc/sys/vm/max_map_count");
	int err = advise_guard();
	char effect[120];

	if (!err) {
		found(out, "MADV_GUARD_INSTALL");
		return;
	}
	found(out, "MADV_GUARD_INSTALL: %s", strerror(err));
	(void)snprintf(effect, sizeof(effect),
		       "A guard costs two mappings: about %ld fibers at most.",
		       mappings / 2);
	not_ok(out, VERDICT_DEGRADED, effect,
	       "run Linux 6.13 or newer, or: "
	       "sysctl -w vm.max_map_count=1048576");
}

static void probe_mappings(struct finding *out)
{
	long mappings = read_number("/proc/sys/vm/max_map_count");
	bool guards_are_mappings = advise_guard() != 0;

	found(out, "vm.max_map_count = %ld%s", mappings,
	      guards_are_mappings ? "" : ", and guards take none");
	if (guards_are_mappings && mappings >= 0 && mappings < 262144)
		not_ok(out, VERDICT_DEGRADED,
		       "Few fibers can be blocked at once: see guards.",
		       "sysctl -w vm.max_map_count=1048576");
}

static void probe_overcommit(struct finding *out)
{
	long mode = read_number("/proc/sys/vm/overcommit_memory");

	found(out, "vm.overcommit_memory = %ld", mode);
	if (mode == 2)
		not_ok(out, VERDICT_DEGRADED,
		       "Each fiber counts with its whole stack, touched or not.",
		       "sysctl -w vm.overcommit_memory=0");
}

static void probe_stacks(struct finding *out)
{
	void *memory = map(MANY_STACKS);

	if (memory) {
		munmap(memory, MANY_STACKS);
		found(out, "there is room for a million of 256 KiB");
		return;
	}
	found(out, "no room for a million of 256 KiB: %s", strerror(errno));
	not_ok(out, VERDICT_DEGRADED, "Fewer fibers can be blocked at once.",
	       "ulimit -v unlimited; sysctl -w vm.overcommit_memory=0");
}

static void probe_huge_pages(struct finding *out)
{
	char mode[64] = "unknown";
	int err = advise_page(MADV_NOHUGEPAGE);
	bool always;

	(void)read_line("/sys/kernel/mm/transparent_hugepage/enabled", mode,
			sizeof(mode));
	always = strstr(mode, "[always]") != NULL;
	found(out, "%s%s", mode, err ? "" : "; not for stacks");
	if (always && err)
		not_ok(out, VERDICT_DEGRADED,
		       "A stack may take 2 MiB of memory instead of 4 KiB.",
		       "echo madvise > "
		       "/sys/kernel/mm/transparent_hugepage/enabled");
}

/* ---- limits ------------------------------------------------------------------- */

static rlim_t limit_of(struct finding *out, int resource, const char *name,
		       rlim_t unit)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	char number[SCREEN_NUMBER_SIZE];

	(void)getrlimit((__rlimit_resource_t)resource, &limit);
	if (limit.rlim_cur == RLIM_INFINITY)
		found(out, "%s unlimited", name);
	else
		found(out, "%s %s%s", name,
		      screen_count(number, limit.rlim_cur / unit),
		      unit == 1 ? "" : " KiB");
	return limit.rlim_cur;
}

static void probe_address_space(struct finding *out)
{
	rlim_t limit = limit_of(out, RLIMIT_AS, "RLIMIT_AS", 1024);
	char effect[120];

	if (limit == RLIM_INFINITY)
		return;
	(void)snprintf(effect, sizeof(effect),
		       "At most %llu fibers of 256 KiB fit in.",
		       (unsigned long long)(limit >> 18));
	not_ok(out, VERDICT_DEGRADED, effect, "ulimit -v unlimited");
}

static void probe_processes(struct finding *out)
{
	rlim_t limit = limit_of(out, RLIMIT_NPROC, "RLIMIT_NPROC", 1);

	if (limit != RLIM_INFINITY &&
	    limit < 4 * (rlim_t)sysconf(_SC_NPROCESSORS_ONLN))
		not_ok(out, VERDICT_DEGRADED,
		       "A runtime may not get all its worker threads.",
		       "ulimit -u 4096");
}

static void probe_thread_stack(struct finding *out)
{
	rlim_t limit = limit_of(out, RLIMIT_STACK, "RLIMIT_STACK", 1024);

	if (limit < 65536)
		not_ok(out, VERDICT_DEGRADED,
		       "Threads get small stacks (fibers have their own).",
		       "ulimit -s 8192");
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
		uint64_t deadline_ns = sley_now() + SLEY_MSEC;
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
	{ "CPUs", probe_cpus },
	{ "placement", probe_placement },
	{ "futex", probe_futex },
	{ "membarrier", probe_membarrier },
	{ "guards", probe_guards },
	{ "mappings", probe_mappings },
	{ "overcommit", probe_overcommit },
	{ "stacks", probe_stacks },
	{ "huge pages", probe_huge_pages },
	{ "address space", probe_address_space },
	{ "threads", probe_processes },
	{ "thread stack", probe_thread_stack },
	{ "clock", probe_clock },
	{ "timers", probe_timers },
	{ "sley", probe_sley },
	{ NULL, NULL },
};
