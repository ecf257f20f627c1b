/* SPDX-License-Identifier: MIT */
/*
 * search.c - runs the model again and again, each time another way.
 *
 * Depth first: an execution follows the given steps and then goes on by
 * itself; afterwards the last step that still has another way is changed, and
 * all behind it forgotten.
 *
 *   reduced   other ways are those order.c asks for
 *   bounded   every enabled process within the bound of preemptions.  A state
 *             reached before with as many preemptions left is not entered
 *             again; two rows of steps with the same steps in the same partial
 *             order lead to the same state.  (The reduction above would be
 *             wrong here: the equivalent execution it relies on may need more
 *             preemptions.)
 *   delayed   the same with a bound of delays: delay.c
 *   naive     every enabled process
 *   random    not depth first: each execution is drawn anew, by priority.c
 *
 * A preemption is a switch away from a thread that could go on.  Buffers may
 * write at any time without being one.
 */
#include "engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct engine engine;

/* ---- states seen, for the bounded searches ------------------------------- */

#define SEEN_SLOTS (1u << 23)

static struct seen {
	uint64_t key;
	int budget; /* + 1; 0: free */
} * seen_table;
static unsigned seen_used;

static void seen_reset(void)
{
	free(seen_table);
	seen_table = calloc(SEEN_SLOTS, sizeof(*seen_table));
	seen_used = 0;
	if (!seen_table)
		abort();
}

/* Was the state entered before, with at least that budget? */
static bool seen_before(uint64_t key, int budget)
{
	struct seen *s = &seen_table[key % SEEN_SLOTS];

	while (s->budget && s->key != key) {
		if (++s == seen_table + SEEN_SLOTS)
			s = seen_table;
	}
	if (s->budget > budget)
		return true;
	if (!s->budget) {
		if (seen_used >= SEEN_SLOTS / 4 * 3)
			return false; /* full: explore without it */
		seen_used++;
	}
	s->key = key;
	s->budget = budget + 1;
	return false;
}

/* ---- failing ------------------------------------------------------------- */

void model_fail(enum model_failure kind, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(engine.message, sizeof(engine.message), format, args);
	va_end(args);
	engine.failure = kind;
	engine.outcome = FAILED;
	strand_leave();
}

/* Nothing is enabled: the end, or a deadlock. */
static void stop(void)
{
	enum model_failure kind = MODEL_DEADLOCK;
	bool all_finished = true;
	char text[256] = "";
	size_t n = 0;

	for (int i = 0; i < engine.nr_threads; i++) {
		const struct thread *t = &engine.threads[i];
		const char *how = "is blocked";

		if (t->finished)
			continue;
		all_finished = false;
		if (t->op.kind == OP_FUTEX_UNBLOCK) {
			kind = MODEL_LOST_WAKEUP;
			how = "sleeps in futex wait";
		} else if (t->op.kind == OP_SPIN) {
			how = "spins";
		} else if (t->op.lock) {
			how = "waits for a lock";
		}
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "%sthread %d %s", n ? ", " : "", i, how);
		if (n >= sizeof(text))
			n = sizeof(text) - 1;
	}
	if (!all_finished)
		model_fail(kind, "%s, and nobody is left to wake it", text);
	engine.outcome = COMPLETE;
	strand_leave();
}

/* ---- choosing the next step ---------------------------------------------- */

static uint32_t enabled_processes(void)
{
	uint32_t enabled = 0;

	for (int i = 0; i < engine.nr_threads; i++) {
		enabled |= (uint32_t)machine_enabled(i) << i;
		enabled |= (uint32_t)machine_enabled(i + BUFFER)
			   << (i + BUFFER);
	}
	return enabled;
}

/* Could the thread that ran last go on, at most after its own stores? */
static bool last_could_go_on(uint32_t enabled)
{
	int last = engine.last_thread;

	return last >= 0 && !engine.threads[last].finished &&
	       enabled & (1u << last | 1u << (last + BUFFER));
}

static uint32_t within_budget(const struct step *s)
{
	uint32_t threads = (1u << BUFFER) - 1;

	if (engine.search != SEARCH_BOUNDED || s->budget > 0 ||
	    !last_could_go_on(s->enabled))
		return s->enabled;
	return s->enabled & (~threads | 1u << engine.last_thread);
}

