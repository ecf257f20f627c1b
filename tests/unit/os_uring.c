/* SPDX-License-Identifier: MIT */
/*
 * os_uring.c - a thread that sleeps on a word and on a descriptor at the same time.
 */
#include "harness/test.h"

#include "base/atomic.h"
#include "os/clock.h"
#include "os/eventfd.h"
#include "os/futex.h"
#include "os/thread.h"
#include "os/uring.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS 1000000ull

static void *do_nothing(void *arg)
{
	return arg;
}

/* Of uring.h: the process has had a second thread. */
static void create(struct os_uring *ring)
{
	int err;

	pthread_join(test_thread(do_nothing, NULL), NULL);
	err = os_uring_create(ring);
	if (err == -ENOSYS || err == -EPERM)
		test_skip("the kernel has no io_uring, or denies it");
	CHECK_EQ(err, 0);
	CHECK(os_uring_exists(ring));
}

struct waker {
	uint32_t *word;
	int fd;
	int nr; /* wake so many */
};

/* Some time later, so that the other thread sleeps. */
static void *wake_later(void *arg)
{
	struct waker *w = arg;

	test_nap_ms(20);
	if (w->word) {
		store_release(w->word, 1);
		os_futex_wake(w->word, w->nr);
	} else {
		os_eventfd_signal(w->fd);
	}
	return NULL;
}

static int sleep_and_be_woken(struct os_uring *ring, struct waker *w)
{
	pthread_t thread = test_thread(wake_later, w);
	int bits = os_uring_sleep(ring, UINT64_MAX);

	pthread_join(thread, NULL);
	return bits;
}

TEST(a_plain_wake_ends_the_sleep)
{
	struct os_uring ring;
	uint32_t word = 0;
	struct waker w = { .word = &word, .nr = 1 };

	create(&ring);
	os_uring_arm_word(&ring, &word, 0);
	CHECK_EQ(sleep_and_be_woken(&ring, &w), OS_URING_WORD);
	CHECK_EQ(ring.armed, 0);
	os_uring_destroy(&ring);
	CHECK(!os_uring_exists(&ring));
}

TEST(a_word_that_differs_ends_the_sleep)
{
	struct os_uring ring;
	uint32_t word = 1;

	create(&ring);
	os_uring_arm_word(&ring, &word, 0);
	CHECK_EQ(os_uring_sleep(&ring, UINT64_MAX), OS_URING_WORD);
	os_uring_destroy(&ring);
}

TEST(a_readable_descriptor_ends_the_sleep)
{
	struct os_uring ring;
	uint32_t word = 0;
	struct waker w = { .fd = os_eventfd_create() };

	create(&ring);
	os_uring_arm_word(&ring, &word, 0);
	os_uring_arm_read(&ring, w.fd);
	CHECK_EQ(sleep_and_be_woken(&ring, &w), OS_URING_READ);
	CHECK_EQ(ring.armed, OS_URING_WORD);
	/* Level triggered: the signal is still there. */
	os_uring_arm_read(&ring, w.fd);
	CHECK_EQ(os_uring_sleep(&ring, UINT64_MAX), OS_URING_READ);
	os_eventfd_clear(w.fd);
	os_uring_arm_read(&ring, w.fd);
	CHECK_EQ(os_uring_sleep(&ring, os_now() + 10 * MS), -ETIMEDOUT);
	os_uring_destroy(&ring);
	close(w.fd);
}

/* A signal while the thread is awake is not lost. */
TEST(a_signal_between_two_sleeps_ends_the_second)
{
	struct os_uring ring;
	int fd = os_eventfd_create();

	create(&ring);
	os_uring_arm_read(&ring, fd);
	CHECK_EQ(os_uring_sleep(&ring, os_now() + 1 * MS), -ETIMEDOUT);
	os_eventfd_signal(fd);
	CHECK_EQ(os_uring_sleep(&ring, UINT64_MAX), OS_URING_READ);
	os_uring_destroy(&ring);
	close(fd);
}

TEST(a_deadline_is_never_early)
{
	struct os_uring ring;
	uint32_t word = 0;

	create(&ring);
	os_uring_arm_word(&ring, &word, 0);
	for (int i = 0; i < 20; i++) {
		uint64_t deadline = os_now() + MS;

		CHECK_EQ(os_uring_sleep(&ring, deadline), -ETIMEDOUT);
		CHECK_GE(os_now(), deadline);
		CHECK_EQ(ring.armed, OS_URING_WORD);
	}
	CHECK_EQ(os_uring_sleep(&ring, 0), -ETIMEDOUT);
	os_uring_destroy(&ring);
}

/* The operation of the first sleep serves the second: it was never completed. */
TEST(an_armed_operation_serves_the_next_sleep)
{
	struct os_uring ring;
	uint32_t word = 0;
	struct waker w = { .word = &word, .nr = 1 };

	create(&ring);
	os_uring_arm_word(&ring, &word, 0);
	CHECK_EQ(os_uring_sleep(&ring, 0), -ETIMEDOUT);
	os_uring_arm_word(&ring, &word, 0);
	CHECK_EQ(sleep_and_be_woken(&ring, &w), OS_URING_WORD);
	os_uring_destroy(&ring);
}

