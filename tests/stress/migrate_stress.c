/* SPDX-License-Identifier: MIT */
/*
 * migrate_stress.c - fibers that resume on any worker take with them what is
 * theirs: errno, their frames, what they hold in registers.
 *
 * The C library lets compilers keep the address of errno, so it is looked up
 * in functions that are not inlined, as a migratable program has to.
 */
#include "stress/stress.h"

#include <stdlib.h>

#define NR_FIBERS 24
#define NR_LOOPS 80

struct herd {
	struct sley_mutex mutex;
	struct sley_chan *chan;
	uint64_t locked; /* plain: under the mutex */
	atomic_int moves, pinned_runs;
};

struct sheep {
	struct herd *herd;
	int number;
	bool pinned;
};

static __attribute__((noinline)) void set_errno(int value)
{
	errno = value;
}

static __attribute__((noinline)) int get_errno(void)
{
	return errno;
}

static void go_somewhere(struct sheep *sheep)
{
	struct herd *herd = sheep->herd;
	int value = sheep->number;

	switch (test_random(4)) {
	case 0:
		sley_yield();
		break;
	case 1:
		CHECK_EQ(sley_sleep(test_random(100 * SLEY_USEC)), 0);
		break;
	case 2:
		sley_mutex_lock(&herd->mutex);
		herd->locked++;
		sley_yield();
		sley_mutex_unlock(&herd->mutex);
		break;
	default:
		CHECK_EQ(sley_chan_send(herd->chan, &value), 0);
		CHECK_EQ(sley_chan_recv(herd->chan, &value), 0);
		CHECK_LT(value, NR_FIBERS);
		break;
	}
}

static void wander(void *arg)
{
	struct sheep *sheep = arg;
	double sum = sheep->number, expected = sheep->number;
	volatile char frame[256];
	int worker = sley_worker();

	memset((char *)frame, sheep->number, sizeof(frame));
	for (int i = 0; i < NR_LOOPS; i++) {
		int now;

		set_errno(1000 + sheep->number);
		go_somewhere(sheep);
		CHECK_EQ(get_errno(), 1000 + sheep->number);
		CHECK_EQ(frame[i], sheep->number);
		sum += 0.5;
		now = sley_worker();
		CHECK(now >= 0 && now < 4);
		if (sheep->pinned)
			CHECK_EQ(now, worker);
		else if (now != worker)
			atomic_fetch_add(&sheep->herd->moves, 1);
		worker = now;
	}
	for (int i = 0; i < NR_LOOPS; i++)
		expected += 0.5;
	CHECK(sum == expected);
}

/* A pinned task must come from a worker. */
static void wander_with_a_pinned_one(void *arg)
{
	struct sheep *sheep = arg, pinned = *sheep;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	pinned.pinned = true;
	CHECK_EQ(sley_spawn_with(&group, &task, wander, &pinned,
				 SLEY_OPTIONS(.pinned = true)),
		 0);
	wander(sheep);
	sley_join(&group);
	atomic_fetch_add(&sheep->herd->pinned_runs, 1);
}

static int run_herd(struct sley_chan *chan)
{
	struct herd herd = { .chan = chan };
	struct sheep sheep[NR_FIBERS];
	struct sley_task tasks[NR_FIBERS];
	struct sley_group group = SLEY_GROUP_INIT;

	for (int i = 0; i < NR_FIBERS; i++) {
		sheep[i] = (struct sheep){ .herd = &herd, .number = i };
		sley_spawn(&group, &tasks[i],
			   i % 4 ? wander : wander_with_a_pinned_one,
			   &sheep[i]);
	}
	sley_join(&group);
	CHECK(sley_mutex_try_lock(&herd.mutex));
	CHECK_EQ(atomic_load(&herd.pinned_runs), NR_FIBERS / 4);
	return atomic_load(&herd.moves);
}

/* ---- short lives ------------------------------------------------------------ */

struct box {
	struct sley_group group;
	struct sley_task task;
	struct sley_event events[2];
};

static void nap(void *arg)
{
	struct box *box = arg;
	struct sley_event *both[] = { &box->events[0], &box->events[1] };

	if (one_in(2))
		(void)sley_sleep(SLEY_SEC);
	else
		(void)!sley_event_wait_any(both, 2);
}

/* Nothing of a task is looked at once its join has returned. */
static void let_nap(void *arg)
{
	(void)arg;
	for (int i = 0; i < NR_LOOPS; i++) {
		struct box *box = calloc(1, sizeof(*box));

		CHECK(box);
		sley_spawn(&box->group, &box->task, nap, box);
		for (uint64_t n = test_random(20); n; n--)
			sley_yield();
		sley_cancel(&box->task);
		sley_join(&box->group);
		memset(box, 0xff, sizeof(*box));
		free(box);
	}
}

TEST(a_task_that_moved_is_forgotten_when_it_is_joined)
{
	struct sley_config config = stress_config_migratable();
	struct sley *rt = start_with(&config);
	uint64_t end = stress_end();

	do {
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task tasks[8];

		for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
			sley_spawn(&group, &tasks[i], let_nap, NULL);
		sley_join(&group);
	} while (sley_now() < end);
	stop(rt);
}

static void run(const struct sley_config *config)
{
	struct sley *rt = start_with(config);
	uint64_t end = stress_end();
	struct sley_chan *chan;
	int moves = 0;

	CHECK_EQ(sley_chan_create(&chan, sizeof(int), NR_FIBERS * 2), 0);
	/* Until something has moved: on a busy machine that may take a while. */
	do
		moves += run_herd(chan);
	while (sley_now() < end || moves == 0);
	test_count((uint64_t)moves);
	CHECK_EQ(sley_chan_length(chan), 0);
	sley_chan_destroy(chan);
	stop(rt);
}

TEST(a_fiber_keeps_what_is_its_own_wherever_it_resumes)
{
	struct sley_config config = stress_config_migratable();

	run(&config);
}

TEST(a_fiber_keeps_what_is_its_own_without_membarrier)
{
	struct sley_config config = stress_config_migratable();

	config.no_membarrier = true;
	run(&config);
}
