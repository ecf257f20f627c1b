/* SPDX-License-Identifier: MIT */
/*
 * ipc_server.c - what the server of other processes adds to rings and sources: rings that
 * become quiet while their clients publish (src/ipc/ring_set.h), rings that are held until
 * requests have ended (src/ipc/quota.h), and requests that are complete before their
 * submission has returned (src/ipc/handover.h).
 *
 * The client is a thread, and its bell is a word with a futex, with the order of the kernel's
 * lock, as in shm_request_ring.c.  The worker sleeps as soon as it can: it arms, and awaits
 * the bell.  Which worker takes is the business of core/sched/source.h (core_source.c); here
 * a second worker arms at any time, as a guest of the source may.
 *
 * Complete for two requests, one by one and together, for two rings that become active
 * at the same time, for the end of a session, and for a ring that is held.  No client writes nonsense:
 * tests/unit/ipc_session.c and tests/stress/server_hostile.c do that.
 */
#include "explorer.h"

#define RING_SET_VAIN 1
#define RING_SET_ARMS 2

#include "ipc/handover.h"
#include "ipc/quota.h"
#include "ipc/ring_set.h"
#include "shm/entry_ring.h"

#define DEPTH 2
#define NR 2

/* ---- the bell -------------------------------------------------------------------- */

static void ring_bell(uint32_t *bell)
{
	(void)xchg_release(bell, 1);
	os_futex_wake(bell, 1);
}

static void await_bell(uint32_t *bell)
{
	while (!xchg_acquire(bell, 0))
		(void)os_futex_wait(bell, 0, UINT64_MAX);
}

/* ---- active and quiet -------------------------------------------------------------- */

static uint32_t word, bell, nr_done;
static struct ring_entry entries[DEPTH];
static struct entry_writer client;
static struct entry_reader reader; /* of the taker */
static struct ring_set set;
static struct ring_member member, *active[1];

static void begin_rings(void)
{
	count_word_reset(&word, 0);
	bell = nr_done = 0;
	client = (struct entry_writer){ .word = &word,
					.entries = entries,
					.mask = DEPTH - 1 };
	reader = (struct entry_reader){ .word = &word,
					.entries = entries,
					.mask = DEPTH - 1 };
	set = (struct ring_set){ .max = 1, .active = active };
	model_name(&word, "submitted");
	model_name(&bell, "bell");
	model_name(&set.lock.word, "lock of the set");
	model_name(&set.nr_active, "active");
	model_name(&set.nr_quiet, "quiet");
}

static void active_ring(void)
{
	begin_rings();
	ring_set_add(&set, &member, &word, 0);
}

static void quiet_ring(void)
{
	active_ring();
	MODEL_CHECK(!ring_set_arm(&set));
	MODEL_CHECK(member.state == RING_ACTIVE);
	MODEL_CHECK(!ring_set_arm(&set));
	MODEL_CHECK(member.state == RING_QUIET && ring_set_has_quiet(&set));
}

static void publish(void)
{
	int bits = entry_ring_publish(&client);

	MODEL_CHECK(bits >= 0);
	if (entry_ring_tell(&word, bits))
		ring_bell(&bell);
}

static void put(void)
{
	const struct ring_entry entry = { .value = client.nr + 10 };

	entry_ring_put(&client, &entry);
}

static void publish_one_by_one(int id)
{
	(void)id;
	for (int i = 0; i < NR; i++) {
		put();
		publish();
	}
}

static void publish_together(int id)
{
	(void)id;
	for (int i = 0; i < NR; i++)
		put();
	publish();
}

/* As serve_turn(): what is there, and the word as it was found last. */
static void take_turn(void)
{
	enum ring_found found = RING_FOUND_NONE;
	struct ring_entry entry;
	int nr = entry_ring_look(&reader, DEPTH);

	MODEL_CHECK(nr >= 0);
	for (; nr > 0; nr--) {
		entry_ring_get(&reader, &entry);
		MODEL_CHECK(entry.value == 10 + nr_done);
		nr_done++;
		found = RING_FOUND_SOME;
	}
	ring_set_looked(&set, &member, entry_ring_seen(&reader), found);
}

