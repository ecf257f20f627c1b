/* SPDX-License-Identifier: MIT */
/*
 * call_failed.c - calls that get no reply: who was called ends, the deadline comes,
 * the caller is cancelled.  W24, W45; that a late reply reaches nobody is T12.
 */
#include "conformance/bound.h"

enum { ASK = 1, KEEP, DIE };

static struct sley_msg *_Atomic kept;
static atomic_int nr_kept, answered, late;

/* KEEP: does not answer.  DIE: ends for the reason in the request. */
static int server(void *arg)
{
	struct sley_msg *msg;
	int err;

	(void)arg;
	while (sley_receive(&msg) == 0) {
		switch (msg->tag) {
		case ASK:
			err = sley_reply(msg, ASK, NULL, 0);
			/* -ESRCH: the caller's deadline came first. */
			CHECK(err == 0 || err == -ESRCH);
			atomic_fetch_add(err ? &late : &answered, 1);
			break;
		case KEEP:
			sley_msg_keep(msg);
			sley_msg_free(atomic_exchange(&kept, msg));
			atomic_fetch_add(&nr_kept, 1);
			break;
		case DIE:
			return *(const int *)msg->data;
		}
	}
	return 0;
}

static sley_pid start_server(void)
{
	sley_pid pid;

	atomic_store(&kept, NULL);
	atomic_store(&nr_kept, 0);
	atomic_store(&answered, 0);
	atomic_store(&late, 0);
	CHECK_EQ(sley_actor_spawn(&pid, server, NULL, NULL), 0);
	return pid;
}

static void stop_server(sley_pid pid)
{
	int reason = 0;
	int err = sley_send(pid, DIE, &reason, sizeof(reason));

	CHECK(err == 0 || err == -ESRCH); /* -ESRCH: the test has ended it */
	CHECK_SOON(!sley_process_alive(pid));
	sley_msg_free(atomic_exchange(&kept, NULL));
}

/* ---- who was called ends ---------------------------------------------------------- */

TEST_WORKERS(w45_a_call_to_nobody)
{
	struct sley *rt = start();
	sley_pid pid = start_server();

	CHECK_EQ(sley_call(SLEY_NO_PID, ASK, NULL, 0, NULL), -ESRCH);
	CHECK_EQ(sley_call(0x7fffffffffffffffu, ASK, NULL, 0, NULL), -ESRCH);
	CHECK_EQ(sley_call(UINT64_MAX, ASK, NULL, 0, NULL), -ESRCH);
	stop_server(pid);
	CHECK_EQ(sley_call(pid, ASK, NULL, 0, NULL), -ESRCH);
	stop(rt);
}

TEST_WORKERS(w45_a_call_ends_with_who_was_called_and_for_its_reason)
{
	static const int reasons[] = { 0, -EIO, -ECANCELED, -1 };
	struct sley *rt = start();

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		sley_pid pid = start_server();
		int err = reasons[i] ? reasons[i] : -ESRCH;

		CHECK_EQ(sley_call(pid, DIE, &reasons[i], sizeof(int), NULL),
			 err);
	}
	stop(rt);
}

struct caller {
	struct sley_task task;
	sley_pid to;
	uint64_t tag;
	uint64_t deadline_ns;
	int err;
	atomic_bool over;
};

static void call_in_task(void *arg)
{
	struct caller *c = arg;

	c->err = sley_call_until(c->to, c->tag, NULL, 0, NULL, c->deadline_ns);
	atomic_store(&c->over, true);
}

static void *call_in_thread(void *arg)
{
	call_in_task(arg);
	return NULL;
}

TEST_WORKERS(w45_all_who_wait_for_a_process_are_told_when_it_is_killed)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	sley_pid pid = start_server();
	struct caller c[10],
		t = { .to = pid, .tag = KEEP, .deadline_ns = UINT64_MAX };
	pthread_t thread = test_thread(call_in_thread, &t);

	for (int i = 0; i < 10; i++) {
		c[i] = (struct caller){ .to = pid,
					.tag = KEEP,
					.deadline_ns = UINT64_MAX };
		sley_spawn(&group, &c[i].task, call_in_task, &c[i]);
	}
	/* The server has the requests of all eleven: each of them waits. */
	CHECK_SOON(atomic_load(&nr_kept) == 11);
	CHECK_EQ(sley_process_kill(pid), 0);
	sley_join(&group);
	for (int i = 0; i < 10; i++)
		CHECK_EQ(c[i].err, SLEY_EKILLED);
	CHECK_SOON(atomic_load(&t.over));
	pthread_join(thread, NULL);
	CHECK_EQ(t.err, SLEY_EKILLED);
	stop_server(pid);
	stop(rt);
}

