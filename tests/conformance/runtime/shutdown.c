/* SPDX-License-Identifier: MIT */
/*
 * shutdown.c - stopping a runtime: M4, T9, T10, T11.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "conformance/bound.h"

struct report {
	char text[4096];
	atomic_int lines;
};

static void take_report(void *self, const char *line)
{
	struct report *report = self;
	size_t used = strlen(report->text);

	atomic_fetch_add(&report->lines, 1);
	snprintf(report->text + used, sizeof(report->text) - used, "%s\n",
		 line);
}

/* ---- M4: destroy waits ------------------------------------------------- */

struct lingerer {
	struct sley *rt;
	struct gate gate;
	atomic_bool unbinding;
};

static void *linger(void *arg)
{
	struct lingerer *l = arg;

	CHECK_EQ(sley_bind(l->rt), 0);
	gate_hold(&l->gate);
	atomic_store(&l->unbinding, true);
	sley_unbind(l->rt);
	return NULL;
}

static void *open_gate_soon(void *gate)
{
	test_nap_ms(30);
	gate_open(gate);
	return NULL;
}

TEST_WORKERS(m04_destroy_waits_for_every_bound_thread)
{
	struct lingerer l = { .rt = NULL };
	pthread_t thread, opener;

	CHECK_EQ(sley_create(&l.rt, test_config()), 0);
	thread = test_thread(linger, &l);
	CHECK_EVENTUALLY(atomic_load(&l.gate.held) == 1);
	opener = test_thread(open_gate_soon, &l.gate);
	CHECK_EQ(sley_destroy(l.rt), 0);
	CHECK(l.unbinding);
	pthread_join(thread, NULL);
	pthread_join(opener, NULL);
}

TEST_WORKERS(m04_a_runtime_that_is_being_destroyed_takes_no_new_threads)
{
	struct sley_config config = *test_config();
	struct report report = { "", 0 };
	struct lingerer l = { .rt = NULL };
	pthread_t thread;
	atomic_int ran = 0;

	config.report = take_report;
	config.report_self = &report;
	CHECK_EQ(sley_create(&l.rt, &config), 0);
	thread = test_thread(linger, &l);
	CHECK_EVENTUALLY(atomic_load(&l.gate.held) == 1);
	CHECK_EQ(sley_destroy_until(l.rt, in_ms(5)), -ETIMEDOUT);
	CHECK_EQ(sley_bind(l.rt), -ESHUTDOWN);
	CHECK(sley_current() == NULL);
	CHECK_EQ(sley_schedule_on(l.rt, count_task, &ran, NULL),
		 is_single() ? SLEY_ENOWORKER : -ESHUTDOWN);
	gate_open(&l.gate);
	CHECK_EQ(sley_destroy(l.rt), 0);
	CHECK_EQ(ran, 0);
	pthread_join(thread, NULL);
}

/* ---- T9: destroy against everything else ------------------------------- */

struct second {
	struct sley *rt;
	struct lingerer *lingerer;
};

static void *destroy_too(void *arg)
{
	struct second *s = arg;
	int err;

	/* Until the first one is inside, this is the first one. */
	do {
		err = sley_destroy_until(s->rt, 0);
		test_nap_ms(1);
	} while (err == -ETIMEDOUT);
	CHECK_EQ(err, -EBUSY);
	gate_open(&s->lingerer->gate);
	return NULL;
}

TEST_WORKERS(t09_a_second_destroy_is_told_that_it_is_the_second)
{
	struct sley_config config = *test_config();
	struct report report = { "", 0 };
	struct lingerer l = { .rt = NULL };
	struct second second;
	pthread_t thread, other;
	int err;

	config.report = take_report;
	config.report_self = &report;
	CHECK_EQ(sley_create(&l.rt, &config), 0);
	thread = test_thread(linger, &l);
	CHECK_EVENTUALLY(atomic_load(&l.gate.held) == 1);
	second = (struct second){ l.rt, &l };
	other = test_thread(destroy_too, &second);
	do
		err = sley_destroy(l.rt);
	while (err == -EBUSY);
	CHECK_EQ(err, 0);
	pthread_join(thread, NULL);
	pthread_join(other, NULL);
}

static void destroy_inside(void *rt)
{
	sley_destroy(rt);
}

TEST_ABORTS(t09_destroying_from_inside_a_task_aborts,
	    "sley: misuse in sley_destroy")
{
	struct sley *rt = start();

	CHECK_EQ(sley_schedule(destroy_inside, rt), 0);
	stop(rt);
}

TEST_ABORTS(t09_destroying_from_a_bound_thread_aborts,
	    "sley: misuse in sley_destroy")
{
	sley_destroy(start());
}

static void wait_for_event(void *event)
{
	CHECK_EQ(sley_event_wait(event), 0);
}

