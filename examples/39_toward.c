/* SPDX-License-Identifier: MIT */
/*
 * 39_toward.c - send each task toward the worker that has the least to do: the
 * shortest queue, and among queues of the same length the lowest load.
 *
 *   cc 39_toward.c $(pkg-config --cflags --libs sley)
 */
#define _POSIX_C_SOURCE 200809L /* pthread_barrier_wait() */
#include <pthread.h>
#include <sley/sley.h>
#include <stdio.h>

enum { WORKERS = 4, TASKS = 48, UNEVEN = 5 };

static void hold_worker(void *arg)
{
	pthread_barrier_wait(arg); /* held */
	pthread_barrier_wait(arg); /* and let go */
}

static void work(void *arg)
{
	(void)arg;
}

static uint32_t busyness(const struct sley *rt, int worker)
{
	struct sley_worker_stats stats = SLEY_WORKER_STATS_INIT;
	int err = sley_get_worker_stats(rt, worker, &stats);

	return err ? UINT32_MAX : stats.ready * 1024 + stats.load;
}

int main(void)
{
	int to = 0, nr_wrong = 0;
	pthread_barrier_t barrier;
	struct sley *rt;

	if (pthread_barrier_init(&barrier, NULL, WORKERS + 1) ||
	    sley_create(&rt, SLEY_CONFIG(.workers = WORKERS)))
		return 1;
	for (int i = 0; i < WORKERS; i++)
		if (sley_schedule_on(rt, hold_worker, &barrier, NULL))
			return 1;
	pthread_barrier_wait(&barrier); /* all are held: lengths are exact */
	for (int i = 0; i < TASKS; i++) {
		for (int w = 0; i >= UNEVEN && w < WORKERS; w++)
			to = busyness(rt, w) < busyness(rt, to) ? w : to;
		if (sley_schedule_on(rt, work, NULL,
				     SLEY_OPTIONS(.toward = SLEY_ON_WORKER(to))))
			return 1;
	}
	for (int w = 0; w < WORKERS; w++) {
		printf("%u tasks at worker %d\n", busyness(rt, w) / 1024, w);
		nr_wrong += busyness(rt, w) / 1024 != TASKS / WORKERS;
	}
	pthread_barrier_wait(&barrier);
	return sley_destroy(rt) || nr_wrong;
}
