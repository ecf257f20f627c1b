/* SPDX-License-Identifier: MIT */
/*
 * core_blocking.c - when a caller in the queue of blocking calls reports the limit.
 * The times are the test's own: between two reports there are ten seconds.
 */
#include "harness/test.h"

#include "core/wait/blocking.c"

enum { MAX = 3, WAITING = 7 };

static struct blocking pool;
static struct blocking_job job;
static struct sight sight;
static uint64_t now_ns;

/* All threads are in calls, and @job is one of the calls that wait. */
static void begin(void)
{
	now_ns = 5 * STALL_NS;
	pool = (struct blocking){
		.max = MAX, .nr_live = MAX, .nr_wanted = WAITING, .nr_jobs = 100
	};
	list_init(&pool.queue);
	list_init(&job.link);
	list_append(&pool.queue, &job.link);
	sight = (struct sight){ .nr_jobs = UINT64_MAX };
	look(&pool, &job, &sight, now_ns);
	CHECK_EQ(sight.queued, 0);
	CHECK(!sight.started);
}

/* How many calls a look reports, @seconds after the last look. */
static uint32_t reported_after(unsigned int seconds)
{
	now_ns += seconds * STALL_NS;
	look(&pool, &job, &sight, now_ns);
	return sight.queued;
}

TEST(a_stall_is_reported_once_with_all_calls_that_wait)
{
	begin();
	CHECK_EQ(reported_after(1), WAITING);
	for (int i = 0; i < 100; i++)
		CHECK_EQ(reported_after(1), 0);
}

/* The look of any caller counts for the whole pool. */
TEST(of_many_callers_one_reports)
{
	struct sight other = { .nr_jobs = UINT64_MAX };

	begin();
	look(&pool, &job, &other, now_ns);
	CHECK_EQ(reported_after(1), WAITING);
	look(&pool, &job, &other, now_ns);
	CHECK_EQ(other.queued, 0);
}

TEST(a_queue_that_moves_is_not_reported)
{
	begin();
	for (int i = 0; i < 100; i++) {
		pool.nr_jobs++;
		CHECK_EQ(reported_after(1), 0);
	}
	CHECK_EQ(reported_after(1), WAITING);
}

TEST(the_next_stall_is_reported_too_but_not_within_ten_seconds)
{
	begin();
	CHECK_EQ(reported_after(1), WAITING);
	pool.nr_jobs++;
	CHECK_EQ(reported_after(1), 0); /* it moved */
	for (int i = 2; i < 10; i++)
		CHECK_EQ(reported_after(1), 0);
	CHECK_EQ(reported_after(1), WAITING);
	CHECK_EQ(reported_after(30), 0);
}

/* Where the system has no threads to give, the limit is not to blame. */
TEST(below_the_limit_nothing_is_reported)
{
	begin();
	pool.nr_live = MAX - 1;
	CHECK_EQ(reported_after(1), 0);
	pool.nr_live = MAX;
	CHECK_EQ(reported_after(1), WAITING);
}

TEST(a_call_that_has_started_reports_nothing)
{
	begin();
	list_remove(&job.link);
	CHECK_EQ(reported_after(1), 0);
	CHECK(sight.started);
}
