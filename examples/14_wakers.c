/* SPDX-License-Identifier: MIT */
/*
 * 14_wakers.c - wake by number: a task by its waker, an answer by its key.
 *
 * The device is spawned with a waker, so the device can be woken before it starts.
 * Each request carries a key; the asker and the device meet at the key, in either
 * order.  A number outlives its task or key; then the number is refused.
 *
 *   cc 14_wakers.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>

static uint64_t reply; /* a key */
static int number, square, right;

static void device(void *arg)
{
	(void)arg;
	while (sley_suspend() == 0) {
		square = number * number;
		sley_key_wake(reply);
	}
}

static int ask(const struct sley_waker *waker, int n)
{
	int err = sley_key_create(&reply);

	number = n;
	if (!err)
		err = sley_wake(waker);
	if (!err)
		err = sley_key_wait(reply);
	sley_key_destroy(reply);
	return err ? err : square;
}

static void root(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_waker waker;
	struct sley_task task;

	if (sley_spawn_with(&group, &task, device, arg,
			    SLEY_OPTIONS(.waker = &waker)))
		return;
	right = ask(&waker, 3) == 9 && ask(&waker, 5) == 25;
	sley_cancel(&task);
	sley_join(&group);
	printf("asked after its end: %s\n", sley_strerror(ask(&waker, 7)));
}

int main(void)
{
	return sley_run(NULL, root, NULL) || !right;
}
