/* SPDX-License-Identifier: MIT */
/*
 * plan.c - recording a plan.
 *
 * Each call first makes room for everything it adds.  So it adds all or nothing.
 */
#include "graph/plan/plan.h"

#include "base/assert.h"
#include "base/options.h"
#include "core/life/after_fork.h"
#include "graph/plan/replay.h"
#include "graph/node/spec.h"
#include "mem/array.h"

#include <errno.h>
#include <string.h>

/* ---- life -------------------------------------------------------------------------- */

/* A recorded node can always be waited for. */
static bool is_over(void *arg, sley_node node)
{
	(void)arg;
	(void)node;
	return false;
}

static void init(struct sley_plan *plan, struct sley *rt,
		 const struct sley_plan_options *options)
{
	plan->rt = rt;
	plan->name = options->name ? options->name : "plan";
	plan->nr_runs = options->nr_runs ? options->nr_runs : 1;
	plan->map.is_over = is_over;
	access_map_init(&plan->map, &rt->mem);
	list_init(&plan->idle);
	list_init(&plan->running);
	plan->record[0].name = plan->name;
	plan->nr = 1;
}

/* Frees the results of sealing. */
static void unseal(struct sley_plan *plan)
{
	struct list *link;

	while ((link = list_take_first(&plan->idle)))
		replay_destroy(container_of(link, struct replay, link));
	plan_forget(plan);
}

static void destroy(struct sley_plan *plan)
{
	struct mem *mem = &plan->rt->mem;

	unseal(plan);
	access_map_destroy(&plan->map);
	predecessors_destroy(&plan->predecessors, mem);
	mem_free(mem, plan->link, plan->max_links * sizeof(*plan->link));
	mem_free(mem, plan->record, plan->max * sizeof(*plan->record));
	mem_free(mem, plan, sizeof(*plan));
}

int sley_plan_create(struct sley_plan **out,
		     const struct sley_plan_options *given)
{
	struct sley_plan_options options;
	struct sley_plan *plan;
	struct sley *rt;
	int err = options_take(&options, given);

	*out = NULL;
	if (!err)
		err = runtime_of_caller(&rt);
	if (err)
		return err;
	plan = mem_alloc(&rt->mem, sizeof(*plan));
	if (!plan)
		return -ENOMEM;
	plan->record = array_reserve(&rt->mem, NULL, &plan->max, 0, 1,
				     sizeof(*plan->record));
	if (!plan->record) {
		mem_free(&rt->mem, plan, sizeof(*plan));
		return -ENOMEM;
	}
	init(plan, rt, &options);
	*out = plan;
	return 0;
}

void sley_plan_destroy(struct sley_plan *plan)
{
	if (!plan || unlikely(runtime_is_lost(plan->rt)))
		return;
	sley_mutex_lock(&plan->lock);
	sley_check(list_empty(&plan->running),
		   "destroy a plan when none of its runs is under way");
	sley_mutex_unlock(&plan->lock);
	destroy(plan);
}

/* ---- edges --------------------------------------------------------------------------- */

static int reserve_links(struct sley_plan *plan, uint64_t nr)
{
	struct link *link = array_reserve(&plan->rt->mem, plan->link,
					  &plan->max_links, plan->nr_links,
					  plan->nr_links + nr, sizeof(*link));

	if (!link)
		return -ENOMEM;
	plan->link = link;
	return 0;
}

/* There must be room. */
static void add_link(struct sley_plan *plan, uint32_t from, uint32_t to)
{
	plan->link[plan->nr_links++] = (struct link){ from, to };
}

static bool is_there(const struct sley_plan *plan, sley_node node)
{
	return node != SLEY_NO_NODE && node < plan->nr;
}

static int add_edge(struct sley_plan *plan, sley_node from, sley_node to,
		    uint32_t flags)
{
	int err;

	sley_check(!plan->sealed,
		   "the plan is sealed: add nodes and edges before "
		   "sley_plan_seal()");
	if (!is_there(plan, from) || !is_there(plan, to))
		return -EINVAL;
	err = reserve_links(plan, 1);
	if (!err)
		add_link(plan, (uint32_t)from, (uint32_t)to | flags);
	return err;
}

int sley_plan_edge(struct sley_plan *plan, sley_node from, sley_node to)
{
	return add_edge(plan, from, to, 0);
}

int sley_plan_order(struct sley_plan *plan, sley_node from, sley_node to)
{
	return add_edge(plan, from, to, LINK_ORDER_ONLY);
}

