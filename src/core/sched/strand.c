/* SPDX-License-Identifier: MIT */
/*
 * strand.c - strands, and each worker's cache of idle strands.
 *
 * An idle strand stands in its loop: the worker left it to resume another strand.
 * An idle strand is kept with its warm stack, last in first out, up to a bound.
 * Strands above the bound go back to the pool, which returns the memory of unused
 * stacks to the kernel.  Descriptors live in a slab and are never unmapped while
 * the runtime lives.
 */
#include "core/sched/worker.h"

#include "core/sched/steal.h"
#include "core/sched/loop.h"
#include "mem/stack_map.h"

/*
 * Reports, cancellers and thieves look at strands without a lock; they may still
 * look at the strand that was here before.  The forks of that strand are empty
 * and remain.
 */
static void strand_reset(struct strand *strand)
{
	strand_set_home(strand, NULL);
	strand_set_task(strand, NULL);
	/* relaxed: a hint to other threads; the strand is in no use yet. */
	store_relaxed(&strand->fiber.code, NULL);
	strand->claimed = 0;
	strand->forks.unlocked = 0;
	strand->next = NULL;
	strand->parents_home = NULL;
	list_init(&strand->parents);
}

/* @stack_size 0: a stack of the usual size, from the pool. */
static struct strand *strand_new(struct sley *rt, size_t stack_size,
				 fiber_entry *entry)
{
	struct strand *strand = slab_alloc(&rt->strands);
	struct stack stack;
	int err;

	if (!strand)
		return NULL;
	if (stack_size)
		err = stack_map(&stack, stack_size, rt->config.no_guard_advice);
	else
		err = stack_pool_get(&rt->stacks, &stack);
	if (err) {
		slab_free(&rt->strands, strand);
		return NULL;
	}
	strand_reset(strand);
	if (!strand->forks.slot)
		fork_stack_init(&strand->forks);
	fiber_init(&strand->fiber, &stack, entry, strand);
	strand->fiber.save_fpu = rt->config.save_fpu;
	return strand;
}

struct strand *strand_get(struct worker *worker)
{
	struct strand *strand = worker->idle_strands;

	if (unlikely(!strand))
		return strand_new(worker->rt, 0, strand_main);
	worker->idle_strands = strand->next;
	/* relaxed: other threads read the number for statistics. */
	store_relaxed(&worker->nr_idle, worker->nr_idle - 1);
	return strand;
}

struct strand *strand_create(struct sley *rt, size_t stack_size,
			     fiber_entry *entry, struct sley_task *task)
{
	struct strand *strand = strand_new(rt, stack_size, entry);

	if (strand)
		strand_set_task(strand, task);
	return strand;
}

void strand_put(struct worker *worker, struct strand *strand)
{
	if (unlikely(worker->nr_idle >=
			     chaos_few(worker->rt->config.stack_cache, 1) ||
		     strand_has_own_stack(strand))) {
		strand_free(worker->rt, strand);
		return;
	}
	strand->next = worker->idle_strands;
	worker->idle_strands = strand;
	/* relaxed: other threads read the number for statistics. */
	store_relaxed(&worker->nr_idle, worker->nr_idle + 1);
}

void strand_free(struct sley *rt, struct strand *strand)
{
	struct stack stack = strand->fiber.stack;

	fork_storage_free(rt, strand);
	fiber_fini(&strand->fiber);
	if (strand_has_own_stack(strand))
		stack_unmap(&stack);
	else
		stack_pool_put(&rt->stacks, &stack);
	slab_free(&rt->strands, strand);
}
