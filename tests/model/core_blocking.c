/* SPDX-License-Identifier: MIT */
/*
 * core_blocking.c - the pool of src/core/wait/blocking.c: no job is lost between
 * "queued" and "the thread sits down or leaves", and no thread is joined, freed
 * or forgotten at the wrong time.
 *
 * Jobs are plain jobs; calls that wait for their jobs are in core_blocking_call.c.
 * A job carries plain data in both directions.
 *
 * All complete: a thread that is started for a job, from nothing to the end of the
 * pool; a thread that sits down, sleeps, or leaves, against a poster and against the
 * stopper; a thread that looks in vain; two threads that leave; two posters to one
 * thread, or to two; a thread that is started for one job and takes another; two
 * posters to a pool with a limit of one thread, which can be started, or cannot, or
 * can only the second time; a poster that does not wait, at the limit.
 *
 * The models could miss three parties at one moment: a post, a thread that leaves
 * and a thread that sits down; and more than two jobs.  The pool's memory does not
 * run out here.
 */
#include "pool.h"

/* ---- threads --------------------------------------------------------------- */

static void looks_for_a_job(int id)
{
	(void)id;
	spin_lock(&pool->lock);
	live_on(0, true);
}

static void second_sleeps(int id)
{
	(void)id;
	live_on(1, rest(&blocks[1]));
}

static void first_runs_two(int id)
{
	first_runs_one(id);
	spin_lock(&pool->lock);
	run_one(&blocks[0]);
}

static void second_runs_one(int id)
{
	(void)id;
	(void)rest(&blocks[1]);
	run_one(&blocks[1]);
}

/* ---- jobs ---------------------------------------------------------------------------------- */

static void run_job(struct blocking_job *base, struct blocking_thread *thread)
{
	struct job *job = container_of(base, struct job, job);
	uint32_t *done = &job->done;

	payload_check(&job->given);
	ledger.ran[job - jobs]++;
	payload_write(&job->result);
	blocking_job_ends(thread);
	store_release(done, 1);
	os_futex_wake(done, 1);
}

static void await(struct job *job)
{
	while (!load_acquire(&job->done))
		(void)os_futex_wait(&job->done, 0, UINT64_MAX);
	payload_check(&job->result);
}

static void stopper(int id)
{
	(void)id;
	caller_ends();
}

/* False: there is no thread for the job. */
static bool post(struct job *job, bool patient)
{
	payload_write(&job->given);
	job->job.run = run_job;
	if (blocking_reserve(pool, patient) < 0) {
		ledger.refused++;
		return false;
	}
	blocking_post(pool, &job->job);
	return true;
}

static void post_and_wait_on(int id)
{
	if (post(&jobs[id], true))
		await(&jobs[id]);
}

static void post_and_wait(int id)
{
	post_and_wait_on(id);
	caller_ends();
}

/* As a blocking region does: the thread first, the job later. */
static void reserve_and_post_late(int id)
{
	struct job *job = &jobs[id];

	payload_write(&job->given);
	job->job.run = run_job;
	if (blocking_reserve(pool, false) == 0) {
		model_advance(2000000);
		blocking_post(pool, &job->job);
		await(job);
	} else {
		ledger.refused++;
	}
	caller_ends();
}

static void one_ran_or_was_refused(void)
{
	all_is_quiet();
	MODEL_CHECK(ledger.ran[0] + ledger.refused == 1);
}

static void two_ran(uint32_t free)
{
	goes_on(free);
	MODEL_CHECK(ledger.ran[0] == 1 && ledger.ran[1] == 1);
}

static void two_ran_on_one(void)
{
	two_ran(1);
}

static void two_ran_on_two(void)
{
	two_ran(2);
}

/* ---- one job --------------------------------------------------------------------------------- */

static void one_can_start_and_is_impatient(void)
{
	setup(1, 1, false);
}

static void none_and_none_can_start(void)
{
	setup(0, 1, true);
}

static void one_sleeps_impatiently(void)
{
	setup(0, 1, false);
	add_sleeping_thread();
}

MODEL(a_thread_is_started, .setup = none_but_one_can_start,
      .threads = { post_and_wait, first_starts }, .finish = one_ran);

MODEL(a_thread_is_started_and_may_leave_early,
      .setup = one_can_start_and_is_impatient,
      .threads = { post_and_wait, first_starts }, .finish = one_ran);

MODEL(without_a_thread_a_job_is_refused, .setup = none_and_none_can_start,
      .threads = { post_and_wait }, .finish = one_ran_or_was_refused);

MODEL(a_thread_sits_down_or_takes_the_job, .setup = one_looks,
      .threads = { post_and_wait, looks_for_a_job }, .finish = one_ran);

MODEL(a_sleeping_thread_takes_the_job, .setup = one_sleeps,
      .threads = { post_and_wait, first_sleeps }, .finish = one_ran);

MODEL(a_thread_leaves_or_takes_the_job, .setup = one_sleeps_impatiently,
      .threads = { post_and_wait, first_sleeps },
      .finish = one_ran_or_was_refused);

MODEL(a_reserved_thread_does_not_leave, .setup = one_sleeps_impatiently,
      .threads = { reserve_and_post_late, first_sleeps },
      .finish = one_ran_or_was_refused);

/* As after a call that was taken back. */
MODEL(a_thread_looks_in_vain_beside_the_stopper, .setup = one_looks,
      .threads = { stopper, looks_for_a_job }, .finish = all_is_quiet);

