/* SPDX-License-Identifier: MIT */
/*
 * outside.c - tasks from a plain thread do not wait behind local tasks, nor local
 * tasks behind them; and each source has its turn within a tick.
 *
 * Waits are counted in local tasks, and not in time, so that a worker that the kernel
 * has stopped counts nothing meanwhile.  Local work never ends: each task queues the
 * next one.
 */
#include "conformance/bound.h"

#include <limits.h>

enum { BURST = 1000, ROUNDS = 20, WORKERS_MAX = 8 };

/* Local tasks that each worker has begun. */
struct turns {
	atomic_long of[WORKERS_MAX];
};

static struct scene {
	struct sley *rt;
	atomic_bool over;
	struct turns turns;
	atomic_long nr_outside; /* tasks from outside that have begun */
} scene;

static void copy_turns(struct turns *to)
{
	for (int i = 0; i < nr_runners(); i++)
		to->of[i] = scene.turns.of[i];
}

static long all_turns(void)
{
	long sum = 0;

	for (int i = 0; i < nr_runners(); i++)
		sum += scene.turns.of[i];
	return sum;
}

/* ---- local work ------------------------------------------------------------------ */

static void begin_local(void)
{
	scene.turns.of[sley_worker()]++;
}

static void short_task(void *arg)
{
	begin_local();
	test_use_cpu_ns(5 * SLEY_USEC);
	if (!scene.over)
		CHECK_EQ(sley_schedule(short_task, arg), 0);
}

static void fork_some(void *arg)
{
	unsigned int depth = *(unsigned int *)arg, below = depth - 1;
	struct sley_forked child;

	if (!depth) {
		test_use_cpu_ns(15 * SLEY_USEC);
		return;
	}
	sley_fork(&child, fork_some, &below);
	fork_some(&below);
	sley_fork_join(&child);
}

/* Sixty-four leaves: a millisecond. */
static void root_task(void *arg)
{
	unsigned int depth = 6;

	begin_local();
	fork_some(&depth);
	if (!scene.over)
		CHECK_EQ(sley_schedule(root_task, arg), 0);
}

static bool all_busy(void)
{
	for (int i = 0; i < nr_runners(); i++)
		if (scene.turns.of[i] < 10)
			return false;
	return true;
}

static void keep_busy(sley_fn *local)
{
	struct sley_config config = *test_config();

	if (is_single())
		test_skip("nothing comes from outside");
	if (nr_runners() > WORKERS_MAX)
		test_skip("busy threads wait for a CPU, and not for sley");
	scene = (struct scene){ .over = false };
	scene.rt = start_with(&config);
	for (int i = 0; i < 2 * nr_runners(); i++)
		CHECK_EQ(sley_schedule(local, NULL), 0);
	CHECK_SOON(all_busy());
}

static void end_busy(void)
{
	scene.over = true;
	stop(scene.rt);
}

/* ---- one by one -------------------------------------------------------------------- */

struct single {
	struct turns since; /* when it was certainly there */
	long then; /* when it began: turns of the worker that runs it */
	int worker;
	atomic_bool ran;
};

static void run_single(void *arg)
{
	struct single *single = arg;

	single->worker = sley_worker();
	single->then = scene.turns.of[single->worker];
	single->ran = true;
}

/*
 * A local task that runs, and a local task that was picked just before: and with a few
 * more the bound does not depend on where a submission falls.  A fair pick used to come
 * after 61 tasks.
 */
static void check_singles(sley_fn *local)
{
	keep_busy(local);
	for (int i = 0; i < ROUNDS; i++) {
		static struct single single;

		single = (struct single){ .ran = false };
		test_nap_ms(3);
		CHECK_EQ(sley_schedule_on(scene.rt, run_single, &single, NULL),
			 0);
		copy_turns(&single.since);
		CHECK_SOON(single.ran);
		CHECK_LE(single.then - single.since.of[single.worker], 8);
	}
	end_busy();
}

TEST_WORKERS(w13_a_task_from_outside_waits_for_few_short_tasks)
{
	check_singles(short_task);
}

