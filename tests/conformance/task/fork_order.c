/* SPDX-License-Identifier: MIT */
/*
 * fork_order.c - children are joined in any order, stolen or not.
 */
#include "conformance/task/ways.h"

enum { NR_MAX = 6 };

/* ---- orders ------------------------------------------------------------------- */

/* The @n-th order of @nr children: each is reached by some n below nr!. */
static void make_order(int *order, int nr, unsigned int n)
{
	for (int i = 0; i < nr; i++)
		order[i] = i;
	for (int i = 0; i < nr; i++) {
		int j = i + (int)(n % (unsigned int)(nr - i)), other;

		n /= (unsigned int)(nr - i);
		other = order[i];
		order[i] = order[j];
		order[j] = other;
	}
}

static unsigned int nr_orders(int nr)
{
	return nr > 1 ? (unsigned int)nr * nr_orders(nr - 1) : 1;
}

TEST(every_order_comes)
{
	unsigned int seen[24] = { 0 };
	int order[4];

	for (unsigned int n = 0; n < nr_orders(4); n++) {
		unsigned int key = 0, used = 0;

		make_order(order, 4, n);
		for (int i = 0; i < 4; i++) {
			used |= 1u << order[i];
			key = key * 4 + (unsigned int)order[i];
		}
		CHECK_EQ(used, 15);
		for (unsigned int i = 0; i < n; i++)
			CHECK_NE(seen[i], key);
		seen[n] = key;
	}
}

/* ---- joins ------------------------------------------------------------------------ */

struct part {
	atomic_int *begun;
	bool blocks;
	int runs; /* plain */
};

static void run_part(void *arg)
{
	struct part *part = arg;

	atomic_fetch_add(part->begun, 1);
	if (part->blocks)
		CHECK_EQ(sley_sleep(test_random(20) * SLEY_USEC), 0);
	part->runs++;
}

struct plan {
	int nr;
	unsigned int order;
	int stolen; /* wait until so many have begun elsewhere */
	bool blocks;
};

/* Waits without calling sley, so that a thief takes them; not for ever. */
static void let_steal(atomic_int *begun, int nr)
{
	uint64_t end_ns = test_now_ns() + 10 * SLEY_SEC;

	while (atomic_load(begun) < nr)
		CHECK_LT(test_now_ns(), end_ns);
}

static void join_in_order(const struct plan *plan)
{
	struct sley_forked child[NR_MAX];
	struct part part[NR_MAX];
	atomic_int begun = 0;
	int order[NR_MAX];

	make_order(order, plan->nr, plan->order);
	for (int i = 0; i < plan->nr; i++) {
		part[i] = (struct part){ &begun, plan->blocks, 0 };
		sley_fork(&child[i], run_part, &part[i]);
	}
	let_steal(&begun, plan->stolen);
	for (int i = 0; i < plan->nr; i++) {
		sley_fork_join(&child[order[i]]);
		CHECK_EQ(part[order[i]].runs, 1);
	}
	for (int i = 0; i < plan->nr; i++)
		CHECK_EQ(part[i].runs, 1);
	CHECK_EQ(begun, plan->nr);
}

static void join_in_all_orders(void *arg)
{
	int nr_thieves = *(int *)arg;

	for (int nr = 2; nr <= NR_MAX; nr++) {
		unsigned int step = nr > 4 && test_is_slow() ? 13 : 1;

		for (unsigned int n = 0; n < nr_orders(nr); n += step) {
			struct plan plan = {
				.nr = nr,
				.order = n,
				.stolen = nr_thieves && n % 4 == 0
						  ? (int)test_random(
							    (uint64_t)nr + 1)
						  : 0,
				.blocks = n % 3 == 0,
			};

			join_in_order(&plan);
		}
	}
}

static void play(bool migratable, bool no_membarrier)
{
	struct sley_config config = *test_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[2];
	int nr_thieves = nr_runners() - 1;
	struct sley *rt;

	config.migratable = migratable;
	config.no_membarrier = no_membarrier;
	rt = start_with(&config);
	/* Two parents, where somebody is left to steal from both. */
	for (int i = 0; i < (nr_thieves == 1 ? 1 : 2); i++)
		sley_spawn(&group, &task[i], join_in_all_orders, &nr_thieves);
	sley_join(&group);
	stop(rt);
}

TEST_WORKERS(fork_joins_in_any_order)
{
	test_timeout(60);
	play(false, false);
	play(true, false);
	play(false, true);
}

/* ---- among many --------------------------------------------------------------------- */

enum { MANY = 1000 };

static void join_many_at_random(void *arg)
{
	struct sley_forked child[MANY];
	atomic_int begun = 0;
	struct part part[MANY];
	int order[MANY];

	(void)arg;
	for (int i = 0; i < MANY; i++) {
		part[i] = (struct part){ &begun, i % 100 == 0, 0 };
		order[i] = i;
		sley_fork(&child[i], run_part, &part[i]);
	}
	for (int i = 0; i < MANY; i++) {
		int j = i + (int)test_random((uint64_t)(MANY - i));
		int which = order[j];

		order[j] = order[i];
		sley_fork_join(&child[which]);
		CHECK_EQ(part[which].runs, 1);
	}
	CHECK_EQ(begun, MANY);
}

