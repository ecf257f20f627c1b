/* SPDX-License-Identifier: MIT */
/*
 * blocking_max.c - the limit on the threads of blocking calls: M31.
 */
#include <stdio.h>

#include "conformance/bound.h"

/* The lines that the runtime reported. */
struct lines {
	atomic_int nr;
	char last[512];
};

static void take_line(void *self, const char *line)
{
	struct lines *lines = self;

	(void)snprintf(lines->last, sizeof(lines->last), "%s", line);
	atomic_fetch_add(&lines->nr, 1);
}

static struct sley *start_limited(size_t max, struct lines *lines)
{
	struct sley_config config = *test_config();

	config.blocking_max = max;
	/* Where the machine is busy, a worker is preempted, and held by its task. */
	config.watchdog_ms = SLEY_NEVER;
	config.report = take_line;
	config.report_self = lines;
	return start_with(&config);
}

/* ---- how many at a time ----------------------------------------------------- */

struct crowd {
	atomic_int inside, most, ran;
	int ns;
};

static void be_inside(void *arg)
{
	struct crowd *c = arg;
	int inside = atomic_fetch_add(&c->inside, 1) + 1;
	int most = atomic_load(&c->most);

	while (inside > most &&
	       !atomic_compare_exchange_weak(&c->most, &most, inside))
		;
	if (c->ns)
		CHECK_EQ(sley_sleep((uint64_t)c->ns), 0);
	atomic_fetch_sub(&c->inside, 1);
	atomic_fetch_add(&c->ran, 1);
}

static void call_into_crowd(void *arg)
{
	CHECK_EQ(sley_blocking_call(be_inside, arg), 0);
}

static void crowd_in(size_t max, int nr)
{
	struct lines lines = { 0 };
	struct sley *rt = start_limited(max, &lines);
	struct crowd c = { .ns = 200000 };

	test_timeout(120);
	run_tasks(nr, call_into_crowd, &c);
	CHECK_EQ(c.ran, nr);
	CHECK_GE(c.most, 1);
	CHECK_LE(c.most, (int)max);
	CHECK_LE(stats_of(rt).blocking_threads, max);
	CHECK_EQ(stats_of(rt).blocking_calls, nr);
	CHECK_EQ(stats_of(rt).blocking_queued, 0);
	CHECK_GE(stats_of(rt).blocking_waited, 1);
	CHECK_LE(stats_of(rt).blocking_waited, nr);
	CHECK_EQ(lines.nr, 0);
	stop(rt);
}

TEST_WORKERS(m31_with_a_limit_of_one_calls_come_one_after_the_other)
{
	crowd_in(1, 50);
}

TEST_WORKERS(m31_with_a_limit_of_two_there_are_two_at_most)
{
	crowd_in(2, 100);
}

TEST_WORKERS(m31_a_thousand_calls_with_a_limit_of_four_all_end)
{
	crowd_in(4, 1000);
}

/* A program that stays below the limit does not feel it. */
TEST_WORKERS(m31_below_the_limit_no_call_waits)
{
	struct lines lines = { 0 };
	struct sley *rt = start_limited(50, &lines);
	struct crowd c = { .ns = 1000000 };

	run_tasks(50, call_into_crowd, &c);
	CHECK_EQ(c.ran, 50);
	CHECK_EQ(stats_of(rt).blocking_waited, 0);
	stop(rt);
}

/* Threads that are started and leave all the time: none is lost from the count. */
TEST_WORKERS(m31_threads_that_leave_make_room_for_others)
{
	struct sley_config config = *test_config();
	struct crowd c = { 0 };
	struct sley *rt;

	config.blocking_max = 2;
	config.blocking_idle_ms = 1;
	rt = start_with(&config);
	for (int i = 0; i < test_scale(30); i++) {
		run_tasks(5, call_into_crowd, &c);
		CHECK_EQ(c.ran, 5 * (i + 1));
		CHECK_LE(c.most, 2);
		test_nap_ms(2);
	}
	stop(rt);
}

static void hold_and_queue(void *arg)
{
	CHECK_EQ(sley_blocking_call(gate_task, arg), 0);
}

TEST(m31_by_default_there_are_512_at_most)
{
	enum { MAX = 512 };
	struct sley_config config = config_of(2);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task *tasks = calloc(MAX + 1, sizeof(*tasks));
	struct gate gate = { 0 };
	struct sley *rt;

	test_timeout(120);
	CHECK(tasks != NULL);
	rt = start_with(&config);
	for (int i = 0; i <= MAX; i++)
		sley_spawn(&group, &tasks[i], hold_and_queue, &gate);
	CHECK_EVENTUALLY(stats_of(rt).blocking_waited == 1);
	/* A thread may run a call before its starter has counted it. */
	CHECK_EVENTUALLY(atomic_load(&gate.held) == MAX &&
			 stats_of(rt).blocking_threads == MAX);
	CHECK_EQ(stats_of(rt).blocking_queued, 1);
	gate_open(&gate);
	sley_join(&group);
	CHECK_EQ(gate.held, MAX + 1);
	CHECK_EQ(stats_of(rt).blocking_calls, MAX + 1);
	stop(rt);
	free(tasks);
}

