/* SPDX-License-Identifier: MIT */
/*
 * lf_spin.c - one holder at a time, also with fewer CPUs than waiters.
 */
#include "harness/test.h"

#include "lf/spin.h"
#include "os/thread.h"

TEST(a_held_lock_cannot_be_taken_until_it_is_given_back)
{
	struct spinlock lock = { 0 };

	CHECK(spin_try_lock(&lock));
	CHECK(!spin_try_lock(&lock));
	spin_unlock(&lock);
	spin_lock(&lock);
	CHECK(!spin_try_lock(&lock));
	spin_unlock(&lock);
	CHECK(spin_try_lock(&lock));
	spin_unlock(&lock);
}

#define NR_THREADS 8

static struct spinlock lock;
static int counter; /* under lock; plain, so that a race loses counts */
static int nr_rounds;
static pthread_barrier_t start;

/* Lingers between reading and writing, at times until others come along. */
static void count_slowly(int round)
{
	int before = counter;

	if (round % 256 == 0)
		os_thread_yield();
	else
		spin_hint(&lock);
	counter = before + 1;
}

static void keep_trying(void)
{
	for (int i = 1; !spin_try_lock(&lock); i++) {
		if (i % 256 == 0)
			os_thread_yield();
	}
}

static void *count(void *arg)
{
	pthread_barrier_wait(&start);
	for (int i = 0; i < nr_rounds; i++) {
		if (i % 2 == 0)
			keep_trying();
		else
			spin_lock(&lock);
		count_slowly(i);
		spin_unlock(&lock);
	}
	return arg;
}

TEST(eight_threads_exclude_each_other)
{
	pthread_t thread[NR_THREADS];

	nr_rounds = test_scale(50000);
	pthread_barrier_init(&start, NULL, NR_THREADS);
	for (int i = 0; i < NR_THREADS; i++)
		thread[i] = test_thread(count, NULL);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
	CHECK_EQ(counter, NR_THREADS * nr_rounds);
}
