/* SPDX-License-Identifier: MIT */
/*
 * linear.c - the history of a model, and the search for an order of the operations.
 *
 * Operations are kept per thread: the recordings of two threads commute.  The search
 * takes one operation after the other, among the operations whose predecessors are
 * all taken, as long as the specification returns the recorded values; a set of
 * taken operations and a state that led nowhere are not entered again.
 */
#include "linear.h"

#include "engine.h"

#include "base/atomic.h"

#include <stdio.h>
#include <string.h>

#define MEMO_SLOTS 4096u /* a power of two */

struct state {
	_Alignas(16) char bytes[LINEAR_STATE];
};

static struct history {
	enum linear_order order;
	uint32_t clock; /* real time */
	int nr[THREADS];
	struct linear_op ops[THREADS][LINEAR_OPS];
} history;

/* All operations, and the search for their order. */
static struct {
	const struct linear_spec *spec;
	int nr;
	struct linear_op *op[LINEAR_OPS];
	uint32_t before[LINEAR_OPS]; /* operations to take first */
	int taken[LINEAR_OPS];
	int best[LINEAR_OPS]; /* the most that could be taken */
	int nr_best;
} search;

static struct memo {
	uint64_t search; /* the number; 0: free */
	uint32_t taken;
	struct state state;
} memo[MEMO_SLOTS];
static uint64_t nr_searches;

/* ---- recording ------------------------------------------------------------ */

void linear_start(enum linear_order order)
{
	memset(&history, 0, sizeof(history));
	history.order = order;
	engine.clocked = true;
	model_name(&history.clock, "history");
}

struct linear_op *linear_call(int code, int64_t arg)
{
	int thread = engine.current;
	struct linear_op *op;

	if (thread < 0 || history.nr[thread] == LINEAR_OPS)
		model_fail(MODEL_UNSTABLE, "history: too many operations, or "
					   "one of setup or finish");
	op = &history.ops[thread][history.nr[thread]++];
	op->code = code;
	op->arg = arg;
	op->thread = thread;
	op->first_index = engine.nr_by[thread] + 1;
	if (history.order == LINEAR_REAL_TIME)
		op->called_at = add_acq_rel(&history.clock, 1);
	return op;
}

void linear_return(struct linear_op *op, int64_t result)
{
	if (history.order == LINEAR_REAL_TIME)
		op->returned_at = add_acq_rel(&history.clock, 1);
	op->last = engine.last_by[op->thread];
	op->result = result;
	op->returned = true;
}

/* ---- the order of operations ---------------------------------------------- */

/* The step number @index of a thread; @last for a step that was never taken. */
static int step_of(int thread, int index, int last)
{
	for (int i = 0; i <= last; i++) {
		const struct step *s = &engine.steps[i];

		if (s->effect.process == thread && s->index == index)
			return i;
	}
	return last;
}

static bool is_before(const struct linear_op *a, const struct linear_op *b)
{
	if (a->thread == b->thread)
		return a < b;
	if (history.order == LINEAR_REAL_TIME)
		return a->returned_at < b->called_at;
	return a->last >= 0 && b->first >= 0 && order_before(a->last, b->first);
}

static void collect(void)
{
	search.nr = 0;
	for (int t = 0; t < engine.nr_threads; t++) {
		for (int i = 0; i < history.nr[t]; i++) {
			struct linear_op *op = &history.ops[t][i];

			if (search.nr == LINEAR_OPS || !op->returned)
				model_fail(MODEL_UNSTABLE,
					   "history: too long, or an operation "
					   "that did not return");
			op->first = step_of(t, op->first_index, op->last);
			search.op[search.nr++] = op;
		}
	}
	for (int i = 0; i < search.nr; i++) {
		search.before[i] = 0;
		for (int j = 0; j < search.nr; j++) {
			if (j != i && is_before(search.op[j], search.op[i]))
				search.before[i] |= 1u << j;
		}
	}
}

/* ---- the search ----------------------------------------------------------- */

/* Was the search in this state before?  Notes the state. */
static bool been_there(uint32_t taken, const struct state *state)
{
	uint64_t h = taken * 0x9e3779b97f4a7c15ull;
	struct memo *m;

	for (size_t i = 0; i < sizeof(state->bytes); i++)
		h = (h ^ (unsigned char)state->bytes[i]) * 0x100000001b3ull;
	m = &memo[(h >> 32) % MEMO_SLOTS];
	if (m->search == nr_searches && m->taken == taken &&
	    memcmp(&m->state, state, sizeof(*state)) == 0)
		return true;
	/* The state that had the slot may be searched again. */
	m->search = nr_searches;
	m->taken = taken;
	m->state = *state;
	return false;
}

static void keep_best(int nr)
{
	if (nr <= search.nr_best)
		return;
	search.nr_best = nr;
	memcpy(search.best, search.taken, sizeof(search.best));
}

static bool explain(uint32_t taken, int nr, const struct state *state)
{
	keep_best(nr);
	if (nr == search.nr)
		return true;
	if (been_there(taken, state))
		return false;
	for (int i = 0; i < search.nr; i++) {
		struct state next = *state;

		if (taken & 1u << i || search.before[i] & ~taken ||
		    !search.spec->apply(next.bytes, search.op[i]))
			continue;
		search.taken[nr] = i;
		if (explain(taken | 1u << i, nr + 1, &next))
			return true;
	}
	return false;
}

/* ---- the verdict ---------------------------------------------------------- */

/* Is @j before @i, with no operation in between? */
static bool just_before(int j, int i)
{
	for (int k = 0; k < search.nr; k++) {
		if (search.before[i] & 1u << k && search.before[k] & 1u << j)
			return false;
	}
	return search.before[i] & 1u << j;
}

static void print_operation(int i)
{
	const struct linear_op *op = search.op[i];
	char arg[24] = "", text[64];

	if (op->arg)
		snprintf(arg, sizeof(arg), "%lld", (long long)op->arg);
	snprintf(text, sizeof(text), "%s(%s) = %lld",
		 search.spec->names[op->code], arg, (long long)op->result);
	printf("       %c  thread %d  %-28s after:", 'A' + i, op->thread, text);
	for (int j = 0; j < search.nr; j++) {
		if (just_before(j, i))
			printf(" %c", 'A' + j);
	}
	printf("\n");
}

static void print_history(void)
{
	printf("       the operations, and what was over before:\n");
	for (int i = 0; i < search.nr; i++)
		print_operation(i);
	printf("       as far as it could be explained:");
	for (int i = 0; i < search.nr_best; i++)
		printf(" %c", 'A' + search.best[i]);
	printf("\n");
}

void linear_check(const struct linear_spec *spec)
{
	struct state state = { { 0 } };

	if (spec->state_size > LINEAR_STATE)
		model_fail(MODEL_UNSTABLE, "history: too large a state");
	collect();
	search.spec = spec;
	search.nr_best = 0;
	nr_searches++;
	if (spec->init)
		spec->init(state.bytes);
	if (explain(0, 0, &state))
		return;
	if (engine.tracing)
		print_history();
	model_fail(MODEL_ASSERTION,
		   "no order of the %d operations explains what they returned",
		   search.nr);
}
