/* SPDX-License-Identifier: MIT */
/*
 * fairness.c - no source of work starves another: T15, T16.
 *
 * Each test keeps every worker busy in one way and asks for something else to
 * happen meanwhile.  The busy tasks end only when it has: a runtime that
 * starves it makes the test time out.
 */
#include <limits.h>

#include "conformance/bound.h"

struct busy {
	struct sley *rt;
	struct sley_event ping, pong;
	struct sley_chan *chan, *back;
	atomic_bool done;
	atomic_long rounds[64];
};

static void finish(void *arg)
{
	struct busy *b = arg;

	atomic_store(&b->done, true);
}

static void yield_on(void *arg)
{
	struct busy *b = arg;

	while (!atomic_load(&b->done))
		sley_yield();
}

/* Spawns as many of @fn as there are workers, twice. */
static int keep_busy(struct busy *b, struct sley_group *group,
		     struct sley_task *tasks, sley_fn *fn)
{
	int i, n = 2 * nr_runners();

	for (i = 0; i < n; i++)
		sley_spawn(group, &tasks[i], fn, b);
	return n;
}

/* ---- T15 --------------------------------------------------------------- */

/* Wippy: 10.7 million steps, and the neighbour had not run in 500 ms. */
TEST_WORKERS(t15_a_task_that_always_goes_on_does_not_starve_its_neighbour)
{
	static struct sley_task tasks[200];
	struct busy b = { .done = false };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int n = keep_busy(&b, &group, tasks, yield_on);

	sley_spawn(&group, &tasks[n], finish, &b);
	sley_join(&group);
	stop(rt);
}

static void spawn_on_and_on(void *arg)
{
	struct busy *b = arg;

	if (!atomic_load(&b->done))
		CHECK_EQ(sley_schedule(spawn_on_and_on, b), 0);
}

TEST_WORKERS(t15_a_chain_of_new_tasks_does_not_starve_a_neighbour)
{
	struct busy b = { .done = false };
	struct sley *rt = start();
	int i;

	for (i = 0; i < 2 * nr_runners(); i++)
		CHECK_EQ(sley_schedule(spawn_on_and_on, &b), 0);
	CHECK_EQ(sley_schedule(finish, &b), 0);
	stop(rt);
	CHECK(b.done);
}

static void woken_later(void *arg)
{
	struct busy *b = arg;

	CHECK_EQ(sley_event_wait(&b->ping), 0);
	atomic_store(&b->done, true);
}

static void *wake_from_outside(void *arg)
{
	struct busy *b = arg;

	test_nap_ms(10);
	sley_event_set(&b->ping);
	return NULL;
}

TEST_WORKERS(t15_a_woken_fiber_gets_its_turn_among_busy_ones)
{
	static struct sley_task tasks[200];
	struct busy b = { .ping = SLEY_EVENT_INIT };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	pthread_t thread;
	int n;

	sley_spawn(&group, &tasks[199], woken_later, &b);
	n = keep_busy(&b, &group, tasks, yield_on);
	CHECK_LT(n, 199);
	thread = test_thread(wake_from_outside, &b);
	sley_join(&group);
	pthread_join(thread, NULL);
	stop(rt);
}

struct share {
	struct sley_task task;
	struct busy *busy;
	int index;
};

static void yield_and_count(void *arg)
{
	struct share *s = arg;

	while (!atomic_load(&s->busy->done)) {
		atomic_fetch_add(&s->busy->rounds[s->index], 1);
		sley_yield();
	}
}

static void stop_after_100_ms(void *arg)
{
	CHECK_EQ(sley_sleep(100 * SLEY_MSEC), 0);
	finish(arg);
}

TEST(t15_equals_on_one_worker_get_equal_shares)
{
	struct sley_config config = config_of(1);
	struct busy b = { .done = false };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_with(&config);
	struct sley_task timer;
	struct share shares[8];
	long least = LONG_MAX, most = 0;
	int i;

	for (i = 0; i < 8; i++) {
		shares[i] = (struct share){ .busy = &b, .index = i };
		sley_spawn(&group, &shares[i].task, yield_and_count,
			   &shares[i]);
	}
	sley_spawn(&group, &timer, stop_after_100_ms, &b);
	sley_join(&group);
	for (i = 0; i < 8; i++) {
		least = b.rounds[i] < least ? b.rounds[i] : least;
		most = b.rounds[i] > most ? b.rounds[i] : most;
	}
	CHECK_GT(least, 0);
	CHECK_LE(most, 2 * least + 10);
	stop(rt);
}

