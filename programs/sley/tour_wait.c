/* SPDX-License-Identifier: MIT */
/*
 * tour_wait.c - stops of the tour: waits, timeouts, cancelling, stopping.
 */
#include "tour.h"

#include "screen.h"

#include <errno.h>
#include <pthread.h>
#include <sley/sley.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- blocking ----------------------------------------------------------------- */

#define NR_FIBERS 10000

struct hall {
	struct sley_event open;
	atomic_int nr_in;
	atomic_int nr_out;
};

static void wait_in_hall(void *arg)
{
	struct hall *hall = arg;

	atomic_fetch_add(&hall->nr_in, 1);
	if (sley_event_wait(&hall->open) == 0)
		atomic_fetch_add(&hall->nr_out, 1);
}

/* The bytes of memory of this process; 0: unknown. */
static double resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long pages = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%*d %ld", &pages) != 1)
		pages = 0;
	fclose(file);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* True: all fibers are in, and block now or in a moment; false: not within 10 s. */
static bool wait_until_full(struct hall *hall)
{
	uint64_t end_ns = sley_after(10 * SLEY_SEC);

	while (atomic_load(&hall->nr_in) < NR_FIBERS) {
		if (sley_now() > end_ns)
			return false;
		sley_sleep(100 * SLEY_USEC);
	}
	return true;
}

void tour_blocking(struct outcome *out)
{
	struct sley_task *task = tour_alloc(NR_FIBERS, sizeof(*task));
	struct sley_group group = SLEY_GROUP_INIT;
	struct hall hall = { .open = SLEY_EVENT_INIT };
	double bytes = resident_bytes();
	char each[SCREEN_NUMBER_SIZE];

	outcome_start(out);
	for (int i = 0; i < NR_FIBERS; i++)
		sley_spawn(&group, &task[i], wait_in_hall, &hall);
	if (!wait_until_full(&hall))
		outcome_trouble(out, "only %d of %d came to the event",
				hall.nr_in, NR_FIBERS);
	if (hall.nr_out)
		outcome_trouble(out, "%d passed an event that was not set",
				hall.nr_out);
	bytes = resident_bytes() - bytes;
	sley_event_set(&hall.open);
	sley_join(&group);
	outcome_stop(out);
	free(task);
	if (hall.nr_out != NR_FIBERS)
		outcome_trouble(out, "%d of %d were released", hall.nr_out,
				NR_FIBERS);
	outcome_result(out, "%.1f KiB, %s", bytes / NR_FIBERS / 1024,
		       screen_time(each, outcome_ns(out) / NR_FIBERS));
}

/* ---- channels ------------------------------------------------------------------- */

#define NR_VALUES 100000L

struct pipeline {
	struct sley_chan *in;
	struct sley_chan *out;
};

static void generate(void *arg)
{
	struct sley_chan *chan = arg;

	for (long value = 1; value <= NR_VALUES; value++)
		sley_chan_send(chan, &value);
	sley_chan_close(chan);
}

static void double_them(void *arg)
{
	struct pipeline *pipeline = arg;
	long value;

	while (sley_chan_recv(pipeline->in, &value) == 0) {
		value *= 2;
		sley_chan_send(pipeline->out, &value);
	}
	sley_chan_close(pipeline->out);
}

void tour_channels(struct outcome *out)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct pipeline pipeline = { NULL, NULL };
	struct sley_task task[2];
	char text[SCREEN_NUMBER_SIZE];
	long value, sum = 0;

	outcome_start(out);
	if (sley_chan_create(&pipeline.in, sizeof(long), 64) ||
	    sley_chan_create(&pipeline.out, sizeof(long), 64)) {
		outcome_trouble(out, "no memory for a channel");
		goto destroy;
	}
	sley_spawn(&group, &task[0], generate, pipeline.in);
	sley_spawn(&group, &task[1], double_them, &pipeline);
	while (sley_chan_recv(pipeline.out, &value) == 0)
		sum += value;
	sley_join(&group);
	outcome_stop(out);
	if (sum != NR_VALUES * (NR_VALUES + 1))
		outcome_trouble(out, "the sum is %ld, expected %ld", sum,
				NR_VALUES * (NR_VALUES + 1));
	outcome_result(out, "sum %s", screen_count(text, (uint64_t)sum));
destroy:
	sley_chan_destroy(pipeline.in);
	sley_chan_destroy(pipeline.out);
}

/* ---- mutex ------------------------------------------------------------------------ */

#define NR_COUNTERS 8
#define NR_COUNTER_THREADS 2
#define NR_COUNTS 5000

struct tally {
	struct sley_mutex mutex;
	int count; /* under mutex */
};

