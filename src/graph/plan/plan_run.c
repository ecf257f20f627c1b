/* SPDX-License-Identifier: MIT */
/*
 * plan_run.c - runs a plan, and stores the outcomes.
 *
 * The caller of a run waits for it.  So there is always a thread that clears the
 * traces of a failure in the steps, under the lock, before the run is used again.
 * The outcomes are stored in the plan, with the number of the run.  Verdicts of an
 * earlier run do not count, and need not be cleared.
 */
#include "base/assert.h"
#include "core/life/after_fork.h"
#include "graph/node/explain.h"
#include "graph/plan/replay.h"

#include <errno.h>
#include <sley/error.h>
#include <sley/time.h>

/* ---- before and after ----------------------------------------------------------- */

static struct replay *take_run(struct sley_plan *plan, void *param)
{
	struct list *link;
	struct replay *run;

	sley_mutex_lock(&plan->lock);
	link = list_take_first(&plan->idle);
	sley_mutex_unlock(&plan->lock);
	run = link ? container_of(link, struct replay, link)
		   : replay_create(plan);
	if (!run)
		return NULL;
	run->param = param;
	sley_mutex_lock(&plan->lock);
	list_append(&plan->running, &run->link);
	sley_mutex_unlock(&plan->lock);
	return run;
}

/* Returns the error of the run, and clears the traces of failures.  (lock) */
static int conclude(struct sley_plan *plan, struct replay *run)
{
	int err = 0;

	plan->nr_ended++;
	if (unlikely(run->failed))
		err = run->first ? run->step[run->first].failure.code
				 : -ECANCELED;
	for (uint32_t i = run->failed; i; i = run->step[i].next) {
		struct step *step = &run->step[i];

		plan->verdict[i] = (struct verdict){ .run = plan->nr_ended,
						     .failure = step->failure };
		failure_clear(&step->failure);
	}
	run->failed = 0;
	run->first = 0;
	run->cancelled = 0;
	return err;
}

static void give_run(struct sley_plan *plan, struct replay *run)
{
	list_remove(&run->link);
	list_prepend(&plan->idle, &run->link);
}

static void cancel(struct sley_plan *plan, struct replay *run)
{
	sley_mutex_lock(&plan->lock);
	replay_cancel(run);
	sley_mutex_unlock(&plan->lock);
}

/* ---- in between ------------------------------------------------------------------ */

/* Waits until the run is over: 0, or the error that ended the wait early. */
static int wait(struct replay *run, uint64_t deadline_ns, enum wait_flags flags)
{
	int err = countdown_wait(&run->pending, deadline_ns, flags);

	if (unlikely(err)) {
		cancel(run->plan, run);
		(void)!countdown_wait(&run->pending, SLEY_FOREVER,
				      WAIT_SHIELDED);
	}
	return err;
}

static int run_plan(struct sley_plan *plan, void *param, uint64_t deadline_ns,
		    enum wait_flags flags)
{
	struct replay *run;
	int err, result = 0;

	sley_check(plan->sealed, "call sley_plan_seal() before the plan runs");
	if (unlikely(runtime_is_lost(plan->rt)))
		return SLEY_EFORKED;
	run = take_run(plan, param);
	if (!run)
		return -ENOMEM;
	err = replay_start(run);
	if (likely(!err)) {
		err = wait(run, deadline_ns, flags);
		sley_mutex_lock(&plan->lock);
		result = conclude(plan, run);
	} else {
		sley_mutex_lock(&plan->lock);
	}
	give_run(plan, run);
	sley_mutex_unlock(&plan->lock);
	return err ? err : result;
}

int sley_plan_run(struct sley_plan *plan, void *param)
{
	return run_plan(plan, param, SLEY_FOREVER, WAIT_SHIELDED);
}

int sley_plan_run_until(struct sley_plan *plan, void *param,
			uint64_t deadline_ns)
{
	return run_plan(plan, param, deadline_ns, 0);
}

void sley_plan_cancel(struct sley_plan *plan)
{
	struct list *link;

	sley_mutex_lock(&plan->lock);
	for (link = plan->running.next; link != &plan->running;
	     link = link->next)
		replay_cancel(container_of(link, struct replay, link));
	sley_mutex_unlock(&plan->lock);
}

void *sley_plan_param(void)
{
	const struct strand *strand = strand_current();
	struct sley_task *task = strand ? strand->task : NULL;
	const struct replay *run = task ? replay_of(task) : NULL;

	return run ? run->param : NULL;
}

/* ---- outcomes ---------------------------------------------------------------------- */

/* With the lock: the verdict of the last run.  NULL: the node succeeded. */
static const struct verdict *find(const struct sley_plan *plan, uint64_t index)
{
	const struct verdict *verdict = &plan->verdict[index];

	return verdict->run == plan->nr_ended ? verdict : NULL;
}

static bool has_ended(const struct sley_plan *plan, sley_node node)
{
	return plan->nr_ended && node != SLEY_NO_NODE && node < plan->nr;
}

enum sley_outcome sley_plan_outcome(struct sley_plan *plan, sley_node node,
				    int *code)
{
	enum sley_outcome outcome = SLEY_OUTCOME_NONE;
	const struct verdict *verdict;

	if (code)
		*code = 0;
	sley_mutex_lock(&plan->lock);
	if (has_ended(plan, node)) {
		verdict = find(plan, node);
		outcome = verdict ? verdict->failure.outcome
				  : SLEY_OUTCOME_SUCCESS;
		if (code && verdict)
			*code = verdict->failure.code;
	}
	sley_mutex_unlock(&plan->lock);
	return outcome;
}

int sley_plan_explain(struct sley_plan *plan, sley_node node, char *at,
		      size_t size)
{
	struct explanation text = { .at = at, .size = size };
	const struct verdict *verdict = NULL;

	sley_mutex_lock(&plan->lock);
	if (has_ended(plan, node))
		verdict = find(plan, node);
	while (verdict) {
		explain(&text, plan->record[node].name, &verdict->failure);
		node = verdict->failure.cause;
		verdict = node ? find(plan, node) : NULL;
	}
	sley_mutex_unlock(&plan->lock);
	return explanation_length(&text);
}
