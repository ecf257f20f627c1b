/* SPDX-License-Identifier: MIT */
/*
 * actor_end.c - how actors end: by themselves, in whatever they wait in, before
 * they have begun; and what of others is in their frames: W10, W40.
 */
#include <stdlib.h>

#include "conformance/actor/process.h"

/* ---- W10, W40: wherever it waits ---------------------------------------------------- */

struct place {
	struct sley_event never;
	struct sley_mutex mutex;
	struct sley_cond cond;
	struct sley_chan *chan;
	atomic_int begun;
	atomic_int cut;
};

static int waits_for_message(struct place *p)
{
	struct sley_msg *msg;

	(void)p;
	return sley_receive(&msg);
}

static int waits_for_tag(struct place *p)
{
	struct sley_msg *msg;

	(void)p;
	return sley_receive_tag_until(&msg, 99, UINT64_MAX);
}

static int waits_with_deadline(struct place *p)
{
	struct sley_msg *msg;

	(void)p;
	return sley_receive_until(&msg, in_ms(60000));
}

static int waits_for_event(struct place *p)
{
	return sley_event_wait(&p->never);
}

static int sleeps(struct place *p)
{
	(void)p;
	return sley_sleep(60 * SLEY_SEC);
}

static int waits_for_mutex(struct place *p)
{
	return sley_mutex_lock_until(&p->mutex, UINT64_MAX);
}

static int waits_for_value(struct place *p)
{
	int value;

	return sley_chan_recv(p->chan, &value);
}

static int waits_for_notify(struct place *p)
{
	struct sley_mutex own = SLEY_MUTEX_INIT;
	int err;

	sley_mutex_lock(&own);
	err = sley_cond_wait_until(&p->cond, &own, SLEY_FOREVER);
	sley_mutex_unlock(&own);
	return err;
}

static void waits_too(void *event)
{
	CHECK_EQ(sley_event_wait(event), 0);
}

/* sley_join() is not cut short; with a deadline it is. */
static int joins(struct place *p)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley_task task;
	int err;

	(void)p;
	sley_spawn(&group, &task, waits_too, &event);
	err = sley_join_until(&group, UINT64_MAX);
	sley_event_set(&event);
	sley_join(&group);
	return err;
}

static int (*const waits[])(struct place *) = {
	waits_for_message, waits_for_tag,    waits_with_deadline,
	waits_for_event,   sleeps,           waits_for_mutex,
	waits_for_value,   waits_for_notify, joins,
};

struct waiter {
	struct place *place;
	size_t way;
};

static int waits_there(void *arg)
{
	struct waiter *w = arg;
	struct place *p = w->place;
	struct sley_msg *msg;

	atomic_fetch_add(&p->begun, 1);
	CHECK_EQ(waits[w->way](p), -ECANCELED);
	/* Now and ever after. */
	CHECK(sley_cancelled());
	CHECK_EQ(sley_receive(&msg), -ECANCELED);
	CHECK_EQ(sley_sleep(SLEY_SEC), -ECANCELED);
	CHECK_EQ(sley_receive_until(&msg, 0), -ECANCELED);
	CHECK_EQ(waits[w->way](p), -ECANCELED);
	atomic_fetch_add(&p->cut, 1);
	return -EIO;
}

static void end_where_they_wait(int (*end)(sley_pid pid), bool let_them_block)
{
	struct waiter waiter[ARRAY_SIZE(waits)];
	sley_pid pid[ARRAY_SIZE(waits)];
	struct sley *rt = start();
	struct place p = { .begun = 0 };

	CHECK_EQ(sley_chan_create(&p.chan, sizeof(int), 1), 0);
	sley_mutex_lock(&p.mutex);
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
		waiter[i] = (struct waiter){ &p, i };
		pid[i] = actor(waits_there, &waiter[i]);
	}
	CHECK_SOON(p.begun == ARRAY_SIZE(waits));
	if (let_them_block)
		CHECK_EQ(sley_sleep(2 * SLEY_MSEC), 0);
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		CHECK_EQ(end(pid[i]), 0);
	CHECK_SOON(p.cut == ARRAY_SIZE(waits));
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		CHECK_SOON(is_gone(pid[i]));
	sley_mutex_unlock(&p.mutex);
	sley_chan_destroy(p.chan);
	stop(rt);
}

TEST_WORKERS(w10_an_actor_that_is_killed_waits_for_nothing_any_more)
{
	end_where_they_wait(sley_process_kill, true);
}

static int cancel(sley_pid pid)
{
	return sley_process_cancel(pid, -EPIPE);
}

TEST_WORKERS(w40_an_actor_that_is_cancelled_waits_for_nothing_any_more)
{
	end_where_they_wait(cancel, true);
}

TEST_WORKERS(w10_the_kill_may_come_while_it_begins_to_wait)
{
	for (int i = 0; i < test_scale(40); i++)
		end_where_they_wait(sley_process_kill, false);
}

static int must_not_run(void *arg)
{
	(void)arg;
	CHECK(false);
	return 0;
}

