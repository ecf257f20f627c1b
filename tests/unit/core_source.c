/* SPDX-License-Identifier: MIT */
/*
 * core_source.c - a worker that takes from a brief source keeps its search: the producer
 * is not asked for signals.  And what ends such a search.  A source whose has() says yes
 * once, to any look of a worker, is taken from.
 *
 * The producer is a thread that knows nothing of the workers, as a client in another
 * process: it puts an item into a word, and signals if a worker has armed.
 */
#include "harness/test.h"

#include "core/sched/source.h"
#include "core/sched/worker.h"

#include <sley/sley.h>
#include <stdatomic.h>

#define ITEMS 40
#define SPIN_US                                                                \
	100000 /* a worker that has an item now and then does not park */

struct box {
	atomic_uint nr, nr_begun, nr_taken, nr_armed, nr_yielded;
	atomic_uint *
		awaited; /* take() returns when it is not 0 any more; or NULL */
	atomic_bool armed;
	bool yields;
	struct sley_source *source;
};

static bool has(void *arg)
{
	struct box *box = arg;

	return atomic_load(&box->nr) != atomic_load(&box->nr_taken);
}

static bool arm(void *arg)
{
	struct box *box = arg;

	atomic_fetch_add(&box->nr_armed, 1);
	atomic_store(&box->armed, true);
	return has(box);
}

static bool take(void *arg)
{
	struct box *box = arg;

	if (!has(box)) /* a late signal */
		return false;
	atomic_fetch_add(&box->nr_begun, 1);
	while (box->awaited && !atomic_load(box->awaited))
		;
	if (box->yields) {
		sley_yield();
		atomic_fetch_add(&box->nr_yielded, 1);
	}
	atomic_fetch_add(&box->nr_taken, 1);
	return false;
}

static void add(struct sley *rt, struct box *box)
{
	CHECK_EQ(source_add(rt, &box->source,
			    &(struct source_ops){ .has = has,
						  .take = take,
						  .arm = arm,
						  .brief = true },
			    box, false),
		 0);
}

static struct sley *create(void)
{
	struct sley *rt;

	CHECK_EQ(sley_create(&rt,
			     SLEY_CONFIG(.workers = 2, .spin_us = SPIN_US)),
		 0);
	return rt;
}

static void put(struct box *box)
{
	atomic_fetch_add(&box->nr, 1);
	if (atomic_exchange(&box->armed, false))
		source_notify(box->source);
}

static void put_and_wait(struct box *box)
{
	put(box);
	CHECK_EVENTUALLY(!has(box));
}

/* One worker searches on, since there are items; the other falls asleep. */
static void settle(struct sley *rt, struct box *box)
{
	while (idle_parked(idle_counts(&rt->idle)) != 1)
		put_and_wait(box);
}

static unsigned int nr_arms(void)
{
	struct sley *rt = create();
	struct box box = { 0 };
	unsigned int nr;

	add(rt, &box);
	settle(rt, &box);
	nr = atomic_load(&box.nr_armed);
	for (int i = 0; i < ITEMS; i++)
		put_and_wait(&box);
	nr = atomic_load(&box.nr_armed) - nr;
	source_remove(box.source);
	sley_destroy(rt);
	return nr;
}

/* The second worker sleeps meanwhile: without the rule each take arms. */
TEST(a_searcher_that_takes_briefly_does_not_arm)
{
	if (test_is_chaotic())
		test_skip("under chaos no worker searches for long");
	CHECK_LT(nr_arms(), ITEMS / 2);
}

/*
 * A take that lasts holds its worker, on whose search all rely.  Nobody has armed, so
 * nobody signals: the monitor sends the other worker.
 */
TEST(a_take_that_lasts_does_not_hold_up_other_sources)
{
	struct sley *rt = create();
	struct box other = { 0 }, box = { 0 };

	add(rt, &box);
	add(rt, &other);
	settle(rt, &box);
	atomic_store(&box.nr_begun, 0);
	box.awaited = &other.nr_taken;
	put(&box);
	CHECK_EVENTUALLY(atomic_load(&box.nr_begun));
	put(&other);
	CHECK_EVENTUALLY(!has(&other));
	CHECK_EVENTUALLY(!has(&box));
	source_remove(box.source);
	source_remove(other.source);
	sley_destroy(rt);
}

static atomic_bool ran;

static void run(void *arg)
{
	(void)arg;
	atomic_store(&ran, true);
}

/* A task of the worker has its turn in the middle of a take. */
TEST(a_brief_take_may_yield)
{
	struct sley *rt = create();
	struct box box = { .yields = true };

	add(rt, &box);
	for (int i = 0; i < 20; i++) {
		atomic_store(&ran, false);
		CHECK_EQ(sley_schedule_on(rt, run, NULL, NULL), 0);
		put_and_wait(&box);
		CHECK_EVENTUALLY(atomic_load(&ran));
	}
	CHECK_EQ(atomic_load(&box.nr_yielded), 20);
	source_remove(box.source);
	sley_destroy(rt);
}

/* ---- a source that says yes once ------------------------------------------------------ */

#define LOOKS 40

struct rare {
	atomic_uint nr_asked, says_at, nr_taken;
};

static bool rare_has(void *arg)
{
	struct rare *rare = arg;

	return atomic_fetch_add(&rare->nr_asked, 1) + 1 ==
	       atomic_load(&rare->says_at);
}

static bool rare_take(void *arg)
{
	struct rare *rare = arg;

	if (atomic_load(&rare->nr_asked) >= atomic_load(&rare->says_at))
		atomic_fetch_add(&rare->nr_taken, 1);
	return false;
}

static void nothing(void *arg)
{
	(void)arg;
}

/*
 * As a source that asks the kernel once in a while: the look that has the answer may be
 * the last of a worker that is about to park, and takes nothing by itself.
 */
TEST(what_any_look_has_found_is_taken)
{
	struct rare rare = { 0 };
	struct sley_source *source;
	struct sley *rt;

	CHECK_EQ(sley_create(&rt, SLEY_CONFIG(.workers = 1,
					      .spin_us = SLEY_NO_SPIN)),
		 0);
	CHECK_EQ(source_add(rt, &source,
			    &(struct source_ops){ .has = rare_has,
						  .take = rare_take },
			    &rare, false),
		 0);
	for (unsigned int i = 1; i <= LOOKS; i++) {
		CHECK_EVENTUALLY(idle_parked(idle_counts(&rt->idle)) == 1);
		atomic_store(&rare.nr_taken, 0);
		/* In this order: a last look of the worker may count as the first one. */
		atomic_store(&rare.says_at, i);
		atomic_store(&rare.nr_asked, 0);
		/* As many tasks as it takes until the worker has asked so often. */
		while (atomic_load(&rare.nr_asked) < i)
			CHECK_EQ(sley_schedule_on(rt, nothing, NULL, NULL), 0);
		CHECK_EVENTUALLY(atomic_load(&rare.nr_taken));
	}
	source_remove(source);
	sley_destroy(rt);
}