/* ---- in the queue -------------------------------------------------------------- */

struct queue {
	struct sley *rt;
	struct gate gate;
	struct sley_group group;
	struct sley_task holder, waiter;
	unsigned int ms; /* until the deadline of the second call; 0: none */
	uint64_t deadline_ns;
	atomic_int result, ran;
};

static void hold_thread(void *arg)
{
	struct queue *q = arg;

	CHECK_EQ(sley_blocking_call(gate_task, &q->gate), 0);
}

static void call_behind(void *arg)
{
	struct queue *q = arg;

	q->deadline_ns = q->ms ? in_ms(q->ms) : SLEY_FOREVER;
	atomic_store(&q->result, sley_blocking_call_until(count_task, &q->ran,
							  q->deadline_ns));
}

/* The only thread is in a call, and a second call is in the queue. */
static void queue_up(struct queue *q)
{
	sley_spawn(&q->group, &q->holder, hold_thread, q);
	CHECK_SOON(atomic_load(&q->gate.held) == 1);
	sley_spawn(&q->group, &q->waiter, call_behind, q);
	/* Of all times: the call may be out of the queue again. */
	CHECK_SOON(stats_of(q->rt).blocking_waited == 1);
}

static void empty_queue(struct queue *q)
{
	CHECK_EQ(q->ran, 0);
	CHECK_EQ(stats_of(q->rt).blocking_queued, 0);
	CHECK_EQ(stats_of(q->rt).blocking_waited, 1);
	gate_open(&q->gate);
	sley_join(&q->group);
}

TEST_WORKERS(m31_a_queued_call_can_be_cancelled)
{
	struct lines lines = { 0 };
	struct queue q = { .result = 1 };

	q.rt = start_limited(1, &lines);
	queue_up(&q);
	CHECK_EQ(stats_of(q.rt).blocking_queued, 1);
	sley_cancel(&q.waiter);
	CHECK_SOON(atomic_load(&q.result) != 1);
	CHECK_EQ(q.result, -ECANCELED);
	empty_queue(&q);
	stop(q.rt);
}

static void wait_in_vain(unsigned int ms)
{
	struct lines lines = { 0 };
	struct queue q = { .ms = ms, .result = 1 };

	q.rt = start_limited(1, &lines);
	queue_up(&q);
	CHECK_SOON(atomic_load(&q.result) != 1);
	CHECK_EQ(q.result, -ETIMEDOUT);
	CHECK_GE(sley_now(), q.deadline_ns);
	empty_queue(&q);
	stop(q.rt);
}

TEST_WORKERS(m31_a_queued_call_has_its_deadline)
{
	wait_in_vain(100);
}

TEST_WORKERS(m31_a_queued_call_has_its_deadline_also_after_a_second)
{
	wait_in_vain(1300);
}

/* A busy machine is late, too, but not each time by as much as a second. */
static void time_out_soon(void *arg)
{
	atomic_int *ran = arg;
	uint64_t late_ns = UINT64_MAX;

	for (int i = 0; i < 5 && late_ns > SLEY_SEC / 2; i++) {
		uint64_t deadline_ns = in_ms(1);

		CHECK_EQ(sley_blocking_call_until(count_task, ran, deadline_ns),
			 -ETIMEDOUT);
		CHECK_GE(sley_now(), deadline_ns);
		late_ns = sley_now() - deadline_ns;
	}
	CHECK_LE(late_ns, SLEY_SEC / 2);
}

TEST_WORKERS(m31_a_queued_call_does_not_wait_for_the_second_to_end)
{
	struct lines lines = { 0 };
	struct queue q = { 0 };

	q.rt = start_limited(1, &lines);
	sley_spawn(&q.group, &q.holder, hold_thread, &q);
	CHECK_SOON(atomic_load(&q.gate.held) == 1);
	run_task(time_out_soon, &q.ran);
	CHECK_EQ(q.ran, 0);
	CHECK_EQ(stats_of(q.rt).blocking_queued, 0);
	gate_open(&q.gate);
	sley_join(&q.group);
	stop(q.rt);
}

enum { NR_IN_LINE = 20 };

