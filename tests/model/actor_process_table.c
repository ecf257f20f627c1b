/* SPDX-License-Identifier: MIT */
/*
 * actor_process_table.c - the number of processes in
 * src/actor/process/process_table.c: no beginning and no end is lost, and a reader
 * never gets less than 0.  And the generations: a
 * place that has had its last generation is passed over.  And process_find(), for
 * pids that no process has.
 *
 * Threads that are no workers share a count with the first worker; the other worker
 * has a count of its own, so that a process may end in another count than it began.
 *
 * Complete for three threads.  The places themselves are in mem_object_pool.c, mem_table.c
 * and actor_stop.c.
 */
#include "selves.h"
#include "never.h"

#include "actor/process/process_table.c"

#include <string.h>

#define WORKERS 2

static struct worker workers[WORKERS];
static uint32_t began;          /* the process that the other worker ends */
static struct process given[3]; /* by the pool, one after the other */
static uint32_t nr_given;

void *object_pool_get_slow(struct object_pool *pool,
			   struct object_pool_cache *cache_of)
{
	(void)pool;
	(void)cache_of;
	return nr_given < array_size(given) ? &given[nr_given++] : NULL;
}

void object_pool_put_slow(struct object_pool *pool,
			  struct object_pool_cache *cache_of, void *object)
{
	(void)pool;
	(void)cache_of;
	(void)object;
	never();
}

/* The first @nr_workers threads are workers. */
static void setup_with(int nr_workers)
{
	memset(counts, 0, sizeof(counts));
	memset(workers, 0, sizeof(workers));
	selves_set(&(struct self){ 0 });
	for (int i = 0; i < WORKERS; i++) {
		workers[i].index = (uint32_t)i;
		if (i < nr_workers)
			selves[1 + i].worker = &workers[i];
		model_name(&counts[i].nr, "count%d", i);
	}
	began = 0;
	model_name(&began, "began");
}

/* ---- nothing is lost --------------------------------------------------------------- */

static void setup(void)
{
	setup_with(1);
}

static void begin(int id)
{
	(void)id;
	process_table_count(1);
}

static void begin_and_end(int id)
{
	begin(id);
	process_table_count(-1);
}

static void two_are_left(void)
{
	MODEL_CHECK(process_table_nr() == 2);
}

MODEL(three_threads_share_a_count, .setup = setup,
      .threads = { begin, begin, begin_and_end }, .finish = two_are_left);

/* ---- an end in another count than the beginning --------------------------------------- */

static void setup_two_workers(void)
{
	setup_with(2);
}

static void begin_one(int id)
{
	begin(id);
	store_release(&began, 1);
}

static void end_it(int id)
{
	(void)id;
	while (!load_acquire(&began))
		spin_hint(&began);
	process_table_count(-1);
}

static void look(int id)
{
	(void)id;
	MODEL_CHECK(process_table_nr() <= 1);
}

static void none_is_left(void)
{
	MODEL_CHECK(process_table_nr() == 0);
}

MODEL(it_ends_in_another_count, .setup = setup_two_workers,
      .threads = { begin_one, end_it, look }, .finish = none_is_left);

/* ---- generations ------------------------------------------------------------------- */

static void setup_generations(void)
{
	setup_with(0);
	memset(given, 0, sizeof(given));
	given[0].generation = LAST_GENERATION - 1;
	given[1].generation = LAST_GENERATION;
	nr_given = 0;
}

static void get_all(int id)
{
	(void)id;
	MODEL_CHECK(process_table_get() == &given[0]);
	MODEL_CHECK(given[0].generation == LAST_GENERATION);
	MODEL_CHECK(process_table_get() == &given[2]);
	MODEL_CHECK(given[2].generation == 1); /* no pid is 0 */
	MODEL_CHECK(process_table_get() == NULL);
}

static void none_came_back(void)
{
	MODEL_CHECK(given[1].generation == LAST_GENERATION);
}

MODEL(a_place_that_is_used_up_is_passed_over, .setup = setup_generations,
      .threads = { get_all }, .finish = none_came_back);

/* ---- finding ----------------------------------------------------------------------- */

static void setup_one(void)
{
	setup_generations();
	sley__process_table[0] = given;
	sley__process_table[1] = NULL;
}

/* The first place has no process: its pid is 0, as is no pid. */
static void find_none(int id)
{
	(void)id;
	MODEL_CHECK(!process_find(SLEY_NO_PID));
	MODEL_CHECK(!process_find(pid_make(0, 0, 1)));
	MODEL_CHECK(!process_find(pid_make(0, CHUNK_PLACES, 1)));
	process_set_pid(&given[0], pid_make(0, 0, 1));
	MODEL_CHECK(process_find(pid_make(0, 0, 1)) == &given[0]);
	MODEL_CHECK(!process_find(pid_make(0, 0, 2)));
}

MODEL(a_pid_without_a_process_is_not_found, .setup = setup_one,
      .threads = { find_none });
