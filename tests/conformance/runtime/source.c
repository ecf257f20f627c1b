/* SPDX-License-Identifier: MIT */
/*
 * source.c - sources of work that are no part of the runtime: <sley/source.h>.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "conformance/bound.h"

/* ---- a box that a producer of this process fills ------------------------------------- */

/* Items are counted, not kept: the producer's count is the whole message. */
struct box {
	atomic_int put;       /* by the producer                  */
	atomic_int out;       /* by take()                        */
	atomic_int done;      /* by the tasks                     */
	atomic_int taking;    /* calls of take() under way        */
	atomic_int takes;     /* calls of take() so far           */
	atomic_int asks;      /* calls of has()                   */
	atomic_bool overlaps; /* two calls of take() at a time    */
	atomic_bool ended;    /* no function may be called        */
	struct sley_source *source;
};

static void serve(void *arg)
{
	struct box *box = arg;

	atomic_fetch_add(&box->done, 1);
}

static bool box_has(void *arg)
{
	struct box *box = arg;

	CHECK(!atomic_load(&box->ended));
	atomic_fetch_add(&box->asks, 1);
	return atomic_load(&box->put) != atomic_load(&box->out);
}

static bool box_take(void *arg)
{
	struct box *box = arg;
	int out = atomic_load(&box->out), put = atomic_load(&box->put);

	CHECK(!atomic_load(&box->ended));
	if (atomic_fetch_add(&box->taking, 1))
		atomic_store(&box->overlaps, true);
	atomic_fetch_add(&box->takes, 1);
	for (int i = 0; i < 16 && out < put; i++) {
		CHECK_EQ(sley_schedule(serve, box), 0);
		atomic_store(&box->out, ++out);
	}
	atomic_fetch_sub(&box->taking, 1);
	return out < put;
}

static void box_put(struct box *box)
{
	atomic_fetch_add(&box->put, 1);
	CHECK_EQ(sley_source_notify(box->source), 0);
}

/* Without has(): only what is notified is found. */
static void box_open(struct box *box, struct sley *rt)
{
	*box = (struct box){ .source = NULL };
	CHECK_EQ(sley_source_create(rt, &box->source,
				    SLEY_SOURCE_OPTIONS(.take = box_take), box),
		 0);
}

static void box_close(struct box *box)
{
	sley_source_destroy(box->source);
	atomic_store(&box->ended, true);
	CHECK(!atomic_load(&box->overlaps));
}

/* Where the threads that run tasks have to wait for the source. */
static void wait_for(struct box *box, int nr)
{
	while (atomic_load(&box->done) < nr)
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
}

/* ---- nothing is lost ------------------------------------------------------------------ */

static void *produce(void *arg)
{
	struct box *box = arg;
	int nr = test_scale(20000);

	for (int i = 0; i < nr; i++) {
		box_put(box);
		/* Now and then the workers go to sleep. */
		if (i % 1000 == 0)
			test_nap_ms(1);
	}
	return NULL;
}

TEST_WORKERS(each_notified_item_is_taken)
{
	struct sley *rt = start();
	static struct box box;
	pthread_t thread;

	box_open(&box, rt);
	CHECK_EQ(pthread_create(&thread, NULL, produce, &box), 0);
	wait_for(&box, test_scale(20000));
	CHECK_EQ(pthread_join(thread, NULL), 0);
	box_close(&box);
	stop(rt);
	CHECK_EQ(atomic_load(&box.done), test_scale(20000));
	CHECK_EQ(atomic_load(&box.out), test_scale(20000));
}

/* One item at a time: each finds all workers about to sleep, or asleep. */
TEST_WORKERS(an_item_wakes_a_worker)
{
	struct sley *rt = start();
	static struct box box;

	box_open(&box, rt);
	for (int i = 1; i <= test_scale(300); i++) {
		box_put(&box);
		wait_for(&box, i);
	}
	box_close(&box);
	stop(rt);
}

