/* SPDX-License-Identifier: MIT */
/*
 * core_idle.c - the parking protocol of src/core/sched/idle.h, with membarrier and
 * without: no work is left behind while all workers sleep.
 *
 * A model worker searches as core/sched/search.c does: looks, parks, and ends the
 * search by looking for more.  These lines are a copy, on purpose: the real search
 * looks at a dozen sources of work, so that two workers that search and sleep would
 * not be complete.  Here the one source is a counter.  The real lines run in
 * core_search.c and core_steal.c, with fewer interleavings.  Work is published by a plain release store, as in a
 * push to a ring.  A worker with a piece is busy for ever, so there is a worker for
 * each piece, and a worker that sleeps beside a piece is a lost wake-up.
 *
 * With one worker the models are complete for a whole search: begin, park, stand up,
 * end.  With two workers the models are complete in parts, by the state of the
 * second worker when the model begins: asleep on its seat (the models of one worker
 * cover sitting down), searching, or about to end its search; searching from the
 * beginning beside a sleeping worker; and both workers sit down, or both search,
 * when one piece is there already and a second piece comes.  All of these run in all
 * three memories, some with --slow only.
 *
 * Beyond that, also with --slow, both pieces come while both workers sit down or
 * search: in all memories without membarrier.  With membarrier two workers that sit
 * down are complete in SC and TSO, two workers that search in SC only; in RA each of
 * three threads may be interrupted twice.  The models could miss a mistake there
 * that takes a first piece, which neither of two parkers sees, and a second piece.
 *
 * The models would not see mistakes that take three workers (one searches while a
 * second is woken and a third sits down), or two pieces that two submitters publish
 * while two workers are both about to sleep.  The idle lock is declared as a lock,
 * so attempts in vain to take the lock are not explored.
 */
#include "payload.h"

#include "core/sched/idle.c"

#include <string.h>

#define WORKERS 2
#define PIECES 2

static struct idle idle;
static struct idle_seat seats[WORKERS];
static uint32_t tail, head;    /* pieces for any worker         */
static uint32_t home[WORKERS]; /* a piece for that worker only  */
static uint32_t stop;
static bool pieces_only; /* no stop, and no piece in a home list */
static struct payload pieces[PIECES], at_home;
static struct ledger {
	int done, stopped;
} ledger;

static void setup(void)
{
	tail = head = stop = 0;
	pieces_only = false;
	memset(home, 0, sizeof(home));
	memset(pieces, 0, sizeof(pieces));
	at_home = (struct payload){ 0 };
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	idle_init(&idle, WORKERS, os_membarrier_setup());
	for (int i = 0; i < WORKERS; i++) {
		idle_seat_init(&seats[i]);
		model_name(&seats[i].word, "seat%d", i);
		model_name(&home[i], "home%d", i);
	}
	model_lock_word(&idle.lock.word);
	model_name(&idle.counts, "counts");
	model_name(&idle.lock.word, "lock");
	model_name(&tail, "tail");
	model_name(&head, "head");
	model_name(&stop, "stop");
}

/* Worker @i is asleep on its seat; there was no work when the worker sat down. */
static void falls_asleep(int i)
{
	seats[i].word = SEAT_PARKED;
	list_prepend(&idle.parked, &seats[i].link);
	idle.counts += IDLE_PARKED_ONE;
}

/* ---- workers ----------------------------------------------------------------------- */

/* A word that is never written need not be read: reads multiply the executions. */
static bool stopped(void)
{
	return !pieces_only && load_relaxed(&stop);
}

static bool sent_home(int id)
{
	return !pieces_only && load_relaxed(&home[id]);
}

static bool look(void *arg)
{
	int id = *(int *)arg;

	return stopped() || sent_home(id) ||
	       load_relaxed(&head) < load_relaxed(&tail);
}

static bool take(int id)
{
	uint32_t i = load_relaxed(&head);

	if (sent_home(id) && xchg_acquire(&home[id], 0)) {
		payload_check(&at_home);
		return true;
	}
	while (i < load_acquire(&tail)) {
		if (cas_acq_rel(&head, &i, i + 1)) {
			payload_check(&pieces[i]);
			return true;
		}
	}
	return false;
}

static bool park(int id, bool searching, uint64_t deadline_ns)
{
	const struct idle_look look_again = { .look = look, .arg = &id };

	return idle_park(&idle, &seats[id], searching, &look_again,
			 deadline_ns);
}

static void end_search(int id)
{
	if (idle_search_end(&idle) && look(&id))
		idle_notify(&idle);
}

/* Until the worker has a piece, or is told to stop. */
static void search(int id, bool searching)
{
	while (!take(id)) {
		if (stopped()) {
			ledger.stopped++;
			break;
		}
		searching = park(id, searching, UINT64_MAX);
	}
	if (searching)
		end_search(id);
	ledger.done++;
}

