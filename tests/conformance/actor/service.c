/* SPDX-License-Identifier: MIT */
/*
 * service.c - calls that are served by so many processes at a time: W44.
 *
 * What function_pool.c does with semaphores, for calls that must not take their
 * caller with them: an actor with a bounded mailbox takes a call when fewer than so
 * many processes are at work, starts one, and sends the call on to it.  It monitors
 * that, so a caller hears of the end of who served it.  The place of the request to
 * stop in the mailbox is the moment of the stop: what is ahead of it is served, what
 * is behind it refused.
 */
#include "conformance/bound.h"

#include <sley/error.h>

enum { CALL, STOP, FAILED };

#define MAX_JOBS 16

struct job {
	sley_pid caller, pid; /* 0: it is free */
};

static struct service {
	sley_pid pid;
	sley_actor_fn *serve; /* a process for one call */
	uint32_t max;
	struct job job[MAX_JOBS];
	struct sley_event go; /* for who serves */
	atomic_int begun, most, running;
	atomic_int answered, full, gone, failed; /* calls */
} service;

/* ---- the service -------------------------------------------------------------------- */

/* The caller gets @reason, unless it was answered. */
static void job_end(struct job *job, int reason)
{
	(void)sley_send(job->caller, FAILED, &reason, sizeof(reason));
	*job = (struct job){ 0 };
}

static bool job_begin(struct job *job, struct sley_msg *call)
{
	uint64_t number;
	int err;

	while (job->pid)
		job++;
	job->caller = call->from;
	err = sley_actor_spawn(&job->pid, service.serve, NULL,
			       SLEY_PROCESS_OPTIONS(.monitor = &number));
	if (err) {
		job_end(job, err);
		return false;
	}
	sley_msg_keep(call);
	(void)sley_msg_forward(job->pid, call);
	return true;
}

static bool is_news(const struct sley_msg *msg, void *arg)
{
	(void)arg;
	return msg->kind != SLEY_MESSAGE;
}

static void job_down(struct job *job, const struct sley_msg *msg)
{
	while (job->pid != msg->from)
		job++;
	job_end(job, msg->error);
}

static int service_main(void *arg)
{
	sley_pid stopper = SLEY_NO_PID;
	struct sley_msg *msg;
	bool closing = false;
	uint32_t busy = 0;

	(void)arg;
	while (!closing || busy) {
		bool full = closing || busy == service.max;
		int err = full ? sley_receive_where_until(&msg, is_news, NULL,
							  SLEY_FOREVER)
			       : sley_receive(&msg);

		if (err)
			return err;
		if (msg->kind == SLEY_DOWN) {
			job_down(service.job, msg);
			busy--;
		} else if (msg->kind == SLEY_CANCEL || msg->tag == STOP) {
			closing = true;
			stopper = msg->from;
		} else {
			busy += job_begin(service.job, msg);
		}
	}
	(void)sley_send(stopper, STOP, NULL, 0);
	return 0;
}

static struct sley *begin(sley_actor_fn *serve, uint32_t max, uint32_t waiting,
			  enum sley_overflow overflow)
{
	struct sley *rt = start();

	memset(&service, 0, sizeof(service));
	service.serve = serve;
	service.max = max;
	CHECK_EQ(sley_actor_spawn(&service.pid, service_main, NULL,
				  SLEY_PROCESS_OPTIONS(.mailbox = waiting,
						       .overflow = overflow,
						       .traps = true)),
		 0);
	return rt;
}

/* Returns when it has ended. */
static int stop_service(void)
{
	int err = sley_call(service.pid, STOP, NULL, 0, NULL);

	CHECK_SOON(!sley_process_alive(service.pid));
	return err;
}

/* ---- who serves ------------------------------------------------------------------------ */

static int answer(struct sley_msg *call)
{
	int value = *(const int *)call->data * 2;
	int err;

	service.running--;
	err = sley_reply(call, CALL, &value, sizeof(value));
	return err == -ESRCH ? 0 : err;
}

static int receive_call(struct sley_msg **call)
{
	int running = atomic_fetch_add(&service.running, 1) + 1;

	if (service.most < running)
		service.most = running;
	service.begun++;
	return sley_receive(call);
}

static int serve(void *arg)
{
	struct sley_msg *call;
	int err = receive_call(&call);

	(void)arg;
	return err ? err : answer(call);
}

static int serve_at_go(void *arg)
{
	struct sley_msg *call;
	int err = receive_call(&call);

	(void)arg;
	if (!err)
		err = sley_event_wait(&service.go);
	return err ? err : answer(call);
}

static int fail(void *arg)
{
	struct sley_msg *call;

	(void)arg;
	return receive_call(&call) ? 0 : -EDOM;
}

static int forget(void *arg)
{
	struct sley_msg *call;

	(void)arg;
	return receive_call(&call);
}

