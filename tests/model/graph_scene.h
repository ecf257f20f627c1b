/* SPDX-License-Identifier: MIT */
/*
 * graph_scene.h - for models of graphs: the very sources of src/graph, and the parts
 * of a runtime that these sources need.
 *
 * The first threads of a model are workers.  The model tells a worker which nodes to
 * run; the worker runs a node with the very graph_turn() and the code after a turn.
 * The other threads are foreign threads and wait as foreign threads do.  A queued
 * node is in `queue`, by its index; there is no search, see core_search.c.  Nodes
 * read the plain data of their predecessors, and return the values that the model
 * sets.
 *
 * Include this file in one source of a model, and link ${graph_waiting}.
 */
#ifndef SLEY_TESTS_MODEL_GRAPH_SCENE_H
#define SLEY_TESTS_MODEL_GRAPH_SCENE_H

/* node_run.c puts nodes that may start here. */
#define place_spawned scene_spawned
#define place_accepted scene_accepted

#include "model_mem.h"
#include "payload.h"
#include "threads_only.h"

#include "holders.h"

#include "core/life/drain.h"
#include "core/life/after_fork.h"
#include "core/trace/report.h"
#include "core/life/runtime.h"
#include "core/task/spawn.h"
#include "graph/node/buffer.h"
#include "graph/placement/gang.h"
#include "graph/log/node_log.h"
#include "graph/node/node_run.c"
#include "graph/placement/classes.h"
#include "os/map.h"

#include <sley/error.h>
#include <string.h>

#define SCENE_NODES 5  /* numbers, from 1 on; a job for each */
#define SCENE_PLACES 6 /* one more, for failures that are forgotten */
#define SCENE_WORKERS 2

struct job {
	struct payload done; /* written by the function of the job   */
	int before[2];       /* jobs that have succeeded; 0: none     */
	int says;            /* the return value of the function      */
};

static struct sley scene_rt;
static struct worker scene_workers[SCENE_WORKERS];
static struct worker *scene_table[SCENE_WORKERS] = { &scene_workers[0],
						     &scene_workers[1] };
static struct sley_graph *graph;
static struct sley_graph_scope *scene_scope; /* for new nodes, or NULL */
static struct job jobs[1 + SCENE_NODES];
static sley_node ids[1 + SCENE_NODES]; /* of the node with that job */
static struct sley_task *queue[1 + SCENE_PLACES]; /* by index       */
static struct scene_ledger {
	int queued[1 + SCENE_NODES]; /* by job */
	int ran[1 + SCENE_NODES];
	bool keeps; /* worker_may_keep() */
} scene_ledger;

/* ---- the rest of the runtime ------------------------------------------------------ */

/* The predecessors have ended; not checked if a predecessor has failed. */
static void scene_check_before(const struct job *job)
{
	for (int i = 0; i < 2; i++) {
		if (job->before[i])
			payload_check(&jobs[job->before[i]].done);
	}
}

/* The thread that queues a node has seen the end of all predecessors. */
static void scene_queue(struct sley_task *task)
{
	struct node *node = node_of(task);
	const struct job *job = task->arg;
	uint32_t index = node->index;

	MODEL_CHECK(index <= SCENE_PLACES);
	/* relaxed: the caller has counted to 0. */
	if (!load_relaxed(&node->failure.cause))
		scene_check_before(job);
	scene_ledger.queued[job - jobs]++;
	store_release(&queue[index], task);
}

void scene_spawned(struct worker *worker, struct sley_task *task)
{
	(void)worker;
	MODEL_CHECK(!task->fiber);
	scene_queue(task);
}

void scene_accepted(struct sley_task *task)
{
	MODEL_CHECK(task->fiber == &scene_workers[0]);
	task->fiber = NULL;
	scene_queue(task);
}

bool worker_may_keep(struct worker *worker)
{
	(void)worker;
	return scene_ledger.keeps;
}

int spawn_count_foreign(struct sley *rt)
{
	MODEL_CHECK(rt == &scene_rt);
	return 0;
}

void drain_end_unbind(struct worker *worker)
{
	(void)worker;
	never();
}

int runtime_of_caller(struct sley **rt)
{
	*rt = &scene_rt;
	return 0;
}

/* The rest of the places is never taken. */
void *(os_reserve)(size_t size)
{
	size_t needed = (1 + SCENE_PLACES) * sizeof(struct node);

	MODEL_CHECK(size >= needed);
	return model_alloc(needed);
}

int os_commit(void *store, size_t size)
{
	(void)store;
	(void)size;
	return 0;
}

void os_unmap(void *store, size_t size)
{
	(void)size;
	model_free(store);
}