static void worker(int id)
{
	search(id, idle_search_begin(&idle));
}

static void worker_twice(int id)
{
	worker(id);
	worker(id);
}

static void parker(int id)
{
	search(id, park(id, false, UINT64_MAX));
}

static void searcher(int id)
{
	search(id, true);
}

static void sleeper(int id)
{
	const struct idle_look look_again = { .look = look, .arg = &id };

	search(id, rest(&idle, &seats[id], false, &look_again, UINT64_MAX));
}

/* The worker has found other work, and only does its duty to the other workers. */
static void ender(int id)
{
	end_search(id);
	ledger.done++;
}

/* The first park may end by itself. */
static void worker_timed(int id)
{
	search(id, park(id, idle_search_begin(&idle), 2000000000));
}

/* ---- submitters --------------------------------------------------------------------- */

static void submit(uint32_t nr)
{
	payload_write(&pieces[nr - 1]);
	store_release(&tail, nr);
	idle_notify(&idle);
}

static void submit_one(int id)
{
	(void)id;
	submit(1);
}

static void submit_second(int id)
{
	(void)id;
	submit(2);
}

static void submit_both(int id)
{
	(void)id;
	submit(1);
	submit(2);
}

/* The same, and the submitter would rather have worker 0 take the piece. */
static void submit_toward(int id)
{
	(void)id;
	payload_write(&pieces[0]);
	store_release(&tail, 1);
	idle_notify_toward(&idle, &seats[0]);
}

static void send_home(int id)
{
	(void)id;
	payload_write(&at_home);
	store_release(&home[0], 1);
	idle_notify_seat(&idle, &seats[0]);
}

/* As core/life/runtime.c stops its workers. */
static void stop_all(int id)
{
	(void)id;
	store_release(&stop, 1);
	if (idle.membarrier)
		os_membarrier();
	for (int i = 0; i < WORKERS; i++)
		idle_notify_seat(&idle, &seats[i]);
}

/* ---- models ---------------------------------------------------------------------------- */

static void done(int nr)
{
	MODEL_CHECK(ledger.done == nr);
	MODEL_CHECK(idle.counts == 0);
	MODEL_CHECK(list_empty(&idle.parked));
	for (int i = 0; i < WORKERS; i++)
		MODEL_CHECK(seats[i].word == SEAT_AWAKE);
}

static void one(void)
{
	done(1);
}

static void two(void)
{
	done(2);
}

static void two_stopped(void)
{
	done(2);
	MODEL_CHECK(ledger.stopped == 2);
}

