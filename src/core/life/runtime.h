/* SPDX-License-Identifier: MIT */
/*
 * runtime.h - a runtime's life: start, bind, cancel, stop.
 *
 * Stopping has phases.  The gate is shut: foreign threads are refused, spawns of
 * live tasks are still taken.  Then the destroyer waits for everything.  Only when
 * nothing is left anywhere do the workers leave, all together; no worker can be
 * needed any more by then.
 *
 * Edges:
 *
 *  RT1  cancel_all sets cancelled -> workers see it : the canceller's data
 */
#ifndef SLEY_CORE_LIFE_RUNTIME_H
#define SLEY_CORE_LIFE_RUNTIME_H

#include "core/sched/worker.h"

/* @config is complete and checked. */
must_check int runtime_create(struct sley **out,
			      const struct sley_config *config);

/* Nothing is left: stop the workers and free everything. */
void runtime_free(struct sley *rt);

/* The memory of one worker, including the memory of its first strand. */
must_check int worker_create(struct sley *rt, unsigned int index,
			     struct worker **out);
void worker_destroy(struct worker *worker);

void runtime_stats(struct sley *rt, struct sley_stats *out);

/* ---- runtime_destroy.c ----------------------------------------------------- */

/*
 * 0, -EBUSY, or -ETIMEDOUT after a report of the tasks and threads that are left.
 */
must_check int runtime_destroy(struct sley *rt, uint64_t deadline_ns);

/* ---- runtime_bind.c -------------------------------------------------------- */

must_check int runtime_bind(struct sley *rt);
void runtime_unbind(struct sley *rt);

/* ---- runtime_cancel.c ------------------------------------------------------ */

void runtime_cancel_all(struct sley *rt);

/* On the worker, once: cancel the blocked tasks of @worker, if all is cancelled. */
void runtime_cancel_strands(struct worker *worker);

#endif
