/* SPDX-License-Identifier: MIT */
/*
 * futex.c - the reference `futex`: the cost in the kernel of waking a sleeping
 * thread.  Only a pool whose threads do not sleep can be faster.
 *
 * wake      one thread sleeps on CPU 1; the waker spins on CPU 0
 * urgent    the same without pinning, beside threads that spin
 * idle      the same thread, asleep
 * rate      the same thread, woken once per millisecond
 * blocking  the thread is woken and wakes the waker, which sleeps meanwhile
 * subprocess  the same between two processes, the other one on CPU 1
 * client-rtt  the same, each on a CPU (`parked`), and both on the same CPU (`near`)
 * domain-yield  the same, both on the same CPU, without a pause: half of a trip
 */
#include "../measure.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct sleeper {
	uint32_t posted; /* the futex: number of jobs handed over */
	uint32_t done;   /* number of jobs that have run          */
	uint64_t first;  /* when the last job began               */
	bool stop;
};

static void *sleeper_run(void *arg)
{
	struct sleeper *s = arg;

	for (uint32_t seen = 0;; seen++) {
		while (__atomic_load_n(&s->posted, __ATOMIC_ACQUIRE) == seen)
			syscall(SYS_futex, &s->posted, FUTEX_WAIT_PRIVATE, seen,
				NULL, NULL, 0);
		s->first = measure_now();
		if (s->stop)
			return NULL;
		__atomic_store_n(&s->done, seen + 1, __ATOMIC_RELEASE);
	}
}

static void sleeper_post(struct sleeper *s)
{
	__atomic_fetch_add(&s->posted, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &s->posted, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void spin_for(uint64_t ns)
{
	uint64_t start = measure_now();

	while (measure_now() - start < ns)
		measure_pause();
}

static void run_wake(const struct measure *m)
{
	static uint64_t samples[WAKE_SAMPLES];
	uint32_t nr = m->quick ? 10 : WAKE_SAMPLES;
	struct sleeper s = { 0 };
	pthread_t thread;

	measure_pin(1);
	MEASURE_CHECK(m, pthread_create(&thread, NULL, sleeper_run, &s) == 0);
	measure_pin(0);
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t start;

		spin_for(WAKE_IDLE_NS);
		start = measure_now();
		sleeper_post(&s);
		while (__atomic_load_n(&s.done, __ATOMIC_ACQUIRE) == i)
			measure_pause();
		samples[i] = s.first - start;
	}
	MEASURE_CHECK(m, s.done == nr);
	s.stop = true;
	sleeper_post(&s);
	pthread_join(thread, NULL);
	measure_report_percentiles(samples, nr);
	/* The same minimum for all ways to sleep. */
	measure_report_tail("uring", samples, nr);
	measure_report_tail("epoll", samples, nr);
}

static void *spin_until_over(void *arg)
{
	while (!__atomic_load_n((bool *)arg, __ATOMIC_RELAXED))
		measure_pause();
	return NULL;
}

/* A thread is woken for each job, beside a spinning thread for each worker. */
static void run_urgent(const struct measure *m)
{
	static const char *const names[] = { "fork", "for", "turn", "node" };
	static uint64_t samples[URGENT_SAMPLES];
	uint32_t nr = m->quick ? 10 : URGENT_SAMPLES;
	struct sleeper s = { 0 };
	pthread_t thread, spinning[64];
	bool over = false;

	MEASURE_CHECK(m, pthread_create(&thread, NULL, sleeper_run, &s) == 0);
	for (int i = 0; i < m->workers; i++)
		MEASURE_CHECK(m, pthread_create(&spinning[i], NULL,
						spin_until_over, &over) == 0);
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t start;

		measure_sleep_until(measure_now() + URGENT_PAUSE_NS);
		start = measure_now();
		sleeper_post(&s);
		while (__atomic_load_n(&s.done, __ATOMIC_ACQUIRE) == i)
			usleep(50);
		samples[i] = s.first - start;
	}
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (int i = 0; i < m->workers; i++)
		pthread_join(spinning[i], NULL);
	s.stop = true;
	sleeper_post(&s);
	pthread_join(thread, NULL);
	for (int i = 0; i < 4; i++)
		measure_report_tail(names[i], samples, nr);
}

static void run_idle(const struct measure *m)
{
	uint64_t ns = m->quick ? 50000000 : IDLE_NS, cpu;
	struct sleeper s = { 0 };
	pthread_t thread;

	MEASURE_CHECK(m, pthread_create(&thread, NULL, sleeper_run, &s) == 0);
	usleep(10000);
	cpu = measure_cpu_now();
	usleep((useconds_t)(ns / 1000));
	measure_report("cpu_ms", (double)(measure_cpu_now() - cpu) / 1e6);
	s.stop = true;
	sleeper_post(&s);
	pthread_join(thread, NULL);
}

