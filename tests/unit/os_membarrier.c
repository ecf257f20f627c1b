/* SPDX-License-Identifier: MIT */
/*
 * os_membarrier.c - the asymmetric barrier keeps the promise it is used for.
 */
#include "harness/test.h"

#include "base/atomic.h"
#include "os/membarrier.h"

#include <errno.h>
#include <sched.h>

static void setup_or_skip(void)
{
	if (!os_membarrier_setup())
		test_skip("membarrier is denied here");
}

TEST(setting_up_twice_is_fine)
{
	setup_or_skip();
	CHECK(os_membarrier_setup());
	os_membarrier();
}

TEST(errno_is_left_alone)
{
	setup_or_skip();
	errno = E2BIG;
	os_membarrier();
	CHECK_EQ(errno, E2BIG);
}

/*
 * Store buffering: each side stores its own word and reads the other's.  At
 * least one must see the other, although the frequent side has no barrier.
 */
static struct {
	cache_aligned uint32_t frequent;
	cache_aligned uint32_t rare;
	cache_aligned uint32_t round;
	cache_aligned uint32_t done;
	uint32_t frequent_saw;
} sb;

#define LOOKS 1000

/* A side that has no CPU gets that of the side which waits for it. */
static void await_round(const uint32_t *word, uint32_t round)
{
	for (int looks = 1; load_acquire(word) != round; looks++) {
		if (looks % LOOKS == 0)
			sched_yield();
		else
			spin_hint(word);
	}
}

static void *frequent_side(void *arg)
{
	uint32_t nr = *(uint32_t *)arg;

	for (uint32_t round = 1; round <= nr; round++) {
		await_round(&sb.round, round);
		store_relaxed(&sb.frequent, round);
		compiler_barrier();
		sb.frequent_saw = load_relaxed(&sb.rare);
		store_release(&sb.done, round);
	}
	return NULL;
}

TEST(one_of_two_sides_sees_the_other_with_a_barrier_on_one)
{
	uint32_t nr = (uint32_t)test_scale(8000);
	pthread_t thread;

	setup_or_skip();
	thread = test_thread(frequent_side, &nr);
	for (uint32_t round = 1; round <= nr; round++) {
		uint32_t saw;

		store_release(&sb.round, round);
		store_relaxed(&sb.rare, round);
		os_membarrier();
		saw = load_relaxed(&sb.frequent);
		await_round(&sb.done, round);
		CHECK(saw == round || sb.frequent_saw == round);
	}
	pthread_join(thread, NULL);
}
