/* SPDX-License-Identifier: MIT */
/*
 * post.c - messages that are sent later: W25, T12, T17.
 *
 * Lower bounds are exact: nothing may come early.
 */
#include <sley/error.h>
#include <sys/wait.h>

#include "conformance/everywhere.h"
#include "conformance/actor/listener.h"

#define LONG (3600 * SLEY_SEC) /* never, as far as a test goes */

TEST_WORKERS(w25_a_post_comes_not_before_its_time)
{
	struct sley *rt = start();
	struct listener listener;
	sley_post post = 0;
	int n = test_scale(20);

	(void)listen(&listener);
	for (int i = 0; i < n; i++) {
		uint64_t when = sley_now() + test_random(3 * SLEY_MSEC);
		uint32_t data = 0x01020304;

		CHECK_EQ(sley_post_at(listener.pid, 7, &data, sizeof(data),
				      when, &post),
			 0);
		data = 0; /* it was copied */
		CHECK_SOON(listener.nr == (uint64_t)i + 1);
		CHECK_GE(listener.when, when);
		CHECK_EQ(listener.last, 7);
		CHECK_EQ(listener.bytes, 10);
		CHECK_EQ(listener.from, SLEY_NO_PID);
		CHECK_EQ(sley_post_cancel(post), -ENOENT);
	}
	hush(&listener);
	stop(rt);
}

TEST_WORKERS(t17_a_time_that_has_passed_is_now)
{
	struct sley *rt = start();
	struct listener listener;
	sley_post post = 42;

	(void)listen(&listener);
	CHECK_EQ(sley_post_at(listener.pid, 1, NULL, 0, 0, &post), 0);
	CHECK_EQ(post, 0); /* none is under way */
	CHECK_EQ(sley_post_cancel(post), -ENOENT);
	CHECK_EQ(sley_post_at(listener.pid, 2, NULL, 0, sley_now() - 1, NULL),
		 0);
	CHECK_SOON(listener.nr == 2);
	CHECK_EQ(listener.last, 2);
	hush(&listener);
	stop(rt);
}

TEST_WORKERS(t17_at_the_end_of_time_nothing_comes)
{
	struct sley *rt = start();
	struct listener listener;
	sley_post post, every;

	(void)listen(&listener);
	CHECK_EQ(sley_post_at(listener.pid, 1, NULL, 0, UINT64_MAX, &post), 0);
	/* The first time does not fit into the clock. */
	CHECK_EQ(sley_post_every(listener.pid, 1, NULL, 0, UINT64_MAX, &every),
		 0);
	CHECK_NE(post, 0);
	CHECK_NE(post, every);
	(void)sley_sleep(SLEY_MSEC);
	CHECK_EQ(listener.nr, 0);
	CHECK_EQ(sley_post_cancel(post), 0);
	CHECK_EQ(sley_post_cancel(every), 0);
	CHECK_EQ(sley_post_cancel(post), -ENOENT);
	hush(&listener);
	stop(rt);
}

TEST_WORKERS(w25_what_is_cancelled_does_not_come)
{
	struct sley *rt = start();
	struct listener listener;
	sley_post post, other;

	(void)listen(&listener);
	CHECK_EQ(sley_post_at(listener.pid, 1, NULL, 0,
			      sley_now() + 20 * SLEY_MSEC, &post),
		 0);
	CHECK_EQ(sley_post_at(listener.pid, 2, NULL, 0,
			      sley_now() + 20 * SLEY_MSEC, &other),
		 0);
	if (sley_post_cancel(post))
		test_skip("the machine was too busy to be in time");
	CHECK_EQ(sley_post_cancel(post), -ENOENT);
	CHECK_SOON(listener.nr == 1);
	(void)sley_sleep(2 * SLEY_MSEC);
	CHECK_EQ(listener.nr, 1);
	CHECK_EQ(listener.last, 2);
	hush(&listener);
	stop(rt);
}

