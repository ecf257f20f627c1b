/* SPDX-License-Identifier: MIT */
/*
 * series.c - see series.h.
 */
#include "route/series.h"

#include "core/sched/place.h"
#include "core/task/turn.h"
#include "core/wait/alarm.h"
#include "os/clock.h"
#include "route/policy.h"
#include "route/pool.h"
#include "route/request.h"

#include <errno.h>
#include <sley/time.h>

/* Of one run. */
#define RUN_FLAGS                                                              \
	((uint32_t)(REQUEST_ENTERED | REQUEST_GROUPED | REQUEST_MEASURED |     \
		    REQUEST_PINNED | REQUEST_IDLE))

struct series {
	struct alarm alarm;
	struct sley_request *request;
	struct list link; /* in its pool (lock of the set)              */
	int32_t ended;    /* why; 0: it has not (lock of the request)   */
	uint64_t period_ns;
	uint64_t waited_ns; /* for this run; 0: it is the first           */
	uint64_t due_ns;    /* the time for which this run was scheduled  */
	uint32_t nr_idle;   /* runs in a row                              */
	bool moves;         /* the next turn is on another worker         */
};

static struct spinlock *lock_of(struct sley_request *request)
{
	return (struct spinlock *)(void *)&request->lock;
}

static struct series_set *set_of(const struct sley_request *request)
{
	return &request->container->pool->series;
}

/* The worker whose timers had the alarm of a parked task. */
static struct worker *keeper_of(const struct series *series)
{
	return container_of(series->alarm.timer.timers, struct worker, timers);
}

/* ---- the beginning ----------------------------------------------------------------- */

static void ring(struct alarm *alarm)
{
	struct series *series = container_of(alarm, struct series, alarm);

	turn_wake(keeper_of(series), &series->request->task);
}

/* False: the pool is at its end. */
static bool join(struct series_set *set, struct series *series)
{
	bool joined;

	spin_lock(&set->lock);
	joined = door_enter(&set->door);
	if (joined)
		list_append(&set->list, &series->link);
	spin_unlock(&set->lock);
	return joined;
}

int series_send(struct sley_router *router, struct sley_request *request,
		uint64_t period_ns)
{
	struct mem *mem = &router->rt->mem;
	struct series *series = mem_alloc(mem, sizeof(*series));

	if (!series)
		return request_refuse(router, request, -ENOMEM);
	series->alarm.hold = alarm_rings_at_cancel;
	series->alarm.ring = ring;
	series->request = request;
	series->period_ns = period_ns;
	series->due_ns = os_now();
	list_init(&series->link);
	if (!join(set_of(request), series)) {
		mem_free(mem, series, sizeof(*series));
		return request_refuse(router, request, -ENOENT);
	}
	request->series = series;
	request->flags |= REQUEST_REPEATS | REQUEST_ENQUEUED;
	return request_send(router, request);
}

/* ---- a run ------------------------------------------------------------------------- */

static bool is_ended(struct series *series)
{
	struct spinlock *lock = lock_of(series->request);
	bool ended;

	spin_lock(lock);
	ended = series->ended;
	spin_unlock(lock);
	return ended;
}

bool series_begin(struct sley_request *request)
{
	struct sley_container *container = request->container;
	struct sley_router *router = container->pool->router;
	struct series *series = request->series;
	const struct worker *here = router_worker(router);
	uint32_t to;

	if (request->flags & REQUEST_ENTERED)
		return true;
	if (is_ended(series) || !door_enter(&container->door))
		return false;
	request_entered(request);
	request->answer_size = 0;
	to = policy_map(router, here, request);
	request->worker = to;
	series->moves = to != SLEY_NO_WORKER && to != here->index &&
			router->rt->nr_workers;
	return !series->moves;
}

void sley_request_set_idle(struct sley_request *request)
{
	request->flags |= REQUEST_IDLE;
}

/* ---- the time of the next run -------------------------------------------------------- */

/* The rule of the library: twice as long after each idle run. */
static uint64_t backed_off(const struct series *series)
{
	uint64_t waited_ns = series->waited_ns ? series->waited_ns
					       : series->period_ns;
	uint64_t wait_ns = waited_ns < SLEY_IDLE_WAIT_NS / 2
				   ? 2 * waited_ns
				   : SLEY_IDLE_WAIT_NS;

	return wait_ns > series->period_ns ? wait_ns : series->period_ns;
}

static uint64_t aligned(uint64_t time_ns)
{
	uint64_t over_ns = time_ns % SLEY_IDLE_ALIGN_NS;

	if (!over_ns || time_ns > UINT64_MAX - SLEY_IDLE_ALIGN_NS)
		return time_ns;
	return time_ns - over_ns + SLEY_IDLE_ALIGN_NS;
}

/* The method has run, and its container is not left yet. */
static void adjust(struct sley_router *router, const struct worker *worker,
		   struct sley_request *request)
{
	struct series *series = request->series;
	bool idle = request->flags & REQUEST_IDLE;
	struct sley_polling polling = {
		.period_ns = series->period_ns,
		.waited_ns = series->waited_ns,
		.wait_ns = idle ? backed_off(series) : series->period_ns,
		.did_work = !idle,
	};

