/* SPDX-License-Identifier: MIT */
/*
 * source_outside.c - sources whose producer is another process, or the kernel: they
 * signal a descriptor.
 */
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "conformance/bound.h"

/* ---- a ring that another process fills --------------------------------------------- */

enum { SLOTS = 256, SLEEPS = 1, ONE = 2, ITEMS_MAX = 100000 };

struct ring {
	atomic_uint in; /* items put * ONE + SLEEPS */
	char pad[60];
	atomic_uint out; /* items taken */
	int fd;
	int nr;
	unsigned int slot[SLOTS];
};

static struct ring *ring;
static atomic_uchar seen[ITEMS_MAX]; /* how often each item was served */
static atomic_int served;

static void serve(void *arg)
{
	atomic_fetch_add(&seen[(uintptr_t)arg], 1);
	atomic_fetch_add(&served, 1);
}

static bool ring_has(void *arg)
{
	(void)arg;
	return atomic_load(&ring->in) / ONE != atomic_load(&ring->out);
}

static bool ring_arm(void *arg)
{
	(void)arg;
	return atomic_fetch_or(&ring->in, SLEEPS) / ONE !=
	       atomic_load(&ring->out);
}

static void ring_disarm(void *arg)
{
	(void)arg;
	atomic_fetch_and(&ring->in, ~(unsigned int)SLEEPS);
}

static bool ring_take(void *arg)
{
	unsigned int out = atomic_load(&ring->out);
	eventfd_t signals;

	(void)!eventfd_read(ring->fd, &signals);
	for (int i = 0; i < 32 && ring_has(arg); i++) {
		uintptr_t item = ring->slot[out % SLOTS];

		CHECK_LT(item, (uintptr_t)ring->nr);
		CHECK_EQ(sley_schedule(serve, (void *)item), 0);
		atomic_store(&ring->out, ++out);
	}
	return ring_has(arg);
}

static void put(unsigned int item)
{
	while (atomic_load(&ring->in) / ONE - atomic_load(&ring->out) == SLOTS)
		test_nap_ms(1);
	ring->slot[item % SLOTS] = item;
	if (atomic_fetch_add(&ring->in, ONE) & SLEEPS) {
		atomic_fetch_and(&ring->in, ~(unsigned int)SLEEPS);
		(void)!eventfd_write(ring->fd, 1);
	}
}

static void ring_open(int nr)
{
	ring = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(ring != MAP_FAILED);
	ring->nr = nr;
	ring->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	CHECK_GE(ring->fd, 0);
	atomic_store(&served, 0);
	for (int i = 0; i < nr; i++)
		atomic_store(&seen[i], 0);
}

static struct sley_source *ring_source(struct sley *rt)
{
	struct sley_source *source;

	CHECK_EQ(sley_source_create(
			 rt, &source,
			 SLEY_SOURCE_OPTIONS(.fd = ring->fd, .take = ring_take,
					     .has = ring_has, .arm = ring_arm,
					     .disarm = ring_disarm),
			 NULL),
		 0);
	return source;
}

static void ring_close(void)
{
	CHECK_EQ(close(ring->fd), 0);
	CHECK_EQ(munmap(ring, sizeof(*ring)), 0);
}

/* The workers go to sleep now and then, in the middle of a stream and after it. */
static void produce(int nr)
{
	for (int i = 0; i < nr; i++) {
		put((unsigned int)i);
		if (i % 7919 == 0)
			test_nap_ms(3);
	}
	_exit(0);
}

static void wait_for(int nr)
{
	while (atomic_load(&served) < nr)
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
}

TEST_WORKERS(another_process_feeds_a_runtime)
{
	int nr = test_scale(ITEMS_MAX), status;
	struct sley_source *source;
	struct sley *rt;
	pid_t pid;

	ring_open(nr);
	pid = fork(); /* before there is a runtime */
	CHECK_GE(pid, 0);
	if (pid == 0)
		produce(nr);
	rt = start();
	source = ring_source(rt);
	wait_for(nr);
	sley_source_destroy(source);
	stop(rt);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	for (int i = 0; i < nr; i++)
		CHECK_EQ(atomic_load(&seen[i]), 1);
	ring_close();
}

/* The producer is killed: what it has put is taken, and the runtime goes on. */
TEST_WORKERS(a_producer_that_dies_leaves_a_runtime_that_works)
{
	struct sley_source *source;
	struct sley *rt;
	int status;
	pid_t pid;

	ring_open(SLOTS);
	pid = fork();
	CHECK_GE(pid, 0);
	if (pid == 0) {
		for (unsigned int i = 0; i < 10; i++)
			put(i);
		(void)raise(SIGKILL);
	}
	rt = start();
	source = ring_source(rt);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status));
	wait_for(10);
	put(10);
	wait_for(11);
	sley_source_destroy(source);
	stop(rt);
	ring_close();
}

/* ---- the descriptor alone ------------------------------------------------------------- */

struct events {
	int fd;
	atomic_int served;
};

static void serve_event(void *arg)
{
	struct events *events = arg;

	atomic_fetch_add(&events->served, 1);
}

static bool take_events(void *arg)
{
	struct events *events = arg;
	eventfd_t one;

	for (int i = 0; i < 8; i++) {
		if (eventfd_read(events->fd, &one))
			return false;
		CHECK_EQ(sley_schedule(serve_event, events), 0);
	}
	return true;
}

