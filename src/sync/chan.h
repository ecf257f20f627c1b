/* SPDX-License-Identifier: MIT */
/*
 * chan.h - a channel, and what can be done with it under its lock.
 *
 * A buffer, a list of receivers and a list of senders, one lock.  A send that
 * finds a receiver copies the value straight into the receiver's variable; one
 * that finds room copies it into the buffer; else the sender waits with the
 * address of its value.  A receive that makes room lets the first sender's
 * value in, so the order in which values went in is the order in which they
 * come out.
 *
 * Who waits for one channel waits in one of its lists, with chan.c; who waits
 * for several has a node in each, with select.c.  Somebody may be in both lists
 * of one channel then, and in either be found to be decided elsewhere.  A close
 * wakes everybody with WOKEN_BY_CLOSE in the index.
 */
#ifndef SLEY_SYNC_CHAN_H
#define SLEY_SYNC_CHAN_H

#include "core/wait/wait.h"

#include <sley/chan.h>

#include <string.h>

/* Above any index of a node. */
#define WOKEN_BY_CLOSE 0x80u

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

#ifdef NDEBUG
#define chan_check_alive(chan, function) ((void)0)
#define chan_bury(chan) ((void)0)
#else
/*
 * A value of a channel has a byte at least: without any it was destroyed.  That is a
 * look at memory that was given back; it is still there most of the time, and the
 * lock, which was never released, would be waited for without end.
 */
static inline void chan_check_alive(const struct sley_chan *chan,
				    const char *function)
{
	if (unlikely(!chan->value_size))
		sley__misuse(function, "the channel was destroyed before");
}

/* The last act of its destroyer, before the memory is given back. */
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
 * After CHAN_FULL, without the lock: make room.  Somebody else may have been
 * faster, so look again.  0 or -ENOMEM.
 */
must_check int chan_grow(struct sley_chan *chan);

#endif