TEST(w25_what_was_never_posted_cannot_be_cancelled)
{
	static const sley_post never[] = {
		0, 1, 64, UINT32_MAX, 1ull << 32, 7ull << 32 | 1, UINT64_MAX
	};

	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		CHECK_EQ(sley_post_cancel(never[i]), -ENOENT);
}

/* A number whose post is over is not that of the next one in its place. */
TEST_WORKERS(t12_an_old_number_does_not_cancel_a_new_post)
{
	enum { N = 300 };
	sley_post old[N], post;
	struct sley *rt = start();
	struct listener listener;

	(void)listen(&listener);
	for (int i = 0; i < N; i++) {
		CHECK_EQ(sley_post_at(listener.pid, 1, NULL, 0, UINT64_MAX,
				      &old[i]),
			 0);
		CHECK_EQ(sley_post_cancel(old[i]), 0);
	}
	CHECK_EQ(sley_post_at(listener.pid, 2, NULL, 0,
			      sley_now() + 5 * SLEY_MSEC, &post),
		 0);
	for (int i = 0; i < N; i++) {
		CHECK_NE(old[i], post);
		CHECK_EQ(sley_post_cancel(old[i]), -ENOENT);
		for (int j = 0; j < i; j++)
			CHECK_NE(old[i], old[j]);
	}
	CHECK_SOON(listener.nr == 1);
	CHECK_EQ(listener.last, 2);
	hush(&listener);
	stop(rt);
}

/* Nor does what was posted to a process reach the next one in its place. */
TEST_WORKERS(t12_a_post_for_who_is_gone_reaches_nobody)
{
	enum { N = 50 };
	static struct listener dead[N], next[N];
	struct sley *rt = start();
	uint64_t when = sley_now() + 20 * SLEY_MSEC;

	for (int i = 0; i < N; i++) {
		int err =
			sley_post_at(listen(&dead[i]), 1, NULL, 0, when, NULL);

		CHECK_EQ(err, 0);
	}
	for (int i = 0; i < N; i++)
		hush(&dead[i]);
	for (int i = 0; i < N; i++)
		(void)listen(&next[i]);
	CHECK_SOON(sley_now() > when + 2 * SLEY_MSEC);
	for (int i = 0; i < N; i++) {
		hush(&next[i]);
		CHECK_EQ(next[i].nr, 0);
	}
	stop(rt);
}

/* ---- again and again -------------------------------------------------------------- */

TEST_WORKERS(w25_an_interval_is_counted_from_the_first_time)
{
	const uint64_t interval = 500 * SLEY_USEC;
	unsigned char bytes[100];
	struct sley *rt = start();
	struct listener listener;
	uint64_t begin = sley_now(), nr;
	sley_post post;

	memset(bytes, 2, sizeof(bytes));
	(void)listen(&listener);
	CHECK_EQ(sley_post_every(listener.pid, 1, bytes, sizeof(bytes),
				 interval, &post),
		 0);
	memset(bytes, 0, sizeof(bytes));
	for (uint64_t i = 1; i <= 20; i++) {
		CHECK_SOON(listener.nr >= i);
		nr = listener.nr;
		/* No more than there were times, however late each was. */
		CHECK_LE(nr, (sley_now() - begin) / interval);
		CHECK_EQ(listener.bytes, 200);
	}
	CHECK_EQ(sley_post_cancel(post), 0);
	CHECK_EQ(sley_post_cancel(post), -ENOENT);
	hush(&listener);
	stop(rt);
}

/* After it was cancelled nothing is on its way any more. */
TEST_WORKERS(w25_an_interval_that_was_cancelled_has_sent_its_last)
{
	struct sley *rt = start();
	int n = test_scale(100);

	for (int i = 0; i < n; i++) {
		struct listener listener;
		uint64_t nr = 0;
		sley_post post;

		(void)listen(&listener);
		CHECK_EQ(sley_post_every(listener.pid, 1, NULL, 0,
					 20 * SLEY_USEC, &post),
			 0);
		CHECK_SOON(listener.nr >= 1 + test_random(3));
		CHECK_EQ(sley_post_cancel(post), 0);
		/* What was sent before is received before the end. */
		CHECK_EQ(sley_send(listener.pid, 100, NULL, 0), 0);
		CHECK_SOON(listener.last == 100);
		nr = listener.nr;
		(void)sley_sleep(100 * SLEY_USEC);
		CHECK_EQ(listener.nr, nr);
		hush(&listener);
	}
	stop(rt);
}