/* What take() leaves is taken without another notification. */
TEST_WORKERS(what_take_leaves_is_taken_later)
{
	struct sley *rt = start();
	static struct box box;

	box_open(&box, rt);
	atomic_store(&box.put, 1000);
	CHECK_EQ(sley_source_notify(box.source), 0);
	wait_for(&box, 1000);
	CHECK_GE(atomic_load(&box.takes), 1000 / 16);
	box_close(&box);
	stop(rt);
}

/* The workers are never told; they look by themselves. */
TEST_WORKERS(workers_ask_has_while_they_work)
{
	struct sley *rt = start();
	static struct box box;
	struct sley_group group = SLEY_GROUP_INIT;

	box = (struct box){ .source = NULL };
	CHECK_EQ(sley_source_create(rt, &box.source,
				    SLEY_SOURCE_OPTIONS(.take = box_take,
							.has = box_has),
				    &box),
		 0);
	CHECK_EVENTUALLY((sley_sleep(SLEY_MSEC), atomic_load(&box.takes)));
	atomic_store(&box.put, 1);
	while (!atomic_load(&box.done)) {
		struct sley_task task;
		static struct box other;

		sley_spawn(&group, &task, serve, &other);
		sley_join(&group);
	}
	box_close(&box);
	stop(rt);
}

/* ---- busy workers ---------------------------------------------------------------------- */

enum { TASK_US = 1000, ROUNDS = 21 };

struct busy {
	struct sley *rt;
	struct sley_source *source;
	atomic_bool over;
	atomic_int nr;    /* tasks so far                    */
	atomic_int found; /* their number when take() came; -1: not yet */
};

static void be_busy(void *arg)
{
	struct busy *busy = arg;
	uint64_t end_ns = sley_now() + TASK_US * SLEY_USEC;

	atomic_fetch_add(&busy->nr, 1);
	while (sley_now() < end_ns)
		;
	if (!atomic_load(&busy->over))
		CHECK_EQ(sley_schedule_on(busy->rt, be_busy, busy, NULL), 0);
}

static bool note_tasks(void *arg)
{
	struct busy *busy = arg;

	atomic_store(&busy->found, atomic_load(&busy->nr));
	return false;
}

