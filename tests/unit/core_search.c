/* SPDX-License-Identifier: MIT */
/*
 * core_search.c - a worker that picks for a task that holds the lock of what it is
 * about to wait for takes what is at hand, and leaves the rest for later.  And how
 * often a worker without work looks for work before it sleeps.
 */
#include "harness/test.h"

#include "core/sched/place.h"
#include "core/sched/poller.h"
#include "core/sched/source.h"
#include "core/wait/wait.h"
#include "core/sched/worker.h"

#include <sley/io.h>
#include <sley/sley.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#define PICKS 200 /* each of them would be a fair one */
#define BELLS 200
#define FAIR 1000 /* so many picks later a pick is fair */

static atomic_bool started, spawned, ran;

static void run(void *arg)
{
	(void)arg;
	atomic_store(&ran, true);
}

/* As wait_leave() would, up to the switch. */
static struct sley_task *pick_for_wait(struct worker *worker,
				       struct sley_waitq *q)
{
	struct sley_task *task;

	worker->after.kind = AFTER_WAIT;
	worker->after.q = q;
	task = worker_pick(worker);
	worker->after.kind = AFTER_NOTHING;
	return task;
}

/* The tasks are at hand, in the ring; a fair pick may come first. */
static void take_both(struct worker *worker, struct sley_waitq *q)
{
	struct sley_task *task[2];

	for (int i = 0; i < 2; i++) {
		while (!(task[i] = pick_for_wait(worker, q)))
			;
	}
	place_spawned(worker, task[0]);
	place_spawned(worker, task[1]);
}

static void look(void *arg)
{
	struct sley_waitq q = SLEY_WAITQ_INIT;
	struct worker *worker = worker_current();
	struct sley_task *first, *second;

	(void)arg;
	atomic_store(&started, true);
	while (!atomic_load(&spawned))
		test_nap_ms(1);
	/* One task is taken, and the other one is not moved to the ring. */
	worker->tick = 0;
	first = pick_for_wait(worker, &q);
	CHECK(first);
	CHECK_EQ(ring_size(&worker->ring), 0u);
	/* Nothing else is done for a fair pick, and no such pick is made. */
	store_relaxed(&worker->poke, 1);
	for (int i = 0; i < PICKS; i++)
		CHECK(!pick_for_wait(worker, &q));
	/* With nothing locked the fair pick comes, and finds the other task. */
	second = pick_for_wait(worker, NULL);
	CHECK(second);
	place_spawned(worker, first);
	place_spawned(worker, second);
	take_both(worker, &q);
}

TEST(a_shared_queue_is_not_emptied_under_the_lock_of_a_list)
{
	struct sley_config config = *test_config();
	struct sley *rt;

	if (test_is_chaotic())
		test_skip("chaos steals, and moves tasks about");
	config.workers = 1;
	CHECK_EQ(sley_create(&rt, &config), 0);
	CHECK_EQ(sley_bind(rt), 0);
	CHECK_EQ(sley_schedule(look, NULL), 0);
	CHECK_EVENTUALLY(atomic_load(&started));
	for (int i = 0; i < 2; i++)
		CHECK_EQ(sley_schedule(run, NULL), 0);
	atomic_store(&spawned, true);
	CHECK_EVENTUALLY(atomic_load(&ran));
	sley_unbind(rt);
	sley_destroy(rt);
}

struct bell {
	struct alarm alarm;
	struct worker *worker;
	atomic_bool rung;
};

static void hold(struct alarm *alarm)
{
	(void)alarm;
}

/* The monitor may be the one that rings: it has no lock of the task. */
static void ring(struct alarm *alarm)
{
	struct bell *bell = container_of(alarm, struct bell, alarm);

	if (worker_current() == bell->worker)
		CHECK(!after_is_wait(&bell->worker->after));
	atomic_store(&bell->rung, true);
}

/* The bell is due at some time during one of these picks. */
static void pick_until_due(struct worker *worker)
{
	struct bell bell = { .alarm = { .hold = hold, .ring = ring },
			     .worker = worker };
	struct sley_waitq q = SLEY_WAITQ_INIT;
	uint64_t due_ns = sley_now() + test_random(5000);

	(void)alarm_start(&worker->timers, &bell.alarm, due_ns);
	while (sley_now() <= due_ns + 1000) {
		worker->tick = FAIR;
		CHECK(!pick_for_wait(worker, &q));
	}
	worker_fire_timers(worker);
	while (!atomic_load(&bell.rung))
		test_nap_ms(1);
}

