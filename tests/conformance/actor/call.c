/* SPDX-License-Identifier: MIT */
/*
 * call.c - a request and the reply to it: W24 (a process is spawned and asked), W45
 * (a result that is waited for, or not).
 */
#include "conformance/actor/stepper.h"

enum { ADD = 1, ASK, LATER, DIE, FORWARD, STOP };

/* What is kept by a server, to be answered later or never. */
static struct sley_msg *_Atomic kept;

/* Answers ASK with twice the number; is the usual one to be called. */
static int server(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	while (sley_receive(&msg) == 0) {
		int n = msg->size == sizeof(int) ? *(const int *)msg->data : 0;

		switch (msg->tag) {
		case ASK:
			n *= 2;
			CHECK_EQ(sley_reply(msg, ADD, &n, sizeof(n)), 0);
			break;
		case LATER:
			sley_msg_keep(msg);
			atomic_store(&kept, msg);
			break;
		case DIE:
			return n;
		case STOP:
			return 0;
		}
	}
	return 0;
}

static sley_pid start_server(void)
{
	sley_pid pid;

	atomic_store(&kept, NULL);
	CHECK_EQ(sley_actor_spawn(&pid, server, NULL, NULL), 0);
	return pid;
}

static void stop_server(sley_pid pid)
{
	CHECK_EQ(sley_send(pid, STOP, NULL, 0), 0);
	CHECK_SOON(!sley_process_alive(pid));
}

static int ask(sley_pid pid, int n)
{
	struct sley_msg *reply = NULL;
	int result;

	CHECK_EQ(sley_call(pid, ASK, &n, sizeof(n), &reply), 0);
	CHECK(reply != NULL);
	CHECK_EQ(reply->kind, SLEY_MESSAGE);
	CHECK_EQ(reply->tag, ADD);
	CHECK_EQ(reply->from, pid);
	CHECK_EQ(reply->size, sizeof(result));
	memcpy(&result, reply->data, sizeof(result));
	sley_msg_free(reply);
	return result;
}

/* ---- who calls ------------------------------------------------------------------ */

TEST_WORKERS(w45_a_bound_thread_calls)
{
	struct sley *rt = start();
	sley_pid pid = start_server();

	for (int i = 0; i < 100; i++)
		CHECK_EQ(ask(pid, i), 2 * i);
	/* A reply that nobody wants to see. */
	CHECK_EQ(sley_call(pid, ASK, NULL, 0, NULL), 0);
	stop_server(pid);
	stop(rt);
}

static void call_in_task(void *arg)
{
	for (int i = 0; i < 100; i++)
		CHECK_EQ(ask(*(sley_pid *)arg, i), 2 * i);
}

static atomic_int over;

static void *call_in_thread(void *arg)
{
	call_in_task(arg);
	atomic_fetch_add(&over, 1);
	return NULL;
}

/* Eight tasks and four threads; this one must not sleep for long. */
static void call_from_many(sley_pid pid)
{
	pthread_t threads[4];

	atomic_store(&over, 0);
	for (int i = 0; i < 4; i++)
		threads[i] = test_thread(call_in_thread, &pid);
	run_tasks(8, call_in_task, &pid);
	CHECK_SOON(atomic_load(&over) == 4);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

TEST_WORKERS(w45_tasks_and_plain_threads_call_at_once)
{
	struct sley *rt = start();
	sley_pid pid = start_server();

	call_from_many(pid);
	stop_server(pid);
	stop(rt);
}

static enum sley_step call_in_step(struct stepper *s,
				   struct sley_msg *const *msg, size_t nr,
				   struct sley_out *out)
{
	(void)msg;
	(void)nr;
	CHECK_EQ(ask(*(sley_pid *)s->arg, s->steps), 2 * s->steps);
	return s->steps < 10 ? SLEY_CONTINUE : sley_out_done(out, 0);
}

TEST_WORKERS(w45_a_step_calls_and_blocks_its_fiber)
{
	struct sley *rt = start();
	sley_pid pid = start_server();
	struct stepper s = { .step = call_in_step, .arg = &pid };

	CHECK_EQ(stepper_run(&s), 0);
	stop_server(pid);
	stop(rt);
}

static enum sley_step answer_in_step(struct stepper *s,
				     struct sley_msg *const *msg, size_t nr,
				     struct sley_out *out)
{
	(void)s;
	for (size_t i = 0; i < nr; i++) {
		int n;

		if (msg[i]->tag == STOP)
			return sley_out_done(out, 0);
		n = 2 * *(const int *)msg[i]->data;
		CHECK_EQ(sley_reply(msg[i], ADD, &n, sizeof(n)), 0);
	}
	return SLEY_WAIT;
}

TEST_WORKERS(w45_a_step_process_is_called)
{
	struct sley *rt = start();
	struct stepper s = { .step = answer_in_step };
	sley_pid pid = stepper_spawn(&s);

	call_from_many(pid);
	CHECK_EQ(sley_send(pid, STOP, NULL, 0), 0);
	CHECK_EQ(stepper_join(&s), 0);
	stop(rt);
}

/* ---- one that calls another ------------------------------------------------------ */

/* Asks the next one, and adds one to what that says. */
static int relay(void *arg)
{
	sley_pid next = *(sley_pid *)arg;
	struct sley_msg *msg, *reply;

	while (sley_receive(&msg) == 0 && msg->tag != STOP) {
		int n = *(const int *)msg->data;

		CHECK_EQ(sley_call(next, ASK, &n, sizeof(n), &reply), 0);
		n = *(const int *)reply->data + 1;
		sley_msg_free(reply);
		CHECK_EQ(sley_reply(msg, ADD, &n, sizeof(n)), 0);
	}
	return 0;
}

TEST_WORKERS(w45_a_chain_of_calls)
{
	struct sley *rt = start();
	sley_pid pid[20];

	pid[0] = start_server();
	for (int i = 1; i < 20; i++)
		CHECK_EQ(sley_actor_spawn(&pid[i], relay, &pid[i - 1], NULL),
			 0);
	for (int i = 0; i < 10; i++)
		CHECK_EQ(ask(pid[19], i), 2 * i + 19);
	for (int i = 19; i >= 0; i--)
		stop_server(pid[i]);
	stop(rt);
}

static int call_itself(void *arg)
{
	struct sley_msg *msg;
	int err = sley_call(sley_self(), ASK, NULL, 0, NULL);

	/* And nothing was sent. */
	CHECK_EQ(sley_receive_until(&msg, 0), -ETIMEDOUT);
	atomic_store((atomic_int *)arg, err);
	return 0;
}

TEST_WORKERS(w45_a_process_that_calls_itself_is_told)
{
	struct sley *rt = start();
	atomic_int err = 0;
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, call_itself, &err, NULL), 0);
	CHECK_SOON(!sley_process_alive(pid));
	CHECK_EQ(err, -EDEADLK);
	stop(rt);
}

