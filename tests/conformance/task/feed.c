/* SPDX-License-Identifier: MIT */
/*
 * feed.c - a pipeline that is fed from a loop: order, back-pressure, failures, and
 * that no item is lost.
 */
#include "conformance/bound.h"

#define NR_ITEMS 300

struct scene {
	struct sley_feed *feed;
	int number[NR_ITEMS];
	atomic_int put, through; /* accepted; taken by the last stage */
	atomic_int dropped;
	int last;
	int fail_number;
	struct sley_event open; /* the last stage waits for it */
};

static void set_scene(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	s->last = -1;
	s->fail_number = -1;
	for (int i = 0; i < NR_ITEMS; i++)
		s->number[i] = i;
	sley_event_init(&s->open, false, true);
}

static int work(void **item, void *arg)
{
	struct scene *s = arg;

	return *(int *)*item == s->fail_number ? -EIO : 0;
}

static int finish(void **item, void *arg)
{
	struct scene *s = arg;
	int number = *(int *)*item;
	int err = sley_event_wait(&s->open);

	if (err)
		return err;
	CHECK_GT(number, s->last);
	s->last = number;
	s->through++;
	return 0;
}

static void drop(void *item, void *arg)
{
	struct scene *s = arg;

	CHECK(item != NULL);
	s->dropped++;
}

static void open_feed(struct scene *s, uint32_t tokens)
{
	const struct sley_stage stages[] = {
		{ work, s, SLEY_STAGE_PARALLEL, drop },
		{ finish, s, SLEY_STAGE_ORDERED, NULL },
	};

	CHECK_EQ(sley_feed_open(&s->feed, stages, 2,
				SLEY_FEED_OPTIONS(.tokens = tokens,
						  .drop = drop, .drop_arg = s)),
		 0);
}

/* Until one is refused. */
static int put_all(struct scene *s)
{
	int err = 0;

	for (int i = 0; i < NR_ITEMS && !err; i++) {
		err = sley_feed_put(s->feed, &s->number[i]);
		s->put += !err;
	}
	return err;
}

static void feed_from_task(void *arg)
{
	struct scene *s = arg;

	open_feed(s, 4);
	CHECK_EQ(put_all(s), 0);
	CHECK_EQ(sley_feed_close(s->feed), 0);
}

TEST_WORKERS(a_feed_takes_items_from_a_bound_thread_and_from_a_task)
{
	static struct scene s;
	struct sley *rt = start();

	set_scene(&s);
	open_feed(&s, 0);
	CHECK_EQ(put_all(&s), 0);
	CHECK_EQ(sley_feed_close(s.feed), 0);
	CHECK_EQ(s.through, NR_ITEMS);
	CHECK_EQ(s.last, NR_ITEMS - 1);
	set_scene(&s);
	run_task(feed_from_task, &s);
	CHECK_EQ(s.through, NR_ITEMS);
	CHECK_EQ(s.dropped, 0);
	stop(rt);
}

static void *put_and_close(void *arg)
{
	struct scene *s = arg;

	CHECK_EQ(put_all(s), 0);
	CHECK_EQ(sley_feed_close(s->feed), 0);
	return NULL;
}

