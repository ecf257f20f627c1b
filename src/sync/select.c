/* SPDX-License-Identifier: MIT */
/*
 * select.c - one of several sends and receives.
 *
 *   selecter                            a peer that comes to one channel
 *   lock all channels, by address       lock that channel
 *   look at each case; one can go:      unlink the first node, decide its
 *     do it, unlock all, queue the        task: lost, if the selecter was
 *     peer                                decided elsewhere: try the next
 *   none can: announce the wait,        copy the value to or from the case
 *     link a node per case, unlock all  unlock
 *   leave the stack, park               queue the task, unless it was early
 *   ... decided, resumed ...
 *   lock each channel, one by one, and
 *     take the node out
 *
 * All channels are locked at once, because two selecters may meet in two
 * channels: each must see either all nodes of the other or no node, or both would
 * wait for each other.  The locks are taken by address, so that two selecters
 * with the same channels cannot deadlock.
 *
 * The verdict has the index of the case, and whether a close decided it.  The
 * selecter returns only after it has had the lock of each channel: then each peer
 * that found a node there is done with the node.  A single channel can be left
 * out, the channel of the case that went, as its lock was free before the
 * selecter was queued.  This does not hold if the decision came early, before the
 * selecter had parked: then the selecter goes on without having been queued,
 * maybe while its value is being copied.
 *
 * Each case is the first to be looked at equally often.  The first case comes
 * from a sequence that is evenly spread (rand_spread_below()).  Rejected: random
 * numbers, which cost a mispredicted branch every other time, 7 ns of the 20 that
 * a select of two cases takes if one is ready; and plain turns, since a task with
 * two selects in a loop would always begin with the same case in each.
 *
 * Rejected: locking one channel after the other, as a wait for several events
 * does.  An event is set by a caller that does not wait.  But here a selecter
 * that is linked already may find a second selecter, and would have to decide its
 * own wait and the wait of the second in one step.
 */
#include "core/sched/place.h"
#include "sync/select.h"

#include "sync/chan.h"

#include "base/rand.h"

static _Thread_local struct rand thread_rand; /* of threads that are no workers */

static unsigned int first_case(unsigned int nr)
{
	struct worker *worker = worker_current();

	return rand_spread_below(worker ? &worker->rand : &thread_rand, nr);
}

/* ---- the channels of all cases, each once, by address ----------------------- */

struct channels {
	unsigned int nr;
	struct sley_chan *chan[SLEY_SELECT_MAX];
};

static noinline void channels_insert(struct channels *all,
				     struct sley_chan *chan)
{
	unsigned int at = all->nr;

	for (; at && (uintptr_t)all->chan[at - 1] > (uintptr_t)chan; at--)
		all->chan[at] = all->chan[at - 1];
	if (at && all->chan[at - 1] == chan) {
		/* The channel is there already: close the gap again. */
		for (; at < all->nr; at++)
			all->chan[at] = all->chan[at + 1];
		return;
	}
	all->chan[at] = chan;
	all->nr++;
}

/* Often channels are listed as they were created, and so in order already. */
static inline __attribute__((always_inline)) void
channels_of(struct channels *all, const struct sley_case *cases,
	    unsigned int nr)
{
	struct sley_chan *last = NULL;

	all->nr = 0;
	for (unsigned int i = 0; i < nr; i++) {
		struct sley_chan *chan = cases[i].chan;

		if (likely((uintptr_t)chan > (uintptr_t)last)) {
			all->chan[all->nr++] = chan;
			last = chan;
		} else if (chan) {
			channels_insert(all, chan);
			last = all->chan[all->nr - 1];
		}
	}
}

static void channels_lock(const struct channels *all)
{
	for (unsigned int i = 0; i < all->nr; i++)
		chan_lock(all->chan[i]);
}

static noinline void channels_wake(const struct channels *all)
{
	for (unsigned int i = 0; i < all->nr; i++)
		spin_wake(&all->chan[i]->recv.word);
}

static inline __attribute__((always_inline)) void
channels_unlock(const struct channels *all)
{
	for (unsigned int i = 0; i < all->nr; i++)
		waitq_unlock_quietly(&all->chan[i]->recv, 0);
	/* A single look for all channels, which may be gone. */
	if (unlikely(spin_has_sleepers()))
		channels_wake(all);
}

/* ---- looking ------------------------------------------------------------------ */

