/* SPDX-License-Identifier: MIT */
/*
 * delay.c - the process that a plain scheduler would run next, and the cost of any
 * other process.
 *
 * The delay-bounded search (Emmi, Qadeer, Rakamaric: Delay-bounded scheduling, POPL
 * 2011) takes a deterministic scheduler and allows a few deviations.  In each state
 * the scheduler has a line of the enabled processes; the first process runs.  A
 * delay sends the first process away for this step, so running the process at place
 * k costs k delays.  All schedules with at most .delays delays in total are
 * explored.  The number of schedules grows with the length of an execution to the
 * power of the delays, whatever the number of threads; with a bound of preemptions
 * there is free choice wherever a thread blocks.
 *
 * The line, from its front:
 *
 *   1  the buffer of the thread that has just stored, if the buffer holds only
 *      this store: by default memory is written at once
 *   2  the thread that ran last, then the others round robin.  In place of a
 *      thread that waits for its own buffer: the buffer
 *   3  threads that would yield, or let a wait time out: round robin
 *   4  the other buffers: stores that were held back
 *
 * So without delays TSO behaves like SC.  One delay holds a store back, and with it
 * the stores that follow, as long as the thread can do without: until the thread
 * needs an empty buffer, or no other process can go on; further delays write
 * earlier.  So store buffering becomes visible with one delay.
 *
 * Rejected: buffers that write at any time for nothing, as they do under the
 * bound of preemptions.  Every store would be a free choice, and the number of
 * schedules exponential in the stores.  Rejected: a delay for each step for
 * which a store is held back; how long the thread runs meanwhile has nothing
 * to do with how rare the bug is.
 *
 * The line depends on the state, on the thread that ran last and on rule 1,
 * which is why the latter two belong to the key of a state seen.
 */
#include "engine.h"

struct line {
	uint8_t process[PROCESSES];
	int nr;
	uint32_t left; /* enabled, and not in the line yet */
};

static void line_append(struct line *line, int process)
{
	if (!(line->left & 1u << process))
		return;
	line->process[line->nr++] = (uint8_t)process;
	line->left &= ~(1u << process);
}

/* The thread whose only buffered store was issued by the last step, or -1. */
static int just_stored(void)
{
	const struct effect *e;
	const struct thread *t;

	if (!engine.depth)
		return -1;
	e = &engine.steps[engine.depth - 1].effect;
	if (e->kind != OP_STORE)
		return -1;
	t = &engine.threads[e->process];
	return t->last - t->first == 1 ? e->process : -1;
}

static bool gives_way(const struct thread *t)
{
	return t->op.kind == OP_YIELD ||
	       (t->op.kind == OP_FUTEX_UNBLOCK && !t->woken);
}

/* The thread is not enabled: could its own stores be the reason? */
static bool waits_for_buffer(const struct thread *t)
{
	switch ((enum op_kind)t->op.kind) {
	case OP_SPIN:
	case OP_FUTEX_UNBLOCK:
	case OP_BARRIER_END:
	case OP_EXIT:
		return false;
	default:
		return true;
	}
}

static struct line line_up(uint32_t enabled)
{
	struct line line = { .left = enabled };
	int first = engine.last_thread < 0 ? 0 : engine.last_thread;
	int stored = just_stored();

	if (stored >= 0)
		line_append(&line, stored + BUFFER);
	for (int i = 0; i < engine.nr_threads; i++) {
		int id = (first + i) % engine.nr_threads;
		const struct thread *t = &engine.threads[id];

		if (!(enabled & 1u << id) && waits_for_buffer(t))
			line_append(&line, id + BUFFER);
		else if (!gives_way(t))
			line_append(&line, id);
	}
	for (int i = 0; i < engine.nr_threads; i++)
		line_append(&line, (first + i) % engine.nr_threads);
	for (int i = 0; i < engine.nr_threads; i++)
		line_append(&line, (first + i) % engine.nr_threads + BUFFER);
	return line;
}

int delay_first(uint32_t enabled)
{
	return line_up(enabled).process[0];
}

uint32_t delay_within(uint32_t enabled, int delays)
{
	struct line line = line_up(enabled);
	uint32_t set = 0;

	for (int i = 0; i < line.nr && i <= delays; i++)
		set |= 1u << line.process[i];
	return set;
}

int delay_cost(uint32_t enabled, int process)
{
	struct line line = line_up(enabled);
	int cost = 0;

	while (cost < line.nr && line.process[cost] != process)
		cost++;
	return cost;
}

uint64_t delay_key(void)
{
	return (uint64_t)(just_stored() >= 0) << 59;
}