/* ---- who calls ---------------------------------------------------------------------------- */

/* 0, or why it was not answered. */
static int call_until(uint64_t deadline_ns)
{
	struct sley_msg *reply;
	int n = 21;
	int err = sley_call_until(service.pid, CALL, &n, sizeof(n), &reply,
				  deadline_ns);

	if (err)
		return err;
	if (reply->tag == FAILED) {
		err = *(const int *)reply->data;
		err = err ? err : -EIO; /* it has not even said no */
	} else {
		CHECK_EQ(*(const int *)reply->data, 42);
	}
	sley_msg_free(reply);
	return err;
}

static int note(int err)
{
	atomic_fetch_add(err == 0         ? &service.answered
			 : err == -EAGAIN ? &service.full
			 : err == -ESRCH  ? &service.gone
					  : &service.failed,
			 1);
	return err;
}

static void call_once(void *arg)
{
	(void)arg;
	(void)note(call_until(SLEY_FOREVER));
}

/*
 * So many wait.  While the service looks at them one may be counted twice: so it is
 * idle, and stays so for a while.
 */
static bool waits(uint32_t nr)
{
	struct sley_process_info info;

	for (int i = 0; i < 5; i++) {
		CHECK_EQ(sley_process_inspect(service.pid, &info), 0);
		if (info.state != SLEY_PROCESS_IDLE || info.mailbox != nr)
			return false;
		CHECK_EQ(sley_sleep(SLEY_MSEC / 5), 0);
	}
	return true;
}

/* So many at work, and so many that wait. */
static void fill(struct sley_group *group, struct sley_task *task, int busy,
		 int waiting)
{
	for (int i = 0; i < busy; i++)
		sley_spawn(group, &task[i], call_once, NULL);
	CHECK_SOON(service.begun == busy);
	for (int i = 0; i < waiting; i++)
		sley_spawn(group, &task[busy + i], call_once, NULL);
	CHECK_SOON(waits((uint32_t)waiting));
}

/* ---- the tests ---------------------------------------------------------------------------- */

TEST_WORKERS(w44_a_service_starts_processes_as_calls_come_and_keeps_none)
{
	for (uint32_t max = 1; max <= MAX_JOBS; max *= 4) {
		struct sley *rt = begin(serve, max, 64, SLEY_REFUSE);
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task task[40];

		CHECK_EQ(sley_process_count(), 1);
		for (int i = 0; i < 40; i++)
			sley_spawn(&group, &task[i], call_once, NULL);
		sley_join(&group);
		CHECK_EQ(service.answered, 40);
		CHECK(service.most <= (int)max);
		CHECK_SOON(sley_process_count() == 1);
		CHECK_EQ(stop_service(), 0);
		stop(rt);
	}
}

TEST_WORKERS(w44_a_service_that_is_full_refuses)
{
	struct sley *rt = begin(serve_at_go, 2, 3, SLEY_REFUSE);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[5];

	fill(&group, task, 2, 3);
	CHECK_EQ(call_until(SLEY_FOREVER), -EAGAIN);
	CHECK_EQ(call_until(in_ms(1000)), -EAGAIN);
	CHECK_EQ(service.begun, 2);
	sley_event_set(&service.go);
	sley_join(&group);
	CHECK_EQ(service.answered, 5);
	CHECK_EQ(service.most, 2);
	CHECK_EQ(stop_service(), 0);
	stop(rt);
}

TEST_WORKERS(w44_or_lets_its_callers_wait_until_their_deadline)
{
	struct sley *rt = begin(serve_at_go, 1, 1, SLEY_BLOCK);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[4];

	fill(&group, task, 1, 1);
	CHECK_EQ(call_until(in_ms(2)), -ETIMEDOUT);
	for (int i = 2; i < 4; i++)
		sley_spawn(&group, &task[i], call_once, NULL);
	sley_event_set(&service.go);
	sley_join(&group);
	/* Who gave up has not been served. */
	CHECK_EQ(service.answered, 4);
	CHECK_EQ(service.begun, 4);
	CHECK_EQ(stop_service(), 0);
	stop(rt);
}

TEST_WORKERS(w44_a_call_that_nobody_waits_for_any_more_harms_nobody)
{
	struct sley *rt = begin(serve_at_go, 1, 2, SLEY_REFUSE);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[1];

	fill(&group, task, 1, 0);
	CHECK_EQ(call_until(in_ms(2)), -ETIMEDOUT);
	CHECK_SOON(waits(1));
	sley_event_set(&service.go);
	sley_join(&group);
	CHECK_EQ(stop_service(), 0);
	CHECK_EQ(service.answered, 1);
	CHECK_EQ(service.begun, 2);
	stop(rt);
}

