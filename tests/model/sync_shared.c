/* SPDX-License-Identifier: MIT */
/*
 * sync_shared.c - src/sync/shared.c: the last holder, and no other, calls the
 * function and frees the memory, and then sees all writes of the other holders.
 *
 * The holders write plain memory in the object, a field for each.  Complete for two
 * and three holders, one of which hands a further reference on.  No holder waits
 * here, so tasks would do nothing differently.  The models could miss a reference
 * count that overflows.
 */
#include "explorer.h"
#include "model_mem.h"

#include "base/atomic.h"

#include <sley/shared.h>

#define HOLDERS 3

static struct object {
	int written[HOLDERS];
} * object;
static struct object *handed; /* a reference on its way from 0 to 1 */
static uint32_t is_handed;
static struct ledger {
	int last;
	int expected; /* sum of all fields in the end */
} ledger;

static void last(void *arg)
{
	const struct object *o = arg;
	int sum = 0;

	for (int i = 0; i < HOLDERS; i++)
		sum += o->written[i];
	MODEL_CHECK(sum == ledger.expected);
	ledger.last++;
}

static void setup_with(int holders, int expected)
{
	object = sley_shared_create(sizeof(*object), last);
	for (int i = 0; i < HOLDERS; i++)
		object->written[i] = 0;
	while (--holders)
		MODEL_CHECK(sley_shared_ref(object) == object);
	handed = NULL;
	is_handed = 0;
	ledger = (struct ledger){ .expected = expected };
	model_ledger(&ledger, sizeof(ledger));
	model_name(&is_handed, "is_handed");
}

static void setup_two(void)
{
	setup_with(2, 2);
}

static void setup_three(void)
{
	setup_with(3, 3);
}

static void setup_handed(void)
{
	setup_with(1, 3);
}

static void use_and_drop(int id)
{
	object->written[id]++;
	sley_shared_unref(object);
}

static void hold_twice(int id)
{
	struct object *again = sley_shared_ref(object);

	again->written[id]++;
	sley_shared_unref(object);
	sley_shared_unref(again);
}

/* Holds a reference; takes another for thread 1, and drops its own at once. */
static void hand_on(int id)
{
	handed = sley_shared_ref(object);
	store_release(&is_handed, 1);
	handed->written[id]++;
	sley_shared_unref(object);
}

static void take_over(int id)
{
	while (!load_acquire(&is_handed))
		spin_hint(&is_handed);
	handed->written[id] += 2;
	sley_shared_unref(handed);
}

static void freed_once(void)
{
	MODEL_CHECK(ledger.last == 1);
}

MODEL(the_last_of_two_frees_it, .setup = setup_two,
      .threads = { use_and_drop, use_and_drop }, .finish = freed_once);
MODEL(the_last_of_three_frees_it, .setup = setup_three,
      .threads = { use_and_drop, use_and_drop, hold_twice },
      .finish = freed_once);
MODEL(a_reference_is_handed_on, .setup = setup_handed,
      .threads = { hand_on, take_over }, .finish = freed_once);
