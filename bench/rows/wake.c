/* SPDX-License-Identifier: MIT */
/*
 * wake.c - row `wake`: from the submission to the first instruction of a task
 * in a pool that has slept for 2 ms.
 *
 *   p50_ns        the worker sleeps on its futex
 *   uring_p50_ns  the worker sleeps for descriptors, too, in a ring of io_uring
 *   epoll_p50_ns  the same in epoll
 *
 * The submitter spins on one CPU, and only the pool runs on a second CPU.  Without
 * pinning, the kernel tends to put the worker on the CPU of the submitter, where the
 * worker waits for a tick.  Threads inherit the mask of the thread that starts them.
 *
 * A separate program, linked with the internal library: no public call makes a worker
 * sleep for a descriptor of the row's own.
 */
#include "../measure.h"

#include "core/sched/poller.h"
#include "os/eventfd.h"

#include <sley/sley.h>

enum way { ON_FUTEX, IN_URING, IN_EPOLL, NR_WAYS };

struct waking {
	uint64_t first; /* when the task began */
	uint64_t ran;
};

static void arrive(void *arg)
{
	struct waking *w = arg;

	w->first = measure_now();
	__atomic_fetch_add(&w->ran, 1, __ATOMIC_RELEASE);
}

static void spin_for(uint64_t ns)
{
	uint64_t start = measure_now();

	while (measure_now() - start < ns)
		measure_pause();
}

/* Does the worker sleep as it should?  There may be no io_uring. */
static bool sleeps(struct sley *rt, enum way way)
{
	static const uint32_t word[] = { SEAT_PARKED, SEAT_PARKED,
					 SEAT_POLLING };

	spin_for(10 * WAKE_IDLE_NS);
	/* relaxed: after the pause the worker sleeps for good. */
	return load_relaxed(&rt->worker[0]->seat.word) == word[way] &&
	       (way == ON_FUTEX || load_relaxed(&rt->poller.taken));
}

static void wake_once(const struct measure *m, struct sley *rt,
		      struct waking *w, uint64_t *sample)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	uint64_t ran = w->ran, start;

	spin_for(WAKE_IDLE_NS);
	start = measure_now();
	MEASURE_CHECK(m,
		      sley_spawn_on(rt, &group, &task, arrive, w, NULL) == 0);
	while (__atomic_load_n(&w->ran, __ATOMIC_ACQUIRE) == ran)
		measure_pause();
	*sample = w->first - start;
	sley_join(&group);
}

static void wake_often(const struct measure *m, enum way way)
{
	static const char *const names[] = { NULL, "uring", "epoll" };
	static uint64_t samples[WAKE_SAMPLES];
	uint64_t nr = m->quick ? 10 : WAKE_SAMPLES;
	struct waking w = { 0, 0 };
	int fd = os_eventfd_create();
	struct sley *rt;

	measure_pin(1);
	MEASURE_CHECK(
		m, sley_create(&rt, SLEY_CONFIG(.workers = 1,
						.no_io_uring = way ==
							       IN_EPOLL)) == 0);
	measure_pin(0);
	if (way != ON_FUTEX)
		MEASURE_CHECK(m, poller_watch(rt, fd) == 0);
	if (sleeps(rt, way)) {
		for (uint64_t i = 0; i < nr; i++)
			wake_once(m, rt, &w, &samples[i]);
		MEASURE_CHECK(m, w.ran == nr);
		if (way == ON_FUTEX)
			measure_report_percentiles(samples, nr);
		else
			measure_report_tail(names[way], samples, nr);
	} else {
		fprintf(stderr, "wake: there is no io_uring\n");
	}
	sley_destroy(rt);
	close(fd);
}

static void run_wake(const struct measure *m)
{
	for (int way = 0; way < NR_WAYS; way++)
		wake_often(m, (enum way)way);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "wake", run_wake },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
