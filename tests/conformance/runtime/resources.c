/* SPDX-License-Identifier: MIT */
/*
 * resources.c - many workers, stacks of every size, the allocator, little CPU
 * time for little work, and what happens when something runs out: M11, M21,
 * M36, M38, T30.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "conformance/bound.h"

/* ---- M11: many workers ------------------------------------------------------------- */

static long rss_kib(void)
{
	long size = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	CHECK(file && fscanf(file, "%ld %ld", &size, &resident) == 2);
	fclose(file);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void run_many_workers(int workers)
{
	static struct sley_task tasks[10000];
	struct sley_config config = config_of(workers);
	struct sley_group group = SLEY_GROUP_INIT;
	long before = rss_kib();
	atomic_int ran = 0;
	struct sley *rt;

	test_timeout(60);
	rt = start_with(&config);
	CHECK_EQ(sley_nr_workers(rt), workers);
	for (int i = 0; i < 10000; i++)
		sley_spawn(&group, &tasks[i], count_task, &ran);
	sley_join(&group);
	CHECK_EQ(ran, 10000);
	CHECK_LT(test_allocated(), workers * 64 << 10);
	/* A thread of the kernel's making takes about 30 KiB by itself. */
	if (!test_sanitizer() && !test_emulated())
		CHECK_LT(rss_kib() - before, workers * 128);
	stop(rt);
}

TEST(m11_300_workers_run_10000_tasks)
{
	run_many_workers(300);
}

TEST(m11_512_workers_run_10000_tasks)
{
	if (test_sanitizer())
		test_skip("sanitizers need too much for so many threads");
	run_many_workers(512);
}

/* ---- M21: stacks ---------------------------------------------------------------------- */

__attribute__((noinline)) static void fill(size_t size)
{
	char *bytes = __builtin_alloca(size);

	memset(bytes, 1, size);
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

/* What small stacks are killed by elsewhere: libc, and the dynamic linker. */
static void use_stack(void *arg)
{
	size_t size = *(size_t *)arg;
	char text[64];
	void *memory;

	snprintf(text, sizeof(text), "%.12g", 1.0 / 3);
	CHECK_STR(text, "0.333333333333");
	fill(size);
	CHECK_EQ(sley_sleep(SLEY_USEC), 0);
	memory = malloc(100);
	free(memory);
	fill(size);
	sley_yield();
	CHECK_STR(text, "0.333333333333");
}

static void use_stacks_of(uint32_t stack_kib, size_t size)
{
	struct sley_config config = *test_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[20];
	struct sley *rt;

	config.stack_kib = stack_kib;
	rt = start_with(&config);
	for (int i = 0; i < 20; i++)
		sley_spawn(&group, &tasks[i], use_stack, &size);
	sley_join(&group);
	stop(rt);
}

TEST_WORKERS(m21_of_the_smallest_stack_three_quarters_are_the_tasks_own)
{
	if (test_sanitizer())
		test_skip("sanitizers make frames larger");
	use_stacks_of(16, 10 << 10);
}

TEST_WORKERS(m21_odd_sizes_are_as_good_as_others)
{
	static const uint32_t kib[] = { 17, 33, 101, 4095 };

	if (test_sanitizer())
		test_skip("sanitizers make frames larger");
	for (size_t i = 0; i < ARRAY_SIZE(kib); i++)
		use_stacks_of(kib[i], kib[i] * 512);
}

TEST_WORKERS(m21_each_task_may_have_a_size_of_its_own)
{
	static const uint32_t kib[] = { 16, 17, 33, 101, 1024, 8191 };
	static size_t size[ARRAY_SIZE(kib)];
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[ARRAY_SIZE(kib)];
	struct sley *rt = start();
	size_t i;

	if (test_sanitizer())
		test_skip("sanitizers make frames larger");
	for (i = 0; i < ARRAY_SIZE(kib); i++) {
		size[i] = kib[i] * 512;
		CHECK_EQ(sley_spawn_with(&group, &tasks[i], use_stack, &size[i],
					 SLEY_OPTIONS(.stack_kib = kib[i])),
			 0);
	}
	sley_join(&group);
	stop(rt);
}

TEST(m21_the_largest_stack_is_a_gibibyte)
{
	struct sley_config config = config_of(1);
	struct sley_group group = SLEY_GROUP_INIT;
	size_t size = 64 << 20;
	struct sley_task task;
	struct sley *rt;

	if (test_sanitizer())
		test_skip("sanitizers need their address space");
	rt = start_with(&config);
	CHECK_EQ(sley_spawn_with(&group, &task, use_stack, &size,
				 SLEY_OPTIONS(.stack_kib = 1 << 20)),
		 0);
	sley_join(&group);
	stop(rt);
	config.stack_kib = 1 << 20;
	rt = start_with(&config);
	sley_spawn(&group, &task, use_stack, &size);
	sley_join(&group);
	stop(rt);
}

/* ---- M36: the allocator ------------------------------------------------------------------ */

#define BLOCKS_MAX 4096

static struct {
	pthread_mutex_t lock;
	struct {
		void *memory;
		size_t size;
	} block[BLOCKS_MAX];
	size_t bytes, nr;
} book = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void *book_alloc(void *self, size_t size, size_t align)
{
	void *memory = NULL;
	size_t i = 0;

	CHECK(self == &book);
	CHECK_GT(size, 0);
	CHECK(align && !(align & (align - 1)));
	CHECK_EQ(posix_memalign(&memory, align, size), 0);
	memset(memory, 0x5a, size);
	pthread_mutex_lock(&book.lock);
	while (book.block[i].memory)
		CHECK_LT(++i, BLOCKS_MAX);
	book.block[i].memory = memory;
	book.block[i].size = size;
	book.bytes += size;
	book.nr++;
	pthread_mutex_unlock(&book.lock);
	return memory;
}

static void book_free(void *self, void *memory, size_t size)
{
	size_t i = 0;

	CHECK(self == &book);
	CHECK(memory);
	pthread_mutex_lock(&book.lock);
	while (book.block[i].memory != memory)
		CHECK_LT(++i, BLOCKS_MAX);
	CHECK_EQ(book.block[i].size, size);
	book.block[i].memory = NULL;
	book.bytes -= size;
	pthread_mutex_unlock(&book.lock);
	free(memory);
}

static size_t book_bytes(void)
{
	size_t bytes;

	pthread_mutex_lock(&book.lock);
	bytes = book.bytes;
	pthread_mutex_unlock(&book.lock);
	return bytes;
}

static void block_and_fork(void *arg)
{
	struct sley_forked child;

	sley_fork(&child, count_task, arg);
	(void)!sley_sleep(SLEY_USEC);
	sley_fork_join(&child);
}

static bool stats_agree(struct sley *rt)
{
	struct sley_stats stats;
	size_t bytes = book_bytes();

	sley_get_stats(rt, &stats);
	return stats.allocated == bytes && bytes == book_bytes();
}

TEST_WORKERS(m36_the_allocator_sees_every_allocation_and_gets_all_back)
{
	static struct sley_task tasks[300];
	struct sley_config config = *test_config();
	struct sley_group group = SLEY_GROUP_INIT;
	atomic_int ran = 0;
	struct sley *rt;

	config.allocator =
		(struct sley_allocator){ book_alloc, book_free, &book };
	rt = start_with(&config);
	CHECK(stats_agree(rt));
	for (int i = 0; i < 300; i++)
		sley_spawn(&group, &tasks[i], block_and_fork, &ran);
	for (int i = 0; i < 300; i++)
		CHECK_EQ(sley_schedule(count_task, &ran), 0);
	sley_join(&group);
	CHECK_EVENTUALLY(stats_agree(rt));
	stop(rt);
	CHECK_GT(book.nr, (size_t)nr_runners());
	CHECK_EQ(ran, 600);
	CHECK_EQ(book.bytes, 0);
	CHECK_EQ(test_allocated(), 0); /* the other allocator saw nothing */
}

/* ---- M38: stealing, and the price of little work ----------------------------------------- */

struct left {
	struct sley_group group;
	struct sley_task task;
	uint64_t spawned_ns, ran_ns;
	atomic_bool ran;
};

static void note_time(void *arg)
{
	struct left *left = arg;

	left->ran_ns = sley_now();
	atomic_store(&left->ran, true);
}

static void spawn_and_keep_worker(void *arg)
{
	struct left *left = arg;

	left->spawned_ns = sley_now();
	sley_spawn(&left->group, &left->task, note_time, left);
	while (!atomic_load(&left->ran))
		; /* never calls sley */
}

/* The best of many: the machine may be busy, but not always. */
TEST_WORKERS(m38_an_idle_worker_steals_soon_though_it_was_asleep)
{
	struct sley *rt = start();
	uint64_t best_ns = UINT64_MAX;

	if (nr_runners() < 2)
		test_skip("needs a thief");
	for (int i = 0; i < 20; i++) {
		struct sley_group group = SLEY_GROUP_INIT;
		struct left left = { .ran = false };
		struct sley_task task;
		uint64_t ns;

		test_nap_ms(2); /* they fall asleep */
		sley_spawn(&group, &task, spawn_and_keep_worker, &left);
		sley_join(&group);
		sley_join(&left.group);
		ns = left.ran_ns - left.spawned_ns;
		CHECK_LT(ns, 5 * SLEY_SEC);
		best_ns = ns < best_ns ? ns : best_ns;
	}
	/* A thief that only looks now and then would take 10 ms, or more. */
	CHECK_LT(best_ns, 5 * SLEY_MSEC);
	stop(rt);
}

/* marl: 93 % of a core. */
TEST_WORKERS(m38_one_empty_task_per_millisecond_costs_little)
{
	struct sley *rt = NULL;
	uint64_t start_ns, start_cpu_ns, percent;
	atomic_int ran = 0;

	if (is_single() || test_sanitizer() || test_is_chaotic())
		test_skip("about workers, at full speed");
	CHECK_EQ(sley_create(&rt, test_config()), 0);
	start_ns = sley_now();
	start_cpu_ns = test_process_cpu_ns();
	for (int i = 0; i < 1000; i++) {
		test_nap_ms(1);
		CHECK_EQ(sley_schedule_on(rt, count_task, &ran, NULL), 0);
	}
	percent = (test_process_cpu_ns() - start_cpu_ns) * 100 /
		  (sley_now() - start_ns);
	CHECK_LT(percent, 20);
	CHECK_EQ(sley_destroy(rt), 0);
	CHECK_EQ(ran, 1000);
}

/* ---- T30: whichever allocation fails ------------------------------------------------------ */

/* What the library takes from libc itself; -1: it never fails. */
static atomic_llong libc_until_failure = -1;

int posix_memalign(void **memory, size_t align, size_t size)
{
	long long left = atomic_load(&libc_until_failure);

	while (left >= 0) {
		if (left == 0)
			return ENOMEM;
		if (atomic_compare_exchange_weak(&libc_until_failure, &left,
						 left - 1))
			break;
	}
	*memory = aligned_alloc(align, (size + align - 1) / align * align);
	return *memory ? 0 : ENOMEM;
}

static void lose_nothing(void *self, const char *line)
{
	(void)self;
	CHECK(line != NULL);
}

static void hook_that_spawns(void *self, int worker)
{
	static atomic_int ran;
	int err = sley_schedule(count_task, &ran);

	(void)self;
	(void)worker;
	CHECK(err == 0 || err == -ENOMEM);
}

static int note(int err)
{
	CHECK(err == 0 || err == -ENOMEM);
	return err;
}

static struct sley_event never = SLEY_EVENT_INIT;

static void wait_a_while(void *arg)
{
	(void)arg;
	(void)!sley_event_wait_until(&never, in_ms(2));
}

/* Each call that may fail, once; 0 if none did. */
static int use_everything(struct sley *rt)
{
	static atomic_int ran; /* scheduled tasks may outlive the call */
	static struct sley_task tasks[40];
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	int err, all = 0;

	for (int i = 0; i < 40; i++)
		sley_spawn(&group, &tasks[i], wait_a_while, NULL);
	err = note(sley_spawn_with(&group, &task, block_and_fork, &ran,
				   SLEY_OPTIONS(.stack_kib = 32)));
	all |= err;
	all |= note(sley_schedule_on(rt, count_task, &ran,
				     SLEY_OPTIONS(.priority = 3)));
	all |= note(sley_schedule(count_task, &ran));
	all |= note(sley_schedule_on(rt, count_task, &ran,
				     SLEY_OPTIONS(.stack_kib = 16)));
	sley_join(&group);
	if (!err)
		CHECK_EQ(sley_task_status(&task), 0);
	return all;
}

static int live_with_failures(const struct sley_config *config, int n)
{
	struct sley *rt = NULL;
	int err, all;

	test_fail_allocation_after(n);
	all = note(sley_create(&rt, config));
	if (all) {
		CHECK(rt == NULL);
		return all;
	}
	err = note(sley_bind(rt));
	if (!err) {
		all = use_everything(rt);
		sley_unbind(rt);
	}
	err |= all;
	/* Reports who is left, if it has the memory, and waits again. */
	if (sley_destroy_until(rt, 0))
		CHECK_EQ(sley_destroy(rt), 0);
	return err;
}

TEST_WORKERS(t30_a_whole_program_survives_each_failing_allocation)
{
	struct sley_config config = *test_config();
	int n, err = -ENOMEM;

	if (config.workers > 8)
		test_skip("the same, only longer");
	test_timeout(120);
	config.on_start = hook_that_spawns;
	config.on_stop = hook_that_spawns;
	config.report = lose_nothing;
	config.placement = SLEY_PLACE_ONE_OF;
	config.stack_cache = 2;
	for (n = 0; err; n++) {
		CHECK_LT(n, 500);
		err = live_with_failures(&config, n);
		test_fail_allocation_after(-1);
		CHECK_EQ(test_allocated(), 0);
	}
	CHECK_GT(n, 3);
}

/* Channels take their memory from libc. */
static int live_with_channels(void)
{
	struct sley_chan *chan = NULL;
	int err = note(sley_chan_create(&chan, sizeof(int), 8));
	int value = 1;

	if (err) {
		CHECK(chan == NULL);
		return err;
	}
	for (int i = 0; i < 8; i++)
		CHECK_EQ(sley_chan_try_send(chan, &value), 0);
	sley_chan_destroy(chan);
	return 0;
}

TEST(t30_a_channel_that_cannot_be_had_is_an_error)
{
	int n, err = -ENOMEM;

	for (n = 0; err; n++) {
		CHECK_LT(n, 100);
		atomic_store(&libc_until_failure, n);
		err = live_with_channels();
		atomic_store(&libc_until_failure, -1);
	}
	CHECK_GT(n, 2);
}

TEST(t30_the_default_allocator_may_fail_as_well)
{
	struct sley_config config = { .size = sizeof(config), .workers = 2 };
	int n, err = -ENOMEM;

	for (n = 0; err; n++) {
		struct sley *rt = NULL;

		CHECK_LT(n, 100);
		atomic_store(&libc_until_failure, n);
		err = note(sley_create(&rt, &config));
		atomic_store(&libc_until_failure, -1);
		if (!err)
			CHECK_EQ(sley_destroy(rt), 0);
	}
	CHECK_GT(n, 3);
}

/* ---- M36: what needs no allocator -------------------------------------------------------- */

static void use_primitives(void *arg)
{
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley_mutex mutex = SLEY_MUTEX_INIT;
	struct sley_cond cond = SLEY_COND_INIT;
	struct sley_waitgroup wg = SLEY_WAITGROUP_INIT;
	struct sley_sem units = { 0 };
	struct sley_rwlock lock = { 0 };

	sley_mutex_lock(&mutex);
	CHECK_EQ(sley_cond_wait_until(&cond, &mutex, in_ms(1)), -ETIMEDOUT);
	sley_mutex_unlock(&mutex);
	CHECK_EQ(sley_event_wait_until(&event, in_ms(1)), -ETIMEDOUT);
	sley_waitgroup_add(&wg, 1);
	CHECK_EQ(sley_waitgroup_wait_until(&wg, in_ms(1)), -ETIMEDOUT);
	CHECK(sley_waitgroup_done(&wg));
	CHECK_EQ(sley_sem_acquire_until(&units, 1, in_ms(1)), -ETIMEDOUT);
	sley_rwlock_write_lock(&lock);
	CHECK_EQ(sley_rwlock_read_lock_until(&lock, in_ms(1)), -ETIMEDOUT);
	sley_rwlock_write_unlock(&lock);
	count_task(arg);
}

static void use_primitives_without_memory(int workers)
{
	struct sley_config config = config_of(workers);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_with(&config);
	struct sley_task tasks[2];
	atomic_int ran = 0;

	/* Once, so that there is a fiber that can be used again. */
	sley_spawn(&group, &tasks[0], use_primitives, &ran);
	sley_join(&group);
	test_fail_allocation_after(0);
	atomic_store(&libc_until_failure, 0);
	use_primitives(&ran); /* a bound thread */
	sley_spawn(&group, &tasks[1], use_primitives, &ran);
	sley_join(&group);
	stop(rt);
	use_primitives(&ran); /* a thread of no runtime */
	atomic_store(&libc_until_failure, -1);
	test_fail_allocation_after(-1);
	CHECK_EQ(ran, 4);
}

/* marl takes the block of a WaitGroup from elsewhere than its allocator. */
TEST(m36_primitives_take_no_memory)
{
	use_primitives_without_memory(SLEY_SINGLE);
	use_primitives_without_memory(1);
}

/* ---- T30: no more threads, no more address space --------------------------------------------- */

static int create_under(int resource, rlim_t value)
{
	struct rlimit limit = { value, RLIM_INFINITY }, old;
	struct sley_config config = config_of(4);
	struct sley *rt = NULL;
	int err;

	CHECK_EQ(getrlimit(resource, &old), 0);
	limit.rlim_max = old.rlim_max;
	CHECK_EQ(setrlimit(resource, &limit), 0);
	err = sley_create(&rt, &config);
	CHECK_EQ(setrlimit(resource, &old), 0);
	if (err)
		CHECK(rt == NULL);
	else
		CHECK_EQ(sley_destroy(rt), 0);
	CHECK_EQ(test_allocated(), 0);
	return err;
}

TEST(t30_every_thread_that_cannot_be_started_is_reported)
{
	rlim_t allowed;

	if (test_sanitizer() || getuid() != 0)
		test_skip("limits of threads count for users, not for root");
	/* A user that nobody else is. */
	CHECK_EQ(setuid(54321), 0);
	/* Itself, four workers and the monitor. */
	for (allowed = 1; allowed < 6; allowed++)
		CHECK_EQ(create_under(RLIMIT_NPROC, allowed), -EAGAIN);
	CHECK_EQ(create_under(RLIMIT_NPROC, allowed), 0);
}

TEST(t30_every_shortage_of_address_space_is_reported)
{
	int err = -ENOMEM, nr_failed = 0;
	long size = 0;
	FILE *file;

	if (test_is_slow())
		test_skip("sanitizers and emulators need address space");
	/* So that libc has its own arenas already. */
	CHECK_EQ(create_under(RLIMIT_AS, RLIM_INFINITY), 0);
	file = fopen("/proc/self/statm", "r");
	CHECK(file && fscanf(file, "%ld", &size) == 1);
	fclose(file);
	for (rlim_t more = 0; err; more += 256 << 10) {
		rlim_t now = (rlim_t)size * (rlim_t)sysconf(_SC_PAGESIZE);

		err = create_under(RLIMIT_AS, now + more);
		CHECK(err == 0 || err == -ENOMEM || err == -EAGAIN);
		nr_failed += err != 0;
		CHECK_LT(nr_failed, 4000);
	}
	CHECK_GT(nr_failed, 2);
}
