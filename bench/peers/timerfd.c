/* SPDX-License-Identifier: MIT */
/*
 * timerfd.c - the reference `timerfd` of the row `periodic`: a thread for each periodic
 * job, which reads a timer of the kernel, beside threads that compute.  What the machine
 * itself does to a job that must run on time.
 */
#include "../measure.h"

#include <pthread.h>
#include <sys/timerfd.h>

#define TASK_NS 100000u

struct job {
	const struct measure *m;
	pthread_t thread;
	uint64_t runs;
	uint64_t *late_ns;
};

static bool over;

static void *be_busy(void *arg)
{
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
		measure_pause();
	return arg;
}

static void *read_timer(void *arg)
{
	struct job *job = arg;
	uint64_t due_ns = measure_now() + PERIODIC_NS, nr = 0;
	struct itimerspec times = {
		.it_value = { .tv_sec = (time_t)(due_ns / 1000000000u),
			      .tv_nsec = (long)(due_ns % 1000000000u) },
		.it_interval = { .tv_nsec = PERIODIC_NS },
	};
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);

	MEASURE_CHECK(job->m, fd >= 0);
	MEASURE_CHECK(job->m, timerfd_settime(fd, TFD_TIMER_ABSTIME, &times,
					      NULL) == 0);
	for (uint64_t i = 0; i < job->runs; i++) {
		uint64_t late_ns;

		MEASURE_CHECK(job->m, read(fd, &nr, sizeof(nr)) == sizeof(nr));
		/* From the first of the times that this read is for. */
		late_ns = measure_now() - due_ns;
		job->late_ns[i] = late_ns > TASK_NS ? late_ns - TASK_NS : 0;
		due_ns += nr * PERIODIC_NS;
	}
	close(fd);
	return NULL;
}

static void run_periodic(const struct measure *m)
{
	static uint64_t late_ns[PERIODIC_BUSY * PERIODIC_RUNS];
	static pthread_t busy[64];
	static struct job job[PERIODIC_BUSY];
	uint64_t runs = m->quick ? 10 : PERIODIC_RUNS;

	for (int i = 0; i < m->workers; i++)
		MEASURE_CHECK(m, pthread_create(&busy[i], NULL, be_busy,
						NULL) == 0);
	for (int i = 0; i < PERIODIC_BUSY; i++) {
		job[i] = (struct job){ m, 0, runs,
				       late_ns + (uint64_t)i * runs };
		usleep(PERIODIC_NS / PERIODIC_BUSY / 1000);
		MEASURE_CHECK(m, pthread_create(&job[i].thread, NULL,
						read_timer, &job[i]) == 0);
	}
	for (int i = 0; i < PERIODIC_BUSY; i++)
		pthread_join(job[i].thread, NULL);
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (int i = 0; i < m->workers; i++)
		pthread_join(busy[i], NULL);
	measure_report_percentiles(late_ns, PERIODIC_BUSY * runs);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "periodic", run_periodic },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