/* One task is blocked and one never returns: both are named at the deadline. */
TEST_WORKERS(t09_destroy_until_gives_up_in_time_and_names_who_did_not_end)
{
	struct sley_config config = *test_config();
	struct report report = { "", 0 };
	struct sley_event event = SLEY_EVENT_INIT;
	struct gate gate = { 0 };
	struct sley *rt = NULL;
	uint64_t begin;

	if (is_single() || nr_runners() < 2)
		test_skip("needs a worker besides the one that is held");
	config.report = take_report;
	config.report_self = &report;
	CHECK_EQ(sley_create(&rt, &config), 0);
	CHECK_EQ(sley_schedule_on(rt, gate_task, &gate,
				  SLEY_OPTIONS(.name = "never_returns")),
		 0);
	CHECK_EQ(sley_schedule_on(rt, wait_for_event, &event,
				  SLEY_OPTIONS(.name = "waits_for_ever")),
		 0);
	CHECK_EVENTUALLY(atomic_load(&gate.held) == 1);
	test_nap_ms(20);
	begin = sley_now();
	CHECK_EQ(sley_destroy_until(rt, in_ms(50)), -ETIMEDOUT);
	CHECK_GE(ms_since(begin), 49);
	CHECK_LT(ms_since(begin), 2000);
	CHECK(strstr(report.text, "never_returns"));
	CHECK(strstr(report.text, "waits_for_ever"));
	/* It goes on as it was. */
	sley_event_set(&event);
	gate_open(&gate);
	CHECK_EQ(sley_destroy(rt), 0);
}

TEST(t09_destroy_until_reports_threads_that_did_not_unbind)
{
	struct sley_config config = config_of(2);
	struct report report = { "", 0 };
	struct lingerer l = { .rt = NULL };
	pthread_t thread;

	config.report = take_report;
	config.report_self = &report;
	CHECK_EQ(sley_create(&l.rt, &config), 0);
	thread = test_thread(linger, &l);
	CHECK_EVENTUALLY(atomic_load(&l.gate.held) == 1);
	CHECK_EQ(sley_destroy_until(l.rt, 0), -ETIMEDOUT);
	CHECK_EQ(report.lines, 1);
	gate_open(&l.gate);
	CHECK_EQ(sley_destroy(l.rt), 0);
	pthread_join(thread, NULL);
}

TEST_WORKERS(t09_destroy_until_with_nothing_left_needs_no_time)
{
	struct sley *rt = NULL;

	CHECK_EQ(sley_create(&rt, test_config()), 0);
	CHECK_EQ(sley_destroy_until(rt, in_ms(10000)), 0);
}

/* Threads that give work and wake tasks while destroy has begun. */
struct racer {
	struct sley *rt;
	struct sley_event *event;
	atomic_int *bound, *outside, *accepted, *ran;
};

static void *race(void *arg)
{
	struct racer *r = arg;
	int i;

	CHECK_EQ(sley_bind(r->rt), 0);
	atomic_fetch_add(r->bound, 1);
	for (i = 0; i < 500 || atomic_load(r->outside); i++) {
		CHECK_EQ(sley_schedule_on(r->rt, count_task, r->ran, NULL), 0);
		atomic_fetch_add(r->accepted, 1);
		sley_event_set(r->event);
		if (i >= 500)
			test_nap_ms(1);
	}
	sley_unbind(r->rt);
	return NULL;
}

/* Until it is refused: destroy waits for the bound threads, and they for this. */
static void *race_outside(void *arg)
{
	struct racer *r = arg;
	int err;

	while ((err = sley_schedule_on(r->rt, count_task, r->ran, NULL)) == 0) {
		atomic_fetch_add(r->accepted, 1);
		sched_yield();
	}
	CHECK_EQ(err, is_single() ? SLEY_ENOWORKER : -ESHUTDOWN);
	atomic_fetch_sub(r->outside, 1);
	return NULL;
}

TEST_WORKERS(t09_work_given_while_destroy_runs_is_run_or_refused)
{
	struct sley_event event = SLEY_EVENT_AUTO_INIT;
	atomic_int bound, outside, accepted = 0, ran = 0;
	struct racer r = { NULL, &event, &bound, &outside, &accepted, &ran };
	pthread_t threads[4];
	int round;
	size_t i;

	for (round = 0; round < test_scale(16); round++) {
		bound = 0;
		outside = 2;
		CHECK_EQ(sley_create(&r.rt, test_config()), 0);
		for (i = 0; i < ARRAY_SIZE(threads); i++)
			threads[i] =
				test_thread(i < 2 ? race : race_outside, &r);
		while (bound < 2)
			sched_yield();
		CHECK_EQ(sley_destroy(r.rt), 0);
		CHECK_EQ(ran, accepted);
		for (i = 0; i < ARRAY_SIZE(threads); i++)
			pthread_join(threads[i], NULL);
	}
}

