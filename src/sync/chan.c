/* SPDX-License-Identifier: MIT */
/*
 * chan.c - channels: the calls.  See chan.h for what a channel is.
 */
#include "core/sched/place.h"
#include "sync/chan.h"

#include <errno.h>

#ifndef UNBOUNDED_FIRST /* models have smaller buffers */
#define UNBOUNDED_FIRST 16
#endif

/* ---- growing ---------------------------------------------------------------- */

noinline int chan_grow(struct sley_chan *chan)
{
	size_t room, old_room, bytes;
	char *buffer, *old;

	chan_lock(chan);
	room = chan->room + (chan->room ? chaos_few(chan->room, 1)
					: chaos_few(UNBOUNDED_FIRST, 1));
	chan_unlock(chan);
	if (__builtin_mul_overflow(room, chan->value_size, &bytes))
		return -ENOMEM;
	buffer = mem_alloc(&chan->mem, bytes);
	if (!buffer)
		return -ENOMEM;
	chan_lock(chan);
	old = buffer;
	old_room = room;
	if (chan->room < room) {
		for (size_t i = 0; i < chan->nr; i++)
			chan_copy(chan, buffer + i * chan->value_size,
				  chan_slot(chan, i));
		old = chan->buffer;
		old_room = chan->room;
		chan->buffer = buffer;
		chan->room = room;
		chan->first = 0;
	}
	chan_unlock(chan);
	mem_free(&chan->mem, old, old_room * chan->value_size);
	return 0;
}

/* ---- the calls ---------------------------------------------------------------- */

int sley_chan_create(struct sley_chan **out, size_t value_size, size_t capacity)
{
	struct sley_chan *chan;
	struct mem mem;
	size_t bytes = 0;

	if (value_size == 0)
		return -EINVAL;
	if (capacity != SLEY_UNBOUNDED &&
	    __builtin_mul_overflow(value_size, capacity, &bytes))
		return -EINVAL;
	mem_init(&mem, NULL);
	chan = mem_alloc(&mem, sizeof(*chan));
	if (!chan)
		return -ENOMEM;
	chan->mem = mem;
	chan->value_size = value_size;
	chan->capacity = capacity;
	if (bytes) {
		chan->buffer = mem_alloc(&chan->mem, bytes);
		if (!chan->buffer) {
			mem_free(&mem, chan, sizeof(*chan));
			return -ENOMEM;
		}
		chan->room = capacity;
	}
	*out = chan;
	return 0;
}

void sley_chan_destroy(struct sley_chan *chan)
{
	struct mem mem;

	if (!chan)
		return;
	/* Waits for a caller that is about to leave. */
	chan_lock(chan);
	sley_check(
		!chan->recv.first && !chan->send.first,
		"a task or thread waits for the channel: destroy it when none "
		"does");
	mem_free(&chan->mem, chan->buffer, chan->room * chan->value_size);
	mem = chan->mem;
	chan_bury(chan);
	mem_free(&mem, chan, sizeof(*chan));
}

/* The lock is held, there is nothing to do but wait. */
static int wait_in(struct sley_chan *chan, struct sley_waitq *list, void *value,
		   uint64_t deadline_ns)
{
	struct sley_waiter node;
	int result;

	node.slot = value;
	result = waitq_wait_in(&chan->recv, list, &node, deadline_ns, 0);

	if (result < 0)
		chan_unlock(chan);
	return result == WOKEN_BY_CLOSE ? -EPIPE : result;
}

static inline int finish(struct sley_chan *chan, enum chan_progress progress,
			 struct sley_task *task)
{
	chan_unlock(chan);
	if (progress == CHAN_CLOSED)
		return -EPIPE;
	if (progress == CHAN_WAIT)
		return -EAGAIN;
	if (task)
		task_enqueue(task);
	return 0;
}

int sley_chan_send_until(struct sley_chan *chan, const void *value,
			 uint64_t deadline_ns)
{
	struct sley_task *task = NULL;
	enum chan_progress progress;

	for (;;) {
		int err;

		chan_lock(chan);
		progress = chan_send_locked(chan, value, &task);
		if (progress == CHAN_WAIT)
			return wait_in(chan, &chan->send, (void *)value,
				       deadline_ns);
		if (likely(progress != CHAN_FULL))
			return finish(chan, progress, task);
		chan_unlock(chan);
		err = chan_grow(chan);
		if (err)
			return err;
	}
}

int sley_chan_send(struct sley_chan *chan, const void *value)
{
	return sley_chan_send_until(chan, value, UINT64_MAX);
}

int sley_chan_try_send(struct sley_chan *chan, const void *value)
{
	int err = sley_chan_send_until(chan, value, 0);

	return err == -ETIMEDOUT || err == -ECANCELED ? -EAGAIN : err;
}

int sley_chan_recv_until(struct sley_chan *chan, void *value,
			 uint64_t deadline_ns)
{
	struct sley_task *task = NULL;
	enum chan_progress progress;

	chan_lock(chan);
	progress = chan_recv_locked(chan, value, &task);
	if (progress == CHAN_WAIT)
		return wait_in(chan, &chan->recv, value, deadline_ns);
	return finish(chan, progress, task);
}

int sley_chan_recv(struct sley_chan *chan, void *value)
{
	return sley_chan_recv_until(chan, value, UINT64_MAX);
}

int sley_chan_try_recv(struct sley_chan *chan, void *value)
{
	int err = sley_chan_recv_until(chan, value, 0);

	return err == -ETIMEDOUT || err == -ECANCELED ? -EAGAIN : err;
}

static struct sley_task *wake_by_close(struct sley_waitq *list)
{
	struct sley_waiter *node = list->first;

	if (node) {
		do {
			node->index |= WOKEN_BY_CLOSE;
			node = node->next;
		} while (node != list->first);
	}
	return waitq_wake_all(list);
}

void sley_chan_close(struct sley_chan *chan)
{
	struct sley_task *receivers, *senders;

	chan_lock(chan);
	chan->closed = true;
	receivers = wake_by_close(&chan->recv);
	senders = wake_by_close(&chan->send);
	chan_unlock(chan);
	task_enqueue_chain(receivers);
	task_enqueue_chain(senders);
}

size_t sley_chan_length(const struct sley_chan *chan)
{
	struct sley_chan *locked = (struct sley_chan *)chan;
	size_t nr;

	chan_lock(locked);
	nr = locked->nr;
	chan_unlock(locked);
	return nr;
}
