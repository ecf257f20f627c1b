/* SPDX-License-Identifier: MIT */
/*
 * actor_exit_info.c - src/actor/process/exit_info.c: one collector gets the end of a
 * joinable process, with the result that the process has left; the place goes back
 * to the table once, when both the process and the collector are done.
 *
 * The process is a thread that ends as process_end() and release() do.  Collectors
 * try until they have the end, or once.  The place is plain memory, and the next
 * tenant writes there as soon as the place is given back: a collector or a process
 * that still looks there is a race.
 *
 * Complete for one end and two collectors, and for a collector that has found the
 * process gone.  Not seen: a caller that waits for the end, which is actor_call.c.
 */
#include "explorer.h"
#include "never.h"

#include "actor/process/exit_info.c"

#define PLACE 1
#define TRIES 2

void *sley__process_table[TABLE_CHUNKS];

static struct process places[PLACE + 1];
static struct sley_blob *result;
static struct ledger {
	int got, put;
} ledger;

/* ---- the rest of the library ------------------------------------------------------- */

void process_table_put(struct process *process)
{
	MODEL_CHECK(process == &places[PLACE]);
	/* relaxed: only the tenant writes the pid without the lock. */
	MODEL_CHECK(load_relaxed(&process->pid) == SLEY_NO_PID);
	ledger.put++;
	/* As the next tenant does, without the lock. */
	process->signals = 7;
	process->state[0] = process->state[1] = process->state[2] = 7;
}

void blob_get(struct sley_blob *blob)
{
	(void)blob;
}

void sley_blob_put(struct sley_blob *blob)
{
	(void)blob;
}

struct sley_blob *sley_blob_create(size_t size)
{
	(void)size;
	never();
	return NULL;
}

void *sley_blob_data(struct sley_blob *blob)
{
	(void)blob;
	never();
	return NULL;
}

int relations_own(sley_pid pid, struct process **self)
{
	(void)pid;
	(void)self;
	never();
	return 0;
}

/* ---- the scene --------------------------------------------------------------------- */

static sley_pid pid_of_it(void)
{
	return pid_make(0, PLACE, 5);
}

static void setup(void)
{
	memset(places, 0, sizeof(places));
	places[PLACE].index = PLACE;
	places[PLACE].generation = 5;
	places[PLACE].pid = pid_of_it();
	sley__process_table[0] = places;
	result = (struct sley_blob *)(void *)&places[0];
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	model_lock_word(&places[PLACE].lock.word);
	model_name(&places[PLACE].lock.word, "lock");
	model_name(&places[PLACE].pid, "pid");
}

static void end(int id)
{
	struct process *process = &places[PLACE];
	struct exit_info ending = { .reason = -EIO,
				    .time_ns = 3,
				    .result = result };

	(void)id;
	spin_lock(&process->lock);
	/* relaxed: written under the lock. */
	store_relaxed(&process->pid, SLEY_NO_PID);
	exit_info_keep(process, pid_of_it(), &ending);
	spin_unlock(&process->lock);
	if (exit_info_leave(process))
		process_table_put(process);
}

static void collect(int id)
{
	struct exit_info ending;

	(void)id;
	for (int i = 0; i < TRIES; i++) {
		if (!exit_info_collect(pid_of_it(), &ending))
			continue;
		MODEL_CHECK(ending.reason == -EIO && ending.time_ns == 3);
		MODEL_CHECK(ending.result == result);
		ledger.got++;
	}
}

/*
 * As sley_process_wait_until(): a caller that does not find the process, and is the
 * only collector, gets the end at once.
 */
static void collect_if_gone(int id)
{
	(void)id;
	if (process_find(pid_of_it()))
		return;
	ledger.got += exit_info_collect(pid_of_it(), NULL);
	MODEL_CHECK(ledger.got == 1);
}

/* As a waiter that was told of the end by its watch. */
static void discard(int id)
{
	(void)id;
	ledger.got += exit_info_collect(pid_of_it(), NULL);
}

static void finish(void)
{
	MODEL_CHECK(ledger.got <= 1);
	if (!ledger.got) {
		MODEL_CHECK(!ledger.put);
		collect(0);
		MODEL_CHECK(ledger.got == 1);
	}
	MODEL_CHECK(ledger.put == 1);
	MODEL_CHECK(places[PLACE].pid == SLEY_NO_PID);
}

MODEL(one_collects, .setup = setup, .threads = { end, collect },
      .finish = finish);
MODEL(one_finds_it_gone, .setup = setup, .threads = { end, collect_if_gone },
      .finish = finish);
MODEL(two_collect, .setup = setup, .threads = { end, collect, collect },
      .finish = finish);
MODEL(one_collects_and_one_was_told, .setup = setup,
      .threads = { end, collect, discard }, .finish = finish);
