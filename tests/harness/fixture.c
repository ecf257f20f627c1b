/* SPDX-License-Identifier: MIT */
/*
 * fixture.c - the configuration of the tests, and the search for leaks.
 *
 * The allocator counts bytes.  Each block has {size, magic} in front.  The allocator
 * fills new memory with 0xa5, checks the size at free and fills freed memory with
 * 0xdd, so that tests can rely neither on zeroed nor on freed memory.
 */
#include "harness/fixture.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/test.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#define BLOCK_MAGIC 0x51e7a110c8ed0001ULL
#define BLOCK_FREED 0xdeadb10cdeadb10cULL

struct block {
	uint64_t size;
	uint64_t magic;
};

static atomic_llong allocated;
static atomic_llong until_failure = -1;
static struct sley_config config;
static atomic_bool leaks_matter;
static int threads_before, files_before;

/* The sanitizers' own verdicts must end a test with a signal. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "abort_on_error=1:detect_stack_use_after_return=0";
}

const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "abort_on_error=1:halt_on_error=1";
}

int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

/* ---- the counting allocator -------------------------------------------- */

static bool must_fail(void)
{
	long long left = atomic_load(&until_failure);

	while (left >= 0) {
		if (left == 0)
			return true;
		if (atomic_compare_exchange_weak(&until_failure, &left,
						 left - 1))
			return false;
	}
	return false;
}

static size_t header_size(size_t align)
{
	return align < sizeof(struct block) ? sizeof(struct block) : align;
}

static void *counting_alloc(void *self, size_t size, size_t align)
{
	size_t header = header_size(align);
	size_t total = (header + size + header - 1) / header * header;
	struct block *block;
	char *base;

	CHECK(self == &allocated);
	CHECK(align && (align & (align - 1)) == 0);
	if (must_fail())
		return NULL;
	base = aligned_alloc(header, total);
	if (!base)
		return NULL;
	memset(base, 0xa5, total);
	block = (struct block *)(void *)(base + header) - 1;
	block->size = size;
	block->magic = BLOCK_MAGIC ^ header;
	atomic_fetch_add(&allocated, (long long)size);
	return base + header;
}

static void counting_free(void *self, void *memory, size_t size)
{
	struct block *block = (struct block *)memory - 1;
	size_t header;

	CHECK(self == &allocated);
	if (!memory)
		return;
	CHECK(block->magic != BLOCK_FREED);
	header = block->magic ^ BLOCK_MAGIC;
	CHECK(header >= sizeof(*block) && header <= 1u << 21);
	CHECK_EQ(block->size, size);
	atomic_fetch_sub(&allocated, (long long)size);
	memset(memory, 0xdd, size);
	block->magic = BLOCK_FREED;
	free((char *)memory - header);
}

int64_t test_allocated(void)
{
	return atomic_load(&allocated);
}

void test_fail_allocation_after(int64_t n)
{
	atomic_store(&until_failure, n);
}

/* ---- begin and end ----------------------------------------------------- */

static int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	if (!dir)
		return -1;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void *nothing(void *arg)
{
	return arg;
}

void fixture_begin(int workers, bool checked)
{
	leaks_matter = checked;
	/* ThreadSanitizer starts a thread of its own beside the first thread. */
	if (SANITIZED)
		pthread_join(test_thread(nothing, NULL), NULL);
	threads_before = count_entries("/proc/self/task");
	files_before = count_entries("/proc/self/fd");
	config = (struct sley_config){
		.size = sizeof(config),
		.workers = workers,
		.stack_kib = test_sanitizer() ? 256 : 64,
		.seed = test_seed(),
		.allocator = { counting_alloc, counting_free, &allocated },
	};
}

const struct sley_config *test_config(void)
{
	leaks_matter = true;
	return &config;
}

/* A joined thread stays in /proc for a moment. */
static int threads_after(void)
{
	int n = count_entries("/proc/self/task"), i;

	for (i = 0; n > threads_before && i < 2000; i++) {
		test_nap_ms(1);
		n = count_entries("/proc/self/task");
	}
	return n;
}

void fixture_end(void)
{
	static const struct test_place place = { "fixture", 0, "no leaks" };
	char detail[160];

	if (leaks_matter) {
		int threads = threads_after() - threads_before;
		int files = count_entries("/proc/self/fd") - files_before;

		if (test_allocated() || threads > 0 || files > 0) {
			snprintf(detail, sizeof(detail),
				 "left behind: %lld bytes, %d threads, "
				 "%d file descriptors",
				 (long long)test_allocated(), threads, files);
			test_failed(&place, detail);
		}
	}
	if (__lsan_do_recoverable_leak_check &&
	    __lsan_do_recoverable_leak_check())
		test_failed(&place, "the leak sanitizer found leaks");
}

/* ---- small helpers ----------------------------------------------------- */

bool test_sanitizer(void)
{
	return SANITIZED;
}

bool test_emulated(void)
{
	return getenv("TEST_EMULATED") != NULL;
}

bool test_is_chaotic(void)
{
#ifdef SLEY_CHAOS
	const char *seed = getenv("SLEY_CHAOS");

	return seed && *seed;
#else
	return false;
#endif
}

bool test_is_slow(void)
{
	return SANITIZED || test_emulated() || test_is_chaotic();
}

int test_scale(int n)
{
	if (!test_is_slow())
		return n;
	return n < 8 ? 1 : n / 8;
}

uint64_t test_random(uint64_t n)
{
	static atomic_uint_least64_t next_thread;
	static _Thread_local uint64_t state;
	uint64_t x;

	if (!state)
		state = test_seed() +
			0x9e3779b97f4a7c15ULL *
				(1 + atomic_fetch_add(&next_thread, 1));
	x = state += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return (x ^ (x >> 31)) % n;
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	CHECK_EQ(clock_gettime(clock, &now), 0);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t test_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

void test_nap_ms(unsigned int ms)
{
	struct timespec left = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&left, &left))
		;
}

void test_burn_ms(unsigned int ms)
{
	uint64_t end = test_now_ns() + ms * 1000000ULL;

	while (test_now_ns() < end)
		;
}

uint64_t test_process_cpu_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void test_use_cpu_ns(uint64_t ns)
{
	uint64_t start = read_clock(CLOCK_THREAD_CPUTIME_ID);

	while (read_clock(CLOCK_THREAD_CPUTIME_ID) - start < ns)
		;
}

pthread_t test_thread(void *(*fn)(void *), void *arg)
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, fn, arg), 0);
	return thread;
}
