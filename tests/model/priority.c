/* SPDX-License-Identifier: MIT */
/*
 * priority.c - the random search: executions drawn by priorities.
 *
 * Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi,
 * Nagarakatte: A randomized scheduler with probabilistic guarantees of finding
 * bugs, ASPLOS 2010).  Each process, store buffers too, gets a random priority;
 * the enabled process with the highest priority runs.  At d - 1 random steps of the
 * execution the process that would run falls below all others.
 *
 * A bug has depth d if it shows whenever d certain pairs of steps come in certain
 * orders: 1 for an order, 2 for an atomicity violation or a deadlock of two, 3 for
 * most other bugs.  With n processes and k steps an execution meets a bug of depth d
 * with a probability of at least 1 / (n k^(d-1)), whatever else the model does.  k
 * is not known: the longest execution so far stands for k.  Where the machine has a
 * choice (model_choose(), the thread that a futex wakes) each is equally probable,
 * and the bound holds for the executions that choose right.
 *
 * The second execution repeats the first, to see that the model is
 * deterministic.  Number i with seed s is drawn from (s, i) and k alone, so the
 * same seed gives the same run.
 *
 * Priorities starve.  A thread that waits with spin_hint() or in a futex is not
 * enabled, so starving is harmless there; but a loop around a yield or a time-out
 * would not end.  Therefore, past half of the model's limit of steps each step is
 * drawn from all enabled processes: such an execution ends, unless it is a livelock.
 */
#include "engine.h"

static uint64_t state;
static int priority[PROCESSES];
static int change_at[PRIORITY_DEPTH_MAX];
static int length; /* steps of the longest execution so far */
static bool chose;

static uint64_t draw(void)
{
	uint64_t x;

	state += 0x9e3779b97f4a7c15ull;
	x = state;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static int draw_below(int n)
{
	return (int)(draw() % (unsigned int)n);
}

static void estimate_length(uint64_t execution)
{
	if (execution == 0)
		length = 0;
	else if (engine.depth > length)
		length = engine.depth;
	if (length > engine.max_steps / 2)
		length = engine.max_steps / 2;
}

void priority_draw(uint64_t execution)
{
	estimate_length(execution);
	engine.replay = execution == 1 ? engine.depth : 0;
	if (execution == 0)
		chose = false;
	state = engine.seed;
	state = draw() + execution;
	for (int i = 0; i < PROCESSES; i++) {
		int other = draw_below(i + 1);

		priority[i] = priority[other];
		priority[other] = PRIORITY_DEPTH_MAX + i;
	}
	for (int i = 0; i < engine.bound - 1; i++)
		change_at[i] = length ? draw_below(length) : -1;
}

static int highest(uint32_t enabled)
{
	int best = __builtin_ctz(enabled);

	for (uint32_t rest = enabled; rest; rest &= rest - 1) {
		int p = __builtin_ctz(rest);

		if (priority[p] > priority[best])
			best = p;
	}
	return best;
}

static int any(uint32_t enabled)
{
	for (int n = draw_below(__builtin_popcount(enabled)); n > 0; n--)
		enabled &= enabled - 1;
	return __builtin_ctz(enabled);
}

int priority_pick(uint32_t enabled)
{
	if (engine.depth >= engine.max_steps / 2)
		return any(enabled);
	for (int i = 0; i < engine.bound - 1; i++) {
		if (change_at[i] == engine.depth)
			priority[highest(enabled)] = i;
	}
	return highest(enabled);
}

int priority_choice(int choices)
{
	chose |= choices > 1;
	return draw_below(choices);
}

struct priority_odds priority_odds(void)
{
	struct priority_odds odds = { .processes = engine.nr_threads };

	estimate_length(1);
	odds.length = length;
	odds.chose = chose;
	if (engine.mode == MODEL_TSO)
		odds.processes *= 2;
	odds.one_in = odds.processes;
	for (int i = 0; i < engine.bound - 1; i++)
		odds.one_in *= length;
	return odds;
}
