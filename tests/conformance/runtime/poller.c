/* SPDX-License-Identifier: MIT */
/*
 * poller.c - a worker that sleeps for descriptors, too, hears of everything else that
 * wakes a worker: src/core/sched/poller.h.  Each test runs with io_uring, where the
 * kernel has it, and with epoll.
 */
#include "conformance/bound.h"

#include "core/sched/poller.h"
#include "hostile/filter.h"
#include "os/clock.h"
#include "os/eventfd.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { ROUNDS = 1000, SUBMITTERS = 4 };

static struct sley *start_kind(bool epoll)
{
	struct sley_config config = *test_config();

	config.no_io_uring = epoll;
	return start_with(&config);
}

/* The worker in the poller sleeps; -1: none does. */
static int poller_index(struct sley *rt)
{
	uint32_t taken = load_relaxed(&rt->poller.taken);

	if (!taken || !rt->nr_workers ||
	    !idle_is_parked(&rt->worker[taken - 1]->seat))
		return -1;
	return (int)taken - 1;
}

static bool all_sleep(struct sley *rt)
{
	return idle_parked(idle_counts(&rt->idle)) == rt->nr_workers &&
	       poller_index(rt) >= 0;
}

static uint64_t nr_readable(struct sley *rt)
{
	return load_relaxed(&rt->poller.nr_readable);
}

/* An eventfd that @rt watches. */
static int watch(struct sley *rt)
{
	int fd = os_eventfd_create();

	CHECK_GE(fd, 0);
	CHECK_EQ(poller_watch(rt, fd), 0);
	CHECK(poller_wanted(rt));
	return fd;
}

static void unwatch(struct sley *rt, int fd)
{
	poller_unwatch(rt, fd);
	close(fd);
}

/* Signals @fd, and takes the signal back when a worker has noticed it. */
static void ring(struct sley *rt, int fd)
{
	uint64_t nr = nr_readable(rt);

	os_eventfd_signal(fd);
	CHECK_EVENTUALLY(nr_readable(rt) > nr);
	os_eventfd_clear(fd);
}

static void each_kind(void (*test)(struct sley *rt))
{
	for (int epoll = 0; epoll < 2; epoll++) {
		struct sley *rt = start_kind(epoll);

		test(rt);
		stop(rt);
	}
}

/* ---- descriptors ------------------------------------------------------------------- */

static void hear_of_descriptors(struct sley *rt)
{
	int fd = watch(rt), other = watch(rt);

	for (int i = 0; i < 20; i++) {
		if (i % 2)
			CHECK_EVENTUALLY(all_sleep(rt));
		ring(rt, fd);
		ring(rt, other);
	}
	unwatch(rt, other);
	CHECK_EVENTUALLY(all_sleep(rt));
	ring(rt, fd);
	unwatch(rt, fd);
	CHECK(!poller_wanted(rt));
	fd = watch(rt);
	CHECK_EVENTUALLY(all_sleep(rt));
	ring(rt, fd);
	unwatch(rt, fd);
}

TEST_WORKERS(a_readable_descriptor_wakes_a_worker)
{
	need_workers(1);
	each_kind(hear_of_descriptors);
}

static void find_it_readable(struct sley *rt)
{
	int fd = os_eventfd_create();

	CHECK_EVENTUALLY(idle_parked(idle_counts(&rt->idle)) == rt->nr_workers);
	test_nap_ms(50); /* the monitor sleeps, too */
	os_eventfd_signal(fd);
	CHECK_EQ(poller_watch(rt, fd), 0);
	CHECK_EVENTUALLY(nr_readable(rt) > 0);
	unwatch(rt, fd);
}

TEST_WORKERS(a_descriptor_may_be_readable_from_the_start)
{
	need_workers(1);
	each_kind(find_it_readable);
}

struct alone {
	struct sley *rt;
	int fd;
	struct sley_event heard;
};

