/* SPDX-License-Identifier: MIT */
/*
 * lf_fork_stack.c - src/lf/fork_stack.h: every forked child runs exactly once,
 * by its parent or by a thief, and its parent goes on only after it has ended.
 *
 * The owner forks two children and joins them in reverse; it publishes before
 * the second one, after it, or not at all.  A child that was stolen is waited
 * for as core/fork.c does: the parent leaves its address, and the finisher
 * wakes it.  What a child reads and writes is plain data.
 *
 * Complete for one owner, two children and two thieves; also where the storage
 * grows between them.  They would not see what needs three children: the oldest
 * stolen, the newest the owner's, and one in the middle that both want; nor
 * children of children, which are in stacks of their own.
 */
#include "payload.h"

#include "lf/fork_stack.h"

#include <string.h>

#define CHILDREN 2

static struct fork_stack forks;
static struct sley_fork children[CHILDREN];
static uint32_t resumed; /* the parent's wake-up */
static struct payload given[CHILDREN], result[CHILDREN];
static struct ledger {
	int ran[CHILDREN], joined;
} ledger;

static void setup(void)
{
	struct fork_storage *storage =
		model_alloc(sizeof(*storage) + CHILDREN * sizeof(void *));

	memset(&forks, 0, sizeof(forks));
	memset(children, 0, sizeof(children));
	memset(given, 0, sizeof(given));
	memset(result, 0, sizeof(result));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	resumed = 0;
	storage->capacity = CHILDREN;
	fork_stack_grow(&forks, storage);
	model_name(&forks.word, "word");
	model_name(&forks.storage, "storage");
	for (int i = 0; i < CHILDREN; i++) {
		model_name(&children[i].state, "child%d", i);
		model_name(&storage->slot[i], "slot%d", i);
	}
}

static void run(const struct sley_fork *child)
{
	long i = child - children;

	payload_check(&given[i]);
	MODEL_CHECK(ledger.ran[i] == 0);
	ledger.ran[i]++;
	payload_write(&result[i]);
}

static void push(int i)
{
	payload_write(&given[i]);
	fork_stack_push(&forks, &children[i]);
}

static void join(struct sley_fork *child)
{
	if (fork_stack_pop(&forks) == FORK_POP_OWN) {
		run(child);
	} else {
		if (!fork_is_done(child) && fork_await(child, &forks)) {
			while (!xchg_acquire(&resumed, 0))
				spin_hint(&resumed);
		}
		MODEL_CHECK(fork_is_done(child));
		fork_stack_forget(&forks);
	}
	payload_check(&result[child - children]);
	ledger.joined++;
}

static void owner_publishes_late(int id)
{
	(void)id;
	push(0);
	push(1);
	(void)fork_stack_publish(&forks);
	join(&children[1]);
	join(&children[0]);
}

static void owner_publishes_early(int id)
{
	(void)id;
	push(0);
	(void)fork_stack_publish(&forks);
	push(1);
	join(&children[1]);
	join(&children[0]);
}

/* The same slot again, for another child. */
static void owner_forks_again(int id)
{
	(void)id;
	for (int i = 0; i < CHILDREN; i++) {
		push(i);
		(void)fork_stack_publish(&forks);
		join(&children[i]);
	}
}

/* The second child needs more room than there is. */
static void owner_grows(int id)
{
	struct fork_storage *storage =
		model_alloc(sizeof(*storage) + CHILDREN * sizeof(void *));

	(void)id;
	storage->capacity = CHILDREN;
	push(0);
	(void)fork_stack_publish(&forks);
	fork_stack_grow(&forks, storage);
	push(1);
	(void)fork_stack_publish(&forks);
	join(&children[1]);
	join(&children[0]);
}

static void steal(void)
{
	struct sley_fork *child = fork_stack_steal(&forks);

	if (!child)
		return;
	run(child);
	if (fork_finish(child))
		store_release(&resumed, 1);
}

static void thief(int id)
{
	(void)id;
	steal();
}

static void thief_twice(int id)
{
	(void)id;
	steal();
	steal();
}

static void all_joined(void)
{
	MODEL_CHECK(ledger.joined == CHILDREN);
	MODEL_CHECK(fork_stack_empty(&forks));
	MODEL_CHECK(resumed == 0);
	while (forks.storage) {
		struct fork_storage *storage = forks.storage;

		forks.storage = storage->older;
		model_free(storage);
	}
}

MODEL(published_late_one_thief, .setup = setup,
      .threads = { owner_publishes_late, thief_twice }, .finish = all_joined);

MODEL(published_late_two_thieves, .setup = setup,
      .threads = { owner_publishes_late, thief, thief }, .finish = all_joined);

MODEL(published_early_one_thief, .setup = setup,
      .threads = { owner_publishes_early, thief_twice }, .finish = all_joined);

MODEL(published_early_two_thieves, .setup = setup,
      .threads = { owner_publishes_early, thief, thief }, .finish = all_joined);

MODEL(a_slot_is_used_again_one_thief, .setup = setup,
      .threads = { owner_forks_again, thief_twice }, .finish = all_joined);

MODEL(a_slot_is_used_again_two_thieves, .setup = setup,
      .threads = { owner_forks_again, thief, thief }, .finish = all_joined);

MODEL(the_storage_grows_under_one_thief, .setup = setup,
      .threads = { owner_grows, thief_twice }, .finish = all_joined);

MODEL(the_storage_grows_under_two_thieves, .setup = setup,
      .threads = { owner_grows, thief, thief }, .finish = all_joined);
