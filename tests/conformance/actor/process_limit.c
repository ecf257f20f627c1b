/* SPDX-License-Identifier: MIT */
/*
 * process_limit.c - a runtime that has so many processes and no more: W9.
 */
#include "conformance/actor/process.h"

#define MAX 10

static struct sley *start_limited(void)
{
	struct sley_config config = *test_config();

	config.max_processes = MAX;
	return start_with(&config);
}

static int waits(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	return sley_receive(&msg);
}

TEST_WORKERS(w09_one_too_many_is_refused_before_init)
{
	struct life life[MAX + 1];
	sley_pid pid[MAX + 1];
	struct sley *rt = start_limited();

	memset(life, 0, sizeof(life));
	for (int i = 0; i < MAX; i++)
		pid[i] = i % 2 ? live(&life[i]) : actor(waits, NULL);
	for (int i = 0; i < 100; i++) {
		pid[MAX] = 1;
		CHECK_EQ(sley_process_spawn(&pid[MAX], &living, &life[MAX],
					    sizeof(life[MAX]), NULL),
			 -EAGAIN);
		CHECK_EQ(pid[MAX], SLEY_NO_PID);
		pid[MAX] = 1;
		CHECK_EQ(sley_actor_spawn(&pid[MAX], waits, NULL, NULL),
			 -EAGAIN);
		CHECK_EQ(pid[MAX], SLEY_NO_PID);
	}
	CHECK_EQ(life[MAX].inits, 0);
	for (int i = 0; i < MAX; i++) {
		CHECK_EQ(sley_process_kill(pid[i]), 0);
		CHECK_SOON(!sley_process_alive(pid[i]));
		/* Its place is free as soon as it is seen to be gone. */
		CHECK_SOON(sley_actor_spawn(&pid[i], waits, NULL, NULL) == 0);
	}
	stop(rt);
}

static int fails(void *self, const char *method, const void *input, size_t size)
{
	(void)self;
	(void)method;
	(void)input;
	(void)size;
	return -EIO;
}

TEST_WORKERS(w09_a_spawn_that_fails_does_not_count)
{
	struct sley_behaviour behaviour = living;
	struct sley *rt = start_limited();
	struct life life[MAX];

	behaviour.init = fails;
	for (int i = 0; i < 10 * MAX; i++)
		CHECK_EQ(sley_process_spawn(NULL, &behaviour, NULL, 0, NULL),
			 -EIO);
	for (int i = 0; i < 10 * MAX && !is_single(); i++)
		CHECK_EQ(sley_actor_spawn(NULL, waits, NULL,
					  SLEY_PROCESS_OPTIONS(.pinned = true)),
			 SLEY_ENOWORKER);
	memset(life, 0, sizeof(life));
	for (int i = 0; i < MAX; i++)
		(void)live(&life[i]);
	stop(rt);
}

/* Whose number is never above the limit. */
/* ---- those whose init still runs ------------------------------------------------ */

static const struct sley_behaviour nest;
static int depth;

/* Its init spawns the next one. */
static int spawns_another(void *self, const char *method, const void *input,
			  size_t size)
{
	struct sley *const *rt = input;
	int own = ++depth;

	(void)self;
	(void)method;
	CHECK_LE(own, MAX);
	CHECK_EQ(sley_process_spawn(NULL, &nest, rt, size,
				    SLEY_PROCESS_OPTIONS(.runtime = *rt)),
		 own < MAX ? 0 : -EAGAIN);
	return 0;
}

static enum sley_step waits_on(void *self, struct sley_msg *const *msg,
			       size_t nr, struct sley_out *out)
{
	(void)self;
	(void)msg;
	(void)nr;
	(void)out;
	return SLEY_WAIT;
}

static const struct sley_behaviour nest = {
	.init = spawns_another,
	.step = waits_on,
};

TEST_WORKERS(w09_those_whose_init_runs_count)
{
	struct sley *rt = start_limited();

	depth = 0;
	CHECK_EQ(sley_process_spawn(NULL, &nest, &rt, sizeof(rt), NULL), 0);
	CHECK_EQ(depth, MAX);
	stop(rt);
}

static atomic_int nr_live;

static int comes(void *self, const char *method, const void *input, size_t size)
{
	(void)self;
	(void)method;
	(void)input;
	(void)size;
	CHECK_LE(atomic_fetch_add(&nr_live, 1) + 1, MAX);
	return 0;
}

static enum sley_step ends(void *self, struct sley_msg *const *msg, size_t nr,
			   struct sley_out *out)
{
	(void)self;
	(void)msg;
	(void)nr;
	return sley_out_done(out, 0);
}

static void goes(void *self, int reason)
{
	(void)self;
	(void)reason;
	atomic_fetch_sub(&nr_live, 1);
}

static const struct sley_behaviour mayfly = {
	.init = comes,
	.step = ends,
	.close = goes,
};

struct spawner {
	struct sley *rt;
	atomic_int spawned;
	atomic_int refused;
	int nr;
};

static void *spawn_many(void *arg)
{
	struct spawner *s = arg;

	for (int i = 0; i < s->nr; i++) {
		int err = sley_process_spawn(
			NULL, &mayfly, NULL, 0,
			SLEY_PROCESS_OPTIONS(.runtime = s->rt));

		CHECK(err == 0 || err == -EAGAIN);
		atomic_fetch_add(err ? &s->refused : &s->spawned, 1);
	}
	return NULL;
}

static void spawn_many_task(void *arg)
{
	(void)spawn_many(arg);
}

TEST_WORKERS(w09_the_limit_is_never_overshot)
{
	struct spawner s = { .nr = test_scale(2000) };

	if (is_single())
		test_skip("only bound threads spawn here");
	s.rt = start_limited();
	run_beside(spawn_many_task, spawn_many, &s);
	CHECK_EQ(s.spawned + s.refused, 12 * s.nr);
	CHECK_SOON(nr_live == 0);
	/* And nothing is left of it. */
	for (int i = 0; i < MAX; i++)
		CHECK_SOON(sley_actor_spawn(NULL, waits, NULL, NULL) == 0);
	CHECK_EQ(sley_actor_spawn(NULL, waits, NULL, NULL), -EAGAIN);
	stop(s.rt);
}