static void wait_to_hear(void *arg)
{
	struct alone *alone = arg;

	CHECK_EQ(sley_event_wait(&alone->heard), 0);
}

static void *ring_alone(void *arg)
{
	struct alone *alone = arg;

	ring(alone->rt, alone->fd);
	sley_event_set(&alone->heard);
	return NULL;
}

static void hear_alone(struct sley *rt)
{
	struct alone alone = { rt, watch(rt), SLEY_EVENT_INIT };
	pthread_t thread = test_thread(ring_alone, &alone);

	/* The bound thread sleeps in the poller until the signal is noticed. */
	run_task(wait_to_hear, &alone);
	pthread_join(thread, NULL);
	unwatch(rt, alone.fd);
}

/* Without worker threads the bound thread watches while it sleeps. */
TEST(a_bound_thread_watches_while_it_sleeps)
{
	for (int epoll = 0; epoll < 2; epoll++) {
		struct sley_config config = config_of(SLEY_SINGLE);
		struct sley *rt;

		config.no_io_uring = epoll;
		rt = start_with(&config);
		hear_alone(rt);
		stop(rt);
	}
}

/* ---- everything else that wakes a worker --------------------------------------------- */

struct submitter {
	struct sley *rt;
	atomic_int *nr_ran;
	unsigned int seed;
};

static void count(void *arg)
{
	atomic_fetch_add((atomic_int *)arg, 1);
}

static void pause_at_random(unsigned int *seed)
{
	struct timespec pause = { .tv_nsec = rand_r(seed) % 100000 };

	if (rand_r(seed) % 4 == 0)
		nanosleep(&pause, NULL);
}

static void *submit_in_rounds(void *arg)
{
	struct submitter *s = arg;

	for (int i = 0; i < ROUNDS; i++) {
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task task;

		pause_at_random(&s->seed);
		CHECK_EQ(sley_spawn_on(s->rt, &group, &task, count, s->nr_ran,
				       NULL),
			 0);
		sley_join(&group);
	}
	return NULL;
}

/* A descriptor comes and goes, and is signalled, all the time. */
struct ringer {
	struct sley *rt;
	atomic_bool over;
};

static void *ring_in_rounds(void *arg)
{
	struct ringer *r = arg;

	while (!atomic_load(&r->over)) {
		int fd = watch(r->rt);

		for (int i = 0; i < 8; i++) {
			struct timespec pause = { .tv_nsec = 50000 };

			os_eventfd_signal(fd);
			nanosleep(&pause, NULL);
			os_eventfd_clear(fd);
		}
		unwatch(r->rt, fd);
	}
	return NULL;
}

static void submit_from_outside(struct sley *rt)
{
	struct submitter submitters[SUBMITTERS];
	struct ringer ringer = { .rt = rt };
	pthread_t threads[SUBMITTERS], ringing;
	atomic_int nr_ran = 0;
	int fd = watch(rt);

	ringing = test_thread(ring_in_rounds, &ringer);
	for (int i = 0; i < SUBMITTERS; i++) {
		submitters[i] = (struct submitter){ rt, &nr_ran, (unsigned)i };
		threads[i] = test_thread(submit_in_rounds, &submitters[i]);
	}
	for (int i = 0; i < SUBMITTERS; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&ringer.over, true);
	pthread_join(ringing, NULL);
	CHECK_EQ(atomic_load(&nr_ran), ROUNDS * SUBMITTERS);
	unwatch(rt, fd);
}

TEST_WORKERS(submissions_wake_the_worker_in_the_poller)
{
	need_workers(1);
	each_kind(submit_from_outside);
}

/* Toward each worker in turn: it may sleep in the poller, or have slept there before. */
static void *submit_toward_all(void *arg)
{
	struct submitter *s = arg;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task task;
		uint32_t worker = i % s->rt->nr_workers;

		pause_at_random(&s->seed);
		CHECK_EQ(sley_spawn_on(s->rt, &group, &task, count, s->nr_ran,
				       SLEY_OPTIONS(.toward = SLEY_ON_WORKER(
							    worker))),
			 0);
		sley_join(&group);
	}
	return NULL;
}