static void pick_with_bells(void *arg)
{
	(void)arg;
	for (int i = 0; i < BELLS; i++)
		pick_until_due(worker_current());
}

TEST(no_alarm_rings_under_the_lock_of_a_list)
{
	struct sley_config config = *test_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct sley *rt;

	if (test_is_chaotic())
		test_skip("chaos steals, and moves tasks about");
	config.workers = 1;
	CHECK_EQ(sley_create(&rt, &config), 0);
	CHECK_EQ(sley_bind(rt), 0);
	sley_spawn(&group, &task, pick_with_bells, NULL);
	sley_join(&group);
	sley_unbind(rt);
	sley_destroy(rt);
}

/* ---- looks before a worker sleeps ---------------------------------------------------- */

/* What the worker has done before: so many edges between two searches, and now. */
struct history {
	uint32_t edges_before;
	uint32_t edges_now;
};

static struct worker *sleeper;
static struct history history;
static uint32_t nr_picks;
static int nr_asked, nr_asked_in_search;
static bool with_source;
static atomic_bool taken;
static atomic_int nr_ran;

static void count(void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_ran, 1);
}

static void remember(struct worker *worker)
{
	for (int i = 0; i < 20; i++) {
		poller_count_edges(worker, history.edges_before);
		(void)!poller_gathers(worker);
	}
	poller_count_edges(worker, history.edges_now);
}

/*
 * On the worker, in place of its loop: until a task comes.  Each look is a pick; a fair
 * pick begins the count anew.
 */
static void search_in_vain(void *arg)
{
	struct sley_task *task;
	uint32_t fair;

	(void)arg;
	sleeper = worker_current();
	remember(sleeper);
	sleeper->tick = 0;
	fair = sleeper->fair;
	nr_asked = 0;
	atomic_store(&started, true);
	task = worker_search(sleeper);
	nr_asked_in_search = nr_asked;
	nr_picks = sleeper->fair != fair ? FAIR : sleeper->tick;
	place_spawned(sleeper, task);
}

/* A source that never has anything, and counts how often it is asked. */
static bool ask(void *arg)
{
	(void)arg;
	nr_asked++;
	return false;
}

static bool nothing(void *arg)
{
	(void)arg;
	return false;
}

static bool take_nothing(void *arg)
{
	(void)arg;
	atomic_store(&taken, true);
	return false;
}

/* A new source is taken from once. */
static void add_silent_source(struct sley *rt)
{
	const struct source_ops ops = { .has = ask,
					.left = nothing,
					.take = take_nothing };
	struct sley_source *source;

	atomic_store(&taken, false);
	CHECK_EQ(source_add(rt, &source, &ops, NULL, false), 0);
	CHECK_EVENTUALLY(atomic_load(&taken));
}

/* How often a worker that finds nothing looks, and once more when it is woken. */
static uint32_t picks_with(uint32_t spin_us, uint32_t floor_ns)
{
	struct sley_config config = *test_config();
	struct sley *rt;

	config.workers = 1;
	config.spin_us = spin_us;
	atomic_store(&started, false);
	atomic_store(&nr_ran, 0);
	CHECK_EQ(sley_create(&rt, &config), 0);
	runtime_set_spin_floor(rt, floor_ns);
	if (with_source)
		add_silent_source(rt);
	CHECK_EQ(sley_bind(rt), 0);
	CHECK_EQ(sley_schedule(search_in_vain, NULL), 0);
	CHECK_EVENTUALLY(atomic_load(&started) &&
			 idle_is_parked(&sleeper->seat));
	CHECK_EQ(sley_schedule(count, NULL), 0);
	CHECK_EVENTUALLY(atomic_load(&nr_ran) == 1);
	sley_unbind(rt);
	sley_destroy(rt);
	return nr_picks;
}

TEST(a_worker_told_not_to_spin_sleeps_after_its_first_look_in_vain)
{
	if (test_is_chaotic())
		test_skip("chaos makes every third pick a fair one");
	/* Before it counts as a searcher, after that, and when it is woken. */
	CHECK_EQ(picks_with(SLEY_NO_SPIN, 0), 3);
}

