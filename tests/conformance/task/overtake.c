/* SPDX-License-Identifier: MIT */
/*
 * overtake.c - one priority order over all models: a more urgent task goes before the
 * rest of a computation that forks and joins, before a loop, before the turns of
 * processes and before the nodes of a graph.
 *
 * Each computation goes on until the urgent task has run.  So a runtime in which the
 * urgent task has to wait for the end of the computation never ends.
 */
#include "conformance/bound.h"

enum { URGENT = SLEY_PRIORITY_MIN, LOW = SLEY_PRIORITY_MAX };

static atomic_bool overtaken;

static void overtake(void *arg)
{
	(void)arg;
	atomic_store(&overtaken, true);
}

static void overtake_nothing(void *arg)
{
	(void)arg;
}

static bool is_over(void)
{
	return atomic_load_explicit(&overtaken, memory_order_relaxed);
}

/* ---- computations ------------------------------------------------------------------ */

static void fork_down(void *arg)
{
	unsigned int *depth = arg, left = *depth - 1, right = *depth - 1;
	struct sley_forked child;

	if (!*depth)
		return;
	sley_fork(&child, fork_down, &left);
	fork_down(&right);
	sley_fork_join(&child);
}

/* Holds the worker until all workers are here. */
static void begin(atomic_int *begun)
{
	atomic_fetch_add(begun, 1);
	while (atomic_load(begun) < nr_runners())
		test_nap_ms(1);
}

static void fork_until_over(void)
{
	while (!is_over())
		fork_down(&(unsigned int){ 6 });
}

static void fork_on(void *arg)
{
	begin(arg);
	fork_until_over();
}

static void add_nothing(size_t begin, size_t end, void *arg)
{
	(void)begin;
	(void)end;
	(void)arg;
}

static void loop_on(void *arg)
{
	begin(arg);
	while (!is_over())
		CHECK_EQ(sley_for_with(0, 4096, add_nothing, NULL,
				       SLEY_HOW(.grain = 1)),
			 0);
}

/* ---- by a plain thread ---------------------------------------------------------------- */

/* All workers compute, with @options, when this thread, which is no worker, submits. */
static void check_submitted(sley_fn *compute,
			    const struct sley_options *options, int urgency)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task computing[64], task;
	atomic_int begun = 0;

	for (int i = 0; i < nr_runners(); i++)
		CHECK_EQ(sley_spawn_with(&group, &computing[i], compute, &begun,
					 options),
			 0);
	while (atomic_load(&begun) < nr_runners())
		test_nap_ms(1);
	CHECK_EQ(sley_spawn_with(&group, &task, overtake, NULL,
				 SLEY_OPTIONS(.priority = urgency)),
		 0);
	sley_join(&group);
	stop(rt);
}

/* The bound thread of a single-threaded runtime would run the computation itself. */
#define SUBMITTED(name, ...)                                                   \
	TEST_WORKERS(name)                                                     \
	{                                                                      \
		if (!is_single())                                              \
			check_submitted(__VA_ARGS__);                          \
	}

SUBMITTED(overtake_an_urgent_task_goes_before_forks, fork_on, NULL, URGENT)
SUBMITTED(overtake_an_urgent_task_goes_before_a_loop, loop_on, NULL, URGENT)
SUBMITTED(overtake_one_step_is_enough, fork_on, NULL, -1)
SUBMITTED(overtake_forks_of_a_low_task_let_the_default_pass, fork_on,
	  SLEY_OPTIONS(.priority = LOW), 0)
SUBMITTED(overtake_forks_of_an_urgent_task_let_a_more_urgent_pass, fork_on,
	  SLEY_OPTIONS(.priority = URGENT + 1), URGENT)

/* ---- by the computation itself ----------------------------------------------------------- */

struct play {
	struct sley_group group;
	struct sley_task root, urgent, other[100];
	struct sley_event event;
	int nr_others; /* that have run */
	int urgency;   /* of the task that overtakes a low task */
};

static void wait_and_overtake(void *arg)
{
	struct play *play = arg;

	CHECK_EQ(sley_event_wait(&play->event), 0);
	overtake(NULL);
}

static void be_another(void *arg)
{
	struct play *play = arg;

	play->nr_others++;
}

static void spawn_and_fork(void *arg)
{
	struct play *play = arg;

	CHECK_EQ(sley_spawn_with(&play->group, &play->urgent, overtake, NULL,
				 SLEY_OPTIONS(.priority = URGENT)),
		 0);
	CHECK(!is_over());
	fork_until_over();
}

/* The urgent task may run on this worker only, and has a stack there. */
static void wake_and_fork(void *arg)
{
	struct play *play = arg;

	CHECK_EQ(sley_spawn_with(&play->group, &play->urgent, wait_and_overtake,
				 play, SLEY_OPTIONS(.priority = URGENT)),
		 0);
	sley_yield();
	fork_down(&(unsigned int){ 6 });
	CHECK(!is_over());
	sley_event_set(&play->event);
	fork_until_over();
}

