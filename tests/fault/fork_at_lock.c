/* SPDX-License-Identifier: MIT */
/*
 * fork_at_lock.c - fork() at every lock: the child's own runtime works.
 *
 * A program that uses all models runs on a few threads.  Whenever one of its
 * threads is about to take a lock of the library, and again when it has the lock
 * (src/base/fault_lock.h), the thread stops, and another thread calls fork().  So
 * the child finds the lock as the thread that is not there left it.  The child
 * runs the same program in a runtime of its own, and must end in time; so must the
 * parent.
 *
 * Where the library takes the lock over the fork (os/at_fork.h), fork() cannot
 * come back while the thread stands there.  So the thread stops for STOP_NS at
 * most, and the fork happens a moment later.
 *
 *   sample    at each place that takes a lock the first few times, "make test"
 *   all       at each lock that is taken: the N-th, for every N, a part of all N
 *             in each run of the program, "make prove"
 *
 * One fork is made at a time.  A thread whose turn comes while the forker is still in
 * the fork before, perhaps for a lock that this very thread has, goes on after
 * STOP_NS without a fork: it is counted as missed.  On a busy machine that is one in
 * three; runs differ, so that another run misses others.
 *
 * FORK_PROGRESS=1 says how often each place was met.
 */
#include "fault/all_models.h"

#include "harness/test.h"

#include "base/fault_lock.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STOP_NS 3000000
#define CHILD_SECONDS 20
#define CHILDREN 8 /* at a time */
#define SITES_MAX 1024
#define MISSED_MAX 3

struct meeting {
	const struct fault_lock_site *site;
	bool taken;
};

/* What a run does: which of the locks it forks at. */
static struct {
	int first;      /* so many times at each site and moment; or       */
	unsigned every; /* each so-manieth lock, from @offset on           */
	unsigned offset;
} run;

static struct {
	atomic_bool busy; /* a thread stands at a lock, or its child runs   */
	atomic_bool in_fork; /* the forker is in fork()                       */
	struct meeting at;  /* of the thread that stands there                */
	sem_t wanted, done; /* to the forker, and back                        */
	atomic_uint nr_met, nr_forks, nr_missed;
	atomic_bool over;
} stage;

static struct {
	_Atomic(const struct fault_lock_site *) site;
	/* Before the lock is taken, and with it. */
	atomic_int met[2], forked[2], missed[2];
} sites[SITES_MAX];

static _Thread_local bool is_forker;

/* ---- where locks are taken ------------------------------------------------------ */

static int index_of(const struct fault_lock_site *site)
{
	for (int i = 0; i < SITES_MAX; i++) {
		const struct fault_lock_site *seen =
			atomic_load(&sites[i].site);

		if (!seen &&
		    atomic_compare_exchange_strong(&sites[i].site, &seen, site))
			return i;
		if (seen == site)
			return i;
	}
	CHECK(!"there is room for all sites");
	return 0;
}

static bool is_chosen(int i, bool taken)
{
	unsigned nr = atomic_fetch_add(&stage.nr_met, 1);

	atomic_fetch_add(&sites[i].met[taken], 1);
	if (run.every)
		return nr % run.every == run.offset;
	return atomic_load(&sites[i].forked[taken]) < run.first &&
	       atomic_load(&sites[i].missed[taken]) < MISSED_MAX;
}

static struct timespec in_ns(long ns)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ns;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
}

/* False: the forker may be waiting for a lock that the caller has. */
static bool enter_stage(void)
{
	uint64_t since_ns = 0;

	while (atomic_exchange(&stage.busy, true)) {
		uint64_t now_ns = test_now_ns();

		if (!atomic_load(&stage.in_fork))
			since_ns = 0;
		else if (!since_ns)
			since_ns = now_ns;
		else if (now_ns - since_ns > STOP_NS)
			return false;
		nap();
	}
	return true;
}

static void ask_for_fork(void)
{
	struct timespec end = in_ns(STOP_NS);

	/* The last one may not have waited for its answer. */
	while (sem_trywait(&stage.done) == 0)
		;
	sem_post(&stage.wanted);
	while (sem_timedwait(&stage.done, &end) && errno == EINTR)
		;
}

/* In the thread that takes the lock: no call of the library. */
static void stop_and_fork(const struct fault_lock_site *site, bool taken)
{
	int i, saved = errno;

	if (is_forker)
		return;
	i = index_of(site);
	if (!is_chosen(i, taken))
		return;
	if (enter_stage()) {
		atomic_fetch_add(&sites[i].forked[taken], 1);
		stage.at = (struct meeting){ site, taken };
		ask_for_fork();
	} else {
		atomic_fetch_add(&sites[i].missed[taken], 1);
		atomic_fetch_add(&stage.nr_missed, 1);
	}
	errno = saved;
}

/* ---- the forker ------------------------------------------------------------------ */

static void be_child(void)
{
	fault_set_lock_plan(NULL);
	alarm(CHILD_SECONDS);
	check_nothing_is_left();
	use_all_models(0, 2);
	_exit(0);
}

struct child {
	pid_t pid;
	struct meeting at;
};

