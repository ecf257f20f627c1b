/* SPDX-License-Identifier: MIT */
/*
 * hazard_signals.c - fiber hazards: signals while fibers switch.
 *
 * The mask belongs to the thread: workers block what is sent to the process,
 * and a task must not change that for the others.  These tests open it in
 * .on_start, where it is allowed, so that handlers run on the stacks of fibers,
 * at any instruction, or on the alternate stack that sley gives each worker.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "conformance/bound.h"

#include <sys/resource.h>
#include <sys/wait.h>

TEST_PROOF("hazard")

static atomic_int nr_handled, nr_on_alternate;

/* errno is the interrupted code's: who changes it restores it. */
static void handle(int number)
{
	int saved = errno;
	stack_t now;

	(void)number;
	errno = EDOM;
	if (sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_ONSTACK))
		atomic_fetch_add(&nr_on_alternate, 1);
	atomic_fetch_add(&nr_handled, 1);
	errno = saved;
}

static void install(int flags)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = flags };

	CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
	CHECK_EQ(sigaction(SIGALRM, &action, NULL), 0);
}

/* ---- a storm -------------------------------------------------------------------- */

#define WORKERS_MAX 64

static struct {
	pthread_t worker[WORKERS_MAX];
	atomic_int nr_workers;
	atomic_bool over;
} storm;

static void open_mask(void *self, int worker)
{
	sigset_t set;

	(void)self;
	(void)worker;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGALRM);
	CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
	storm.worker[atomic_fetch_add(&storm.nr_workers, 1)] = pthread_self();
}

/* At each worker in turn, until somebody ends it. */
static void *send_signals(void *arg)
{
	(void)arg;
	while (!atomic_load(&storm.over)) {
		int nr = atomic_load(&storm.nr_workers);

		for (int i = 0; i < nr; i++)
			pthread_kill(storm.worker[i], SIGUSR1);
		/* Under a sanitizer nothing else would come to run. */
		if (test_is_slow())
			test_nap_ms(1);
	}
	return NULL;
}

__attribute__((noinline)) static int get_errno(void)
{
	return errno;
}

__attribute__((noinline)) static void set_errno(int value)
{
	errno = value;
}

struct scene {
	struct sley_mutex mutex;
	struct sley_chan *chan;
	uint64_t sum; /* under the mutex */
};

#define ROUNDS 40

/* Switches in all the ways there are, with values in registers over them. */
static void live_through_it(void *arg)
{
	struct scene *s = arg;
	double x = 1.5;

	for (int i = 1; i <= ROUNDS; i++) {
		int value = i;

		set_errno(i);
		CHECK_EQ(sley_chan_send(s->chan, &value), 0);
		sley_yield();
		CHECK_EQ(get_errno(), i);
		CHECK_EQ(sley_sleep(SLEY_USEC), 0);
		CHECK_EQ(sley_chan_recv(s->chan, &value), 0);
		x = x * 1.5 - 0.25 * i;
		sley_mutex_lock(&s->mutex);
		s->sum += (uint64_t)value;
		sley_yield();
		sley_mutex_unlock(&s->mutex);
		CHECK_EQ(get_errno(), i);
	}
	CHECK(x == 1.5 + 0.5 * ROUNDS);
}

static void nap(void *arg)
{
	struct timespec left = { 0, 200000 };

	(void)arg;
	/* The threads for such calls block signals: no EINTR, ever. */
	CHECK_EQ(nanosleep(&left, NULL), 0);
}

static void nap_elsewhere(void *arg)
{
	for (int i = 0; i < 5; i++)
		CHECK_EQ(sley_blocking_call(nap, arg), 0);
}

#define NR_TASKS 16

static void run_scene(struct sley *rt)
{
	struct scene s = { .mutex = SLEY_MUTEX_INIT };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[NR_TASKS + 1];

	(void)rt;
	CHECK_EQ(sley_chan_create(&s.chan, sizeof(int), NR_TASKS), 0);
	for (int i = 0; i < NR_TASKS; i++)
		sley_spawn(&group, &task[i], live_through_it, &s);
	sley_spawn(&group, &task[NR_TASKS], nap_elsewhere, NULL);
	sley_join(&group);
	CHECK_EQ(s.sum, NR_TASKS * (ROUNDS * (ROUNDS + 1) / 2));
	sley_chan_destroy(s.chan);
}