/* Patience is counted from here. */
uint64_t sley_now(void)
{
	return 0;
}

const char *sley_strerror(int error)
{
	(void)error;
	return "an error";
}

/* ---- parts of a graph that no model comes to -------------------------------------- */

void access_map_init(struct access_map *map, struct mem *mem)
{
	map->mem = mem;
}

void access_map_destroy(struct access_map *map)
{
	(void)map;
}

int access_find(struct access_map *map, const struct sley_access *access,
		uint32_t nr, struct node_list *found)
{
	(void)map;
	(void)access;
	(void)nr;
	(void)found;
	never();
	return 0;
}

int access_find_order(struct access_map *map, struct node_list *found)
{
	(void)map;
	(void)found;
	never();
	return 0;
}

void access_note(struct access_map *map, const struct sley_access *access,
		 uint32_t nr, sley_node node)
{
	(void)map;
	(void)access;
	(void)nr;
	(void)node;
	never();
}

void access_rename(struct access_map *map,
		   sley_node (*rename)(void *arg, sley_node writer), void *arg)
{
	(void)map;
	(void)rename;
	(void)arg;
}

void access_forget(struct access_map *map)
{
	(void)map;
}

void arena_init(struct arena *arena, size_t size)
{
	arena->size = size;
}

void arena_destroy(struct arena *arena)
{
	(void)arena;
}

void buffers_drop(struct sley_graph_scope *scope)
{
	MODEL_CHECK(!scope->buffers);
}

int classes_create_slow(struct classes **out, struct sley *rt,
			const struct sley_graph_options *options)
{
	(void)out;
	(void)rt;
	(void)options;
	never();
	return -ENOSYS;
}

void classes_close(struct classes *classes, struct sley *rt)
{
	(void)rt;
	MODEL_CHECK(!classes);
}

int placement_create_slow(struct placement **out, struct sley_graph *of,
			  const struct sley_node_spec *spec)
{
	(void)out;
	(void)of;
	(void)spec;
	never();
	return -ENOSYS;
}

void placement_free(struct placement *placement, struct sley *rt)
{
	(void)placement;
	(void)rt;
	never();
}

bool placement_may_keep_slow(struct worker *worker, const struct node *node)
{
	(void)worker;
	(void)node;
	never();
	return false;
}

void placement_ready(struct node *node)
{
	(void)node;
	never();
}

/* No waiter is a node. */
void deadlock_enter(struct scope_wait *wait, struct sley_graph_scope *scope,
		    bool stays, bool looks)
{
	(void)stays;
	(void)looks;
	wait->node = NULL;
	wait->scope = scope;
	wait->look_ns = SLEY_FOREVER;
}

void deadlock_leave(struct scope_wait *wait)
{
	(void)wait;
}

int run_check(const struct sley_graph_scope *scope,
	      const struct predecessors *found)
{
	(void)scope;
	(void)found;
	never();
	return 0;
}

int deadlock_look(struct scope_wait *wait)
{
	(void)wait;
	never();
	return 0;
}

void report(const struct sley *of, const char *format, ...)
{
	(void)of;
	MODEL_CHECK(!format);
}

void gang_cancel(struct node *node)
{
	(void)node;
	never();
}

struct node *gang_node(struct sley_task *task)
{
	(void)task;
	return NULL;
}

int sley_graph_step(struct sley_graph *of)
{
	(void)of;
	never();
	return 0;
}

void step_submitted(struct sley_graph *of, struct node *node, uint32_t nr_edges)
{
	(void)of;
	(void)node;
	(void)nr_edges;
	never();
}

void step_ready(struct sley_graph *of, struct node *node)
{
	(void)of;
	(void)node;
	never();
}

void watch_submitted(struct node *node, const struct predecessors *found,
		     uint32_t nr, bool last)
{
	(void)node;
	(void)found;
	(void)nr;
	(void)last;
	never();
}

void watch_begin(struct node *node)
{
	(void)node;
	never();
}

void watch_end(struct node *node, uint32_t worker)
{
	(void)node;
	(void)worker;
	never();
}

void watch_release(const struct node *to, uint32_t number)
{
	(void)to;
	(void)number;
	never();
}

struct node_log *node_log_create(struct mem *mem, uint32_t max)
{
	(void)mem;
	(void)max;
	never();
	return NULL;
}

void node_log_destroy(struct node_log *log)
{
	MODEL_CHECK(!log);
}

bool node_log_has(const struct node_log *log, sley_node id)
{
	(void)log;
	(void)id;
	never();
	return false;
}

/* ---- setting up ------------------------------------------------------------------------ */

