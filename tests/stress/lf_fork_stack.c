/* SPDX-License-Identifier: MIT */
/*
 * lf_fork_stack.c - an owner that forks and joins, and thieves that take its
 * oldest children: each child is run once, and joined after that.
 *
 * The thieves run what they took for a moment, so that the owner often has to
 * wait for the newest child: it spins until that is done.
 */
#include "harness/test.h"

#include "lf/fork_stack.h"
#include "lf/spin.h"
#include "os/membarrier.h"
#include "os/thread.h"

#include <stdlib.h>

#define NR_THIEVES 3
#define NR_ROUNDS 8000
#define DEPTH_MAX 12

struct child {
	struct sley_forked fork;
	uint32_t nr_runs; /* plain: by one, before the join */
};

static struct sley_forks forks;
static uint32_t is_finished;
static uint64_t nr_stolen;

static void run_child(void *arg)
{
	struct child *child = arg;

	child->nr_runs++;
}

/* What the owner keeps to itself; one thief at a time. */
static struct sley_forked *seize(void)
{
	static struct spinlock seizing;
	struct sley_forked *child = NULL;
	uint64_t seized;

	if (!spin_try_lock(&seizing))
		return NULL;
	seized = fork_stack_seize_begin(&forks);
	if (seized) {
		os_membarrier();
		child = fork_stack_seize(&forks, seized);
	}
	spin_unlock(&seizing);
	return child;
}

static void *steal(void *arg)
{
	uint64_t nr = 0;

	while (!load_acquire(&is_finished)) {
		struct sley_forked *fork =
			test_random(8) ? fork_stack_steal(&forks) : seize();

		if (!fork) {
			os_thread_yield();
			continue;
		}
		nr++;
		if (test_random(4) == 0)
			os_thread_yield();
		fork_call(fork);
		CHECK(!fork_finish(fork));
	}
	/* relaxed: a count; the threads are joined before it is read. */
	(void)add_relaxed(&nr_stolen, nr);
	return arg;
}

static void make_room(void)
{
	uint32_t capacity = 2 * fork_capacity(&forks);
	struct fork_storage *storage;

	storage = malloc(sizeof(*storage) + capacity * sizeof(void *));
	CHECK(storage);
	storage->capacity = capacity;
	fork_stack_grow(&forks, storage);
}

static void push(struct child *child)
{
	child->nr_runs = 0;
	(void)!sley_fork_push_fast(&forks, &child->fork, run_child, child);
	if (fork_stack_full(&forks))
		make_room();
}

static void join(struct child *child)
{
	uint32_t i;

	if (sley_fork_pop_fast(&forks, &child->fork)) {
		sley_fork_call_fast(&child->fork);
		CHECK_EQ(child->nr_runs, 1);
		return;
	}
	i = (uint32_t)fork_stack_find(&forks, &child->fork);
	if (fork_stack_pop(&forks, i) == FORK_POP_OWN) {
		fork_call(&child->fork);
	} else {
		while (!fork_is_done(&child->fork))
			os_thread_yield();
		fork_stack_forget(&forks, i);
	}
	CHECK_EQ(child->nr_runs, 1);
}

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t c = *a;

	*a = *b;
	*b = c;
}

/* Up, with some made public on the way, and down again. */
static uint64_t fork_and_join(void)
{
	struct child child[DEPTH_MAX];
	uint32_t nr = 1 + (uint32_t)test_random(DEPTH_MAX);
	uint32_t order[DEPTH_MAX] = { 0 };

	for (uint32_t i = 0; i < nr; i++) {
		order[i] = i;
		push(&child[i]);
		if (test_random(2))
			(void)fork_stack_publish(&forks);
		if (test_random(8) == 0)
			os_thread_yield();
	}
	/* Mostly the newest first. */
	if (test_random(8) == 0)
		swap(&order[0], &order[test_random(nr)]);
	for (uint32_t i = nr; i-- > 0;)
		join(&child[order[i]]);
	fork_stack_trim(&forks);
	CHECK(fork_stack_empty(&forks));
	return nr;
}

TEST(each_child_is_run_once_by_owner_or_thief)
{
	pthread_t thief[NR_THIEVES];
	uint64_t nr = 0;

	fork_stack_init(&forks);
	if (!os_membarrier_setup())
		test_skip("needs membarrier");
	for (int i = 0; i < NR_THIEVES; i++)
		thief[i] = test_thread(steal, NULL);
	for (int round = test_scale(NR_ROUNDS); round; round--)
		nr += fork_and_join();
	store_release(&is_finished, 1);
	for (int i = 0; i < NR_THIEVES; i++)
		pthread_join(thief[i], NULL);
	/* Or there was nothing to see. */
	CHECK_GT(nr_stolen, 0);
	CHECK_LT(nr_stolen, nr);
	for (struct fork_storage *s = fork_storage(&forks), *older; s;
	     s = older) {
		older = s->older;
		free(s);
	}
	test_count(nr);
}
