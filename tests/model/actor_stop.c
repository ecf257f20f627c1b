/* SPDX-License-Identifier: MIT */
/*
 * actor_stop.c - src/actor/process/stop.c with the table, its pool and
 * src/actor/process/process.c: a process that begins while its runtime stops is
 * asked to end, by the walking stopper or by itself.
 *
 * The newcomer gets a place from the real pool, in an existing chunk or in a new
 * chunk.  Then process_start() publishes the newcomer, looks for the mark and queues
 * the newcomer.  The stopper marks the runtime and walks.
 *
 * Complete for one newcomer and one stopper, with a chunk and without; for two
 * newcomers that need a chunk; and for a newcomer that ends during the walk.
 *
 * Also the limit on processes (.max_processes of the configuration): two processes
 * come and go, where there is room for both, and for one.
 */
#define PROCESSES_IN_A_POOL
#include "crew.h"
#include "processes_only.h"

#include "actor/process/stop.h"
#include "actor/process/process_table.c"

/* Both sources are included, for their static functions, and share these names. */
#define enter_child pool_enter_child
#define watch_forks pool_watch_forks
#include "mem/object_pool.c"

#include "os/map.h"

#define MAPS 3

static struct process memory[MAPS][CHUNK_PLACES];
static uint32_t nr_maps; /* some of them in vain */
static struct process *born[2];
static struct ledger {
	int nr_queued;
} ledger;

/* ---- the rest of the runtime -------------------------------------------------------- */

void *(os_map)(size_t size)
{
	uint32_t i = add_relaxed(&nr_maps, 1);

	MODEL_CHECK(size == sizeof(memory[0]) && i < array_size(memory));
	return model_mapped(memory[i], size);
}

void os_unmap(void *chunk, size_t size)
{
	(void)chunk;
	(void)size;
}

int spawn_into_as(struct sley *into, struct sley_group *group,
		  struct sley_task *task, const struct sley_options *options,
		  uint32_t flags)
{
	(void)into;
	(void)options;
	task->group = group;
	task_build(task, LEVEL_DEFAULT, flags);
	ledger.nr_queued++;
	return 0;
}

void drain_end_unbind(struct worker *worker)
{
	(void)worker;
}

void process_free_self(struct process *process, void *self,
		       const struct sley_behaviour *behaviour)
{
	(void)process;
	(void)self;
	(void)behaviour;
}

/* ---- threads -------------------------------------------------------------------------- */

/* @locked: of how many chunks the locks are known as such; there is a limit. */
static void setup_with(unsigned int workers, uint32_t locked)
{
	crew_set_up(workers);
	memset(memory, 0, sizeof(memory));
	for (uint32_t i = 0; i < MAPS * CHUNK_PLACES; i++) {
		struct process *process =
			&memory[i / CHUNK_PLACES][i % CHUNK_PLACES];

		/* No process has the other places. */
		if (i % CHUNK_PLACES < 2 && i / CHUNK_PLACES < locked)
			model_lock_word(&process->lock.word);
		model_name(&process->lock.word, "lock%u", i);
		model_name(&process->pid, "pid%u", i);
		model_name(&process->inbox.word, "inbox%u", i);
	}
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	nr_maps = nr_chunks = 0;
	memset(sley__process_table, 0, MAPS * sizeof(sley__process_table[0]));
	places.lock = pools_lock = (struct spinlock){ 0 };
	places.known = false;
	known = NULL;
	model_lock_word(&pools_lock.word);
	places.full = places.rest = NULL;
	places.fresh = NULL;
	places.nr_fresh = 0;
	born[0] = born[1] = NULL;
	model_lock_word(&places.lock.word);
	model_name(&places.lock.word, "table.lock");
	model_name(&rt->stopping, "stopping");
	model_name(&nr_maps, "nr_maps");
}

static void setup(void)
{
	setup_with(1, MAPS);
}

static struct process *create(void)
{
	const struct sley_process_options options = { .runtime = rt };
	struct process *process;

	MODEL_CHECK(!process_create(&process, &options));
	return process;
}

/* There is a chunk with one place taken. */
static void setup_chunk(void)
{
	setup();
	(void)create();
}

