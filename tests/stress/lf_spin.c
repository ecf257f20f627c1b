/* SPDX-License-Identifier: MIT */
/*
 * lf_spin.c - more threads than CPUs in one spin lock: what is under it is
 * plain, and whoever holds it may lose the CPU.
 */
#include "harness/test.h"

#include "lf/spin.h"
#include "os/thread.h"

#define NR_THREADS 6
#define NR_TURNS 200000

static struct spinlock lock;
static uint64_t nr_inside; /* plain: under the lock */
static uint32_t nr_turns;

static void take_turn(uint64_t *nr_taken)
{
	nr_inside++;
	++*nr_taken;
	if (test_random(256) == 0)
		os_thread_yield();
	spin_unlock(&lock);
}

static void *take_turns(void *arg)
{
	uint64_t nr_taken = 0;

	for (uint32_t i = 0; i < nr_turns; i++) {
		if (test_random(4))
			spin_lock(&lock);
		else if (!spin_try_lock(&lock))
			continue;
		take_turn(&nr_taken);
	}
	*(uint64_t *)arg = nr_taken;
	return NULL;
}

TEST(one_at_a_time_holds_a_spin_lock)
{
	uint64_t nr_taken[NR_THREADS], sum = 0;
	pthread_t thread[NR_THREADS];

	nr_turns = (uint32_t)test_scale(NR_TURNS);
	for (int i = 0; i < NR_THREADS; i++)
		thread[i] = test_thread(take_turns, &nr_taken[i]);
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_join(thread[i], NULL);
		sum += nr_taken[i];
	}
	CHECK_EQ(nr_inside, sum);
	CHECK(spin_try_lock(&lock));
	test_count(sum);
}
