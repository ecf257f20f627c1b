/* SPDX-License-Identifier: MIT */
/*
 * idle.c - see idle.h for the protocol.
 */
#include "core/sched/idle.h"

#include "base/assert.h"
#include "os/eventfd.h"
#include "os/futex.h"
#include "os/membarrier.h"

void idle_init(struct idle *idle, unsigned int nr_workers, bool membarrier)
{
	*idle = (struct idle){
		.searching_max = nr_workers > 3 ? nr_workers / 2 : 1,
		.membarrier = membarrier,
	};
	list_init(&idle->parked);
}

void idle_seat_init(struct idle_seat *seat)
{
	list_init(&seat->link);
	seat->word = SEAT_AWAKE;
}

/*
 * Asleep -> @woken, and how the worker slept.  SEAT_AWAKE: another waker was faster,
 * or the worker left.
 */
static uint32_t seat_wake(struct idle_seat *seat, enum seat_state woken)
{
	uint32_t word = SEAT_PARKED;

	while (!cas_acq_rel(&seat->word, &word, woken)) { /* I2 I3 I6 */
		if (!(word & SEAT_ASLEEP))
			return SEAT_AWAKE;
	}
	return word;
}

/* The seat was @asleep, and the caller has set the word: the worker shall see it. */
static void seat_signal(const struct idle *idle, struct idle_seat *seat,
			uint32_t asleep)
{
	if (unlikely(asleep == SEAT_POLLING))
		os_eventfd_signal(idle->eventfd);
	else
		os_futex_wake(&seat->word, SEAT_WAITERS);
}

void idle_wake_one(struct idle *idle)
{
	struct idle_seat *seat = NULL;
	uint32_t asleep = SEAT_AWAKE;

	spin_lock(&idle->lock);
	while (!asleep && !list_empty(&idle->parked)) {
		struct list *first = list_take_first(&idle->parked);

		seat = container_of(first, struct idle_seat, link);
		asleep = seat_wake(seat, SEAT_WOKEN_SEARCHING);
	}
	if (asleep)
		(void)add_acq_rel(&idle->counts, /* I1 I4 */
				  IDLE_SEARCHING_ONE - IDLE_PARKED_ONE);
	spin_unlock(&idle->lock);
	if (asleep)
		seat_signal(idle, seat, asleep);
}

/* The same for the worker of @seat.  False: the worker does not sleep. */
static bool wake_searching(struct idle *idle, struct idle_seat *seat)
{
	uint32_t asleep;

	spin_lock(&idle->lock);
	asleep = seat_wake(seat, SEAT_WOKEN_SEARCHING);
	if (asleep) {
		list_remove(&seat->link);
		(void)add_acq_rel(&idle->counts, /* I1 I4 */
				  IDLE_SEARCHING_ONE - IDLE_PARKED_ONE);
	}
	spin_unlock(&idle->lock);
	if (asleep)
		seat_signal(idle, seat, asleep);
	return asleep;
}

void idle_notify_toward(struct idle *idle, struct idle_seat *seat)
{
	uint64_t counts = idle_counts_after_work(idle);

	if (!idle_parked(counts))
		return;
	/* Which worker is woken is a preference; the counts say that one must be. */
	if (idle_is_parked(seat) && wake_searching(idle, seat))
		return;
	if (!idle_searching(counts))
		idle_wake_one(idle);
}

bool idle_notify_seat(struct idle *idle, struct idle_seat *seat)
{
	uint32_t word;

	if (likely(idle->membarrier)) {
		compiler_barrier();
		/* relaxed: I3 is ordered by the parker's os_membarrier(). */
		word = load_relaxed(&seat->word);
	} else {
		word = add_acq_rel(&seat->word, 0); /* I3 */
	}
	if (!(word & SEAT_ASLEEP))
		return false;
	word = seat_wake(seat, SEAT_WOKEN);
	if (!word)
		return false;
	seat_signal(idle, seat, word);
	return true;
}

bool idle_search_begin(struct idle *idle)
{
	uint64_t counts = idle_counts(idle);

	if (idle_searching(counts) >= idle->searching_max)
		return false;
	/* A searcher too many for a moment does no harm. */
	(void)add_acq_rel(&idle->counts, IDLE_SEARCHING_ONE); /* I1 */
	return true;
}

bool idle_search_end(struct idle *idle)
{
	uint64_t counts;

	counts = add_acq_rel(&idle->counts, -IDLE_SEARCHING_ONE); /* I1 */
	if (idle_searching(counts) != 1 || !idle_parked(counts))
		return false;
	/*
	 * A submitter that saw the search may still have its work in a store
	 * buffer: the caller's look would miss that work.
	 */
	if (idle->membarrier)
		os_membarrier();
	return true;
}

/*
 * Step 1: take the seat.  A worker in the poller is woken last: while it is awake,
 * no worker watches the descriptors.
 */
static void sit_down(struct idle *idle, struct idle_seat *seat, bool searching,
		     const struct idle_look *look)
{
	uint32_t asleep = look->by_eventfd ? SEAT_POLLING : SEAT_PARKED;
	uint64_t change = IDLE_PARKED_ONE;

	if (searching)
		change -= IDLE_SEARCHING_ONE;
	spin_lock(&idle->lock);
	(void)xchg_acq_rel(&seat->word, asleep); /* I3 I6 */
	if (look->sleep)
		list_append(&idle->parked, &seat->link);
	else
		list_prepend(&idle->parked, &seat->link);
	(void)add_acq_rel(&idle->counts, change); /* I1 */
	spin_unlock(&idle->lock);
}

/*
 * A worker that leaves because it @found work counts as a searcher again: the
 * submitter of that work may have published more, and woke no worker because this
 * worker was still counted as searching.
 */
static bool stand_up(struct idle *idle, struct idle_seat *seat, bool found)
{
	uint64_t change = found ? IDLE_SEARCHING_ONE : 0;
	uint32_t word;

	spin_lock(&idle->lock);
	word = xchg_acq_rel(&seat->word, SEAT_AWAKE); /* I2 I3 I5 */
	if (word != SEAT_WOKEN_SEARCHING) {
		list_remove(&seat->link);
		(void)add_acq_rel(&idle->counts, /* I1 I4 */
				  change - IDLE_PARKED_ONE);
	}
	spin_unlock(&idle->lock);
	return found || word == SEAT_WOKEN_SEARCHING;
}

/* Sleep once.  As idle_look.sleep. */
static int nap(struct idle_seat *seat, const struct idle_look *look,
	       uint64_t deadline_ns)
{
	if (unlikely(look->sleep))
		return look->sleep(look->arg, deadline_ns);
	return os_futex_wait(&seat->word, SEAT_PARKED, deadline_ns);
}

/* Step 4: sleep until woken or until the deadline, unless @found. */
static bool rest(struct idle *idle, struct idle_seat *seat, bool found,
		 const struct idle_look *look, uint64_t deadline_ns)
{
	while (!found && load_acquire(&seat->word) & SEAT_ASLEEP) { /* I2 */
		int result = nap(seat, look, deadline_ns);

		if (result < 0)
			break;
		found = result;
	}
	return stand_up(idle, seat, found);
}

bool idle_park(struct idle *idle, struct idle_seat *seat, bool searching,
	       const struct idle_look *look, uint64_t deadline_ns)
{
	sit_down(idle, seat, searching, look);
	if (look->ask)
		look->ask(look->arg);
	if (idle->membarrier)
		os_membarrier();
	return rest(idle, seat, look->look(look->arg), look, deadline_ns);
}