TEST_WORKERS(w13_a_task_from_outside_waits_for_few_forking_tasks)
{
	check_singles(root_task);
}

/* ---- a burst ------------------------------------------------------------------------- */

static void count_outside(void *arg)
{
	(void)arg;
	scene.nr_outside++;
}

/* With a fair pick of seventeen tasks at a time it would be more than 3,500. */
static void check_burst(sley_fn *local, long bound)
{
	long before;

	keep_busy(local);
	for (int i = 0; i < BURST; i++)
		CHECK_EQ(sley_schedule_on(scene.rt, count_outside, NULL, NULL),
			 0);
	/* All are there: a submitter that has no CPU counts nothing. */
	before = all_turns();
	CHECK_SOON(scene.nr_outside == BURST);
	CHECK_LE(all_turns() - before, bound);
	end_busy();
}

TEST_WORKERS(w13_a_burst_from_outside_waits_for_few_short_tasks)
{
	check_burst(short_task, 2 * BURST);
}

TEST_WORKERS(w13_a_burst_from_outside_waits_for_few_forking_tasks)
{
	check_burst(root_task, 200);
}

/* ---- and the other way round ----------------------------------------------------------- */

static void long_outside(void *arg)
{
	(void)arg;
	scene.nr_outside++;
	test_use_cpu_ns(200 * SLEY_USEC);
}

/*
 * Half of the time for tasks from outside leaves time for forty local tasks for each
 * of them, and not for one.
 */
static void check_stream(void)
{
	long before = all_turns(), nr = 0;

	while (scene.nr_outside < 500) {
		if (nr - scene.nr_outside > 50) {
			test_nap_ms(1);
			continue;
		}
		CHECK_EQ(sley_schedule_on(scene.rt, long_outside, NULL, NULL),
			 0);
		nr++;
	}
	CHECK_GE(all_turns() - before, 5 * 500);
	end_busy();
}

TEST_WORKERS(w13_an_endless_stream_from_outside_leaves_time_for_local_tasks)
{
	keep_busy(short_task);
	check_stream();
}

static void yield_for_ever(void *arg)
{
	(void)arg;
	while (!scene.over)
		sley_yield();
}

/* A task that yields lets tasks from outside pass; the others beside it need not. */
static void stream_beside_yields(sley_fn *local)
{
	keep_busy(local);
	for (int i = 0; i < nr_runners(); i++)
		CHECK_EQ(sley_schedule(yield_for_ever, NULL), 0);
	check_stream();
}

TEST_WORKERS(w13_a_task_that_yields_does_not_hold_up_tasks_before_a_stream)
{
	stream_beside_yields(short_task);
}

static void wake_fiber(void *chan)
{
	CHECK_EQ(sley_chan_send(chan, &(int){ 0 }), 0);
}

/* The same for fibers, which wait in the list in which the task that yields is. */
static void short_fiber(void *arg)
{
	struct sley_chan *chan;
	int value = 0;

	(void)arg;
	CHECK_EQ(sley_chan_create(&chan, sizeof(int), 1), 0);
	while (!scene.over) {
		CHECK_EQ(sley_schedule(wake_fiber, chan), 0);
		CHECK_EQ(sley_chan_recv(chan, &value), 0);
		begin_local();
		test_use_cpu_ns(5 * SLEY_USEC);
	}
	sley_chan_destroy(chan);
}

TEST_WORKERS(w13_a_task_that_yields_does_not_hold_up_fibers_before_a_stream)
{
	if (nr_runners() > 1)
		test_skip(
			"fibers stay where they began, and leave workers idle");
	stream_beside_yields(short_fiber);
}

/* ---- the other sources -------------------------------------------------------------------- */

static struct talk {
	struct sley_chan *to, *fro;
	int turns;
	int worst;
	atomic_bool pending;
} talk;

static void neighbour(void *arg)
{
	int waited = talk.turns - (int)(intptr_t)arg;

	if (waited > talk.worst)
		talk.worst = waited;
	talk.pending = false;
}

