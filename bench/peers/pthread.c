/* SPDX-License-Identifier: MIT */
/*
 * pthread.c - the peer `pthread`: the primitives of the C library.
 *
 * rwlock    pthread_rwlock_t, one thread per worker
 * sem       sem_t
 * once      pthread_once()
 * blocking  a thread is started for each call, and joined
 */
#include "../measure.h"

#include <pthread.h>
#include <semaphore.h>

#define READERS_MAX 64

struct reading {
	pthread_rwlock_t lock;
	uint64_t nr;
};

static void *read_often(void *arg)
{
	struct reading *r = arg;

	for (uint64_t i = 0; i < r->nr; i++) {
		pthread_rwlock_rdlock(&r->lock);
		pthread_rwlock_unlock(&r->lock);
	}
	return NULL;
}

static void run_rwlock(const struct measure *m)
{
	struct reading r = { PTHREAD_RWLOCK_INITIALIZER,
			     measure_size(m, RWLOCK_TURNS) };
	pthread_t threads[READERS_MAX];
	uint64_t start;

	MEASURE_CHECK(m, m->workers <= READERS_MAX);
	start = measure_now();
	for (int i = 1; i < m->workers; i++)
		MEASURE_CHECK(m, pthread_create(&threads[i], NULL, read_often,
						&r) == 0);
	read_often(&r);
	for (int i = 1; i < m->workers; i++)
		pthread_join(threads[i], NULL);
	measure_report_each("ns", start, (uint64_t)m->workers * r.nr);
	MEASURE_CHECK(m, pthread_rwlock_trywrlock(&r.lock) == 0);
}

static void run_sem(const struct measure *m)
{
	uint64_t nr = measure_size(m, SEM_TURNS), right = 0, start;
	int value = 0;
	sem_t sem;

	sem_init(&sem, 0, 1);
	start = measure_now();
	for (uint64_t i = 0; i < nr; i++) {
		right += sem_wait(&sem) == 0;
		sem_post(&sem);
	}
	measure_report_each("ns", start, nr);
	sem_getvalue(&sem, &value);
	MEASURE_CHECK(m, right == nr && value == 1);
}

static uint64_t times;

static void count(void)
{
	times++;
}

static void run_once(const struct measure *m)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint64_t nr = measure_size(m, ONCE_TURNS), start = measure_now();

	for (uint64_t i = 0; i < nr; i++)
		pthread_once(&once, count);
	measure_report_each("ns", start, nr);
	MEASURE_CHECK(m, times == 1);
}

static void *count_call(void *arg)
{
	uint64_t *calls = arg;

	++*calls;
	return NULL;
}

static void run_blocking(const struct measure *m)
{
	static uint64_t samples[BLOCKING_SAMPLES];
	uint64_t nr = m->quick ? 10 : BLOCKING_SAMPLES, calls = 0;

	for (uint64_t i = 0; i < nr; i++) {
		pthread_t thread;
		uint64_t start;

		measure_sleep_until(measure_now() + BLOCKING_PAUSE_NS);
		start = measure_now();
		MEASURE_CHECK(m, pthread_create(&thread, NULL, count_call,
						&calls) == 0);
		pthread_join(thread, NULL);
		samples[i] = measure_now() - start;
	}
	MEASURE_CHECK(m, calls == nr);
	measure_report_percentiles(samples, nr);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "rwlock", run_rwlock },
		{ "sem", run_sem },
		{ "once", run_once },
		{ "blocking", run_blocking },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
