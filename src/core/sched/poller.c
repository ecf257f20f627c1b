/* SPDX-License-Identifier: MIT */
/*
 * poller.c - see poller.h.
 */
#include "core/sched/poller.h"

#include "os/clock.h"
#include "os/eventfd.h"
#include "os/shared_memory.h"

#include <errno.h>

#define EDGE 16 /* the unit of .average */
#define EDGES_MAX 12
#define EDGES_GATHER 4
#define WATCHED_TAG 0 /* the epoll says only that there is something */

/* ---- descriptors ------------------------------------------------------------------- */

static int open_both(struct sley *rt)
{
	struct poller *poller = &rt->poller;

	poller->epoll = os_epoll_create();
	if (poller->epoll < 0)
		return poller->epoll;
	/* Also where there is io_uring: a worker may be denied a ring later. */
	rt->idle.eventfd = os_eventfd_create();
	if (rt->idle.eventfd >= 0)
		return 0;
	os_close(poller->epoll);
	return rt->idle.eventfd;
}

static int open_once(struct sley *rt)
{
	struct poller *poller = &rt->poller;
	int err = 0;

	spin_lock(&poller->lock);
	if (!poller->open) {
		err = open_both(rt);
		poller->open = !err;
	}
	spin_unlock(&poller->lock);
	return err;
}

int poller_watch(struct sley *rt, int fd)
{
	/* First: a descriptor that is opened here may get the number of @fd. */
	int err = os_fd_check(fd);

	if (!err)
		err = open_once(rt);
	if (!err)
		err = os_epoll_add(rt->poller.epoll, fd, WATCHED_TAG);
	if (err)
		return err;
	(void)add_acq_rel(&rt->poller.nr_watched, 1); /* PW1 PW2 */
	/* A sleeper may have to take the seat: as for work. */
	idle_notify(&rt->idle);
	monitor_expect(&rt->monitor, 0);
	return 0;
}

void poller_unwatch(struct sley *rt, int fd)
{
	os_epoll_remove(rt->poller.epoll, fd);
	/* relaxed: a worker that sees a descriptor too many only sleeps elsewhere. */
	(void)sub_relaxed(&rt->poller.nr_watched, 1);
}

void poller_fini(struct sley *rt)
{
	if (!rt->poller.open)
		return;
	os_close(rt->idle.eventfd);
	os_close(rt->poller.epoll);
}

/* ---- the seat ---------------------------------------------------------------------- */

/* A descriptor can be read: as if a look had found work. */
static int readable(struct worker *worker)
{
	/* Only the worker in the poller counts. */
	counter_add(&worker->rt->poller.nr_readable, 1);
	worker->poll.heard = true;
	return 1;
}

static int sleep_in_ring(void *arg, uint64_t deadline_ns)
{
	struct worker *worker = arg;
	struct os_uring *ring = &worker->poll.ring;
	int bits;

	if (chaos_says(CHAOS_WAKE))
		return 0;
	os_uring_arm_word(ring, &worker->seat.word, SEAT_PARKED);
	os_uring_arm_read(ring, worker->rt->poller.epoll);
	bits = os_uring_sleep(ring, deadline_ns);
	if (bits >= 0)
		return bits & OS_URING_READ ? readable(worker) : 0;
	if (bits == -ETIMEDOUT)
		return bits;
	/* A seccomp filter came later: once more, in epoll. */
	worker->poll.denied = true;
	return 1;
}

static int sleep_in_epoll(void *arg, uint64_t deadline_ns)
{
	struct worker *worker = arg;
	struct sley *rt = worker->rt;
	int eventfd = rt->idle.eventfd;
	unsigned int bits;

	if (chaos_says(CHAOS_WAKE))
		return 0;
	bits = os_poll_two(eventfd, rt->poller.epoll, deadline_ns);
	if (bits & OS_POLL_FIRST)
		os_eventfd_clear(eventfd);
	if (bits & OS_POLL_SECOND)
		return readable(worker);
	return !bits && os_now() >= deadline_ns ? -ETIMEDOUT : 0;
}

/*
 * The ring of @worker; made when the worker is in the poller for the first time.  A
 * runtime without worker threads may be in a process that has one thread: see
 * os/uring.h.
 */
static bool has_ring(struct worker *worker)
{
	struct poller_ring *poll = &worker->poll;

	if (likely(os_uring_exists(&poll->ring) || poll->denied))
		return !poll->denied;
	poll->denied = !worker->rt->nr_workers ||
		       worker->rt->config.no_io_uring ||
		       os_uring_create(&poll->ring) != 0;
	return !poll->denied;
}

bool poller_sit(struct worker *worker, struct idle_look *look)
{
	struct poller *poller = &worker->rt->poller;
	uint32_t taken = 0;

	if (!load_acquire(&poller->nr_watched)) /* PW1 */
		return false;
	/* relaxed: the seat publishes nothing; only its order of changes counts. */
	if (!cas_relaxed(&poller->taken, &taken, worker->index + 1))
		return false;
	look->by_eventfd = !has_ring(worker);
	look->sleep = look->by_eventfd ? sleep_in_epoll : sleep_in_ring;
	return true;
}

void poller_leave(struct worker *worker)
{
	struct sley *rt = worker->rt;

	/* relaxed: as above. */
	store_relaxed(&rt->poller.taken, 0);
	/* The free seat is as work: a worker that parks sees it, or is seen. */
	if (unlikely(!rt->nr_workers) &&
	    idle_parked(idle_counts_after_work(&rt->idle)))
		idle_wake_one(&rt->idle);
}

void poller_ring_end(struct worker *worker)
{
	os_uring_destroy(&worker->poll.ring);
}

/* ---- edges ------------------------------------------------------------------------- */

/*
 * The last search counts for a quarter.  A number beyond EDGES_MAX says no more than
 * EDGES_MAX: else one long stretch of work would outweigh many short stretches.
 */
bool poller_gathers(struct worker *worker)
{
	struct poller_ring *poll = &worker->poll;
	uint32_t nr = poll->nr_edges;

	if (!nr)
		return false;
	if (nr > EDGES_MAX)
		nr = EDGES_MAX;
	poll->nr_edges = 0;
	poll->average += nr * (EDGE / 4) - poll->average / 4;
	return poll->average >= EDGES_GATHER * EDGE;
}

/* ---- the monitor ------------------------------------------------------------------- */

bool poller_wanted_settled(struct sley *rt)
{
	return add_release(&rt->poller.nr_watched, 0); /* PW2 */
}

void poller_look_after(struct sley *rt)
{
	if (unlikely(poller_is_vacant(rt)))
		idle_notify(&rt->idle);
}
