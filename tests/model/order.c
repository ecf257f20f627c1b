/* SPDX-License-Identifier: MIT */
/*
 * order.c - which steps depend on each other, and which must therefore be tried in
 * a different order.
 *
 * Two steps depend on each other if swapping the steps could change the effect of
 * either.  Executions that differ only in the order of independent neighbours are
 * equivalent; one execution of each class is enough.  The
 * search is dynamic partial-order reduction with source sets and sleep sets
 * (Abdulla, Aronis, Jonsson, Sagonas: Optimal DPOR, POPL 2014).
 *
 * Each step has a vector clock: for each process, how many steps of the process
 * happened before, through program order, dependence, or because they enabled this
 * step.  A *race* is a pair of dependent steps e .. s of two processes with no step
 * in between in that order.  For each race the search must also go on from the state
 * before e with a step that leads to s before e.  Take the steps that came after e
 * and did not need e: any process with a first step among them will do.
 *
 * Dependence used here, on purpose a little too large where that is simpler:
 *
 *   same location, and a step writes memory (a failed CAS only reads; a load
 *   answered by the own buffer counts as a read of memory)
 *   same futex, and a step wakes
 *   virtual time, and a step moves the time
 *   a membarrier's start and any buffered store of another thread
 *   a buffered store while a membarrier is under way and the own buffer's
 *   writes (these decide when the barrier has seen the buffer empty)
 *
 * A thread and its own buffer are independent otherwise: if the buffer answers a
 * load, the load finds the same value before and after the store reaches memory.
 * Steps that a later step waits for (the store for its flush, the flushes for a
 * read-modify-write, the wake-up for a waiter) are ordered but do not race: the
 * other order is impossible.  The same holds for the release of a lock and the next
 * acquisition, if this is a step that waits for the lock; there the race is between
 * the two acquisitions.  A compare-and-swap, or a store, does not wait: such a step
 * may come while the lock is held, and fail.
 *
 * RA is different.  Which message an access meets is a separate choice among all
 * messages of the location, old messages included.  So it makes no difference
 * whether a store comes before a load that does not read the store, nor in which
 * order two stores come: each can go anywhere in the history.  Two accesses to
 * memory are ordered only if one reads the value of the other.  The search must
 * reverse a *read before a write*: had the write come first, there would have been
 * one more message to choose.  The clock of the write shows whether the write could
 * have come first; this clock leaves out the message that the write itself read,
 * since the write need not read the same message again.
 *
 * A reading thread that sleeps has explored all messages that existed then
 * (step.since).  A write wakes the thread, for the new message only.
 *
 * Two sequentially consistent operations on a location depend on each other if one
 * stores: their order says what the later one may meet.  A thread's interrupts (by
 * membarrier) depend on its operations.
 *
 * An interrupt may come between any two steps of a thread, but few of these
 * moments matter.  A *late* interrupt could as well have come before the thread's
 * last step, and all later steps would still be possible: the membarrier did not
 * need the last step, the message that the step met is no older than the caller's
 * view, and the view that the step sent had everything that the interrupt would have
 * added (history.c).  Then the caller would only have known less.  So an execution
 * with a late interrupt ends there: an execution with an earlier interrupt shows the
 * same failures.  The execution ends after its races are recorded, which leads to
 * the earlier interrupt.  The races of later steps are not seen any more, so all
 * other processes are tried in the interrupt's place.  No program in self_random.c
 * ends in fewer ways because of this.
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
	int both = READS | QUEUE_READS | TIME_READS | TOTAL_READS;
	int writes = WRITES | QUEUE_WRITES | TIME_WRITES | TOTAL_WRITES;
	int a_writes = a->flags & writes, b_writes = b->flags & writes;
	int a_any = a_writes | (a->flags & both) << 1;
	int b_any = b_writes | (b->flags & both) << 1;
	int conflict = (a_writes & b_any) | (b_writes & a_any);

	if (((a->process ^ b->process) & (BUFFER - 1)) == 0) {
		if (a->process == b->process || engine.mode == MODEL_RA)
			return true;
		return ((a->flags | b->flags) & BARRIER_WATCHED) &&
		       (a->kind == OP_FLUSH || b->kind == OP_FLUSH);
	}
	if (engine.mode == MODEL_RA)
		conflict &= ~WRITES;
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

bool order_needs(int s, int e)
{
	return happened_before(&engine.steps[e], &engine.steps[s].clock);
}

bool order_before(int e, int s)
{
	if (engine.steps[e].effect.process == engine.steps[s].effect.process)
		return e <= s;
	/* Elsewhere a load may come after a store and not see it. */
	if (engine.mode != MODEL_SC && engine.mode != MODEL_TSO)
		return false;
	return happened_before(&engine.steps[e], &engine.steps[s].clock);
}