struct line {
	struct queue q;
	struct sley_task task[NR_IN_LINE];
	struct place {
		struct line *line;
		int number;
	} place[NR_IN_LINE];
	int nr_started;
};

/* On the only thread. */
static void start_in_order(void *arg)
{
	const struct place *place = arg;

	CHECK_EQ(place->line->nr_started++, place->number);
}

static void call_in_line(void *arg)
{
	CHECK_EQ(sley_blocking_call(start_in_order, arg), 0);
}

TEST_WORKERS(m31_queued_calls_start_in_their_order)
{
	struct lines lines = { 0 };
	struct line line = { 0 };

	line.q.rt = start_limited(1, &lines);
	sley_spawn(&line.q.group, &line.q.holder, hold_thread, &line.q);
	CHECK_SOON(atomic_load(&line.q.gate.held) == 1);
	for (int i = 0; i < NR_IN_LINE; i++) {
		line.place[i] = (struct place){ &line, i };
		sley_spawn(&line.q.group, &line.task[i], call_in_line,
			   &line.place[i]);
		CHECK_SOON(stats_of(line.q.rt).blocking_queued ==
			   (uint64_t)i + 1);
	}
	gate_open(&line.q.gate);
	sley_join(&line.q.group);
	CHECK_EQ(line.nr_started, NR_IN_LINE);
	stop(line.q.rt);
}

static void call_and_count(void *arg)
{
	CHECK_EQ(sley_blocking_call(count_task, arg), 0);
}

/* As many calls wait as there are workers; a task that waits for none of them runs. */
TEST_WORKERS(m31_a_queued_call_holds_no_worker)
{
	struct lines lines = { 0 };
	struct queue q = { 0 };
	struct sley_task waiting[64];
	atomic_int went_on = 0;

	q.rt = start_limited(1, &lines);
	sley_spawn(&q.group, &q.holder, hold_thread, &q);
	CHECK_SOON(atomic_load(&q.gate.held) == 1);
	for (int i = 0; i < nr_runners(); i++)
		sley_spawn(&q.group, &waiting[i], call_and_count, &q.ran);
	CHECK_SOON(stats_of(q.rt).blocking_queued == (uint64_t)nr_runners());
	run_tasks(100, count_task, &went_on);
	CHECK_EQ(went_on, 100);
	CHECK_EQ(q.ran, 0);
	gate_open(&q.gate);
	sley_join(&q.group);
	CHECK_EQ(q.ran, nr_runners());
	stop(q.rt);
}

/* A thread that runs no tasks needs none of the threads, and waits for none. */
static void *call_in_place(void *arg)
{
	struct queue *q = arg;

	CHECK_EQ(sley_blocking_call(count_task, &q->ran), 0);
	if (!is_single())
		CHECK_EQ(sley_bind(q->rt), 0);
	CHECK_EQ(sley_blocking_call(count_task, &q->ran), 0);
	if (!is_single())
		sley_unbind(q->rt);
	return NULL;
}

TEST_WORKERS(m31_a_plain_thread_does_not_feel_the_limit)
{
	struct lines lines = { 0 };
	struct queue q = { 0 };

	q.rt = start_limited(1, &lines);
	sley_spawn(&q.group, &q.holder, hold_thread, &q);
	CHECK_SOON(atomic_load(&q.gate.held) == 1);
	run_threads(3, call_in_place, &q);
	CHECK_EQ(q.ran, 6);
	CHECK_EQ(stats_of(q.rt).blocking_calls, 1);
	CHECK_EQ(stats_of(q.rt).blocking_waited, 0);
	gate_open(&q.gate);
	sley_join(&q.group);
	stop(q.rt);
}

/* ---- a destroyer waits for what is queued ---------------------------------------- */

static struct crowd late_crowd;

TEST_WORKERS(m31_a_runtime_stops_when_its_queued_calls_are_over)
{
	struct lines lines = { 0 };
	struct sley *rt = start_limited(2, &lines);

	late_crowd = (struct crowd){ .ns = 300000 };
	for (int i = 0; i < 40; i++)
		CHECK_EQ(sley_schedule(call_into_crowd, &late_crowd), 0);
	stop(rt);
	CHECK_EQ(late_crowd.ran, 40);
	CHECK_LE(late_crowd.most, 2);
}

/* ---- too few threads ----------------------------------------------------------------- */

