/* SPDX-License-Identifier: MIT */
/*
 * test.c - runs tests, each in a separate process.
 *
 * The parent never has a second thread and only forks, waits and counts.  Parent
 * and child communicate through a shared page.
 * The child ends with _exit() in every case: 0 passed, 1 failed, 77 skipped.
 */
#include "harness/test.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/fixture.h"
#include "harness/proof.h"

enum { PASSED = 0, FAILED = 1, SKIPPED = 77 };

/*
 * The worker counts of each TEST_WORKERS, by $TEST_MATRIX: of most files, and of files
 * with TEST_ROLES.  0 is the end.
 */
static const struct matrix {
	const char *name;
	int counts[7];
	int roles[9];
} matrices[] = {
	{ "full",
	  { SLEY_SINGLE, 1, 2, 4, 8, 64, 0 },
	  { SLEY_SINGLE, 1, 2, 3, 4, 8, 16, 64, 0 } },
	{ "usual",
	  { SLEY_SINGLE, 1, 2, 4, 64, 0 },
	  { SLEY_SINGLE, 1, 2, 3, 16, 0 } },
	{ "short", { SLEY_SINGLE, 2, 8, 0 }, { SLEY_SINGLE, 3, 16, 0 } },
	{ "few", { SLEY_SINGLE, 8, 0 }, { SLEY_SINGLE, 4, 0 } },
	{ "threads", { 2, 8, 0 }, { 2, 8, 0 } },
};
/* The worker count of any other test. */
static const int one_run[] = { 2, 0 };

/* Shared between the parent and the child that runs a test. */
struct board {
	unsigned int timeout_s;
	atomic_uint_least64_t nr_operations; /* test_count()              */
	char message[256]; /* the failure, if the child can still write it */
	char result[64];   /* for $SLEY_PROOF; empty: nothing to add       */
};

static struct test_case *first_test;
static struct test_case **last_test = &first_test;
static struct board *board;
static const struct matrix *matrix = &matrices[0];
static uint64_t seed;
static int nr_passed, nr_failed, nr_skipped;
static uint64_t nr_operations;

void test_register(struct test_case *test)
{
	*last_test = test;
	last_test = &test->next;
}

uint64_t test_seed(void)
{
	return seed;
}

/* ---- checks, in the child ---------------------------------------------- */

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes one line at once: other threads may be writing too. */
static void say(const char *format, ...)
{
	char line[1024];
	va_list args;
	ssize_t written;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (n > (int)sizeof(line) - 1)
		n = sizeof(line) - 1;
	written = write(STDERR_FILENO, line, (size_t)n);
	(void)written;
}

void test_failed(const struct test_place *place, const char *detail)
{
	say("%s:%d: check failed: %s%s%s\n", place->file, place->line,
	    place->text, detail ? ": " : "", detail ? detail : "");
	_exit(FAILED);
}

void test_compare(const struct test_place *place, long long a, const char *op,
		  long long b)
{
	char detail[96];
	bool holds = op[0] == '='   ? a == b
		     : op[0] == '!' ? a != b
		     : op[0] == '<' ? (op[1] ? a <= b : a < b)
				    : (op[1] ? a >= b : a > b);

	if (holds)
		return;
	snprintf(detail, sizeof(detail), "%lld against %lld", a, b);
	test_failed(place, detail);
}

void test_compare_text(const struct test_place *place, const char *a,
		       const char *b)
{
	char detail[512];

	if (a && b && strcmp(a, b) == 0)
		return;
	snprintf(detail, sizeof(detail), "\"%s\" against \"%s\"",
		 a ? a : "(null)", b ? b : "(null)");
	test_failed(place, detail);
}

void test_skip(const char *reason)
{
	snprintf(board->message, sizeof(board->message), "%s", reason);
	_exit(SKIPPED);
}

void test_result(const char *result)
{
	snprintf(board->result, sizeof(board->result), "%s", result);
}

void test_timeout(unsigned int seconds)
{
	if (!getenv("TEST_TIMEOUT"))
		board->timeout_s = seconds * (test_is_slow() ? 4 : 1);
}

void test_count(uint64_t n)
{
	atomic_fetch_add(&board->nr_operations, n);
}

/* ---- one run of one test ----------------------------------------------- */

struct run {
	const struct test_case *test;
	int workers;
	char name[160];
	int output; /* TEST_DEATH: the text on stderr; else -1 */
};

static void child_main(const struct run *run)
{
	struct rlimit no_core = { 0, 0 };

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (run->output >= 0) {
		dup2(run->output, STDERR_FILENO);
		setrlimit(RLIMIT_CORE, &no_core);
	}
	fixture_begin(run->workers, run->test->kind == TEST_PER_WORKERS);
	run->test->body();
	fixture_end();
	fflush(NULL);
	_exit(PASSED);
}

