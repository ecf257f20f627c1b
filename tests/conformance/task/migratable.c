/* SPDX-License-Identifier: MIT */
/*
 * migratable.c - single tasks, algorithms and pipelines that may move, in a runtime
 * whose other tasks may not: W19, M15.
 */
#include "conformance/bound.h"

/* ---- a fiber that is woken behind a held worker -------------------------------- */

struct scene {
	struct sley_group group;
	struct sley_task task, holder;
	struct sley_event event;
	struct gate gate;
	int before, after; /* workers */
	atomic_bool resumed;
	bool wakes; /* the holder wakes the fiber, and then holds the worker */
};

static void hold(void *arg)
{
	struct scene *s = arg;

	if (s->wakes)
		sley_event_set(&s->event);
	gate_hold(&s->gate);
}

/* The caller blocks, and its worker is given to a task that holds it. */
static void block_behind(void *arg)
{
	struct scene *s = arg;

	s->before = sley_worker();
	CHECK_EQ(sley_spawn_with(&s->group, &s->holder, hold, s,
				 SLEY_OPTIONS(.pinned = true)),
		 0);
	CHECK_EQ(sley_event_wait(&s->event), 0);
	s->after = sley_worker();
	atomic_store(&s->resumed, true);
}

/* Wakes the fiber, which is blocked in block_behind(). */
static void wake(struct scene *s)
{
	CHECK_EVENTUALLY(atomic_load(&s->gate.held) == 1);
	if (!s->wakes)
		sley_event_set(&s->event);
}

static void check_moves(struct scene *s)
{
	wake(s);
	CHECK_EVENTUALLY(atomic_load(&s->resumed));
	CHECK(s->before != s->after);
	gate_open(&s->gate);
}

static void check_stays(struct scene *s)
{
	wake(s);
	test_nap_ms(30);
	CHECK(!atomic_load(&s->resumed));
	gate_open(&s->gate);
	CHECK_EVENTUALLY(atomic_load(&s->resumed));
	CHECK_EQ(s->before, s->after);
}

#define SCENE(...) { .event = SLEY_EVENT_INIT, __VA_ARGS__ }
#define ROUNDS 10

/* Some rounds of a task @fn with @options, and @check from outside. */
static void play(sley_fn *fn, const struct sley_options *options, bool wakes,
		 void (*check)(struct scene *))
{
	struct sley *rt = start();

	need_workers(2);
	for (int i = 0; i < ROUNDS; i++) {
		struct scene s = SCENE(.wakes = wakes);

		CHECK_EQ(sley_spawn_with(&s.group, &s.task, fn, &s, options),
			 0);
		check(&s);
		sley_join(&s.group);
	}
	stop(rt);
}

TEST_WORKERS(w19_a_migratable_task_does_not_wait_for_its_busy_worker)
{
	play(block_behind, SLEY_OPTIONS(.migratable = true), false,
	     check_moves);
}

TEST_WORKERS(w19_a_migratable_task_woken_by_its_own_worker_moves)
{
	play(block_behind, SLEY_OPTIONS(.migratable = true), true, check_moves);
}

TEST_WORKERS(w19_an_urgent_migratable_task_moves)
{
	play(block_behind, SLEY_OPTIONS(.migratable = true, .priority = -5),
	     false, check_moves);
}

TEST_WORKERS(w19_a_migratable_task_with_a_stack_of_its_own_moves)
{
	play(block_behind, SLEY_OPTIONS(.migratable = true, .stack_kib = 128),
	     false, check_moves);
}

TEST_WORKERS(m15_other_tasks_of_the_same_runtime_stay)
{
	play(block_behind, NULL, false, check_stays);
}

TEST_WORKERS(m15_other_tasks_stay_also_if_their_own_worker_wakes_them)
{
	play(block_behind, NULL, true, check_stays);
}

/* ---- what is inherited ------------------------------------------------------------ */

