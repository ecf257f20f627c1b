/* SPDX-License-Identifier: MIT */
/*
 * process_table.c - the places of processes.
 *
 * The places come from a pool (mem/object_pool.h).  The chunks of the pool are the chunks
 * of a table (mem/table.h), in which a process is found by the index of its pid.  A
 * place that was given back gets the next generation when it is used again.  A
 * place whose generations are used up is not used again, so that no pid ever
 * comes back.
 *
 * In a child of fork() the table begins anew, behind all indices that were used:
 * no process is there, no pid of the parent is given out again, and locks that
 * other threads held are out of reach.
 */
#include "actor/process/process.h"

#include "os/at_fork.h"

#define CHUNK_PLACES (1u << TABLE_CHUNK_BITS)
#define LAST_GENERATION ((1u << PID_GENERATION_BITS) - 1)

void *sley__process_table[TABLE_CHUNKS];

static uint32_t nr_chunks; /* under the lock of the pool */

/*
 * The number of processes with a pid is the sum of these counts.  Each worker has
 * a count of its own, up to COUNTS workers.  A single count means nothing: a
 * process may begin on one worker and end on a different worker.
 */
#define COUNTS 64u

static struct count {
	uint64_t nr;
} cache_aligned counts[COUNTS];

/* Generations begin at 1: no pid is 0. */
static bool adopt(struct object_pool *pool, void *memory)
{
	struct process *chunk = memory;

	(void)pool;
	for (uint32_t i = 0; i < CHUNK_PLACES; i++) {
		chunk[i].index = table_first_of(&process_table, nr_chunks) + i;
		chunk[i].inbox.word = INBOX_CLOSED;
	}
	if (!table_publish(&process_table, nr_chunks, chunk))
		return false; /* the table is full */
	nr_chunks++;
	return true;
}

static struct object_pool places = {
	.object_size = sizeof(struct process),
	.chunk_objects = CHUNK_PLACES,
	.adopt = adopt,
};

/*
 * In a child of fork(), where the pool is empty, too.  Even if the pool was never
 * used, process_table_length() may have held its lock.  No chunk is being adopted: the
 * lock of the pools is held.
 */
static void renew_table(void)
{
	places.lock = (struct spinlock){ 0 };
	table_forget(&process_table, nr_chunks);
	for (uint32_t i = 0; i < COUNTS; i++)
		/* relaxed: there is one thread. */
		store_relaxed(&counts[i].nr, 0);
}

FORK_PART(FORK_TABLE, .renew = renew_table);

static struct object_pool_cache *cache(void)
{
	struct worker *worker = worker_current();

	return likely(worker) ? &worker->cache[CACHE_PROCESSES] : NULL;
}

struct process *process_table_get(void)
{
	struct process *process;
	uint32_t next;

	do {
		process = object_pool_get(&places, cache());
		if (unlikely(!process))
			return NULL;
		next = table_next(process->generation, LAST_GENERATION);
	} while (unlikely(!next));
	process->generation = next;
	return process;
}

void process_table_put(struct process *process)
{
	object_pool_put(&places, cache(), process);
}

void process_table_count(int by)
{
	const struct worker *worker = worker_current();
	uint32_t i = likely(worker) ? worker->index % COUNTS : 0;

	/* relaxed: a number; publishes nothing. */
	(void)add_relaxed(&counts[i].nr, (uint64_t)(int64_t)by);
}

uint64_t process_table_nr(void)
{
	uint64_t nr = 0;

	for (uint32_t i = 0; i < COUNTS; i++)
		/* relaxed: a number; exact if no thread changes it. */
		nr += load_relaxed(&counts[i].nr);
	/* An end was counted, but not the beginning of that process. */
	return (int64_t)nr < 0 ? 0 : nr;
}

/* Takes the lock: the caller may rely on the length, see Z1 of stop.c. */
uint32_t process_table_length(void)
{
	uint32_t nr;

	spin_lock(&places.lock);
	nr = nr_chunks;
	spin_unlock(&places.lock);
	return nr * CHUNK_PLACES;
}

struct process *process_lock(sley_pid pid)
{
	struct process *process = pid & PID_PORT ? NULL : process_find(pid);

	if (!process)
		return NULL;
	spin_lock(&process->lock);
	if (likely(process_pid(process) == pid))
		return process;
	spin_unlock(&process->lock);
	return NULL;
}

void process_unlock(struct process *process)
{
	spin_unlock(&process->lock);
}