static int reply_and_end(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	CHECK_EQ(sley_receive(&msg), 0);
	CHECK_EQ(sley_reply(msg, ASK, NULL, 0), 0);
	return -EIO;
}

/* The reply was first. */
TEST_WORKERS(w45_a_reply_counts_although_the_process_has_ended)
{
	struct sley *rt = start();

	for (int i = 0; i < test_scale(500); i++) {
		sley_pid pid;

		CHECK_EQ(sley_actor_spawn(&pid, reply_and_end, NULL, NULL), 0);
		CHECK_EQ(sley_call(pid, ASK, NULL, 0, NULL), 0);
	}
	stop(rt);
}

/* ---- the deadline ------------------------------------------------------------------- */

TEST_WORKERS(w45_a_call_that_takes_too_long)
{
	struct sley *rt = start();
	sley_pid pid = start_server();
	uint64_t begin_ns = sley_now();

	CHECK_EQ(sley_call_until(pid, KEEP, NULL, 0, NULL, in_ms(20)),
		 -ETIMEDOUT);
	CHECK_GE(ms_since(begin_ns), 20);
	/* One that is late from the beginning is not even sent. */
	CHECK_EQ(sley_call_until(pid, ASK, NULL, 0, NULL, 0), -ETIMEDOUT);
	CHECK_EQ(sley_call_until(pid, ASK, NULL, 0, NULL, 1), -ETIMEDOUT);
	CHECK_EQ(sley_call_until(pid, ASK, NULL, 0, NULL, in_ms(20000)), 0);
	CHECK_SOON(atomic_load(&answered) == 1);
	CHECK_EQ(late, 0);
	stop_server(pid);
	stop(rt);
}

TEST_WORKERS(w45_a_thread_whose_call_takes_too_long)
{
	struct sley *rt = start();
	sley_pid pid = start_server();
	struct caller c = { .to = pid, .tag = KEEP, .deadline_ns = in_ms(20) };
	pthread_t thread = test_thread(call_in_thread, &c);

	CHECK_SOON(atomic_load(&c.over));
	pthread_join(thread, NULL);
	CHECK_EQ(c.err, -ETIMEDOUT);
	stop_server(pid);
	stop(rt);
}

TEST_WORKERS(t12_a_late_reply_does_not_reach_the_next_call)
{
	struct sley *rt = start();
	sley_pid pid = start_server();

	for (int i = 0; i < test_scale(50); i++) {
		struct sley_msg *request;
		int err;

		CHECK_EQ(sley_call_until(pid, KEEP, NULL, 0, NULL, in_ms(1)),
			 -ETIMEDOUT);
		CHECK_SOON(atomic_load(&kept) != NULL);
		request = atomic_exchange(&kept, NULL);
		CHECK_EQ(sley_reply(request, 66, NULL, 0), -ESRCH);
		err = sley_call_until(pid, KEEP, NULL, 0, NULL, in_ms(1));
		CHECK_EQ(err, -ETIMEDOUT);
		CHECK_EQ(sley_reply(request, 66, NULL, 0), -ESRCH);
		sley_msg_free(request);
	}
	stop_server(pid);
	stop(rt);
}

/* The reply and the deadline come together: either, and both sides agree. */
TEST_WORKERS(w45_reply_and_deadline_come_together)
{
	struct sley *rt = start();
	sley_pid pid = start_server();
	int got = 0, gave_up = 0;

	for (int i = 0; i < test_scale(2000); i++) {
		uint64_t ns = test_random(20000);
		int err = sley_call_until(pid, ASK, NULL, 0, NULL,
					  sley_now() + ns);

		CHECK(err == 0 || err == -ETIMEDOUT);
		got += err == 0;
		gave_up += err != 0;
	}
	/* Replies are in order: after this one the server has no request. */
	CHECK_EQ(sley_call(pid, ASK, NULL, 0, NULL), 0);
	got++;
	CHECK_SOON(atomic_load(&answered) == got);
	/* A call whose deadline had passed already has sent no request. */
	CHECK_LE(late, gave_up);
	stop_server(pid);
	stop(rt);
}

/* ---- cancel ---------------------------------------------------------------------------- */

