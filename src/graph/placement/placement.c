/* SPDX-License-Identifier: MIT */
/*
 * placement.c - see placement.h.
 */
#include "graph/placement/placement.h"

#include "core/sched/place.h"
#include "core/task/turn.h"
#include "endpoint/endpoint.h"
#include "graph/node/graph.h"
#include "graph/placement/classes.h"
#include "graph/placement/gang.h"

#include <errno.h>
#include <sley/error.h>

/* ---- conditions ------------------------------------------------------------------- */

/* May @worker run the node: is it eligible, and in the class, if there is any? */
static bool may_run(const struct worker_class *class,
		    const struct sley_node_spec *spec, uint32_t worker)
{
	return mask_has(spec->eligible, spec->nr_eligible, worker) &&
	       (!class || worker_class_has(class, worker));
}

static int check(const struct sley *rt, const struct worker_class *class,
		 const struct sley_node_spec *spec)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < runtime_nr_runners(rt); i++)
		nr += may_run(class, spec, i);
	if (!nr)
		return SLEY_EAFFINITY;
	if (spec->affinity &&
	    (spec->affinity > runtime_nr_runners(rt) || spec->gang > 1 ||
	     !may_run(class, spec, spec->affinity - 1)))
		return SLEY_EAFFINITY;
	return spec->gang > nr ? SLEY_EGANG : 0;
}

/* Elsewhere there are no workers to choose from. */
static int check_elsewhere(const struct sley_node_spec *spec)
{
	if (spec->eligible || spec->affinity || spec->gang > 1 ||
	    spec->worker_class)
		return -EINVAL;
	return endpoint_refuses(spec->on, spec->arg, spec->arg_size);
}

static size_t members_size(uint32_t gang)
{
	return sizeof(struct placement) + gang * sizeof(struct gang_member);
}

static size_t words_size(uint32_t gang, uint32_t nr_words)
{
	return members_size(gang) + nr_words * sizeof(uint64_t);
}

static size_t placement_size(uint32_t gang, uint32_t nr_words, bool elsewhere)
{
	return words_size(gang, nr_words) +
	       elsewhere * sizeof(struct endpoint_end);
}

/* Sets a bit for each worker that may run the node. */
static void fill_eligible(struct placement *placement, const struct sley *rt,
			  const struct worker_class *class,
			  const struct sley_node_spec *spec)
{
	placement->eligible =
		(void *)((char *)placement + members_size(placement->gang));
	for (uint32_t i = 0; i < runtime_nr_runners(rt); i++) {
		if (may_run(class, spec, i))
			placement->eligible[i / 64] |= 1ull << i % 64;
	}
}

/* For other conditions than only a class. */
static int create(struct placement **out, struct sley *rt,
		  const struct worker_class *class,
		  const struct sley_node_spec *spec)
{
	uint32_t gang = spec->gang > 1 ? spec->gang : 0;
	uint32_t nr_words =
		spec->eligible || class ? (runtime_nr_runners(rt) + 63) / 64
					: 0;
	struct placement *placement;

	placement =
		mem_alloc(&rt->mem, placement_size(gang, nr_words, spec->on));
	if (!placement)
		return -ENOMEM;
	placement->affinity = spec->affinity;
	placement->gang = gang;
	placement->nr_words = nr_words;
	if (nr_words)
		fill_eligible(placement, rt, class, spec);
	if (spec->on) {
		placement->on = spec->on;
		placement->arg_size = spec->arg_size;
		placement->end = (void *)((char *)placement +
					  words_size(gang, nr_words));
	}
	*out = placement;
	return 0;
}

int placement_create_slow(struct placement **out, struct sley_graph *graph,
			  const struct sley_node_spec *spec)
{
	struct placement *shared =
		classes_find(graph->classes, spec->worker_class);
	const struct worker_class *class = shared ? shared->class : NULL;
	int err;

	if (spec->worker_class && !class)
		return -EINVAL;
	err = spec->on ? check_elsewhere(spec) : check(graph->rt, class, spec);
	if (err)
		return err;
	if (class && !spec->eligible && !spec->affinity && spec->gang < 2) {
		*out = shared;
		return 0;
	}
	return create(out, graph->rt, class, spec);
}

void placement_free(struct placement *placement, struct sley *rt)
{
	if (!placement->class)
		mem_free(&rt->mem, placement,
			 placement_size(placement->gang, placement->nr_words,
					placement->on));
}

/* ---- the choice of a worker ---------------------------------------------------------- */

/* The best eligible worker from @from on; there is at least one. */
static uint32_t choose(const struct placement *placement, const struct sley *rt,
		       uint32_t from)
{
	uint32_t nr = runtime_nr_runners(rt), first = nr;

	for (uint32_t n = 0; n < nr; n++) {
		uint32_t i = (from + n) % nr;

		if (!mask_has(placement->eligible, placement->nr_words, i))
			continue;
		if (n == 0 || idle_is_parked(&rt->worker[i]->seat))
			return i;
		if (first == nr)
			first = i;
	}
	return first;
}

static uint32_t here(const struct sley *rt)
{
	const struct worker *worker = worker_current();

	return worker && worker->rt == rt && rt->nr_workers ? worker->index : 0;
}

static void queue_at(struct sley *rt, uint32_t index, struct sley_task *task)
{
	task->fiber = NULL;
	(void)place_at(rt->worker[index], task);
}

/* Each member goes to the next eligible worker. */
static void queue_members(struct node *node, struct sley *rt)
{
	struct placement *placement = node->placement;
	uint32_t gang = placement->gang;
	uint32_t at = here(rt);

	for (uint32_t i = 0; i < gang; i++) {
		struct sley_task *task = &placement->member[i].task;

		while (!mask_has(placement->eligible, placement->nr_words, at))
			at = (at + 1) % rt->nr_workers;
		/* After the last member the gang may be over. */
		queue_at(rt, at, task);
		at = (at + 1) % rt->nr_workers;
	}
}

void placement_ready(struct node *node)
{
	const struct placement *placement = node->placement;
	struct sley *rt = node->scope->graph->rt;

	if (!rt->nr_workers)
		place_accepted(&node->task);
	else if (placement->class)
		worker_class_put(placement->class, &node->task);
	else if (placement->gang && !node_is_skipped(node) && gang_begin(node))
		queue_members(node, rt);
	else if (placement->affinity)
		queue_at(rt, placement->affinity - 1, &node->task);
	else
		queue_at(rt, choose(placement, rt, here(rt)), &node->task);
}

bool placement_may_keep_slow(struct worker *worker, const struct node *node)
{
	struct worker_class *class = node->placement->class;

	return class && task_level(&node->task) == LEVEL_DEFAULT &&
	       worker->rt->nr_workers && worker_may_keep(worker) &&
	       worker_class_lets_keep(class, worker);
}