/* ---- nodes --------------------------------------------------------------------------- */

/* SLEY_NO_NODE is allowed, and ignored. */
static bool are_there(const struct sley_plan *plan, const sley_node *node,
		      uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		if (node[i] >= plan->nr)
			return false;
	}
	return true;
}

/* Finds the predecessors, and makes room for the node and its edges. */
static int reserve(struct sley_plan *plan, const struct sley_node_spec *spec,
		   struct predecessors *found)
{
	struct record *record;
	int err;

	if (plan->nr >= PLAN_MAX_NODES)
		return -ENOSPC;
	record = array_reserve(&plan->rt->mem, plan->record, &plan->max,
			       plan->nr, plan->nr + 1ull, sizeof(*record));
	if (!record)
		return -ENOMEM;
	plan->record = record;
	predecessors_begin(found);
	err = access_find(&plan->map, spec->access, spec->nr_access,
			  &found->list);
	predecessors_begin_order(found);
	if (!err && spec->nr_access)
		err = access_find_order(&plan->map, &found->list);
	if (err)
		return err;
	return reserve_links(plan, (uint64_t)found->list.nr + spec->nr_after +
					   spec->nr_order);
}

static void fill(struct record *record, const struct sley_node_spec *spec)
{
	record->fn = spec->fn;
	record->arg = spec->arg;
	record->name = spec->name;
	record->priority = spec->priority;
	record->by_value = spec->arg_size;
	if (spec->arg_size)
		memcpy(record->value, spec->arg, spec->arg_size);
}

static void link_all(struct sley_plan *plan, const sley_node *node, uint32_t nr,
		     uint32_t to)
{
	for (uint32_t i = 0; i < nr; i++) {
		if (node[i] != SLEY_NO_NODE)
			add_link(plan, (uint32_t)node[i], to);
	}
}

/* Adds edges for the accesses, and from the named nodes. */
static void link_node(struct sley_plan *plan, uint32_t index,
		      const struct sley_node_spec *spec,
		      const struct predecessors *found)
{
	const struct node_list *list = &found->list;
	uint32_t nr_needed = found->nr_needed;

	link_all(plan, list->node, nr_needed, index);
	link_all(plan, spec->after, spec->nr_after, index);
	if (list->nr > nr_needed)
		link_all(plan, list->node + nr_needed, list->nr - nr_needed,
			 index | LINK_ORDER_ONLY);
	link_all(plan, spec->order, spec->nr_order, index | LINK_ORDER_ONLY);
}

/* Nodes of a plan run on any worker, here, and a run waits for all of them. */
static bool is_possible(const struct sley_plan *plan,
			const struct sley_node_spec *spec)
{
	return are_there(plan, spec->after, spec->nr_after) &&
	       are_there(plan, spec->order, spec->nr_order) && !spec->scope &&
	       !spec->eligible && !spec->affinity && spec->gang < 2 &&
	       !spec->worker_class && !spec->on;
}

int sley_plan_add(struct sley_plan *plan, sley_node *node,
		  const struct sley_node_spec *given)
{
	struct predecessors *found = &plan->predecessors;
	const struct sley_node_spec *spec = NULL;
	struct sley_node_spec copy;
	uint32_t index = plan->nr;
	int err = spec_check(&spec, &copy, given);

	sley_check(!plan->sealed,
		   "the plan is sealed: add nodes and edges before "
		   "sley_plan_seal()");
	if (!err && !is_possible(plan, spec))
		err = -EINVAL;
	if (!err)
		err = reserve(plan, spec, found);
	if (err) {
		if (node)
			*node = SLEY_NO_NODE;
		return err;
	}
	fill(&plan->record[index], spec);
	plan->nr++;
	access_note(&plan->map, spec->access, spec->nr_access, index);
	link_node(plan, index, spec, found);
	if (node)
		*node = index;
	return 0;
}

/* ---- sealing -------------------------------------------------------------------------- */

/* Creates runs in advance: 0 or -ENOMEM. */
static int provide_runs(struct sley_plan *plan)
{
	for (uint32_t i = 0; i < plan->nr_runs; i++) {
		struct replay *run = replay_create(plan);

		if (!run)
			return -ENOMEM;
		list_append(&plan->idle, &run->link);
	}
	return 0;
}

int sley_plan_seal(struct sley_plan *plan)
{
	int err;

	if (plan->sealed)
		return 0;
	err = plan_compile(plan);
	if (!err)
		err = provide_runs(plan);
	if (err)
		unseal(plan);
	plan->sealed = !err;
	return err;
}
