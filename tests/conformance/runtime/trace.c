/* SPDX-License-Identifier: MIT */
/*
 * trace.c - a full trace is valid JSON and tells what happened.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "conformance/graph/graph.h"
#include "conformance/runtime/trace_file.h"

#define NR_TASKS 50

/* A runtime that traces to path. */
static struct sley *start_tracing(void)
{
	struct sley_config config;

	begin();
	config = tracing(path);
	return start_with(&config);
}

static struct sley *start_tracing_single(void)
{
	struct sley_config config;

	begin();
	config = tracing(path);
	config.workers = SLEY_SINGLE;
	return start_with(&config);
}

/* The trace is written at the end of its runtime, and read. */
static void stop_and_read(struct sley *rt)
{
	stop(rt);
	read_trace(path);
}

static atomic_int nr_waiting;

static void wait_once(void *arg)
{
	atomic_fetch_add(&nr_waiting, 1);
	CHECK_EQ(sley_event_wait(arg), 0);
}

static void yield_once(void *arg)
{
	(void)arg;
	sley_yield();
}

/* NR_TASKS that block once, NR_TASKS that yield. */
static void work(void)
{
	static struct sley_task tasks[2 * NR_TASKS];
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley_group group = SLEY_GROUP_INIT;
	const struct sley_options *named =
		SLEY_OPTIONS(.name = "say \"\\\303\244\303\244\303\244\303\244"
				     "\303\244\303\244");

	atomic_store(&nr_waiting, 0);
	for (int i = 0; i < NR_TASKS; i++) {
		CHECK_EQ(sley_spawn_with(&group, &tasks[i], wait_once, &event,
					 named),
			 0);
		sley_spawn(&group, &tasks[NR_TASKS + i], yield_once, NULL);
	}
	CHECK_SOON(atomic_load(&nr_waiting) == NR_TASKS);
	CHECK_EQ(sley_sleep(20 * SLEY_MSEC), 0);
	sley_event_set(&event);
	sley_join(&group);
}

TEST_WORKERS(a_full_trace_has_every_task_on_the_track_of_its_worker)
{
	struct sley *rt = start_tracing();

	work();
	stop_and_read(rt);
	CHECK_STR(lines, "");
	CHECK_EQ(number("tracks"), nr_runners());
	CHECK_EQ(number("done"), 2 * NR_TASKS);
	/* A task that a worker runs while the event is set may not block. */
	CHECK_GT(number("blocked"), 0);
	CHECK_GE(number("blocked"), NR_TASKS - nr_runners());
	CHECK_LE(number("blocked"), NR_TASKS);
	CHECK_EQ(number("unknown"), 0);
	CHECK_EQ(number("overlaps"), 0);
	CHECK_EQ(number("dropped"), 0);
	CHECK_EQ(number("named"), NR_TASKS + number("blocked"));
	CHECK_EQ(number("strangers"), 0);
	end();
}

static void nothing(void *arg)
{
	(void)arg;
}

TEST(what_a_full_trace_lacks_is_counted_and_reported_once)
{
	struct sley *rt = start_tracing_single();
	uint64_t dropped;

	for (int round = 0; round < 300; round++) {
		run_tasks(1000, nothing, NULL);
	}
	dropped = stats_of(rt).trace_dropped;
	CHECK_GT(dropped, 0);
	stop_and_read(rt);
	CHECK_EQ(number("dropped"), dropped);
	CHECK(strstr(lines, "overwritten") != NULL);
	CHECK(strchr(lines, '\n') == strrchr(lines, '\n'));
	/* Two events each, and the ring holds a power of two of them. */
	CHECK_EQ(2 * number("done") + number("dropped"), 600000);
	end();
}

TEST(threads_that_have_left_are_in_the_trace)
{
	struct sley_config config;
	struct sley *rt = NULL;

	begin();
	config = tracing(path);
	config.workers = SLEY_SINGLE;
	CHECK_EQ(sley_create(&rt, &config), 0);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(sley_bind(rt), 0);
		work();
		sley_unbind(rt);
	}
	CHECK_EQ(sley_destroy(rt), 0);
	read_trace(path);
	CHECK_EQ(number("done"), 6 * NR_TASKS);
	CHECK_EQ(number("tracks"), 1);
	end();
}