static void tick(void *arg)
{
	sleeper_post((struct sleeper *)arg);
}

static void run_rate(const struct measure *m)
{
	struct sleeper s = { 0 };
	pthread_t thread;

	MEASURE_CHECK(m, pthread_create(&thread, NULL, sleeper_run, &s) == 0);
	measure_await(m, &s.done, measure_rate(m, tick, &s));
	s.stop = true;
	sleeper_post(&s);
	pthread_join(thread, NULL);
}

/* ---- there and back ------------------------------------------------------- */

/* Each side sleeps on a word. */
struct trip {
	uint32_t asked, answered;
	int flag; /* FUTEX_PRIVATE_FLAG, or 0 between processes */
	bool stop;
};

static void trip_wait(const struct trip *t, uint32_t *word, uint32_t seen)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == seen)
		syscall(SYS_futex, word, FUTEX_WAIT | t->flag, seen, NULL, NULL,
			0);
}

static void trip_post(const struct trip *t, uint32_t *word)
{
	__atomic_fetch_add(word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, word, FUTEX_WAKE | t->flag, 1, NULL, NULL, 0);
}

static void *answer_all(void *arg)
{
	struct trip *t = arg;

	for (uint32_t seen = 0;; seen++) {
		trip_wait(t, &t->asked, seen);
		if (t->stop)
			return NULL;
		trip_post(t, &t->answered);
	}
}

static uint64_t trip_samples[BLOCKING_SAMPLES];

static uint64_t ask_all(const struct measure *m, struct trip *t)
{
	uint32_t nr = m->quick ? 10 : BLOCKING_SAMPLES;

	for (uint32_t i = 0; i < nr; i++) {
		uint64_t start;

		measure_sleep_until(measure_now() + BLOCKING_PAUSE_NS);
		start = measure_now();
		trip_post(t, &t->asked);
		trip_wait(t, &t->answered, i);
		trip_samples[i] = measure_now() - start;
	}
	MEASURE_CHECK(m, t->answered == nr);
	t->stop = true;
	trip_post(t, &t->asked);
	return nr;
}

static void run_blocking(const struct measure *m)
{
	struct trip t = { .flag = FUTEX_PRIVATE_FLAG };
	pthread_t thread;

	MEASURE_CHECK(m, pthread_create(&thread, NULL, answer_all, &t) == 0);
	measure_report_percentiles(trip_samples, ask_all(m, &t));
	pthread_join(thread, NULL);
}

/* Another process on CPU 1 answers while @ask(@t) runs here: what that returns. */
static uint64_t ask_process(const struct measure *m,
			    uint64_t (*ask)(const struct measure *m,
					    struct trip *t))
{
	uint64_t result;
	struct trip *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	MEASURE_CHECK(m, t != MAP_FAILED);
	if (CPU_COUNT(measure_cpus()) < 2)
		exit(MEASURE_SKIP);
	pid = fork();
	MEASURE_CHECK(m, pid >= 0);
	if (pid == 0) {
		measure_pin(1);
		(void)answer_all(t);
		_exit(0);
	}
	result = ask(m, t);
	MEASURE_CHECK(m, waitpid(pid, NULL, 0) == pid);
	return result;
}

/* Our worker in a ring and in epoll are both compared with it. */
static void run_subprocess(const struct measure *m)
{
	uint64_t nr = ask_process(m, ask_all);

	measure_report_percentiles(trip_samples, nr);
	measure_report_tail("epoll", trip_samples, nr);
}

static void run_client_rtt(const struct measure *m)
{
	measure_pin(0);
	measure_report_tail("parked", trip_samples, ask_process(m, ask_all));
	measure_pin(1);
	measure_report_tail("near", trip_samples, ask_process(m, ask_all));
}

/* The time of all trips. */
static uint64_t ask_at_once(const struct measure *m, struct trip *t)
{
	uint32_t nr = (uint32_t)measure_size(m, HAND_OVER_TRIPS);
	uint64_t start = measure_now();

	for (uint32_t i = 0; i < nr; i++) {
		trip_post(t, &t->asked);
		trip_wait(t, &t->answered, i);
	}
	start = measure_now() - start;
	MEASURE_CHECK(m, t->answered == nr);
	t->stop = true;
	trip_post(t, &t->asked);
	return start;
}

static void run_domain_yield(const struct measure *m)
{
	double ns;

	measure_pin(1);
	ns = (double)ask_process(m, ask_at_once);
	measure_report("ns", ns / 2 / (double)measure_size(m, HAND_OVER_TRIPS));
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "wake", run_wake },
		{ "urgent", run_urgent },
		{ "idle", run_idle },
		{ "rate", run_rate },
		{ "blocking", run_blocking },
		{ "subprocess", run_subprocess },
		{ "client-rtt", run_client_rtt },
		{ "domain-yield", run_domain_yield },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