/* ---- replies ------------------------------------------------------------------------ */

static const size_t sizes[] = { 0, 1, 16, 17, 1000, 100000 };
static char bytes[100000];

static int echo(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	while (sley_receive(&msg) == 0 && msg->tag != STOP)
		CHECK_EQ(sley_reply(msg, msg->tag, msg->data, msg->size), 0);
	return 0;
}

TEST_WORKERS(w45_a_reply_has_bytes)
{
	struct sley *rt = start();
	struct sley_msg *reply;
	sley_pid pid;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 11);
	CHECK_EQ(sley_actor_spawn(&pid, echo, NULL, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		CHECK_EQ(sley_call(pid, 70 + i, bytes, sizes[i], &reply), 0);
		CHECK_EQ(reply->tag, 70 + i);
		CHECK_EQ(reply->size, sizes[i]);
		if (sizes[i])
			CHECK_EQ(memcmp(reply->data, bytes, sizes[i]), 0);
		sley_msg_free(reply);
	}
	stop_server(pid);
	stop(rt);
}

static int reply_twice(void *arg)
{
	struct sley_msg *msg;
	int n = 1;

	(void)arg;
	while (sley_receive(&msg) == 0 && msg->tag != STOP) {
		CHECK_EQ(sley_reply(msg, ADD, &n, sizeof(n)), 0);
		CHECK_EQ(sley_reply(msg, ADD, &n, sizeof(n)), -ESRCH);
		CHECK_EQ(sley_reply(msg, ADD, bytes, 1000), -ESRCH);
		/* Who waits for a reply is no process. */
		CHECK(!sley_process_alive(msg->from));
		CHECK_EQ(sley_process_kill(msg->from), -ESRCH);
		CHECK_EQ(sley_command_complete(msg->from, 1, NULL, 0), -ESRCH);
	}
	return 0;
}

TEST_WORKERS(w45_a_second_reply_finds_nobody)
{
	struct sley *rt = start();
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, reply_twice, NULL, NULL), 0);
	for (int i = 0; i < test_scale(200); i++)
		CHECK_EQ(sley_call(pid, ASK, NULL, 0, NULL), 0);
	stop_server(pid);
	stop(rt);
}

/* It has a pid, but is no process, whatever is tried with it. */
static int look_at_caller(void *arg)
{
	struct sley_process_info info;
	struct sley_msg *msg;
	uint64_t number;
	sley_pid port;

	CHECK_EQ(sley_receive(&msg), 0);
	port = msg->from;
	CHECK_EQ(sley_link(port), -ESRCH);
	CHECK_EQ(sley_name_register("somebody", port, NULL), -ESRCH);
	CHECK_EQ(sley_process_inspect(port, &info), -ESRCH);
	CHECK_EQ(sley_process_cancel(port, -EIO), -ESRCH);
	for (sley_pid pid = sley_process_next(0); pid;
	     pid = sley_process_next(pid))
		CHECK_NE(pid, port);
	CHECK_EQ(sley_monitor(port, &number), 0);
	CHECK_EQ(sley_reply(msg, ADD, NULL, 0), 0);
	CHECK_EQ(sley_receive(&msg), 0);
	CHECK_EQ(msg->kind, SLEY_DOWN);
	CHECK_EQ(msg->error, -ESRCH);
	CHECK_EQ(msg->tag, number);
	atomic_store((atomic_bool *)arg, true);
	return 0;
}

