/* SPDX-License-Identifier: MIT */
/*
 * tbb_outside.cpp - row `outside` of the peer oneTBB: the arena has m->workers threads
 * of oneTBB, and task_arena::enqueue() hands tasks in.
 *
 * Local tasks enqueue() the next one, too.  A thread of oneTBB that has tasks of a
 * task_group takes those for ever: with task_group::run() in its place no task from
 * outside would begin.
 */
#include "tbb.h"

#include "../problems/outside.h"

#include <atomic>
#include <oneapi/tbb/task_group.h>

using oneapi::tbb::task_arena;
using oneapi::tbb::task_group;

struct pool {
	task_arena *arena;
	std::atomic<bool> over;
	std::atomic<int> chains; /* that have not ended */
};

/* The next task of a chain of local tasks. */
static void go_on(struct pool *pool, void (*local)(struct pool *pool))
{
	if (pool->over)
		pool->chains--;
	else
		pool->arena->enqueue([=] { local(pool); });
}

static void short_task(struct pool *pool)
{
	outside_work(OUTSIDE_TASK_NS);
	go_on(pool, short_task);
}

static void fork_leaves(unsigned int depth)
{
	if (!depth) {
		outside_work(OUTSIDE_LEAF_NS);
		return;
	}
	task_group group;

	group.run([=] { fork_leaves(depth - 1); });
	fork_leaves(depth - 1);
	group.wait();
}

static void root_task(struct pool *pool)
{
	fork_leaves(OUTSIDE_DEPTH);
	go_on(pool, root_task);
}

static void submit(void *arg, struct outside_sample *sample)
{
	struct pool *pool = static_cast<struct pool *>(arg);

	pool->arena->enqueue([=] { outside_arrive(sample); });
}

static void measure_beside(const struct measure *m, const char *name,
			   void (*local)(struct pool *pool))
{
	task_arena arena(m->workers, 0);
	struct pool pool;
	const struct outside_pool from_outside = { submit, &pool };

	pool.arena = &arena;
	pool.over = false;
	pool.chains = 2 * m->workers;
	for (int i = 0; i < 2 * m->workers; i++)
		go_on(&pool, local);
	outside_run(m, name, &from_outside);
	pool.over = true;
	while (pool.chains > 0)
		usleep(1000);
}

void tbb_outside(const struct measure *m)
{
	using oneapi::tbb::global_control;
	/* The submitter, which is no worker of the arena, counts. */
	global_control limit(global_control::max_allowed_parallelism,
			     (size_t)m->workers + 1);

	measure_beside(m, "task", short_task);
	measure_beside(m, "root", root_task);
}
