/* SPDX-License-Identifier: MIT */
/*
 * core_blocking_call.c - blocking_call() of src/core/wait/blocking.c: a call is
 * either taken back or starts; this is decided once, and the memory of the call is
 * not touched after the caller has returned.
 *
 * The call reads and writes plain data.
 *
 * Complete for a call to a sleeping thread, for a call with a deadline against a
 * thread that looks for a job, and against a sleeping thread; with --slow also from
 * the start of the thread to the end of the pool.  The models would miss mistakes
 * that take two calls at a time: calls meet in the pool only, see core_blocking.c.
 * That file also has the time after a call that was taken back: a thread that looks
 * in vain, beside the stopper.  A call that is taken back leaves only the woken
 * thread behind, so a mistake that takes more of both halves would not be seen.  A
 * cancel is not modelled: a cancel takes the same path as a deadline.
 */
#include "pool.h"

#define SOON_NS 2000000000ull /* a deadline in virtual time: at any moment */

static void first_looks_once(int id)
{
	(void)id;
	spin_lock(&pool->lock);
	run_one(&blocks[0]);
}

static void count(void *arg)
{
	struct job *job = arg;

	payload_check(&job->given);
	ledger.ran[job - jobs]++;
	payload_write(&job->result);
}

static void call(int id, uint64_t deadline_ns)
{
	struct job *job = &jobs[id];
	const struct blocking_work work = { .fn = count, .arg = job };
	int err;

	payload_write(&job->given);
	err = blocking_call(pool, &work, deadline_ns);
	MODEL_CHECK(err == 0 || err == -EAGAIN ||
		    (err == -ETIMEDOUT && deadline_ns == SOON_NS));
	MODEL_CHECK(ledger.ran[id] == !err);
	if (!err)
		payload_check(&job->result);
}

static void call_once(int id)
{
	call(id, UINT64_MAX);
}

static void call_in_time(int id)
{
	call(id, SOON_NS);
}

static void call_and_stop(int id)
{
	call(id, UINT64_MAX);
	caller_ends();
}

/* A thread that finds nothing does not sit down. */
static void one_looks_once(void)
{
	one_looks();
	pool->stopping = true;
}

static void one_sleeps_once(void)
{
	one_sleeps();
	pool->stopping = true;
}

static void one_call_ran(void)
{
	goes_on(1);
	MODEL_CHECK(ledger.ran[0] == 1);
}

static void quiet_or_taken_back(void)
{
	goes_on(1);
}

MODEL(a_call_wakes_a_thread, .setup = one_sleeps,
      .threads = { call_once, first_runs_one }, .finish = one_call_ran);

MODEL(a_call_is_taken_back_or_has_started, .setup = one_looks_once,
      .threads = { call_in_time, first_looks_once },
      .finish = quiet_or_taken_back);

MODEL(a_call_starts_a_thread, .setup = none_but_one_can_start,
      .threads = { call_and_stop, first_starts }, .finish = one_ran,
      .slow = true);

/*
 * The thread is woken in any case.  A thread that finds nothing leaves the scene;
 * its further steps are in core_blocking.c.
 */
MODEL(a_call_wakes_a_thread_or_is_taken_back, .setup = one_sleeps_once,
      .threads = { call_in_time, first_runs_one },
      .finish = quiet_or_taken_back);