static void scene_runtime(unsigned int workers)
{
	memset(&scene_rt, 0, sizeof(scene_rt));
	memset(scene_workers, 0, sizeof(scene_workers));
	scene_rt.worker = scene_table;
	scene_rt.nr_workers = SCENE_WORKERS;
	scene_rt.membarrier = os_membarrier_setup();
	idle_init(&scene_rt.idle, SCENE_WORKERS, scene_rt.membarrier);
	model_lock_word(&scene_rt.idle.lock.word);
	selves_set(&(struct self){ .bound = &scene_rt });
	holders_setup(false);
	for (unsigned int i = 0; i < SCENE_WORKERS; i++) {
		scene_workers[i].rt = &scene_rt;
		scene_workers[i].index = i;
		idle_seat_init(&scene_workers[i].seat);
		if (i < workers)
			selves[1 + i].worker = &scene_workers[i];
	}
}

/* In setup: @workers threads are workers, and the graph has @max_nodes nodes. */
static void scene_setup(unsigned int workers, uint32_t max_nodes)
{
	struct sley_graph_options options = { .size = sizeof(options),
					      .max_nodes = max_nodes };

	scene_runtime(workers);
	scene_scope = NULL;
	memset(jobs, 0, sizeof(jobs));
	memset(ids, 0, sizeof(ids));
	memset(queue, 0, sizeof(queue));
	memset(&scene_ledger, 0, sizeof(scene_ledger));
	model_ledger(&scene_ledger, sizeof(scene_ledger));
	MODEL_CHECK(!sley_graph_create(&graph, &options));
	model_lock_word(&graph->room.q.word);
	model_lock_word(&graph->lock.q.word);
	model_lock_word(&graph->root.pending.word);
	model_name(&graph->lock, "lock");
	model_name(&graph->room, "room");
	model_name(&graph->root.pending, "pending");
	model_name(&graph->full, "full");
	model_name(&graph->root.cancelled, "cancelled");
	model_name(&graph->cancelling, "cancelling");
	model_name(&graph->root.failed, "failed");
	model_name(&graph->nr_failed, "nr_failed");
	model_name(&graph->store.given, "given");
	for (int i = 1; i <= SCENE_PLACES; i++)
		model_name(&queue[i], "queue%d", i);
}

/* ---- nodes --------------------------------------------------------------------------------- */

static int scene_fn(void *arg)
{
	struct job *job = arg;

	scene_check_before(job);
	scene_ledger.ran[job - jobs]++;
	payload_write(&job->done);
	return job->says;
}

/* @nr_after entries of `before` must succeed, @nr_order entries must only end. */
static void submit_as(int job, int nr_after, int nr_order)
{
	struct sley_node_spec spec = { .size = sizeof(spec),
				       .fn = scene_fn,
				       .arg = &jobs[job],
				       .scope = scene_scope };
	sley_node before[2];

	for (int i = 0; i < nr_after + nr_order; i++)
		before[i] = ids[jobs[job].before[i]];
	spec.after = before;
	spec.nr_after = (uint32_t)nr_after;
	spec.order = before + nr_after;
	spec.nr_order = (uint32_t)nr_order;
	MODEL_CHECK(!sley_graph_submit(graph, &ids[job], &spec));
}

__attribute__((unused)) static struct node *node_at(int job)
{
	return node_store_node(&graph->store, node_index_of(ids[job]));
}

/*
 * By a worker, as run_turn() in core/sched/worker.c: returns the next task, or NULL.
 */
static struct sley_task *run_one(struct sley_task *task)
{
	(void)task_claim(task);
	task->fn(task);
	task->fiber = NULL;
	return turns_of(task)->after(worker_current(), task);
}

/* The same, with all tasks that the worker keeps. */
static void run_on(struct sley_task *task)
{
	while (task)
		task = run_one(task);
}

/* The node in place @index is queued, or will be queued. */
__attribute__((unused)) static void run_queued(uint32_t index)
{
	struct sley_task *task;

	while (!(task = load_acquire(&queue[index])))
		spin_hint(&queue[index]);
	/* relaxed: the entry is ours. */
	store_relaxed(&queue[index], NULL);
	run_on(task);
}

/* The calling thread is the first worker, or is no worker, from here on. */
__attribute__((unused)) static void scene_become(bool worker)
{
	sley__self.worker = worker ? &scene_workers[0] : NULL;
}

/* In setup and finish: by the first worker. */
__attribute__((unused)) static void run_now(int job)
{
	struct self saved = selves[0];

	selves[0].worker = &scene_workers[0];
	run_queued(node_index_of(ids[job]));
	selves[0] = saved;
}

/* In finish: nothing is left. */
__attribute__((unused)) static void scene_end(void)
{
	sley_graph_destroy(graph);
}

#endif