TEST(w25_times_that_were_missed_are_not_made_up_for)
{
	const uint64_t interval = SLEY_MSEC;
	struct sley *rt = start_single();
	struct listener listener;
	uint64_t begin;
	sley_post post;

	(void)listen(&listener);
	CHECK_EQ(sley_post_every(listener.pid, 1, NULL, 0, interval, &post), 0);
	/* The only thread that could ring does something else. */
	test_burn_ms(50);
	begin = sley_now();
	CHECK_SOON(listener.nr >= 1);
	CHECK_LE(listener.nr, 1 + (sley_now() - begin) / interval + 1);
	CHECK_EQ(sley_post_cancel(post), 0);
	hush(&listener);
	stop(rt);
}

TEST_WORKERS(w25_an_interval_ends_with_its_process)
{
	struct sley *rt = start();
	struct listener listener;
	sley_post post;

	(void)listen(&listener);
	CHECK_EQ(sley_post_every(listener.pid, 1, NULL, 0, 50 * SLEY_USEC,
				 &post),
		 0);
	CHECK_SOON(listener.nr >= 2);
	CHECK_EQ(sley_process_kill(listener.pid), 0);
	CHECK_SOON(!sley_process_alive(listener.pid));
	/* At its next time at the latest; and then it cannot be cancelled. */
	(void)sley_sleep(5 * SLEY_MSEC);
	CHECK_SOON(sley_post_cancel(post) == -ENOENT);
	stop(rt);
}

/* ---- whose it is ------------------------------------------------------------------- */

static int reminded(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	CHECK_EQ(sley_post_at(sley_self(), 3, NULL, 0, sley_now() + SLEY_USEC,
			      NULL),
		 0);
	CHECK_EQ(sley_receive(&msg), 0);
	CHECK_EQ(msg->tag, 3);
	CHECK_EQ(msg->from, sley_self());
	return 0;
}

TEST_WORKERS(w25_a_process_can_remind_itself)
{
	struct sley *rt = start();
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, reminded, NULL, NULL), 0);
	CHECK_SOON(!sley_process_alive(pid));
	stop(rt);
}

static void post_one(void *arg)
{
	struct listener *listener = arg;

	CHECK_EQ(sley_post_at(listener->pid, 1, NULL, 0,
			      sley_now() + 100 * SLEY_USEC, NULL),
		 0);
}

TEST_WORKERS(w25_bound_threads_tasks_and_regions_post)
{
	struct sley *rt = start();
	struct listener listener;
	struct in_region in = { post_one, &listener };

	(void)listen(&listener);
	post_one(&listener);
	run_task(post_one, &listener);
	run_task(region_task, &in);
	CHECK_SOON(listener.nr == 3);
	hush(&listener);
	stop(rt);
}

static void *post_unbound(void *arg)
{
	struct listener *listener = arg;
	sley_post post = 42;

	CHECK_EQ(sley_post_at(listener->pid, 1, NULL, 0, 0, &post),
		 SLEY_ENORUNTIME);
	CHECK_EQ(sley_post_every(listener->pid, 1, NULL, 0, 1, &post),
		 SLEY_ENORUNTIME);
	CHECK_EQ(post, 42);
	return NULL;
}