static int by_size(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* The median, in tasks and not in time: a worker that was stopped counts nothing. */
static int tasks_before_a_take(struct busy *busy)
{
	int late[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		int begin;

		test_nap_ms(3);
		atomic_store(&busy->found, -1);
		begin = atomic_load(&busy->nr);
		CHECK_EQ(sley_source_notify(busy->source), 0);
		while (atomic_load(&busy->found) < 0)
			test_nap_ms(1);
		late[i] = atomic_load(&busy->found) - begin;
	}
	qsort(late, ROUNDS, sizeof(late[0]), by_size);
	return late[ROUNDS / 2];
}

/* A tick is one task.  A fair pick comes by itself at every 61st task. */
TEST(a_source_has_its_turn_within_a_tick_while_workers_are_busy)
{
	struct sley_config config = config_of(1);
	static struct busy busy;

	busy.rt = start_with(&config);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(sley_schedule_on(busy.rt, be_busy, &busy, NULL), 0);
	CHECK_EQ(sley_source_create(busy.rt, &busy.source,
				    SLEY_SOURCE_OPTIONS(.take = note_tasks),
				    &busy),
		 0);
	CHECK_LT(tasks_before_a_take(&busy), 10);
	atomic_store(&busy.over, true);
	sley_source_destroy(busy.source);
	stop(busy.rt);
}

/* ---- several sources --------------------------------------------------------------------- */

/* A source that always has something does not keep the others waiting. */
static bool always(void *arg)
{
	(void)arg;
	return true;
}

TEST_WORKERS(a_source_that_always_has_something_starves_no_other)
{
	struct sley *rt = start();
	struct sley_source *greedy[3];
	static struct box box;

	for (int i = 0; i < 3; i++)
		CHECK_EQ(sley_source_create(rt, &greedy[i],
					    SLEY_SOURCE_OPTIONS(.take = always,
								.has = always),
					    NULL),
			 0);
	box_open(&box, rt);
	for (int i = 1; i <= 20; i++) {
		box_put(&box);
		wait_for(&box, i);
	}
	box_close(&box);
	for (int i = 0; i < 3; i++)
		sley_source_destroy(greedy[i]);
	stop(rt);
}

TEST_WORKERS(a_runtime_has_eight_sources)
{
	struct sley *rt = start();
	struct sley_source *more;
	static struct box box[SLEY_SOURCES_MAX];

	for (int i = 0; i < SLEY_SOURCES_MAX; i++)
		box_open(&box[i], rt);
	CHECK_EQ(sley_source_create(rt, &more,
				    SLEY_SOURCE_OPTIONS(.take = always), NULL),
		 -ENOSPC);
	for (int i = 0; i < SLEY_SOURCES_MAX; i++)
		box_put(&box[i]);
	for (int i = 0; i < SLEY_SOURCES_MAX; i++)
		wait_for(&box[i], 1);
	box_close(&box[3]);
	box_open(&box[3], rt);
	for (int i = 0; i < SLEY_SOURCES_MAX; i++)
		box_close(&box[i]);
	stop(rt);
}

/* ---- take() is a task ---------------------------------------------------------------------- */

struct waiting {
	struct sley_event open;
	atomic_int takes;
	atomic_bool waited;
};

static bool take_and_wait(void *arg)
{
	struct waiting *waiting = arg;

	atomic_fetch_add(&waiting->takes, 1);
	CHECK_EQ(sley_event_wait(&waiting->open), 0);
	atomic_store(&waiting->waited, true);
	return false;
}

TEST_WORKERS(take_may_wait_and_a_destroyer_waits_for_it)
{
	struct waiting waiting = { .open = SLEY_EVENT_INIT };
	struct sley *rt = start();
	struct sley_source *source;

	CHECK_EQ(sley_source_create(rt, &source,
				    SLEY_SOURCE_OPTIONS(.take = take_and_wait),
				    &waiting),
		 0);
	CHECK_EVENTUALLY((sley_sleep(SLEY_MSEC), atomic_load(&waiting.takes)));
	CHECK_EQ(sley_source_notify(source), 0);
	CHECK_EQ(sley_sleep(3 * SLEY_MSEC), 0);
	CHECK_EQ(atomic_load(&waiting.takes), 1);
	sley_event_set(&waiting.open);
	sley_source_destroy(source);
	CHECK(atomic_load(&waiting.waited));
	stop(rt);
}

/* ---- adding and removing under load ----------------------------------------------------------- */

static void open_and_close(void *arg)
{
	struct sley *rt = arg;

	for (int i = 0; i < test_scale(300); i++) {
		struct box *box = calloc(1, sizeof(*box));

		CHECK(box != NULL);
		CHECK_EQ(
			sley_source_create(rt, &box->source,
					   SLEY_SOURCE_OPTIONS(.take = box_take,
							       .has = box_has),
					   box),
			0);
		for (int j = 0; j < i % 4; j++)
			box_put(box);
		if (i % 2)
			sley_yield();
		box_close(box);
		/* No function looks there any more; the tasks do. */
		while (atomic_load(&box->done) < atomic_load(&box->out))
			sley_yield();
		free(box);
	}
}

TEST_WORKERS(sources_come_and_go_under_load)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[4];
	static struct box box;

	box_open(&box, rt);
	for (int i = 0; i < 4; i++)
		sley_spawn(&group, &task[i], open_and_close, rt);
	for (int i = 0; i < 100; i++) {
		box_put(&box);
		CHECK_EQ(sley_sleep(100 * SLEY_USEC), 0);
	}
	sley_join(&group);
	wait_for(&box, 100);
	box_close(&box);
	stop(rt);
}

