/* SPDX-License-Identifier: MIT */
/*
 * core_watchdog.c - src/core/sched/watchdog.c: the monitor looks at the strand of a
 * worker that makes strands meanwhile.
 *
 * The worker makes a strand with a task, and goes to that strand, as core/sched/switch.h
 * does.  The monitor has found the worker held for long enough, and looks closely.  It
 * finds the strand, with its task, or the strand before, which has no task.  Complete for
 * one switch and one look.  One more scene has the monitor alone: at which of its looks
 * it speaks.
 */
#include "explorer.h"

#include "selves.h"

#include "core/sched/gauge.h"
#include "core/sched/source.h"
#include "core/sched/watchdog.h"
#include "core/sched/worker.h"
#include "core/trace/report.h"
#include "core/wait/holder.h"

#include <stdarg.h>
#include <string.h>

#define PATIENCE_NS 10
#define BEGIN_NS 1
#define LATE_NS (BEGIN_NS + PATIENCE_NS)

static struct sley rt;
static struct worker worker, *all[1] = { &worker };
static struct sley_task task;
static struct strand made;
static uint32_t nr_waiting; /* behind the task         */
static bool from_outside;   /* work may come           */
static bool still_held;     /* the worker, by the task */
static struct ledger {
	int looks, reports;
} ledger;

uint32_t gauge_bound(const struct worker *of)
{
	MODEL_CHECK(of == &worker);
	ledger.looks++;
	return nr_waiting;
}

bool sources_are_due(struct sley *of, bool asleep)
{
	MODEL_CHECK(of == &rt && !asleep);
	return from_outside;
}

bool monitor_is_held(struct worker *of)
{
	MODEL_CHECK(of == &worker);
	return still_held;
}

void report(const struct sley *of, const char *format, ...)
{
	va_list args;

	MODEL_CHECK(of == &rt);
	va_start(args, format);
	MODEL_CHECK(!strcmp(va_arg(args, const char *), "a task"));
	va_end(args);
	ledger.reports++;
}

void holder_describe(char *out, size_t size, uintptr_t holder)
{
	(void)out;
	(void)size;
	(void)holder;
	MODEL_CHECK(!"no model gives names");
}

static void setup(void)
{
	memset(&made, 0, sizeof(made));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	watchdog_init(&rt.watchdog, &(const struct sley_config){ 0 });
	rt.watchdog.patience_ns = PATIENCE_NS;
	worker.rt = &rt;
	rt.nr_workers = 1;
	rt.worker = all;
	worker.base.task = NULL;
	worker.strand = &worker.base;
	worker.watch = (struct watchdog_sight){ .since_ns = BEGIN_NS };
	nr_waiting = 1;
	from_outside = false;
	still_held = true;
	model_name(&worker.strand, "strand");
	model_name(&made.task, "made.task");
}

static void switches(int id)
{
	struct strand *strand = model_mapped(&made, sizeof(made));

	(void)id;
	strand->task = &task;
	store_release(&worker.strand, strand); /* S1 of core/sched/worker.h */
}

static void monitor(int id)
{
	(void)id;
	watchdog_look(&worker, true, LATE_NS);
}

static void told_of_the_task_or_nothing(void)
{
	const struct watchdog_sight *sight = &worker.watch;

	MODEL_CHECK(watchdog_found(&rt.watchdog) == sight->told);
	MODEL_CHECK(ledger.reports == sight->told);
	MODEL_CHECK(sight->task == (sight->told ? &task : NULL));
	MODEL_CHECK(sight->strand == (sight->told ? &made : NULL));
}

MODEL(a_monitor_finds_a_strand_that_exists, .setup = setup,
      .threads = { switches, monitor }, .finish = told_of_the_task_or_nothing);

/* ---- the monitor alone ------------------------------------------------------------- */

static void look(bool held, uint64_t now_ns, int looks, int reports)
{
	watchdog_look(&worker, held, now_ns);
	MODEL_CHECK(ledger.looks == looks && ledger.reports == reports);
	MODEL_CHECK(watchdog_found(&rt.watchdog) == (uint64_t)reports);
	ledger.looks = 0;
}

/* Until its next task the worker is held from @now_ns on. */
static void next_time(uint64_t *now_ns, int reports)
{
	look(false, *now_ns, 0, reports);
	look(true, *now_ns + PATIENCE_NS - 1, 0, reports);
	*now_ns += PATIENCE_NS;
}

static void looks_one_by_one(int id)
{
	static struct sley_task other_task;
	static struct strand other;
	uint64_t now_ns = LATE_NS;

	(void)id;
	made.task = other.task = &task;
	worker.strand = &made;
	/* The first look, and then one that is too early. */
	worker.watch.since_ns = 0;
	look(true, now_ns, 0, 0);
	next_time(&now_ns, 0);
	/* Nothing waits; the task has just ended; and now it is worth a line, once. */
	nr_waiting = 0;
	look(true, now_ns, 1, 0);
	nr_waiting = 1;
	still_held = false;
	look(true, now_ns, 1, 0);
	still_held = true;
	look(true, now_ns, 1, 1);
	look(true, now_ns, 0, 1);
	/* The same task has waited in between. */
	next_time(&now_ns, 1);
	look(true, now_ns, 1, 1);
	/* The same task on another strand, and then another task there. */
	next_time(&now_ns, 1);
	worker.strand = &other;
	look(true, now_ns, 1, 2);
	next_time(&now_ns, 2);
	other.task = &other_task;
	look(true, now_ns, 1, 3);
	/* The first task has come back there, and the monitor has seen it go. */
	other.task = &task;
	next_time(&now_ns, 3);
	other.task = &other_task;
	look(true, now_ns, 1, 4);
}

/* The plain reads of the monitor do not look into its store buffer. */
MODEL(a_monitor_speaks_once_for_each_task, .setup = setup, .modes = MODEL_SC,
      .threads = { looks_one_by_one });

/* No task waits; work may come from outside, for which no worker looks. */
static void looks_at_all_workers(int id)
{
	uint64_t now_ns = BEGIN_NS + 10 * PATIENCE_NS;

	(void)id;
	made.task = &task;
	worker.strand = &made;
	nr_waiting = 0;
	look(true, now_ns, 1, 0);
	from_outside = true;
	look(true, now_ns - 1, 1, 0);
	look(true, now_ns, 1, 1);
	look(true, now_ns, 0, 1);
}

MODEL(a_monitor_has_more_patience_with_tasks_that_hold_all_workers,
      .setup = setup, .modes = MODEL_SC, .threads = { looks_at_all_workers });
