/* SPDX-License-Identifier: MIT */
/*
 * call_future.c - W45: a call as a future: started, looked at, waited for by anybody,
 * or cancelled.
 */
#include "conformance/actor/processes.h"

enum { ASK = 1, NEVER, DIE };

static struct sley_event may_answer;
static _Atomic int nr_taken; /* messages that the server has received */

static int server(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	while (sley_receive(&msg) == 0) {
		int n = msg->size ? *(const int *)msg->data : 0;

		atomic_fetch_add(&nr_taken, 1);
		if (msg->tag == DIE)
			return n;
		if (msg->tag != ASK || sley_event_wait(&may_answer))
			continue;
		n *= 2;
		(void)sley_reply(msg, ASK, &n, sizeof(n));
	}
	return 0;
}

static sley_pid start_server(bool answers)
{
	sley_pid pid;

	sley_event_init(&may_answer, false, answers);
	CHECK_EQ(sley_actor_spawn(&pid, server, NULL, NULL), 0);
	return pid;
}

static void begin(struct sley_pending_call *call, sley_pid pid, uint64_t tag,
		  int n)
{
	CHECK_EQ(sley_call_start(call, pid, tag, &n, sizeof(n)), 0);
}

static void check_answer(struct sley_pending_call *call, int n)
{
	struct sley_msg *reply = NULL;

	CHECK_EQ(sley_call_finish(call, &reply), 0);
	CHECK_EQ(*(const int *)reply->data, 2 * n);
	sley_msg_free(reply);
}

#define NR 20

TEST_WORKERS(w45_several_calls_are_started_and_finished_in_any_order)
{
	struct sley_pending_call call[NR];
	struct sley *rt = start();
	sley_pid pid = start_server(false);

	for (int i = 0; i < NR; i++)
		begin(&call[i], pid, ASK, i);
	for (int i = 0; i < NR; i++)
		CHECK(!sley_call_is_over(&call[i]));
	sley_event_set(&may_answer);
	CHECK_SOON(sley_call_is_over(&call[NR - 1]));
	/* They were answered in order. */
	for (int i = NR; i-- > 0;) {
		CHECK(sley_call_is_over(&call[i]));
		check_answer(&call[i], i);
	}
	stop(rt);
}

TEST_WORKERS(w45_a_started_call_is_waited_for_again_after_a_deadline)
{
	struct sley_pending_call call;
	struct sley_msg *reply = NULL;
	struct sley *rt = start();
	uint64_t began = sley_now();

	begin(&call, start_server(false), ASK, 21);
	CHECK_EQ(sley_call_finish_until(&call, &reply, 0), -ETIMEDOUT);
	CHECK_EQ(sley_call_finish_until(&call, &reply, in_ms(10)), -ETIMEDOUT);
	CHECK_LE(10, ms_since(began));
	CHECK(reply == NULL);
	sley_event_set(&may_answer);
	check_answer(&call, 21);
	stop(rt);
}

TEST_WORKERS(w45_a_started_call_is_cancelled)
{
	struct sley_pending_call call;
	struct sley *rt = start();
	sley_pid pid = start_server(false);

	for (int i = 0; i < NR; i++) {
		begin(&call, pid, ASK, i);
		sley_call_cancel(&call);
	}
	sley_event_set(&may_answer);
	/* One that has its reply already. */
	begin(&call, pid, ASK, 5);
	CHECK_SOON(sley_call_is_over(&call));
	sley_call_cancel(&call);
	/* The others were seen to, and nobody got their replies. */
	begin(&call, pid, ASK, 6);
	check_answer(&call, 6);
	CHECK_EQ(sley_call_finish(&call, NULL), -EINVAL);
	sley_call_cancel(&call);
	stop(rt);
}

