/* SPDX-License-Identifier: MIT */
/*
 * pingpong.c - rows `pingpong` and `pingpong-cross`: a message goes to a second
 * process, and an answer comes back.
 *
 * `ns` is for two step processes, `actor_ns` for two actors.  For `pingpong-cross`
 * the two tasks that spawn the processes meet in a loop that does not yield: so the
 * two tasks are on two workers.  Each task pins its worker to a CPU, and its process
 * to the worker.
 */
#include "actors.h"

enum { PING, PONG, STOP };

struct trip {
	const struct measure *m;
	struct answer answer;
	uint64_t nr;
	sley_pid pong;
	uint32_t arrived; /* at the meeting          */
	int workers[2];   /* the worker of each task */
};

/* ---- step processes ----------------------------------------------------------- */

struct end {
	struct trip *trip;
	uint64_t right; /* values that came back unchanged */
};

static enum sley_step pong_step(void *self, struct sley_msg *const *msg,
				size_t nr, struct sley_out *out)
{
	struct end *e = self;

	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->tag == STOP) {
			e->trip->workers[1] = sley_worker();
			answer_give(&e->trip->answer, actors_word(msg[i]));
			return sley_out_done(out, 0);
		}
		actors_send(msg[i]->from, PONG, actors_word(msg[i]) + 1);
	}
	return SLEY_WAIT;
}

static enum sley_step ping_step(void *self, struct sley_msg *const *msg,
				size_t nr, struct sley_out *out)
{
	struct end *e = self;
	struct trip *t = e->trip;

	if (nr > 0)
		e->right += actors_word(msg[0]) == e->right + 1;
	if (e->right < t->nr) {
		actors_send(t->pong, PING, e->right);
		return SLEY_WAIT;
	}
	t->workers[0] = sley_worker();
	actors_send(t->pong, STOP, e->right);
	return sley_out_done(out, 0);
}

static const struct sley_behaviour ping = {
	.name = "ping",
	.size = sizeof(struct end),
	.init = actors_init,
	.step = ping_step,
};

static const struct sley_behaviour pong = {
	.name = "pong",
	.size = sizeof(struct end),
	.init = actors_init,
	.step = pong_step,
};

static void step_trips(const struct measure *m, uint64_t nr)
{
	struct trip t = { .m = m, .answer = ANSWER_INIT, .nr = nr };
	struct end end = { .trip = &t };

	t.pong = actors_spawn(m, &pong, &end);
	actors_spawn(m, &ping, &end);
	MEASURE_CHECK(m, answer_take(&t.answer) == nr);
}

/* ---- actors ------------------------------------------------------------------- */

static int pong_actor(void *arg)
{
	struct trip *t = arg;
	struct sley_msg *msg;

	while (sley_receive(&msg) == 0) {
		if (msg->tag == STOP) {
			answer_give(&t->answer, actors_word(msg));
			break;
		}
		actors_send(msg->from, PONG, actors_word(msg) + 1);
	}
	return 0;
}

static int ping_actor(void *arg)
{
	struct trip *t = arg;
	struct sley_msg *msg;
	uint64_t right = 0;

	for (uint64_t i = 0; i < t->nr; i++) {
		actors_send(t->pong, PING, i);
		if (sley_receive(&msg) != 0)
			break;
		right += actors_word(msg) == i + 1;
	}
	actors_send(t->pong, STOP, right);
	return 0;
}

static void actor_trips(const struct measure *m, uint64_t nr)
{
	struct trip t = { .m = m, .answer = ANSWER_INIT, .nr = nr };

	t.pong = actors_spawn_fiber(m, pong_actor, &t);
	actors_spawn_fiber(m, ping_actor, &t);
	MEASURE_CHECK(m, answer_take(&t.answer) == nr);
}

void row_pingpong(const struct measure *m)
{
	actors_run(m, step_trips, "ns", PINGPONG_TRIPS, 1);
	actors_run(m, actor_trips, "actor_ns", PINGPONG_TRIPS, 1);
}

/* ---- from one worker to another ------------------------------------------------ */

/* Waits without yielding until both tasks are here. */
static void meet(struct trip *t, uint32_t arrivals)
{
	uint64_t start = measure_now();

	__atomic_fetch_add(&t->arrived, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&t->arrived, __ATOMIC_ACQUIRE) < arrivals) {
		measure_pause();
		MEASURE_CHECK(t->m, measure_now() - start < 10 * SLEY_SEC);
	}
}

static sley_pid spawn_here(struct trip *t, const struct sley_behaviour *which)
{
	struct end end = { .trip = t };
	sley_pid pid = SLEY_NO_PID;

	MEASURE_CHECK(t->m, sley_process_spawn(
				    &pid, which, &end, sizeof(end),
				    SLEY_PROCESS_OPTIONS(.pinned = true)) == 0);
	return pid;
}

static void spawn_pong(void *arg)
{
	struct trip *t = arg;

	meet(t, 2);
	measure_pin(1);
	t->pong = spawn_here(t, &pong);
	meet(t, 4);
}

static void spawn_ping(void *arg)
{
	struct trip *t = arg;

	meet(t, 2);
	measure_pin(0);
	meet(t, 4);
	spawn_here(t, &ping);
}

static void cross_trips(const struct measure *m, uint64_t nr)
{
	struct trip t = { .m = m, .answer = ANSWER_INIT, .nr = nr };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[2];

	sley_spawn(&group, &tasks[0], spawn_pong, &t);
	sley_spawn(&group, &tasks[1], spawn_ping, &t);
	sley_join(&group);
	MEASURE_CHECK(m, answer_take(&t.answer) == nr);
	MEASURE_CHECK(m, t.workers[0] != t.workers[1]);
}

void row_pingpong_cross(const struct measure *m)
{
	if (CPU_COUNT(measure_cpus()) < 2) {
		fprintf(stderr, "pingpong-cross: needs 2 CPUs\n");
		exit(MEASURE_SKIP);
	}
	actors_run(m, cross_trips, "ns", PINGPONG_TRIPS, 1);
}