static void run_traced(const char *setting)
{
	struct sley_config config = tracing(setting);
	struct sley *rt = start_with(&config);

	work();
	stop(rt);
}

static void check_file(const char *name)
{
	char file[300];

	(void)snprintf(file, sizeof(file), "%s/%s", directory, name);
	read_trace(file);
	CHECK_EQ(number("done"), 2 * NR_TASKS);
	CHECK_EQ(unlink(file), 0);
}

TEST(a_second_runtime_does_not_overwrite_the_trace_of_the_first)
{
	char other[300];

	begin();
	(void)snprintf(other, sizeof(other), "%s/other", directory);
	run_traced(path);
	run_traced(other);
	run_traced(path);
	run_traced(other);
	check_file("trace.json");
	check_file("trace.2.json");
	check_file("other");
	check_file("other.2");
	end();
}

TEST(more_traces_than_are_remembered_have_files_of_their_own)
{
	struct sley_config config;
	int nr_files = 0;

	begin();
	config = tracing(path);
	config.workers = SLEY_SINGLE;
	for (int i = 1; i <= 70; i++) {
		struct sley *rt = NULL;

		CHECK_EQ(sley_create(&rt, &config), 0);
		CHECK_EQ(sley_destroy(rt), 0);
	}
	for (int i = 1; i <= 70; i++) {
		char file[300];

		(void)snprintf(file, sizeof(file), "%s/trace.%d.json",
			       directory, i);
		nr_files += unlink(file) == 0;
	}
	CHECK_EQ(nr_files, 69); /* and the first, which has no number */
	end();
}

TEST(the_environment_asks_for_a_trace_too)
{
	char setting[300];

	begin();
	(void)snprintf(setting, sizeof(setting), "full:%s", path);
	CHECK_EQ(setenv("SLEY_TRACE", setting, 1), 0);
	run_traced(NULL);
	read_trace(path);
	CHECK_EQ(number("done"), 2 * NR_TASKS);
	end();
}

TEST(a_file_that_cannot_be_created_is_reported)
{
	run_traced("/does/not/exist");
	CHECK(strstr(lines, "/does/not/exist: No such file") != NULL);
}

TEST(a_file_that_cannot_take_it_all_is_reported)
{
	run_traced("/dev/full");
	CHECK(strstr(lines, "/dev/full is incomplete: No space") != NULL);
}

TEST(without_being_asked_no_file_is_written)
{
	begin();
	CHECK_EQ(unsetenv("SLEY_TRACE"), 0);
	CHECK_EQ(chdir(directory), 0);
	run_traced(NULL);
	run_traced("");
	CHECK_STR(lines, "");
	end();
}

/* ---- M39: what the user adds ------------------------------------------------------ */

#define NR_SCOPED 20

static void step_inside(int i)
{
	SLEY_TRACE_SCOPE("inner");
	if (i % 2)
		sley_yield();
	else
		(void)sley_sleep(SLEY_USEC);
	sley_trace_instant("here");
}

/* One scope around all of it, one around each step, one left open. */
static void scoped(void *arg)
{
	sley_trace_begin("outer");
	for (int i = 0; i < 4; i++)
		step_inside(i);
	sley_trace_end();
	sley_trace_end(); /* none is open: no harm */
	sley_trace_async_end("request", (uint64_t)(uintptr_t)arg);
	sley_trace_begin("other");
}

static void spawn_scoped(void)
{
	static struct sley_task tasks[NR_SCOPED];
	struct sley_group group = SLEY_GROUP_INIT;

	for (int i = 0; i < NR_SCOPED; i++)
		sley_spawn(&group, &tasks[i], scoped, &tasks[i]);
	sley_join(&group);
}

static void begin_requests(void *arg)
{
	(void)arg;
	sley_trace_thread_name("my \"thread\"");
	for (int i = 0; i < NR_SCOPED; i++)
		sley_trace_async_begin("request", (uint64_t)i);
	for (int i = 0; i < NR_SCOPED; i++)
		sley_trace_async_end("request", (uint64_t)i);
	sley_trace_async_begin("request", 1000);
}

