/* SPDX-License-Identifier: MIT */
/*
 * process_edges.c - messages that are kept and sent on or freed at once, and ends
 * that meet something else.
 */
#include "conformance/bound.h"

#define ROUNDS 200

static atomic_int nr_got, nr_sum;
static sley_pid sink, source;

/* ---- processes ---------------------------------------------------------------------- */

/* Counts what comes. */
static enum sley_step sink_step(void *self, struct sley_msg *const *msg,
				size_t nr, struct sley_out *out)
{
	(void)self;
	(void)out;
	for (size_t i = 0; i < nr; i++) {
		CHECK_EQ(msg[i]->size, sizeof(int));
		atomic_fetch_add(&nr_sum, *(const int *)msg[i]->data);
		atomic_fetch_add(&nr_got, 1);
	}
	return SLEY_WAIT;
}

static const struct sley_behaviour sink_behaviour = { .step = sink_step };

/* Sends everything on, within the step. */
static enum sley_step forward_step(void *self, struct sley_msg *const *msg,
				   size_t nr, struct sley_out *out)
{
	(void)self;
	(void)out;
	for (size_t i = 0; i < nr; i++) {
		sley_msg_keep(msg[i]);
		CHECK_EQ(sley_msg_forward(sink, msg[i]), 0);
	}
	return SLEY_WAIT;
}

static const struct sley_behaviour forwarder = { .step = forward_step };

/* Frees everything, and sends as much of its own. */
static enum sley_step free_step(void *self, struct sley_msg *const *msg,
				size_t nr, struct sley_out *out)
{
	(void)self;
	(void)out;
	for (size_t i = 0; i < nr; i++) {
		int n = *(const int *)msg[i]->data;

		sley_msg_keep(msg[i]);
		sley_msg_free(msg[i]);
		/* In the same memory, most likely. */
		CHECK_EQ(sley_send(sink, 0, &n, sizeof(n)), 0);
	}
	return SLEY_WAIT;
}

static const struct sley_behaviour freer = { .step = free_step };

static int forward_actor(void *arg)
{
	struct sley_msg *msg;

	while (!sley_receive(&msg)) {
		sley_msg_keep(msg);
		CHECK_EQ(sley_msg_forward(sink, msg), 0);
	}
	(void)arg;
	return 0;
}

static int free_actor(void *arg)
{
	struct sley_msg *msg;

	while (!sley_receive(&msg)) {
		int n = *(const int *)msg->data;

		sley_msg_keep(msg);
		sley_msg_free(msg);
		CHECK_EQ(sley_send(sink, 0, &n, sizeof(n)), 0);
	}
	(void)arg;
	return 0;
}

/* ---- kept, and gone at once --------------------------------------------------------- */

/* One by one, and many at a time. */
static void send_all(void)
{
	for (int i = 1; i <= ROUNDS; i++)
		CHECK_EQ(sley_send(source, 0, &i, sizeof(i)), 0);
	while (atomic_load(&nr_got) < ROUNDS)
		sley_yield();
	for (int i = 1; i <= ROUNDS; i++) {
		CHECK_EQ(sley_send(source, 0, &i, sizeof(i)), 0);
		while (atomic_load(&nr_got) < ROUNDS + i)
			sley_yield();
	}
	CHECK_EQ(nr_sum, ROUNDS * (ROUNDS + 1));
}

static void through(const struct sley_behaviour *behaviour, sley_actor_fn *fn)
{
	struct sley *rt = start();

	atomic_store(&nr_got, 0);
	atomic_store(&nr_sum, 0);
	CHECK_EQ(sley_process_spawn(&sink, &sink_behaviour, NULL, 0, NULL), 0);
	CHECK_EQ(behaviour
			 ? sley_process_spawn(&source, behaviour, NULL, 0, NULL)
			 : sley_actor_spawn(&source, fn, NULL, NULL),
		 0);
	send_all();
	stop(rt);
}

TEST_WORKERS(a_step_sends_on_what_it_got)
{
	through(&forwarder, NULL);
}

TEST_WORKERS(a_step_frees_what_it_kept)
{
	through(&freer, NULL);
}

TEST_WORKERS(an_actor_sends_on_what_it_got)
{
	through(NULL, forward_actor);
}

TEST_WORKERS(an_actor_frees_what_it_kept)
{
	through(NULL, free_actor);
}

/* ---- ends ------------------------------------------------------------------------------ */

static atomic_int closed;
static atomic_bool holds, is_in;

static void note_close(void *self, int reason)
{
	(void)self;
	CHECK_EQ(reason, SLEY_EKILLED);
	atomic_fetch_add(&closed, 1);
}

