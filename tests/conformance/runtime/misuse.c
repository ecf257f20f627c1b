/* SPDX-License-Identifier: MIT */
/*
 * misuse.c - mistakes that used to be a silent hang, or a crash later and
 * elsewhere, are said at the call.
 */
#include "conformance/bound.h"

/* A NULL that no compiler warns of. */
static sley_fn *volatile no_fn;

#define NO_FUNCTION(call)                                                      \
	"sley: misuse in " call ": the function to be called must not be NULL"

/* ---- NULL in place of a function ------------------------------------------------------ */

static struct sley_group group;
static struct sley_task task;

TEST_ABORTS(null_spawn_aborts, NO_FUNCTION("sley_spawn"))
{
	(void)start();
	sley_spawn(&group, &task, no_fn, NULL);
}

static void spawn_null(void *arg)
{
	sley_spawn(&group, &task, no_fn, arg);
}

TEST_ABORTS(null_spawn_in_a_task_aborts, NO_FUNCTION("sley_spawn"))
{
	static struct sley_task outer;

	(void)start();
	sley_spawn(&group, &outer, spawn_null, NULL);
	sley_join(&group);
}

TEST_ABORTS(null_spawn_with_aborts, NO_FUNCTION("sley_spawn_with"))
{
	(void)start();
	CHECK_EQ(sley_spawn_with(&group, &task, no_fn, NULL, NULL), 0);
}

TEST_ABORTS(null_spawn_on_aborts, NO_FUNCTION("sley_spawn_on"))
{
	CHECK_EQ(sley_spawn_on(start(), &group, &task, no_fn, NULL, NULL), 0);
}

TEST_ABORTS(null_schedule_aborts, NO_FUNCTION("sley_schedule"))
{
	(void)start();
	CHECK_EQ(sley_schedule(no_fn, NULL), 0);
}

TEST_ABORTS(null_schedule_on_aborts, NO_FUNCTION("sley_schedule_on"))
{
	CHECK_EQ(sley_schedule_on(start(), no_fn, NULL, NULL), 0);
}

TEST_ABORTS(null_run_aborts, NO_FUNCTION("sley_run"))
{
	CHECK_EQ(sley_run(test_config(), no_fn, NULL), 0);
}

TEST_ABORTS(null_scope_spawn_aborts, NO_FUNCTION("sley_scope_spawn"))
{
	sley_job *volatile job = NULL;
	struct sley_scope scope;

	(void)start();
	sley_scope_open(&scope);
	sley_scope_spawn(&scope, &task, job, NULL);
}

TEST_ABORTS(null_blocking_call_aborts, NO_FUNCTION("sley_blocking_call"))
{
	(void)start();
	CHECK_EQ(sley_blocking_call(no_fn, NULL), 0);
}

TEST_ABORTS(null_on_call_aborts, NO_FUNCTION("sley_ticket_on_call"))
{
	static struct sley_ticket_queue queue;
	static struct sley_ticket ticket;

	(void)start();
	sley_ticket_take(&queue, &ticket);
	sley_ticket_on_call(&ticket, &group, &task, no_fn, NULL);
}

TEST_ABORTS(null_once_aborts, NO_FUNCTION("sley_once"))
{
	static struct sley_once_flag once;

	sley_once(&once, no_fn, NULL);
}

TEST_ABORTS(null_for_aborts, NO_FUNCTION("sley_for"))
{
	sley_range_fn *volatile fn = NULL;

	(void)start();
	sley_for(0, 10, fn, NULL);
}

TEST_ABORTS(null_find_any_aborts, NO_FUNCTION("sley_find_any"))
{
	sley_match_fn *volatile fn = NULL;
	size_t index;

	(void)start();
	(void)sley_find_any(0, 10, fn, NULL, &index);
}

TEST_ABORTS(null_reduce_aborts, NO_FUNCTION("sley_reduce_int64"))
{
	sley_sum_int64_fn *volatile fn = NULL;

	(void)start();
	(void)sley_reduce_int64(0, 10, fn, NULL);
}

TEST_ABORTS(null_sort_aborts, NO_FUNCTION("sley_sort"))
{
	sley_compare_fn *volatile fn = NULL;
	int numbers[2] = { 2, 1 };

	(void)start();
	sley_sort(numbers, 2, sizeof(int), fn, NULL);
}

TEST_ABORTS(null_invoke_aborts, NO_FUNCTION("sley_invoke"))
{
	struct sley_invocation calls[2] = { { no_fn, NULL }, { no_fn, NULL } };

	(void)start();
	sley_invoke(calls, 2);
}