TEST_WORKERS(w44_a_caller_hears_of_whatever_becomes_of_who_serves)
{
	struct sley *rt = begin(fail, 2, 3, SLEY_REFUSE);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[1];

	for (int i = 0; i < 20; i++)
		CHECK_EQ(call_until(SLEY_FOREVER), -EDOM);
	service.serve = forget;
	CHECK_EQ(call_until(SLEY_FOREVER), -EIO);
	service.serve = serve_at_go;
	service.begun = 0;
	fill(&group, task, 1, 0);
	for (int i = 0; i < 2; i++)
		if (service.job[i].pid)
			CHECK_EQ(sley_process_kill(service.job[i].pid), 0);
	sley_join(&group);
	CHECK_EQ(service.failed, 1);
	service.serve = serve;
	CHECK_EQ(call_until(SLEY_FOREVER), 0);
	CHECK_EQ(stop_service(), 0);
	stop(rt);
}

static int serve_by_calling(void *arg)
{
	struct sley_msg *call;
	int err = receive_call(&call);

	(void)arg;
	if (err)
		return err;
	sley_msg_keep(call);
	service.serve = serve;
	err = call_until(in_ms(20));
	if (!err)
		err = answer(call);
	sley_msg_free(call);
	return err;
}

TEST_WORKERS(w44_who_serves_may_call_the_service)
{
	struct sley *rt = begin(serve_by_calling, 2, 3, SLEY_REFUSE);

	CHECK_EQ(call_until(SLEY_FOREVER), 0);
	CHECK_EQ(service.begun, 2);
	CHECK_EQ(stop_service(), 0);
	stop(rt);
	/* Alone it waits for itself, but not for ever; then it is served in vain. */
	rt = begin(serve_by_calling, 1, 3, SLEY_REFUSE);
	CHECK_EQ(call_until(SLEY_FOREVER), -ETIMEDOUT);
	CHECK_EQ(stop_service(), 0);
	CHECK_EQ(service.begun, 2);
	stop(rt);
}

static void stop_task(void *arg)
{
	*(int *)arg = sley_call(service.pid, STOP, NULL, 0, NULL);
}

TEST_WORKERS(w44_a_stop_serves_those_ahead_of_it_and_refuses_those_behind)
{
	struct sley *rt = begin(serve_at_go, 2, 8, SLEY_REFUSE);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[5], stopper, behind[3];
	int err = 1;

	fill(&group, task, 2, 3);
	sley_spawn(&group, &stopper, stop_task, &err);
	CHECK_SOON(waits(4));
	for (int i = 0; i < 3; i++)
		sley_spawn(&group, &behind[i], call_once, NULL);
	CHECK_SOON(waits(7));
	sley_event_set(&service.go);
	sley_join(&group);
	CHECK_EQ(err, 0);
	CHECK_EQ(service.answered, 5);
	CHECK_EQ(service.begun, 5);
	CHECK_EQ(service.gone, 3);
	CHECK_EQ(call_until(SLEY_FOREVER), -ESRCH);
	stop(rt);
}

TEST_WORKERS(w44_a_service_that_is_cancelled_serves_whom_it_has_begun_with)
{
	struct sley *rt = begin(serve_at_go, 2, 8, SLEY_REFUSE);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[5];

	fill(&group, task, 2, 3);
	CHECK_EQ(sley_process_cancel(service.pid, 0), 0);
	sley_event_set(&service.go);
	sley_join(&group);
	/* It hears of the cancel before it hears that one is done. */
	CHECK_EQ(service.answered, 2);
	CHECK_EQ(service.begun, 2);
	CHECK_EQ(service.gone, 3);
	stop(rt);
}

static void call_until_gone(void *arg)
{
	(void)arg;
	for (;;) {
		int err = note(call_until(SLEY_FOREVER));

		if (err == -ESRCH)
			break;
		if (err)
			CHECK_EQ(sley_sleep(SLEY_MSEC / 20), 0);
	}
}

static void *call_by_thread(void *arg)
{
	call_until_gone(arg);
	return NULL;
}

static void *stop_by_thread(void *arg)
{
	(void)arg;
	CHECK_EVENTUALLY(service.answered > 50);
	while (sley_call(service.pid, STOP, NULL, 0, NULL) == -EAGAIN)
		test_nap_ms(1);
	return NULL;
}

TEST_WORKERS(w44_each_call_of_a_service_is_answered_or_refused)
{
	for (int i = 0; i < test_scale(10); i++) {
		struct sley *rt = begin(serve, 3, 4, SLEY_REFUSE);
		pthread_t thread = test_thread(stop_by_thread, NULL);

		run_beside(call_until_gone, call_by_thread, NULL);
		pthread_join(thread, NULL);
		CHECK_EQ(service.failed, 0);
		CHECK_EQ(service.gone, 12);
		CHECK_EQ(service.begun, service.answered);
		CHECK_SOON(sley_process_count() == 0);
		stop(rt);
	}
}
