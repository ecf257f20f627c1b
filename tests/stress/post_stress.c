/* SPDX-License-Identifier: MIT */
/*
 * post_stress.c - posts that are cancelled when they are about to be sent.
 */
#include <stdatomic.h>

#include "stress/stress.h"

#define POSTS 60

static _Atomic int nr_came[POSTS];
static _Atomic bool ended;

static int listens(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	while (!sley_receive(&msg) && msg->tag != UINT64_MAX) {
		CHECK_EQ(*(const uint64_t *)msg->data, msg->tag);
		CHECK_EQ(nr_came[msg->tag]++, 0);
	}
	ended = true;
	return 0;
}

struct race {
	sley_pid pid;
	sley_post post[POSTS];
	_Atomic int nr_posted;
	_Atomic int nr_cancelled[POSTS]; /* by so many */
};

static void cancel_some(void *arg)
{
	struct race *race = arg;

	for (int i = 0; i < POSTS; i++) {
		while (race->nr_posted <= i)
			sley_yield();
		if (one_in(2) && !sley_post_cancel(race->post[i]))
			CHECK_EQ(race->nr_cancelled[i]++, 0);
		dawdle();
	}
}

static void *cancel_by_thread(void *arg)
{
	cancel_some(arg);
	return NULL;
}

static void post_all(void *arg)
{
	struct race *race = arg;

	for (uint64_t i = 0; i < POSTS; i++) {
		uint64_t data[3] = { i, i, i };

		CHECK_EQ(sley_post_at(race->pid, i, data, one_in(2) ? 24 : 8,
				      soon(), &race->post[i]),
			 0);
		race->nr_posted++;
		test_count(1);
	}
}

/* Each is either sent or cancelled, by one. */
static void play_once(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[3];
	struct race race = { .nr_posted = 0 };
	pthread_t thread;

	memset(nr_came, 0, sizeof(nr_came));
	ended = false;
	CHECK_EQ(sley_actor_spawn(&race.pid, listens, NULL, NULL), 0);
	thread = test_thread(cancel_by_thread, &race);
	sley_spawn(&group, &task[0], post_all, &race);
	sley_spawn(&group, &task[1], cancel_some, &race);
	sley_spawn(&group, &task[2], cancel_some, &race);
	sley_join(&group);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	for (int i = 0; i < POSTS; i++) {
		while (!nr_came[i] && !race.nr_cancelled[i])
			sley_yield();
	}
	CHECK_EQ(sley_send(race.pid, UINT64_MAX, NULL, 0), 0);
	while (!ended || sley_process_alive(race.pid))
		sley_yield();
	for (int i = 0; i < POSTS; i++)
		CHECK_EQ(nr_came[i] + race.nr_cancelled[i], 1);
}

STRESS(a_post_is_sent_or_cancelled, play_once);

/* ---- again and again ----------------------------------------------------------------- */

#define LAST 1000

/* After the last word, which is sent when all are cancelled, nothing comes. */
static int listens_to_the_last(void *arg)
{
	struct sley_msg *msg;
	bool last = false;

	(void)arg;
	while (!sley_receive(&msg) && msg->tag != UINT64_MAX) {
		CHECK(!last);
		last = msg->tag == LAST;
	}
	ended = true;
	return 0;
}

static void play_again(void)
{
	sley_post post[5];
	sley_pid pid;

	ended = false;
	CHECK_EQ(sley_actor_spawn(&pid, listens_to_the_last, NULL, NULL), 0);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(sley_post_every(pid, 1, post, 8 + 8 * test_random(3),
					 1 + test_random(50 * SLEY_USEC),
					 &post[i]),
			 0);
	(void)sley_sleep(test_random(200 * SLEY_USEC));
	for (int i = 0; i < 5; i++) {
		CHECK_EQ(sley_post_cancel(post[i]), 0);
		CHECK_EQ(sley_post_cancel(post[i]), -ENOENT);
		test_count(1);
	}
	CHECK_EQ(sley_send(pid, LAST, NULL, 0), 0);
	dawdle();
	CHECK_EQ(sley_send(pid, UINT64_MAX, NULL, 0), 0);
	while (!ended || sley_process_alive(pid))
		sley_yield();
}

STRESS(an_interval_that_was_cancelled_is_over, play_again);

/* ---- the end of the runtime ------------------------------------------------------------ */

static _Atomic sley_post shared[POSTS];
static _Atomic bool over;

static void *cancel_for_ever(void *arg)
{
	(void)arg;
	while (!over)
		(void)sley_post_cancel(shared[test_random(POSTS)]);
	return NULL;
}

static int waits(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	return sley_receive(&msg);
}

/* Somebody cancels what a runtime that is being destroyed drops. */
TEST(runtimes_end_while_their_posts_are_cancelled)
{
	struct sley_config config = stress_config();
	uint64_t end = stress_end();
	pthread_t thread = test_thread(cancel_for_ever, NULL);

	do {
		struct sley *rt = start_with(&config);
		sley_pid pid;

		CHECK_EQ(sley_actor_spawn(&pid, waits, NULL, NULL), 0);
		for (int i = 0; i < POSTS; i++) {
			sley_post post;

			CHECK_EQ(sley_post_at(pid, 1, NULL, 0,
					      sley_now() + 3600 * SLEY_SEC,
					      &post),
				 0);
			shared[i] = post;
			test_count(1);
		}
		CHECK_EQ(sley_process_kill(pid), 0);
		stop(rt);
	} while (sley_now() < end);
	over = true;
	CHECK_EQ(pthread_join(thread, NULL), 0);
}
