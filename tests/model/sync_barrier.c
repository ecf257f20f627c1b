/* SPDX-License-Identifier: MIT */
/*
 * sync_barrier.c - src/sync/barrier.c with plain threads: a party that gives up
 * while the last one comes has either left, and nobody has passed because of
 * it, or it has passed like the others.
 *
 * Complete for two parties, and for three threads that meet by two.
 */
#include "threads_only.h"

#include <sley/barrier.h>

#define SOON 2000000000 /* a deadline in virtual time: at any moment */

static struct sley_barrier barrier;
static int last, passed, left;

static void setup(void)
{
	barrier = (struct sley_barrier)SLEY_BARRIER_INIT(2);
	last = passed = left = 0;
	model_lock_word(&barrier.q.word);
	model_name(&barrier.q.word, "barrier");
}

static void come(uint64_t deadline_ns)
{
	int result = sley_barrier_wait_until(&barrier, deadline_ns);

	last += result == 1;
	passed += result == 0;
	left += result == -ETIMEDOUT;
}

static void patient(int id)
{
	(void)id;
	come(UINT64_MAX);
}

static void hasty(int id)
{
	(void)id;
	come(SOON);
}

static void patient_twice(int id)
{
	patient(id);
	patient(id);
}

static void in_pairs(void)
{
	MODEL_CHECK(last == passed);
	MODEL_CHECK(barrier.arrived == 0);
	MODEL_CHECK(!barrier.q.first);
	MODEL_CHECK(barrier.q.word == 2 * (uint64_t)last);
}

static void one_pair_or_none(void)
{
	in_pairs();
	MODEL_CHECK(2 * last + left == 2);
}

static void nobody_is_forgotten(void)
{
	in_pairs();
	MODEL_CHECK(2 * last + left == 3);
}

static void two_rounds(void)
{
	in_pairs();
	MODEL_CHECK(last == 2);
}

MODEL(two_hasty_parties_pass_together_or_leave, .setup = setup,
      .threads = { hasty, hasty }, .finish = one_pair_or_none);

MODEL(somebody_comes_in_the_place_of_who_left, .setup = setup,
      .threads = { hasty, hasty, hasty }, .finish = nobody_is_forgotten);

MODEL(it_can_be_used_again_at_once, .setup = setup,
      .threads = { patient_twice, patient_twice }, .finish = two_rounds);
