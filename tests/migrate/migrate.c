/* SPDX-License-Identifier: MIT */
/*
 * migrate.c - so many migrations, and what must survive each of them.
 *
 *   migrate N [workers]
 *
 * A woken task of a migratable runtime goes to the worker of who wakes it.  So
 * there is a pinned task on each of the workers, a herald, and a herd of tasks
 * that goes round: when all of them wait for the next herald, it wakes them, and
 * they are there.  Each migration is checked:
 *
 *   errno                   is what the task set before it waited
 *   a thread-local          is that of the thread the task is on now
 *   a local of the task     is its own
 *   what it had in registers, integers and floating point, is unchanged
 *
 * Built by migrate.py with one compiler after the other, at each level of
 * optimization, with and without -fPIC and -flto: what a compiler keeps over a
 * call is the point.  Therefore the program follows docs/TLS.md: it looks at
 * errno and thread-locals in functions of their own.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sley/sley.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define HERD 48
#define WORKERS_MAX 8

#define CHECK(expr)                                                            \
	((expr) ? (void)0                                                      \
		: (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #expr),  \
		   abort()))

struct station {
	struct sley_sem wait;      /* here waits the herd    */
	struct sley_event arrived; /* automatic: all of them */
	atomic_int nr_arrived;
	struct sley_task herald;
};

static struct station station[WORKERS_MAX];
static struct sley_group heralds = SLEY_GROUP_INIT;
static atomic_long nr_moves, nr_wakes;
static atomic_bool over;
static long wanted;
static int workers = 2;

/* ---- what belongs to a thread ---------------------------------------------- */

static _Thread_local struct thread {
	pthread_t self;
	int worker;
	int known;
} thread_here;

static struct sley_local key = SLEY_LOCAL_INIT(NULL);

/* Not inlined, and what comes back is nothing a compiler can know. */
static __attribute__((noinline)) struct thread *find_thread(void)
{
	struct thread *thread = &thread_here;

	__asm__ volatile("" : "+r"(thread));
	return thread;
}

static __attribute__((noinline)) void set_errno(int value)
{
	errno = value;
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) int get_errno(void)
{
	__asm__ volatile("" ::: "memory");
	return errno;
}

/* Each thread is one worker, and knows it after the first visit. */
static __attribute__((noinline)) void check_thread(void)
{
	struct thread *thread = find_thread();

	if (!thread->known) {
		thread->self = pthread_self();
		thread->worker = sley_worker();
		thread->known = 1;
	}
	CHECK(pthread_equal(thread->self, pthread_self()));
	CHECK(thread->worker == sley_worker());
}

/* ---- the herd ---------------------------------------------------------------- */

/* Waits at @at until its herald wakes all. */
static void wait_at(struct station *at)
{
	if (atomic_fetch_add(&at->nr_arrived, 1) == HERD - 1)
		sley_event_set(&at->arrived);
	CHECK(sley_sem_acquire(&at->wait, 1) == 0);
}

static void wander(void *arg)
{
	long number = (long)(intptr_t)arg;
	long a = number, b = 2 * number, moves = 0, wakes = 0;
	double x = (double)number;
	int worker = sley_worker();

	CHECK(sley_local_set(&key, arg) == 0);
	while (!atomic_load(&over)) {
		set_errno(1000 + (int)number);
		wait_at(&station[++wakes % workers]);
		CHECK(get_errno() == 1000 + (int)number);
		CHECK(sley_local_get(&key) == arg);
		check_thread();
		a++;
		b += 3;
		x += 0.5;
		moves += sley_worker() != worker;
		worker = sley_worker();
		if (wakes % 16 == 0) {
			atomic_fetch_add(&nr_moves, moves);
			moves = 0;
		}
	}
	CHECK(a == number + wakes);
	CHECK(b == 2 * number + 3 * wakes);
	CHECK(x == (double)number + 0.5 * (double)wakes);
	atomic_fetch_add(&nr_moves, moves);
	atomic_fetch_add(&nr_wakes, wakes);
}

/* ---- the heralds -------------------------------------------------------------- */

static void call_all(void *arg)
{
	struct station *here = arg;
	int worker = sley_worker();

	while (!atomic_load(&over)) {
		CHECK(sley_event_wait(&here->arrived) == 0);
		if (atomic_load(&over))
			break;
		CHECK(sley_worker() == worker);
		atomic_store(&here->nr_arrived, 0);
		if (atomic_load(&nr_moves) >= wanted)
			atomic_store(&over, true);
		sley_sem_release(&here->wait, HERD);
	}
	/* The others wait for nobody any more. */
	for (int i = 0; i < workers; i++)
		sley_event_set(&station[i].arrived);
}

/* Who meets all others at the same time has a worker for itself. */
static void appoint_herald(void *arg)
{
	static atomic_int nr_here;
	struct station *here = arg;

	atomic_fetch_add(&nr_here, 1);
	while (atomic_load(&nr_here) < workers)
		sched_yield();
	CHECK(sley_spawn_with(&heralds, &here->herald, call_all, here,
			      SLEY_OPTIONS(.pinned = true)) == 0);
}

static void run(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	static struct sley_task task[HERD];

	(void)arg;
	for (int i = 0; i < workers; i++) {
		sley_event_init(&station[i].arrived, true, false);
		sley_spawn(&group, &task[i], appoint_herald, &station[i]);
	}
	sley_join(&group);
	for (intptr_t i = 0; i < HERD; i++)
		sley_spawn(&group, &task[i], wander, (void *)(i + 1));
	sley_join(&group);
	sley_join(&heralds);
}

int main(int argc, char **argv)
{
	struct sley_config config = {
		.size = sizeof(config),
		.migratable = true,
		.stack_kib = 64,
	};

	wanted = argc > 1 ? atol(argv[1]) : 20000;
	if (argc > 2)
		workers = atoi(argv[2]);
	CHECK(workers >= 2 && workers <= WORKERS_MAX);
	config.workers = workers;
	CHECK(sley_run(&config, run, NULL) == 0);
	printf("%ld migrations, %ld wakes\n", atomic_load(&nr_moves),
	       atomic_load(&nr_wakes));
	return 0;
}