TEST_WORKERS(fork_a_thousand_children_are_joined_at_random)
{
	struct sley_config config = *test_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[4];
	struct sley *rt;

	config.stack_kib = 512;
	rt = start_with(&config);
	for (int round = 0; round < test_scale(10); round++) {
		for (int i = 0; i < 4; i++)
			sley_spawn(&group, &task[i], join_many_at_random, NULL);
		sley_join(&group);
	}
	stop(rt);
}

/* The oldest first: forks and joins in turn, as a queue of them. */
static void join_as_a_queue(void *arg)
{
	struct sley_forked child[16];
	struct part part[16];
	atomic_int begun = 0;

	(void)arg;
	for (int i = 0; i < 500; i++) {
		int slot = i % 16;

		if (i >= 16) {
			sley_fork_join(&child[slot]);
			CHECK_EQ(part[slot].runs, 1);
		}
		part[slot] = (struct part){ &begun, i % 50 == 0, 0 };
		sley_fork(&child[slot], run_part, &part[slot]);
	}
	for (int i = 500; i < 516; i++)
		sley_fork_join(&child[i % 16]);
	CHECK_EQ(begun, 500);
}

TEST_WORKERS(fork_children_in_turn_the_oldest_joined_first)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[4];

	for (int i = 0; i < 4; i++)
		sley_spawn(&group, &task[i], join_as_a_queue, NULL);
	sley_join(&group);
	stop(rt);
}

/* A child is joined by the older of two calls of its parent's. */
struct later {
	struct sley_forked child[2];
	struct part part[2];
	atomic_int begun;
};

static void fork_for_later(struct later *later)
{
	struct sley_forked own;
	struct part part = { &later->begun, false, 0 };

	for (int i = 0; i < 2; i++) {
		later->part[i] = (struct part){ &later->begun, i == 1, 0 };
		sley_fork(&later->child[i], run_part, &later->part[i]);
		if (i == 0)
			sley_fork(&own, run_part, &part);
	}
	/* It is below one that stays. */
	sley_fork_join(&own);
	CHECK_EQ(part.runs, 1);
}

static void join_what_another_forked(void *arg)
{
	struct later later = { .begun = 0 };

	fork_for_later(&later);
	for (int i = 0; i < 2; i++) {
		sley_fork_join(&later.child[i]);
		CHECK_EQ(later.part[i].runs, 1);
	}
	count_task(arg);
}

TEST_WORKERS(fork_a_child_outlives_the_call_that_forked_it)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[16];
	atomic_int done = 0;

	for (int i = 0; i < 16; i++)
		sley_spawn(&group, &task[i], join_what_another_forked, &done);
	sley_join(&group);
	CHECK_EQ(done, 16);
	stop(rt);
}

/* ---- what is left ---------------------------------------------------------------- */

enum { NR_LEFT = 4 };

struct left {
	struct gate gate;
	atomic_int begun;
};

/* The oldest, called at its join: the others are there for whoever is free. */
static void leave_the_others(void *arg)
{
	struct left *left = arg;

	gate_open(&left->gate);
	let_steal(&left->begun, NR_LEFT);
}

static void join_the_oldest_while_nobody_is_free(void *arg)
{
	struct left *left = arg;
	struct part part[NR_LEFT];
	struct sley_forked oldest, child[NR_LEFT];

	while (atomic_load(&left->gate.held) < nr_runners() - 1)
		test_nap_ms(1);
	sley_fork(&oldest, leave_the_others, left);
	for (int i = 0; i < NR_LEFT; i++) {
		part[i] = (struct part){ &left->begun, false, 0 };
		sley_fork(&child[i], run_part, &part[i]);
	}
	sley_fork_join(&oldest);
	for (int i = NR_LEFT; i-- > 0;)
		sley_fork_join(&child[i]);
}

static void leave_children_to_others(bool no_membarrier)
{
	struct sley_config config = *test_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task parent, task[64];
	struct left left = { 0 };
	struct sley *rt;

	config.no_membarrier = no_membarrier;
	rt = start_with(&config);
	for (int i = 0; i < nr_runners() - 1; i++)
		sley_spawn(&group, &task[i], gate_task, &left.gate);
	sley_spawn(&group, &parent, join_the_oldest_while_nobody_is_free,
		   &left);
	sley_join(&group);
	stop(rt);
}

TEST_WORKERS(fork_who_joins_the_oldest_leaves_all_others_to_thieves)
{
	if (nr_runners() < 2 || nr_runners() > 64)
		test_skip("needs a thief");
	leave_children_to_others(false);
	leave_children_to_others(true);
}
