/* SPDX-License-Identifier: MIT */
/*
 * drain.c - see drain.h.
 */
#include "core/sched/place.h"
#include "core/life/drain.h"

#include "core/trace/report.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/membarrier.h"
#include "os/symbol.h"
#include "os/thread.h"

#include <errno.h>
#include <limits.h>

/* ---- the gate ---------------------------------------------------------------- */

bool gate_enter(struct sley *rt)
{
	/* relaxed: before or after the shut, in one word; leaving releases. */
	uint64_t gate = add_relaxed(&rt->drain.gate, GATE_ONE);

	if (likely(!(gate & GATE_SHUT)))
		return true;
	gate_leave(rt);
	return false;
}

void gate_pass(struct sley *rt)
{
	(void)add_acq_rel(&rt->drain.gate, GATE_ONE); /* D3 */
}

void gate_leave(struct sley *rt)
{
	uint64_t *gate = &rt->drain.gate;

	(void)sub_release(gate, GATE_ONE); /* D2 */
	spin_done(gate);
}

static bool gate_is_passed(const void *gate)
{
	/* relaxed: only decides whether to sleep. */
	return load_relaxed((const uint64_t *)gate) != GATE_SHUT;
}

void gate_shut(struct sley *rt)
{
	uint32_t nr_looks = 0;

	(void)or_acq_rel(&rt->drain.gate, GATE_SHUT);        /* D3 */
	while (load_acquire(&rt->drain.gate) != GATE_SHUT) { /* D2 */
		spin_hint(&rt->drain.gate);
		spin_wait(&rt->drain.gate, gate_is_passed, nr_looks++);
	}
}

/* ---- the sums ---------------------------------------------------------------- */

struct sums {
	uint64_t finished;
	uint64_t spawned;
};

static void each_worker(struct sley *rt,
			void (*fn)(struct worker *worker, struct sums *sums),
			struct sums *sums)
{
	struct list *link;

	for (unsigned int i = 0; i < rt->nr_workers; i++)
		fn(rt->worker[i], sums);
	spin_lock(&rt->bound_lock);
	for (link = rt->bound.next; link != &rt->bound; link = link->next)
		fn(container_of(link, struct worker, link), sums);
	spin_unlock(&rt->bound_lock);
}

static void add_finished(struct worker *worker, struct sums *sums)
{
	sums->finished += load_acquire(&worker->counters.finished); /* D1 */
}

static void add_spawned(struct worker *worker, struct sums *sums)
{
	/* relaxed: ordered by D1 for all that has finished. */
	sums->spawned += load_relaxed(&worker->counters.spawned);
}

/* Tasks that have not ended; 0 is exact. */
static uint64_t nr_left(struct sley *rt)
{
	struct sums sums = { 0 };

	each_worker(rt, add_finished, &sums);
	each_worker(rt, add_spawned, &sums);
	sums.spawned += drain_foreign_spawned(rt);
	return sums.spawned - sums.finished;
}

/* ---- waiting ------------------------------------------------------------------ */

void drain_signal(struct sley *rt)
{
	(void)add_release(&rt->drain.events, 1); /* D1 */
	os_futex_wake(&rt->drain.events, INT_MAX);
}

static bool drained(struct sley *rt)
{
	/* relaxed: the sums take the lock under which the last thread left. */
	return load_relaxed(&rt->nr_bound) == 0 && nr_left(rt) == 0;
}

/* Without membarrier a signal may be missed: look now and then. */
static uint64_t next_look(const struct sley *rt, uint64_t deadline_ns)
{
	uint64_t soon_ns;

	if (rt->membarrier)
		return deadline_ns;
	soon_ns = os_now() + 1000000;
	return soon_ns < deadline_ns ? soon_ns : deadline_ns;
}

