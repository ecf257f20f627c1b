/* SPDX-License-Identifier: MIT */
/*
 * sync_once.c - src/sync/once.c with plain threads: the function runs once,
 * nobody returns before it has, and who returns last may free the object.
 *
 * Complete, the inline path included.
 */
#include "threads_only.h"

#include "inline_paths.h"

#include <sley/once.h>

#define SOON 2000000000 /* a deadline in virtual time: at any moment */
#define THREADS 3

static struct sley_once *once;
static int calls, returns, given_up;
static uint32_t out; /* threads that are done with the object */

static void setup(void)
{
	once = model_alloc(sizeof(*once));
	calls = returns = given_up = 0;
	out = 0;
	model_lock_word(&once->q.word);
	model_name(&once->q.word, "once");
	model_name(&out, "out");
}

static void function(void *arg)
{
	MODEL_CHECK(arg == once);
	model_access(&calls);
	calls++;
}

/* Of @nr threads, the last one out frees it. */
static void leave(uint32_t nr)
{
	if (add_acq_rel(&out, 1) + 1 == nr)
		model_free(once);
}

static void first_of_two(int id)
{
	(void)id;
	sley_once(once, function, once);
	MODEL_CHECK(calls == 1);
	returns++;
	leave(2);
}

static void one_of_three(int id)
{
	(void)id;
	sley_once(once, function, once);
	MODEL_CHECK(calls == 1);
	returns++;
	leave(THREADS);
}

static void hasty_of_three(int id)
{
	int err = sley_once_until(once, function, once, SOON);

	(void)id;
	MODEL_CHECK(err == 0 || err == -ETIMEDOUT);
	MODEL_CHECK(err || calls == 1);
	returns += err == 0;
	given_up += err != 0;
	leave(THREADS);
}

static void both(void)
{
	MODEL_CHECK(calls == 1 && returns == 2);
}

static void all(void)
{
	MODEL_CHECK(calls == 1 && returns + given_up == THREADS);
	MODEL_CHECK(given_up < 2);
}

MODEL(one_of_two_runs_it, .setup = setup,
      .threads = { first_of_two, first_of_two }, .finish = both);

MODEL(some_wait_and_some_give_up, .setup = setup,
      .threads = { one_of_three, one_of_three, hasty_of_three }, .finish = all);