TEST(a_worker_asks_the_sources_once_before_it_sleeps)
{
	if (test_is_chaotic())
		test_skip("chaos makes every third pick a fair one");
	with_source = true;
	(void)picks_with(SLEY_NO_SPIN, 0);
	CHECK_EQ(nr_asked_in_search, 1);
	(void)picks_with(1, 0);
	CHECK_GT(nr_asked_in_search, 1);
}

TEST(a_source_of_work_may_ask_for_a_longer_search)
{
	if (test_is_chaotic())
		test_skip("chaos makes every third pick a fair one");
	/* So short that no pick is the 61st, which begins the count anew. */
	CHECK_GT(picks_with(SLEY_NO_SPIN, 1), 3);
	CHECK_GT(picks_with(1, 0), 3);
}

/* With edges of descriptors: @before each of the last searches, @now before this one. */
static uint32_t picks_after(uint32_t before, uint32_t now, uint32_t spin_us,
			    uint32_t floor_ns)
{
	uint32_t nr;

	history = (struct history){ before, now };
	nr = picks_with(spin_us, floor_ns);
	history = (struct history){ 0, 0 };
	return nr;
}

TEST(a_worker_that_serves_many_peers_sleeps_after_its_first_look_in_vain)
{
	if (test_is_chaotic())
		test_skip("chaos makes every third pick a fair one");
	CHECK_EQ(picks_after(8, 8, 0, 0), 3);
	CHECK_EQ(picks_after(8, 1, 20, 0), 3);
	CHECK_EQ(picks_after(1000, 8, 1, 0), 3);
}

TEST(a_worker_that_serves_few_peers_spins)
{
	if (test_is_chaotic())
		test_skip("chaos makes every third pick a fair one");
	CHECK_GT(picks_after(1, 1, 0, 0), 3);
	CHECK_GT(picks_after(2, 2, 1, 0), 3);
	/* Once is not often, however many they were. */
	CHECK_GT(picks_after(1, 1000, 1, 0), 3);
	/* The last work was not for descriptors. */
	CHECK_GT(picks_after(8, 0, 1, 0), 3);
	/* A source, or the user, wants more. */
	CHECK_GT(picks_after(8, 8, 1, 1), 3);
	CHECK_GT(picks_after(8, 8, 21, 0), 3);
}

/* ---- edges of descriptors ------------------------------------------------------------ */

#define PEERS 8
#define ROUNDS 20

struct peer {
	struct sley_task task;
	int fd[2]; /* the peer's, and the worker's */
};

static void answer(void *arg)
{
	const struct peer *peer = arg;
	char c;

	while (sley_io_read(peer->fd[1], &c, 1) == 1)
		CHECK_EQ(sley_io_write(peer->fd[1], &c, 1), 1);
}

/* All ask before the worker looks, and the worker is idle between two rounds. */
static void ask_in_rounds(struct peer *peer, int nr)
{
	char c = 0;

	for (int i = 0; i < ROUNDS; i++) {
		sley_sleep(SLEY_MSEC);
		for (int j = 0; j < nr; j++)
			CHECK_EQ(write(peer[j].fd[0], &c, 1), 1);
		for (int j = 0; j < nr; j++)
			CHECK_EQ(sley_io_read(peer[j].fd[0], &c, 1), 1);
	}
}

/* In sixteenths of an edge, between two searches. */
static uint32_t average_with(int nr)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct peer peer[PEERS];
	uint32_t average;

	for (int i = 0; i < nr; i++) {
		CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, peer[i].fd), 0);
		sley_spawn(&group, &peer[i].task, answer, &peer[i]);
	}
	ask_in_rounds(peer, nr);
	average = worker_current()->poll.average;
	for (int i = 0; i < nr; i++)
		CHECK_EQ(sley_io_close(peer[i].fd[0]), 0);
	sley_join(&group);
	for (int i = 0; i < nr; i++)
		CHECK_EQ(sley_io_close(peer[i].fd[1]), 0);
	return average;
}

static void compare_averages(void *arg)
{
	(void)arg;
	/* The answer of a peer is an edge, too. */
	CHECK_LE(average_with(1), 3 * 16u);
	CHECK_GE(average_with(PEERS), 4 * 16u);
}

TEST(a_worker_counts_the_edges_that_it_takes)
{
	struct sley_config config = *test_config();

	config.workers = 1;
	config.io = SLEY_IO_EPOLL; /* a thread would take the edges */
	CHECK_EQ(sley_run(&config, compare_averages, NULL), 0);
}
