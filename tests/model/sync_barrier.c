/* SPDX-License-Identifier: MIT */
/*
 * sync_barrier.c - src/sync/barrier.c with plain threads and with tasks: a party
 * that gives up while the last party comes has either left, and then no party has
 * passed because of it, or has passed like the others.
 *
 * A party writes plain memory before its arrival; the other parties read this memory
 * after they have passed.
 *
 * Complete for two parties, once and twice in a row, for three threads that meet by
 * two, and for three parties; with deadlines for all, or a cancel for one party.
 * The models could miss mistakes that take a fourth party: two parties that give up
 * in one round of three, one behind the other.
 */
#include "tasks_only.h"

#include <sley/barrier.h>

static struct sley_barrier *barrier;
static int payload[TASKS_MAX][2]; /* of a party, before a round */
static struct ledger {
	int last, passed, left;
	uint32_t out;
} ledger;

static void setup_with(uint32_t parties, enum tasks_flags flags)
{
	tasks_setup(flags);
	barrier = model_alloc(sizeof(*barrier));
	sley_barrier_init(barrier, parties);
	memset(payload, 0, sizeof(payload));
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	model_lock_word(&barrier->q.word);
	model_name(&barrier->q.word, "barrier");
	model_name(&ledger.out, "out");
}

static void setup(void)
{
	setup_with(2, 0);
}

static void setup_timed(void)
{
	setup_with(2, TASKS_TIMED);
}

static void setup_three(void)
{
	setup_with(3, 0);
}

static int come(int id, int round, uint64_t deadline_ns)
{
	int result;

	payload[id][round] = 7;
	result = sley_barrier_wait_until(barrier, deadline_ns);
	MODEL_CHECK(result == 0 || result == 1 || result == -ETIMEDOUT ||
		    result == -ECANCELED);
	ledger.last += result == 1;
	ledger.passed += result == 0;
	ledger.left += result < 0;
	return result;
}

static void hasty(int id)
{
	(void)come(id, 0, LATER);
}

/* The other party came, too. */
static void meet(int id, int round)
{
	MODEL_CHECK(come(id, round, UINT64_MAX) >= 0);
	MODEL_CHECK(payload[!id][round] == 7);
}

static void patient(int id)
{
	meet(id, 0);
}

static void in_pairs(void)
{
	MODEL_CHECK(ledger.last == ledger.passed);
	MODEL_CHECK(barrier->arrived == 0);
	MODEL_CHECK(!barrier->q.first);
	MODEL_CHECK(barrier->q.word == 2 * (uint64_t)ledger.last);
	model_free(barrier);
}

static void one_pair_or_none(void)
{
	MODEL_CHECK(2 * ledger.last + ledger.left == 2);
	in_pairs();
}

static void nobody_is_forgotten(void)
{
	MODEL_CHECK(2 * ledger.last + ledger.left == 3);
	in_pairs();
}

static void one_pair(void)
{
	MODEL_CHECK(ledger.last == 1);
	in_pairs();
}

MODEL(two_parties_meet, .setup = setup, .threads = { patient, patient },
      .finish = one_pair);

MODEL(two_hasty_parties_pass_together_or_leave, .setup = setup,
      .threads = { hasty, hasty }, .finish = one_pair_or_none);

MODEL(somebody_comes_in_the_place_of_who_left, .setup = setup,
      .threads = { hasty, hasty, hasty }, .finish = nobody_is_forgotten);

/* ---- again, and never again --------------------------------------------------- */

static void twice(int id)
{
	meet(id, 0);
	meet(id, 1);
}

static void two_rounds(void)
{
	MODEL_CHECK(ledger.last == 2);
	in_pairs();
}

/*
 * Of @nr parties, the last to leave frees: the completer touches the barrier no
 * more.
 */
static void pass_and_free(int id, uint32_t nr)
{
	MODEL_CHECK(come(id, 0, UINT64_MAX) >= 0);
	for (uint32_t i = 0; i < nr; i++)
		MODEL_CHECK(payload[i][0] == 7);
	if (add_acq_rel(&ledger.out, 1) + 1 == nr)
		model_free(barrier);
}

static void one_of_two(int id)
{
	pass_and_free(id, 2);
}

static void one_of_three(int id)
{
	pass_and_free(id, 3);
}

static void all_passed(void)
{
	MODEL_CHECK(ledger.last == 1);
}

MODEL(it_can_be_used_again_at_once, .setup = setup, .threads = { twice, twice },
      .finish = two_rounds);

MODEL(the_last_one_out_may_free_it, .setup = setup,
      .threads = { one_of_two, one_of_two }, .finish = all_passed);

MODEL(the_last_of_three_may_free_it, .setup = setup_three,
      .threads = { one_of_three, one_of_three, one_of_three },
      .finish = all_passed);

/* ---- tasks ------------------------------------------------------------------------ */

static void task_patient(int id)
{
	task_begin(id);
	patient(id);
}

static void task_hasty(int id)
{
	task_begin(id);
	hasty(id);
}

static void task_twice(int id)
{
	task_begin(id);
	twice(id);
}

static void task_one_of_three(int id)
{
	task_begin(id);
	one_of_three(id);
}

static void task_or_end(int id)
{
	task_begin(id);
	(void)come(id, 0, UINT64_MAX);
}

static void cancel_first(int id)
{
	task_begin(id);
	task_end_wait(0);
}

/* Comes in the place of the cancelled party, if that party has left. */
static void cancel_first_and_come(int id)
{
	cancel_first(id);
	(void)come(id, 0, LATER);
}

MODEL(two_tasks_meet, .setup = setup, .threads = { task_patient, task_patient },
      .finish = one_pair);

MODEL(two_tasks_meet_twice, .setup = setup,
      .threads = { task_twice, task_twice }, .finish = two_rounds);

MODEL(the_last_of_three_tasks_may_free_it, .setup = setup_three,
      .threads = { task_one_of_three, task_one_of_three, task_one_of_three },
      .finish = all_passed);

MODEL(a_cancelled_task_passed_or_left, .setup = setup_timed,
      .threads = { task_or_end, task_hasty, cancel_first },
      .finish = one_pair_or_none);

MODEL(pass_and_deadline_and_cancel, .setup = setup_timed,
      .threads = { task_hasty, task_hasty, cancel_first },
      .finish = one_pair_or_none);

MODEL(somebody_comes_in_the_place_of_a_cancelled_task, .setup = setup_timed,
      .threads = { task_or_end, task_hasty, cancel_first_and_come },
      .finish = nobody_is_forgotten);