TEST_WORKERS(a_feed_takes_items_from_a_thread_without_a_runtime)
{
	static struct scene s;
	struct sley *rt;
	pthread_t thread;

	/* Somebody has to run the tasks. */
	if (is_single())
		return;
	rt = start();
	set_scene(&s);
	open_feed(&s, 3);
	CHECK_EQ(pthread_create(&thread, NULL, put_and_close, &s), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK_EQ(s.through, NR_ITEMS);
	stop(rt);
}

TEST_WORKERS(a_put_waits_for_a_token)
{
	static struct scene s;
	struct sley *rt = start();
	int err = 0;

	set_scene(&s);
	sley_event_clear(&s.open);
	open_feed(&s, 5);
	while (!err) {
		err = sley_feed_put_until(s.feed, &s.number[s.put], in_ms(50));
		s.put += !err;
		CHECK_LE(s.put, 5);
	}
	CHECK_EQ(err, -ETIMEDOUT);
	/* On a busy machine a put may time out although there is a token. */
	while (s.put < 5) {
		CHECK_EQ(sley_feed_put(s.feed, &s.number[s.put]), 0);
		s.put++;
	}
	CHECK_EQ(s.through, 0);
	sley_event_set(&s.open);
	CHECK_EQ(sley_feed_close(s.feed), 0);
	CHECK_EQ(s.through, 5);
	stop(rt);
}

TEST_WORKERS(a_stage_that_fails_ends_the_feed)
{
	static struct scene s;
	struct sley *rt = start();

	set_scene(&s);
	s.fail_number = 50;
	open_feed(&s, 4);
	CHECK_EQ(put_all(&s), -EPIPE);
	CHECK_EQ(sley_feed_put(s.feed, &s.number[0]), -EPIPE);
	CHECK_EQ(sley_feed_close(s.feed), -EIO);
	CHECK_LE(s.through, 50);
	/* At most 4 items are under way, and number 50 is one of them. */
	CHECK_GE(s.through, 50 - 3);
	CHECK_EQ(s.through + s.dropped, s.put);
	stop(rt);
}

TEST_WORKERS(a_feed_that_is_cancelled_drops_what_is_under_way)
{
	static struct scene s;
	struct sley *rt = start();

	set_scene(&s);
	sley_event_clear(&s.open);
	open_feed(&s, 3);
	for (s.put = 0; s.put < 3; s.put++)
		CHECK_EQ(sley_feed_put(s.feed, &s.number[s.put]), 0);
	sley_feed_cancel(s.feed);
	CHECK_EQ(sley_feed_put(s.feed, &s.number[3]), -EPIPE);
	CHECK_EQ(sley_feed_close(s.feed), -ECANCELED);
	CHECK_EQ(s.through, 0);
	CHECK_EQ(s.dropped, 3);
	stop(rt);
}

/* Also if nobody had time to start it. */
TEST_WORKERS(a_feed_that_is_cancelled_at_once_refuses_items)
{
	static struct scene s;
	struct sley *rt = start();

	set_scene(&s);
	for (int i = 0; i < 20; i++) {
		s.last = -1;
		open_feed(&s, 3);
		sley_feed_cancel(s.feed);
		CHECK_EQ(put_all(&s), -EPIPE);
		CHECK_EQ(sley_feed_close(s.feed), -ECANCELED);
	}
	CHECK_EQ(s.put, s.dropped + s.through);
	stop(rt);
}

TEST_WORKERS(a_feed_is_given_up_at_the_deadline_of_its_close)
{
	static struct scene s;
	struct sley *rt = start();

	set_scene(&s);
	open_feed(&s, 3);
	CHECK_EQ(sley_feed_put(s.feed, &s.number[0]), 0);
	CHECK_EQ(sley_feed_close_until(s.feed, UINT64_MAX), 0);
	CHECK_EQ(s.through, 1);
	set_scene(&s);
	sley_event_clear(&s.open);
	open_feed(&s, 3);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(sley_feed_put(s.feed, &s.number[i]), 0);
	CHECK_EQ(sley_feed_close_until(s.feed, in_ms(5)), -ETIMEDOUT);
	CHECK_EQ(s.through, 0);
	CHECK_EQ(s.dropped, 3);
	stop(rt);
}

static void put_cancelled(void *arg)
{
	struct scene *s = arg;

	CHECK_EQ(sley_feed_put(s->feed, &s->number[2]), -ECANCELED);
}

TEST_WORKERS(a_put_of_a_cancelled_task_leaves_the_item_with_it)
{
	static struct scene s;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct sley *rt = start();

	set_scene(&s);
	sley_event_clear(&s.open);
	open_feed(&s, 2);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(sley_feed_put(s.feed, &s.number[i]), 0);
	sley_spawn(&group, &task, put_cancelled, &s);
	while (sley_join_until(&group, in_ms(1)) == 0)
		CHECK(false);
	sley_cancel(&task);
	sley_join(&group);
	sley_event_set(&s.open);
	CHECK_EQ(sley_feed_close(s.feed), 0);
	CHECK_EQ(s.through, 2);
	stop(rt);
}

TEST_WORKERS(a_feed_says_what_is_wrong)
{
	static struct scene s;
	struct sley_stage stages[2] = { { work, &s, SLEY_STAGE_PARALLEL, NULL },
					{ work, &s, SLEY_STAGE_SERIAL, NULL } };
	struct sley_feed *feed;
	struct sley *rt;

	CHECK_EQ(sley_feed_open(&feed, stages, 2, NULL), SLEY_ENORUNTIME);
	rt = start();
	CHECK_EQ(sley_feed_open(&feed, stages, 0, NULL), -EINVAL);
	CHECK_EQ(sley_feed_open(&feed, stages, SLEY_PIPELINE_STAGES_MAX, NULL),
		 -EINVAL);
	CHECK_EQ(sley_feed_open(
			 &feed, stages, 2,
			 SLEY_FEED_OPTIONS(.tokens = SLEY_PIPELINE_TOKENS_MAX +
						     1)),
		 -EINVAL);
	CHECK_EQ(sley_feed_open(&feed, stages, 2,
				SLEY_FEED_OPTIONS(.priority = 99)),
		 SLEY_EPRIORITY);
	CHECK_EQ(sley_feed_open(&feed, stages, 2,
				SLEY_FEED_OPTIONS(.reserved = { 1 })),
		 -E2BIG);
	stages[1].fn = NULL;
	CHECK_EQ(sley_feed_open(&feed, stages, 2, NULL), -EINVAL);
	CHECK(feed == NULL);
	CHECK_EQ(sley_feed_close(NULL), 0);
	stages[1].fn = work;
	for (int i = 0; i < 2; i++) {
		test_fail_allocation_after(i);
		if (!sley_feed_open(&feed, stages, 2, NULL)) {
			CHECK_EQ(sley_feed_put(feed, NULL), -EINVAL);
			CHECK_EQ(sley_feed_close(feed), 0);
			CHECK_GT(i, 0);
		}
		test_fail_allocation_after(-1);
	}
	stop(rt);
}