TEST_WORKERS(a_descriptor_without_has_is_enough)
{
	struct events events = { .fd = eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE |
							  EFD_CLOEXEC) };
	struct sley *rt = start();
	struct sley_source *source;

	CHECK_EQ(sley_source_create(rt, &source,
				    SLEY_SOURCE_OPTIONS(.fd = events.fd,
							.take = take_events),
				    &events),
		 0);
	for (int i = 1; i <= 50; i++) {
		CHECK_EQ(eventfd_write(events.fd, (eventfd_t)i), 0);
		while (atomic_load(&events.served) < i * (i + 1) / 2)
			CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	}
	sley_source_destroy(source);
	stop(rt);
	CHECK_EQ(close(events.fd), 0);
}

static bool has_none(void *arg)
{
	(void)arg;
	return false;
}

static bool take_signals(void *arg)
{
	struct events *events = arg;
	eventfd_t signals;

	if (!eventfd_read(events->fd, &signals))
		atomic_fetch_add(&events->served, 1);
	return false;
}

/*
 * A worker may find an item before the producer has signalled it.  Nothing is there
 * when the signal comes, but take() has to read it: as long as it is there, no worker
 * can sleep.
 */
TEST_WORKERS(a_signal_that_comes_after_its_item_was_taken_is_read)
{
	struct events events = { .fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) };
	struct sley *rt = start();
	struct sley_source *source;

	CHECK_EQ(sley_source_create(rt, &source,
				    SLEY_SOURCE_OPTIONS(.fd = events.fd,
							.take = take_signals,
							.has = has_none),
				    &events),
		 0);
	CHECK_EQ(sley_sleep(20 * SLEY_MSEC), 0);
	for (int i = 1; i <= 50; i++) {
		CHECK_EQ(eventfd_write(events.fd, 1), 0);
		while (atomic_load(&events.served) < i)
			CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	}
	sley_source_destroy(source);
	stop(rt);
	CHECK_EQ(close(events.fd), 0);
}

/* ---- busy workers ------------------------------------------------------------------------ */

enum { TASK_US = 1000, ROUNDS = 21 };

static struct sley *busy_rt;
static atomic_bool over;
static atomic_int nr_tasks, at_take;
static atomic_bool item;

static void be_busy(void *arg)
{
	uint64_t end_ns = sley_now() + TASK_US * SLEY_USEC;

	atomic_fetch_add(&nr_tasks, 1);
	while (sley_now() < end_ns)
		;
	if (!atomic_load(&over))
		CHECK_EQ(sley_schedule_on(busy_rt, be_busy, arg, NULL), 0);
}

static bool item_has(void *arg)
{
	(void)arg;
	return atomic_load(&item);
}

static bool item_take(void *arg)
{
	(void)arg;
	if (atomic_exchange(&item, false))
		atomic_store(&at_take, atomic_load(&nr_tasks));
	return false;
}

static int by_size(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* The producer signals nothing: no worker sleeps, so nobody has armed. */
TEST(an_item_of_another_process_has_its_turn_within_a_tick)
{
	struct sley_config config = config_of(1);
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), late[ROUNDS];
	struct sley_source *source;

	busy_rt = start_with(&config);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(sley_schedule_on(busy_rt, be_busy, NULL, NULL), 0);
	CHECK_EQ(sley_source_create(busy_rt, &source,
				    SLEY_SOURCE_OPTIONS(.fd = fd,
							.take = item_take,
							.has = item_has),
				    NULL),
		 0);
	for (int i = 0; i < ROUNDS; i++) {
		int begin;

		test_nap_ms(3);
		atomic_store(&at_take, -1); /* not yet */
		begin = atomic_load(&nr_tasks);
		atomic_store(&item, true);
		while (atomic_load(&at_take) < 0)
			test_nap_ms(1);
		late[i] = atomic_load(&at_take) - begin;
	}
	qsort(late, ROUNDS, sizeof(late[0]), by_size);
	CHECK_LT(late[ROUNDS / 2], 10);
	atomic_store(&over, true);
	sley_source_destroy(source);
	stop(busy_rt);
	CHECK_EQ(close(fd), 0);
}

/* ---- errors --------------------------------------------------------------------------------- */

TEST(a_descriptor_must_be_open)
{
	struct sley *rt = start();
	struct sley_source *source;
	int fd = eventfd(0, EFD_CLOEXEC);

	CHECK_EQ(close(fd), 0);
	for (int i = 0; i < 20; i++)
		CHECK_EQ(sley_source_create(
				 rt, &source,
				 SLEY_SOURCE_OPTIONS(.fd = fd,
						     .take = ring_take),
				 NULL),
			 -EBADF);
	CHECK_EQ(sley_source_create(rt, &source,
				    SLEY_SOURCE_OPTIONS(.fd = -1,
							.take = ring_take),
				    NULL),
		 -EBADF);
	stop(rt);
}

static bool take_nothing(void *arg)
{
	(void)arg;
	return false;
}

TEST(a_descriptor_has_one_source)
{
	struct sley *rt = start();
	struct sley_source *source, *other;
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	CHECK_EQ(sley_source_create(rt, &source,
				    SLEY_SOURCE_OPTIONS(.fd = fd,
							.take = take_nothing),
				    NULL),
		 0);
	CHECK_EQ(sley_source_create(rt, &other,
				    SLEY_SOURCE_OPTIONS(.fd = fd,
							.take = take_nothing),
				    NULL),
		 -EEXIST);
	sley_source_destroy(source);
	stop(rt);
	CHECK_EQ(close(fd), 0);
}