/* ---- T16 --------------------------------------------------------------- */

static void ping_events(void *arg)
{
	struct busy *b = arg;

	while (!atomic_load(&b->done)) {
		sley_event_set(&b->ping);
		CHECK_EQ(sley_event_wait(&b->pong), 0);
	}
	sley_event_set(&b->ping);
}

static void pong_events(void *arg)
{
	struct busy *b = arg;

	while (!atomic_load(&b->done)) {
		CHECK_EQ(sley_event_wait(&b->ping), 0);
		sley_event_set(&b->pong);
	}
	sley_event_set(&b->pong);
}

/* A pair of fibers on one worker, and what else shall happen there. */
static void chatter(struct sley_config *config, sley_fn *first, sley_fn *second,
		    struct busy *b)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_with(config);
	struct sley_task tasks[3];

	b->rt = rt;
	sley_spawn(&group, &tasks[0], first, b);
	sley_spawn(&group, &tasks[1], second, b);
	/* The new task comes when they are at it. */
	CHECK_EQ(sley_join_until(&group, in_ms(20)), -ETIMEDOUT);
	sley_spawn(&group, &tasks[2], finish, b);
	sley_join(&group);
	stop(rt);
}

/* marl: 1.9 million rounds, and the new task had not started in 500 ms. */
TEST(t16_two_chattering_fibers_do_not_starve_a_new_task_on_one_worker)
{
	struct sley_config config = config_of(1);
	struct busy b = { .ping = SLEY_EVENT_AUTO_INIT,
			  .pong = SLEY_EVENT_AUTO_INIT };

	chatter(&config, ping_events, pong_events, &b);
}

static void finish_after_20_ms(void *arg)
{
	CHECK_EQ(sley_sleep(20 * SLEY_MSEC), 0);
	finish(arg);
}

/* There the new task is older than the chatter, and sits behind it. */
TEST(t16_nor_in_the_single_threaded_mode)
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct busy b = { .ping = SLEY_EVENT_AUTO_INIT,
			  .pong = SLEY_EVENT_AUTO_INIT };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_with(&config);
	struct sley_task tasks[3];

	sley_spawn(&group, &tasks[0], ping_events, &b);
	sley_spawn(&group, &tasks[1], pong_events, &b);
	sley_spawn(&group, &tasks[2], finish_after_20_ms, &b);
	sley_join(&group);
	stop(rt);
}

static void chat_in_channels(void *arg)
{
	struct busy *b = arg;
	int value = 0;

	while (!atomic_load(&b->done)) {
		CHECK_EQ(sley_chan_send(b->chan, &value), 0);
		CHECK_EQ(sley_chan_recv(b->back, &value), 0);
	}
	sley_chan_close(b->chan);
}

static void answer_in_channels(void *arg)
{
	struct busy *b = arg;
	int value;

	while (sley_chan_recv(b->chan, &value) == 0)
		CHECK_EQ(sley_chan_send(b->back, &value), 0);
}

TEST(t16_nor_do_two_fibers_that_chatter_over_channels)
{
	struct sley_config config = config_of(1);
	struct busy b = { .done = false };

	CHECK_EQ(sley_chan_create(&b.chan, sizeof(int), 0), 0);
	CHECK_EQ(sley_chan_create(&b.back, sizeof(int), 0), 0);
	chatter(&config, chat_in_channels, answer_in_channels, &b);
	sley_chan_destroy(b.chan);
	sley_chan_destroy(b.back);
}

static void *finish_from_outside(void *arg)
{
	struct busy *b = arg;

	test_nap_ms(10);
	CHECK_EQ(sley_schedule_on(b->rt, finish, b, NULL), 0);
	return NULL;
}

/* Work from outside is served while local work never ends. */
static void starve_outside(sley_fn *fn)
{
	static struct sley_task tasks[200];
	struct busy b = { .done = false };
	struct sley_group group = SLEY_GROUP_INIT;
	pthread_t thread;

	if (is_single())
		test_skip("nothing comes from outside");
	b.rt = start();
	keep_busy(&b, &group, tasks, fn);
	thread = test_thread(finish_from_outside, &b);
	sley_join(&group);
	pthread_join(thread, NULL);
	stop(b.rt);
}

TEST_WORKERS(t16_the_global_queue_is_served_while_fibers_never_stop)
{
	starve_outside(yield_on);
}

TEST_WORKERS(t16_the_global_queue_is_served_while_new_tasks_never_stop)
{
	starve_outside(spawn_on_and_on);
}
