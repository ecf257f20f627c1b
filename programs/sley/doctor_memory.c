/* SPDX-License-Identifier: MIT */
/*
 * doctor_memory.c - probes of the doctor: address space, stacks, memory.
 */
#include "doctor.h"

#include "screen.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define GUARD_INSTALL 102               /* MADV_GUARD_INSTALL, Linux 6.13 */
#define NONSENSE 0x5ee1                 /* an advice that does not exist  */
#define MANY_STACKS ((size_t)256 << 30) /* a million stacks of 256 KiB */

static void *map(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* The answer of madvise() for one page: 0 or an errno value. */
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

/* Like the library, distrust an emulator that accepts every advice. */
static int advise_guard(void)
{
	return advise_page(NONSENSE) ? advise_page(GUARD_INSTALL) : ENOSYS;
}

/* Shares of vm.max_map_count; the program itself needs some mappings, too. */
#define PER_GUARD 2
#define FEW_MAPPINGS 2048
#define MANY_MAPPINGS 262144

void probe_guards(struct finding *out)
{
	long mappings = read_number("/proc/sys/vm/max_map_count");
	int err = advise_guard();
	char effect[120] = "A guard costs two mappings: see there.";

	if (!err) {
		found(out, "MADV_GUARD_INSTALL");
		return;
	}
	found(out, "MADV_GUARD_INSTALL: %s; mprotect instead", strerror(err));
	if (mappings >= 0)
		(void)snprintf(effect, sizeof(effect),
			       "A guard costs two mappings: about %ld fibers "
			       "at most.",
			       mappings / PER_GUARD);
	not_ok(out, VERDICT_DEGRADED, effect,
	       "run Linux 6.13 or newer, or: "
	       "sysctl -w vm.max_map_count=1048576");
}

void probe_mappings(struct finding *out)
{
	long mappings = read_number("/proc/sys/vm/max_map_count");
	bool guards_are_mappings = advise_guard() != 0;

	if (mappings < 0) {
		found(out, "vm.max_map_count is not known");
		return;
	}
	found(out, "vm.max_map_count = %ld%s", mappings,
	      guards_are_mappings ? "" : ", and guards take none");
	if (guards_are_mappings && mappings < MANY_MAPPINGS)
		not_ok(out, VERDICT_DEGRADED,
		       "Few fibers can be blocked at once: see guards.",
		       "sysctl -w vm.max_map_count=1048576");
	else if (mappings < FEW_MAPPINGS)
		not_ok(out, VERDICT_DEGRADED,
		       "Few threads and little memory can be had: each takes "
		       "mappings.",
		       "sysctl -w vm.max_map_count=65530");
}

void probe_overcommit(struct finding *out)
{
	long mode = read_number("/proc/sys/vm/overcommit_memory");

	if (mode < 0) {
		found(out, "vm.overcommit_memory is not known");
		return;
	}
	found(out, "vm.overcommit_memory = %ld", mode);
	if (mode == 2)
		not_ok(out, VERDICT_DEGRADED,
		       "Each fiber counts with its whole stack, touched or not.",
		       "sysctl -w vm.overcommit_memory=0");
}

void probe_stacks(struct finding *out)
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

void probe_huge_pages(struct finding *out)
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

/* ---- limits ---------------------------------------------------------------------- */

#define STACK_SIZE ((uint64_t)256 << 10)
#define FIBER_SIZE ((uint64_t)4608) /* after a wait with a shallow stack */
#define MANY_FIBERS 100000

void probe_address_space(struct finding *out)
{
	uint64_t limit = read_limit(out, RLIMIT_AS, "RLIMIT_AS", 1024);
	char effect[120];

	if (limit == NO_LIMIT)
		return;
	(void)snprintf(effect, sizeof(effect),
		       "At most %llu fibers of 256 KiB fit in.",
		       (unsigned long long)(limit / STACK_SIZE));
	not_ok(out, VERDICT_DEGRADED, effect, "ulimit -v unlimited");
}

void probe_memory(struct finding *out)
{
	uint64_t limit =
		read_cgroup("memory", "memory.max", "memory.limit_in_bytes");
	char number[SCREEN_NUMBER_SIZE], effect[120];
	uint64_t fibers = limit / FIBER_SIZE;

	if (limit == NO_LIMIT) {
		found(out, "no limit by a cgroup");
		return;
	}
	found(out, "the cgroup has %s KiB", screen_count(number, limit >> 10));
	if (fibers >= MANY_FIBERS)
		return;
	(void)snprintf(effect, sizeof(effect),
		       "About %s fibers can be blocked at once; then the "
		       "process is killed.",
		       screen_count(number, fibers));
	not_ok(out, VERDICT_DEGRADED, effect,
	       "raise memory.max of the cgroup, or docker run --memory");
}