/* One submitter: no other submission wakes the worker that was not woken. */
static void submit_toward(struct sley *rt)
{
	atomic_int nr_ran = 0;
	struct submitter submitter = { rt, &nr_ran, 1 };
	struct ringer ringer = { .rt = rt };
	pthread_t thread, ringing;
	int fd = watch(rt);

	ringing = test_thread(ring_in_rounds, &ringer);
	thread = test_thread(submit_toward_all, &submitter);
	pthread_join(thread, NULL);
	atomic_store(&ringer.over, true);
	pthread_join(ringing, NULL);
	CHECK_EQ(atomic_load(&nr_ran), ROUNDS);
	thread = test_thread(submit_toward_all, &submitter);
	pthread_join(thread, NULL);
	CHECK_EQ(atomic_load(&nr_ran), 2 * ROUNDS);
	unwatch(rt, fd);
}

TEST_WORKERS(tasks_sent_toward_the_worker_in_the_poller_wake_it)
{
	need_workers(1);
	each_kind(submit_toward);
}

/* A fiber goes home to the worker that may be in the poller. */
struct pair {
	struct sley_event there, back;
	unsigned int seed;
};

static void answer_in_rounds(void *arg)
{
	struct pair *p = arg;

	for (int i = 0; i < ROUNDS; i++) {
		CHECK_EQ(sley_event_wait(&p->there), 0);
		sley_event_clear(&p->there);
		sley_event_set(&p->back);
	}
}

static void *ask_in_rounds(void *arg)
{
	struct pair *p = arg;

	for (int i = 0; i < ROUNDS; i++) {
		pause_at_random(&p->seed);
		sley_event_set(&p->there);
		CHECK_EQ(sley_event_wait(&p->back), 0);
		sley_event_clear(&p->back);
	}
	return NULL;
}

static void nap_in_rounds(void *arg)
{
	unsigned int seed = 1;

	(void)arg;
	for (int i = 0; i < ROUNDS / 4; i++)
		sley_sleep((uint64_t)(rand_r(&seed) % 300) * SLEY_USEC);
}

static void wake_fibers(struct sley *rt)
{
	static struct pair pairs[SUBMITTERS];
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[SUBMITTERS], napping;
	pthread_t threads[SUBMITTERS];
	int fd = watch(rt);

	sley_spawn(&group, &napping, nap_in_rounds, NULL);
	for (int i = 0; i < SUBMITTERS; i++) {
		pairs[i] = (struct pair){ SLEY_EVENT_INIT, SLEY_EVENT_INIT,
					  (unsigned)i };
		sley_spawn(&group, &tasks[i], answer_in_rounds, &pairs[i]);
		threads[i] = test_thread(ask_in_rounds, &pairs[i]);
	}
	sley_join(&group);
	for (int i = 0; i < SUBMITTERS; i++)
		pthread_join(threads[i], NULL);
	unwatch(rt, fd);
}

TEST_WORKERS(fibers_and_timers_wake_the_worker_in_the_poller)
{
	each_kind(wake_fibers);
}

/* The deadline of a timer is as exact there as elsewhere: no millisecond is added. */
static void nap_exactly(void *arg)
{
	uint64_t *least_ns = arg;

	for (int i = 0; i < 50; i++) {
		uint64_t deadline = sley_after(300 * SLEY_USEC), late;

		sley_sleep_until(deadline);
		late = sley_now() - deadline;
		if (late < *least_ns)
			*least_ns = late;
	}
}

static void nap_in_poller(struct sley *rt)
{
	uint64_t least_ns = UINT64_MAX;
	int fd = watch(rt);

	run_task(nap_exactly, &least_ns);
	CHECK_LT(least_ns, 500 * SLEY_USEC);
	unwatch(rt, fd);
}

TEST_WORKERS(a_deadline_in_the_poller_is_exact)
{
	each_kind(nap_in_poller);
}