/* Killed during the step; then it keeps its message, and waits for more. */
static enum sley_step keep_step(void *self, struct sley_msg *const *msg,
				size_t nr, struct sley_out *out)
{
	(void)self;
	(void)out;
	if (!nr)
		return SLEY_WAIT;
	atomic_store(&is_in, true);
	while (atomic_load(&holds))
		sley_yield();
	for (size_t i = 0; i < nr; i++) {
		sley_msg_keep(msg[i]);
		sley_msg_free(msg[i]);
	}
	return SLEY_WAIT;
}

static const struct sley_behaviour keeper = { .step = keep_step,
					      .close = note_close };

TEST_WORKERS(a_kill_is_not_lost_when_a_message_is_kept)
{
	struct sley *rt = start();
	sley_pid pid;

	atomic_store(&closed, 0);
	atomic_store(&holds, true);
	atomic_store(&is_in, false);
	CHECK_EQ(sley_process_spawn(&pid, &keeper, NULL, 0, NULL), 0);
	/* Its first step is over: the next one finds one message. */
	for (int i = 0; i < 100; i++)
		sley_yield();
	CHECK_EQ(sley_send(pid, 0, NULL, 0), 0);
	while (!atomic_load(&is_in))
		sley_yield();
	CHECK_EQ(sley_process_kill(pid), 0);
	atomic_store(&holds, false);
	for (uint64_t end = in_ms(10000); !atomic_load(&closed);) {
		CHECK(sley_now() < end);
		sley_yield();
	}
	stop(rt);
}

/* ---- the runtime stops --------------------------------------------------------------- */

static atomic_int nr_late;

static void note_late(void *self, int reason)
{
	(void)self;
	CHECK_EQ(reason, -ECANCELED);
	atomic_fetch_add(&nr_late, 1);
}

/* Nobody ends it but the runtime. */
static const struct sley_behaviour latecomer = { .step = sink_step,
						 .close = note_late };

/* Asked to end, it leaves a successor. */
static enum sley_step leave_successor(void *self, struct sley_msg *const *msg,
				      size_t nr, struct sley_out *out)
{
	(void)self;
	if (!nr)
		return SLEY_WAIT;
	CHECK_EQ(msg[0]->kind, SLEY_CANCEL);
	CHECK_EQ(sley_process_spawn(NULL, &latecomer, NULL, 0, NULL), 0);
	return sley_out_done(out, 0);
}

static const struct sley_behaviour predecessor = { .step = leave_successor };

TEST_WORKERS(a_process_spawned_by_one_that_is_stopped_ends_too)
{
	struct sley *rt = start();

	atomic_store(&nr_late, 0);
	for (int i = 0; i < 10; i++)
		CHECK_EQ(
			sley_process_spawn(NULL, &predecessor, NULL, 0,
					   SLEY_PROCESS_OPTIONS(.traps = true)),
			0);
	stop(rt);
	CHECK_EQ(nr_late, 10);
}

/* What was decided when it did not trap stays so. */
static int trap_too_late(void *arg)
{
	struct sley_msg *msg;

	atomic_store(&is_in, true);
	while (!sley_sleep(10 * SLEY_MSEC))
		;
	CHECK(!sley_process_trap(true));
	CHECK_EQ(sley_receive(&msg), -ECANCELED);
	atomic_fetch_add(&nr_late, 1);
	(void)arg;
	return 0;
}

TEST_WORKERS(who_traps_when_its_waits_are_cut_short_is_too_late)
{
	struct sley *rt = start();

	atomic_store(&nr_late, 0);
	atomic_store(&is_in, false);
	CHECK_EQ(sley_actor_spawn(NULL, trap_too_late, NULL, NULL), 0);
	while (!atomic_load(&is_in))
		sley_yield();
	stop(rt);
	CHECK_EQ(nr_late, 1);
}

/* ---- what a worker has woken for itself, and does not come to ----------------------- */

static atomic_bool has_run;

static enum sley_step note_run(void *self, struct sley_msg *const *msg,
			       size_t nr, struct sley_out *out)
{
	(void)self;
	(void)msg;
	(void)out;
	if (nr)
		atomic_store(&has_run, true);
	return SLEY_WAIT;
}

static const struct sley_behaviour runner = { .step = note_run };

static void wait_for_run(void)
{
	for (uint64_t end = in_ms(10000); !atomic_load(&has_run);)
		CHECK(sley_now() < end);
}

/* Does not return, yield or wait until the other one has run. */
static enum sley_step hold_step(void *self, struct sley_msg *const *msg,
				size_t nr, struct sley_out *out)
{
	(void)self;
	(void)msg;
	if (!nr)
		return SLEY_WAIT;
	CHECK_EQ(sley_send(sink, 0, NULL, 0), 0);
	wait_for_run();
	return sley_out_done(out, 0);
}