TEST(w40_an_actor_that_is_killed_before_it_began_never_runs)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	struct gate gate = { 0 };
	sley_pid pid[20];

	CHECK_EQ(sley_schedule(gate_task, &gate), 0);
	CHECK_EVENTUALLY(gate.held == 1);
	for (int i = 0; i < 20; i++) {
		CHECK_EQ(sley_actor_spawn(
				 &pid[i], must_not_run, NULL,
				 SLEY_PROCESS_OPTIONS(.stack_kib = i % 2 ? 64
									 : 0)),
			 0);
		CHECK_EQ(sley_send(pid[i], 1, NULL, 0), 0);
		CHECK_EQ(i % 4 < 2 ? sley_process_kill(pid[i])
				   : sley_process_cancel(pid[i], 0),
			 0);
	}
	gate_open(&gate);
	for (int i = 0; i < 20; i++)
		CHECK_SOON(is_gone(pid[i]));
	stop(rt);
}

/* ---- trapping ------------------------------------------------------------------------ */

static int traps_two(void *arg)
{
	struct place *p = arg;
	struct sley_msg *msg;

	CHECK(sley_process_trap(true) == false);
	CHECK(sley_process_trap(true) == true);
	atomic_store(&p->begun, 1);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(sley_receive(&msg), 0);
		CHECK_EQ(msg->kind, SLEY_CANCEL);
		CHECK_EQ(msg->error, -EPIPE);
		CHECK_EQ(msg->from, SLEY_NO_PID);
		CHECK(!sley_cancelled());
	}
	CHECK_EQ(sley_receive(&msg), 0);
	CHECK_EQ(msg->tag, 5);
	CHECK_EQ(sley_sleep(1), 0);
	CHECK(sley_process_trap(false) == true);
	atomic_store(&p->begun, 2);
	CHECK_EQ(sley_receive(&msg), -ECANCELED);
	atomic_store(&p->cut, 1);
	return 0;
}

TEST_WORKERS(w40_who_traps_is_told_of_a_cancel_and_goes_on)
{
	struct sley *rt = start();
	struct place p = { .begun = 0 };
	sley_pid pid = actor(traps_two, &p);

	CHECK_SOON(p.begun == 1);
	CHECK_EQ(cancel(pid), 0);
	CHECK_EQ(cancel(pid), 0);
	CHECK_EQ(sley_send(pid, 5, NULL, 0), 0);
	CHECK_SOON(p.begun == 2);
	CHECK_EQ(p.cut, 0);
	CHECK_EQ(cancel(pid), 0);
	CHECK_SOON(p.cut == 1);
	CHECK_SOON(is_gone(pid));
	CHECK_EQ(cancel(pid), -ESRCH);
	CHECK_EQ(sley_process_kill(pid), -ESRCH);
	stop(rt);
}

static int traps_and_waits(void *arg)
{
	struct place *p = arg;
	struct sley_msg *msg;

	atomic_fetch_add(&p->begun, 1);
	CHECK_EQ(sley_receive(&msg), -ECANCELED);
	atomic_fetch_add(&p->cut, 1);
	return 0;
}

TEST_WORKERS(w40_a_kill_is_no_message_for_who_traps)
{
	struct sley *rt = start();
	struct place p = { .begun = 0 };
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, traps_and_waits, &p,
				  SLEY_PROCESS_OPTIONS(.traps = true)),
		 0);
	CHECK_SOON(p.begun == 1);
	CHECK_EQ(sley_process_kill(pid), 0);
	/* A second one finds it, or finds it gone. */
	CHECK(sley_process_kill(pid) <= 0);
	CHECK_SOON(p.cut == 1);
	stop(rt);
}

/* ---- by itself --------------------------------------------------------------------------- */

static volatile int reason_for_exit = -EIO;

__attribute__((noinline)) static int exits_deep_down(int depth)
{
	volatile char frame[64];

	frame[0] = (char)depth;
	if (depth > 0)
		return exits_deep_down(depth - 1) + frame[0];
	if (reason_for_exit)
		sley_actor_exit(reason_for_exit);
	return 0;
}

static int exits(void *arg)
{
	struct sley_msg *msg;

	count_task(arg);
	CHECK_EQ(sley_receive(&msg), 0);
	sley_yield();
	return exits_deep_down(50);
}

TEST_WORKERS(an_actor_exits_from_within_any_call)
{
	struct sley *rt = start();
	atomic_int begun = 0;
	sley_pid pid[50];

	for (int i = 0; i < 50; i++) {
		pid[i] = actor(exits, &begun);
		CHECK_EQ(sley_send(pid[i], 1, "12345678901234567890", 20), 0);
	}
	for (int i = 0; i < 50; i++)
		CHECK_SOON(is_gone(pid[i]));
	CHECK_EQ(begun, 50);
	stop(rt);
}

TEST_ABORTS(exiting_from_what_is_no_actor_aborts,
	    "sley: misuse in sley_actor_exit: only an actor may call it; a step "
	    "process ends by returning sley_out_done()")
{
	sley_actor_exit(0);
}

static int returns_more_than_0(void *arg)
{
	(void)arg;
	return 1;
}