/* A worker that takes, and sleeps whenever there is nothing. */
static void worker(int id)
{
	(void)id;
	while (nr_done < NR) {
		if (ring_set_next(&set))
			take_turn();
		else if (!ring_set_has(&set) && !ring_set_arm(&set)) {
			await_bell(&bell);
			ring_set_heard(&set, &member);
		}
	}
}

/* A worker that is about to sleep, at any time. */
static void guest(int id)
{
	(void)id;
	(void)!ring_set_has(&set);
	(void)!ring_set_arm(&set);
}

MODEL(a_client_and_a_worker_that_sleeps, .setup = active_ring,
      .threads = { publish_one_by_one, worker });

MODEL(a_client_publishes_two_at_once, .setup = active_ring,
      .threads = { publish_together, worker });

MODEL(a_quiet_ring_is_heard, .setup = quiet_ring,
      .threads = { publish_one_by_one, worker });

MODEL(another_worker_arms_meanwhile, .setup = active_ring,
      .threads = { publish_together, worker, guest }, .delays = 3,
      .slow_modes = MODEL_RA);

/* ---- two rings ----------------------------------------------------------------------- */

static uint32_t second_word;
static struct ring_member second, *both[2];

/* A client signals while the ring of another client joins the set. */
static void one_quiet_one_new(void)
{
	quiet_ring();
	set.max = 2;
	set.active = both;
	count_word_reset(&second_word, 0);
	second = (struct ring_member){ .word = NULL };
	model_name(&second_word, "submitted, second");
}

static void hear_the_quiet_one(int id)
{
	(void)id;
	ring_set_heard(&set, &member);
}

static void add_the_new_one(int id)
{
	(void)id;
	ring_set_add(&set, &second, &second_word, 0);
}

/* Each ring has a place of its own among those that workers look at. */
static void both_are_active(void)
{
	MODEL_CHECK(set.nr_active == 2 && set.nr_quiet == 0);
	MODEL_CHECK(both[member.place] == &member);
	MODEL_CHECK(both[second.place] == &second);
}

MODEL(two_rings_become_active_at_once, .setup = one_quiet_one_new,
      .threads = { hear_the_quiet_one, add_the_new_one },
      .finish = both_are_active);

/* ---- poked --------------------------------------------------------------------------- */

static uint32_t ended;

static void begin_ended(void)
{
	ended = 0;
	model_name(&ended, "ended");
}

static void ending_ring(void)
{
	active_ring();
	begin_ended();
}

static void quiet_ending_ring(void)
{
	quiet_ring();
	begin_ended();
}

/*
 * The session ends: the taker has to look once more, news or not.  The bell stands for
 * source_notify().
 */
static void end_session(int id)
{
	(void)id;
	store_release(&ended, 1);
	ring_set_poke(&set, &member);
	ring_bell(&bell);
}

static void worker_until_the_end(int id)
{
	bool over = false;

	(void)id;
	while (!over) {
		if (!ring_set_next(&set)) {
			if (!ring_set_arm(&set))
				await_bell(&bell);
			continue;
		}
		over = load_acquire(&ended);
		if (over)
			ring_set_looked(&set, &member, entry_ring_seen(&reader),
					RING_FOUND_END);
		else
			take_turn();
	}
}

static void the_ring_is_out(void)
{
	MODEL_CHECK(member.state == RING_OUT);
	MODEL_CHECK(!set.nr_active && !set.nr_quiet);
}

MODEL(the_end_of_a_session_is_seen, .setup = ending_ring,
      .threads = { end_session, worker_until_the_end },
      .finish = the_ring_is_out);

MODEL(the_end_of_a_quiet_session_is_seen, .setup = quiet_ending_ring,
      .threads = { end_session, worker_until_the_end },
      .finish = the_ring_is_out);

/* ---- quotas ------------------------------------------------------------------------- */

static struct quota_user user;
static uint32_t told, nr_running, nr_taken;

static void full_quota(void)
{
	user = (struct quota_user){ .word = QUOTA_ONE, .max = 1 };
	told = nr_taken = 0;
	nr_running = 1;
	model_name(&user.word, "quota");
	model_name(&told, "told");
	model_ledger(&nr_running, sizeof(nr_running));
	model_ledger(&nr_taken, sizeof(nr_taken));
}

