/* SPDX-License-Identifier: MIT */
/*
 * order.c - what depends on what, and therefore what must be tried in another
 * order.
 *
 * Two steps depend on each other if swapping them could change what either
 * does.  Executions that differ only in the order of neighbours that do not
 * depend on each other are equivalent; one of each class is enough.  The
 * search is dynamic partial-order reduction with source sets and sleep sets
 * (Abdulla, Aronis, Jonsson, Sagonas: Optimal DPOR, POPL 2014).
 *
 * Each step has a vector clock: per process, how many of its steps happened
 * before it, through program order, dependence, or because they enabled it.
 * A *race* is a pair of dependent steps e .. s of two processes with no step
 * between them in that order.  For each race the search must also go on from
 * the state before e with something that leads to s before e: one process of
 * the first steps of all that came after e and did not need it.
 *
 * Dependence used here, on purpose a little too large where that is simpler:
 *
 *   same location, one of them writes memory (a failed CAS only reads; a load
 *   answered by the own buffer counts as a read of memory)
 *   same futex, one of them wakes
 *   virtual time, one of them moves it
 *   a membarrier's start and any buffered store of another thread
 *   a buffered store while a membarrier is under way and the own buffer's
 *   writes (they decide when the barrier has seen that buffer empty)
 *
 * A thread and its own buffer are independent otherwise: a load finds the same
 * value before and after the store it is answered by reaches memory.
 * Steps that one waits for (the store for its flush, the flushes for a
 * read-modify-write, the wake-up for a waiter) are ordered but do not race:
 * the other order is impossible.  The same holds for the release of a lock and
 * the next time it is taken; there the race is between the two takings.
 */
#include "engine.h"

static bool overlap(const struct effect *a, const struct effect *b)
{
	return a->addr < b->addr + b->size && b->addr < a->addr + a->size;
}

static bool barrier_depends(const struct effect *a, const struct effect *b)
{
	return a->kind == OP_BARRIER_START && b->kind == OP_STORE &&
	       engine.mode == MODEL_TSO;
}

bool order_depends(const struct effect *a, const struct effect *b)
{
	/* Shift the "reads" bits of one onto the "writes" bits of the other. */
	int both = READS | QUEUE_READS | TIME_READS;
	int writes = WRITES | QUEUE_WRITES | TIME_WRITES;
	int a_writes = a->flags & writes, b_writes = b->flags & writes;
	int a_any = a_writes | (a->flags & both) << 1;
	int b_any = b_writes | (b->flags & both) << 1;
	int conflict = (a_writes & b_any) | (b_writes & a_any);

	if (((a->process ^ b->process) & (BUFFER - 1)) == 0) {
		if (a->process == b->process)
			return true;
		return ((a->flags | b->flags) & BARRIER_WATCHED) &&
		       (a->kind == OP_FLUSH || b->kind == OP_FLUSH);
	}
	if (conflict & TIME_WRITES)
		return true;
	if (conflict && overlap(a, b))
		return true;
	return barrier_depends(a, b) || barrier_depends(b, a);
}

static void clock_join(struct clock *c, const struct clock *other)
{
	for (int i = 0; i < PROCESSES; i++) {
		if (c->at[i] < other->at[i])
			c->at[i] = other->at[i];
	}
}

static void clock_join_step(struct clock *c, int step)
{
	if (step >= 0)
		clock_join(c, &engine.steps[step].clock);
}

static bool happened_before(const struct step *e, const struct clock *c)
{
	return c->at[e->effect.process] >= e->index;
}

/* A row of steps, by the first one of each process; 0: none. */
struct row {
	uint16_t first[PROCESSES];
	uint32_t initials;
};

static void row_append(struct row *row, const struct step *s)
{
	int p = s->effect.process;

	if (row->first[p])
		return;
	row->first[p] = s->index;
	for (int q = 0; q < PROCESSES; q++) {
		if (q != p && row->first[q] && s->clock.at[q] >= row->first[q])
			return;
	}
	row->initials |= 1u << p;
}

/* The search must also try @s before step number @at. */
static void reverse(int at, const struct step *s)
{
	struct step *e = &engine.steps[at];
	struct row row = { { 0 }, 0 };
	uint32_t able;

	for (const struct step *k = e + 1; k < s; k++) {
		if (!happened_before(e, &k->clock))
			row_append(&row, k);
	}
	row_append(&row, s);
	if (row.initials & (e->backtrack | e->sleep))
		return;
	able = row.initials & e->enabled;
	if (able)
		e->backtrack |= able & -able;
	else
		e->backtrack |= e->enabled; /* anything may lead there */
}

/* The step that took the lock that step number @at released. */
static int lock_taken_at(int at)
{
	const char *addr = engine.steps[at].effect.addr;

	while (--at >= 0) {
		if (engine.steps[at].effect.addr == addr &&
		    engine.steps[at].effect.lock == LOCK_ACQUIRED)
			break;
	}
	return at;
}

static void join_causes(struct clock *c, const struct step *s)
{
	int p = s->effect.process;

	clock_join_step(c, engine.last_by[p]);
	clock_join_step(c, s->cause);
	if (s->effect.kind == OP_BARRIER_END) {
		for (int i = 0; i < engine.nr_threads; i++)
			clock_join_step(c, engine.threads[p].seen[i]);
	}
}

void order_record(struct step *s)
{
	static int races[STEPS_MAX];
	int nr_races = 0, race;
	struct clock c = { { 0 } };

	join_causes(&c, s);
	for (int i = engine.depth - 1; i >= 0; i--) {
		const struct step *e = &engine.steps[i];

		if (happened_before(e, &c) ||
		    !order_depends(&e->effect, &s->effect))
			continue;
		race = i;
		if (s->effect.lock == LOCK_ACQUIRED &&
		    e->effect.lock == LOCK_RELEASED)
			race = lock_taken_at(i);
		if (race >= 0 && !happened_before(&engine.steps[race], &c))
			races[nr_races++] = race;
		clock_join(&c, &e->clock);
	}
	c.at[s->effect.process] = s->index;
	s->clock = c;
	if (engine.search != SEARCH_REDUCED)
		return;
	for (int i = 0; i < nr_races; i++)
		reverse(races[i], s);
}

/* Who sleeps after @s, the last step: what was explored and does not see it. */
uint32_t order_sleep(const struct step *s)
{
	uint32_t sleep = (s->sleep | s->done) & ~(1u << s->effect.process);

	for (uint32_t rest = sleep; rest; rest &= rest - 1) {
		int q = __builtin_ctz(rest);
		struct effect next = machine_effect(q);

		if (order_depends(&next, &s->effect))
			sleep &= ~(1u << q);
	}
	return sleep;
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

/* The sum of these over all steps tells classes of executions apart. */
uint64_t order_hash(const struct step *s)
{
	uint64_t h = (uint64_t)s->effect.process << 32 | s->choice;

	for (int i = 0; i < PROCESSES; i++)
		h = mix(h * 31 + s->clock.at[i]);
	return h;
}