static void live_through_a_storm(int flags, bool migratable)
{
	struct sley_config config = *test_config();
	pthread_t sender;
	struct sley *rt;

	install(flags);
	config.on_start = open_mask;
	config.migratable = migratable;
	config.stack_kib = test_sanitizer() ? 256 : 32;
	rt = start_with(&config);
	sender = test_thread(send_signals, NULL);
	for (int i = 0; i < test_scale(8); i++)
		run_scene(rt);
	/*
	 * A storm that nobody noticed proves nothing; but a sanitizer calls
	 * handlers when it likes.
	 */
	if (!test_sanitizer())
		CHECK_EVENTUALLY(atomic_load(&nr_handled) > 10);
	atomic_store(&storm.over, true);
	pthread_join(sender, NULL);
	stop(rt);
}

TEST_WORKERS(signals_in_a_storm_nothing_is_lost)
{
	live_through_a_storm(0, false);
	CHECK_EQ(nr_on_alternate, 0);
}

TEST_WORKERS(signals_in_a_storm_where_tasks_move_nothing_is_lost)
{
	live_through_a_storm(SA_RESTART, true);
}

TEST_WORKERS(signals_with_an_alternate_stack_use_that_of_the_worker)
{
	live_through_a_storm(SA_ONSTACK, false);
	if (!test_sanitizer()) /* it calls handlers later, and elsewhere */
		CHECK_EQ(nr_on_alternate, nr_handled);
}

/* An interval timer hits whoever runs: bound threads take signals. */
TEST_WORKERS(signals_of_an_interval_timer_disturb_nobody)
{
	struct itimerval every = { { 0, 500 }, { 0, 500 } }, off = { 0 };
	struct sley *rt;

	install(0);
	rt = start();
	CHECK_EQ(setitimer(ITIMER_REAL, &every, NULL), 0);
	for (int i = 0; i < test_scale(8); i++)
		run_scene(rt);
	if (!test_sanitizer())
		CHECK_EVENTUALLY(atomic_load(&nr_handled) > 2);
	CHECK_EQ(setitimer(ITIMER_REAL, &off, NULL), 0);
	stop(rt);
}

/* ---- the mask ---------------------------------------------------------------------- */

static bool is_blocked(int number)
{
	sigset_t mask;

	CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
	return sigismember(&mask, number) == 1;
}

static void look_at_mask(void *arg)
{
	(void)arg;
	for (int i = 0; i < 5; i++) {
		/* What the process is sent is not for workers to take. */
		CHECK_EQ(is_blocked(SIGTERM), !is_single());
		CHECK_EQ(is_blocked(SIGUSR1), !is_single());
		CHECK(!is_blocked(SIGSEGV));
		CHECK(!is_blocked(SIGBUS));
		CHECK(!is_blocked(SIGFPE));
		sley_yield();
		CHECK_EQ(sley_sleep(10 * SLEY_USEC), 0);
	}
}

static void look_in_call(void *arg)
{
	(void)arg;
	CHECK(is_blocked(SIGTERM));
	CHECK(!is_blocked(SIGSEGV));
}

static void look_elsewhere(void *arg)
{
	CHECK_EQ(sley_blocking_call(look_in_call, arg), 0);
	CHECK_EQ(sley_blocking_begin(), 0);
	look_in_call(arg);
	sley_blocking_end();
	look_at_mask(arg);
}

TEST_WORKERS(signals_are_blocked_in_workers_and_stay_so_over_switches)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[20];

	for (int i = 0; i < 20; i++)
		sley_spawn(&group, &task[i],
			   i % 4 ? look_at_mask : look_elsewhere, NULL);
	sley_join(&group);
	CHECK(!is_blocked(SIGTERM)); /* the caller's own is as it was */
	stop(rt);
}

/* ---- the alternate stack ------------------------------------------------------------ */

static char own_stack[128 << 10];

