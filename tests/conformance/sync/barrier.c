/* SPDX-License-Identifier: MIT */
/*
 * barrier.c - parties that wait for each other.
 */
#include "conformance/bound.h"

TEST(barrier_of_one_party_never_waits)
{
	struct sley_barrier barrier = SLEY_BARRIER_INIT(1);

	CHECK_EQ(sley_barrier_wait(&barrier), 1);
	CHECK_EQ(sley_barrier_wait_until(&barrier, 0), 1);
}

TEST_ABORTS(barrier_of_zero_parties_is_misuse,
	    "a barrier has at least one party")
{
	struct sley_barrier barrier = SLEY_BARRIER_INIT(0);
	int result = sley_barrier_wait(&barrier);

	(void)result;
}

TEST_ABORTS(barrier_init_with_zero_parties_is_misuse,
	    "a barrier has at least one party")
{
	struct sley_barrier barrier;

	sley_barrier_init(&barrier, 0);
}

TEST(barrier_who_leaves_has_not_come)
{
	struct sley_barrier barrier;
	uint64_t deadline = in_ms(5);
	int i;

	sley_barrier_init(&barrier, 2);
	CHECK_EQ(sley_barrier_wait_until(&barrier, deadline), -ETIMEDOUT);
	CHECK_GE(sley_now(), deadline);
	/* Would the barrier remember one of them, the next would pass. */
	for (i = 0; i < 5; i++)
		CHECK_EQ(sley_barrier_wait_until(&barrier, 0), -ETIMEDOUT);
}

/* ---- rounds ------------------------------------------------------------------- */

enum { PARTIES = 6 };

struct meeting {
	struct sley_barrier barrier;
	atomic_int round[PARTIES];
	atomic_int last; /* how often somebody was the last */
	int rounds;
};

struct party {
	struct sley_task task;
	struct meeting *meeting;
	int index;
};

/* When it is out, everybody has come to this round, and nobody to the next. */
static void meet(void *arg)
{
	struct party *p = arg;
	struct meeting *m = p->meeting;
	int r, i;

	for (r = 1; r <= m->rounds; r++) {
		int result;

		atomic_store(&m->round[p->index], r);
		result = sley_barrier_wait(&m->barrier);
		CHECK(result == 0 || result == 1);
		atomic_fetch_add(&m->last, result);
		for (i = 0; i < PARTIES; i++) {
			int other = atomic_load(&m->round[i]);

			/* It may wait in the next round, where this one lacks. */
			CHECK(other == r || other == r + 1);
		}
	}
}

static void *meet_in_thread(void *arg)
{
	meet(arg);
	return NULL;
}

TEST_WORKERS(barrier_lets_one_round_pass_at_a_time)
{
	struct meeting m = { .barrier = SLEY_BARRIER_INIT(PARTIES),
			     .rounds = test_scale(300) };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct party p[PARTIES];
	pthread_t threads[2];
	int i;

	for (i = 0; i < PARTIES; i++)
		p[i] = (struct party){ .meeting = &m, .index = i };
	for (i = 0; i < 2; i++)
		threads[i] = test_thread(meet_in_thread, &p[i]);
	for (; i < PARTIES; i++)
		sley_spawn(&group, &p[i].task, meet, &p[i]);
	sley_join(&group);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(atomic_load(&m.last), m.rounds);
	stop(rt);
}

/* ---- leaving -------------------------------------------------------------------- */

struct guest {
	struct sley_task task;
	struct sley_barrier *barrier;
	int result;
};

static void wait_once(void *arg)
{
	struct guest *g = arg;

	g->result = sley_barrier_wait(g->barrier);
}

static void spawn_guest(struct sley_group *group, struct sley_barrier *barrier,
			struct guest *g)
{
	*g = (struct guest){ .barrier = barrier, .result = -1 };
	sley_spawn(group, &g->task, wait_once, g);
}

TEST(barrier_somebody_comes_in_the_place_of_who_was_cancelled)
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct sley_barrier barrier = SLEY_BARRIER_INIT(3);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_with(&config);
	struct guest g[4];
	int i;

	spawn_guest(&group, &barrier, &g[0]);
	spawn_guest(&group, &barrier, &g[1]);
	run_all(rt);
	sley_cancel(&g[0].task);
	run_all(rt);
	CHECK_EQ(g[0].result, -ECANCELED);
	spawn_guest(&group, &barrier, &g[2]);
	run_all(rt);
	CHECK_EQ(sley_task_status(&g[2].task), -EINPROGRESS);
	spawn_guest(&group, &barrier, &g[3]);
	sley_join(&group);
	for (i = 1; i < 4; i++)
		CHECK_EQ(g[i].result, i == 3);
	stop(rt);
}

/* Cancelled, but the round is complete before it has run to leave. */
TEST(barrier_that_is_complete_wins_over_a_cancel)
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct sley_barrier barrier = SLEY_BARRIER_INIT(2);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_with(&config);
	struct guest g;

	spawn_guest(&group, &barrier, &g);
	run_all(rt);
	sley_cancel(&g.task);
	CHECK_EQ(sley_barrier_wait(&barrier), 1);
	sley_join(&group);
	CHECK_EQ(g.result, 0);
	stop(rt);
}