/* The wake-up is over: nothing of it keeps the worker awake. */
static void sleep_again(struct sley *rt)
{
	atomic_int nr_ran = 0;
	int fd = watch(rt);
	uint64_t start_ns;

	CHECK_EVENTUALLY(all_sleep(rt));
	run_task(count, &nr_ran);
	test_nap_ms(50); /* the monitor sleeps, too */
	start_ns = test_process_cpu_ns();
	test_nap_ms(200);
	CHECK_LT(test_process_cpu_ns() - start_ns, 20 * SLEY_MSEC);
	unwatch(rt, fd);
}

TEST(a_worker_in_the_poller_sleeps_again)
{
	for (int epoll = 0; epoll < 2; epoll++) {
		struct sley_config config = config_of(1);
		struct sley *rt;

		config.no_io_uring = epoll;
		rt = start_with(&config);
		sleep_again(rt);
		stop(rt);
	}
}

/* ---- the seat is free -------------------------------------------------------------- */

struct held {
	struct sley_event go;
	int worker;
	struct sley *rt;
	uint64_t nr; /* stays until so many wake-ups by a descriptor */
};

static atomic_int nr_started;
static int nr_held;

/* One on each worker, where it stays. */
static void be_held(void *arg)
{
	struct held *h = arg;

	h->worker = (int)worker_current()->index;
	atomic_fetch_add(&nr_started, 1);
	while (atomic_load(&nr_started) < nr_held)
		;
	CHECK_EQ(sley_event_wait(&h->go), 0);
	while (nr_readable(h->rt) < h->nr)
		;
}

static void hold_worker(struct sley *rt, struct held *helds, int worker,
			uint64_t nr)
{
	for (int i = 0; i < nr_held; i++) {
		if (helds[i].worker == worker) {
			helds[i].nr = nr;
			sley_event_set(&helds[i].go);
		}
	}
	CHECK_EVENTUALLY(idle_parked(idle_counts(&rt->idle)) < rt->nr_workers);
}

/* The worker in the poller leaves for a task that does not end. */
static void leave_the_seat(struct sley *rt)
{
	struct held helds[8] = { { .worker = 0 } };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[8];
	int fd;

	nr_held = (int)rt->nr_workers;
	atomic_store(&nr_started, 0);
	for (int i = 0; i < nr_held; i++) {
		helds[i] = (struct held){ .go = SLEY_EVENT_INIT, .rt = rt };
		sley_spawn(&group, &tasks[i], be_held, &helds[i]);
	}
	CHECK_EVENTUALLY(atomic_load(&nr_started) == nr_held);
	fd = watch(rt);
	CHECK_EVENTUALLY(all_sleep(rt));
	hold_worker(rt, helds, poller_index(rt), 1);
	ring(rt, fd);
	for (int i = 0; i < nr_held; i++)
		sley_event_set(&helds[i].go);
	sley_join(&group);
	unwatch(rt, fd);
}

TEST_WORKERS(another_worker_takes_a_seat_that_is_left)
{
	need_workers(2);
	if (nr_runners() > 8)
		test_skip("each worker would spin");
	each_kind(leave_the_seat);
}

/* ---- begin and end ----------------------------------------------------------------- */

TEST_WORKERS(a_runtime_ends_while_a_worker_is_in_the_poller)
{
	need_workers(1);
	for (int i = 0; i < 40; i++) {
		struct sley *rt = start_kind(i % 2);
		int fd = watch(rt);

		if (i % 4 < 2)
			CHECK_EVENTUALLY(all_sleep(rt));
		stop(rt);
		close(fd);
	}
}

static void forget_in_child(struct sley *rt, int fd)
{
	struct sley_config config = config_of(1);
	struct sley *own;
	uint64_t nr = nr_readable(rt);

	CHECK_EQ(sley_destroy(rt), SLEY_EFORKED);
	own = start_with(&config);
	ring(own, watch(own));
	sley_unbind(own);
	CHECK_EQ(sley_destroy(own), 0);
	CHECK_EQ(nr_readable(rt), nr);
	CHECK_EQ(close(fd), 0);
}