static void print_threads(pid_t pid)
{
	char command[200];
	int rc;

	/* The shell is the shortest way to print where each thread sleeps. */
	snprintf(command, sizeof(command),
		 "cd /proc/%d/task && for t in *; do echo \"  thread $t"
		 " $(cat $t/comm) $(cut -d' ' -f3 $t/stat) $(cat $t/wchan)\";"
		 " done 2>/dev/null | head -n 20",
		 (int)pid);
	rc = system(command);
	(void)rc;
}

/* Has @pid ended?  The zombie stays: it keeps the number of its process group. */
static bool has_ended(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) ==
		       0 &&
	       info.si_pid == pid;
}

/* Waits until @pid has ended or the time is over; true if @pid has ended. */
static bool wait_for_end(pid_t pid, int pidfd, const unsigned int *limit)
{
	uint64_t start = test_now_ns();

	for (;;) {
		uint64_t ms = (test_now_ns() - start) / 1000000;
		struct pollfd poll_end = { .fd = pidfd, .events = POLLIN };

		if (has_ended(pid))
			return true;
		if (ms >= *limit * 1000ULL)
			return false;
		/*
		 * The child may move its limit: look at least once a second;
		 * more often where an emulator has no descriptors of processes.
		 */
		poll(&poll_end, 1, pidfd < 0 ? 5 : 1000);
	}
}

static void abort_child(pid_t pid, int pidfd)
{
	const unsigned int grace_s = 3;

	print_threads(pid);
	fflush(stdout);
	/* SIGABRT first: the child may leave a core or a backtrace. */
	kill(pid, SIGABRT);
	(void)wait_for_end(pid, pidfd, &grace_s);
}

/* All processes that the test started end with the test. */
static int end_group(pid_t pid)
{
	int status = 0;

	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

/* The output of a TEST_DEATH, as text. */
static void read_output(int fd, char *out, size_t size)
{
	ssize_t n = pread(fd, out, size - 1, 0);

	out[n < 0 ? 0 : n] = '\0';
}

static int judge_death(const struct run *run, int status)
{
	static char output[65536];

	read_output(run->output, output, sizeof(output));
	if (!WIFSIGNALED(status) ||
	    (WTERMSIG(status) != SIGABRT && WTERMSIG(status) != SIGSEGV)) {
		printf("FAIL %s: did not abort\n%s", run->name, output);
		return FAILED;
	}
	if (!strstr(output, run->test->text)) {
		printf("FAIL %s: aborted without saying \"%s\", but:\n%s\n",
		       run->name, run->test->text, output);
		return FAILED;
	}
	return PASSED;
}

static int judge(const struct run *run, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
		printf("skip %s: %s\n", run->name, board->message);
		return SKIPPED;
	}
	if (run->test->kind == TEST_DEATH)
		return judge_death(run, status);
	if (WIFSIGNALED(status)) {
		printf("FAIL %s: died of signal %d (%s)\n", run->name,
		       WTERMSIG(status), strsignal(WTERMSIG(status)));
		return FAILED;
	}
	if (WEXITSTATUS(status) == PASSED)
		return PASSED;
	printf("FAIL %s: exit status %d\n", run->name, WEXITSTATUS(status));
	return FAILED;
}

static unsigned int default_timeout(void)
{
	const char *text = getenv("TEST_TIMEOUT");

	return text ? (unsigned int)atoi(text) : test_is_slow() ? 120 : 30;
}

static int run_in_child(struct run *run)
{
	int status, pidfd, verdict;
	bool in_time;
	pid_t pid;

	memset(board, 0, sizeof(*board));
	board->timeout_s = default_timeout();
	run->output = run->test->kind == TEST_DEATH ? memfd_create("stderr", 0)
						    : -1;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		child_main(run);
	if (pid < 0) {
		printf("FAIL %s: cannot fork: %s\n", run->name,
		       strerror(errno));
		return FAILED;
	}
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	in_time = wait_for_end(pid, pidfd, &board->timeout_s);
	if (!in_time) {
		printf("FAIL %s: timed out after %u s\n", run->name,
		       board->timeout_s);
		abort_child(pid, pidfd);
	}
	status = end_group(pid);
	verdict = in_time ? judge(run, status) : FAILED;
	nr_operations += atomic_load(&board->nr_operations);
	close(pidfd);
	if (run->output >= 0)
		close(run->output);
	return verdict;
}

static const char *word_for(int verdict)
{
	return verdict == PASSED    ? "passed"
	       : verdict == SKIPPED ? "skipped"
				    : "failed";
}