TEST_WORKERS(w25_what_cannot_be_posted)
{
	struct sley *rt = start();
	struct listener listener;
	sley_post post;

	(void)listen(&listener);
	CHECK_EQ(pthread_join(test_thread(post_unbound, &listener), NULL), 0);
	CHECK_EQ(sley_post_every(listener.pid, 1, NULL, 0, 0, &post), -EINVAL);
	CHECK_EQ(sley_post_at(listener.pid, 1, &post, 1ull << 32, 0, &post),
		 -EMSGSIZE);
	CHECK_EQ(sley_post_every(listener.pid, 1, &post, 1ull << 32, 1, &post),
		 -EMSGSIZE);
	CHECK_EQ(sley_post_at(SLEY_NO_PID, 1, NULL, 0, 0, &post), -ESRCH);
	hush(&listener);
	CHECK_EQ(sley_post_at(listener.pid, 1, NULL, 0, 0, &post), -ESRCH);
	CHECK_EQ(sley_post_at(listener.pid, 1, NULL, 0, UINT64_MAX, &post),
		 -ESRCH);
	CHECK_EQ(sley_post_every(listener.pid, 1, NULL, 0, 1, &post), -ESRCH);
	stop(rt);
}

/* ---- who is full --------------------------------------------------------------------- */

static struct sley_event gate;

static int looks_away(void *arg)
{
	struct sley_msg *msg;

	CHECK_EQ(sley_event_wait(&gate), 0);
	while (!sley_receive(&msg) && msg->tag != TAG_END)
		listener_hear(arg, msg);
	return 0;
}

TEST_WORKERS(w25_a_post_does_not_wait_for_room)
{
	struct sley *rt = start();
	struct sley_process_info info;
	struct listener full = { 0 };
	sley_post post;

	sley_event_init(&gate, false, false);
	CHECK_EQ(sley_actor_spawn(&full.pid, looks_away, &full,
				  SLEY_PROCESS_OPTIONS(.mailbox = 1,
						       .overflow = SLEY_BLOCK)),
		 0);
	CHECK_EQ(sley_send(full.pid, 1, NULL, 0), 0);
	/* One that is due now, and one that is due again and again. */
	CHECK_EQ(sley_post_at(full.pid, 2, NULL, 0, 0, NULL), 0);
	CHECK_EQ(sley_post_every(full.pid, 3, NULL, 0, 100 * SLEY_USEC, &post),
		 0);
	do {
		(void)sley_sleep(100 * SLEY_USEC);
		CHECK_EQ(sley_process_inspect(full.pid, &info), 0);
	} while (info.dropped < 3);
	/* It goes on when there is room. */
	sley_event_set(&gate);
	CHECK_SOON(full.nr >= 3);
	CHECK_EQ(full.last, 3);
	CHECK_EQ((full.sum - 1) % 3, 0); /* no 2 among them */
	CHECK_EQ(sley_post_cancel(post), 0);
	while (sley_send(full.pid, TAG_END, NULL, 0) == -EAGAIN)
		(void)sley_sleep(10 * SLEY_USEC);
	CHECK_SOON(!sley_process_alive(full.pid));
	stop(rt);
}

/* Who drops a message frees it, and that may be who sends a post. */
static _Atomic sley_post dropping;
static _Atomic int nr_dropped, cancelled;

static void cancel_what_drops(void *data)
{
	(void)data;
	while (!dropping)
		;
	cancelled = sley_post_cancel(dropping);
	nr_dropped++;
}

TEST_WORKERS(w25_a_post_can_be_cancelled_by_what_it_does)
{
	struct sley *rt = start();
	struct listener full = { 0 };
	sley_post post;

	nr_dropped = 0;
	dropping = 0;
	sley_event_init(&gate, false, false);
	CHECK_EQ(sley_actor_spawn(
			 &full.pid, looks_away, &full,
			 SLEY_PROCESS_OPTIONS(.mailbox = 1,
					      .overflow = SLEY_DROP_OLDEST)),
		 0);
	CHECK_EQ(sley_send_owned(full.pid, 1, NULL, 0, cancel_what_drops), 0);
	CHECK_EQ(sley_post_every(full.pid, 3, NULL, 0, 100 * SLEY_USEC, &post),
		 0);
	dropping = post;
	CHECK_SOON(nr_dropped == 1);
	CHECK_EQ(cancelled, 0);
	CHECK_EQ(sley_post_cancel(post), -ENOENT);
	sley_event_set(&gate);
	CHECK_SOON(full.nr == 1);
	CHECK_EQ(full.last, 3);
	hush(&full);
	stop(rt);
}