static int prefer(uint32_t set)
{
	if (engine.last_thread >= 0 && set & 1u << engine.last_thread)
		return engine.last_thread;
	return __builtin_ctz(set);
}

static bool has_budget(void)
{
	return engine.search == SEARCH_BOUNDED ||
	       engine.search == SEARCH_DELAYED;
}

/* What it costs to let @p go on from here. */
static int price(const struct step *s, int p)
{
	if (engine.search == SEARCH_DELAYED)
		return delay_cost(s->enabled, p);
	return p < BUFFER && p != engine.last_thread &&
	       last_could_go_on(s->enabled);
}

/* The state, and whom the scheduler would run next. */
static uint64_t state_key(const struct step *s)
{
	uint64_t key = s->hash ^ (uint64_t)(engine.last_thread + 1) << 60;

	if (engine.mode == MODEL_RA)
		key += history_hash();
	return engine.search == SEARCH_DELAYED ? key ^ delay_key() : key;
}

static void leave_redundant(void)
{
	engine.outcome = REDUNDANT;
	strand_leave();
}

/* The last step was an interrupt that should have come earlier.  What it would
   race with is not seen any more: all others must be tried before it. */
static void leave_late(void)
{
	struct step *s = &engine.steps[engine.depth - 1];

	s->backtrack |= s->enabled;
	leave_redundant();
}

/* A state the search has not been in (sleep, budget and hash are set). */
static int enter(struct step *s)
{
	uint32_t sleep = engine.search == SEARCH_REDUCED ? s->sleep : 0;
	uint32_t able = s->enabled & ~sleep;
	int p;

	if (!able)
		leave_redundant();
	if (has_budget() && seen_before(state_key(s), s->budget))
		leave_redundant();
	s->last = (int8_t)engine.last_thread;
	s->done = 0;
	s->choice = 0;
	if (engine.search == SEARCH_REDUCED) {
		p = prefer(able);
		s->backtrack = 1u << p;
	} else if (engine.search == SEARCH_DELAYED) {
		s->backtrack = delay_within(s->enabled, s->budget);
		p = delay_first(s->enabled);
	} else if (engine.search == SEARCH_RANDOM) {
		s->backtrack = 0;
		p = priority_pick(s->enabled);
	} else {
		s->backtrack = within_budget(s);
		p = prefer(s->backtrack);
	}
	return p;
}

static void check_replay(const struct step *s)
{
	const struct op *op;

	if (!(s->enabled & 1u << s->effect.process))
		model_fail(MODEL_UNSTABLE, "the schedule does not fit");
	if (engine.redo || engine.depth + 1 >= engine.replay ||
	    s->effect.process >= BUFFER)
		return;
	op = &engine.threads[s->effect.process].op;
	if (op->kind != s->effect.kind || op->addr != s->effect.addr)
		model_fail(MODEL_UNSTABLE,
			   "step %d was another operation the last time: the "
			   "model is not deterministic, or setup forgets state",
			   engine.depth + 1);
}

/* The process that goes next. */
static int choose(void)
{
	struct step *s = &engine.steps[engine.depth];

	/* On the way that was gone before, the state is known. */
	if (engine.depth + 1 >= engine.replay || engine.redo)
		s->enabled = enabled_processes();
	if (!s->enabled)
		stop();
	if (engine.depth >= engine.max_steps)
		model_fail(MODEL_LIVELOCK, "no end after %d steps",
			   engine.depth);
	if (engine.depth < engine.replay)
		check_replay(s);
	else
		s->effect.process = (uint8_t)enter(s);
	s->choices = 1;
	if (has_budget() && engine.depth + 1 >= engine.replay)
		s->spent = (int16_t)price(s, s->effect.process);
	return s->effect.process;
}

static bool wants_clock(void)
{
	if (engine.redo)
		return engine.clocked;
	if (engine.depth + 1 < engine.replay)
		return false; /* it has one */
	return engine.clocked || (engine.search != SEARCH_NAIVE &&
				  engine.search != SEARCH_RANDOM);
}