/* ---- T10: tasks from tasks during destroy ------------------------------ */

struct tree {
	atomic_int scheduled, ran;
};

struct branch {
	struct tree *tree;
	int depth;
};

static void branch_task(void *arg)
{
	struct branch *b = arg;
	int i;

	CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	for (i = 0; b->depth && i < 2; i++) {
		struct branch *child = malloc(sizeof(*child));

		*child = (struct branch){ b->tree, b->depth - 1 };
		atomic_fetch_add(&b->tree->scheduled, 1);
		CHECK_EQ(sley_schedule(branch_task, child), 0);
	}
	atomic_fetch_add(&b->tree->ran, 1);
	free(b);
}

/* marl ran 250 of 400 such tasks; the others were lost on joined workers. */
TEST_WORKERS(t10_tasks_from_tasks_during_destroy_all_run)
{
	struct tree tree = { 0 };
	struct sley *rt = start();
	int i;

	for (i = 0; i < 4; i++) {
		struct branch *b = malloc(sizeof(*b));

		*b = (struct branch){ &tree, 6 };
		atomic_fetch_add(&tree.scheduled, 1);
		CHECK_EQ(sley_schedule(branch_task, b), 0);
	}
	stop(rt);
	CHECK_EQ(tree.ran, tree.scheduled);
	CHECK_EQ(tree.ran, 4 * 127);
}

/* ---- T11: destroy with things pending ---------------------------------- */

TEST_WORKERS(t11_destroy_runs_a_thousand_pending_tasks)
{
	struct sley *rt = start();
	atomic_int ran = 0;
	int i;

	for (i = 0; i < 1000; i++)
		CHECK_EQ(sley_schedule(count_task, &ran), 0);
	stop(rt);
	CHECK_EQ(ran, 1000);
}

struct wakeful {
	struct sley_event event;
	atomic_int waiting, woken;
};

static void block_and_count(void *arg)
{
	struct wakeful *w = arg;

	atomic_fetch_add(&w->waiting, 1);
	CHECK_EQ(sley_event_wait(&w->event), 0);
	atomic_fetch_add(&w->woken, 1);
}

static void *set_when_stopping(void *arg)
{
	struct wakeful *w = arg;

	test_nap_ms(20);
	sley_event_set(&w->event);
	return NULL;
}

TEST_WORKERS(t11_destroy_waits_for_a_thousand_blocked_fibers)
{
	struct wakeful w = { SLEY_EVENT_INIT, 0, 0 };
	struct sley *rt = start();
	pthread_t setter;
	int i, n = test_scale(1000);

	for (i = 0; i < n; i++)
		CHECK_EQ(sley_schedule(block_and_count, &w), 0);
	setter = test_thread(set_when_stopping, &w);
	stop(rt);
	CHECK_EQ(w.woken, n);
	pthread_join(setter, NULL);
}

static void sleep_and_count(void *arg)
{
	CHECK_EQ(sley_sleep(30 * SLEY_MSEC), 0);
	count_task(arg);
}

TEST_WORKERS(t11_destroy_waits_for_pending_timers)
{
	struct sley *rt = start();
	atomic_int woken = 0;
	int i, n = test_scale(400);
	uint64_t begin = sley_now();

	for (i = 0; i < n; i++)
		CHECK_EQ(sley_schedule(sleep_and_count, &woken), 0);
	stop(rt);
	CHECK_EQ(woken, n);
	CHECK_GE(ms_since(begin), 30);
}

static void wait_cancelled(void *arg)
{
	struct wakeful *w = arg;

	atomic_fetch_add(&w->waiting, 1);
	CHECK_EQ(sley_event_wait_until(&w->event, SLEY_FOREVER), -ECANCELED);
	/* And every later wait as well. */
	CHECK_EQ(sley_sleep(SLEY_SEC), -ECANCELED);
	atomic_fetch_add(&w->woken, 1);
}

/* In the single-threaded mode blocked tasks hold their thread in unbind. */
static void *cancel_soon(void *rt)
{
	test_nap_ms(20);
	sley_cancel_all(rt);
	return NULL;
}

TEST_WORKERS(t11_cancelling_all_lets_destroy_end_with_blocked_tasks)
{
	struct wakeful w = { SLEY_EVENT_INIT, 0, 0 };
	struct sley *rt = start();
	pthread_t canceller;
	int i;

	for (i = 0; i < 100; i++)
		CHECK_EQ(sley_schedule(wait_cancelled, &w), 0);
	if (is_single())
		run_all(rt);
	CHECK_EVENTUALLY(atomic_load(&w.waiting) == 100);
	canceller = test_thread(cancel_soon, rt);
	stop(rt);
	CHECK_EQ(w.woken, 100);
	pthread_join(canceller, NULL);
}