/* ---- the end of the runtime --------------------------------------------------------------------- */

TEST_WORKERS(a_source_does_not_keep_a_runtime_alive)
{
	struct sley *rt = start();
	static struct box box, idle;

	box_open(&box, rt);
	box_open(&idle, rt);
	box_put(&box);
	wait_for(&box, 1);
	stop(rt);
	atomic_store(&box.ended, true);
	atomic_store(&idle.ended, true);
	test_nap_ms(20);
}

/* It always has something, and each take() spawns a task. */
static bool take_one_more(void *arg)
{
	CHECK_EQ(sley_schedule(serve, arg), 0);
	return true;
}

TEST_WORKERS(not_even_a_source_without_end_does)
{
	struct sley *rt = start();
	struct sley_source *source;
	static struct box box;

	CHECK_EQ(sley_source_create(rt, &source,
				    SLEY_SOURCE_OPTIONS(.take = take_one_more,
							.has = always),
				    &box),
		 0);
	wait_for(&box, 10);
	stop(rt);
}

static bool take_and_set(void *arg)
{
	struct sley_event **event = arg;

	if (event[0])
		sley_event_set(event[0]);
	return false;
}

static void *notify_later(void *arg)
{
	test_nap_ms(30);
	CHECK_EQ(sley_source_notify(arg), 0);
	return NULL;
}

static void wait_for_event(void *arg)
{
	CHECK_EQ(sley_event_wait(arg), 0);
}

