/* SPDX-License-Identifier: MIT */
/*
 * timer.h - the deadlines of the waits of one worker.
 *
 * A queue of deadlines under a lock of its own.  The worker's fibers put their
 * timers in and take them out.  The worker fires the timers that are due; if the
 * worker is stuck in a long task, the monitor fires them.  A timer lives on the
 * stack of the waiting task.  A timer fires under the lock: the wait of its task
 * is decided.  A waiter that was woken otherwise removes its timer under the same
 * lock, so the timer of a wait that has returned is never touched.
 *
 * The time to look again is mirrored in a word that is read without the lock, by
 * the worker on its tick and when it parks, and by the monitor.  The word is the
 * earliest deadline, or a little earlier if the earliest timer was taken out: then
 * firing finds nothing due, and the word is right again.
 *
 * There is one road on which timers fire, timers_fire(), for workers and for the
 * monitor.  Alarms ring there, and an alarm may call functions of the user, which
 * may call anything.  Such a function must not wait.  The thread that fires may
 * have no task, or be inside a call that promises its task never to block: nothing
 * could be suspended.  So while alarms ring, timers_ringing() is true, and a call
 * that would wait, such as a send to a full mailbox, fails instead.
 */
#ifndef SLEY_CORE_WAIT_TIMER_H
#define SLEY_CORE_WAIT_TIMER_H

#include "base/radix_heap.h"
#include "core/task/task_state.h"
#include "lf/spin.h"

struct timer {
	struct radix_node node; /* the key is the deadline */
	struct sley_task *task;
	struct timers *timers; /* where it was started */
};

struct timers {
	uint64_t next_ns; /* no deadline is earlier; UINT64_MAX: none */
	struct spinlock lock;
	bool ended;             /* see timers_end() */
	uint32_t nr;            /* written under lock; a hint without it */
	struct radix_heap heap; /* under lock */
};

static inline void timers_init(struct timers *timers)
{
	*timers = (struct timers){ .next_ns = UINT64_MAX };
	radix_heap_init(&timers->heap);
}

static inline uint64_t timers_next(const struct timers *timers)
{
	/* relaxed: a hint; firing looks again under the lock. */
	return load_relaxed(&timers->next_ns);
}

/* How many timers are started and have not fired: a hint. */
static inline uint32_t timers_pending(const struct timers *timers)
{
	/* relaxed: a hint. */
	return load_relaxed(&timers->nr);
}

/* The same under the lock: the starter of a later timer sees the caller's stores. */
uint64_t timers_next_settled(struct timers *timers);

/* True: no timer is earlier. */
bool timer_start(struct timers *timers, struct timer *timer,
		 struct sley_task *task, uint64_t deadline_ns);

/*
 * A timer without a task.  The thread that fires the alarm calls @ring, without
 * the lock.  Under the lock that thread calls @hold, which keeps the alarm alive
 * until @ring is done with it, although timer_stop() may return meanwhile.
 */
struct alarm {
	struct timer timer;
	void (*hold)(struct alarm *alarm);
	void (*ring)(struct alarm *alarm); /* may free the alarm */
	struct alarm *next;                /* of the alarms that ring */
};

/*
 * As @hold, for an alarm that its owner keeps alive until it has rung.  The alarm rings
 * before its time if all tasks of its runtime are cancelled: timers_cancel().
 */
void alarm_rings_at_cancel(struct alarm *alarm);

/* True: no timer is earlier; the keeper may sleep too long, see alarm.h. */
static inline bool alarm_start(struct timers *timers, struct alarm *alarm,
			       uint64_t deadline_ns)
{
	return timer_start(timers, &alarm->timer, NULL, deadline_ns);
}

/*
 * Afterwards @timer is not touched any more, unless it is the timer of an alarm
 * that has begun to ring.  True: the timer was started, and does not fire.
 */
bool timer_stop(struct timer *timer);

/*
 * Decide the waits whose deadline is @now_ns or earlier, let the alarms ring, the
 * earliest first, and queue the tasks.  Nothing is done if the calling thread
 * fires timers already: the next look finds the timers that are due later.
 */
void timers_fire(struct timers *timers, uint64_t now_ns);

/*
 * All tasks are cancelled: the alarms that mind ring now, in no particular order.  By the
 * worker, once; an alarm that is started later has to look for itself.
 */
void timers_cancel(struct timers *timers);

/* Does the calling thread fire timers?  Then the thread must not wait. */
bool timers_ringing(void);

/*
 * The worker ends, and no thread fires or waits any more: the alarms that are
 * left ring now, and see by timers->ended that they ring for the last time.
 */
void timers_end(struct timers *timers);

#endif
