/* SPDX-License-Identifier: MIT */
/*
 * processes.h - what tests of processes have in common: an actor that is the test,
 * and processes that end when they are told to.
 */
#ifndef SLEY_TESTS_CONFORMANCE_ACTOR_PROCESSES_H
#define SLEY_TESTS_CONFORMANCE_ACTOR_PROCESSES_H

#include "conformance/bound.h"

#include <sley/error.h>

enum {
	TAG_END = 1000, /* end for this reason                    */
	TAG_LINK,       /* link with this pid: TAG_DID, an error  */
	TAG_UNLINK,     /* the same                               */
	TAG_TRAP,       /* trap, if that is true: TAG_DID         */
	TAG_DID,
	TAG_SAW, /* of who traps, to the test: SLEY_EXIT, its error */
	TAG_LAST,
};

static struct sley_event test_over;
static sley_pid test_pid; /* of the actor that is the test */

/* ---- mortals -------------------------------------------------------------------- */

static inline int mortal_does(const struct sley_msg *msg)
{
	switch (msg->tag) {
	case TAG_LINK:
		return sley_link(*(const sley_pid *)msg->data);
	case TAG_UNLINK:
		sley_unlink(*(const sley_pid *)msg->data);
		break;
	case TAG_TRAP:
		(void)sley_process_trap(*(const int *)msg->data);
		break;
	}
	return 0;
}

/* True: it is to end, for *@reason. */
static inline bool mortal_ends(const struct sley_msg *msg, int *reason)
{
	int did;

	if (msg->kind == SLEY_EXIT) {
		CHECK_EQ(sley_send(test_pid, TAG_SAW, &msg->error, sizeof(int)),
			 0);
		return false;
	}
	if (msg->kind != SLEY_MESSAGE)
		return msg->kind == SLEY_CANCEL;
	if (msg->tag == TAG_END) {
		*reason = *(const int *)msg->data;
		return true;
	}
	did = mortal_does(msg);
	CHECK_EQ(sley_send(msg->from, TAG_DID, &did, sizeof(did)), 0);
	return false;
}

static inline int mortal_actor(void *arg)
{
	struct sley_msg *msg;
	int reason = 0;

	(void)arg;
	while (sley_receive(&msg) == 0)
		if (mortal_ends(msg, &reason))
			break;
	return reason;
}

static inline enum sley_step mortal_step(void *self,
					 struct sley_msg *const *msg, size_t nr,
					 struct sley_out *out)
{
	int reason = 0;

	(void)self;
	for (size_t i = 0; i < nr; i++)
		if (mortal_ends(msg[i], &reason))
			return sley_out_done(out, reason);
	return SLEY_WAIT;
}

static const struct sley_behaviour mortal_behaviour = { .name = "mortal",
							.step = mortal_step };

/* An actor or a step process. */
static inline sley_pid
spawn_mortal_with(bool actor, const struct sley_process_options *options)
{
	sley_pid pid = SLEY_NO_PID;

	if (actor)
		CHECK_EQ(sley_actor_spawn(&pid, mortal_actor, NULL, options),
			 0);
	else
		CHECK_EQ(sley_process_spawn(&pid, &mortal_behaviour, NULL, 0,
					    options),
			 0);
	CHECK(pid != SLEY_NO_PID);
	return pid;
}

/* Now one, now the other. */
static inline sley_pid spawn_mortal(void)
{
	static atomic_int turn;

	return spawn_mortal_with(atomic_fetch_add(&turn, 1) % 2, NULL);
}

static inline void end_mortal(sley_pid pid, int reason)
{
	CHECK_EQ(sley_send(pid, TAG_END, &reason, sizeof(reason)), 0);
}

/* Has @pid do it, and waits for that. */
static inline int mortal_do(sley_pid pid, uint64_t tag, uint64_t value)
{
	struct sley_msg *msg = NULL;

	CHECK_EQ(sley_send(pid, tag, &value, sizeof(value)), 0);
	CHECK_EQ(sley_receive_tag_until(&msg, TAG_DID, UINT64_MAX), 0);
	CHECK_EQ(msg->from, pid);
	return *(const int *)msg->data;
}

/* ---- in the actor that is the test ------------------------------------------------ */

static inline struct sley_msg *expect(unsigned int kind, sley_pid from)
{
	struct sley_msg *msg = NULL;

	CHECK_EQ(sley_receive(&msg), 0);
	CHECK_EQ(msg->kind, kind);
	CHECK_EQ(msg->from, from);
	return msg;
}

static inline void expect_down(sley_pid target, uint64_t number, int reason)
{
	const struct sley_msg *msg = expect(SLEY_DOWN, target);

	CHECK_EQ(msg->tag, number);
	CHECK_EQ(msg->error, reason);
	CHECK_EQ(msg->size, 0);
}

static inline void expect_exit(sley_pid peer, int reason)
{
	CHECK_EQ(expect(SLEY_EXIT, peer)->error, reason);
}

/* What has been told is ahead of what is sent: so nothing has been. */
static inline void expect_nothing(void)
{
	CHECK_EQ(sley_send(sley_self(), TAG_LAST, NULL, 0), 0);
	CHECK_EQ(expect(SLEY_MESSAGE, sley_self())->tag, TAG_LAST);
}

/* When it returns, everything that @pid tells has been told. */
static inline int await_end(sley_pid pid)
{
	struct sley_msg *msg;
	uint64_t number;

	CHECK_EQ(sley_monitor(pid, &number), 0);
	do {
		CHECK_EQ(sley_receive(&msg), 0);
	} while (msg->kind != SLEY_DOWN || msg->tag != number);
	return msg->error;
}

/* ---- the frame of a test ------------------------------------------------------------ */

struct test_actor {
	sley_actor_fn *fn;
	void *arg;
};

static inline int test_actor_run(void *arg)
{
	const struct test_actor *test = arg;
	int reason;

	test_pid = sley_self();
	reason = test->fn(test->arg);
	sley_event_set(&test_over);
	return reason;
}

/* Run @fn as an actor, which traps if that is said, to its end. */
static inline void run_actor(sley_actor_fn *fn, void *arg, bool traps)
{
	struct test_actor test = { fn, arg };
	struct sley *rt = start();

	test_over = (struct sley_event)SLEY_EVENT_INIT;
	CHECK_EQ(sley_actor_spawn(NULL, test_actor_run, &test,
				  SLEY_PROCESS_OPTIONS(.traps = traps)),
		 0);
	CHECK_EQ(sley_event_wait(&test_over), 0);
	stop(rt);
}

#endif