#define BOTH_VARIANTS(name, ...)                                               \
	MODEL(name##_with_membarrier, __VA_ARGS__);                            \
	MODEL(name##_without_membarrier, .no_membarrier = true, __VA_ARGS__)

BOTH_VARIANTS(one_worker_hears_of_work, .setup = setup,
	      .threads = { worker, submit_one }, .finish = one);

BOTH_VARIANTS(one_worker_hears_of_work_at_home, .setup = setup,
	      .threads = { worker, send_home }, .finish = one);

BOTH_VARIANTS(one_worker_hears_of_both_kinds, .setup = setup,
	      .threads = { worker_twice, submit_one, send_home },
	      .finish = two);

BOTH_VARIANTS(one_worker_hears_twice, .setup = setup,
	      .threads = { worker_twice, submit_both }, .finish = two);

BOTH_VARIANTS(one_worker_hears_of_work_sent_toward_it, .setup = setup,
	      .threads = { worker, submit_toward }, .finish = one);

/* A park with a deadline may end by itself; the counts must stay right. */
BOTH_VARIANTS(one_worker_parks_until_a_deadline, .setup = setup,
	      .threads = { worker_timed, submit_one }, .finish = one);

static void setup_pieces(void)
{
	setup();
	pieces_only = true;
}

static void setup_one_asleep(void)
{
	setup_pieces();
	falls_asleep(1);
}

static void setup_both_asleep(void)
{
	setup_one_asleep();
	falls_asleep(0);
}

static void setup_one_searches(void)
{
	setup_one_asleep();
	idle.counts += IDLE_SEARCHING_ONE;
}

static void setup_one_ends(void)
{
	setup_pieces();
	idle.counts += IDLE_SEARCHING_ONE;
}

static void setup_both_asleep_with_homes(void)
{
	setup_both_asleep();
	pieces_only = false;
}

/*
 * The seat that the second submitter finds first is woken already, for another task.
 */
static void send_home_and_submit(int id)
{
	send_home(id);
	submit_one(id);
}

BOTH_VARIANTS(home_work_and_shared_work_wake_two,
	      .setup = setup_both_asleep_with_homes,
	      .threads = { sleeper, sleeper, send_home_and_submit },
	      .finish = two);

/*
 * Worker 0 is woken for the piece, and finds work in its home list, of which it was
 * not told yet: then worker 1 has to be woken for the piece.
 */
static void submit_toward_a_full_home(int id)
{
	payload_write(&at_home);
	store_release(&home[0], 1);
	submit_toward(id);
	idle_notify_seat(&idle, &seats[0]);
}

static void send_home_and_submit_toward(int id)
{
	send_home(id);
	submit_toward(id);
}

BOTH_VARIANTS(work_sent_toward_a_worker_is_not_left_behind,
	      .setup = setup_both_asleep_with_homes,
	      .threads = { sleeper, sleeper, submit_toward_a_full_home },
	      .finish = two);

BOTH_VARIANTS(work_sent_toward_a_woken_worker_is_not_left_behind,
	      .setup = setup_both_asleep_with_homes,
	      .threads = { sleeper, sleeper, send_home_and_submit_toward },
	      .finish = two);

/*
 * The same by two threads: the seat may be found PARKED, and be WOKEN a moment later.
 * The work at home is there from the beginning, so that worker 0 takes that.
 */
static void setup_home_work(void)
{
	setup_both_asleep_with_homes();
	at_home.value = PAYLOAD;
	home[0] = 1;
}

static void tell_of_home_work(int id)
{
	(void)id;
	idle_notify_seat(&idle, &seats[0]);
}

BOTH_VARIANTS(work_sent_toward_a_worker_that_is_being_woken_is_not_left_behind,
	      .setup = setup_home_work,
	      .threads = { sleeper, sleeper, tell_of_home_work, submit_toward },
	      .finish = two);

BOTH_VARIANTS(a_worker_sits_down_beside_work_sent_toward_it,
	      .setup = setup_pieces, .threads = { parker, submit_toward },
	      .finish = one);

BOTH_VARIANTS(two_sleepers_are_woken, .setup = setup_both_asleep,
	      .threads = { sleeper, sleeper, submit_both }, .finish = two);

/* Worker 0, the last to sleep, is woken first, and is on its way meanwhile. */
static void submit_and_submit_toward(int id)
{
	(void)id;
	submit(1);
	payload_write(&pieces[1]);
	store_release(&tail, 2);
	idle_notify_toward(&idle, &seats[1]);
}

BOTH_VARIANTS(two_sleepers_are_woken_one_by_name, .setup = setup_both_asleep,
	      .threads = { sleeper, sleeper, submit_and_submit_toward },
	      .finish = two);

/* A submitter that relied on the search relies on the end of the search. */
BOTH_VARIANTS(a_searcher_wakes_the_sleeper, .setup = setup_one_searches,
	      .threads = { searcher, sleeper, submit_both }, .finish = two,
	      .slow_modes = MODEL_RA);

BOTH_VARIANTS(a_search_ends_while_another_parks, .setup = setup_one_ends,
	      .threads = { ender, parker, submit_one }, .finish = two);

static void setup_to_stop(void)
{
	setup_one_asleep();
	pieces_only = false;
}

BOTH_VARIANTS(two_workers_stop, .setup = setup_to_stop, .slow_modes = MODEL_RA,
	      .threads = { parker, sleeper, stop_all }, .finish = two_stopped);

/* ---- both from the beginning ------------------------------------------------------------ */

BOTH_VARIANTS(a_worker_wakes_the_sleeper, .setup = setup_one_asleep,
	      .threads = { worker, sleeper, submit_both }, .finish = two,
	      .slow = true);

/* The first piece was published while both were awake. */
static void setup_one_piece(void)
{
	setup_pieces();
	pieces[0].value = PAYLOAD;
	tail = 1;
}

BOTH_VARIANTS(two_workers_park_beside_a_piece, .setup = setup_one_piece,
	      .threads = { parker, parker, submit_second }, .finish = two,
	      .slow_modes = MODEL_RA);

BOTH_VARIANTS(two_workers_search_beside_a_piece, .setup = setup_one_piece,
	      .threads = { worker, worker, submit_second }, .finish = two,
	      .slow_modes = MODEL_RA);

/*
 * Both pieces come while both sit down or search.  With membarrier that is too
 * long for RA, and the second one for TSO, too: beyond the models above.
 */
MODEL(two_workers_park_with_membarrier, .setup = setup_pieces,
      .threads = { parker, parker, submit_both }, .finish = two, .slow = true,
      .modes = MODEL_SC | MODEL_TSO);

MODEL(two_workers_park_without_membarrier, .setup = setup_pieces,
      .threads = { parker, parker, submit_both }, .finish = two, .slow = true,
      .no_membarrier = true);

MODEL(two_workers_search_with_membarrier, .setup = setup_pieces,
      .threads = { worker, worker, submit_both }, .finish = two, .slow = true,
      .modes = MODEL_SC);

MODEL(two_workers_search_without_membarrier, .setup = setup_pieces,
      .threads = { worker, worker, submit_both }, .finish = two, .slow = true,
      .no_membarrier = true);