TEST_WORKERS(w45_a_started_call_ends_with_the_reason_of_the_other)
{
	struct sley_pending_call call[2];
	struct sley *rt = start();
	sley_pid pid = start_server(true);
	struct sley_msg *reply = NULL;

	begin(&call[0], pid, NEVER, 0);
	begin(&call[1], pid, DIE, -EIO);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(sley_call_finish(&call[i], &reply), -EIO);
		CHECK(reply == NULL);
		/* Once more is harmless. */
		CHECK(sley_call_is_over(&call[i]));
		CHECK_EQ(sley_call_finish(&call[i], &reply), -EIO);
		sley_call_cancel(&call[i]);
	}
	CHECK_EQ(sley_call_start(&call[0], pid, ASK, NULL, 0), -ESRCH);
	CHECK_EQ(sley_call_start(&call[0], SLEY_NO_PID, ASK, NULL, 0), -ESRCH);
	stop(rt);
}

static struct waiter {
	struct sley_pending_call call;
	atomic_int waits, err;
} waiter;

static void finish_in_task(void *arg)
{
	(void)arg;
	waiter.waits = 1;
	waiter.err = sley_call_finish(&waiter.call, NULL);
}

/* The waiter is cancelled, the call is not: somebody else gets the reply. */
TEST_WORKERS(w45_a_waiter_is_cancelled_and_the_started_call_is_not)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sley_task task;

	waiter = (struct waiter){ .err = 1 };
	begin(&waiter.call, start_server(false), ASK, 4);
	sley_spawn(&group, &task, finish_in_task, NULL);
	CHECK_SOON(waiter.waits);
	sley_cancel(&task);
	sley_join(&group);
	CHECK_EQ(waiter.err, -ECANCELED);
	CHECK(!sley_call_is_over(&waiter.call));
	sley_event_set(&may_answer);
	check_answer(&waiter.call, 4);
	stop(rt);
}

static atomic_bool finished;

static void *finish_in_thread(void *arg)
{
	check_answer(arg, 8);
	finished = true;
	return NULL;
}

TEST_WORKERS(w45_a_started_call_is_finished_by_another_thread)
{
	struct sley_pending_call call;
	struct sley *rt = start();
	pthread_t thread;

	finished = false;
	begin(&call, start_server(false), ASK, 8);
	thread = test_thread(finish_in_thread, &call);
	(void)!sley_sleep(SLEY_MSEC);
	sley_event_set(&may_answer);
	CHECK_SOON(finished);
	pthread_join(thread, NULL);
	stop(rt);
}

static int starts_a_call_to_itself(void *arg)
{
	struct sley_pending_call call;

	(void)arg;
	return sley_call_start(&call, sley_self(), ASK, NULL, 0);
}

TEST_WORKERS(w45_calls_that_cannot_be_started)
{
	struct sley_pending_call call;
	struct sley_process_info info;
	struct sley_process_end end;
	struct sley *rt = start();
	sley_pid pid;
	int err, started = 0;

	CHECK_EQ(sley_actor_spawn(&pid, starts_a_call_to_itself, NULL,
				  SLEY_PROCESS_OPTIONS(.joinable = true)),
		 0);
	CHECK_EQ(sley_process_wait(pid, &end), 0);
	CHECK_EQ(end.reason, -EDEADLK);
	/* A full mailbox. */
	sley_event_init(&may_answer, false, false);
	CHECK_EQ(sley_actor_spawn(&pid, server, NULL,
				  SLEY_PROCESS_OPTIONS(.mailbox = 2,
						       .overflow = SLEY_BLOCK)),
		 0);
	/* The server has taken the first request: there is room for two. */
	CHECK_EQ(sley_call_start(&call, pid, ASK, NULL, 0), 0);
	sley_call_cancel(&call);
	CHECK_SOON(atomic_load(&nr_taken) == 1);
	while (!(err = sley_call_start(&call, pid, ASK, NULL, 0))) {
		sley_call_cancel(&call);
		started++;
	}
	CHECK_EQ(err, -EAGAIN);
	CHECK_EQ(sley_process_inspect(pid, &info), 0);
	CHECK_EQ(atomic_load(&nr_taken), 1);
	CHECK_EQ(info.dropped, 1);
	CHECK_EQ(info.mailbox, 2);
	CHECK_EQ(started, 2);
	sley_event_set(&may_answer);
	stop(rt);
}