static void spawn_others(struct play *play)
{
	for (size_t i = 0; i < ARRAY_SIZE(play->other); i++)
		sley_spawn(&play->group, &play->other[i], be_another, play);
}

/* Tasks of the same priority are not let pass: not at a fork, nor after one. */
static void spawn_all_and_fork(void *arg)
{
	struct play *play = arg;

	spawn_others(play);
	fork_down(&(unsigned int){ 6 });
	CHECK_EQ(play->nr_others, 0);
	spawn_and_fork(play);
	CHECK_EQ(play->nr_others, 0);
}

static void check_alone(sley_fn *root, int workers)
{
	struct sley_config config = config_of(workers);
	struct sley *rt = start_with(&config);
	static struct play play;

	play = (struct play){ .nr_others = 0 };
	sley_spawn(&play.group, &play.root, root, &play);
	sley_join(&play.group);
	CHECK(is_over());
	stop(rt);
}

#define ALONE(name, root)                                                      \
	TEST(name)                                                             \
	{                                                                      \
		check_alone(root, 1);                                          \
	}                                                                      \
	TEST(name##_single_threaded)                                           \
	{                                                                      \
		check_alone(root, SLEY_SINGLE);                                \
	}

/* A join in another order takes the slow road, too, and must not forget the ask. */
static void join_in_order_of_forks(void)
{
	struct sley_forked first, second;

	sley_fork(&first, overtake_nothing, NULL);
	sley_fork(&second, overtake_nothing, NULL);
	sley_fork_join(&first);
	sley_fork_join(&second);
}

static void spawn_and_join_in_order(void *arg)
{
	struct play *play = arg;

	fork_down(&(unsigned int){ 6 });
	CHECK_EQ(sley_spawn_with(&play->group, &play->urgent, overtake, NULL,
				 SLEY_OPTIONS(.priority = URGENT)),
		 0);
	join_in_order_of_forks();
	fork_until_over();
}

/* A low task begins on the strand of a task that forked fast. */
static void fork_low(void *arg)
{
	struct play *play = arg;

	CHECK_EQ(sley_spawn_with(&play->group, &play->urgent, overtake, NULL,
				 SLEY_OPTIONS(.priority = play->urgency)),
		 0);
	fork_until_over();
}

static void fork_and_leave(void *arg)
{
	struct play *play = arg;

	CHECK_EQ(sley_spawn_with(&play->group, &play->other[0], fork_low, play,
				 SLEY_OPTIONS(.priority = LOW)),
		 0);
	fork_down(&(unsigned int){ 6 });
}

static void fork_and_leave_to_less_low(void *arg)
{
	struct play *play = arg;

	play->urgency = LOW - 1;
	fork_and_leave(play);
}

ALONE(overtake_a_join_in_another_order_forgets_no_ask, spawn_and_join_in_order)
ALONE(overtake_a_low_task_gives_way_on_a_strand_that_forked, fork_and_leave)
ALONE(overtake_a_low_task_gives_way_to_a_less_low_task,
      fork_and_leave_to_less_low)
ALONE(overtake_a_spawned_task_goes_before_the_next_forks, spawn_and_fork)
ALONE(overtake_a_woken_task_goes_before_the_next_forks, wake_and_fork)
ALONE(overtake_the_others_of_its_level_wait, spawn_all_and_fork)

/* ---- other models ---------------------------------------------------------------------- */

/* A process with one turn after the other. */
static enum sley_step turn(void *self, struct sley_msg *const *msg, size_t nr,
			   struct sley_out *out)
{
	(void)self;
	(void)msg;
	(void)nr;
	return is_over() ? sley_out_done(out, 0) : SLEY_CONTINUE;
}

static void keep_processes_busy(void *arg)
{
	static const struct sley_behaviour turning = { .step = turn };
	atomic_int *begun = arg;

	for (int i = 0; i < 8; i++)
		CHECK_EQ(sley_process_spawn(NULL, &turning, NULL, 0, NULL), 0);
	atomic_fetch_add(begun, 1);
}

static int do_nothing(void *arg)
{
	(void)arg;
	return 0;
}

static void keep_graph_busy(void *arg)
{
	struct sley_graph *graph;
	atomic_int *begun = arg;

	CHECK_EQ(sley_graph_create(&graph, NULL), 0);
	atomic_fetch_add(begun, 1);
	while (!is_over()) {
		for (int i = 0; i < 1000; i++)
			CHECK_EQ(sley_graph_add(graph, do_nothing, NULL), 0);
		CHECK_EQ(sley_graph_wait(graph), 0);
	}
	sley_graph_destroy(graph);
}

SUBMITTED(overtake_an_urgent_task_goes_before_turns_of_processes,
	  keep_processes_busy, NULL, URGENT)
SUBMITTED(overtake_an_urgent_task_goes_before_nodes_of_a_graph, keep_graph_busy,
	  NULL, URGENT)
