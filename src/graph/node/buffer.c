/* SPDX-License-Identifier: MIT */
/*
 * buffer.c - see buffer.h.
 */
#include "graph/node/buffer.h"

#include "core/life/after_fork.h"
#include "core/trace/report.h"
#include "graph/node/submit.h"

#include <errno.h>
#include <sley/error.h>
#include <sley/graph_buffer.h>
#include <sley/time.h>

/* ---- room ------------------------------------------------------------------------ */

/* With the lock, which is released meanwhile. */
static int wait_for_block(struct sley_graph *graph, size_t size,
			  uint64_t deadline_ns, struct arena_block **block)
{
	int err = 0;

	while (!err && !(*block = arena_take(&graph->arena, size))) {
		if (!graph->nr_leaving) {
			err = SLEY_EARENA;
			break;
		}
		err = sley_cond_wait_until(&graph->space, &graph->lock,
					   deadline_ns);
	}
	return err == -ETIMEDOUT ? -EAGAIN : err;
}

static int take(struct sley_graph *graph, size_t size, uint64_t deadline_ns,
		struct arena_block **block)
{
	if (!arena_fits(&graph->arena, size))
		return SLEY_EARENA;
	*block = arena_take(&graph->arena, size);
	if (likely(*block))
		return 0;
	if (!graph->arena.base)
		return -ENOMEM;
	if (submit_own_node(graph) && graph->nr_leaving)
		return -EAGAIN;
	return wait_for_block(graph, size, deadline_ns, block);
}

int sley_graph_buffer_until(struct sley_graph *graph,
			    struct sley_graph_scope *scope, size_t size,
			    uint64_t deadline_ns, void **buffer)
{
	struct arena_block *block = NULL;
	int err;

	*buffer = NULL;
	if (unlikely(runtime_is_lost(graph->rt)))
		return SLEY_EFORKED;
	if (!scope)
		scope = &graph->root;
	if (!size || scope->graph != graph)
		return -EINVAL;
	sley_mutex_lock(&graph->lock);
	err = take(graph, size, deadline_ns, &block);
	if (!err) {
		block->owner = scope;
		block->next = scope->buffers;
		scope->buffers = block;
		*buffer = arena_memory(block);
	}
	sley_mutex_unlock(&graph->lock);
	return err;
}

int sley_graph_buffer(struct sley_graph *graph, struct sley_graph_scope *scope,
		      size_t size, void **buffer)
{
	return sley_graph_buffer_until(graph, scope, size, SLEY_FOREVER,
				       buffer);
}

/* ---- the end ------------------------------------------------------------------------- */

struct leaver {
	struct sley_graph *graph;
	struct arena_block *block;
};

/* The function of the node that gives the buffer back: all its users have ended. */
static int leave(void *arg)
{
	const struct leaver *leaver = arg;
	struct sley_graph *graph = leaver->graph;

	sley_mutex_lock(&graph->lock);
	graph->nr_leaving--;
	arena_give(&graph->arena, leaver->block);
	sley_cond_notify_all(&graph->space);
	sley_mutex_unlock(&graph->lock);
	return 0;
}

static void unlink_block(struct arena_block *block)
{
	struct sley_graph_scope *scope = block->owner;
	struct arena_block **at = &scope->buffers;

	while (*at != block)
		at = &(*at)->next;
	*at = block->next;
}

/* Submits that node.  The buffer is in no list.  Error: nothing has changed. */
static int drop(struct sley_graph *graph, struct arena_block *block)
{
	struct leaver leaver = { graph, block };
	struct sley_access all = sley_access_of(arena_memory(block),
						block->size - sizeof(*block),
						SLEY_ACCESS_UPDATE);
	struct sley_node_spec spec = {
		.size = sizeof(spec),
		.fn = leave,
		.arg = &leaver,
		.arg_size = sizeof(leaver),
		.access = &all,
		.nr_access = 1,
		.name = "buffer",
	};

	return submit_last(graph, NULL, &spec);
}

/*
 * With the lock, which is released meanwhile.  Without memory for the node, the
 * buffer stays until the graph is destroyed.
 */
static void drop_or_keep(struct sley_graph *graph, struct arena_block *block)
{
	int err;

	block->leaving = true;
	graph->nr_leaving++;
	sley_mutex_unlock(&graph->lock);
	err = drop(graph, block);
	sley_mutex_lock(&graph->lock);
	if (err) {
		graph->nr_leaving--;
		report(graph->rt,
		       "%s: a buffer of %zu bytes stays until the graph is "
		       "destroyed: %s",
		       graph->name, block->size - sizeof(*block),
		       sley_strerror(err));
	}
}

void sley_graph_buffer_drop(struct sley_graph *graph, void *buffer)
{
	struct arena_block *block;

	if (!buffer)
		return;
	sley_mutex_lock(&graph->lock);
	block = arena_find(&graph->arena, buffer);
	sley_check(block && !block->leaving,
		   "no buffer of the graph begins there, or it was dropped "
		   "before");
	unlink_block(block);
	drop_or_keep(graph, block);
	sley_mutex_unlock(&graph->lock);
}

void buffers_drop(struct sley_graph_scope *scope)
{
	struct arena_block *block;

	while ((block = scope->buffers)) {
		scope->buffers = block->next;
		drop_or_keep(scope->graph, block);
	}
}