static void count_up(void *arg)
{
	struct tally *tally = arg;

	for (int i = 0; i < NR_COUNTS; i++) {
		sley_mutex_lock(&tally->mutex);
		tally->count++;
		sley_mutex_unlock(&tally->mutex);
	}
}

static void *count_up_thread(void *arg)
{
	count_up(arg);
	return NULL;
}

void tour_mutex(struct outcome *out)
{
	struct tally tally = { .mutex = SLEY_MUTEX_INIT };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[NR_COUNTERS];
	pthread_t thread[NR_COUNTER_THREADS];
	int nr_threads = 0;
	char text[SCREEN_NUMBER_SIZE];

	outcome_start(out);
	while (nr_threads < NR_COUNTER_THREADS &&
	       pthread_create(&thread[nr_threads], NULL, count_up_thread,
			      &tally) == 0)
		nr_threads++;
	/* Tasks count instead of threads that could not be created. */
	for (int i = nr_threads; i < NR_COUNTERS; i++)
		sley_spawn(&group, &task[i], count_up, &tally);
	sley_join(&group);
	for (int i = 0; i < nr_threads; i++)
		pthread_join(thread[i], NULL);
	outcome_stop(out);
	if (tally.count != NR_COUNTERS * NR_COUNTS)
		outcome_trouble(out, "they counted to %d, expected %d",
				tally.count, NR_COUNTERS * NR_COUNTS);
	outcome_result(out, "to %s", screen_count(text, (uint64_t)tally.count));
}

/* ---- condition -------------------------------------------------------------------- */

#define NR_SIDE 4 /* producers, and as many consumers */
#define NR_GOODS 5000
#define NR_PLACES 8

struct shop {
	struct sley_mutex mutex;
	struct sley_cond not_empty;
	struct sley_cond not_full;
	/* All under mutex. */
	int nr_there;
	int most;
	int nr_sold;
};

static void produce(void *arg)
{
	struct shop *shop = arg;

	for (int i = 0; i < NR_GOODS; i++) {
		sley_mutex_lock(&shop->mutex);
		while (shop->nr_there == NR_PLACES)
			sley_cond_wait(&shop->not_full, &shop->mutex);
		shop->nr_there++;
		if (shop->nr_there > shop->most)
			shop->most = shop->nr_there;
		sley_cond_notify_one(&shop->not_empty);
		sley_mutex_unlock(&shop->mutex);
	}
}

static void consume(void *arg)
{
	struct shop *shop = arg;

	for (int i = 0; i < NR_GOODS; i++) {
		sley_mutex_lock(&shop->mutex);
		while (shop->nr_there == 0)
			sley_cond_wait(&shop->not_empty, &shop->mutex);
		shop->nr_there--;
		shop->nr_sold++;
		sley_cond_notify_one(&shop->not_full);
		sley_mutex_unlock(&shop->mutex);
	}
}

void tour_condition(struct outcome *out)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[2 * NR_SIDE];
	struct shop shop;
	char text[SCREEN_NUMBER_SIZE];

	memset(&shop, 0, sizeof(shop)); /* zeroed memory is initialized */
	outcome_start(out);
	for (int i = 0; i < NR_SIDE; i++) {
		sley_spawn(&group, &task[2 * i], consume, &shop);
		sley_spawn(&group, &task[2 * i + 1], produce, &shop);
	}
	sley_join(&group);
	outcome_stop(out);
	if (shop.nr_sold != NR_SIDE * NR_GOODS || shop.nr_there != 0 ||
	    shop.most > NR_PLACES)
		outcome_trouble(out, "%d passed, %d are left, at most %d",
				shop.nr_sold, shop.nr_there, shop.most);
	outcome_result(out, "%s passed",
		       screen_count(text, (uint64_t)shop.nr_sold));
}

/* ---- timeouts --------------------------------------------------------------------- */

#define NR_DEADLINES 500

struct appointment {
	struct sley_task task;
	uint64_t deadline_ns;
	int64_t late_ns;
	int err;
};

static void keep_appointment(void *arg)
{
	struct appointment *a = arg;
	struct sley_event never = SLEY_EVENT_INIT;

	a->err = sley_event_wait_until(&never, a->deadline_ns);
	a->late_ns = (int64_t)(sley_now() - a->deadline_ns);
}

static int by_lateness(const void *left, const void *right)
{
	const struct appointment *a = left, *b = right;

	return (a->late_ns > b->late_ns) - (a->late_ns < b->late_ns);
}