static void answer(void *arg)
{
	int value;

	(void)arg;
	while (sley_chan_recv(talk.to, &value) == 0) {
		test_use_cpu_ns(200 * SLEY_USEC);
		talk.turns++;
		CHECK_EQ(sley_chan_send(talk.fro, &value), 0);
	}
}

/* The ring, behind two fibers that wake each other: the first rounds set the pace. */
static void talk_on(void *arg)
{
	(void)arg;
	for (int i = 0; i < 300; i++) {
		int value = i;

		if (i >= 100 && !talk.pending) {
			talk.pending = true;
			CHECK_EQ(sley_schedule(neighbour,
					       (void *)(intptr_t)talk.turns),
				 0);
		}
		CHECK_EQ(sley_chan_send(talk.to, &value), 0);
		test_use_cpu_ns(200 * SLEY_USEC);
		talk.turns++;
		CHECK_EQ(sley_chan_recv(talk.fro, &value), 0);
	}
	sley_chan_close(talk.to);
}

/* Six sources have a turn each: a fair pick used to come after 61 tasks, 12 ms. */
TEST(t16_each_source_has_its_turn_within_a_tick)
{
	struct sley_config config = config_of(1);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[2];
	struct sley *rt;

	talk = (struct talk){ .turns = 0 };
	rt = start_with(&config);
	CHECK_EQ(sley_chan_create(&talk.to, sizeof(int), 0), 0);
	CHECK_EQ(sley_chan_create(&talk.fro, sizeof(int), 0), 0);
	sley_spawn(&group, &task[0], answer, NULL);
	sley_spawn(&group, &task[1], talk_on, NULL);
	sley_join(&group);
	CHECK_LE(talk.worst, 14);
	sley_chan_destroy(talk.to);
	sley_chan_destroy(talk.fro);
	stop(rt);
}

/* ---- tasks that become long all at once ------------------------------------------------ */

enum { LONG_ROUNDS = 20 };

/* Short tasks one after another, and then long tasks. */
static struct chain {
	struct sley *rt;
	atomic_int nr_short, nr_long;
	atomic_bool over, ran;
	int began; /* long tasks until the task in the lane has begun */
} chain;

static void chain_task(void *arg)
{
	if (chain.nr_short) {
		chain.nr_short--;
	} else {
		chain.nr_long++;
		test_use_cpu_ns(2 * SLEY_MSEC);
	}
	if (!chain.over)
		CHECK_EQ(sley_schedule(chain_task, arg), 0);
}

static void run_in_lane(void *arg)
{
	(void)arg;
	chain.began = chain.nr_long;
	chain.ran = true;
}

/* How many long tasks a task in the lane of the worker waits for. */
static int wait_in_lane(void)
{
	int before = chain.nr_long;

	chain.ran = false;
	chain.nr_short = 400; /* enough for the pace of short tasks */
	CHECK_SOON(!chain.nr_short && chain.nr_long > before);
	before = chain.nr_long;
	CHECK_EQ(sley_schedule_on(chain.rt, run_in_lane, NULL,
				  SLEY_OPTIONS(.toward = SLEY_ON_WORKER(0))),
		 0);
	CHECK_SOON(chain.ran);
	return chain.began - before;
}

/*
 * The worker goes on at the pace of short tasks, up to 61 picks: 30 on average, and
 * 120 ms at most.  The monitor looks after 10 ms, which are five tasks.
 */
TEST(t16_when_tasks_become_long_all_at_once_the_monitor_asks_for_a_turn)
{
	struct sley_config config = config_of(1);
	int sum = 0;

	if (test_is_chaotic())
		test_skip("chaos makes fair picks of its own");
	chain = (struct chain){ .over = false };
	chain.rt = start_with(&config);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(sley_schedule(chain_task, NULL), 0);
	for (int i = 0; i < LONG_ROUNDS; i++)
		sum += wait_in_lane();
	CHECK_LE(sum, 15 * LONG_ROUNDS);
	chain.over = true;
	stop(chain.rt);
}