static void spawn_plainly(void *arg)
{
	struct scene *s = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, block_behind, s);
	sley_join(&group);
}

TEST_WORKERS(m15_a_task_spawned_by_a_migratable_task_stays)
{
	play(spawn_plainly, SLEY_OPTIONS(.migratable = true), false,
	     check_stays);
}

/* The child is taken by another worker: the parent holds its own until then. */
static void fork_one(void *arg)
{
	struct scene *s = arg;
	struct sley_forked child;

	sley_fork(&child, block_behind, s);
	while (!atomic_load(&s->gate.held))
		test_nap_ms(1);
	sley_fork_join(&child);
}

/* Three workers: of the parent, of the child, and one to go to. */
static void fork_and_check(bool migratable, void (*check)(struct scene *))
{
	need_workers(4);
	play(fork_one, SLEY_OPTIONS(.migratable = migratable), false, check);
}

TEST_WORKERS(w19_the_children_of_a_migratable_task_do_not_either)
{
	fork_and_check(true, check_moves);
}

TEST_WORKERS(m15_the_children_of_other_tasks_stay)
{
	fork_and_check(false, check_stays);
}

/* ---- algorithms ---------------------------------------------------------------------- */

static void block_in_piece(size_t begin, size_t end, void *arg)
{
	if (begin == 0 && end)
		block_behind(arg);
}

static void loop(struct scene *s, bool migratable)
{
	int here = sley_worker();

	CHECK_EQ(sley_for_with(0, 4, block_in_piece, s,
			       SLEY_HOW(.migratable = migratable, .grain = 1)),
		 0);
	/* A caller that may not move is where it was. */
	if (migratable)
		CHECK_EQ(sley_worker(), here);
}

static void loop_freely(void *arg)
{
	loop(arg, true);
}

static void loop_as_the_caller(void *arg)
{
	loop(arg, false);
}

TEST_WORKERS(w19_a_piece_of_a_migratable_algorithm_moves)
{
	play(loop_freely, NULL, false, check_moves);
}

TEST_WORKERS(w19_a_piece_of_a_migratable_caller_moves)
{
	play(loop_as_the_caller, SLEY_OPTIONS(.migratable = true), false,
	     check_moves);
}

TEST_WORKERS(m15_a_piece_of_another_algorithm_stays)
{
	play(loop_as_the_caller, NULL, false, check_stays);
}

/* From a bound thread, which runs no pieces. */
TEST_WORKERS(w19_a_bound_thread_may_ask_for_pieces_that_move)
{
	struct sley *rt = start();

	for (int i = 0; i < ROUNDS; i++) {
		struct scene s = SCENE(.wakes = true);

		gate_open(&s.gate);
		CHECK_EQ(
			sley_for_with(0, 4, block_in_piece, &s,
				      SLEY_HOW(.migratable = true, .grain = 1)),
			0);
		CHECK(s.resumed);
		sley_join(&s.group);
	}
	stop(rt);
}

/* ---- pipelines -------------------------------------------------------------------------- */

static int make_one(void **item, void *arg)
{
	struct scene *s = arg;

	*item = atomic_load(&s->resumed) ? NULL : s;
	return 0;
}

static int block_in_stage(void **item, void *arg)
{
	(void)arg;
	if (*item && !atomic_load(&((struct scene *)*item)->resumed))
		block_behind(*item);
	return 0;
}

static void pass(struct scene *s, bool migratable)
{
	const struct sley_stage stages[] = {
		{ .fn = make_one, .arg = s },
		{ .fn = block_in_stage },
	};

	CHECK_EQ(sley_pipeline_with(stages, 2, 1,
				    SLEY_HOW(.migratable = migratable)),
		 0);
}

static void pass_freely(void *arg)
{
	pass(arg, true);
}

static void pass_as_the_caller(void *arg)
{
	pass(arg, false);
}