static void trace_scopes(bool migratable)
{
	struct sley_config config;
	struct sley *rt;

	begin();
	config = tracing(path);
	config.migratable = migratable;
	rt = start_with(&config);

	spawn_scoped();
	run_task(begin_requests, NULL);
	stop_and_read(rt);
}

static void check_scopes(void)
{
	CHECK_STR(lines, "");
	CHECK_EQ(number("stray"), 0);
	CHECK_EQ(number("crossed"), 0);
	CHECK_EQ(number("overlaps"), 0);
	CHECK_EQ(number("instants"), 4 * NR_SCOPED);
	/* Those that were left open end with their tasks. */
	CHECK_EQ(number("other"), NR_SCOPED);
	/* A step that was suspended shows in two pieces, or more. */
	CHECK_GT(number("inner"), 4 * NR_SCOPED);
	CHECK_GT(number("outer"), NR_SCOPED);
	CHECK_EQ(number("async"), 2 * NR_SCOPED);
	CHECK_EQ(number("open"), NR_SCOPED + 1);
	CHECK_EQ(number("renamed"), 1);
	end();
}

TEST_WORKERS(m39_scopes_nest_in_the_slices_of_their_task)
{
	trace_scopes(false);
	check_scopes();
}

TEST_WORKERS(m39_scopes_go_with_a_task_that_migrates)
{
	trace_scopes(true);
	check_scopes();
}

/* @fn in a task; so many of its events have no place in the trace. */
static void trace_one(sley_fn *fn, uint64_t nr_dropped)
{
	struct sley *rt = start_tracing();

	run_task(fn, NULL);
	CHECK_EQ(stats_of(rt).trace_dropped, nr_dropped);
	stop_and_read(rt);
}

/* Opened in a region, a scope shows once the task is back. */
static void scope_over_region(void *arg)
{
	sley_trace_begin("outer");
	CHECK_EQ(sley_blocking_begin(), 0);
	sley_trace_end();
	sley_trace_begin("inner");
	sley_trace_begin("other");
	sley_blocking_end();
	sley_trace_end();
	sley_trace_end();
	CHECK_EQ(sley_blocking_call(yield_once, arg), 0);
}

TEST_WORKERS(m39_scopes_go_into_a_blocking_region_and_out_again)
{
	trace_one(scope_over_region, 2);
	CHECK_EQ(number("outer"), 1);
	CHECK_EQ(number("inner"), 1);
	CHECK_EQ(number("other"), 1);
	CHECK_EQ(number("stray"), 0);
	CHECK(strstr(lines,
		     "lacks 2 events: they happened outside of a worker"));
	end();
}

static void *trace_as_bound_thread(void *arg)
{
	CHECK_EQ(sley_bind(arg), 0);
	sley_trace_begin("outer");
	sley_trace_instant("here");
	sley_trace_async_begin("request", 1);
	sley_trace_thread_name("lost");
	sley_trace_end();
	sley_unbind(arg);
	/* Nobody is there to count it. */
	sley_trace_instant("here");
	return NULL;
}

TEST(m39_threads_without_a_track_are_counted)
{
	struct sley_config config;
	struct sley_stats stats;
	struct sley *rt = NULL;

	begin();
	config = tracing(path);
	CHECK_EQ(sley_create(&rt, &config), 0);
	pthread_join(test_thread(trace_as_bound_thread, rt), NULL);
	sley_get_stats(rt, &stats);
	CHECK_EQ(stats.trace_dropped, 4);
	CHECK_EQ(sley_destroy(rt), 0);
	read_trace(path);
	CHECK_EQ(number("outer"), 0);
	CHECK_EQ(number("instants"), 0);
	end();
}

static void nest_deeply(void *arg)
{
	(void)arg;
	for (int i = 0; i < 100; i++)
		sley_trace_begin("inner");
	sley_yield();
	for (int i = 0; i < 100; i++)
		sley_trace_end();
	sley_trace_begin("outer");
	sley_trace_end();
}

TEST(m39_scopes_nested_too_deep_are_counted)
{
	trace_one(nest_deeply, 100 - 24);
	CHECK_EQ(number("stray"), 0);
	CHECK_GE(number("inner"), 24);
	CHECK_EQ(number("outer"), 1);
	end();
}

