/* SPDX-License-Identifier: MIT */
/*
 * sley/chan.h - channels: values from tasks and threads to tasks and threads.
 *
 * A channel keeps up to its capacity of values.  A channel of capacity 0 hands
 * each value directly from a sender to a receiver.  With SLEY_UNBOUNDED a
 * sender never waits.  Values are copied and come out in the order in which
 * they went in.  After a close, receivers take the values that are left and
 * then get -EPIPE.
 */
#ifndef SLEY_CHAN_H
#define SLEY_CHAN_H

#include <sley/compiler.h>
#include <sley/runtime.h>

SLEY_BEGIN_DECLS

struct sley_chan;

/*
 * sley_chan_create - make a channel of values of @value_size bytes.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller; sley_chan_destroy() frees it.
 * Errors:   -ENOMEM
 *           -EINVAL   @value_size is 0, or the buffer would not fit in memory
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_chan_create(struct sley_chan **out, size_t value_size, size_t capacity);

/*
 * sley_chan_destroy - free a channel with all values that it still holds.
 *
 * No task or thread may use the channel any more; a waiter left behind is
 * misuse.  Does nothing with NULL.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_chan_destroy(struct sley_chan *chan);

/*
 * sley_chan_send - put a copy of *@value into a channel, waiting for room.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    everything before the call happens before the receive of this value
 *           returns.
 * Errors:   -EPIPE      the channel is closed, or was closed during the wait
 *           -ECANCELED  the value is not sent, and each later send that would have
 *                       to wait fails at once: a loop that ends in no other way
 *                       must check for this error
 *           -ENOMEM     an unbounded channel could not grow
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int
sley_chan_send(struct sley_chan *chan, const void *value);

/*
 * sley_chan_send_until - sley_chan_send() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, -EPIPE, -ECANCELED, -ENOMEM; the value is not sent then
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_chan_send_until(struct sley_chan *chan, const void *value,
		     uint64_t deadline_ns);

/*
 * sley_chan_try_send - put a copy of *@value into a channel if it has room.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -EAGAIN (no room), -EPIPE, -ENOMEM
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_chan_try_send(struct sley_chan *chan, const void *value);

/*
 * sley_chan_recv - take the oldest value out of a channel, waiting for a value.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -EPIPE      the channel is closed and empty
 *           -ECANCELED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_chan_recv(struct sley_chan *chan, void *value);

/*
 * sley_chan_recv_until - sley_chan_recv() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, -EPIPE, -ECANCELED; *@value is unchanged then
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_chan_recv_until(struct sley_chan *chan, void *value, uint64_t deadline_ns);

/*
 * sley_chan_try_recv - take the oldest value out of a channel, if any.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -EAGAIN (empty), -EPIPE (closed and empty)
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_chan_try_recv(struct sley_chan *chan, void *value);

/*
 * sley_chan_close - let a channel refuse values from now on; wake all waiters.
 *
 * Closing twice changes nothing.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_chan_close(struct sley_chan *chan);

/*
 * sley_chan_length - how many values are in a channel at this moment.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS size_t
sley_chan_length(const struct sley_chan *chan);

SLEY_END_DECLS
#endif