/* A row of steps, by the first step of each process; 0: none. */
struct row {
	uint16_t first[PROCESSES];
	uint32_t initials;
};

/* @clock: the steps that must come before @s. */
static void row_append(struct row *row, const struct step *s,
		       const struct clock *clock)
{
	int p = s->effect.process;

	if (row->first[p])
		return;
	row->first[p] = s->index;
	for (int q = 0; q < PROCESSES; q++) {
		if (q != p && row->first[q] && clock->at[q] >= row->first[q])
			return;
	}
	row->initials |= 1u << p;
}

/* The search must also try @s, which needs @clock, before step number @at. */
static void reverse(int at, const struct step *s, const struct clock *clock)
{
	struct step *e = &engine.steps[at];
	struct row row = { { 0 }, 0 };
	uint32_t able;

	for (const struct step *k = e + 1; k < s; k++) {
		if (!happened_before(e, &k->clock))
			row_append(&row, k, &k->clock);
	}
	row_append(&row, s, clock);
	if (row.initials & (e->backtrack | e->sleep))
		return;
	able = row.initials & e->enabled;
	if (able)
		e->backtrack |= able & -able;
	else
		e->backtrack |= e->enabled; /* any step may lead there */
}

/* The step that took the lock that step number @at released. */
static int lock_taken_at(int at)
{
	const char *addr = engine.steps[at].effect.addr;

	while (--at >= 0) {
		const struct effect *e = &engine.steps[at].effect;

		if (e->addr == addr &&
		    (e->lock == LOCK_ACQUIRED || e->lock == LOCK_SEIZED))
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

/* RA: every read before the write @s that the write need not come after.  If @s is a
   failed CAS: every read-modify-write, before which the CAS might have succeeded. */
static void reverse_reads(const struct step *s, const struct clock *needs)
{
	int wanted = s->effect.flags & WRITES ? READS : READS | WRITES;

	for (int i = engine.depth - 1; i >= 0; i--) {
		const struct step *e = &engine.steps[i];

		if ((e->effect.flags & wanted) == wanted &&
		    overlap(&e->effect, &s->effect) &&
		    !happened_before(e, needs))
			reverse(i, s, needs);
	}
}

void order_record(struct step *s)
{
	static int races[STEPS_MAX];
	int nr_races = 0, race;
	struct clock c = { { 0 } }, needs;

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
	needs = c; /* a different message would do, too */
	clock_join_step(&c, s->read_from);
	c.at[s->effect.process] = s->index;
	s->clock = c;
	if (engine.search != SEARCH_REDUCED)
		return;
	for (int i = 0; i < nr_races; i++)
		reverse(races[i], s, &s->clock);
	if (engine.mode == MODEL_RA &&
	    (s->effect.flags & WRITES || s->effect.kind == OP_CAS))
		reverse_reads(s, &needs);
}

/* RA: is there a new message since @s for @thread, which slept? */
static bool has_news(const struct step *s, int thread,
		     const struct effect *next, int since)
{
	return engine.mode == MODEL_RA && next->flags & READS &&
	       s->effect.flags & WRITES && s->effect.addr == next->addr &&
	       history_has_news(thread, &engine.threads[thread].op, since - 1);
}

/* The processes that sleep after @s, the last step: explored, and independent of @s.
   Sets also the messages that woken readers have explored. */
uint32_t order_sleep(const struct step *s, struct step *next)
{
	uint32_t sleep = (s->sleep | s->done) & ~(1u << s->effect.process);

	for (int q = 0; q < PROCESSES; q++) {
		struct effect effect;
		uint16_t since = q < THREADS ? s->since[q] : 0;

		if (s->done & 1u << q)
			since = (uint16_t)(engine.depth + 1);
		if (q < THREADS)
			next->since[q] = 0;
		if (q == s->effect.process || (!(sleep & 1u << q) && !since))
			continue;
		effect = machine_effect(q);
		if (order_depends(&effect, &s->effect)) {
			sleep &= ~(1u << q);
			continue;
		}
		if (q < THREADS)
			next->since[q] = since;
		if (has_news(s, q, &effect, since))
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

	if (engine.mode == MODEL_RA && s->effect.flags & (READS | WRITES)) {
		/* How many messages were newer depends on the order. */
		h -= s->choice;
		if (s->read_from >= 0) {
			const struct step *e = &engine.steps[s->read_from];

			h = mix(h) + e->effect.process * 4096u + e->index;
		}
	}
	for (int i = 0; i < PROCESSES; i++)
		h = mix(h * 31 + s->clock.at[i]);
	return h;
}
