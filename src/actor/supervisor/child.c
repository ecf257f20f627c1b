/* SPDX-License-Identifier: MIT */
/*
 * child.c - see child.h.
 */
#include "actor/supervisor/child.h"

#include "base/assert.h"
#include "base/options.h"
#include "os/clock.h"

#include <errno.h>

#include <sley/time.h>

#define SHUTDOWN_NS (5 * SLEY_SEC)
#define PAUSE_MAX_NS (90 * SLEY_SEC)
#define PAUSE_UNSTARTED_NS SLEY_MSEC

struct child *child_create(struct mem *mem, const struct sley_child *spec)
{
	struct child *child = mem_alloc(mem, sizeof(*child));

	if (!child)
		return NULL;
	list_init(&child->order);
	child->spec = *spec;
	reminder_init(&child->reminder);
	return child;
}

void child_free(struct child *child, struct mem *mem)
{
	mail_free_all(&child->removers);
	intensity_fini(&child->restarts, mem);
	mem_free(mem, child, sizeof(*child));
}

/* ---- start and end ------------------------------------------------------------ */

static int supervise(sley_pid *pid, const struct sley_child *spec,
		     const struct sley_process_options *process)
{
	struct sley_supervisor_options options;
	int err = options_take(&options, spec->supervisor);

	if (err)
		return err;
	options.size = sizeof(options);
	options.process = process;
	return sley_supervise(pid, &options, spec->children, spec->nr_children);
}

/* The options of the child: a supervisor has some in its own options, too. */
static const struct sley_process_options *
given_options(const struct sley_child *spec)
{
	if (!spec->options && spec->supervisor)
		return spec->supervisor->process;
	return spec->options;
}

int child_start(struct child *child)
{
	const struct sley_child *spec = &child->spec;
	struct sley_process_options options;
	sley_pid pid = SLEY_NO_PID;
	int err = options_take(&options, given_options(spec));

	sley_assert(!child_lives(child));
	if (err)
		return err;
	options.size = sizeof(options);
	options.link = true;
	options.monitor = &child->monitor;
	if (spec->name) {
		options.name = spec->count > 1 ? NULL : spec->name;
		options.label = spec->name;
	}
	if (spec->fn)
		err = sley_actor_spawn(&pid, spec->fn, spec->arg, &options);
	else if (spec->behaviour)
		err = sley_process_spawn(&pid, spec->behaviour, spec->input,
					 spec->input_size, &options);
	else
		err = supervise(&pid, spec, &options);
	if (err)
		return err;
	child->pid = pid;
	if (!child->first)
		child->first = pid;
	child->state = CHILD_ALIVE;
	child->start_ns = os_now();
	return 0;
}

/* A supervisor gives its children their time itself. */
static uint64_t time_to_end(const struct sley_child *spec)
{
	if (spec->shutdown_ns)
		return spec->shutdown_ns;
	return spec->fn || spec->behaviour ? SHUTDOWN_NS : SLEY_FOREVER;
}

bool child_end(struct child *child, struct list *late)
{
	uint64_t time_ns = time_to_end(&child->spec);
	uint64_t now_ns = os_now();

	sley_assert(child->state == CHILD_ALIVE);
	child->state = CHILD_ENDING;
	if (sley_process_cancel(child->pid, -ECANCELED) == -ENOMEM) {
		child_kill(child);
		return false;
	}
	if (time_ns < SLEY_FOREVER - now_ns)
		reminder_set(&child->reminder, REMINDER_KILL, now_ns + time_ns,
			     late);
	return true;
}

void child_kill(struct child *child)
{
	/* Whether @child is still there or not: SLEY_DOWN comes. */
	(void)sley_process_kill(child->pid);
}

void child_ended(struct child *child)
{
	sley_assert(child_lives(child));
	reminder_clear(&child->reminder);
	child->state = CHILD_IDLE;
}

/* ---- pauses --------------------------------------------------------------------- */

/* @ns, a tenth more or less. */
static uint64_t shake(uint64_t ns, struct rand *rand)
{
	/* In parts of 1024: 922 is 0.9, 205 is the width. */
	return ns / 1024 * (922 + rand_below(rand, 205)) + ns % 1024;
}

uint64_t child_next_pause(struct child *child, bool started, uint64_t now_ns,
			  uint64_t stable_ns, struct rand *rand)
{
	const struct sley_child *spec = &child->spec;
	uint64_t max_ns = spec->backoff_max_ns ? spec->backoff_max_ns
					       : PAUSE_MAX_NS;
	uint64_t pause_ns;

	if (stable_ns < child->pause_ns)
		stable_ns = child->pause_ns;
	if (started && now_ns - child->start_ns > stable_ns)
		child->pause_ns = 0;
	pause_ns = child->pause_ns ? 2 * child->pause_ns : spec->backoff_ns;
	if (!pause_ns && !started)
		pause_ns = PAUSE_UNSTARTED_NS;
	if (pause_ns > max_ns || pause_ns < child->pause_ns)
		pause_ns = max_ns;
	child->pause_ns = pause_ns;
	pause_ns = shake(pause_ns, rand);
	return pause_ns < max_ns ? pause_ns : max_ns;
}

void child_pause(struct child *child, uint64_t when_ns, struct list *late)
{
	sley_assert(!child_lives(child));
	child->state = CHILD_PAUSED;
	reminder_set(&child->reminder, REMINDER_START, when_ns, late);
}
