/* SPDX-License-Identifier: MIT */
/*
 * test.h - the test harness: a main(), tests, checks.
 *
 * Each tests/x.c together with test.c is one program:
 *
 *   ./x [--list] [filter]     run the tests whose name contains the filter
 *
 * Several files may be one program (sley_test_group() in tests/CMakeLists.txt),
 * which saves links.  The program then has a symbolic link for each file.  Called
 * by the name of a file, the program runs the tests of this file; called by its own
 * name, the program runs all tests.
 *
 * Each test runs in a separate process.  The test passes if the process comes to
 * the end of the body.  The test fails at the first failing check, when the process
 * dies, or when the process does not end in time ("timed out").  The last line is
 * "N passed, N failed"; the exit status is 0, 1, or 77 if all were skipped.
 *
 *   TEST(name)              runs once
 *   TEST_WORKERS(name)      runs once for each worker count of the fixture
 *   TEST_ABORTS(name, text) must die of SIGABRT or SIGSEGV with text on stderr
 *
 * The fixture is test_config().  A test that has called test_config(), and every
 * TEST_WORKERS, must give back all memory of the counting allocator and leave no
 * thread and no file descriptor behind.
 *
 * Environment: TEST_SEED replays a run, TEST_TIMEOUT sets the seconds a test
 * may take, TEST_EMULATED is set by cmake/aarch64-linux-gnu.cmake.  TEST_MATRIX
 * sets the worker counts of each TEST_WORKERS: "full", the default, is single, 1,
 * 2, 4, 8 and 64; "usual" is the same without 8; "short" is single, 2 and 8;
 * "few" is single and 8; "threads" is 2 and 8.  A file that is compiled with
 * TEST_ROLES (ROLES of sley_test() in tests/CMakeLists.txt) has other numbers, 3 and
 * 16 among them: see test.c.  SLEY_PROOF names a file that gets a line of JSON about
 * the run, see proof.c.  A test named broken_... runs only if the filter is its whole
 * name: self_test.c proves with such tests that failures are seen.
 */
#ifndef SLEY_TESTS_HARNESS_TEST_H
#define SLEY_TESTS_HARNESS_TEST_H

#include <pthread.h>
#include <sley/runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum test_kind { TEST_PLAIN, TEST_PER_WORKERS, TEST_DEATH };

struct test_case {
	const char *name;
	const char *file; /* in a group, the source file; else NULL */
	void (*body)(void);
	enum test_kind kind;
	bool has_roles;   /* TEST_PER_WORKERS: for 3 and 16 workers, too */
	const char *text; /* TEST_DEATH: expected on stderr */
	struct test_case *next;
};

void test_register(struct test_case *test);

#ifdef TEST_GROUPED
#define TEST_FILE __BASE_FILE__
#else
#define TEST_FILE NULL
#endif

/* Workers have roles, which a policy divides among few, or an odd number. */
#ifdef TEST_ROLES
#define TEST_HAS_ROLES true
#else
#define TEST_HAS_ROLES false
#endif

