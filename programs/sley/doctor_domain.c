/* SPDX-License-Identifier: MIT */
/*
 * doctor_domain.c - probes of the doctor: the kernel's help for processes that share the
 * cores under one order of priorities.
 *
 * The same questions as in src/os/sched_attr.c and src/os/futex.c, asked of the kernel
 * itself.  Each question changes a process of its own, which then ends.
 */
#include "doctor.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

#define SLICE_NS 100000u
#define NICE_LOWEST 19

/* struct sched_attr of the kernel. */
struct attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime; /* the slice */
	uint64_t deadline;
	uint64_t period;
};

enum answer { YES, NO, REFUSED, NOT_TRIED };

/* What @question returns in a child, whose attributes nobody needs afterwards. */
static enum answer ask_in_child(enum answer (*question)(void))
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return NOT_TRIED;
	if (!pid)
		_exit((int)question());
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return NOT_TRIED;
	return (enum answer)WEXITSTATUS(status);
}

/* ---- slices ---------------------------------------------------------------------- */

static enum answer has_slices(void)
{
	struct attributes wanted = {
		.size = sizeof(wanted),
		.policy = SCHED_BATCH,
		.nice = getpriority(PRIO_PROCESS, 0),
		.runtime = SLICE_NS,
	};
	struct attributes got = { .size = sizeof(got) };

	if (syscall(SYS_sched_setattr, 0, &wanted, 0) ||
	    syscall(SYS_sched_getattr, 0, &got, sizeof(got), 0))
		return REFUSED;
	return got.runtime == SLICE_NS ? YES : NO;
}

#define LATE                                                                   \
	"In a domain, urgent tasks wait for milliseconds beside tasks of "     \
	"others that do not yield."

void probe_slices(struct finding *out)
{
	switch (ask_in_child(has_slices)) {
	case YES:
		found(out, "SCHED_BATCH and slices from 0.1 to 100 ms");
		break;
	case NO:
		found(out, "SCHED_BATCH, but no slices");
		not_ok(out, VERDICT_DEGRADED, LATE, "run Linux 6.12 or newer");
		break;
	case REFUSED:
		found(out, "sched_setattr refused");
		not_ok(out, VERDICT_DEGRADED, LATE,
		       "allow sched_setattr in the seccomp profile");
		break;
	case NOT_TRIED:
		found(out, "not tried: there is no process to be had");
		break;
	}
}

/* ---- lowering --------------------------------------------------------------------- */

static enum answer may_restore(void)
{
	int before = getpriority(PRIO_PROCESS, 0);

	if (setpriority(PRIO_PROCESS, 0, NICE_LOWEST))
		return REFUSED;
	/* From 19, a value before of 19 shows nothing. */
	if (before == NICE_LOWEST)
		before--;
	return setpriority(PRIO_PROCESS, 0, before) ? NO : YES;
}

/* Automatic groups: the nice value counts among the threads of one session. */
static bool has_sessions_apart(void)
{
	return read_number("/proc/sys/kernel/sched_autogroup_enabled") == 1;
}

/* Of a host with the rights of the caller.  No verdict: slices need no privilege. */
void probe_lowering(struct finding *out)
{
	switch (ask_in_child(may_restore)) {
	case YES:
		found(out, "on: may restore nice values%s",
		      has_sessions_apart()
			      ? "; they count within a session alone"
			      : "");
		break;
	case NO:
		found(out, "off: would be for ever without CAP_SYS_NICE");
		break;
	case REFUSED:
		found(out, "off: setpriority refused");
		break;
	case NOT_TRIED:
		found(out, "not tried: there is no process to be had");
		break;
	}
}

/* ---- many words --------------------------------------------------------------------- */

void probe_many_words(struct finding *out)
{
	const struct timespec past = { 0, 0 };
	uint32_t word = 0;
	const struct {
		uint64_t expected, word;
		uint32_t flags, zero;
	} words = { .word = (uint64_t)(uintptr_t)&word, .flags = 2 };
	long result =
		syscall(SYS_futex_waitv, &words, 1, 0, &past, CLOCK_MONOTONIC);

	if (result == -1 && errno == ETIMEDOUT) {
		found(out, "a sleeper hears all processes of its domain");
		return;
	}
	found(out, "futex_waitv: %s", strerror(errno));
	not_ok(out, VERDICT_DEGRADED,
	       "In a domain, a worker that waits for a core of another process "
	       "learns of it on a tick.",
	       "run Linux 5.16 or newer; allow it in the seccomp profile");
}
