/* SPDX-License-Identifier: MIT */
/*
 * self_test.c - the harness sees each kind of failure.
 *
 * A test named broken_... is skipped unless the filter is its whole name.  Each
 * test here runs this very program with such a filter and checks the output.
 */
#include "harness/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *timeout_s = "2", *matrix = "full";

/* Runs "self_test @arg"; returns the exit status, and the output in @output. */
static int run_self(const char *arg, char *output, size_t size)
{
	int fd = memfd_create("output", MFD_CLOEXEC), status;
	pid_t pid;
	ssize_t n;

	if (test_emulated())
		test_skip("qemu-user cannot exec what it emulates");
	pid = fork();
	CHECK(fd >= 0 && pid >= 0);
	if (pid == 0) {
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		setenv("TEST_TIMEOUT", timeout_s, 1);
		setenv("TEST_SEED", "4711", 1);
		setenv("TEST_MATRIX", matrix, 1);
		execl("/proc/self/exe", "self_test", arg, (char *)NULL);
		_exit(99);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	n = pread(fd, output, size - 1, 0);
	output[n < 0 ? 0 : n] = '\0';
	close(fd);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Runs a broken test: the test must fail with @text. */
static void expect_failure(const char *name, const char *text)
{
	static char output[65536];
	int status = run_self(name, output, sizeof(output));

	if (status != 1 || !strstr(output, text) ||
	    !strstr(output, "0 passed, 1 failed\n"))
		fprintf(stderr, "status %d, output:\n%s\n", status, output);
	CHECK_EQ(status, 1);
	CHECK(strstr(output, text));
	CHECK(strstr(output, "FAIL "));
	CHECK(strstr(output, "0 passed, 1 failed\n"));
	CHECK(strstr(output, "TEST_SEED=4711"));
}

TEST(broken_check)
{
	CHECK(1 + 1 == 3);
}
TEST(a_failing_check_is_a_failure)
{
	expect_failure("broken_check", "check failed: 1 + 1 == 3");
}

TEST(broken_equal)
{
	CHECK_EQ(40 + 2, 43);
}
TEST(a_failing_comparison_prints_both_values)
{
	expect_failure("broken_equal", "42 against 43");
}

TEST(broken_text)
{
	CHECK_STR("warp", "weft");
}
TEST(a_failing_text_comparison_prints_both_texts)
{
	expect_failure("broken_text", "\"warp\" against \"weft\"");
}

static void *failing_thread(void *arg)
{
	CHECK(arg != NULL);
	return NULL;
}
TEST(broken_check_in_a_thread)
{
	pthread_join(test_thread(failing_thread, NULL), NULL);
}
TEST(a_failing_check_in_another_thread_is_a_failure)
{
	expect_failure("broken_check_in_a_thread", "arg != NULL");
}

TEST(broken_abort)
{
	abort();
}
TEST(an_abort_is_a_failure)
{
	expect_failure("broken_abort", "died of signal 6");
}

TEST(broken_exit)
{
	_exit(3);
}
TEST(an_early_exit_is_a_failure)
{
	expect_failure("broken_exit", "exit status 3");
}

TEST(broken_hang)
{
	for (;;)
		pause();
}
TEST(a_test_that_hangs_times_out_and_is_named)
{
	uint64_t start = test_now_ns();

	expect_failure("broken_hang", "FAIL broken_hang: timed out after 2 s");
	CHECK_GE(test_now_ns() - start, 1900 * 1000000ULL);
}

TEST_ABORTS(broken_does_not_abort, "anything")
{
}
TEST(a_death_test_that_lives_is_a_failure)
{
	expect_failure("broken_does_not_abort", "did not abort");
}

TEST_ABORTS(broken_aborts_with_another_text, "mutex")
{
	fputs("the sky is falling\n", stderr);
	abort();
}
TEST(a_death_with_the_wrong_text_is_a_failure)
{
	expect_failure("broken_aborts_with_another_text",
		       "aborted without saying \"mutex\"");
	expect_failure("broken_aborts_with_another_text", "the sky is falling");
}

TEST_ABORTS(broken_fails_a_check_in_a_death_test, "check failed")
{
	CHECK(0);
}
TEST(a_failing_check_is_no_abort)
{
	expect_failure("broken_fails_a_check_in_a_death_test", "did not abort");
}

TEST_WORKERS(broken_leak)
{
	const struct sley_allocator *a = &test_config()->allocator;

	CHECK(a->alloc(a->self, 100, 64));
}
TEST(a_leak_is_a_failure)
{
	expect_failure("broken_leak/4", "left behind: 100 bytes, 0 threads");
}

TEST(broken_descriptor)
{
	CHECK(test_config());
	CHECK(open("/dev/null", O_RDONLY) >= 0);
}
TEST(a_descriptor_left_open_is_a_failure)
{
	expect_failure("broken_descriptor", "1 file descriptors");
}

static void *sleeping_thread(void *arg)
{
	test_nap_ms(60000);
	return arg;
}
TEST(broken_thread)
{
	CHECK(test_config());
	test_thread(sleeping_thread, NULL);
}
TEST(a_thread_left_running_is_a_failure)
{
	timeout_s = "20";
	expect_failure("broken_thread", "1 threads");
}

TEST(broken_free_of_another_size)
{
	const struct sley_allocator *a = &test_config()->allocator;

	a->free(a->self, a->alloc(a->self, 100, 64), 99);
}
TEST(a_free_with_another_size_is_a_failure)
{
	expect_failure("broken_free_of_another_size", "100 against 99");
}

TEST(broken_skip)
{
	test_skip("no such device");
}
TEST(a_skipped_test_is_not_a_passed_one)
{
	char output[4096];

	CHECK_EQ(run_self("broken_skip", output, sizeof(output)), 77);
	CHECK(strstr(output, "no such device"));
	CHECK(strstr(output, "0 passed, 0 failed\n"));
}

TEST_PROOF("self")

TEST(proving_adds_a_line_for_each_test)
{
	char output[4096], path[] = "/tmp/sley-proof-XXXXXX", line[256];
	FILE *file;
	int fd = mkstemp(path);

	CHECK_GE(fd, 0);
	CHECK_EQ(setenv("SLEY_PROOF", path, 1), 0);
	CHECK_EQ(run_self("broken_skip", output, sizeof(output)), 77);
	CHECK_EQ(run_self("broken_result", output, sizeof(output)), 0);
	file = fdopen(fd, "r");
	CHECK(file && fgets(line, sizeof(line), file));
	CHECK_STR(line, "{\"kind\":\"self\",\"name\":\"broken_skip\","
			"\"verdict\":\"skipped\"}\n");
	CHECK(fgets(line, sizeof(line), file));
	CHECK_STR(line, "{\"kind\":\"self\",\"name\":\"broken_result\","
			"\"verdict\":\"passed\",\"result\":\"says why\"}\n");
	CHECK(!fgets(line, sizeof(line), file));
	fclose(file);
	unlink(path);
}

TEST(broken_result)
{
	test_result("says why");
}

TEST(reliability_is_a_line_with_figures)
{
	const struct test_figure figures[] = { { "lost", 0 },
					       { "reclaim p99 ms", 4.25 },
					       { "runs", 123456789 } };
	char path[] = "/tmp/sley-proof-XXXXXX", line[256], want[256];
	FILE *file;
	int fd = mkstemp(path);

	CHECK_GE(fd, 0);
	CHECK_EQ(setenv("SLEY_PROOF", "", 1), 0);
	test_reliability("nothing", 1, figures, 1);
	CHECK_EQ(setenv("SLEY_PROOF", path, 1), 0);
	test_reliability("clients killed", 10000, figures, 3);
	test_reliability("stops", 2, NULL, 0);
	CHECK_EQ(unsetenv("SLEY_PROOF"), 0);
	file = fdopen(fd, "r");
	CHECK(file && fgets(line, sizeof(line), file));
	(void)snprintf(want, sizeof(want),
		       "\"seed\":%llu,\"count\":10000,\"figures\":{\"lost\":0,"
		       "\"reclaim p99 ms\":4.25,\"runs\":123456789}}\n",
		       (unsigned long long)test_seed());
	CHECK(strstr(line, "{\"kind\":\"reliability\",\"what\":\"clients "
			   "killed\",\"build\":\"") == line);
	CHECK_STR(strstr(line, "\"seed\":"), want);
	CHECK(fgets(line, sizeof(line), file));
	CHECK(strstr(line, "\"count\":2,\"figures\":{}}\n"));
	CHECK(!fgets(line, sizeof(line), file));
	fclose(file);
	unlink(path);
}

TEST(a_filter_that_matches_nothing_is_a_failure)
{
	char output[4096];

	CHECK_EQ(run_self("no_such_test", output, sizeof(output)), 1);
}

TEST(list_names_every_test_once_per_worker_count)
{
	char output[16384];

	CHECK_EQ(run_self("--list", output, sizeof(output)), 0);
	CHECK(strstr(output, "counts_run_in_order/single\n"));
	CHECK(strstr(output, "counts_run_in_order/64\n"));
	CHECK(!strstr(output, "broken_"));
}

TEST(the_short_matrix_is_single_2_and_8)
{
	char output[16384], expected[16384];

	matrix = "short";
	CHECK_EQ(run_self("--list", output, sizeof(output)), 0);
	CHECK(strstr(output, "counts_run_in_order/single\n"
			     "counts_run_in_order/2\n"
			     "counts_run_in_order/8\n"));
	CHECK(!strstr(output, "/1\n") && !strstr(output, "/4\n") &&
	      !strstr(output, "/64\n"));
	CHECK(strstr(output, "the_short_matrix_is_single_2_and_8\n"));
	/* No value is the full matrix. */
	matrix = "full";
	CHECK_EQ(run_self("--list", expected, sizeof(expected)), 0);
	matrix = "";
	CHECK_EQ(run_self("--list", output, sizeof(output)), 0);
	CHECK_STR(output, expected);
}

TEST(the_usual_matrix_is_all_but_8)
{
	char output[16384];

	matrix = "usual";
	CHECK_EQ(run_self("--list", output, sizeof(output)), 0);
	CHECK(strstr(output, "counts_run_in_order/single\n"
			     "counts_run_in_order/1\n"
			     "counts_run_in_order/2\n"
			     "counts_run_in_order/4\n"
			     "counts_run_in_order/64\n"));
}

TEST(the_few_are_single_and_8)
{
	char output[16384];

	matrix = "few";
	CHECK_EQ(run_self("--list", output, sizeof(output)), 0);
	CHECK(strstr(output, "counts_run_in_order/single\n"
			     "counts_run_in_order/8\n"));
	CHECK(!strstr(output, "/1\n") && !strstr(output, "/2\n") &&
	      !strstr(output, "/4\n") && !strstr(output, "/64\n"));
}

TEST(the_threads_are_2_and_8)
{
	char output[16384];

	matrix = "threads";
	CHECK_EQ(run_self("--list", output, sizeof(output)), 0);
	CHECK(strstr(output, "counts_run_in_order/2\n"
			     "counts_run_in_order/8\n"));
	CHECK(!strstr(output, "/single\n") && !strstr(output, "/1\n") &&
	      !strstr(output, "/4\n") && !strstr(output, "/64\n"));
}

TEST(an_unknown_matrix_is_a_failure)
{
	char output[4096];

	matrix = "tiny";
	CHECK_EQ(run_self("broken_result", output, sizeof(output)), 1);
	CHECK(strstr(output, "TEST_MATRIX=tiny"));
}

TEST_WORKERS(counts_run_in_order)
{
	int n = test_config()->workers;

	CHECK(n == SLEY_SINGLE || n == 1 || n == 2 || n == 4 || n == 8 ||
	      n == 64);
	CHECK_EQ(test_config()->seed, test_seed());
}

TEST_ABORTS(an_abort_with_the_text_passes, "the rule")
{
	fputs("sley: misuse: the rule\n", stderr);
	abort();
}

TEST(the_allocator_aligns_counts_and_fails_on_demand)
{
	const struct sley_allocator *a = &test_config()->allocator;
	char *p = a->alloc(a->self, 10, 1), *q = a->alloc(a->self, 1, 4096);

	CHECK(p && q && (uintptr_t)q % 4096 == 0);
	CHECK_EQ(test_allocated(), 11);
	a->free(a->self, p, 10);
	a->free(a->self, q, 1);
	CHECK_EQ(test_allocated(), 0);
	test_fail_allocation_after(1);
	p = a->alloc(a->self, 5, 8);
	CHECK(p && !a->alloc(a->self, 5, 8) && !a->alloc(a->self, 5, 8));
	test_fail_allocation_after(-1);
	a->free(a->self, p, 5);
}

TEST(random_numbers_stay_below_their_bound)
{
	int i;

	for (i = 0; i < 1000; i++)
		CHECK_LT(test_random(7), 7);
}
