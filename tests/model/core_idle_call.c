/* SPDX-License-Identifier: MIT */
/*
 * core_idle_call.c - src/core/life/idle_call.h: a worker makes each call that is there,
 * and a call that was removed is in nobody's hands.
 *
 * The function of a call reads plain memory, which its owner writes before it adds the
 * call and after it has removed the call.  Complete for two workers that look once, or
 * one that looks twice, beside an owner that adds or removes one of two calls.  Two
 * owners at a time differ by the lock only, which has a model of its own.
 */
#include "explorer.h"
#include "selves.h"

#include "core/life/idle_call.h"

static struct idle_calls calls;

/* As a router has it: the call, and what the function uses. */
static struct owner {
	struct idle_call call;
	int alive; /* plain */
} owner[2];

static struct ledger {
	int made[2];
} ledger;

static bool use(struct idle_call *call, struct worker *worker)
{
	struct owner *its = container_of(call, struct owner, call);

	(void)worker;
	model_access(&its->alive);
	MODEL_CHECK(its->alive);
	MODEL_CHECK(sley__self.ringing);
	ledger.made[its - owner]++;
	return its == &owner[1];
}

static void add(struct owner *it)
{
	it->alive = 1;
	it->call.fn = use;
	idle_call_add(&calls, &it->call);
}

static void setup(int nr)
{
	selves_set(&(struct self){ 0 });
	idle_calls_init(&calls);
	memset(owner, 0, sizeof(owner));
	for (int i = 0; i < nr; i++)
		add(&owner[i]);
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	model_lock_word(&calls.lock.word);
	model_name(&calls.lock.word, "lock");
	model_name(&calls.nr, "nr");
	for (int i = 0; i < 2; i++)
		model_name(&owner[i].call.nr_inside, "inside%d", i);
}

static void setup_one(void)
{
	setup(1);
}

static void setup_both(void)
{
	setup(2);
}

/* As hooks_call_idle() does. */
static void look(int id)
{
	bool again = false;

	(void)id;
	if (idle_calls_exist(&calls))
		again = idle_calls_make(&calls, NULL);
	MODEL_CHECK(!again || ledger.made[1]);
	MODEL_CHECK(!sley__self.ringing);
}

static void look_twice(int id)
{
	look(id);
	look(id);
}

/*
 * The owner may free its memory then.  That no worker is inside is looked at first: a
 * worker that came out of a function without a call in the list would go round in circles.
 */
static void remove_it(struct owner *it)
{
	idle_call_remove(&calls, &it->call);
	MODEL_CHECK(!it->call.nr_inside);
	model_access(&it->alive);
	it->alive = 0;
}

static void remove_first(int id)
{
	(void)id;
	remove_it(&owner[0]);
}

static void add_second(int id)
{
	(void)id;
	add(&owner[1]);
}

static void add_and_remove_second(int id)
{
	(void)id;
	add(&owner[1]);
	remove_it(&owner[1]);
}

/* The second is there to the end, and was made by each worker. */
static void second_is_left(void)
{
	MODEL_CHECK(calls.nr == 1);
	MODEL_CHECK(calls.list.next == &owner[1].call.link);
	MODEL_CHECK(owner[1].call.link.next == &calls.list);
	MODEL_CHECK(ledger.made[1] == 2);
	MODEL_CHECK(!owner[0].call.nr_inside && !owner[1].call.nr_inside);
}

static void both_are_left(void)
{
	MODEL_CHECK(calls.nr == 2);
	MODEL_CHECK(ledger.made[0] == 2);
	MODEL_CHECK(ledger.made[1] <= 2);
	look(0);
	MODEL_CHECK(ledger.made[0] == 3);
	MODEL_CHECK(ledger.made[1] >= 1);
}

static void first_is_left(void)
{
	MODEL_CHECK(calls.nr == 1);
	MODEL_CHECK(ledger.made[0] == 2);
	MODEL_CHECK(calls.list.next == &owner[0].call.link);
}

MODEL(a_call_is_removed_beside_two_workers, .setup = setup_both,
      .threads = { look, look, remove_first }, .finish = second_is_left);

MODEL(a_call_is_removed_while_a_worker_comes_back, .setup = setup_both,
      .threads = { look_twice, remove_first }, .finish = second_is_left);

MODEL(a_call_is_added_beside_a_worker, .setup = setup_one,
      .threads = { look_twice, add_second }, .finish = both_are_left);

MODEL(a_call_comes_and_goes, .setup = setup_one,
      .threads = { look_twice, add_and_remove_second },
      .finish = first_is_left);
