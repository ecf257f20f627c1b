/* SPDX-License-Identifier: MIT */
/*
 * os_thread.c - what a thread of ours starts with.
 */
#include "harness/test.h"

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/thread.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct probe {
	uint32_t go;
	int tid;
	void *arg;
	sigset_t mask;
	char name[16];
};

static void *look_around(void *arg)
{
	struct probe *p = arg;

	while (!load_acquire(&p->go))
		os_thread_yield();
	p->tid = os_thread_id();
	p->arg = arg;
	pthread_sigmask(SIG_SETMASK, NULL, &p->mask);
	pthread_getname_np(pthread_self(), p->name, sizeof(p->name));
	return NULL;
}

/* Runs a thread called @name that fills in @p. */
static void run_probe(struct probe *p, const char *name)
{
	pthread_t thread;

	memset(p, 0, sizeof(*p));
	CHECK_EQ(os_thread_start(&thread, name, look_around, p), 0);
	store_release(&p->go, 1); /* it has its name by now */
	os_thread_join(thread);
}

TEST(a_thread_gets_its_argument_and_a_number_of_its_own)
{
	struct probe p;

	run_probe(&p, "probe");
	CHECK(p.arg == &p);
	CHECK_GT(p.tid, 0);
	CHECK_NE(p.tid, os_thread_id());
	CHECK_EQ(os_thread_id(), getpid());
}

/* The number is remembered; in a child of fork() it is another one. */
TEST(a_child_of_fork_has_another_number)
{
	int status;
	pid_t pid;

	CHECK_EQ(os_thread_id(), gettid());
	pid = fork();
	CHECK_GE(pid, 0);
	if (!pid)
		_exit(os_thread_id() == gettid() ? 0 : 1);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_EQ(os_thread_id(), gettid());
}

TEST(a_thread_has_its_name_and_a_long_one_is_cut)
{
	struct probe p;

	run_probe(&p, "sley/3");
	CHECK_STR(p.name, "sley/3");
	run_probe(&p, "a name that is too long");
	CHECK_STR(p.name, "a name that is ");
}

TEST(a_thread_blocks_all_signals_but_the_synchronous_ones)
{
	static const int open[] = { SIGSEGV, SIGBUS,  SIGFPE,
				    SIGILL,  SIGABRT, SIGTRAP };
	static const int blocked[] = { SIGINT,  SIGTERM, SIGUSR1, SIGALRM,
				       SIGPROF, SIGCHLD, SIGPIPE };
	struct probe p;

	run_probe(&p, "probe");
	for (size_t i = 0; i < array_size(open); i++)
		CHECK_EQ(sigismember(&p.mask, open[i]), 0);
	for (size_t i = 0; i < array_size(blocked); i++)
		CHECK_EQ(sigismember(&p.mask, blocked[i]), 1);
	CHECK_EQ(sigismember(&p.mask, SIGRTMIN), 1);
}

TEST(a_thread_blocks_the_last_of_all_signals)
{
	struct probe p;

	if (test_emulated())
		test_skip("qemu-user has no last real-time signal to give");
	run_probe(&p, "probe");
	CHECK_EQ(sigismember(&p.mask, SIGRTMAX), 1);
}

/* SIGPIPE and SIGXFSZ of a thread that runs code of the program. */
static void check_those_of_a_call(int how, int blocked)
{
	sigset_t both, old;
	pthread_t thread;
	struct probe p = { .go = 1 };

	sigemptyset(&both);
	sigaddset(&both, SIGPIPE);
	sigaddset(&both, SIGXFSZ);
	CHECK_EQ(pthread_sigmask(how, &both, &old), 0);
	CHECK_EQ(os_thread_start_on(&thread, "probe", look_around, &p, NULL,
				    true),
		 0);
	os_thread_join(thread);
	CHECK_EQ(sigismember(&p.mask, SIGPIPE), blocked);
	CHECK_EQ(sigismember(&p.mask, SIGXFSZ), blocked);
	CHECK_EQ(sigismember(&p.mask, SIGTERM), 1);
	CHECK_EQ(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
}

TEST(a_thread_that_runs_code_of_the_program_has_its_creators_sigpipe)
{
	check_those_of_a_call(SIG_UNBLOCK, 0);
	check_those_of_a_call(SIG_BLOCK, 1);
}

TEST(the_creators_own_mask_is_as_before)
{
	struct probe p;
	sigset_t mask, after;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	run_probe(&p, "probe");
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	CHECK_EQ(sigismember(&after, SIGUSR2), 1);
	CHECK_EQ(sigismember(&after, SIGUSR1), 0);
	CHECK_EQ(sigismember(&after, SIGTERM), 0);
}

TEST(a_thread_that_cannot_start_is_an_error_and_changes_nothing)
{
	struct rlimit limit = { 0 };
	pthread_t thread, before;
	sigset_t after;

	if (test_sanitizer())
		test_skip("sanitizers need their address space");
	if (test_emulated())
		test_skip("qemu-user ignores RLIMIT_AS");
	memset(&before, 0x5a, sizeof(before));
	thread = before;
	CHECK_EQ(setrlimit(RLIMIT_AS, &limit), 0); /* no room for a stack */
	errno = E2BIG;
	CHECK_EQ(os_thread_start(&thread, "probe", look_around, NULL), -EAGAIN);
	CHECK_EQ(errno, E2BIG);
	CHECK(pthread_equal(thread, before));
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	CHECK_EQ(sigismember(&after, SIGTERM), 0);
}

/* ---- threads that have to live ----------------------------------------------- */

static int nr_lost;

static void count_lost(void)
{
	nr_lost++;
}

static void *exit_guarded(void *arg)
{
	struct os_guarded guarded;

	os_thread_guard(&guarded, count_lost);
	pthread_exit(arg);
}

static void *exit_after_guard(void *arg)
{
	struct os_guarded guarded;

	os_thread_guard(&guarded, count_lost);
	os_thread_unguard(&guarded);
	pthread_exit(arg);
}

TEST(a_thread_that_exits_while_guarded_is_noticed)
{
	pthread_join(test_thread(exit_after_guard, NULL), NULL);
	CHECK_EQ(nr_lost, 0);
	pthread_join(test_thread(exit_guarded, NULL), NULL);
	CHECK_EQ(nr_lost, 1);
}

static void *be_cancelled(void *arg)
{
	struct os_guarded guarded;

	os_thread_guard(&guarded, count_lost);
	pthread_cancel(pthread_self());
	pthread_testcancel();
	*(bool *)arg = true; /* it is still there */
	os_thread_unguard(&guarded);
	pthread_testcancel();
	return NULL;
}

TEST(a_guarded_thread_is_cancelled_when_it_is_no_longer)
{
	bool went_on = false;
	void *result;

	pthread_join(test_thread(be_cancelled, &went_on), &result);
	CHECK(went_on);
	CHECK(result == PTHREAD_CANCELED);
	CHECK_EQ(nr_lost, 0);
}