static enum chan_progress try_case(const struct sley_case *c,
				   struct sley_task **peer)
{
	if (!c->chan)
		return CHAN_WAIT;
	if (c->kind == SLEY_SEND)
		return chan_send_locked(c->chan, c->value, peer);
	return chan_recv_locked(c->chan, c->value, peer);
}

/*
 * Lock all, and do the first case from @start on that can go.  Returns its
 * index; or -EAGAIN, and all stay locked; or -ENOMEM.
 */
static inline __attribute__((always_inline)) int
try_all(struct sley_case *cases, unsigned int nr, unsigned int start,
	const struct channels *all)
{
	struct sley_task *peer = NULL;
	enum chan_progress progress;
	unsigned int i = start;

	channels_lock(all);
	for (;;) {
		progress = try_case(&cases[i], &peer);
		if (progress == CHAN_DONE || progress == CHAN_CLOSED)
			break;
		if (unlikely(progress == CHAN_FULL)) {
			channels_unlock(all);
			if (chan_grow(cases[i].chan))
				return -ENOMEM;
			channels_lock(all);
			continue;
		}
		if (++i == nr)
			i = 0;
		if (i == start)
			return -EAGAIN;
	}
	channels_unlock(all);
	cases[i].status = progress == CHAN_DONE ? 0 : -EPIPE;
	if (peer)
		task_enqueue(peer);
	return (int)i;
}

/* ---- waiting ------------------------------------------------------------------- */

/* Under all locks. */
static void link_all(const struct sley_case *cases, unsigned int nr,
		     struct sley_waiter *node, struct sley_task *task)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct sley_chan *chan = cases[i].chan;

		if (!chan)
			continue;
		node[i].task = task;
		node[i].slot = cases[i].value;
		node[i].index = i;
		waitq_link(cases[i].kind == SLEY_SEND ? &chan->send
						      : &chan->recv,
			   &node[i]);
	}
}

/* All nodes but that of @done, whose notifier is done with it; -1: all. */
static inline __attribute__((always_inline)) void
unlink_all_but(int done, const struct sley_case *cases, unsigned int nr,
	       struct sley_waiter *node)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct sley_chan *chan = cases[i].chan;

		if (!chan || (int)i == done)
			continue;
		chan_lock(chan);
		if (node[i].linked)
			waitq_unlink(&node[i]);
		chan_unlock(chan);
	}
}

int select_from(struct sley_case *cases, unsigned int nr, unsigned int start,
		uint64_t deadline_ns)
{
	struct sley_waiter node[SLEY_SELECT_MAX];
	struct channels all;
	struct sley_task thread, *task;
	uint32_t state;
	int result;

	channels_of(&all, cases, nr);
	result = try_all(cases, nr, start, &all);
	if (result != -EAGAIN)
		return result;
	result = wait_refused(deadline_ns);
	if (unlikely(result)) {
		channels_unlock(&all);
		return result;
	}
	task = wait_task(&thread);
	task_announce_wait(task);
	link_all(cases, nr, node, task);
	channels_unlock(&all);
	state = wait_announced(task, deadline_ns);
	result = wait_result(state);
	if (result < 0) {
		unlink_all_but(-1, cases, nr, node);
		return result;
	}
	result &= ~(int)WOKEN_BY_CLOSE;
	unlink_all_but(state & TASK_EARLY ? -1 : result, cases, nr, node);
	cases[result].status = task_index_of(state) & WOKEN_BY_CLOSE ? -EPIPE
								     : 0;
	return result;
}

/* ---- the calls ------------------------------------------------------------------- */

int sley_select_until(struct sley_case *cases, size_t nr, uint64_t deadline_ns)
{
	if (nr == 0 || nr > SLEY_SELECT_MAX)
		return -EINVAL;
	return select_from(cases, (unsigned int)nr,
			   first_case((unsigned int)nr), deadline_ns);
}

int sley_select(struct sley_case *cases, size_t nr)
{
	return sley_select_until(cases, nr, UINT64_MAX);
}

int sley_try_select(struct sley_case *cases, size_t nr)
{
	struct channels all;
	int result;

	if (nr == 0 || nr > SLEY_SELECT_MAX)
		return -EINVAL;
	channels_of(&all, cases, (unsigned int)nr);
	result = try_all(cases, (unsigned int)nr, first_case((unsigned int)nr),
			 &all);
	if (result == -EAGAIN)
		channels_unlock(&all);
	return result;
}
