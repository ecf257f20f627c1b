/* SPDX-License-Identifier: MIT */
/*
 * lease_stress.c - peers want, take and return cores at random, and leases are switched on
 * and off, while tasks spawn, yield, wait for each other and are urgent: all of them end.
 */
#include "stress.h"

#include "unit/lease_peers.h"

#define TASKS 64
#define YIELDS 8
#define PRIORITY_MAX 4 /* more or less urgent than the default */

static struct peers peers;
static atomic_bool over;

/* ---- the peers ---------------------------------------------------------------------- */

static void return_one(void)
{
	if (peers_move(&peers, CORE_AWAY, CORE_FREE) < 0)
		return;
	atomic_fetch_sub(&peers.nr_away, 1);
	lease_kick(peers.rt);
}

static void act(void)
{
	switch (test_random(6)) {
	case 0:
		atomic_store(&peers.wants, (int)test_random(NR_LEVELS + 1));
		break;
	case 1:
		atomic_store(&peers.wished, (int)test_random(3));
		break;
	case 2:
		atomic_store(&peers.refuses, test_random(2));
		break;
	case 3: /* lost */
		(void)peers_end(&peers, (int)test_random(2), CORE_AWAY);
		break;
	case 4:
		lease_set_mode(peers.rt, (enum lease_mode)test_random(3));
		break;
	default:
		return_one();
		break;
	}
}

static void join(void)
{
	const struct lease_terms terms = {
		.tick_ns = 200000,
		.quantum_ns = test_random(2) ? 0 : 500000,
		.grace_ns = test_random(2) ? 0 : 50000,
	};
	struct sley *rt = peers.rt;

	peers_init(&peers, 2);
	peers_join(&peers, rt, &terms);
}

static void *play_peers(void *arg)
{
	(void)arg;
	while (!atomic_load(&over)) {
		join();
		for (unsigned int i = test_random(200); i; i--) {
			act();
			if (test_random(4) == 0)
				test_nap_ms(1);
		}
		lease_switch_off(peers.rt);
	}
	return NULL;
}

/* ---- the work ------------------------------------------------------------------------- */

static atomic_int nr_ended;

static void yield_on(void *arg)
{
	(void)arg;
	for (int i = 0; i < YIELDS; i++)
		sley_yield();
	atomic_fetch_add(&nr_ended, 1);
}

static void spawn_two(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[2];

	for (int i = 0; i < 2; i++)
		CHECK_EQ(sley_spawn_with(&group, &task[i], yield_on, arg,
					 SLEY_OPTIONS(.pinned = i)),
			 0);
	sley_join(&group);
	atomic_fetch_add(&nr_ended, 1);
}

static void play_once(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[TASKS];

	atomic_store(&nr_ended, 0);
	for (int i = 0; i < TASKS; i++) {
		int priority = (int)test_random(2 * PRIORITY_MAX + 1);

		CHECK_EQ(
			sley_spawn_with(&group, &task[i],
					i % 2 ? spawn_two : yield_on, NULL,
					SLEY_OPTIONS(.priority = priority -
								 PRIORITY_MAX)),
			0);
	}
	sley_join(&group);
	CHECK_EQ(atomic_load(&nr_ended), TASKS + TASKS);
	test_count(2 * TASKS);
}

static void play(const struct sley_config *config)
{
	uint64_t end = stress_end();
	pthread_t thread;

	peers.rt = start_with(config);
	CHECK_EQ(pthread_create(&thread, NULL, play_peers, NULL), 0);
	do
		play_once();
	while (sley_now() < end);
	atomic_store(&over, true);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	play_once();
	stop(peers.rt);
}

TEST(all_tasks_end_whatever_peers_do)
{
	struct sley_config config = stress_config();

	play(&config);
}

TEST(all_tasks_end_whatever_peers_do_without_membarrier)
{
	struct sley_config config = stress_config_no_membarrier();

	play(&config);
}

TEST(all_tasks_end_whatever_peers_do_if_tasks_move)
{
	struct sley_config config = stress_config_migratable();

	play(&config);
}