TEST_ABORTS(null_parallelize_aborts, NO_FUNCTION("sley_parallelize"))
{
	struct sley_invocation calls[2] = { { no_fn, NULL }, { no_fn, NULL } };

	(void)start();
	CHECK_EQ(sley_parallelize(calls, 2), 0);
}

/* Where the call can fail, it does. */
TEST(null_actors_processes_and_nodes_are_refused)
{
	static const struct sley_behaviour empty = { .name = "empty" };
	sley_actor_fn *volatile fn = NULL;
	struct sley *rt = start();
	struct sley_graph *graph;
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, fn, NULL, NULL), -EINVAL);
	CHECK_EQ(sley_process_spawn(&pid, &empty, NULL, 0, NULL), -EINVAL);
	CHECK_EQ(sley_graph_create(&graph, NULL), 0);
	CHECK_EQ(sley_graph_submit(
			 graph, NULL,
			 &(struct sley_node_spec){
				 .size = sizeof(struct sley_node_spec) }),
		 -EINVAL);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- a task that waits for its own end --------------------------------------------------- */

#define OWN_GROUP "a task cannot join its own group"

static void join_own(void *arg)
{
	sley_join(arg);
}

TEST_ABORTS(join_of_the_own_group_aborts,
	    "sley: misuse in sley_join: " OWN_GROUP)
{
	(void)start();
	sley_spawn(&group, &task, join_own, &group);
	sley_join(&group);
}

static void join_own_until(void *arg)
{
	CHECK_EQ(sley_join_until(arg, in_ms(1)), -ETIMEDOUT);
}

TEST_ABORTS(join_until_of_the_own_group_aborts,
	    "sley: misuse in sley_join_until: " OWN_GROUP)
{
	(void)start();
	sley_spawn(&group, &task, join_own_until, &group);
	sley_join(&group);
}

static atomic_bool stolen;

static void join_as_child(void *arg)
{
	atomic_store(&stolen, true);
	sley_join(arg);
}

static void fork_a_joiner(void *arg)
{
	struct sley_forked child;

	sley_fork(&child, join_as_child, arg);
	while (!atomic_load(&stolen))
		test_nap_ms(1);
	sley_fork_join(&child);
}

TEST_ABORTS(join_of_the_group_of_its_parent_aborts,
	    "sley: misuse in sley_join: " OWN_GROUP)
{
	(void)start();
	sley_spawn(&group, &task, fork_a_joiner, &group);
	sley_join(&group);
}

static void join_another(void *arg)
{
	struct sley_group other = SLEY_GROUP_INIT;
	struct sley_task counter;

	sley_spawn(&other, &counter, count_task, arg);
	sley_join(&other);
}

TEST_WORKERS(join_of_another_group_is_what_it_was)
{
	struct sley_group own = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sley_task tasks[8];
	atomic_int count = 0;

	for (int i = 0; i < 8; i++)
		sley_spawn(&own, &tasks[i], join_another, &count);
	sley_join(&own);
	CHECK_EQ(count, 8);
	stop(rt);
}

/* ---- a channel that is gone -------------------------------------------------------------- */

#define CHANNEL_GONE "the channel was destroyed before"

static struct sley_chan *destroyed_channel(void)
{
	struct sley_chan *chan = NULL;

	/* The sanitizer stops at the same place, with words of its own. */
	if (test_sanitizer())
		test_skip("reads memory that was given back");
	CHECK_EQ(sley_chan_create(&chan, sizeof(int), 1), 0);
	sley_chan_destroy(chan);
	return chan;
}

TEST_ABORTS(chan_send_after_destroy_aborts, CHANNEL_GONE)
{
	int value = 1;

	CHECK_EQ(sley_chan_send(destroyed_channel(), &value), 0);
}

TEST_ABORTS(chan_recv_after_destroy_aborts,
	    "sley: misuse in sley_chan_recv_until: " CHANNEL_GONE)
{
	int value;

	CHECK_EQ(sley_chan_recv(destroyed_channel(), &value), 0);
}

TEST_ABORTS(chan_close_after_destroy_aborts,
	    "sley: misuse in sley_chan_close: " CHANNEL_GONE)
{
	sley_chan_close(destroyed_channel());
}

TEST_ABORTS(chan_destroy_after_destroy_aborts,
	    "sley: misuse in sley_chan_destroy: " CHANNEL_GONE)
{
	sley_chan_destroy(destroyed_channel());
}