/* ---- the end ------------------------------------------------------------------------- */

TEST_WORKERS(w25_posts_end_with_the_runtime_of_who_posted)
{
	enum { N = 100 };
	unsigned char bytes[100] = { 0 };
	sley_post post[N], every;
	struct sley *rt = start();
	struct listener listener;

	(void)listen(&listener);
	for (int i = 0; i < N; i++)
		CHECK_EQ(sley_post_at(listener.pid, 1, bytes, sizeof(bytes),
				      sley_now() + LONG, &post[i]),
			 0);
	CHECK_EQ(sley_post_every(listener.pid, 1, bytes, sizeof(bytes), LONG,
				 &every),
		 0);
	hush(&listener);
	stop(rt);
	for (int i = 0; i < N; i++)
		CHECK_EQ(sley_post_cancel(post[i]), -ENOENT);
	CHECK_EQ(sley_post_cancel(every), -ENOENT);
}

/* The process lives elsewhere: what is not sent is dropped all the same. */
TEST(w25_posts_to_another_runtime_end_with_ones_own)
{
	struct sley_config config = config_of(1);
	struct sley *theirs, *ours;
	struct listener listener;
	sley_post post;

	theirs = start_with(&config);
	(void)listen(&listener);
	sley_unbind(theirs);
	ours = start_with(&config);
	CHECK_EQ(sley_post_at(listener.pid, 1, NULL, 0, sley_now() + SLEY_USEC,
			      NULL),
		 0);
	CHECK_SOON(listener.nr == 1);
	CHECK_EQ(sley_post_at(listener.pid, 2, NULL, 0, sley_now() + LONG,
			      &post),
		 0);
	stop(ours);
	CHECK_EQ(sley_post_cancel(post), -ENOENT);
	CHECK_EQ(sley_bind(theirs), 0);
	hush(&listener);
	CHECK_EQ(listener.nr, 1);
	stop(theirs);
}

TEST_WORKERS(t17_a_hundred_thousand_posts_are_cancelled)
{
	enum { N = 100000 };
	static sley_post post[N];
	struct sley *rt = start();
	struct listener listener;
	int n = test_scale(N);

	test_timeout(60);
	(void)listen(&listener);
	for (int i = 0; i < n; i++)
		CHECK_EQ(sley_post_at(listener.pid, 1, NULL, 0,
				      sley_now() + LONG + test_random(LONG),
				      &post[i]),
			 0);
	for (int i = 0; i < n; i += 2)
		CHECK_EQ(sley_post_cancel(post[i]), 0);
	for (int i = n - 1 - n % 2; i > 0; i -= 2)
		CHECK_EQ(sley_post_cancel(post[i]), 0);
	for (int i = 0; i < n; i++)
		CHECK_EQ(sley_post_cancel(post[i]), -ENOENT);
	hush(&listener);
	CHECK_EQ(listener.nr, 0);
	stop(rt);
}

TEST(w25_a_child_of_fork_has_no_posts)
{
	struct sley *rt;
	struct listener listener;
	sley_post post;
	int status;
	pid_t child;

	skip_where_nobody_forks();
	rt = start();
	(void)listen(&listener);
	CHECK_EQ(sley_post_at(listener.pid, 1, NULL, 0, sley_now() + LONG,
			      &post),
		 0);
	child = fork();
	if (!child) {
		struct sley *own;

		CHECK_EQ(sley_post_cancel(post), -ENOENT);
		CHECK_EQ(sley_post_at(listener.pid, 1, NULL, 0, 0, NULL),
			 SLEY_EFORKED);
		own = start();
		CHECK_EQ(sley_post_at(listen(&listener), 1, NULL, 0,
				      sley_now() + SLEY_USEC, NULL),
			 0);
		CHECK_SOON(listener.nr == 1);
		hush(&listener);
		stop(own);
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK_EQ(sley_post_cancel(post), 0);
	hush(&listener);
	stop(rt);
}
