/* SPDX-License-Identifier: MIT */
/*
 * chan.c - a buffer, a list of receivers and a list of senders, one lock.
 *
 * At most one of the two lists is not empty.  A send that finds a receiver
 * copies the value straight into the receiver's variable; one that finds room
 * copies it into the buffer; else the sender waits with the address of its
 * value.  A receive that makes room lets the first sender's value in, so the
 * order in which values went in is the order in which they come out.
 *
 * A close wakes everybody with index 1 instead of 0.
 */
#include "core/wait.h"

#include <sley/chan.h>

#include <errno.h>
#include <string.h>

#define UNBOUNDED_FIRST 16
#define WOKEN_BY_CLOSE 1

struct sley_chan {
	/* What every call writes, in one cache line. */
	struct sley_waitq recv; /* its lock is the channel's        */
	struct sley_waitq send; /* its word is not used             */
	char *buffer;
	size_t room;  /* slots of the buffer              */
	size_t first; /* slot of the oldest value         */
	size_t nr;    /* values in the buffer             */

	/* What hardly changes. */
	size_t value_size;
	size_t capacity; /* what the user asked for          */
	bool closed;
	struct mem mem;
};
_Static_assert(offsetof(struct sley_chan, value_size) == CACHE_LINE,
	       "one line");

static void copy(const struct sley_chan *chan, void *to, const void *from)
{
	/* The usual sizes as single moves. */
	if (chan->value_size == 8)
		memcpy(to, from, 8);
	else if (chan->value_size == 4)
		memcpy(to, from, 4);
	else
		memcpy(to, from, chan->value_size);
}

static char *slot(const struct sley_chan *chan, size_t i)
{
	size_t at = chan->first + i;

	if (at >= chan->room)
		at -= chan->room;
	return chan->buffer + at * chan->value_size;
}

/* ---- under the lock ------------------------------------------------------- */

static void put(struct sley_chan *chan, const void *value)
{
	copy(chan, slot(chan, chan->nr), value);
	chan->nr++;
}

static void get(struct sley_chan *chan, void *value)
{
	copy(chan, value, slot(chan, 0));
	if (++chan->first == chan->room)
		chan->first = 0;
	chan->nr--;
}

/* The first waiter of @list that can still be woken: it is unlinked. */
static inline struct sley_task *claim_first(struct sley_waitq *list,
					    void **value)
{
	struct sley_waiter *node;

	while ((node = list->first)) {
		struct sley_task *task = node->task;

		*value = node->slot;
		waitq_unlink(node);
		/* It cannot be early: it held the lock until it was parked. */
		if (task_decide(task, VERDICT_WOKEN, 0) == DECIDED_QUEUE)
			return task;
	}
	return NULL;
}

enum progress {
	DONE, /* and *task, if any, is to be queued */
	CLOSED,
	WAIT,
	FULL, /* an unbounded buffer must grow      */
};

static enum progress send_locked(struct sley_chan *chan, const void *value,
				 struct sley_task **task)
{
	void *where;

	if (unlikely(chan->closed))
		return CLOSED;
	*task = claim_first(&chan->recv, &where);
	if (*task) {
		copy(chan, where, value);
		return DONE;
	}
	if (chan->nr == chan->room)
		return chan->capacity == SLEY_UNBOUNDED ? FULL : WAIT;
	put(chan, value);
	return DONE;
}

static enum progress recv_locked(struct sley_chan *chan, void *value,
				 struct sley_task **task)
{
	void *where;

	if (chan->nr) {
		get(chan, value);
		*task = claim_first(&chan->send, &where);
		if (*task)
			put(chan, where);
		return DONE;
	}
	*task = claim_first(&chan->send, &where);
	if (*task) {
		copy(chan, value, where);
		return DONE;
	}
	return chan->closed ? CLOSED : WAIT;
}

static void unlock(struct sley_chan *chan)
{
	waitq_unlock_as(&chan->recv, 0);
}

/* ---- growing ---------------------------------------------------------------- */

/* Makes room, without the lock; somebody else may have been faster. */
static noinline int grow(struct sley_chan *chan)
{
	size_t room, old_room, bytes;
	char *buffer, *old;

	(void)waitq_lock(&chan->recv);
	room = chan->room ? 2 * chan->room : UNBOUNDED_FIRST;
	unlock(chan);
	if (__builtin_mul_overflow(room, chan->value_size, &bytes))
		return -ENOMEM;
	buffer = mem_alloc(&chan->mem, bytes);
	if (!buffer)
		return -ENOMEM;
	(void)waitq_lock(&chan->recv);
	old = buffer;
	old_room = room;
	if (chan->room < room) {
		for (size_t i = 0; i < chan->nr; i++)
			copy(chan, buffer + i * chan->value_size,
			     slot(chan, i));
		old = chan->buffer;
		old_room = chan->room;
		chan->buffer = buffer;
		chan->room = room;
		chan->first = 0;
	}
	unlock(chan);
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
	(void)waitq_lock(&chan->recv);
	sley_check(!chan->recv.first && !chan->send.first,
		   "destroy a channel only when nobody waits for it");
	mem_free(&chan->mem, chan->buffer, chan->room * chan->value_size);
	mem = chan->mem;
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
		unlock(chan);
	return result == WOKEN_BY_CLOSE ? -EPIPE : result;
}

static int finish(struct sley_chan *chan, enum progress progress,
		  struct sley_task *task)
{
	unlock(chan);
	if (progress == CLOSED)
		return -EPIPE;
	if (progress == WAIT)
		return -EAGAIN;
	if (task)
		task_enqueue(task);
	return 0;
}

int sley_chan_send_until(struct sley_chan *chan, const void *value,
			 uint64_t deadline_ns)
{
	struct sley_task *task = NULL;
	enum progress progress;

	for (;;) {
		int err;

		(void)waitq_lock(&chan->recv);
		progress = send_locked(chan, value, &task);
		if (progress == WAIT)
			return wait_in(chan, &chan->send, (void *)value,
				       deadline_ns);
		if (likely(progress != FULL))
			return finish(chan, progress, task);
		unlock(chan);
		err = grow(chan);
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
	enum progress progress;

	(void)waitq_lock(&chan->recv);
	progress = recv_locked(chan, value, &task);
	if (progress == WAIT)
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
			node->index = WOKEN_BY_CLOSE;
			node = node->next;
		} while (node != list->first);
	}
	return waitq_wake_all(list);
}

void sley_chan_close(struct sley_chan *chan)
{
	struct sley_task *receivers, *senders;

	(void)waitq_lock(&chan->recv);
	chan->closed = true;
	receivers = wake_by_close(&chan->recv);
	senders = wake_by_close(&chan->send);
	unlock(chan);
	task_enqueue_chain(receivers);
	task_enqueue_chain(senders);
}

size_t sley_chan_length(const struct sley_chan *chan)
{
	struct sley_chan *locked = (struct sley_chan *)chan;
	size_t nr;

	(void)waitq_lock(&locked->recv);
	nr = locked->nr;
	unlock(locked);
	return nr;
}