static void look_at_stack(void *arg)
{
	stack_t now;

	CHECK_EQ(sigaltstack(NULL, &now), 0);
	CHECK(!(now.ss_flags & SS_DISABLE));
	CHECK(!(now.ss_flags & SS_ONSTACK));
	CHECK_EQ(now.ss_sp == (void *)own_stack, arg != NULL);
	sley_yield();
}

TEST_WORKERS(signals_every_thread_that_runs_tasks_has_an_alternate_stack)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[20];

	for (int i = 0; i < 20; i++)
		sley_spawn(&group, &task[i], look_at_stack, NULL);
	sley_join(&group);
	stop(rt);
}

static void bring_own_stack(void *self, int worker)
{
	stack_t mine = { .ss_sp = own_stack, .ss_size = sizeof(own_stack) };

	(void)self;
	(void)worker;
	CHECK_EQ(sigaltstack(&mine, NULL), 0);
}

static void take_own_stack(void *self, int worker)
{
	stack_t now, off = { .ss_flags = SS_DISABLE };

	(void)self;
	(void)worker;
	CHECK_EQ(sigaltstack(NULL, &now), 0);
	CHECK(now.ss_sp == (void *)own_stack);
	CHECK_EQ(sigaltstack(&off, NULL), 0);
}

TEST(signals_a_worker_may_bring_an_alternate_stack_of_its_own)
{
	struct sley_config config = config_of(1);
	struct sley *rt;

	config.on_start = bring_own_stack;
	config.on_stop = take_own_stack;
	rt = start_with(&config);
	run_task(look_at_stack, own_stack);
	stop(rt);
}

/* ---- signals that a system call of the task raises --------------------------------------- */

/* Nobody reads the other end: a thread of the program would die of it. */
static void write_to_nobody(void *arg)
{
	int ends[2];

	(void)arg;
	CHECK_EQ(pipe(ends), 0);
	close(ends[0]);
	for (int i = 0; i < 1000; i++) {
		if (write(ends[1], "0123456789\n", 11) < 0)
			CHECK_EQ(errno, EPIPE);
	}
	close(ends[1]);
}

static void write_too_much(void *arg)
{
	struct rlimit limit = { 16, 16 };
	FILE *file = tmpfile();

	(void)arg;
	CHECK(file);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int i = 0; i < 1000; i++)
		(void)!write(fileno(file), "0123456789\n", 11);
	fclose(file);
}

static sley_fn *writes;

static void write_in_call(void *arg)
{
	CHECK_EQ(sley_blocking_call(writes, arg), 0);
}

static void write_in_region(void *arg)
{
	CHECK_EQ(sley_blocking_begin(), 0);
	writes(arg);
	sley_blocking_end();
}

/* Run @fn as a task, in a process of its own; returns how that ended. */
static int status_of(sley_fn *fn, bool blocked)
{
	pid_t pid = fork();
	sigset_t both;
	int status;

	CHECK_GE(pid, 0);
	if (!pid) {
		sigemptyset(&both);
		sigaddset(&both, SIGPIPE);
		sigaddset(&both, SIGXFSZ);
		signal(SIGPIPE, SIG_DFL);
		signal(SIGXFSZ, SIG_DFL);
		pthread_sigmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &both, NULL);
		_exit(sley_run(test_config(), fn, NULL) ? 1 : 0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

static void check_dies_of(int number)
{
	static sley_fn *const ways[] = { NULL, write_in_call, write_in_region };

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		int status = status_of(ways[i] ? ways[i] : writes, false);

		CHECK(WIFSIGNALED(status));
		CHECK_EQ(WTERMSIG(status), number);
		/* Who created the runtime did not want it. */
		CHECK_EQ(status_of(ways[i] ? ways[i] : writes, true), 0);
	}
}

TEST_WORKERS(signals_of_a_pipe_that_nobody_reads_end_the_program)
{
	writes = write_to_nobody;
	check_dies_of(SIGPIPE);
}

TEST_WORKERS(signals_of_a_file_that_is_too_large_end_the_program)
{
	writes = write_too_much;
	check_dies_of(SIGXFSZ);
}