static const struct sley_behaviour holder = { .step = hold_step };

/* The same in a region in which its thread may block. */
static enum sley_step block_step(void *self, struct sley_msg *const *msg,
				 size_t nr, struct sley_out *out)
{
	(void)self;
	(void)msg;
	if (!nr)
		return SLEY_WAIT;
	CHECK_EQ(sley_send(sink, 0, NULL, 0), 0);
	sley_blocking_begin();
	wait_for_run();
	sley_blocking_end();
	return sley_out_done(out, 0);
}

static const struct sley_behaviour blocker = { .step = block_step };

static void hold_with(const struct sley_behaviour *behaviour)
{
	struct sley *rt = start();

	atomic_store(&has_run, false);
	CHECK_EQ(sley_process_spawn(&sink, &runner, NULL, 0, NULL), 0);
	CHECK_EQ(sley_process_spawn(&source, behaviour, NULL, 0, NULL), 0);
	/* Both have had their first step, and have parked. */
	for (int i = 0; i < 100; i++)
		sley_yield();
	test_nap_ms(5);
	CHECK_EQ(sley_send(source, 0, NULL, 0), 0);
	for (uint64_t end = in_ms(20000); sley_process_alive(source);) {
		CHECK(sley_now() < end);
		sley_yield();
	}
	stop(rt);
}

TEST_WORKERS(what_a_held_worker_has_woken_is_run_by_another)
{
	if (nr_runners() < 2)
		test_skip("one worker has nobody to take it over");
	hold_with(&holder);
}

TEST_WORKERS(what_was_woken_before_a_blocking_region_is_run)
{
	hold_with(&blocker);
}

/* ---- pinned, by who has moved ----------------------------------------------------------- */

#define NR_PINNED 60

struct pinned {
	int worker; /* of its first step */
	int steps;
};

static sley_pid pinned[NR_PINNED];
static atomic_int nr_steps;

/* Whoever spawns it goes on elsewhere, perhaps. */
static int wander_init(void *self, const char *method, const void *input,
		       size_t size)
{
	int worker = sley_worker(), err = 0;

	(void)self;
	(void)method;
	(void)input;
	(void)size;
	for (int i = 0; i < 20 && !err && sley_worker() == worker; i++)
		err = sley_sleep(50 * SLEY_USEC);
	return err;
}

static enum sley_step stay_step(void *self, struct sley_msg *const *msg,
				size_t nr, struct sley_out *out)
{
	struct pinned *p = self;

	(void)msg;
	(void)nr;
	(void)out;
	if (!p->steps++)
		p->worker = sley_worker();
	CHECK_EQ(sley_worker(), p->worker);
	atomic_fetch_add(&nr_steps, 1);
	return SLEY_WAIT;
}

static const struct sley_behaviour stayer = { .size = sizeof(struct pinned),
					      .init = wander_init,
					      .step = stay_step };

static void spawn_pinned(void *arg)
{
	CHECK_EQ(sley_process_spawn(arg, &stayer, NULL, 0,
				    SLEY_PROCESS_OPTIONS(.pinned = true)),
		 0);
}

TEST(a_pinned_process_stays_where_its_first_step_is)
{
	struct sley_config config = config_of(4);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[NR_PINNED];
	struct sley *rt;

	config.migratable = true;
	rt = start_with(&config);
	for (int i = 0; i < NR_PINNED; i++)
		sley_spawn(&group, &tasks[i], spawn_pinned, &pinned[i]);
	sley_join(&group);
	for (int round = 1; round <= 5; round++) {
		while (atomic_load(&nr_steps) < round * NR_PINNED)
			sley_yield();
		for (int i = 0; i < NR_PINNED; i++)
			CHECK_EQ(sley_send(pinned[i], 0, NULL, 0), 0);
	}
	stop(rt);
}

/* ---- misuse ------------------------------------------------------------------------------ */

static bool exit_instead(const struct sley_msg *msg, void *arg)
{
	(void)msg;
	(void)arg;
	sley_actor_exit(0);
}

static int ask_who_exits(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	CHECK_EQ(sley_send(sley_self(), 0, NULL, 0), 0);
	return sley_receive_where_until(&msg, exit_instead, NULL, in_ms(1000));
}

/* Its deadline would ring in a frame that is gone. */
TEST_ABORTS(who_is_asked_does_not_exit, "must not exit")
{
	struct sley *rt = start();
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, ask_who_exits, NULL, NULL), 0);
	while (sley_process_alive(pid))
		sley_yield();
	stop(rt);
}
