/* SPDX-License-Identifier: MIT */
/*
 * core_slot.c - slots: how they are found, used again, and used up.
 */
#include "harness/test.h"

#include "core/task/slot.h"

#include <errno.h>

static struct slot *create(void)
{
	struct slot *slot = NULL;

	CHECK_EQ(slot_create(NULL, &slot), 0);
	CHECK(slot != NULL);
	return slot;
}

static void destroy(struct slot *slot)
{
	slot_lock(slot);
	slot_destroy(slot);
}

TEST(slots_are_found_by_their_id_across_chunks)
{
	enum { N = 20 * SLOT_CHUNK_FIRST };
	static struct slot *slots[N];

	for (int i = 0; i < N; i++)
		slots[i] = create();
	for (int i = 0; i < N; i++) {
		struct slot *found = slot_lock_key(slot_id(slots[i]));

		CHECK(found == slots[i]);
		CHECK_EQ(found->index, i);
		slot_unlock(found);
	}
	CHECK_EQ(slots_nr_live(), N);
	CHECK(slot_lock_key(slot_id(slots[0]) + N) == NULL);
}

TEST(a_slot_is_used_again_under_another_id)
{
	struct slot *slot = create();
	uint64_t id = slot_id(slot);

	destroy(slot);
	CHECK(slot_lock_key(id) == NULL);
	CHECK(create() == slot);
	CHECK_NE(slot_id(slot), id);
	CHECK(slot_lock_key(id) == NULL);
}

/* No id ever comes back: the slot is given up instead. */
TEST(a_slot_whose_generations_are_used_up_is_not_used_again)
{
	struct slot *slot = create(), *other;
	uint64_t first = slot_id(slot), last;

	destroy(slot);
	slot_lock(slot);
	waitq_unlock_as(&slot->q, 0xfffffffeull << 32);
	CHECK(create() == slot);
	last = slot_id(slot);
	CHECK_EQ(last >> 32, 0xffffffff);
	destroy(slot);
	CHECK_EQ(slots_nr_live(), 0);
	other = create();
	CHECK(other != slot);
	CHECK(slot_lock_key(first) == NULL);
	CHECK(slot_lock_key(last) == NULL);
	/* Nor is a free slot found by the number it has meanwhile. */
	CHECK(slot_lock_key(slot->index) == NULL);
}

TEST(a_signal_does_not_outlive_its_use)
{
	struct slot *slot = create();

	slot_lock(slot);
	CHECK(!slot_wake(slot));
	destroy(slot);
	CHECK(create() == slot);
	slot_lock(slot);
	CHECK_EQ(slot_wait(slot, 0), -ETIMEDOUT);
}

TEST(a_key_is_no_waker_and_a_waker_no_key)
{
	struct sley_task task = { .state = 0 };
	struct slot *key = create(), *waker, *found;

	CHECK_EQ(slot_create(&task, &waker), 0);
	CHECK(slot_lock_key(slot_id(waker)) == NULL);
	CHECK(slot_lock_waker(slot_id(key)) == NULL);
	found = slot_lock_waker(slot_id(waker));
	CHECK(found == waker && found->task == &task);
	slot_unlock(found);
}