MODEL(a_thread_leaves_beside_the_stopper, .setup = one_sleeps_impatiently,
      .threads = { stopper, first_sleeps }, .finish = all_is_quiet);

/* ---- two ---------------------------------------------------------------------------------------- */

static void two_sleep(void)
{
	setup(0, 1, true);
	add_sleeping_thread();
	add_sleeping_thread();
}

static void two_sleep_impatiently(void)
{
	setup(0, 1, false);
	add_sleeping_thread();
	add_sleeping_thread();
}

static void post_both(int id)
{
	(void)id;
	MODEL_CHECK(post(&jobs[0], false) && post(&jobs[1], false));
	await(&jobs[0]);
	await(&jobs[1]);
}

MODEL(two_threads_leave, .setup = two_sleep_impatiently,
      .threads = { stopper, first_sleeps, second_sleeps },
      .finish = all_is_quiet);

MODEL(two_threads_are_stopped, .setup = two_sleep,
      .threads = { stopper, first_sleeps, second_sleeps },
      .finish = all_is_quiet);

MODEL(two_threads_take_a_job_each, .setup = two_sleep,
      .threads = { post_both, first_runs_one, second_runs_one },
      .finish = two_ran_on_two);

MODEL(a_thread_takes_one_job_after_the_other, .setup = one_sleeps,
      .threads = { post_and_wait_on, post_and_wait_on, first_runs_two },
      .finish = two_ran_on_one);

/*
 * A thread is being started for a second job.  The thread takes the first job, ends
 * the job and is not needed any more: the thread must not leave before the starter
 * has its handle.  The other thread of the pool is no model thread; a job that was
 * posted to that thread waits.
 */
static void one_is_being_started(void)
{
	setup(2, 1, false);
	add_sleeping_thread();
	pool->nr_wanted = 1;
}

static void post_second(int id)
{
	struct job *job = &jobs[1];

	(void)id;
	payload_write(&job->given);
	job->job.run = run_job;
	blocking_post(pool, &job->job);
}

static void second_starts(int id)
{
	(void)id;
	run_slot(1);
}

/* The job runs on this thread, or waits for the other. */
static void post_first(int id)
{
	(void)id;
	MODEL_CHECK(post(&jobs[0], false));
}

static void second_left_with_its_handle(void)
{
	MODEL_CHECK(pool->ended == &blocks[1]);
	MODEL_CHECK(pool->nr_threads == 1 && blocks[1].pthread == 1);
	MODEL_CHECK(pool->nr_free == 1);
}

MODEL(a_thread_is_known_before_it_leaves, .setup = one_is_being_started,
      .threads = { post_first, post_second, second_starts },
      .finish = second_left_with_its_handle);

/* ---- at the limit --------------------------------------------------------------------------- */

static void limit_to_one(uint32_t startable)
{
	setup(startable, 2, true);
	pool->max = 1;
}

static void limited_and_one_can_start(void)
{
	limit_to_one(1);
}

static void limited_and_none_can_start(void)
{
	limit_to_one(0);
}

static void limited_and_the_second_can_start(void)
{
	limit_to_one(1);
	nr_failing = 1;
}

static void limited_and_one_sleeps(void)
{
	limit_to_one(0);
	add_sleeping_thread();
}

static void two_ran_by_one_start(void)
{
	all_is_quiet();
	MODEL_CHECK(ledger.ran[0] == 1 && ledger.ran[1] == 1);
	MODEL_CHECK(nr_taken == 1);
}

static void both_were_refused(void)
{
	all_is_quiet();
	MODEL_CHECK(ledger.refused == 2 && nr_taken == 2);
}

static void one_was_refused(void)
{
	all_is_quiet();
	MODEL_CHECK(ledger.refused == 1 && nr_taken == 2);
	MODEL_CHECK(ledger.ran[0] + ledger.ran[1] == 1);
}

/* As a blocking region does: without a free thread it goes on alone. */
static void post_if_free(int id)
{
	if (post(&jobs[id], false))
		await(&jobs[id]);
	caller_ends();
}

static void the_first_ran(void)
{
	all_is_quiet();
	MODEL_CHECK(ledger.ran[0] == 1);
	MODEL_CHECK(ledger.ran[1] + ledger.refused == 1);
}

MODEL(two_jobs_share_the_only_thread, .setup = limited_and_one_sleeps,
      .threads = { post_and_wait_on, post_and_wait_on, first_runs_two },
      .finish = two_ran_on_one);

MODEL(two_jobs_share_the_only_thread_that_starts,
      .setup = limited_and_one_can_start,
      .threads = { post_and_wait, post_and_wait, first_starts },
      .finish = two_ran_by_one_start, .slow = true);

MODEL(no_job_relies_on_a_thread_that_does_not_start,
      .setup = limited_and_none_can_start,
      .threads = { post_and_wait, post_and_wait }, .finish = both_were_refused);

MODEL(a_thread_that_did_not_start_makes_room,
      .setup = limited_and_the_second_can_start,
      .threads = { post_and_wait, post_and_wait, first_starts },
      .finish = one_was_refused);

MODEL(at_the_limit_a_region_does_not_wait, .setup = limited_and_one_sleeps,
      .threads = { post_and_wait, post_if_free, first_sleeps },
      .finish = the_first_ran, .slow = true);