static void end_one(void)
{
	nr_running--;
	if (quota_give(&user, 1))
		ring_bell(&told);
}

static void a_request_ends(int id)
{
	(void)id;
	end_one();
}

/* Holds its ring while there is no room. */
static void taker_with_quota(int id)
{
	(void)id;
	while (!quota_take(&user, 1)) {
		/* As serve_turn(): it has nothing to give back, and is not told. */
		MODEL_CHECK(!quota_give(&user, 0));
		await_bell(&told);
	}
	MODEL_CHECK(++nr_running == 1);
	nr_taken++;
}

static void taker_that_ends(int id)
{
	taker_with_quota(id);
	end_one();
	/* The other taker may have been told in its place. */
	ring_bell(&told);
}

/* All have ended: the count is right, and no ring is held. */
static void no_request_is_left(void)
{
	MODEL_CHECK(!nr_running && !user.word);
}

static void empty_quota(void)
{
	full_quota();
	user.word = 0;
	nr_running = 0;
	MODEL_CHECK(quota_take(&user, 1) == 1);
	/* No ring is held: nobody is told. */
	MODEL_CHECK(!quota_give(&user, 1));
}

MODEL(two_takers_share_one_place, .setup = empty_quota,
      .threads = { taker_that_ends, taker_that_ends },
      .finish = no_request_is_left);

MODEL(a_ring_that_is_held_goes_on, .setup = full_quota,
      .threads = { a_request_ends, taker_with_quota });

MODEL(two_rings_that_are_held_go_on, .setup = full_quota,
      .threads = { a_request_ends, taker_that_ends, taker_that_ends },
      .finish = no_request_is_left, .delays = 3);

/* ---- rings that are held --------------------------------------------------------------- */

/* There is a request in the ring, and no room for it. */
static void full_ring(void)
{
	active_ring();
	full_quota();
	put();
	publish();
}

/* The bell stands for source_notify() of the ingress. */
static void a_request_ends_and_tells(int id)
{
	(void)id;
	if (quota_give(&user, 1))
		ring_bell(&bell);
}

/* As serve_turn() and server_recheck_rings(). */
static void worker_with_quota(int id)
{
	(void)id;
	while (!nr_done) {
		if (!ring_set_next(&set)) {
			if (!ring_set_arm(&set)) {
				await_bell(&bell);
				ring_set_recheck(&set, &member);
			}
		} else if (!quota_take(&user, 1)) {
			ring_set_looked(&set, &member, entry_ring_seen(&reader),
					RING_FOUND_NO_QUOTA);
		} else {
			take_turn();
		}
	}
}

MODEL(a_ring_without_quota_is_looked_at_again, .setup = full_ring,
      .threads = { a_request_ends_and_tells, worker_with_quota });

/* ---- the batch of answers ------------------------------------------------------------ */

static struct handover handover;
static uint32_t nr_answers, submitted;
static int code, request;

static void new_request(void)
{
	handover_begin(&handover);
	nr_answers = submitted = 0;
	code = request = 0;
	model_name(&handover.word, "handover");
	model_name(&submitted, "submitted");
	model_ledger(&nr_answers, sizeof(nr_answers));
}

static void answer(void)
{
	MODEL_CHECK(code == 7);
	MODEL_CHECK(++nr_answers == 1);
}

/* The submission: another worker may have the request from here on. */
static void taker(int id)
{
	(void)id;
	request = 5;
	store_release(&submitted, 1);
	if (handover_submitted(&handover))
		answer();
}

static void completion(int id)
{
	(void)id;
	while (!load_acquire(&submitted))
		spin_hint(&submitted);
	MODEL_CHECK(request == 5);
	code = 7;
	if (handover_done(&handover))
		answer();
}

static void canceller(int id)
{
	(void)id;
	if (handover_may_cancel(&handover))
		MODEL_CHECK(request == 5);
}

static void is_answered(void)
{
	MODEL_CHECK(nr_answers == 1);
}

MODEL(the_last_of_two_answers, .setup = new_request,
      .threads = { taker, completion, canceller }, .finish = is_answered);
