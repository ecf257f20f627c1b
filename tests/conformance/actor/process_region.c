/* SPDX-License-Identifier: MIT */
/*
 * process_region.c - processes in blocking regions and calls, which other threads
 * serve: who they are there, what they can do, and that they can be ended.
 */
#include "conformance/actor/process.h"

struct scene {
	struct gate gate;
	struct life other;
	sley_pid other_pid;
	atomic_ullong seen; /* by itself, in the region */
	atomic_int done;
	bool killed;
};

/* In a region, or on a thread that makes a blocking call. */
static void work_there(struct scene *s)
{
	struct sley_msg *msg;

	atomic_store(&s->seen, sley_self());
	CHECK_EQ(sley_receive_until(&msg, 0), -EINVAL);
	for (int i = 0; i < 100; i++)
		CHECK_EQ(sley_send(s->other_pid, 1, "0123456789abcdefgh", 18),
			 0);
	gate_hold(&s->gate);
}

static int in_a_region(void *arg)
{
	struct scene *s = arg;
	struct sley_msg *msg;

	CHECK_EQ(sley_receive(&msg), 0);
	CHECK_EQ(sley_blocking_begin(), 0);
	work_there(s);
	CHECK_EQ(*(const int *)msg->data, 42);
	sley_msg_keep(msg);
	sley_blocking_end();
	CHECK_EQ(*(const int *)msg->data, 42);
	sley_msg_free(msg);
	CHECK_EQ(sley_receive_until(&msg, in_ms(1)),
		 s->killed ? -ECANCELED : -ETIMEDOUT);
	atomic_store(&s->done, 1);
	return 0;
}

static void begin(struct scene *s)
{
	s->other_pid = live(&s->other);
}

/* It holds a thread; its messages, and the end, wait meanwhile. */
static void end(struct scene *s, sley_pid pid)
{
	CHECK_SOON(s->gate.held == 1);
	if (s->killed)
		CHECK_EQ(sley_process_kill(pid), 0);
	CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	CHECK(sley_process_alive(pid));
	gate_open(&s->gate);
	CHECK_SOON(s->done);
	CHECK_SOON(s->other.messages == 100);
	CHECK_EQ(s->seen, pid);
}

TEST_WORKERS(an_actor_in_a_region_sends_and_can_be_killed)
{
	for (int i = 0; i < 2; i++) {
		struct scene s = { .killed = i };
		struct sley *rt = start();
		sley_pid pid;
		int value = 42;

		begin(&s);
		pid = actor(in_a_region, &s);
		CHECK_EQ(sley_send(pid, 1, &value, sizeof(value)), 0);
		end(&s, pid);
		CHECK_SOON(is_gone(pid));
		stop(rt);
	}
}

struct step_scene {
	struct life life;
	struct scene scene;
};

static enum sley_step step_in_region(struct life *life,
				     struct sley_msg *const *msg, size_t nr,
				     struct sley_out *out)
{
	struct step_scene *s = life->arg;

	(void)msg;
	(void)out;
	if (nr)
		return SLEY_WAIT;
	CHECK_EQ(sley_blocking_begin(), 0);
	work_there(&s->scene);
	sley_blocking_end();
	atomic_store(&s->scene.done, 1);
	return SLEY_WAIT;
}

TEST_WORKERS(a_step_in_a_region_sends_and_can_be_killed)
{
	for (int i = 0; i < 2; i++) {
		struct step_scene s = { .scene.killed = i };
		struct sley *rt = start();
		sley_pid pid;

		s.life.then = step_in_region;
		s.life.arg = &s;
		begin(&s.scene);
		pid = live(&s.life);
		end(&s.scene, pid);
		if (i) {
			check_end(&s.life, SLEY_EKILLED);
		} else {
			CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
			CHECK_SOON(s.life.messages == 1);
		}
		stop(rt);
	}
}

/* ---- calls ------------------------------------------------------------------------------- */

static void call(void *arg)
{
	work_there(arg);
}

static int makes_a_call(void *arg)
{
	struct scene *s = arg;
	struct sley_msg *msg;

	CHECK_EQ(sley_blocking_call(call, s), 0);
	CHECK_EQ(sley_receive_until(&msg, in_ms(1)),
		 s->killed ? -ECANCELED : -ETIMEDOUT);
	atomic_store(&s->done, 1);
	return 0;
}

TEST_WORKERS(an_actor_that_makes_a_blocking_call_can_be_killed)
{
	for (int i = 0; i < 2; i++) {
		struct scene s = { .killed = i };
		struct sley *rt = start();
		sley_pid pid;

		begin(&s);
		pid = actor(makes_a_call, &s);
		end(&s, pid);
		CHECK_SOON(is_gone(pid));
		stop(rt);
	}
}