/* The step was taken.  A new one is put in order with the others. */
static void after(void)
{
	struct step *s = &engine.steps[engine.depth];
	int p = s->effect.process;

	s->index = ++engine.nr_by[p];
	if (wants_clock())
		order_record(s);
	if (engine.depth + 1 >= engine.replay && !engine.redo) {
		struct step *next = s + 1;

		if (engine.search == SEARCH_REDUCED) {
			next->sleep = order_sleep(s, next);
		} else {
			next->sleep = 0;
			memset(next->since, 0, sizeof(next->since));
		}
		next->hash = has_budget() ? s->hash + order_hash(s) : 0;
		next->budget = (int16_t)(s->budget - s->spent);
	}
	engine.last_by[p] = engine.depth;
	machine_wrote(&s->effect);
	if (p < BUFFER)
		engine.last_thread = p;
	engine.depth++;
}

void search_schedule(int id)
{
	int next;

	if (engine.nr_started < engine.nr_threads) {
		strand_start(id, engine.nr_started++);
	} else {
		while ((next = choose()) >= BUFFER) {
			bool late = machine_background(next - BUFFER);

			after();
			if (late && engine.search == SEARCH_REDUCED &&
			    !engine.redo)
				leave_late();
		}
		if (next != id)
			strand_switch(id, next);
	}
	engine.current = id;
	machine_execute(id);
	after();
}

/* ---- one execution ------------------------------------------------------- */

static void run_setup(void)
{
	if (engine.model->setup)
		engine.model->setup();
}

static void run_threads(void)
{
	engine.nr_started = 1;
	strand_run(0);
}

static void run_finish(void)
{
	if (engine.model->finish)
		engine.model->finish();
	if (heap_live())
		model_fail(MODEL_LEAK, "%d allocations were not freed",
			   heap_live());
}

void search_run_once(void)
{
	engine.outcome = RUNNING;
	engine.failure = MODEL_NONE;
	engine.current = -1;
	engine.clocked = false;
	machine_reset();
	heap_reset();
	report_names_reset();
	strand_guard(run_setup);
	if (engine.outcome == RUNNING)
		strand_guard(run_threads);
	engine.current = -1;
	if (engine.outcome == COMPLETE)
		strand_guard(run_finish);
}

/* ---- all executions ------------------------------------------------------ */

void search_prepare(const struct model *model, enum model_mode mode)
{
	engine.model = model;
	engine.mode = mode;
	engine.nr_threads = 0;
	while (engine.nr_threads < THREADS && model->threads[engine.nr_threads])
		engine.nr_threads++;
	engine.buffer = model->buffer ? model->buffer : 8;
	if (engine.buffer > STORES_MAX)
		engine.buffer = STORES_MAX;
	engine.max_steps = model->steps ? model->steps : 1000;
	if (engine.max_steps > STEPS_MAX - 2)
		engine.max_steps = STEPS_MAX - 2;
	engine.replay = 0;
	engine.tracing = engine.redo = false;
	strands_init(engine.nr_threads);
}

/* Change the last step that has another way.  False: there is none. */
static bool backtrack(void)
{
	for (int d = engine.depth - 1; d >= 0; d--) {
		struct step *s = &engine.steps[d];
		uint32_t others;

		engine.replay = d + 1;
		if (s->choice + 1 < s->choices) {
			s->choice++;
			return true;
		}
		s->done |= 1u << s->effect.process;
		others = s->backtrack & ~s->done & ~s->sleep;
		if (others) {
			s->effect.process = (uint8_t)__builtin_ctz(others);
			s->choice = 0;
			return true;
		}
	}
	return false;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct search_stats search_explore(const struct model *model,
				   enum model_mode mode, enum search_kind kind,
				   uint64_t limit)
{
	struct search_stats stats = { 0 };
	double start = seconds();

	search_prepare(model, mode);
	engine.search = kind;
	if (has_budget())
		seen_reset();
	memset(&engine.steps[0], 0, sizeof(engine.steps[0]));
	engine.steps[0].budget = (int16_t)engine.bound;
	do {
		if (kind == SEARCH_RANDOM)
			priority_draw(stats.executions);
		search_run_once();
		stats.executions += engine.outcome != REDUNDANT;
		stats.redundant += engine.outcome == REDUNDANT;
		stats.steps += (uint64_t)engine.depth;
		if (engine.depth > stats.longest)
			stats.longest = engine.depth;
		if (engine.ended && engine.outcome != REDUNDANT)
			engine.ended();
		else if (engine.outcome == FAILED)
			break;
		stats.complete = kind != SEARCH_RANDOM && !backtrack();
	} while (!stats.complete && stats.executions < limit);
	stats.seconds = seconds() - start;
	return stats;
}