static void run_and_count(struct run *run, const char *program)
{
	uint64_t start = test_now_ns();
	int verdict = run_in_child(run);

	proof_test(run->name, word_for(verdict), board->result);
	if (verdict == PASSED) {
		nr_passed++;
		printf("ok   %s (%d ms)\n", run->name,
		       (int)((test_now_ns() - start) / 1000000));
	} else if (verdict == SKIPPED) {
		nr_skipped++;
	} else {
		nr_failed++;
		printf("     again: TEST_SEED=%llu %s %s\n",
		       (unsigned long long)seed, program, run->name);
	}
	fflush(stdout);
}

/* ---- all tests --------------------------------------------------------- */

/* Is @test of the source file with the base name @name? */
static bool is_of_file(const struct test_case *test, const char *name)
{
	size_t length = strlen(name);
	const char *slash;

	if (!test->file)
		return false;
	slash = strrchr(test->file, '/');
	slash = slash ? slash + 1 : test->file;
	return strncmp(slash, name, length) == 0 && slash[length] == '.';
}

/* The file by whose name this program was called, or NULL: all files. */
static const char *choose_file(const char *program)
{
	const char *slash = strrchr(program, '/');
	const char *name = slash ? slash + 1 : program;
	const struct test_case *test;

	for (test = first_test; test; test = test->next) {
		if (is_of_file(test, name))
			return name;
	}
	return NULL;
}

static bool wanted(const char *name, const char *filter)
{
	if (strncmp(name, "broken_", 7) == 0)
		return filter && strcmp(name, filter) == 0;
	return !filter || strstr(name, filter);
}

static const int *worker_counts(const struct test_case *test)
{
	if (test->kind != TEST_PER_WORKERS)
		return one_run;
	return test->has_roles ? matrix->roles : matrix->counts;
}

static void run_test(const struct test_case *test, const char *filter,
		     const char *program)
{
	const int *workers = worker_counts(test);
	struct run run = { .test = test };

	for (; *workers; workers++) {
		run.workers = *workers;
		if (test->kind != TEST_PER_WORKERS)
			snprintf(run.name, sizeof(run.name), "%s", test->name);
		else if (run.workers == SLEY_SINGLE)
			snprintf(run.name, sizeof(run.name), "%s/single",
				 test->name);
		else
			snprintf(run.name, sizeof(run.name), "%s/%d",
				 test->name, run.workers);
		if (!wanted(run.name, filter))
			continue;
		if (program)
			run_and_count(&run, program);
		else
			puts(run.name);
	}
}

static void choose_seed(void)
{
	const char *text = getenv("TEST_SEED");

	seed = text ? strtoull(text, NULL, 0)
		    : (test_now_ns() ^ ((uint64_t)getpid() << 20)) % 1000000007;
	if (seed == 0)
		seed = 1;
}

static void choose_matrix(void)
{
	const char *text = getenv("TEST_MATRIX");
	size_t i;

	if (!text || !*text)
		return;
	for (i = 0; i < sizeof(matrices) / sizeof(*matrices); i++) {
		if (strcmp(text, matrices[i].name) == 0) {
			matrix = &matrices[i];
			return;
		}
	}
	fprintf(stderr,
		"TEST_MATRIX=%s: not full, usual, short, few or threads\n",
		text);
	exit(FAILED);
}

static void run_all(const char *filter, char *program, bool list)
{
	const char *file = choose_file(program);
	const struct test_case *test;

	for (test = first_test; test; test = test->next) {
		if (!file || is_of_file(test, file))
			run_test(test, filter, list ? NULL : program);
	}
}

int main(int argc, char **argv)
{
	bool list = argc > 1 && strcmp(argv[1], "--list") == 0;
	const char *filter = argc > 1 + list ? argv[1 + list] : NULL;
	uint64_t start = test_now_ns();

	choose_seed();
	choose_matrix();
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED) {
		perror("mmap");
		return FAILED;
	}
	if (!list)
		printf("seed %llu\n", (unsigned long long)seed);
	run_all(filter, argv[0], list);
	if (list)
		return 0;
	if (nr_skipped)
		printf("%d skipped\n", nr_skipped);
	printf("%d passed, %d failed\n", nr_passed, nr_failed);
	if (!nr_failed)
		proof_run(&(struct proof){
			.program = argv[0],
			.nr_tests = nr_passed,
			.nr_operations = nr_operations,
			.seconds = (double)(test_now_ns() - start) / 1e9,
		});
	if (nr_failed || (!nr_passed && !nr_skipped))
		return FAILED;
	return nr_passed ? PASSED : SKIPPED;
}