TEST_ABORTS(a_reason_above_0_aborts,
	    "): an actor must end with 0 or a negative error")
{
	struct sley *rt = start();

	(void)actor(returns_more_than_0, NULL);
	CHECK_SOON(rt == NULL);
}

TEST_ABORTS(an_actor_with_a_reason_above_0_is_named, "> positive (function ")
{
	struct sley *rt = start();
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, returns_more_than_0, NULL,
				  SLEY_PROCESS_OPTIONS(.label = "positive")),
		 0);
	CHECK_SOON(rt == NULL);
}

/* ---- tasks of an actor ------------------------------------------------------------------------ */

static long sum_to(int from, int to);

struct half {
	int from, to;
	long sum;
};

static void sum_half(void *arg)
{
	struct half *h = arg;

	h->sum = sum_to(h->from, h->to);
}

static long sum_to(int from, int to)
{
	struct half left = { from, (from + to) / 2, 0 };
	struct half right = { (from + to) / 2, to, 0 };
	struct sley_forked child;

	if (to - from < 4)
		return to - from == 3
			       ? 3L * from + 3
			       : (to - from) * (long)from + (to - from == 2);
	sley_fork(&child, sum_half, &left);
	sum_half(&right);
	sley_fork_join(&child);
	return left.sum + right.sum;
}

static int adds(void *arg)
{
	struct place *p = arg;
	struct sley_msg *msg;

	for (int i = 0; i < 20; i++) {
		CHECK_EQ(sley_receive(&msg), 0);
		CHECK_EQ(sum_to(0, 1000), 499500);
		atomic_fetch_add(&p->begun, 1);
	}
	return 0;
}

TEST_WORKERS(an_actor_forks_and_joins)
{
	struct sley *rt = start();
	struct place p = { .begun = 0 };
	sley_pid pid[8];

	for (int i = 0; i < 8; i++)
		pid[i] = actor(adds, &p);
	for (int i = 0; i < 160; i++)
		CHECK_EQ(sley_send(pid[i % 8], 1, NULL, 0), 0);
	CHECK_SOON(p.begun == 160);
	stop(rt);
}

static int no_process(void *arg)
{
	struct sley_msg *msg;

	CHECK_EQ(sley_self(), SLEY_NO_PID);
	CHECK_EQ(sley_receive(&msg), -EINVAL);
	count_task(arg);
	return 0;
}

static int opens_a_scope(void *arg)
{
	struct place *p = arg;
	struct sley_scope scope;
	struct sley_task task[4];
	struct sley_msg *msg;

	sley_scope_open(&scope);
	for (int i = 0; i < 4; i++)
		sley_scope_spawn(&scope, &task[i], no_process, &p->begun);
	CHECK_EQ(sley_receive(&msg), 0);
	CHECK_EQ(sley_scope_close(&scope), 0);
	CHECK_EQ(sley_receive(&msg), 0);
	atomic_store(&p->cut, 1);
	return 0;
}

TEST_WORKERS(an_actor_opens_scopes_whose_tasks_are_not_the_actor)
{
	struct sley *rt = start();
	struct place p = { .begun = 0 };
	sley_pid pid = actor(opens_a_scope, &p);

	CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	CHECK_EQ(sley_send(pid, 2, NULL, 0), 0);
	CHECK_SOON(p.cut == 1);
	CHECK_EQ(p.begun, 4);
	stop(rt);
}

/* ---- stacks ------------------------------------------------------------------------------------ */

__attribute__((noinline)) static int use_stack(int kib)
{
	volatile char page[1024];

	page[0] = (char)kib;
	return kib ? use_stack(kib - 1) + page[0] : 0;
}

static int uses_200_kib(void *arg)
{
	struct sley_msg *msg;

	CHECK_EQ(sley_receive_until(&msg, in_ms(1)), -ETIMEDOUT);
	(void)use_stack(200);
	count_task(arg);
	return 0;
}

TEST_WORKERS(an_actor_has_the_stack_it_asked_for)
{
	struct sley *rt = start();
	atomic_int done = 0;

	if (test_sanitizer())
		test_skip("frames are larger there");
	for (int i = 0; i < 4; i++)
		CHECK_EQ(sley_actor_spawn(NULL, uses_200_kib, &done,
					  SLEY_PROCESS_OPTIONS(.stack_kib =
								       512)),
			 0);
	CHECK_EQ(sley_actor_spawn(NULL, uses_200_kib, &done,
				  SLEY_PROCESS_OPTIONS(.stack_kib = 1)),
		 SLEY_ESTACK);
	CHECK_SOON(done == 4);
	stop(rt);
}

static int overflows(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	CHECK_EQ(sley_receive_until(&msg, in_ms(1)), -ETIMEDOUT);
	return use_stack(1 << 20) ? 0 : -EIO;
}

TEST_ABORTS(an_actor_that_overflows_is_named_by_its_label,
	    "stack overflow in fiber \"glutton\"")
{
	struct sley *rt = start();

	CHECK_EQ(sley_actor_spawn(NULL, overflows, NULL,
				  SLEY_PROCESS_OPTIONS(.label = "glutton")),
		 0);
	CHECK_SOON(rt == NULL);
}
