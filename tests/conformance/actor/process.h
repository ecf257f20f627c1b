/* SPDX-License-Identifier: MIT */
/*
 * process.h - a step process that writes down its life, for the tests of
 * processes.
 */
#ifndef SLEY_TESTS_CONFORMANCE_ACTOR_PROCESS_H
#define SLEY_TESTS_CONFORMANCE_ACTOR_PROCESS_H

#include "conformance/bound.h"

#include <sched.h>

/* Who floods a process leaves it time to end: so many for each. */
struct pace {
	sley_pid last;
	int nr;
};

static inline bool pace_allows(struct pace *pace, sley_pid pid)
{
	pace->nr = pid == pace->last ? pace->nr + 1 : 0;
	pace->last = pid;
	if (pace->nr <= 200)
		return true;
	sched_yield();
	return false;
}

struct life;

/* What a step does besides writing it down. */
typedef enum sley_step life_fn(struct life *life, struct sley_msg *const *msg,
			       size_t nr, struct sley_out *out);

struct life {
	life_fn *then; /* NULL: SLEY_WAIT */
	void *arg;
	atomic_int inits;
	atomic_int steps;
	atomic_int empty; /* steps without messages */
	atomic_int messages;
	atomic_int cancels;
	atomic_int inside; /* threads in its step */
	atomic_int reason;
	atomic_int closes;
};

struct living {
	struct life *life;
};

static inline int life_init(void *self, const char *method, const void *input,
			    size_t size)
{
	struct living *living = self;

	(void)method;
	CHECK_EQ(size, sizeof(struct life));
	CHECK(living->life == NULL);
	living->life = (struct life *)(uintptr_t)input;
	atomic_fetch_add(&living->life->inits, 1);
	return 0;
}

static inline enum sley_step life_step(void *self, struct sley_msg *const *msg,
				       size_t nr, struct sley_out *out)
{
	struct life *life = ((struct living *)self)->life;
	enum sley_step said = SLEY_WAIT;

	CHECK_EQ(atomic_fetch_add(&life->inside, 1), 0);
	CHECK_EQ(atomic_load(&life->closes), 0);
	atomic_fetch_add(&life->steps, 1);
	if (!nr)
		atomic_fetch_add(&life->empty, 1);
	for (size_t i = 0; i < nr; i++) {
		atomic_fetch_add(msg[i]->kind == SLEY_CANCEL ? &life->cancels
							     : &life->messages,
				 1);
	}
	if (life->then)
		said = life->then(life, msg, nr, out);
	CHECK_EQ(atomic_fetch_sub(&life->inside, 1), 1);
	return said;
}

static inline void life_close(void *self, int reason)
{
	struct life *life = ((struct living *)self)->life;

	CHECK_EQ(atomic_load(&life->inside), 0);
	atomic_store(&life->reason, reason);
	CHECK_EQ(atomic_fetch_add(&life->closes, 1), 0);
}

static const struct sley_behaviour living = {
	.name = "living",
	.size = sizeof(struct living),
	.init = life_init,
	.step = life_step,
	.close = life_close,
};

static inline sley_pid live_as(struct life *life,
			       const struct sley_process_options *options)
{
	sley_pid pid = SLEY_NO_PID;

	CHECK_EQ(sley_process_spawn(&pid, &living, life, sizeof(*life),
				    options),
		 0);
	CHECK_NE(pid, SLEY_NO_PID);
	return pid;
}

static inline sley_pid live(struct life *life)
{
	return live_as(life, NULL);
}

/* It has ended, for @reason. */
static inline void check_end(struct life *life, int reason)
{
	CHECK_SOON(atomic_load(&life->closes));
	CHECK_EQ(life->closes, 1);
	CHECK_EQ(life->reason, reason);
}

static inline sley_pid actor(sley_actor_fn *fn, void *arg)
{
	sley_pid pid = SLEY_NO_PID;

	CHECK_EQ(sley_actor_spawn(&pid, fn, arg, NULL), 0);
	CHECK_NE(pid, SLEY_NO_PID);
	return pid;
}

/* Not by a look: what is about to end is still there. */
static inline bool is_gone(sley_pid pid)
{
	return sley_send(pid, UINT64_MAX, NULL, 0) == -ESRCH;
}

/* For runtimes that have something to complain about. */
static inline void hear_nothing(void *self, const char *line)
{
	(void)self;
	(void)line;
}

#endif