static void turn(void *arg)
{
	(void)arg;
	MODEL_CHECK(!"nobody runs it");
}

static void newcomer(int id)
{
	const struct sley_process_options options = { .runtime = rt };

	born[id] = create();
	MODEL_CHECK(!process_start(born[id], turn, &options, NULL));
}

static void come_and_go(int id)
{
	newcomer(id);
	process_end(born[id], 0);
}

static void stopper(int id)
{
	(void)id;
	actors_stop(rt, NULL);
}

/* ---- conditions -------------------------------------------------------------------------- */

static void check_asked(const struct process *process)
{
	MODEL_CHECK(process->signals & SIGNAL_STOPPED);
	MODEL_CHECK(process->inbox.word == (uintptr_t)&process->order);
	MODEL_CHECK(!process->order.next);
}

static void one_is_asked(void)
{
	check_asked(born[0]);
	MODEL_CHECK(ledger.nr_queued == 1);
}

static void both_are_asked(void)
{
	check_asked(born[0]);
	check_asked(born[1]);
	MODEL_CHECK(born[0] != born[1]);
}

static void is_gone(void)
{
	MODEL_CHECK(born[0]->inbox.word == INBOX_CLOSED);
	MODEL_CHECK(born[0]->pid == 0);
}

MODEL(a_newcomer_meets_a_stop, .setup = setup_chunk,
      .threads = { newcomer, stopper }, .finish = one_is_asked);

MODEL(a_newcomer_makes_a_chunk, .setup = setup,
      .threads = { newcomer, stopper }, .finish = one_is_asked);

MODEL(two_newcomers_make_a_chunk, .setup = setup,
      .threads = { newcomer, newcomer, stopper }, .finish = both_are_asked,
      .slow_modes = MODEL_RA);

MODEL(one_ends_while_it_is_walked, .setup = setup_chunk,
      .threads = { come_and_go, stopper }, .finish = is_gone);

/* ---- the limit on processes ---------------------------------------------------------------- */

static uint32_t alive, nr_refused;

static void setup_limit(uint32_t max)
{
	setup_with(2, 1);
	rt->config.max_processes = max;
	alive = nr_refused = 0;
	model_name(&rt->nr_processes, "nr_processes");
	model_name(&alive, "alive");
	/* Both have a place without a look at the pool. */
	for (int i = 0; i < 2; i++) {
		memory[0][i].index = (uint32_t)i;
		memory[0][i].inbox.word = INBOX_CLOSED;
		crew[i].cache[CACHE_PROCESSES].pool = &places;
		crew[i].cache[CACHE_PROCESSES].loaded.first =
			(void *)&memory[0][i];
		crew[i].cache[CACHE_PROCESSES].loaded.nr = 1;
	}
}

static void setup_room_for_one(void)
{
	setup_limit(1);
}

static void setup_room_for_two(void)
{
	setup_limit(2);
}

static void come_and_go_if_there_is_room(int id)
{
	const struct sley_process_options options = { .runtime = rt };
	int err = process_create(&born[id], &options);

	MODEL_CHECK(err == 0 || err == -EAGAIN);
	if (err) {
		/* relaxed: a number. */
		(void)add_relaxed(&nr_refused, 1);
		return;
	}
	/* relaxed: as above. */
	MODEL_CHECK(add_relaxed(&alive, 1) < rt->config.max_processes);
	MODEL_CHECK(!process_start(born[id], turn, &options, NULL));
	/* relaxed: as above. */
	(void)sub_relaxed(&alive, 1);
	process_end(born[id], 0);
}

static void nobody_is_left(void)
{
	MODEL_CHECK(rt->nr_processes == 0);
	MODEL_CHECK(nr_refused <= 1);
}

static void nobody_was_refused(void)
{
	nobody_is_left();
	MODEL_CHECK(nr_refused == 0);
}

MODEL(one_at_a_time, .setup = setup_room_for_one,
      .threads = { come_and_go_if_there_is_room, come_and_go_if_there_is_room },
      .finish = nobody_is_left);

MODEL(both_at_a_time, .setup = setup_room_for_two,
      .threads = { come_and_go_if_there_is_room, come_and_go_if_there_is_room },
      .finish = nobody_was_refused);
