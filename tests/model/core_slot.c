/* SPDX-License-Identifier: MIT */
/*
 * core_slot.c - where slots come from and go to, in src/core/task/slot.c: chunks are
 * made on demand, a number names one use of a slot for ever, and a slot whose
 * numbers are used up is not used again.
 *
 * Waiting and waking at a slot are in sync_waker.c.
 *
 * Complete for two creators at the end of a chunk, with a third thread that has the
 * number of a new slot, passed on without any order; and for an end against a
 * stale number or a new use.  For memory that runs out one creator is enough.
 */
#include "threads_only.h"

#include "core/task/slot.h"
#include "os/map.h"

#include <errno.h>
#include <string.h>

static struct slot chunk[3][2 * SLOT_CHUNK_FIRST];
static uint32_t nr_mapped, nr_unmapped;
static uint64_t told; /* the number of a new slot, 0: none yet */
static uint64_t old_id;
static struct slot *old;
static struct ledger {
	uint32_t index[2]; /* that was given; UINT32_MAX: none */
	int found;
	bool no_memory;
} ledger;

/* chunk[0] is full: the next chunk has twice the size. */
void *os_map(size_t size)
{
	uint32_t i;

	if (ledger.no_memory)
		return NULL;
	i = 1 + add_relaxed(&nr_mapped, 1);
	MODEL_CHECK(i < 3 && size == sizeof(chunk[i]));
	return model_mapped(chunk[i], size);
}

void os_unmap(void *memory, size_t size)
{
	(void)memory;
	(void)size;
	(void)add_relaxed(&nr_unmapped, 1);
}

static void setup(void)
{
	memset(chunk, 0, sizeof(chunk));
	sley__slots = (struct slots){ .chunk = { chunk[0] } };
	ledger = (struct ledger){ .index = { UINT32_MAX, UINT32_MAX } };
	model_ledger(&ledger, sizeof(ledger));
	nr_mapped = nr_unmapped = 0;
	told = 0;
	model_lock_word(&sley__slots.lock.word);
	model_name(&sley__slots.lock.word, "slots");
	model_name(&sley__slots.chunk[1], "chunk[1]");
	model_name(&told, "told");
	for (int i = 0; i < 3; i++)
		model_lock_word(&chunk[i][0].q.word);
	model_lock_word(&chunk[0][1].q.word);
}

static uint64_t create(int who)
{
	struct slot *slot;
	uint64_t id;

	MODEL_CHECK(slot_create(NULL, &slot) == 0);
	id = slot_id(slot);
	ledger.index[who] = (uint32_t)id;
	return id;
}

/* ---- a new chunk -------------------------------------------------------------------- */

static void setup_full(void)
{
	setup();
	sley__slots.nr_used = SLOT_CHUNK_FIRST;
}

static void create_first(int id)
{
	(void)id;
	store_relaxed(&told, create(0));
}

static void create_second(int id)
{
	(void)id;
	(void)create(1);
}

/* A thread with the number finds the slot, or does not know of the slot yet. */
static void look_it_up(int id)
{
	uint64_t number = load_relaxed(&told);
	struct slot *slot;

	(void)id;
	if (!number)
		return;
	slot = slot_lock_key(number);
	if (!slot)
		return;
	MODEL_CHECK(slot->index == (uint32_t)number && !slot->q.first);
	slot_unlock(slot);
	ledger.found++;
}

static void one_chunk_two_slots(void)
{
	MODEL_CHECK(ledger.index[0] + ledger.index[1] ==
		    2 * SLOT_CHUNK_FIRST + 1);
	MODEL_CHECK(nr_mapped - nr_unmapped == 1);
	MODEL_CHECK(slots_nr_live() == 2);
}

MODEL(two_need_the_next_chunk, .setup = setup_full,
      .threads = { create_first, create_second },
      .finish = one_chunk_two_slots);

static void one_slot(void)
{
	MODEL_CHECK(ledger.index[0] == SLOT_CHUNK_FIRST);
}

MODEL(a_number_goes_ahead_of_its_chunk, .setup = setup_full,
      .threads = { create_first, look_it_up }, .finish = one_slot);

static void create_without_memory(int id)
{
	struct slot *slot;

	ledger.no_memory = true;
	MODEL_CHECK(slot_create(NULL, &slot) == -ENOMEM);
	ledger.no_memory = false;
	create_first(id);
}

MODEL(a_chunk_that_cannot_be_mapped_is_an_error, .setup = setup_full,
      .threads = { create_without_memory }, .finish = one_slot);

/* ---- generations ---------------------------------------------------------------------- */

static void setup_used(void)
{
	setup();
	MODEL_CHECK(slot_create(NULL, &old) == 0);
	old_id = slot_id(old);
}

/* The generation of the slot is the last possible generation. */
static void setup_used_up(void)
{
	setup();
	MODEL_CHECK(slot_create(NULL, &old) == 0);
	old->q.word = (uint64_t)UINT32_MAX << 32;
	old_id = slot_id(old);
}

static void destroy_and_create(int id)
{
	(void)id;
	slot_lock(old);
	slot_destroy(old);
	MODEL_CHECK(create(0) != old_id);
}

static void destroy(int id)
{
	(void)id;
	slot_lock(old);
	slot_destroy(old);
}

/* A signal of the old number must not be there for the next use. */
static void wake_by_old_number(int id)
{
	struct slot *slot = slot_lock_key(old_id);

	(void)id;
	if (!slot)
		return;
	MODEL_CHECK(slot_id(slot) == old_id);
	MODEL_CHECK(!slot_wake(slot));
	ledger.found++;
}

static void new_use_is_clean(void)
{
	struct slot *slot = slot_lock_key(old_id);

	MODEL_CHECK(!slot);
	MODEL_CHECK(!(chunk[0][ledger.index[0]].q.word & SLOT_SIGNALLED));
	MODEL_CHECK(slots_nr_live() == 1);
}

static void used_again(void)
{
	new_use_is_clean();
	MODEL_CHECK(ledger.index[0] == 0);
}

static void not_used_again(void)
{
	new_use_is_clean();
	MODEL_CHECK(ledger.index[0] == 1);
}

MODEL(an_old_number_does_not_find_the_next_use, .setup = setup_used,
      .threads = { destroy_and_create, wake_by_old_number },
      .finish = used_again);

MODEL(a_slot_is_used_up, .setup = setup_used_up,
      .threads = { destroy_and_create, wake_by_old_number },
      .finish = not_used_again);

MODEL(a_slot_ends_beside_a_new_one, .setup = setup_used,
      .threads = { destroy, create_first, wake_by_old_number },
      .finish = new_use_is_clean);

/* ---- keys and wakers ------------------------------------------------------------------ */

/* The number is that of a key, before and after the end of the key. */
static void wake_a_task(int id)
{
	(void)id;
	MODEL_CHECK(!slot_lock_waker(old_id));
}

static void is_gone(void)
{
	MODEL_CHECK(!slot_lock_key(old_id) && !slot_lock_waker(old_id));
	MODEL_CHECK(slots_nr_live() == 0);
}

MODEL(a_key_is_no_waker, .setup = setup_used,
      .threads = { destroy, wake_a_task }, .finish = is_gone);
