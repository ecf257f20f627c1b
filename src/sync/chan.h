/* SPDX-License-Identifier: MIT */
/*
 * chan.h - a channel, and its operations under the lock.
 *
 * A channel is a buffer, a list of receivers, a list of senders, and a lock.  A
 * send that finds a receiver copies the value straight into the receiver's
 * variable.  A send that finds room copies the value into the buffer.  Otherwise
 * the sender waits with the address of its value.  A receive that makes room lets
 * the first sender's value in, so values come out in the order in which they went
 * in.
 *
 * A caller that waits for a single channel is in one of its lists, by chan.c.  A
 * caller that waits for several channels has a node in each, by select.c.  Such a
 * caller may be in both lists of a channel, and a peer may find in either list
 * that the wait was decided elsewhere.  A close wakes all waiters with
 * WOKEN_BY_CLOSE in the index.
 */
#ifndef SLEY_SYNC_CHAN_H
#define SLEY_SYNC_CHAN_H

#include "core/wait/wait.h"

#include <sley/chan.h>

#include <string.h>

/* Above any index of a node. */
#define WOKEN_BY_CLOSE 0x80u

struct sley_chan {
	/* Fields that every call writes, in one cache line. */
	struct sley_waitq recv; /* the lock of the channel          */
	struct sley_waitq send; /* the word is not used             */
	char *buffer;
	size_t room;  /* slots of the buffer              */
	size_t first; /* slot of the oldest value         */
	size_t nr;    /* values in the buffer             */

	/* Fields that hardly change. */
	size_t value_size;
	size_t capacity; /* as the user asked for            */
	bool closed;
	struct mem mem;
};
_Static_assert(offsetof(struct sley_chan, value_size) == CACHE_LINE,
	       "one line");

#ifdef NDEBUG
#define chan_check_alive(chan, function) ((void)0)
#define chan_bury(chan) ((void)0)
#else
/*
 * A value of a channel has at least one byte: with size 0 the channel was
 * destroyed.  This looks at memory that was given back.  The memory is still
 * there most of the time, and without this check the caller would wait for ever
 * for the lock, which was never released.
 */
static inline void chan_check_alive(const struct sley_chan *chan,
				    const char *function)
{
	if (unlikely(!chan->value_size))
		sley__misuse(function, "the channel was destroyed before");
}

/* The last act of sley_chan_destroy(), before the memory is given back. */
static inline void chan_bury(struct sley_chan *chan)
{
	chan->value_size = 0;
	compiler_barrier(); /* a store before a free looks useless */
}
#endif

static inline void chan_lock_for(struct sley_chan *chan, const char *function)
{
	(void)function;
	chan_check_alive(chan, function);
	waitq_lock_alone(&chan->recv);
}

#define chan_lock(chan) chan_lock_for(chan, __func__)

static inline void chan_unlock(struct sley_chan *chan)
{
	waitq_unlock_as(&chan->recv, 0);
}

static inline void chan_copy(const struct sley_chan *chan, void *to,
			     const void *from)
{
	/* The usual sizes as single moves. */
	if (chan->value_size == 8)
		memcpy(to, from, 8);
	else if (chan->value_size == 4)
		memcpy(to, from, 4);
	else
		memcpy(to, from, chan->value_size);
}

/* ---- under the lock ------------------------------------------------------- */

static inline char *chan_slot(const struct sley_chan *chan, size_t i)
{
	size_t at = chan->first + i;

	if (at >= chan->room)
		at -= chan->room;
	return chan->buffer + at * chan->value_size;
}

static inline void chan_put(struct sley_chan *chan, const void *value)
{
	chan_copy(chan, chan_slot(chan, chan->nr), value);
	chan->nr++;
}

static inline void chan_get(struct sley_chan *chan, void *value)
{
	chan_copy(chan, value, chan_slot(chan, 0));
	if (++chan->first == chan->room)
		chan->first = 0;
	chan->nr--;
}

enum chan_progress {
	CHAN_DONE, /* and *task, if any, is to be queued */
	CHAN_CLOSED,
	CHAN_WAIT,
	CHAN_FULL, /* an unbounded buffer must grow      */
};

static inline enum chan_progress chan_send_locked(struct sley_chan *chan,
						  const void *value,
						  struct sley_task **task)
{
	struct waitq_woken receiver;

	if (unlikely(chan->closed))
		return CHAN_CLOSED;
	receiver = waitq_wake_first(&chan->recv);
	*task = receiver.task;
	if (receiver.any) {
		chan_copy(chan, receiver.slot, value);
		return CHAN_DONE;
	}
	if (chan->nr == chan->room)
		return chan->capacity == SLEY_UNBOUNDED ? CHAN_FULL : CHAN_WAIT;
	chan_put(chan, value);
	return CHAN_DONE;
}

static inline enum chan_progress
chan_recv_locked(struct sley_chan *chan, void *value, struct sley_task **task)
{
	struct waitq_woken sender;

	if (chan->nr) {
		chan_get(chan, value);
		sender = waitq_wake_first(&chan->send);
		*task = sender.task;
		if (sender.any)
			chan_put(chan, sender.slot);
		return CHAN_DONE;
	}
	sender = waitq_wake_first(&chan->send);
	*task = sender.task;
	if (sender.any) {
		chan_copy(chan, value, sender.slot);
		return CHAN_DONE;
	}
	return chan->closed ? CHAN_CLOSED : CHAN_WAIT;
}

/*
 * After CHAN_FULL, without the lock: make room.  A different sender may have been
 * faster, so look again.  0 or -ENOMEM.
 */
must_check int chan_grow(struct sley_chan *chan);

#endif
