/* SPDX-License-Identifier: MIT */
/*
 * series.h - a series: the runs of a periodic request.
 *
 * The request is one task in turns (core/task/turn.h) for all runs: the runtime counts the
 * task once, and waits for its end.  Between two runs the task is parked, without a
 * stack, and an alarm (core/wait/timer.h) of the worker that had the last turn wakes it.
 *
 *   ring     the alarm wakes the task
 *   begin    the task enters the door of its container; if the door is shut, this run is
 *            left out.  The policy chooses a worker; if it is another one, the task goes
 *            there, and has its next turn there
 *   run      the method
 *   adjust   the policy says how long to wait
 *   rest     the task leaves the door, and parks; or the series is over
 *
 * So a series between two runs is in no container: a drain does not wait for it, and
 * the keeper of a drained container is alone.
 *
 * The time of a run is counted from the time for which the run before was scheduled, and
 * times that have passed are left out (alarm_next_time).  Idle runs are counted the same
 * way, with a longer wait; then long waits are rounded up to multiples of
 * SLEY_IDLE_ALIGN_NS on the clock, so that the alarms of many series ring together.
 *
 * The end.  A series ends by its worker, at the end of a turn, or by an *ender*: the
 * canceller of the request, or the destroyer of the pool.  A task has one waker at a time:
 *
 *   - The task is queued, or has a turn.  There is no waker.  The worker of the task looks
 *     at `ended` before the task is parked.
 *   - The task is parked, and the alarm is in the timers.  The waker is whichever thread
 *     takes the alarm out: the thread that fires it, or an ender that stops it.
 *   - The task is parked, and the alarm was taken out: the ring is a moment away.  An
 *     ender cannot stop the alarm, and leaves the task alone.
 *
 * An ender writes down why (`ended`), once, and then tries to stop the alarm.  Both is done
 * under the lock of the request, as are the look at `ended` and the start of the alarm by
 * the worker.  So each end is a last turn, without the method, and the request is completed
 * in one place: after the turn, by the worker.
 *
 * `ended`, the start of the alarm, and request->series are under the lock of the request.
 * The lock is in the request and not in the series, since a canceller may come when the
 * series is freed already; the submitter keeps the request until then
 * (sley_request_cancel).  The lock of the timers is taken inside of this lock, and the lock
 * of the pool's list around it.
 *
 * The pool.  The pool lists its series, for the destroyer, and counts them behind a door of
 * their own: a flush must not wait for them, as it does for requests in `waiting`.  The
 * destroyer shuts the door and takes one series after the other from the list.  A series is
 * in the list, or was ended by the destroyer, from its beginning to its end.
 *
 * When all tasks of the runtime are cancelled, the alarms of all series ring at once
 * (timers_cancel), and the turn finds out why.
 *
 * There are no edges here: all is under locks, and the queues pass the task on.
 *
 * Rejected: a request of its own for each run, as parts.h has it (a run could not be
 * started from the monitor's thread while the runtime ends, as the runtime would not know
 * that the series is there); to ask the policy when the alarm rings (on the last page
 * of the stack of any task, where code of the program has no place); the alarm in the
 * request itself (each request would be a third larger).
 */
#ifndef SLEY_ROUTE_SERIES_H
#define SLEY_ROUTE_SERIES_H

#include "base/list.h"
#include "core/sched/worker.h"
#include "route/door.h"

#include <sley/pool.h>
#include <sley/request.h>

/* Of a pool. */
struct series_set {
	struct door door; /* counts them                                   */
	struct spinlock lock;
	struct list list; /* series that were not ended by the pool (lock)  */
};

/*
 * Sends @request, whose container is known, and which runs each @period_ns.  0: accepted,
 * and perhaps complete; or the errors of sley_submit().
 */
must_check int series_send(struct sley_router *router,
			   struct sley_request *request, uint64_t period_ns);

/* The next turn has begun.  True: the method has to run now. */
must_check bool series_begin(struct sley_request *request);

/*
 * The turn is over; request->code is that of the method, or 0.  False: there will be
 * another turn, and the request must not be touched any more.  True: the series is over,
 * and request->code says why.
 */
must_check bool series_is_over(struct worker *worker,
			       struct sley_request *request);

/* No run comes any more.  The last step: the pool may be gone afterwards. */
void series_leave(struct sley_request *request);

/* A series that has not ended is asked to; of other requests: nothing. */
void series_cancel(struct sley_request *request);

/* The containers of @pool are condemned: all series end, and none begins. */
void series_end_all(struct sley_pool *pool);

#endif
