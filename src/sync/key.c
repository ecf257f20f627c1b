/* SPDX-License-Identifier: MIT */
/*
 * key.c - <sley/waker.h>, keys: any task or thread that has the number can wait for
 * the key, and any can wake the waiters.
 *
 * A key is a slot of core/task/slot.h.
 */
#include "core/task/slot.h"

#include <errno.h>

int sley_key_create(uint64_t *key)
{
	struct slot *slot;
	int err = slot_create(NULL, &slot);

	if (!err)
		*key = slot_id(slot);
	return err;
}

int sley_key_destroy(uint64_t key)
{
	struct slot *slot = slot_lock_key(key);

	if (!slot)
		return -ESRCH;
	slot_destroy(slot);
	return 0;
}

int sley_key_wait_until(uint64_t key, uint64_t deadline_ns)
{
	struct slot *slot = slot_lock_key(key);

	return slot ? slot_wait(slot, deadline_ns) : -ESRCH;
}

int sley_key_wait(uint64_t key)
{
	return sley_key_wait_until(key, UINT64_MAX);
}

int sley_key_wake(uint64_t key)
{
	struct slot *slot = slot_lock_key(key);

	return slot ? slot_wake(slot) : -ESRCH;
}
