/* SPDX-License-Identifier: MIT */
/*
 * timer.c - see timer.h.
 */
#include "core/sched/place.h"
#include "core/wait/timer.h"

#include "core/sched/worker.h"

static void publish_next(struct timers *timers)
{
	/* relaxed: a hint; firing looks again under the lock. */
	store_relaxed(&timers->next_ns, timers->heap.bound);
}

static void count(struct timers *timers, uint32_t n)
{
	/* relaxed: under the lock; a hint for all others. */
	store_relaxed(&timers->nr, load_relaxed(&timers->nr) + n);
}

uint64_t timers_next_settled(struct timers *timers)
{
	uint64_t next_ns;

	spin_lock(&timers->lock);
	next_ns = timers->heap.bound;
	spin_unlock(&timers->lock);
	return next_ns;
}

bool timer_start(struct timers *timers, struct timer *timer,
		 struct sley_task *task, uint64_t deadline_ns)
{
	bool earliest;

	*timer = (struct timer){ .task = task, .timers = timers };
	spin_lock(&timers->lock);
	earliest = deadline_ns < timers->heap.bound;
	radix_heap_insert(&timers->heap, &timer->node, deadline_ns);
	count(timers, 1);
	publish_next(timers);
	spin_unlock(&timers->lock);
	return earliest;
}

bool timer_stop(struct timer *timer)
{
	struct timers *timers = timer->timers;
	bool started;

	spin_lock(&timers->lock);
	started = radix_heap_contains(&timer->node);
	if (started) {
		radix_heap_remove(&timers->heap, &timer->node);
		count(timers, -1u);
		publish_next(timers);
	}
	spin_unlock(&timers->lock);
	return started;
}

static void ring_all(struct alarm *alarm)
{
	while (alarm) {
		struct alarm *next = alarm->next;

		alarm->ring(alarm);
		alarm = next;
	}
}

/* Alarms that will ring, chained by ->next. */
struct chain {
	struct alarm *first, **last;
};

/* @alarm was taken out of the heap.  With the lock. */
static void chain_append(struct chain *chain, struct alarm *alarm)
{
	alarm->hold(alarm);
	alarm->next = NULL;
	*chain->last = alarm;
	chain->last = &alarm->next;
}

/* Returns the tasks to queue, chained by ->next. */
static struct sley_task *decide_and_ring(struct timers *timers, uint64_t now_ns)
{
	struct sley_task *first = NULL, **last = &first;
	struct chain alarms = { NULL, &alarms.first };
	struct radix_node *node;

	spin_lock(&timers->lock);
	while ((node = radix_heap_take(&timers->heap, now_ns))) {
		struct timer *timer = container_of(node, struct timer, node);
		struct sley_task *task = timer->task;

		count(timers, -1u);
		if (unlikely(!task)) {
			chain_append(&alarms,
				     container_of(timer, struct alarm, timer));
			continue;
		}
		/* From here on the timer may be gone. */
		if (task_decide(task, VERDICT_TIMED_OUT, 0) != DECIDED_QUEUE)
			continue;
		task->next = NULL;
		*last = task;
		last = &task->next;
	}
	publish_next(timers);
	spin_unlock(&timers->lock);
	ring_all(alarms.first);
	return first;
}

bool timers_ringing(void)
{
	return sley__self.ringing;
}

/* The only road: no task or thread may wait on the calling thread meanwhile. */
static struct sley_task *fire(struct timers *timers, uint64_t now_ns)
{
	struct sley_task *chain;

	sley__self.ringing = true;
	chain = decide_and_ring(timers, now_ns);
	sley__self.ringing = false;
	return chain;
}

void timers_fire(struct timers *timers, uint64_t now_ns)
{
	if (likely(!sley__self.ringing))
		task_enqueue_chain(fire(timers, now_ns));
}

void alarm_rings_at_cancel(struct alarm *alarm)
{
	(void)alarm;
}

/* @node is an alarm that rings at a cancel; or NULL. */
static struct alarm *minding_alarm(struct radix_node *node)
{
	struct timer *timer = container_of(node, struct timer, node);
	struct alarm *alarm = container_of(timer, struct alarm, timer);

	if (timer->task || alarm->hold != alarm_rings_at_cancel)
		return NULL;
	return alarm;
}

static void take_minding(struct timers *timers, struct radix_node *node,
			 struct chain *chain)
{
	while (node) {
		struct radix_node *next = node->next;
		struct alarm *alarm = minding_alarm(node);

		if (alarm) {
			radix_heap_remove(&timers->heap, node);
			count(timers, -1u);
			chain_append(chain, alarm);
		}
		node = next;
	}
}

void timers_cancel(struct timers *timers)
{
	struct chain alarms = { NULL, &alarms.first };
	bool ringing = sley__self.ringing;

	spin_lock(&timers->lock);
	for (unsigned int i = 0; i < RADIX_BUCKETS; i++)
		take_minding(timers, timers->heap.bucket[i], &alarms);
	publish_next(timers);
	spin_unlock(&timers->lock);
	sley__self.ringing = true;
	ring_all(alarms.first);
	sley__self.ringing = ringing;
}

void timers_end(struct timers *timers)
{
	struct sley_task *waiting;

	timers->ended = true;
	waiting = fire(timers, UINT64_MAX);
	sley_assert(!waiting);
	(void)waiting;
}