/* The runtime is being destroyed, and its last task waits for the source. */
TEST(a_source_is_asked_while_a_task_is_left)
{
	struct sley_config config = config_of(2);
	struct sley_event event = SLEY_EVENT_INIT, *events[] = { &event };
	struct sley *rt = start_with(&config);
	struct sley_source *source;
	pthread_t thread;

	CHECK_EQ(sley_schedule(wait_for_event, &event), 0);
	sley_unbind(rt);
	events[0] = NULL;
	CHECK_EQ(sley_source_create(rt, &source,
				    SLEY_SOURCE_OPTIONS(.take = take_and_set),
				    events),
		 0);
	test_nap_ms(5);
	events[0] = &event;
	CHECK_EQ(pthread_create(&thread, NULL, notify_later, source), 0);
	CHECK_EQ(sley_destroy(rt), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

struct late_source {
	struct sley *rt;
	struct sley_event *event;
};

static bool take_and_end(void *arg)
{
	const struct late_source *late = arg;

	sley_event_set(late->event);
	return false;
}

static void *create_late(void *arg)
{
	struct late_source *late = arg;
	struct sley_source *source;

	CHECK_EQ(sley_source_create(late->rt, &source,
				    SLEY_SOURCE_OPTIONS(.take = take_and_end),
				    late),
		 0);
	return NULL;
}

/* The first take() ends the last task while the creator is still in its call. */
TEST(a_source_that_lets_the_runtime_end_may_be_created)
{
	for (int i = 0; i < 100; i++) {
		struct sley_config config = config_of(2);
		struct sley_event event = SLEY_EVENT_INIT;
		struct late_source late = { start_with(&config), &event };
		pthread_t thread;

		CHECK_EQ(sley_schedule(wait_for_event, &event), 0);
		sley_unbind(late.rt);
		CHECK_EQ(pthread_create(&thread, NULL, create_late, &late), 0);
		CHECK_EQ(sley_destroy(late.rt), 0);
		CHECK_EQ(pthread_join(thread, NULL), 0);
	}
}

/* A cancel does not stop take(), or its items would stay where they are for ever. */
TEST_WORKERS(take_runs_though_all_tasks_are_cancelled)
{
	struct sley *rt = start();
	static struct box box;

	box_open(&box, rt);
	sley_cancel_all(rt);
	atomic_store(&box.put, 5);
	CHECK_EQ(sley_source_notify(box.source), 0);
	while (atomic_load(&box.out) < 5)
		if (is_single())
			(void)!sley_run_one(rt);
		else
			test_nap_ms(1);
	box_close(&box);
	stop(rt);
}

/* ---- the single-threaded mode ------------------------------------------------------------------ */

TEST(a_bound_thread_that_runs_one_task_asks_the_sources)
{
	struct sley *rt = start_single();
	static struct box box;

	box_open(&box, rt);
	box_put(&box);
	CHECK_EQ(sley_run_one(rt), 1);
	CHECK_EQ(atomic_load(&box.out), 1);
	CHECK_EQ(sley_run_one(rt), 1);
	CHECK_EQ(atomic_load(&box.done), 1);
	CHECK_EQ(sley_run_one(rt), 0);
	box_close(&box);
	stop(rt);
}

/* ---- errors and misuse ------------------------------------------------------------------------- */

TEST(options_of_sources_are_checked)
{
	struct sley_source_options options = { .take = always };
	struct sley *rt = start();
	struct sley_source *source;

	CHECK_EQ(sley_source_create(rt, &source, &options, NULL), -EINVAL);
	options.size = sizeof(options);
	options.reserved[1] = 1;
	CHECK_EQ(sley_source_create(rt, &source, &options, NULL), -E2BIG);
	sley_source_destroy(NULL);
	stop(rt);
}

TEST_ABORTS(a_source_without_take_aborts, "misuse in sley_source_create: ")
{
	struct sley_source *source;

	CHECK_EQ(sley_source_create(start(), &source,
				    SLEY_SOURCE_OPTIONS(.has = always), NULL),
		 0);
}

static bool destroy_self(void *arg)
{
	sley_source_destroy(*(struct sley_source **)arg);
	return false;
}

static void ask_for_ever(struct sley_source_options *options)
{
	static struct sley_source *source;
	struct sley *rt = start();

	options->size = sizeof(*options);
	CHECK_EQ(sley_source_create(rt, &source, options, &source), 0);
	CHECK_EQ(sley_sleep(10 * SLEY_SEC), 0);
}

#define OF_ITS_OWN "a function of a source must not destroy the source"

TEST_ABORTS(a_source_destroyed_in_its_take_aborts, OF_ITS_OWN)
{
	ask_for_ever(&(struct sley_source_options){ .take = destroy_self });
}

static bool nothing(void *arg)
{
	(void)arg;
	return false;
}

TEST_ABORTS(a_source_destroyed_in_its_has_aborts, OF_ITS_OWN)
{
	ask_for_ever(&(struct sley_source_options){ .take = nothing,
						    .has = destroy_self });
}

TEST_ABORTS(a_source_destroyed_in_its_arm_aborts, OF_ITS_OWN)
{
	ask_for_ever(&(struct sley_source_options){ .take = nothing,
						    .arm = destroy_self });
}

TEST_ABORTS(a_source_destroyed_twice_aborts, "the source was destroyed")
{
	static struct box box;

	box_open(&box, start());
	sley_source_destroy(box.source);
	sley_source_destroy(box.source);
}

TEST_ABORTS(a_notification_of_a_destroyed_source_aborts,
	    "the source was destroyed")
{
	static struct box box;

	box_open(&box, start());
	sley_source_destroy(box.source);
	(void)sley_source_notify(box.source);
}

TEST(a_child_of_fork_is_told)
{
	static struct box box;
	struct sley *rt;
	int status;
	pid_t pid;

	if (test_sanitizer() || test_emulated())
		test_skip("no fork() with threads there");
	rt = start();
	box_open(&box, rt);
	pid = fork();
	CHECK_GE(pid, 0);
	if (pid == 0) {
		struct sley_source *mine;
		int err = sley_source_create(
			rt, &mine, SLEY_SOURCE_OPTIONS(.take = always), NULL);

		_exit(err != SLEY_EFORKED ||
		      sley_source_notify(box.source) != SLEY_EFORKED);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	box_close(&box);
	stop(rt);
}