/* The kernel moves its waiters to a larger table when there are more threads. */
TEST(an_armed_operation_outlasts_new_threads)
{
	struct waker nothing = { .fd = -1 };
	pthread_t threads[64];
	struct os_uring ring;
	uint32_t word = 0;
	struct waker w = { .word = &word, .nr = 1 };

	create(&ring);
	os_uring_arm_word(&ring, &word, 0);
	CHECK_EQ(os_uring_sleep(&ring, 0), -ETIMEDOUT);
	for (int i = 0; i < 64; i++)
		threads[i] = test_thread(wake_later, &nothing);
	CHECK_EQ(sleep_and_be_woken(&ring, &w), OS_URING_WORD);
	for (int i = 0; i < 64; i++)
		pthread_join(threads[i], NULL);
	os_uring_destroy(&ring);
}

/* A wake-up between two sleeps is not lost. */
TEST(a_wake_between_two_sleeps_ends_the_second)
{
	struct os_uring ring;
	uint32_t word = 0;

	create(&ring);
	os_uring_arm_word(&ring, &word, 0);
	CHECK_EQ(os_uring_sleep(&ring, 0), -ETIMEDOUT);
	os_futex_wake(&word, 1);
	CHECK_EQ(os_uring_sleep(&ring, UINT64_MAX), OS_URING_WORD);
	os_uring_destroy(&ring);
}

static int sleep_plainly(uint32_t *word, int nr)
{
	struct waker w = { .word = word, .nr = nr };
	pthread_t thread = test_thread(wake_later, &w);
	int err = os_futex_wait(word, 0, os_now() + 200 * MS);

	pthread_join(thread, NULL);
	return err;
}

/* Why the wakers of a seat wake two: see core/sched/idle.h. */
TEST(an_armed_operation_swallows_the_wake_of_one)
{
	struct os_uring ring;
	uint32_t word = 0;

	create(&ring);
	os_uring_arm_word(&ring, &word, 0);
	CHECK_EQ(os_uring_sleep(&ring, 0), -ETIMEDOUT);
	CHECK_EQ(sleep_plainly(&word, 1), -ETIMEDOUT);
	word = 0;
	CHECK_EQ(os_uring_sleep(&ring, 0), OS_URING_WORD);
	os_uring_arm_word(&ring, &word, 0);
	CHECK_EQ(os_uring_sleep(&ring, 0), -ETIMEDOUT);
	CHECK_EQ(sleep_plainly(&word, 2), 0);
	os_uring_destroy(&ring);
}

TEST(a_cancelled_operation_swallows_no_wake)
{
	struct os_uring ring;
	uint32_t word = 0;
	int fd = os_eventfd_create();

	create(&ring);
	os_uring_arm_word(&ring, &word, 0);
	os_uring_arm_read(&ring, fd);
	CHECK_EQ(os_uring_sleep(&ring, 0), -ETIMEDOUT);
	os_uring_cancel(&ring);
	CHECK_EQ(ring.armed, 0);
	CHECK_EQ(sleep_plainly(&word, 1), 0);
	os_uring_destroy(&ring);
	close(fd);
}

/* A child of fork() keeps the descriptor of the ring, and with it the ring. */
TEST(the_end_of_a_ring_cancels_beside_a_child)
{
	struct os_uring ring;
	uint32_t word = 0;
	int status;
	pid_t pid;

	create(&ring);
	os_uring_arm_word(&ring, &word, 0);
	CHECK_EQ(os_uring_sleep(&ring, 0), -ETIMEDOUT);
	pid = fork();
	CHECK_GE(pid, 0);
	if (pid == 0) {
		test_nap_ms(1000);
		_exit(0);
	}
	os_uring_destroy(&ring);
	CHECK_EQ(sleep_plainly(&word, 1), 0);
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
}

static void take_no_notice(int number)
{
	(void)number;
}

static void *interrupt_later(void *arg)
{
	test_nap_ms(20);
	pthread_kill(*(pthread_t *)arg, SIGUSR1);
	return NULL;
}

TEST(a_signal_ends_the_sleep_for_no_reason)
{
	struct sigaction action = { .sa_handler = take_no_notice };
	pthread_t self = pthread_self(), thread;
	struct os_uring ring;
	uint32_t word = 0;

	CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
	create(&ring);
	os_uring_arm_word(&ring, &word, 0);
	thread = test_thread(interrupt_later, &self);
	errno = E2BIG;
	CHECK_EQ(os_uring_sleep(&ring, UINT64_MAX), 0);
	CHECK_EQ(errno, E2BIG);
	pthread_join(thread, NULL);
	CHECK_EQ(ring.armed, OS_URING_WORD);
	os_uring_destroy(&ring);
}
