/* SPDX-License-Identifier: MIT */
/*
 * core_idle.c - the parking protocol of src/core/idle.h, with membarrier and
 * without: no work is left behind while everybody sleeps.
 *
 * A model worker searches as core/search.c does: looks, counts itself as a
 * searcher if it may, looks again, parks, and ends its search by looking for
 * more.  Work is published by a plain release store, as a push to a ring is.
 * Who finishes the last piece stops everybody.  A worker that sleeps while
 * there is work, or after the stop, is a lost wake-up.
 *
 * The idle lock is declared as a lock, so attempts to take it in vain are not
 * explored.  Complete where nothing else is said.  They would not see what
 * needs three workers or more than two pieces of work.
 */
#include "explorer.h"

#include "core/idle.h"
#include "os/membarrier.h"

#include <string.h>

#define WORKERS 2
#define PIECES 2

static struct idle idle;
static struct idle_seat seats[WORKERS];
static uint32_t shared[PIECES]; /* any worker may take it */
static uint32_t home[WORKERS];  /* that worker only       */
static uint32_t done, stop;
static uint32_t nr_pieces;

static void setup_for(uint32_t nr)
{
	memset(shared, 0, sizeof(shared));
	memset(home, 0, sizeof(home));
	done = stop = 0;
	nr_pieces = nr;
	idle_init(&idle, WORKERS, os_membarrier_setup());
	for (int i = 0; i < WORKERS; i++) {
		idle_seat_init(&seats[i]);
		model_name(&seats[i].word, "seat%d", i);
		model_name(&home[i], "home%d", i);
	}
	model_lock_word(&idle.lock.word);
	model_name(&idle.counts, "counts");
	model_name(&idle.lock.word, "lock");
	model_name(&shared[0], "work0");
	model_name(&shared[1], "work1");
}

static void setup_one(void)
{
	setup_for(1);
}

static void setup_two(void)
{
	setup_for(2);
}

/* ---- workers ------------------------------------------------------------- */

static bool look(void *arg)
{
	int id = *(int *)arg;

	if (load_relaxed(&stop) || load_relaxed(&home[id]))
		return true;
	for (uint32_t i = 0; i < nr_pieces; i++) {
		if (load_relaxed(&shared[i]))
			return true;
	}
	return false;
}

static bool take(int id)
{
	if (load_relaxed(&home[id]) && xchg_acquire(&home[id], 0))
		return true;
	for (uint32_t i = 0; i < nr_pieces; i++) {
		if (load_relaxed(&shared[i]) && xchg_acquire(&shared[i], 0))
			return true;
	}
	return false;
}

/* False: stopped. */
static bool search(int id)
{
	const struct idle_look look_again = { look, &id };
	bool found = take(id);
	bool searching;

	if (found)
		return true;
	searching = idle_search_begin(&idle);
	for (;;) {
		found = take(id);
		if (found || load_relaxed(&stop))
			break;
		searching = idle_park(&idle, &seats[id], searching, &look_again,
				      UINT64_MAX);
	}
	if (searching && idle_search_end(&idle) && look(&id))
		idle_notify(&idle);
	return found;
}

/* As core/runtime.c stops its workers. */
static void wake_all(void)
{
	for (int i = 0; i < WORKERS; i++)
		idle_notify_seat(&idle, &seats[i]);
}

static void worker(int id)
{
	while (search(id)) {
		if (add_acq_rel(&done, 1) + 1 == nr_pieces) {
			store_relaxed(&stop, 1);
			wake_all();
		}
	}
}

/* Its piece does not end before the other piece has begun, too. */
static void busy_worker(int id)
{
	while (search(id)) {
		uint32_t begun = add_acq_rel(&done, 1) + 1;

		if (begun == nr_pieces) {
			store_relaxed(&stop, 1);
			wake_all();
		}
		while (load_relaxed(&done) < nr_pieces)
			spin_hint(&done);
	}
}

/* Times out once at most: after that it sleeps until it is woken. */
static void worker_timed(int id)
{
	const struct idle_look look_again = { look, &id };

	if (!take(id)) {
		if (idle_park(&idle, &seats[id], false, &look_again,
			      2000000000) &&
		    idle_search_end(&idle) && look(&id))
			idle_notify(&idle);
		worker(id);
	} else {
		add_acq_rel(&done, 1);
	}
}

/* ---- submitters ---------------------------------------------------------- */

static void submit(int piece)
{
	store_release(&shared[piece], 1);
	idle_notify(&idle);
}

static void submitter(int id)
{
	(void)id;
	submit(0);
}

static void second_submitter(int id)
{
	(void)id;
	submit(1);
}

static void submit_both(int id)
{
	(void)id;
	submit(0);
	submit(1);
}

static void send_home(int id)
{
	(void)id;
	store_release(&home[0], 1);
	idle_notify_seat(&idle, &seats[0]);
}

static void all_is_done(void)
{
	MODEL_CHECK(done == nr_pieces);
	MODEL_CHECK(idle.counts == 0);
	MODEL_CHECK(list_empty(&idle.parked));
	for (int i = 0; i < WORKERS; i++)
		MODEL_CHECK(seats[i].word == SEAT_AWAKE);
}

#define BOTH_VARIANTS(name, ...)                                               \
	MODEL(name##_with_membarrier, .finish = all_is_done, __VA_ARGS__);     \
	MODEL(name##_without_membarrier, .finish = all_is_done,                \
	      .no_membarrier = true, __VA_ARGS__)

BOTH_VARIANTS(one_worker_hears_of_work, .setup = setup_one,
	      .threads = { worker, submitter });

BOTH_VARIANTS(one_worker_hears_of_two_submitters, .setup = setup_two,
	      .threads = { worker, submitter, second_submitter });

BOTH_VARIANTS(one_worker_hears_of_work_at_home, .setup = setup_two,
	      .threads = { worker, submitter, send_home });

/* Complete in SC; in TSO within three preemptions, and complete with --slow. */
BOTH_VARIANTS(two_workers_share_one_piece, .setup = setup_one,
	      .modes = MODEL_SC, .threads = { worker, worker, submitter });

BOTH_VARIANTS(two_workers_share_one_piece_bounded, .setup = setup_one,
	      .modes = MODEL_TSO, .bound = 3,
	      .threads = { worker, worker, submitter });

BOTH_VARIANTS(two_workers_share_one_piece_complete, .setup = setup_one,
	      .modes = MODEL_TSO, .slow = true,
	      .threads = { worker, worker, submitter });

/* Too many for a complete search. */
BOTH_VARIANTS(two_workers_share_two_pieces_bounded, .setup = setup_two,
	      .bound = 2, .threads = { worker, worker, submit_both });

/* In TSO this one did not finish in ten minutes. */
BOTH_VARIANTS(two_workers_share_two_pieces_bounded_more, .setup = setup_two,
	      .modes = MODEL_SC, .bound = 3, .slow = true,
	      .threads = { worker, worker, submit_both });

/* Nobody sleeps while there is work, even if the other is busy for long. */
BOTH_VARIANTS(two_workers_run_side_by_side, .setup = setup_two, .bound = 2,
	      .threads = { busy_worker, busy_worker, submit_both });

/* A park with a deadline may end by itself; it must not upset the counts. */
BOTH_VARIANTS(one_worker_parks_until_a_deadline, .setup = setup_one,
	      .threads = { worker_timed, submitter });