static void await_child(const struct child *child)
{
	const struct fault_lock_site *site = child->at.site;
	int status;

	CHECK_EQ(waitpid(child->pid, &status, 0), child->pid);
	if (status == 0)
		return;
	fprintf(stderr,
		"A child was forked while a thread %s the lock in %s() (%s:%d), "
		"and perhaps another thread had another one: it %s (status "
		"%#x).\n",
		child->at.taken ? "had" : "was about to take", site->function,
		site->file, site->line,
		WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "hangs"
								   : "fails",
		(unsigned)status);
	CHECK(!"the child of every fork comes to its end");
}

static void fork_now(struct child *child)
{
	child->at = stage.at;
	atomic_store(&stage.in_fork, true);
	child->pid = fork();
	if (child->pid == 0)
		be_child();
	atomic_store(&stage.in_fork, false);
	CHECK_GT(child->pid, 0);
	sem_post(&stage.done);
	atomic_store(&stage.busy, false);
}

/* Some children at a time: threads that have locks wait for the next fork. */
static void *fork_on_demand(void *arg)
{
	struct child children[CHILDREN];
	unsigned nr = 0;

	(void)arg;
	is_forker = true;
	for (;;) {
		while (sem_wait(&stage.wanted))
			;
		if (atomic_load(&stage.over))
			break;
		if (nr >= CHILDREN)
			await_child(&children[nr % CHILDREN]);
		fork_now(&children[nr++ % CHILDREN]);
	}
	for (unsigned i = nr > CHILDREN ? nr - CHILDREN : 0; i < nr; i++)
		await_child(&children[i % CHILDREN]);
	atomic_fetch_add(&stage.nr_forks, nr);
	return NULL;
}

/* ---- runs -------------------------------------------------------------------------- */

static void skip_sanitizers(void)
{
	if (test_sanitizer())
		test_skip("sanitizers do not survive fork() with threads");
	if (test_emulated())
		test_skip("qemu-user dies of threads in the forked child of a "
			  "process with threads");
}

static void *use_all(void *arg)
{
	int id = *(int *)arg;

	use_all_models(id, 2 - id);
	return NULL;
}

/* The program, once, and forks while it runs. */
static void run_program(void)
{
	static int id[ALL_MODELS_MAX] = { 0, 1 };
	pthread_t forker, thread[ALL_MODELS_MAX];

	CHECK_EQ(sem_init(&stage.wanted, 0, 0), 0);
	CHECK_EQ(sem_init(&stage.done, 0, 0), 0);
	atomic_store(&stage.over, false);
	/* A thread that ended last may have asked for a fork that nobody made. */
	atomic_store(&stage.busy, false);
	atomic_store(&stage.nr_met, 0);
	forker = test_thread(fork_on_demand, NULL);
	fault_set_lock_plan(stop_and_fork);
	for (int i = 0; i < ALL_MODELS_MAX; i++)
		thread[i] = test_thread(use_all, &id[i]);
	for (int i = 0; i < ALL_MODELS_MAX; i++)
		pthread_join(thread[i], NULL);
	fault_set_lock_plan(NULL);
	atomic_store(&stage.over, true);
	sem_post(&stage.wanted);
	pthread_join(forker, NULL);
}

static void report(void)
{
	int nr = 0;

	for (; nr < SITES_MAX && atomic_load(&sites[nr].site); nr++) {
		const struct fault_lock_site *site =
			atomic_load(&sites[nr].site);

		if (getenv("FORK_PROGRESS"))
			fprintf(stderr, "%6d met, %3d + %3d forks  %s:%d\n",
				sites[nr].met[0], sites[nr].forked[0],
				sites[nr].forked[1], site->file, site->line);
	}
	fprintf(stderr, "%u forks at %d places, %u missed\n",
		atomic_load(&stage.nr_forks), nr,
		atomic_load(&stage.nr_missed));
}

/*
 * A place may always be missed: where the lock is taken inside another one, which
 * the fork takes, too, and for which the fork before it waits already.
 */
static bool is_tried(int i, bool taken)
{
	return atomic_load(&sites[i].forked[taken]) ||
	       atomic_load(&sites[i].missed[taken]) == MISSED_MAX;
}

/* Was there a fork at each place that was met, before the lock and with it? */
static bool all_tried(void)
{
	if (!atomic_load(&sites[0].site))
		return false;
	for (int i = 0; i < SITES_MAX && atomic_load(&sites[i].site); i++) {
		if (!is_tried(i, false) || !is_tried(i, true))
			return false;
	}
	return true;
}

/* Where two threads stand in each other's way, one of them tries the next time. */
TEST(a_child_forked_at_the_first_locks_of_each_place_runs)
{
	skip_sanitizers();
	run.first = 1;
	for (int i = 0; i < 2 && !all_tried(); i++)
		run_program();
	report();
	/* The program has not shrunk to nothing: it has some 100 places. */
	CHECK_GE(atomic_load(&stage.nr_forks), 150);
}

/*
 * All N, one of PARTS of them in each run.  Runs differ, since there are threads: so each
 * part is of all locks that its own run takes.
 */
#define PARTS 16

TEST(a_child_forked_at_any_lock_runs)
{
	skip_sanitizers();
	if (!getenv("FORK_ALL"))
		test_skip("of \"make prove\": set FORK_ALL");
	run.every = PARTS;
	for (run.offset = 0; run.offset < PARTS; run.offset++)
		run_program();
	report();
}
