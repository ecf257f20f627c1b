/* SPDX-License-Identifier: MIT */
/*
 * sync_waker.c - src/core/slot.c and src/sync/key.c with plain threads: waiter
 * and waker meet in whichever order they come (R-U1), numbers go stale in time,
 * and a task does not end while somebody who found it by number touches it.
 *
 * The last model is the map that loses a wake-up: look, and then insert.  It
 * must be seen to fail, in the window that the others do not have.
 *
 * Complete.  Tasks that are suspended wait like any other: core_waitq.c.
 */
#include "threads_only.h"

#include "core/slot.h"
#include "os/map.h"

#include <string.h>

#define SOON 2000000000 /* a deadline in virtual time: at any moment */

static struct slot chunk[SLOT_CHUNK_FIRST];
static uint64_t key, next_key;
static int got, gone, woken, remembered, refused;

/* The first chunk is enough, and is there already. */
void *os_map(size_t size)
{
	(void)size;
	return NULL;
}

void os_unmap(void *memory, size_t size)
{
	(void)memory;
	(void)size;
}

static void setup(void)
{
	memset(chunk, 0, sizeof(chunk));
	sley__slots = (struct slots){ .chunk = { chunk } };
	got = gone = woken = remembered = refused = 0;
	next_key = 0;
	MODEL_CHECK(sley_key_create(&key) == 0);
	model_lock_word(&sley__slots.lock.word);
	model_lock_word(&chunk[0].q.word);
	model_name(&sley__slots.lock.word, "slots");
	model_name(&chunk[0].q.word, "slot0");
}

static void note(int result)
{
	got += result == 0;
	gone += result == -ESRCH || result == -EIDRM;
}

static void wait_for_key(int id)
{
	(void)id;
	note(sley_key_wait(key));
}

static void wait_for_key_soon(int id)
{
	(void)id;
	note(sley_key_wait_until(key, SOON));
}

static void wake(int id)
{
	int result = sley_key_wake(key);

	(void)id;
	woken += result == 1;
	remembered += result == 0;
	refused += result == -ESRCH;
}

static void wake_twice(int id)
{
	wake(id);
	wake(id);
}

static void destroy(int id)
{
	(void)id;
	MODEL_CHECK(sley_key_destroy(key) == 0);
}

static void destroy_and_use_again(int id)
{
	destroy(id);
	MODEL_CHECK(sley_key_create(&next_key) == 0);
}

static bool is_signalled(void)
{
	return chunk[0].q.word & SLOT_SIGNALLED;
}

static void all_is_quiet(void)
{
	MODEL_CHECK(!chunk[0].q.first);
	MODEL_CHECK(!(chunk[0].q.word & WAITQ_LOCK));
}

static void one_wake_one_waiter(void)
{
	all_is_quiet();
	MODEL_CHECK(got == 1 && woken + remembered == 1);
	MODEL_CHECK(!is_signalled());
}

static void one_wake_is_used_or_kept(void)
{
	all_is_quiet();
	MODEL_CHECK(got + is_signalled() == 1);
}

/* Each wake is used, kept, or absorbed by the one that is kept. */
static void no_wake_is_used_twice(void)
{
	all_is_quiet();
	MODEL_CHECK(woken + remembered == 2);
	MODEL_CHECK(got + is_signalled() >= 1);
	MODEL_CHECK(got + is_signalled() <= 2);
	MODEL_CHECK(got >= woken);
}

static void waiter_is_not_forgotten(void)
{
	all_is_quiet();
	MODEL_CHECK(got + gone == 1);
	MODEL_CHECK(sley_key_wake(key) == -ESRCH);
}

/* What was meant for the old key has not come to the new one. */
static void new_key_is_clean(void)
{
	all_is_quiet();
	MODEL_CHECK(woken + remembered + refused == 1);
	MODEL_CHECK((uint32_t)next_key == (uint32_t)key && next_key != key);
	MODEL_CHECK(!is_signalled());
	MODEL_CHECK(sley_key_wake(next_key) == 0);
	MODEL_CHECK(slots_nr_live() == 1);
}

MODEL(either_side_may_come_first, .setup = setup,
      .threads = { wait_for_key, wake }, .finish = one_wake_one_waiter);

MODEL(a_wake_is_not_lost_to_one_who_gives_up, .setup = setup,
      .threads = { wait_for_key_soon, wait_for_key_soon, wake },
      .finish = one_wake_is_used_or_kept);

MODEL(two_wakes_and_two_waiters, .setup = setup,
      .threads = { wait_for_key_soon, wait_for_key_soon, wake_twice },
      .finish = no_wake_is_used_twice);

MODEL(waiters_of_a_key_that_is_destroyed_return, .setup = setup,
      .threads = { wait_for_key, wake, destroy },
      .finish = waiter_is_not_forgotten);

MODEL(a_stale_wake_does_not_hit_the_next_tenant, .setup = setup,
      .threads = { destroy_and_use_again, wake, wait_for_key_soon },
      .finish = new_key_is_clean);

/* ---- the end of a task ------------------------------------------------------- */

static struct sley_task *task;
static struct slot *slot;

static void setup_task(void)
{
	setup();
	MODEL_CHECK(sley_key_destroy(key) == 0);
	task = model_alloc(sizeof(*task));
	task_build_running(task, 0, 0);
	MODEL_CHECK(slot_create(task, &slot) == 0);
	key = slot_id(slot);
	model_name(&task->flags, "task->flags");
}

static void end_task(int id)
{
	(void)id;
	slot_lock(slot);
	slot_destroy(slot);
	model_free(task);
}

static void change_priority(int id)
{
	struct slot *found = slot_lock_waker(key);

	(void)id;
	if (!found)
		return;
	place_set_level(found->task, 3);
	slot_unlock(found);
}

static void wake_task(int id)
{
	struct slot *found = slot_lock_waker(key);

	(void)id;
	if (found)
		MODEL_CHECK(!slot_wake(found));
}

static void task_is_gone(void)
{
	MODEL_CHECK(slots_nr_live() == 0);
	MODEL_CHECK(!is_signalled());
}

MODEL(a_task_does_not_end_under_who_found_it, .setup = setup_task,
      .threads = { end_task, change_priority, wake_task },
      .finish = task_is_gone);

/* ---- what it must not be -------------------------------------------------------- */

static uint32_t happened;
static struct sley_waitq map; /* the waiter's entry, or none */

static void setup_naive(void)
{
	happened = 0;
	map = (struct sley_waitq){ 0 };
	model_lock_word(&map.word);
	model_name(&map.word, "map");
	model_name(&happened, "happened");
}

static void naive_wait(int id)
{
	struct sley_waiter node;

	(void)id;
	if (load_acquire(&happened))
		return;
	(void)waitq_lock(&map);
	MODEL_CHECK(waitq_wait(&map, &node, UINT64_MAX, 0) == 0);
}

/* No entry: the wake is omitted, since the waiter will see that it happened. */
static void naive_wake(int id)
{
	struct waitq_woken first;

	(void)id;
	store_release(&happened, 1);
	(void)waitq_lock(&map);
	first = waitq_wake_first(&map);
	waitq_unlock(&map);
	if (first.task)
		task_enqueue(first.task);
}

MODEL(a_map_that_looks_before_it_inserts_loses_a_wake, .setup = setup_naive,
      .threads = { naive_wait, naive_wake }, .expect = MODEL_LOST_WAKEUP);