/* Bound code has a track and no slices. */
TEST(m39_bound_code_of_a_single_threaded_runtime_has_scopes_too)
{
	struct sley *rt = start_tracing_single();

	sley_trace_begin("other");
	work();
	sley_trace_end();
	sley_trace_begin("outer");
	stop_and_read(rt);
	CHECK_GE(number("other"), 2);
	CHECK_EQ(number("outer"), 1);
	CHECK_EQ(number("crossed"), 0);
	CHECK_STR(lines, "");
	end();
}

TEST_WORKERS(m39_without_a_full_trace_nothing_is_counted_or_kept)
{
	struct sley_stats stats;
	struct sley *rt = start();

	spawn_scoped();
	sley_trace_instant("here");
	sley_get_stats(rt, &stats);
	CHECK_EQ(stats.trace_dropped, 0);
	stop(rt);
}

static void scope_without_memory(void *arg)
{
	(void)arg;
	test_fail_allocation_after(0);
	sley_trace_begin("outer");
	test_fail_allocation_after(-1);
	sley_trace_end();
	sley_trace_begin("inner");
	sley_trace_end();
}

TEST(m39_a_scope_that_finds_no_memory_is_counted)
{
	trace_one(scope_without_memory, 1);
	CHECK_EQ(number("outer"), 0);
	CHECK_EQ(number("inner"), 1);
	end();
}

/* ---- S31: edges of graphs ----------------------------------------------------------- */

#define NR_WIDE 100

/* One, then many, then one; a gang; and one that is skipped. */
static void run_graph(struct sley_graph *graph)
{
	struct sley_event all = SLEY_EVENT_INIT;
	uint32_t gang = (uint32_t)nr_runners();
	sley_node wide[NR_WIDE], first, last;

	first = submit(graph, SLEY_NODE_SPEC(.fn = waits_for, .arg = &all));
	for (int i = 0; i < NR_WIDE; i++)
		wide[i] = submit(graph,
				 SLEY_NODE_SPEC(.fn = pass, .after = &first,
						.nr_after = 1));
	last = submit(graph, SLEY_NODE_SPEC(.fn = pass, .after = wide,
					    .nr_after = NR_WIDE));
	last = submit(graph, SLEY_NODE_SPEC(.fn = pass, .after = &last,
					    .nr_after = 1, .gang = gang));
	last = submit(graph, SLEY_NODE_SPEC(.fn = pass, .after = &last,
					    .nr_after = 1));
	CHECK_EQ(sley_node_cancel(graph, last), 0);
	sley_event_set(&all);
	CHECK_EQ(sley_graph_wait(graph), -ECANCELED);
	/* Nothing waits for those that have ended: no arrows. */
	(void)submit(graph, SLEY_NODE_SPEC(.fn = pass, .after = &first,
					   .nr_after = 1));
	CHECK_EQ(sley_graph_wait(graph), 0);
}

TEST_WORKERS(s31_edges_of_a_graph_are_arrows_between_slices)
{
	struct sley *rt = start_tracing();
	struct sley_graph *graph = graph_new(NULL);

	for (int round = 0; round < 3; round++)
		run_graph(graph);
	sley_graph_destroy(graph);
	stop_and_read(rt);
	CHECK_STR(lines, "");
	CHECK_EQ(number("arrows"), 3 * (2 * NR_WIDE + 2));
	CHECK_EQ(number("loose"), 0);
	CHECK_EQ(number("overlaps"), 0);
	end();
}

/* Its nodes are no tasks, so there are no slices to draw arrows to. */
TEST_WORKERS(s31_a_graph_that_is_stepped_has_no_arrows)
{
	struct sley *rt = start_tracing();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.stepped = true));
	sley_node first;

	first = submit(graph, SLEY_NODE_SPEC(.fn = pass));
	(void)submit(graph, SLEY_NODE_SPEC(.fn = pass, .after = &first,
					   .nr_after = 1));
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop_and_read(rt);
	CHECK_EQ(number("arrows") + number("loose"), 0);
	end();
}
