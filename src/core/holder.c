/* SPDX-License-Identifier: MIT */
/*
 * holder.c - see holder.h.
 */
#include "core/holder.h"

#include "base/label.h"
#include "core/worker.h"
#include "lf/fork_stack.h"
#include "os/map.h"
#include "os/membarrier.h"
#include "os/symbol.h"
#include "os/text.h"
#include "os/thread.h"

#include <stdio.h>
#include <string.h>

#define HOLDER_TURNS (1ull << 62)

#ifndef SLEY_MODEL
struct sley_forks *holder_forks(void)
{
	static _Thread_local _Alignas(CACHE_LINE) struct sley_forks forks;

	if (unlikely(!forks.slot)) {
		fork_stack_init(&forks);
		forks.thread = (uint32_t)os_thread_id();
		forks.unlocked = HOLDER_TAKES_NONE;
	}
	return &forks;
}

static void make_known(struct sley_forks *forks)
{
	forks->unlocked = 0;
	sley_forks_current = forks;
}
#else /* the model says which threads are */
#define make_known(forks) ((void)(forks))
#endif

uint64_t holder_of_thread(void)
{
	if (unlikely(!sley__self.holder))
		sley__self.holder = (uintptr_t)holder_forks();
	return sley__self.holder;
}

/*
 * It is none of ours, and so it never serves a task: from now on the inline paths
 * know it, unless it is what it was before fork().
 */
static uint64_t plain_thread(void)
{
	struct sley_forks *forks = holder_forks();
	uint64_t holder = holder_of_thread();

	if (holder == (uintptr_t)forks)
		make_known(forks);
	return holder;
}

uint64_t holder_current(void)
{
	const struct strand *strand = strand_current();
	const struct worker *home;
	const struct sley_task *task;

	if (!strand)
		return plain_thread();
	/* relaxed: of base it never changes; else only its address counts. */
	home = load_relaxed(&strand->home);
	if (strand == &home->base)
		return home->holder;
	/* relaxed: the calling task, or NULL behind its end. */
	task = load_relaxed(&strand->task);
	if (task && (task_flags(task) & TASK_TURNS))
		return HOLDER_TURNS | (uintptr_t)task;
	return (uintptr_t)&strand->forks;
}

/* NULL: it has none, or the memory is gone. */
static const struct sley_forks *forks_of(uint64_t holder)
{
	const struct sley_forks *forks = (const void *)(uintptr_t)holder;

	if (holder & HOLDER_TURNS)
		return NULL;
	return os_is_mapped(forks) ? forks : NULL;
}

/* NULL: it is none, or its runtime is gone. */
static const struct strand *strand_of(uint64_t holder)
{
	const struct sley_forks *forks = forks_of(holder);

	if (!forks || forks->thread)
		return NULL;
	return container_of(forks, struct strand, forks);
}

bool holder_has_ended(uint64_t holder)
{
	const struct strand *strand = strand_of(holder);

	/* relaxed: a glance; what follows makes sure. */
	if (!strand || load_relaxed(&strand->task))
		return false;
	/* The store of a task that has just begun may be on its way. */
	os_membarrier();
	/* relaxed: the barrier is passed, and the caller keeps it locked. */
	return !load_relaxed(&strand->task);
}

/* ---- names ---------------------------------------------------------------------- */

static void describe_thread(char *out, size_t size, unsigned int id)
{
	char name[32];

	if (!os_text_read(name, sizeof(name), "/proc/self/task/%u/comm", id)) {
		(void)snprintf(out, size, "thread %u", id);
		return;
	}
	name[strcspn(name, "\n")] = '\0';
	(void)snprintf(out, size, "thread %u (%s)", id, name);
}

static void describe_code(char *out, size_t size, const void *label,
			  const void *code)
{
	const char *name = label_name(label);
	const void *place = label_place(label);
	char function[64], site[64];

	os_symbol(function, sizeof(function), code);
	if (name && os_is_mapped(name)) {
		(void)snprintf(out, size, "task \"%s\" (function %s)", name,
			       function);
		return;
	}
	if (!place) {
		(void)snprintf(out, size, "a task (function %s)", function);
		return;
	}
	os_symbol(site, sizeof(site), place);
	(void)snprintf(out, size, "a task (function %s, spawned at %s)",
		       function, site);
}

static void describe_strand(char *out, size_t size, const struct strand *strand)
{
	/* relaxed: last words; it may go on meanwhile. */
	const void *code = load_relaxed(&strand->fiber.code);

	/* relaxed: as above. */
	if (!load_relaxed(&strand->task) || !code)
		(void)snprintf(out, size, "a task that has ended");
	else
		/* relaxed: as above. */
		describe_code(out, size, load_relaxed(&strand->fiber.label),
			      code);
}

void holder_describe(char *out, size_t size, uint64_t holder)
{
	const struct sley_forks *forks = forks_of(holder);

	if (holder & HOLDER_TURNS)
		(void)snprintf(out, size, "a process");
	else if (!forks)
		(void)snprintf(out, size, "a task or thread that has ended");
	else if (forks->thread)
		describe_thread(out, size, forks->thread);
	else
		describe_strand(out, size,
				container_of(forks, struct strand, forks));
}