static void outlast_a_child(struct sley *rt)
{
	int fd = watch(rt), status;
	pid_t pid;

	CHECK_EVENTUALLY(all_sleep(rt));
	pid = fork();
	CHECK_GE(pid, 0);
	if (pid == 0) {
		forget_in_child(rt, fd);
		_exit(0);
	}
	for (int i = 0; i < 10; i++)
		ring(rt, fd);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	ring(rt, fd);
	unwatch(rt, fd);
}

TEST_WORKERS(a_child_of_fork_has_its_own_poller)
{
	need_workers(1);
	if (test_sanitizer())
		test_skip("sanitizers do not survive fork() with threads");
	if (test_emulated())
		test_skip("qemu-user dies of threads in the forked child of a "
			  "process with threads");
	each_kind(outlast_a_child);
}

/* ---- where the system says no ---------------------------------------------------------- */

/* From now on @nr more descriptors may be opened. */
static void leave_descriptors(int nr)
{
	struct rlimit limit;
	int next;

	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = 256;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	next = dup(0);
	CHECK_GE(next, 0);
	close(next);
	limit.rlim_cur = (rlim_t)(next + nr);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

TEST(a_watch_without_descriptors_is_refused)
{
	for (int left = 0; left < 2; left++) {
		struct sley_config config = config_of(1);
		struct sley *rt = start_with(&config);
		int fd = os_eventfd_create();

		leave_descriptors(left);
		CHECK_EQ(poller_watch(rt, fd), -EMFILE);
		CHECK(!poller_wanted(rt));
		leave_descriptors(10);
		CHECK_EQ(poller_watch(rt, fd), 0);
		ring(rt, fd);
		unwatch(rt, fd);
		stop(rt);
	}
}

TEST(a_worker_without_a_ring_sleeps_in_epoll)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	int fd = os_eventfd_create();

	leave_descriptors(2);
	CHECK_EQ(poller_watch(rt, fd), 0);
	CHECK_EVENTUALLY(load_relaxed(&rt->worker[0]->seat.word) ==
			 SEAT_POLLING);
	ring(rt, fd);
	unwatch(rt, fd);
	stop(rt);
}

/* A program that locks itself in while its worker sleeps in a ring. */
TEST(a_ring_that_is_forbidden_later_gives_way_to_epoll)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	atomic_int nr_ran = 0;
	int fd = watch(rt);

	if (test_sanitizer() || test_emulated())
		test_skip("the filter would be for the sanitizer, too");
	CHECK_EVENTUALLY(all_sleep(rt));
	if (filter_forbid(SYS_io_uring_enter, EPERM) != 0)
		test_skip("seccomp is not to be had");
	for (int i = 0; i < 3; i++)
		ring(rt, fd);
	CHECK_EVENTUALLY(load_relaxed(&rt->worker[0]->seat.word) ==
			 SEAT_POLLING);
	run_task(count, &nr_ran);
	unwatch(rt, fd);
	stop(rt);
}

TEST(io_uring_that_is_forbidden_gives_way_to_epoll)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	int fd;

	if (filter_forbid(SYS_io_uring_setup, EPERM) != 0)
		test_skip("seccomp is not to be had");
	fd = watch(rt);
	CHECK_EVENTUALLY(load_relaxed(&rt->worker[0]->seat.word) ==
			 SEAT_POLLING);
	ring(rt, fd);
	unwatch(rt, fd);
	stop(rt);
}

TEST(a_watch_of_no_descriptor_is_refused)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	int fd = watch(rt);

	CHECK_EQ(poller_watch(rt, -1), -EBADF);
	CHECK_EQ(poller_watch(rt, fd), -EEXIST);
	unwatch(rt, fd);
	CHECK(!poller_wanted(rt));
	stop(rt);
}