#define TEST_DEFINE(name_, kind_, text_)                                       \
	static void test_##name_(void);                                        \
	static struct test_case test_case_##name_ = { .name = #name_,          \
						      .file = TEST_FILE,       \
						      .body = test_##name_,    \
						      .kind = (kind_),         \
						      .has_roles =             \
							      TEST_HAS_ROLES,  \
						      .text = (text_) };       \
	__attribute__((constructor)) static void test_register_##name_(void)   \
	{                                                                      \
		test_register(&test_case_##name_);                             \
	}                                                                      \
	static void test_##name_(void)

#define TEST(name) TEST_DEFINE(name, TEST_PLAIN, NULL)
#define TEST_WORKERS(name) TEST_DEFINE(name, TEST_PER_WORKERS, NULL)
#define TEST_ABORTS(name, text) TEST_DEFINE(name, TEST_DEATH, text)

/* The place of a check in the source. */
struct test_place {
	const char *file;
	int line;
	const char *text;
};

#define TEST_PLACE(text_)                                                      \
	(&(const struct test_place){ __FILE__, __LINE__, (text_) })

/*
 * Checks end the test's process at once, from any thread and any task.
 * CHECK_EQ and the like compare as signed 64-bit numbers and print both.
 */
#define CHECK(expr) ((expr) ? (void)0 : test_failed(TEST_PLACE(#expr), NULL))
#define CHECK_COMPARE(a, op, b)                                                \
	test_compare(TEST_PLACE(#a " " #op " " #b), (long long)(a), #op,       \
		     (long long)(b))
#define CHECK_EQ(a, b) CHECK_COMPARE(a, ==, b)
#define CHECK_NE(a, b) CHECK_COMPARE(a, !=, b)
#define CHECK_LT(a, b) CHECK_COMPARE(a, <, b)
#define CHECK_LE(a, b) CHECK_COMPARE(a, <=, b)
#define CHECK_GT(a, b) CHECK_COMPARE(a, >, b)
#define CHECK_GE(a, b) CHECK_COMPARE(a, >=, b)
#define CHECK_STR(a, b) test_compare_text(TEST_PLACE(#a " == " #b), (a), (b))

/* For changes that other threads make soon: looks again for up to 10 seconds. */
#define CHECK_EVENTUALLY(expr)                                                 \
	do {                                                                   \
		uint64_t test_end_ = test_now_ns() + 10000000000ULL;           \
		while (!(expr)) {                                              \
			if (test_now_ns() > test_end_)                         \
				test_failed(TEST_PLACE(#expr),                 \
					    "not even after 10 s");            \
			test_nap_ms(1);                                        \
		}                                                              \
	} while (0)

__attribute__((noreturn)) void test_failed(const struct test_place *place,
					   const char *detail);
void test_compare(const struct test_place *place, long long a, const char *op,
		  long long b);
void test_compare_text(const struct test_place *place, const char *a,
		       const char *b);

/* Ends the test here; the test counts as skipped. */
__attribute__((noreturn)) void test_skip(const char *reason);

/*
 * At file level: each test of the file adds a line of this @kind to the file
 * that $SLEY_PROOF names, if the variable is set:
 * {"kind":..,"name":..,"verdict":..}, with "result" if the test has called
 * test_result().  TEST_PROOF() holds for the whole program, so a file with
 * TEST_PROOF() is in no group.
 */
#ifdef TEST_GROUPED
#define TEST_PROOF(kind)                                                       \
	_Static_assert(0, "a file with TEST_PROOF() is a program of its own");
#else
#define TEST_PROOF(kind)                                                       \
	__attribute__((constructor)) static void test_prove_(void)             \
	{                                                                      \
		test_prove(kind);                                              \
	}
#endif

void test_prove(const char *kind);
void test_result(const char *result);

/* The seed of this run, from $TEST_SEED or the clock. */
uint64_t test_seed(void);
/* Random numbers per thread, from the seed: below @n. */
uint64_t test_random(uint64_t n);

/*
 * The configuration of the fixture: worker count of this run (2 outside of
 * TEST_WORKERS), counting allocator, small stacks, the seed.
 */
const struct sley_config *test_config(void);
/* The bytes that the counting allocator has given out and not got back. */
int64_t test_allocated(void);
/* Lets the allocator fail after @n more calls; -1: never. */
void test_fail_allocation_after(int64_t n);

/* True under AddressSanitizer or ThreadSanitizer. */
bool test_sanitizer(void);
/* True under an emulator of another processor: $TEST_EMULATED is set. */
bool test_emulated(void);
/*
 * True under $SLEY_CHAOS, if the build has chaos: then chance decides on which
 * worker and in which order tasks run, and how much memory is kept for later.
 */
bool test_is_chaotic(void);
/* Under any of these, a test takes several times as long. */
bool test_is_slow(void);
/* @n; if test_is_slow(), an eighth of @n, but at least 1. */
int test_scale(int n);
/* Gives this test @seconds from its start; more if test_is_slow(). */
void test_timeout(unsigned int seconds);

/* Adds @n to the operations that a stress test counts. */
void test_count(uint64_t n);

/*
 * For docs/PROOF.md, by a test whose checks have all passed: @what was done to processes
 * under load, @count times, and what came of it.  Plain words, as all names of proofs.  A
 * line in the file that $SLEY_PROOF names, if the variable is set:
 * {"kind":"reliability","what":..,"build":..,"seed":..,"count":..,"figures":{"lost":0,..}}
 */
struct test_figure {
	const char *name;
	double value;
};

void test_reliability(const char *what, uint64_t count,
		      const struct test_figure *figures, size_t nr);

/* The monotonic clock; sleep with the whole OS thread; burn CPU time. */
uint64_t test_now_ns(void);
void test_nap_ms(unsigned int ms);
void test_burn_ms(unsigned int ms);

/*
 * The CPU time of this process.  And use so much CPU time of this thread: the time in
 * which the kernel has stopped the thread does not count.
 */
uint64_t test_process_cpu_ns(void);
void test_use_cpu_ns(uint64_t ns);

/* A plain thread that must start. */
pthread_t test_thread(void *(*fn)(void *), void *arg);

#endif