TEST_WORKERS(w45_who_waits_for_a_reply_is_no_process)
{
	struct sley *rt = start();
	atomic_bool seen = false;
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, look_at_caller, &seen, NULL), 0);
	CHECK_EQ(sley_call(pid, ASK, NULL, 0, NULL), 0);
	CHECK_SOON(atomic_load(&seen));
	CHECK_SOON(!sley_process_alive(pid));
	stop(rt);
}

/* Who is called may live in another runtime. */
TEST(w45_a_call_from_one_runtime_into_another)
{
	struct sley_config config = config_of(2);
	struct sley *other = NULL, *rt;
	sley_pid pid;

	CHECK_EQ(sley_create(&other, &config), 0);
	CHECK_EQ(sley_actor_spawn(&pid, server, NULL,
				  SLEY_PROCESS_OPTIONS(.runtime = other)),
		 0);
	rt = start_with(&config);
	call_from_many(pid);
	stop(rt);
	/* It ends with its own runtime. */
	CHECK(sley_process_alive(pid));
	CHECK_EQ(sley_destroy(other), 0);
	CHECK_EQ(sley_call(pid, ASK, NULL, 0, NULL), -ESRCH);
}

/* A message that nobody waits for a reply to is answered by a message. */
static int ask_by_message(void *arg)
{
	struct sley_msg *msg;
	int n = 21;

	CHECK_EQ(sley_send(*(sley_pid *)arg, ASK, &n, sizeof(n)), 0);
	CHECK_EQ(sley_receive(&msg), 0);
	CHECK_EQ(msg->tag, ADD);
	CHECK_EQ(*(const int *)msg->data, 42);
	CHECK_EQ(msg->from, *(sley_pid *)arg);
	return 0;
}

static int answer_nobody(void *arg)
{
	struct sley_msg *msg;

	CHECK_EQ(sley_receive(&msg), 0);
	atomic_store((atomic_int *)arg, sley_reply(msg, ADD, NULL, 0));
	return 0;
}

TEST_WORKERS(w45_any_message_can_be_answered)
{
	struct sley *rt = start();
	sley_pid pid = start_server(), asker, other;
	atomic_int err = 0;

	CHECK_EQ(sley_actor_spawn(&asker, ask_by_message, &pid, NULL), 0);
	CHECK_SOON(!sley_process_alive(asker));
	stop_server(pid);
	/* But for those of who is no process. */
	CHECK_EQ(sley_actor_spawn(&other, answer_nobody, &err, NULL), 0);
	CHECK_EQ(sley_send(other, ASK, NULL, 0), 0);
	CHECK_SOON(!sley_process_alive(other));
	CHECK_EQ(err, -ESRCH);
	stop(rt);
}

/* ---- sent on --------------------------------------------------------------------------- */

static int forwarder(void *arg)
{
	struct sley_msg *msg;

	while (sley_receive(&msg) == 0 && msg->tag != STOP) {
		sley_msg_keep(msg);
		CHECK_EQ(sley_msg_forward(*(sley_pid *)arg, msg), 0);
	}
	return 0;
}

TEST_WORKERS(w45_a_request_that_is_sent_on_is_answered_by_another)
{
	struct sley *rt = start();
	sley_pid pid = start_server(), first, second;
	struct sley_msg *reply;
	int n = 5;

	CHECK_EQ(sley_actor_spawn(&second, forwarder, &pid, NULL), 0);
	CHECK_EQ(sley_actor_spawn(&first, forwarder, &second, NULL), 0);
	CHECK_EQ(sley_call(first, ASK, &n, sizeof(n), &reply), 0);
	CHECK_EQ(*(const int *)reply->data, 10);
	CHECK_EQ(reply->from, pid);
	sley_msg_free(reply);
	stop_server(first);
	stop_server(second);
	stop_server(pid);
	stop(rt);
}

/* ---- W24 --------------------------------------------------------------------------------- */

static int compute(void *arg)
{
	struct sley_msg *msg;
	int n = 0;

	(void)arg;
	CHECK_EQ(sley_receive(&msg), 0);
	for (int i = 1; i <= *(const int *)msg->data; i++)
		n += i;
	CHECK_EQ(sley_reply(msg, ADD, &n, sizeof(n)), 0);
	return 0;
}

TEST_WORKERS(w24_a_process_is_spawned_and_waited_for_by_a_call)
{
	struct sley *rt = start();

	for (int i = 0; i < test_scale(200); i++) {
		struct sley_msg *reply;
		sley_pid pid;

		CHECK_EQ(sley_actor_spawn(&pid, compute, NULL, NULL), 0);
		CHECK_EQ(sley_call(pid, ASK, &i, sizeof(i), &reply), 0);
		CHECK_EQ(*(const int *)reply->data, i * (i + 1) / 2);
		sley_msg_free(reply);
	}
	stop(rt);
}