	series->nr_idle = idle ? series->nr_idle + 1 : 0;
	polling.nr_idle = series->nr_idle;
	series->waited_ns = policy_wait(router, worker, request, &polling);
}

/* When the next run is due. */
static uint64_t next_time(const struct series *series)
{
	uint64_t wait_ns = series->waited_ns ? series->waited_ns
					     : series->period_ns;
	uint64_t next_ns = alarm_next_time(series->due_ns, wait_ns);

	return series->nr_idle && wait_ns >= SLEY_IDLE_ALIGN_NS
		       ? aligned(next_ns)
		       : next_ns;
}

/* ---- the end of a turn --------------------------------------------------------------- */

/*
 * Why there is no next run, by what the worker knows: the code, or 0.  The alarm of a task
 * that parks after its worker has heard of the cancel of all tasks would not ring.
 */
static int why_over(const struct sley *rt, const struct sley_request *request)
{
	if (request->code)
		return request->code;
	if (runtime_is_cancelled(rt))
		return -ECANCELED;
	return request->deadline_ns && os_now() >= request->deadline_ns
		       ? -ETIMEDOUT
		       : 0;
}

/* When the alarm has to ring. */
static uint64_t ring_time(const struct sley_request *request)
{
	const struct series *series = request->series;
	uint64_t deadline_ns = request->deadline_ns ? request->deadline_ns
						    : SLEY_FOREVER;

	return series->due_ns < deadline_ns ? series->due_ns : deadline_ns;
}

/* The task parks.  0, and the request is not touched any more; or why it does not. */
static int rest(struct worker *worker, struct sley_request *request)
{
	struct series *series = request->series;
	uint64_t ring_ns = ring_time(request);
	bool earliest = false;
	int ended;

	spin_lock(lock_of(request));
	ended = series->ended;
	if (!ended) {
		task_turn_park(&request->task);
		earliest =
			alarm_start(&worker->timers, &series->alarm, ring_ns);
	}
	spin_unlock(lock_of(request));
	if (earliest)
		alarm_announce(worker);
	return ended;
}

static void move(struct sley *rt, struct sley_request *request)
{
	struct series *series = request->series;

	series->moves = false;
	task_turn_ready(&request->task);
	place_toward(rt->worker[request->worker], &request->task);
}

bool series_is_over(struct worker *worker, struct sley_request *request)
{
	struct sley_router *router = request->container->pool->router;
	struct series *series = request->series;
	int code;

	if (series->moves) {
		move(router->rt, request);
		return false;
	}
	if (request->flags & REQUEST_ENTERED) {
		if (!request->code)
			adjust(router, worker, request);
		request_leave_container(request);
		request->flags &= ~RUN_FLAGS;
	}
	code = why_over(router->rt, request);
	if (!code) {
		series->due_ns = next_time(series);
		code = rest(worker, request);
	}
	if (!code)
		return false;
	request->code = code;
	return true;
}

void series_leave(struct sley_request *request)
{
	struct sley_pool *pool = request->container->pool;
	struct series *series = request->series;

	spin_lock(&pool->series.lock);
	list_remove(&series->link);
	spin_unlock(&pool->series.lock);
	spin_lock(lock_of(request));
	request->series = NULL;
	spin_unlock(lock_of(request));
	mem_free(&pool->router->rt->mem, series, sizeof(*series));
	door_leave(&pool->series.door);
}

/* ---- the enders ---------------------------------------------------------------------- */

/* With the lock of the request.  True: the caller has to wake the task. */
static bool end(struct series *series, int code)
{
	struct timer *timer = &series->alarm.timer;

	if (!series->ended)
		series->ended = code;
	/* Before the first run is over, the alarm has no timers. */
	return timer->timers && timer_stop(timer);
}

void series_cancel(struct sley_request *request)
{
	struct series *series;
	bool wakes;

	spin_lock(lock_of(request));
	series = request->series;
	wakes = series && end(series, -ECANCELED);
	spin_unlock(lock_of(request));
	if (wakes)
		turn_wake(keeper_of(series), &request->task);
}

/* Ends the first series of the list.  False: there is none. */
static bool end_first(struct series_set *set)
{
	struct series *series = NULL;
	struct list *link;
	bool wakes = false;

	spin_lock(&set->lock);
	link = list_take_first(&set->list);
	if (link) {
		series = container_of(link, struct series, link);
		spin_lock(lock_of(series->request));
		wakes = end(series, -ENOENT);
		spin_unlock(lock_of(series->request));
	}
	spin_unlock(&set->lock);
	if (wakes)
		turn_wake(keeper_of(series), &series->request->task);
	return link;
}

void series_end_all(struct sley_pool *pool)
{
	struct series_set *set = &pool->series;

	spin_lock(&set->lock);
	door_shut(&set->door);
	spin_unlock(&set->lock);
	while (end_first(set))
		;
}
