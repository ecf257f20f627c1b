/* SPDX-License-Identifier: MIT */
/*
 * os_futex.c - sleeping on a word: woken, timed out, interrupted.
 */
#include "harness/test.h"

#include "base/atomic.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/thread.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

struct sleeper {
	const uint32_t *word;
	uint64_t deadline;
	int tid;
	int result;
	uint32_t returned;
};

static void *sleep_once(void *arg)
{
	struct sleeper *s = arg;

	store_release(&s->tid, os_thread_id());
	s->result = os_futex_wait(s->word, 0, s->deadline);
	store_release(&s->returned, 1);
	return NULL;
}

/* The kernel says that thread @tid sleeps. */
static bool is_asleep(int tid)
{
	char path[64], text[256] = "", *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'S';
}

/* Starts a sleeper and returns once it sleeps; fails if it does not. */
static pthread_t start_sleeper(struct sleeper *s)
{
	pthread_t thread = test_thread(sleep_once, s);

	CHECK_EVENTUALLY(load_acquire(&s->tid));
	CHECK_EVENTUALLY(load_acquire(&s->returned) || is_asleep(s->tid));
	CHECK(!load_acquire(&s->returned));
	return thread;
}

TEST(a_word_that_differs_is_not_waited_for)
{
	uint32_t word = 1;

	CHECK_EQ(os_futex_wait(&word, 0, UINT64_MAX), 0);
}

TEST(a_deadline_in_the_past_times_out_at_once)
{
	uint32_t word = 0;

	CHECK_EQ(os_futex_wait(&word, 0, 0), -ETIMEDOUT);
	CHECK_EQ(os_futex_wait(&word, 0, os_now()), -ETIMEDOUT);
}

TEST(a_wait_does_not_end_before_its_deadline)
{
	uint64_t deadline = os_now() + 20000000;
	uint32_t word = 0;

	while (os_futex_wait(&word, 0, deadline) == 0)
		;
	CHECK_GE(os_now(), deadline);
	CHECK_LT(os_now(), deadline + 5000000000);
}

TEST(deadlines_beyond_the_kernels_clock_are_waited_for)
{
	static const uint64_t deadline[] = { UINT64_MAX, UINT64_MAX - 1,
					     (uint64_t)INT64_MAX + 1,
					     INT64_MAX };

	for (size_t i = 0; i < array_size(deadline); i++) {
		uint32_t word = 0;
		struct sleeper s = { .word = &word, .deadline = deadline[i] };
		pthread_t thread = start_sleeper(&s);

		store_release(&word, 1);
		os_futex_wake(&word, 1);
		os_thread_join(thread);
		CHECK_EQ(s.result, 0);
	}
}

static int nr_returned(const struct sleeper *s, int nr)
{
	int sum = 0;

	for (int i = 0; i < nr; i++)
		sum += load_acquire(&s[i].returned) != 0;
	return sum;
}

TEST(wake_wakes_as_many_as_asked)
{
	uint32_t word = 0;
	struct sleeper s[3];
	pthread_t thread[3];

	for (int i = 0; i < 3; i++) {
		s[i] = (struct sleeper){ .word = &word,
					 .deadline = UINT64_MAX };
		thread[i] = start_sleeper(&s[i]);
	}
	os_futex_wake(&word, 1);
	CHECK_EVENTUALLY(nr_returned(s, 3) == 1);
	os_futex_wake(&word, INT_MAX);
	for (int i = 0; i < 3; i++)
		os_thread_join(thread[i]);
	CHECK_EQ(nr_returned(s, 3), 3);
}

static void ignore_signal(int signal)
{
	(void)signal;
}

TEST(a_signal_ends_the_wait_without_an_error)
{
	struct sigaction action = { .sa_handler = ignore_signal };
	uint32_t word = 0;
	struct sleeper s = { .word = &word, .deadline = UINT64_MAX };
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	thread = start_sleeper(&s);
	pthread_kill(thread, SIGUSR1);
	os_thread_join(thread);
	CHECK_EQ(s.result, 0);
}

TEST(errno_is_left_alone)
{
	uint32_t word = 0;

	errno = E2BIG;
	CHECK_EQ(os_futex_wait(&word, 1, UINT64_MAX), 0);
	CHECK_EQ(errno, E2BIG);
	CHECK_EQ(os_futex_wait(&word, 0, 0), -ETIMEDOUT);
	CHECK_EQ(errno, E2BIG);
	os_futex_wake(&word, 1);
	CHECK_EQ(errno, E2BIG);
}

TEST_ABORTS(a_word_at_a_bad_address_is_fatal, "futex wait failed")
{
	CHECK(os_futex_wait((const uint32_t *)16, 0, UINT64_MAX));
}