TEST_WORKERS(w19_a_stage_of_a_migratable_pipeline_moves)
{
	play(pass_freely, NULL, false, check_moves);
}

TEST_WORKERS(w19_a_stage_of_a_migratable_caller_moves)
{
	play(pass_as_the_caller, SLEY_OPTIONS(.migratable = true), false,
	     check_moves);
}

TEST_WORKERS(m15_a_stage_of_another_pipeline_stays)
{
	play(pass_as_the_caller, NULL, false, check_stays);
}

static void feed_and_check(bool migratable, void (*check)(struct scene *))
{
	static const struct sley_stage stage = { .fn = block_in_stage };
	struct sley *rt = start();

	need_workers(2);
	for (int i = 0; i < ROUNDS; i++) {
		struct scene s = SCENE(.wakes = false);
		struct sley_feed *feed;

		CHECK_EQ(sley_feed_open(&feed, &stage, 1,
					SLEY_FEED_OPTIONS(.migratable =
								  migratable)),
			 0);
		CHECK_EQ(sley_feed_put(feed, &s), 0);
		check(&s);
		CHECK_EQ(sley_feed_close(feed), 0);
		sley_join(&s.group);
	}
	stop(rt);
}

TEST_WORKERS(w19_a_stage_of_a_migratable_feed_moves)
{
	feed_and_check(true, check_moves);
}

TEST_WORKERS(m15_a_stage_of_another_feed_stays)
{
	feed_and_check(false, check_stays);
}

/* ---- edges -------------------------------------------------------------------------------- */

TEST_WORKERS(a_task_is_not_pinned_and_migratable)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	atomic_int ran = 0;

	CHECK_EQ(sley_spawn_with(&group, &task, count_task, &ran,
				 SLEY_OPTIONS(.pinned = true,
					      .migratable = true)),
		 -EINVAL);
	CHECK_EQ(ran, 0);
	stop(rt);
}

/* Tasks that move and tasks that stay, on the same strands, end by a cancel. */
struct mixture {
	struct sley_chan *chan;
	struct sley_event never;
	atomic_int wrong;
};

static void go_round(struct mixture *m, bool moves)
{
	int value = 0, here = sley_worker();

	for (unsigned int i = 0;; i++) {
		int err = i % 3 ? sley_chan_send(m->chan, &value)
				: sley_sleep(i % 7 * 10000);

		if (!err && i % 3)
			err = sley_chan_recv(m->chan, &value);
		if (!moves && sley_worker() != here)
			atomic_fetch_add(&m->wrong, 1);
		if (err)
			break;
	}
	CHECK_EQ(sley_event_wait(&m->never), -ECANCELED);
}

static void go_round_freely(void *arg)
{
	go_round(arg, true);
}

static void go_round_at_home(void *arg)
{
	go_round(arg, false);
}

/* Short tasks take over the strands of others. */
static void pass_by(void *arg)
{
	(void)arg;
	(void)sley_sleep(10000);
}

TEST_WORKERS(tasks_that_move_and_tasks_that_stay_are_cancelled_together)
{
	for (int round = 0; round < test_scale(10); round++) {
		struct sley *rt = start();
		struct mixture m = { .never = SLEY_EVENT_INIT };
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task task[40];

		CHECK_EQ(sley_chan_create(&m.chan, sizeof(int), 8), 0);
		for (int i = 0; i < 40; i++)
			CHECK_EQ(
				sley_spawn_with(
					&group, &task[i],
					i % 4 == 0   ? pass_by
					: i % 4 == 1 ? go_round_at_home
						     : go_round_freely,
					&m,
					SLEY_OPTIONS(.migratable = i % 4 != 1)),
				0);
		CHECK_EQ(sley_sleep(3 * SLEY_MSEC), 0);
		sley_cancel_all(rt);
		sley_join(&group);
		CHECK_EQ(m.wrong, 0);
		sley_chan_destroy(m.chan);
		stop(rt);
	}
}
