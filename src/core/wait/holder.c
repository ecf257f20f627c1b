/* SPDX-License-Identifier: MIT */
/*
 * holder.c - see holder.h.
 */
#include "core/wait/holder.h"

#include "base/label.h"
#include "core/sched/worker.h"
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
#else /* the model says which threads are known */
#define make_known(forks) ((void)(forks))
#endif

uint64_t holder_of_thread(void)
{
	if (unlikely(!sley__self.holder))
		sley__self.holder = (uintptr_t)holder_forks();
	return sley__self.holder;
}

/*
 * The caller is no thread of ours, and so never serves a task: from now on the
 * inline paths know the thread, unless the thread kept its identity from before
 * fork().
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
	/* The home of base never changes; else only its address counts. */
	home = strand_home(strand);
	if (strand == &home->base)
		return home->holder;
	/* The calling task, or NULL after the end of the task. */
	task = strand_task(strand);
	if (task && (task_flags(task) & TASK_TURNS))
		return HOLDER_TURNS | (uintptr_t)task;
	return (uintptr_t)&strand->forks;
}

struct sley_task *holder_task(uint64_t holder)
{
	struct sley_forks *forks = (void *)(uintptr_t)holder;

	if (holder & HOLDER_TURNS)
		return (void *)(uintptr_t)(holder & ~HOLDER_TURNS);
	if (!holder || forks->thread)
		return NULL;
	return strand_task(container_of(forks, struct strand, forks));
}

/* ---- inspecting a holder ------------------------------------------------------- */

/*
 * All reads are made as by a debugger: the runtime may be gone, with its memory,
 * or the thread, with its own.  Memory that was reused since does not point at
 * itself.
 */
#define PEEK(out, where) os_peek(out, where, sizeof(*(out)))

static const struct sley_forks *forks_of(uint64_t holder)
{
	return (const void *)(uintptr_t)holder;
}

/* 0: the holder is no thread, or the thread is gone. */
static uint32_t thread_of(uint64_t holder)
{
	const struct sley_forks *forks = forks_of(holder);
	struct sley_forked **slot;
	uint32_t id;

	if ((holder & HOLDER_TURNS) || !PEEK(&slot, &forks->slot) ||
	    slot != forks->first || !PEEK(&id, &forks->thread))
		return 0;
	return id;
}

/* False: the holder is no strand, or its runtime is gone. */
static bool task_of(uint64_t holder, const struct sley_task **task)
{
	const struct strand *strand =
		container_of(forks_of(holder), struct strand, forks);
	void *arg;

	return !(holder & HOLDER_TURNS) && PEEK(&arg, &strand->fiber.arg) &&
	       arg == strand && PEEK(task, &strand->task);
}

bool holder_has_ended(uint64_t holder)
{
	const struct sley_task *task;

	if (!task_of(holder, &task) || task)
		return false;
	/*
	 * The store of a task that has just begun may be on its way.  Where that
	 * cannot be told, a holder that has ended is not reported.
	 */
	if (!os_membarrier_setup())
		return false;
	os_membarrier();
	return task_of(holder, &task) && !task;
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

/* The copy is cut off where the text is too long, or is not mapped. */
static void copy_text(char *out, size_t size, const char *text)
{
	size_t i = 0;

	while (i + 1 < size && os_peek(&out[i], &text[i], 1) && out[i])
		i++;
	out[i] = '\0';
}

/* @name: of the label, if the label is a name. */
static void describe_code(char *out, size_t size, const void *label,
			  const char *name, const void *code)
{
	const void *place = label_place(label);
	char function[64], other[64];

	os_symbol(function, sizeof(function), code);
	if (place) {
		os_symbol(other, sizeof(other), place);
		(void)snprintf(out, size, "a task (function %s, spawned at %s)",
			       function, other);
	} else if (label) {
		(void)snprintf(out, size, "task \"%s\" (function %s)", name,
			       function);
	} else {
		(void)snprintf(out, size, "a task (function %s)", function);
	}
}

static void describe_strand(char *out, size_t size, const struct strand *strand)
{
	const void *code, *label;
	char name[64] = "";

	if (!PEEK(&code, &strand->fiber.code) || !code ||
	    !PEEK(&label, &strand->fiber.label)) {
		(void)snprintf(out, size, "a task");
		return;
	}
	if (label && !label_place(label))
		copy_text(name, sizeof(name), label_name(label));
	describe_code(out, size, label, name, code);
}

/*
 * The calling task: its strand is there, so that the name can be told also where the
 * kernel or an emulator has no way to read as a debugger does.
 */
static void describe_self(char *out, size_t size, const struct strand *strand)
{
	const void *label = strand->fiber.label;
	char name[64] = "";

	if (label && !label_place(label))
		(void)snprintf(name, sizeof(name), "%s", label_name(label));
	describe_code(out, size, label, name, strand->fiber.code);
}

void holder_describe(char *out, size_t size, uint64_t holder)
{
	const struct strand *self = strand_current();
	const struct sley_task *task;
	uint32_t thread = thread_of(holder);

	if (holder & HOLDER_TURNS)
		(void)snprintf(out, size, "a process");
	else if (self && forks_of(holder) == &self->forks && self->task)
		describe_self(out, size, self);
	else if (thread)
		describe_thread(out, size, thread);
	else if (task_of(holder, &task) && task)
		describe_strand(out, size,
				container_of(forks_of(holder), struct strand,
					     forks));
	else
		(void)snprintf(out, size, "a task that has ended");
}

void holder_misuse(const char *function, const char *rule, uint64_t holder)
{
	char name[160], line[320];

	holder_describe(name, sizeof(name), holder);
	(void)snprintf(line, sizeof(line), rule, name);
	sley__misuse(function, line);
}
