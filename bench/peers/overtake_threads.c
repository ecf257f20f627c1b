/* SPDX-License-Identifier: MIT */
/*
 * overtake_threads.c - the references of row `domain-latency`: what the kernel does alone.
 * Each hog has as many threads as there are CPUs, the urgent process one thread, which
 * sleeps on a word:
 *
 *   domain-latency-plain  all threads alike
 *   domain-latency-nice   the urgent thread and its submitter have a nice value of -10
 *   domain-latency-fifo   both are SCHED_FIFO
 *
 * A row whose class this process may not use is left out.
 */
#include "../problems/overtake.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>

struct threads {
	enum { PLAIN, NICE, FIFO } how;
	struct overtake *overtake;
	pthread_t thread;
	uint32_t posted; /* the futex */
	bool stop;
};

/* ---- a hog -------------------------------------------------------------------------- */

struct hog {
	struct overtake *overtake;
	int nth;
};

static void *hog_thread(void *arg)
{
	const struct hog *hog = arg;
	uint32_t until_yield = hog->overtake->yield_pieces;

	while (!overtake_is_over(hog->overtake)) {
		overtake_piece(hog->overtake, hog->nth);
		if (--until_yield == 0) {
			sched_yield();
			until_yield = hog->overtake->yield_pieces;
		}
	}
	return NULL;
}

static void hog_run(struct overtake *overtake, int nth, void *arg)
{
	int nr = CPU_COUNT(measure_cpus());
	struct hog hog = { overtake, nth };
	pthread_t threads[CROWD_MAX];

	(void)arg;
	MEASURE_CHECK(overtake->m, nr <= CROWD_MAX);
	for (int i = 0; i < nr; i++)
		MEASURE_CHECK(overtake->m,
			      pthread_create(&threads[i], NULL, hog_thread,
					     &hog) == 0);
	__atomic_fetch_add(&overtake->ready, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
}

/* ---- the urgent process ------------------------------------------------------------- */

static bool become_urgent(const struct threads *threads)
{
	struct sched_param param = { .sched_priority = 1 };

	switch (threads->how) {
	case NICE:
		return setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid),
				   -10) == 0;
	case FIFO:
		return sched_setscheduler(0, SCHED_FIFO, &param) == 0;
	default:
		return true;
	}
}

static void *urgent_thread(void *arg)
{
	struct threads *threads = arg;

	for (uint32_t i = 0;; i++) {
		while (__atomic_load_n(&threads->posted, __ATOMIC_ACQUIRE) == i)
			syscall(SYS_futex, &threads->posted, FUTEX_WAIT_PRIVATE,
				i, NULL, NULL, 0);
		if (threads->stop)
			return NULL;
		overtake_run(threads->overtake, i);
	}
}

/* The new thread inherits what the starter became. */
static void urgent_begin(struct overtake *overtake, void *arg)
{
	struct threads *threads = arg;

	threads->overtake = overtake;
	MEASURE_CHECK(overtake->m, become_urgent(threads));
	MEASURE_CHECK(overtake->m, pthread_create(&threads->thread, NULL,
						  urgent_thread, threads) == 0);
}

static void post(struct threads *threads)
{
	__atomic_fetch_add(&threads->posted, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &threads->posted, FUTEX_WAKE_PRIVATE, 1, NULL, NULL,
		0);
}

static void urgent_submit(struct overtake *overtake, uint32_t i, void *arg)
{
	(void)overtake;
	(void)i;
	post(arg);
}

static void urgent_end(struct overtake *overtake, void *arg)
{
	struct threads *threads = arg;

	(void)overtake;
	threads->stop = true;
	post(threads);
	pthread_join(threads->thread, NULL);
}

/* ---- the rows ----------------------------------------------------------------------- */

/* In a process apart: the class is changed for good. */
static void measure_one(const struct measure *m, const char *name, int how,
			uint32_t yield_pieces)
{
	pid_t pid = crowd_fork(m);

	if (pid == 0) {
		struct threads threads = { .how = how };
		struct overtake_way way = { hog_run, urgent_begin,
					    urgent_submit, urgent_end,
					    &threads };

		overtake_measure(m, name, OVERTAKE_TASK_PIECES, yield_pieces,
				 &way);
		fflush(stdout);
		_exit(0);
	}
	crowd_join(m, pid);
}

/* Asked in a process apart, which ends. */
static bool may_be(const struct measure *m, int how)
{
	struct threads threads = { .how = how };
	int status;
	pid_t pid = crowd_fork(m);

	if (pid == 0)
		_exit(become_urgent(&threads) ? 0 : 1);
	MEASURE_CHECK(m, waitpid(pid, &status, 0) == pid);
	return status == 0;
}

static void measure_all(const struct measure *m, int how)
{
	crowd_needs_two_cpus();
	if (!may_be(m, how)) {
		fprintf(stderr, "this process may not be that urgent\n");
		exit(MEASURE_SKIP);
	}
	measure_one(m, "yield", how, OVERTAKE_YIELD_PIECES);
	measure_one(m, "long", how, OVERTAKE_NEVER);
}

static void run_plain(const struct measure *m)
{
	measure_all(m, PLAIN);
}

static void run_nice(const struct measure *m)
{
	measure_all(m, NICE);
}

static void run_fifo(const struct measure *m)
{
	measure_all(m, FIFO);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "domain-latency-plain", run_plain },
		{ "domain-latency-nice", run_nice },
		{ "domain-latency-fifo", run_fifo },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
