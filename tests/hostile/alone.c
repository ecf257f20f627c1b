/* SPDX-License-Identifier: MIT */
/*
 * alone.c - what a membership costs a process that is alone in its domain: no system call
 * more than without a domain, for work of one worker.
 */
#include "conformance/domain/stage.h"
#include "hostile/calls.h"
#include "stress/cast.h"

#include <stdio.h>

#define WINDOW_NS 300000000u
#define PAUSE_NS 5000000u /* at least, between two calls of other threads    */
#define ROUNDS 100
#define CHILDREN 10

/* In the window. */
struct counts {
	uint64_t ns;
	uint64_t by_worker, by_others;
	bool is_known; /* the kernel lets calls be counted                   */
};

static struct counts *counts; /* of the process that works, for the test */
static const char *domain;    /* or NULL                                */

/* ---- the work -------------------------------------------------------------------------- */

static void yield_some(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++)
		sley_yield();
}

static void spawn_and_yield(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task children[CHILDREN];

	for (int i = 0; i < CHILDREN; i++)
		sley_spawn(&group, &children[i], yield_some, NULL);
	sley_join(&group);
}

struct table {
	struct sley_event ball[2];
};

static void answer_balls(void *arg)
{
	struct table *table = arg;

	for (int i = 0; i < ROUNDS; i++) {
		CHECK_EQ(sley_event_wait(&table->ball[0]), 0);
		sley_event_set(&table->ball[1]);
	}
}

static void ping_pong(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task other;
	struct table table;

	sley_event_init(&table.ball[0], true, false);
	sley_event_init(&table.ball[1], true, false);
	sley_spawn(&group, &other, answer_balls, &table);
	for (int i = 0; i < ROUNDS; i++) {
		sley_event_set(&table.ball[0]);
		CHECK_EQ(sley_event_wait(&table.ball[1]), 0);
	}
	sley_join(&group);
}

static void work_until(uint64_t end_ns)
{
	do {
		spawn_and_yield();
		ping_pong();
	} while (sley_now() < end_ns);
}

/* ---- a process that works --------------------------------------------------------------- */

static void count_calls(void *arg)
{
	pid_t self = gettid();
	uint64_t own, all, begin_ns;

	(void)arg;
	/* Memory comes, and what the start of the runtime has left to do. */
	work_until(sley_now() + WINDOW_NS);
	begin_ns = sley_now();
	all = calls_of_all();
	own = calls_of(self);
	work_until(sley_now() + WINDOW_NS);
	own = calls_of(self) - own;
	all = calls_of_all() - all;
	counts->ns = sley_now() - begin_ns;
	counts->by_worker = own;
	counts->by_others = all - own;
}

static void work(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct sley *rt = NULL;

	CHECK_EQ(sley_create(&rt,
			     SLEY_CONFIG(.workers = 1, .report = stage_report,
					 .domain = domain)),
		 0);
	if (domain)
		CHECK_EVENTUALLY(info_of(rt).state == SLEY_DOMAIN_IN);
	CHECK_EQ(sley_spawn_on(rt, &group, &task, count_calls, NULL, NULL), 0);
	/* One call, before the window. */
	sley_join(&group);
	CHECK_EQ(sley_destroy(rt), 0);
}

static void be_process(void *arg)
{
	(void)arg;
	counts->is_known = calls_watch() == 0;
	if (counts->is_known)
		work();
}

/* @name: its domain, or NULL. */
static struct counts calls_in(const char *name)
{
	domain = name;
	memset(counts, 0, sizeof(*counts));
	cast_reap(cast_fork(be_process, NULL), 0);
	if (!counts->is_known)
		test_skip("this kernel lets no calls be counted");
	return *counts;
}

/*
 * Calls of the worker are counted one by one.  The monitor sleeps for some 10 ms at a time;
 * beside other members it would for 2 ms.
 */
TEST(a_process_that_is_alone_in_its_domain_makes_no_call_more)
{
	struct counts without, with;
	struct actor host;
	const char *path;

	counts = cast_share(sizeof(*counts));
	path = stage_open();
	actor_start(&host);
	CHECK_EQ(actor_do(&host, ACTOR_HOST), 0);
	without = calls_in(NULL);
	with = calls_in(path);
	printf("     calls of the worker: %llu, without a domain %llu; of all "
	       "others: %llu, %llu\n",
	       (unsigned long long)with.by_worker,
	       (unsigned long long)without.by_worker,
	       (unsigned long long)with.by_others,
	       (unsigned long long)without.by_others);
	CHECK_EQ(with.by_worker, without.by_worker);
	CHECK_LE(with.by_others, 5 + with.ns / PAUSE_NS);
	actor_end(&host);
	stage_close();
}