TEST_WORKERS(m31_a_deadlock_by_the_limit_is_reported_once)
{
	struct lines lines = { 0 };
	struct queue q = { .result = 1 };
	struct queue *also = &(struct queue){ 0 };
	uint64_t begin_ns;

	q.rt = start_limited(1, &lines);
	also->rt = q.rt;
	begin_ns = sley_now();
	queue_up(&q);
	sley_spawn(&also->group, &also->waiter, call_behind, also);
	CHECK_SOON(atomic_load(&lines.nr) == 1);
	CHECK_GE(ms_since(begin_ns), 1000);
	if (!test_is_chaotic())
		CHECK_LE(ms_since(begin_ns), 4000);
	CHECK(strstr(lines.last, "2 blocking call(s) wait"));
	CHECK(strstr(lines.last, "all 1 threads (.blocking_max)"));
	CHECK(strstr(lines.last, "SLEY_UNBOUNDED"));
	CHECK_EQ(sley_sleep(2200 * SLEY_MSEC), 0);
	CHECK_EQ(lines.nr, 1);
	gate_open(&q.gate);
	sley_join(&q.group);
	sley_join(&also->group);
	CHECK_EQ(q.ran + also->ran, 2);
	CHECK_EQ(lines.nr, 1);
	stop(q.rt);
}

/* A queue that moves on is no deadlock, however long it is. */
TEST_WORKERS(m31_a_long_queue_that_moves_is_not_reported)
{
	struct lines lines = { 0 };
	struct sley *rt = start_limited(1, &lines);
	struct crowd c = { .ns = 200000000 };

	run_tasks(8, call_into_crowd, &c);
	CHECK_EQ(c.ran, 8);
	CHECK_EQ(lines.nr, 0);
	stop(rt);
}

/* ---- regions do not wait --------------------------------------------------------------- */

static void begin_at_the_limit(void *arg)
{
	struct queue *q = arg;

	while (!atomic_load(&q->gate.held))
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	CHECK_EQ(sley_blocking_begin(), -EAGAIN);
	CHECK_GE(sley_worker(), 0);
	gate_open(&q->gate);
	sley_blocking_end();
}

static void begin_below_the_limit(void *arg)
{
	(void)arg;
	CHECK_EQ(sley_blocking_begin(), 0);
	CHECK_EQ(sley_worker(), -1);
	sley_blocking_end();
}

TEST_WORKERS(m31_a_region_at_the_limit_runs_on_its_worker)
{
	struct lines lines = { 0 };
	struct queue q = { 0 };

	q.rt = start_limited(1, &lines);
	sley_spawn(&q.group, &q.holder, hold_thread, &q);
	sley_spawn(&q.group, &q.waiter, begin_at_the_limit, &q);
	sley_join(&q.group);
	CHECK_EQ(stats_of(q.rt).blocking_queued, 0);
	CHECK_EQ(stats_of(q.rt).blocking_waited, 0);
	run_task(begin_below_the_limit, NULL);
	CHECK_LE(stats_of(q.rt).blocking_threads, 1);
	stop(q.rt);
}

static void hold_region(void *arg)
{
	struct queue *q = arg;

	CHECK_EQ(sley_blocking_begin(), 0);
	gate_hold(&q->gate);
	sley_blocking_end();
}

TEST_WORKERS(m31_a_region_takes_a_thread_until_its_end)
{
	struct lines lines = { 0 };
	struct queue q = { .result = 1 };

	q.rt = start_limited(1, &lines);
	sley_spawn(&q.group, &q.holder, hold_region, &q);
	CHECK_SOON(atomic_load(&q.gate.held) == 1);
	sley_spawn(&q.group, &q.waiter, call_behind, &q);
	CHECK_SOON(stats_of(q.rt).blocking_queued == 1);
	CHECK_EQ(stats_of(q.rt).blocking_threads, 1);
	CHECK_EQ(q.ran, 0);
	gate_open(&q.gate);
	sley_join(&q.group);
	CHECK_EQ(q.result, 0);
	CHECK_EQ(q.ran, 1);
	CHECK_EQ(stats_of(q.rt).blocking_threads, 1);
	stop(q.rt);
}

/* ---- no thread to be had ----------------------------------------------------------------- */

static void call_in_vain(void *arg)
{
	CHECK_EQ(sley_blocking_call(count_task, arg), -EAGAIN);
}

TEST_WORKERS(m31_with_a_limit_too_a_call_fails_where_no_thread_can_start)
{
	struct lines lines = { 0 };
	struct sley *rt = start_limited(1, &lines);
	atomic_int ran = 0;
	struct crowd c = { 0 };

	test_fail_allocation_after(0);
	run_tasks(20, call_in_vain, &ran);
	test_fail_allocation_after(-1);
	CHECK_EQ(ran, 0);
	CHECK_EQ(stats_of(rt).blocking_queued, 0);
	run_tasks(20, call_into_crowd, &c);
	CHECK_EQ(c.ran, 20);
	stop(rt);
}