int drain_wait(struct sley *rt, uint64_t deadline_ns)
{
	int err = 0;

	/* relaxed: os_membarrier() orders the store before the sums. */
	store_relaxed(&rt->drain.wanted, 1);
	if (rt->membarrier)
		os_membarrier();
	for (;;) {
		uint32_t events = load_acquire(&rt->drain.events); /* D1 */

		if (drained(rt))
			break;
		if (deadline_ns <= os_now()) {
			err = -ETIMEDOUT;
			break;
		}
		(void)os_futex_wait(&rt->drain.events, events,
				    next_look(rt, deadline_ns));
	}
	/*
	 * relaxed: a signal too many does no harm; and RD1 of runtime_destroy.c
	 * orders this store before that of the next drainer.
	 */
	store_relaxed(&rt->drain.wanted, 0);
	return err;
}

void drain_end_unbind(struct worker *worker)
{
	worker->draining = false;
	worker->leaves =
		true; /* nothing comes after that, from sources either */
	if (task_decide(&worker->base_task, VERDICT_WOKEN, 0) == DECIDED_QUEUE)
		task_enqueue(&worker->base_task);
}

/* ---- leftovers ------------------------------------------------------------------ */

struct survivor {
	const void *label;
	const void *code;
};

struct survivors {
	struct survivor *list;
	uint64_t room;
	uint64_t nr; /* may be more than there was room for */
};

static void note_strand(void *object, void *arg)
{
	struct survivors *survivors = arg;
	struct strand *strand = object;
	struct survivor *survivor;

	/* A report: the strand may go on meanwhile. */
	if (!strand_task(strand))
		return;
	if (survivors->nr++ >= survivors->room)
		return;
	survivor = &survivors->list[survivors->nr - 1];
	/* relaxed: a report. */
	survivor->label = load_relaxed(&strand->fiber.label);
	/* relaxed: as above. */
	survivor->code = load_relaxed(&strand->fiber.code);
}

static void report_survivor(struct sley *rt, const struct survivor *survivor)
{
	const char *name = label_name(survivor->label);
	const void *place = label_place(survivor->label);
	char code[64], site[64];

	os_symbol(code, sizeof(code), survivor->code);
	if (!place) {
		report(rt, "the runtime still waits for %s (function %s)",
		       name ? name : "a task", code);
		return;
	}
	os_symbol(site, sizeof(site), place);
	report(rt,
	       "the runtime still waits for a task (function %s, spawned at "
	       "%s)",
	       code, site);
}

/*
 * Returns the number of tasks.  They are reported without the lock: the user's
 * function may take as long as it likes.
 */
static uint64_t report_strands(struct sley *rt)
{
	struct survivors survivors = {
		.room = slab_nr_live(&rt->strands) + 1,
	};
	size_t size = survivors.room * sizeof(struct survivor);

	survivors.list = mem_alloc(&rt->mem, size);
	if (!survivors.list)
		survivors.room = 0;
	slab_for_each(&rt->strands, note_strand, &survivors);
	for (uint64_t i = 0; i < survivors.nr && i < survivors.room; i++)
		report_survivor(rt, &survivors.list[i]);
	if (survivors.nr > survivors.room)
		report(rt, "the runtime still waits for %llu more task(s)",
		       (unsigned long long)(survivors.nr - survivors.room));
	mem_free(&rt->mem, survivors.list, size);
	return survivors.nr;
}

void drain_report(struct sley *rt)
{
	/* relaxed: a number in a message. */
	uint32_t bound = load_relaxed(&rt->nr_bound);
	uint64_t left = nr_left(rt);
	uint64_t started;

	if (bound)
		report(rt,
		       "the runtime still waits for %u bound thread(s); each "
		       "must call sley_unbind()",
		       bound);
	started = report_strands(rt);
	if (rt->report_more)
		started += rt->report_more(rt);
	/* No strand names these tasks.  Tasks and threads may go on meanwhile. */
	if ((int64_t)(left - started) > 0)
		report(rt,
		       "the runtime still waits for %llu task(s) that have "
		       "not started",
		       (unsigned long long)(left - started));
}