void tour_timeouts(struct outcome *out)
{
	struct appointment *a = tour_alloc(NR_DEADLINES, sizeof(*a));
	struct sley_group group = SLEY_GROUP_INIT;
	char median[SCREEN_NUMBER_SIZE];

	outcome_start(out);
	for (int i = 0; i < NR_DEADLINES; i++) {
		/* In no order: 7 has no divisor in common with 500. */
		uint64_t place = (uint64_t)(i * 7 % NR_DEADLINES);

		a[i].deadline_ns = sley_now() + 100 * SLEY_USEC * (place + 1);
		sley_spawn(&group, &a[i].task, keep_appointment, &a[i]);
	}
	sley_join(&group);
	outcome_stop(out);
	for (int i = 0; i < NR_DEADLINES; i++) {
		if (a[i].err != -ETIMEDOUT)
			outcome_trouble(out, "a wait returned %d, %s", a[i].err,
					"expected -ETIMEDOUT");
	}
	qsort(a, NR_DEADLINES, sizeof(*a), by_lateness);
	if (a[0].late_ns < 0)
		outcome_trouble(out, "a wait ended %lld ns too early",
				-(long long)a[0].late_ns);
	outcome_result(out, "%s late",
		       screen_time(median,
				   (double)a[NR_DEADLINES / 2].late_ns));
	free(a);
}

/* ---- cancelling ------------------------------------------------------------------- */

#define NR_SLEEPERS 1000

struct dormitory {
	atomic_int nr_cancelled;
	atomic_int nr_other;
};

static void sleep_for_ever(void *arg)
{
	struct dormitory *dormitory = arg;

	if (sley_sleep_until(SLEY_FOREVER) == -ECANCELED)
		atomic_fetch_add(&dormitory->nr_cancelled, 1);
	else
		atomic_fetch_add(&dormitory->nr_other, 1);
}

void tour_cancel(struct outcome *out)
{
	struct sley_task *task = tour_alloc(NR_SLEEPERS, sizeof(*task));
	struct sley_group group = SLEY_GROUP_INIT;
	struct dormitory dormitory = { 0, 0 };
	int nr_unborn = 0;

	outcome_start(out);
	for (int i = 0; i < NR_SLEEPERS; i++)
		sley_spawn(&group, &task[i], sleep_for_ever, &dormitory);
	if (sley_join_until(&group, sley_after(5 * SLEY_MSEC)) != -ETIMEDOUT)
		outcome_trouble(out, "somebody woke up without a reason");
	for (int i = 0; i < NR_SLEEPERS; i++)
		sley_cancel(&task[i]);
	sley_join(&group);
	outcome_stop(out);
	for (int i = 0; i < NR_SLEEPERS; i++)
		nr_unborn += sley_task_status(&task[i]) == -ECANCELED;
	free(task);
	if (dormitory.nr_cancelled + nr_unborn != NR_SLEEPERS)
		outcome_trouble(out, "%d of %d saw it, %d saw something else",
				dormitory.nr_cancelled, NR_SLEEPERS,
				dormitory.nr_other);
	outcome_result(out, "all were told");
}

/* ---- stopping ------------------------------------------------------------------------ */

struct reports {
	atomic_int nr_lines;
	bool named;
};

static void take_report(void *self, const char *line)
{
	struct reports *reports = self;

	if (strstr(line, "the stubborn one"))
		reports->named = true;
	reports->nr_lines++;
}

static void stay(void *arg)
{
	sley_event_set(arg);
	sley_sleep_until(SLEY_FOREVER);
}

void tour_shutdown(struct outcome *out)
{
	struct sley_event started = SLEY_EVENT_INIT;
	struct reports reports = { 0, false };
	struct sley *rt;
	int err;

	outcome_start(out);
	err = sley_create(&rt, SLEY_CONFIG(.workers = 1, .report = take_report,
					   .report_self = &reports));
	if (err) {
		outcome_trouble(out, "cannot start: %s", sley_strerror(err));
		return;
	}
	err = sley_schedule_on(rt, stay, &started,
			       SLEY_OPTIONS(.name = "the stubborn one"));
	if (err)
		outcome_trouble(out, "schedule: %s", sley_strerror(err));
	else
		(void)!sley_event_wait(&started);
	err = sley_destroy_until(rt, sley_after(10 * SLEY_MSEC));
	if (err != -ETIMEDOUT) {
		outcome_trouble(out, "destroyed around a live task (%d)", err);
		return;
	}
	if (!reports.named)
		outcome_trouble(out, "no report named the task that stayed");
	sley_cancel_all(rt);
	if (sley_destroy(rt))
		outcome_trouble(out, "destroying it failed");
	outcome_stop(out);
	outcome_result(out, "1 survivor named");
}
