/* SPDX-License-Identifier: MIT */
/*
 * os_futex.c - sleeping on a word, or on several: woken, timed out, interrupted.
 */
#include "harness/test.h"

#include "base/atomic.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/map.h"
#include "os/shared_memory.h"
#include "os/thread.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* The kernel says that thread @tid sleeps, of this process or of another. */
static bool is_asleep(int tid)
{
	char path[64], text[256] = "", *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
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

/* ---- several words ----------------------------------------------------------- */

#define PAGE 4096

/* Words of a page; @map has the same page, not to be written. */
struct page {
	uint32_t *own;
	const uint32_t *map;
	int fd;
};

static struct page make_page(void)
{
	void *memory;
	struct page page = {
		.fd = os_shared_page_create("sley-test", PAGE, &memory),
	};

	CHECK_GE(page.fd, 0);
	page.own = memory;
	page.map = os_shared_memory_map_to_read(page.fd, PAGE);
	CHECK(page.map);
	return page;
}

static void free_page(struct page *page)
{
	os_unmap((void *)page->map, PAGE);
	os_unmap(page->own, PAGE);
	os_close(page->fd);
}

struct many {
	struct os_futex_word words[OS_FUTEX_WORDS_MAX];
	int nr;
	uint64_t deadline;
	int tid;
	int result;
	uint32_t returned;
};

static void *sleep_on_many(void *arg)
{
	struct many *m = arg;

	store_release(&m->tid, os_thread_id());
	m->result = os_futex_wait_many(m->words, m->nr, m->deadline);
	store_release(&m->returned, 1);
	return NULL;
}

/* A wait that ends at once says whether there is the call. */
static void need_wait_many(void)
{
	uint32_t word = 1;
	struct os_futex_word words[] = { { .word = &word } };

	if (os_futex_wait_many(words, 1, UINT64_MAX) == -ENOSYS)
		test_skip("this kernel has no futex_waitv");
}

static pthread_t start_many(struct many *m)
{
	pthread_t thread;

	m->tid = 0;
	m->returned = 0;
	thread = test_thread(sleep_on_many, m);
	CHECK_EVENTUALLY(load_acquire(&m->tid));
	CHECK_EVENTUALLY(load_acquire(&m->returned) || is_asleep(m->tid));
	CHECK(!load_acquire(&m->returned));
	return thread;
}

TEST(a_sleeper_on_many_words_is_woken_by_each)
{
	struct page page = make_page();
	uint32_t bell = 0;
	struct many m = { .nr = OS_FUTEX_WORDS_MAX, .deadline = UINT64_MAX };
	pthread_t thread;

	need_wait_many();
	/* One word of this process, the others of a page of another. */
	m.words[0].word = &bell;
	m.words[0].is_private = true;
	for (int i = 1; i < m.nr; i++)
		m.words[i].word = &page.map[i];
	for (int i = 0; i < m.nr; i++) {
		uint32_t *word = i ? &page.own[i] : &bell;

		thread = start_many(&m);
		store_release(word, 7);
		if (i)
			os_futex_wake_shared(word, 1);
		else
			os_futex_wake(word, 1);
		os_thread_join(thread);
		CHECK_EQ(m.result, 0);
		m.words[i].expected = 7;
	}
	free_page(&page);
}

TEST(a_single_word_of_many_that_differs_is_enough)
{
	uint32_t word[OS_FUTEX_WORDS_MAX] = { 0 };
	struct many m = { .nr = OS_FUTEX_WORDS_MAX };

	need_wait_many();
	for (int i = 0; i < m.nr; i++)
		m.words[i].word = &word[i];
	for (int i = 0; i < m.nr; i++) {
		word[i] = 1;
		CHECK_EQ(os_futex_wait_many(m.words, m.nr, UINT64_MAX), 0);
		word[i] = 0;
	}
}

TEST(many_words_have_a_deadline)
{
	uint64_t deadline = os_now() + 20000000;
	uint32_t word[2] = { 0, 0 };
	const struct os_futex_word words[] = { { .word = &word[0] },
					       { .word = &word[1] } };
	int err;

	need_wait_many();
	do
		err = os_futex_wait_many(words, 2, deadline);
	while (!err);
	CHECK_EQ(err, -ETIMEDOUT);
	CHECK_GE(os_now(), deadline);
	errno = E2BIG;
	CHECK_EQ(os_futex_wait_many(words, 2, 0), -ETIMEDOUT);
	CHECK_EQ(errno, E2BIG);
}

/* Says by its status whether the word changed while it slept. */
static int sleep_in_child(const struct page *page)
{
	const struct os_futex_word words[] = { { .word = &page->map[1] },
					       { .word = &page->map[2] } };

	/* A child has no other mapping: as a process that got the descriptor. */
	os_unmap(page->own, PAGE);
	while (load_acquire(&page->map[2]) == 0)
		if (os_futex_wait_many(words, 2, UINT64_MAX))
			return 1;
	return load_acquire(&page->map[2]) == 5 ? 0 : 2;
}

TEST(the_owner_of_a_page_wakes_a_process_that_can_only_read_it)
{
	struct page page = make_page();
	int pid, status;

	need_wait_many();
	pid = fork();
	CHECK_GE(pid, 0);
	if (!pid)
		_exit(sleep_in_child(&page));
	CHECK_EVENTUALLY(is_asleep(pid));
	/* The word first: a child that was not asleep yet does not sleep. */
	store_release(&page.own[2], 5);
	os_futex_wake_shared(&page.own[2], 1);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 0);
	free_page(&page);
}

TEST(a_single_shared_word_can_be_slept_on_by_a_reader)
{
	struct page page = make_page();

	CHECK_EQ(os_futex_wait_shared(&page.map[0], 1, UINT64_MAX), 0);
	CHECK_EQ(os_futex_wait_shared(&page.map[0], 0, 0), -ETIMEDOUT);
	free_page(&page);
}

TEST_ABORTS(many_words_at_a_bad_address_are_fatal, "futex wait for 1 words")
{
	const struct os_futex_word words[] = {
		{ .word = (const uint32_t *)16 },
	};

	need_wait_many();
	CHECK(os_futex_wait_many(words, 1, UINT64_MAX));
}