TEST_WORKERS(w45_a_caller_that_is_cancelled)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	sley_pid pid = start_server();
	struct caller c = { .to = pid, .tag = KEEP, .deadline_ns = UINT64_MAX };

	sley_spawn(&group, &c.task, call_in_task, &c);
	CHECK_SOON(atomic_load(&kept) != NULL);
	CHECK_EQ(sley_reply(atomic_load(&kept), 1, NULL, 0), 0);
	sley_join(&group);
	CHECK_EQ(c.err, 0);
	sley_msg_free(atomic_exchange(&kept, NULL));

	sley_spawn(&group, &c.task, call_in_task, &c);
	CHECK_SOON(atomic_load(&kept) != NULL);
	sley_cancel(&c.task);
	sley_join(&group);
	CHECK_EQ(c.err, -ECANCELED);
	CHECK_EQ(sley_reply(atomic_load(&kept), 1, NULL, 0), -ESRCH);
	stop_server(pid);
	stop(rt);
}

static int call_and_end(void *arg)
{
	struct caller *c = arg;

	call_in_task(c);
	return c->err;
}

/* Exec: that the caller is cancelled does not concern who was called. */
TEST_WORKERS(w24_a_process_that_calls_is_cancelled_and_the_other_lives_on)
{
	struct sley *rt = start();
	sley_pid pid = start_server(), caller;
	struct caller c = { .to = pid, .tag = KEEP, .deadline_ns = UINT64_MAX };

	CHECK_EQ(sley_actor_spawn(&caller, call_and_end, &c, NULL), 0);
	CHECK_SOON(atomic_load(&kept) != NULL);
	CHECK_EQ(sley_process_cancel(caller, -ECANCELED), 0);
	CHECK_SOON(!sley_process_alive(caller));
	CHECK_EQ(c.err, -ECANCELED);
	CHECK_EQ(sley_call(pid, ASK, NULL, 0, NULL), 0);
	stop_server(pid);
	stop(rt);
}

/* ---- a mailbox with a limit -------------------------------------------------------------- */

static int sleep_well(void *arg)
{
	int err = sley_event_wait(arg);

	return err ? err : -EIO;
}

TEST_WORKERS(w45_a_call_waits_for_room_in_a_full_mailbox)
{
	struct sley_process_options options = sley_process_options_default();
	struct sley_event over = SLEY_EVENT_INIT;
	struct sley *rt = start();
	sley_pid pid;

	options.mailbox = 1;
	options.overflow = SLEY_BLOCK;
	CHECK_EQ(sley_actor_spawn(&pid, sleep_well, &over, &options), 0);
	CHECK_EQ(sley_send(pid, ASK, NULL, 0), 0);
	CHECK_EQ(sley_call_until(pid, ASK, NULL, 0, NULL, in_ms(5)),
		 -ETIMEDOUT);
	sley_event_set(&over);
	CHECK_SOON(!sley_process_alive(pid));

	options.overflow = SLEY_REFUSE;
	sley_event_clear(&over);
	CHECK_EQ(sley_actor_spawn(&pid, sleep_well, &over, &options), 0);
	CHECK_EQ(sley_send(pid, ASK, NULL, 0), 0);
	CHECK_EQ(sley_call(pid, ASK, NULL, 0, NULL), -EAGAIN);
	sley_event_set(&over);
	CHECK_SOON(!sley_process_alive(pid));
	stop(rt);
}

/* Looks at nothing of the caller's once it has said that the call is over. */
static int call_and_leave(void *arg)
{
	call_in_task(arg);
	return 0;
}

static bool is_blocked(sley_pid pid)
{
	struct sley_process_info info;

	CHECK_EQ(sley_process_inspect(pid, &info), 0);
	return info.state == SLEY_PROCESS_BLOCKED;
}

/*
 * The end of the process wakes the sender that waits for room before it tells the
 * caller the reason.  The sender is the caller: it must wait for the reason.
 */
TEST_WORKERS(w45_a_call_that_waits_for_room_ends_with_the_reason)
{
	struct sley *rt = start();

	for (int i = 0; i < test_scale(100); i++) {
		struct sley_event over = SLEY_EVENT_INIT;
		struct caller c = { .tag = ASK, .deadline_ns = UINT64_MAX };
		sley_pid caller;

		CHECK_EQ(sley_actor_spawn(
				 &c.to, sleep_well, &over,
				 SLEY_PROCESS_OPTIONS(.mailbox = 1,
						      .overflow = SLEY_BLOCK)),
			 0);
		CHECK_EQ(sley_send(c.to, ASK, NULL, 0), 0);
		CHECK_EQ(sley_actor_spawn(&caller, call_and_leave, &c, NULL),
			 0);
		CHECK_SOON(is_blocked(caller));
		sley_event_set(&over);
		CHECK_SOON(atomic_load(&c.over));
		CHECK_EQ(c.err, -EIO);
		CHECK_SOON(!sley_process_alive(caller));
	}
	stop(rt);
}
