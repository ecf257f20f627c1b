/* SPDX-License-Identifier: MIT */
/*
 * graph_dump.c - pictures of graphs: S31.
 */
#include "conformance/graph/graph_dump.h"

/* Colours, as the library has them. */
#define WAITING "#f4f5f7"
#define READY "#e3effd"
#define RUNNING "#fff1c9"
#define DONE "#ddf3e4"
#define FAILED "#ffd9d9"
#define SKIPPED "#f3e8f7"
#define POISONED "color=\"#d11a2a\""
#define BOLD "penwidth=2.5"
#define DASHED "style=dashed"

/* ---- nodes ------------------------------------------------------------------------------ */

static int find_nothing(void *arg)
{
	(void)arg;
	return -ENOENT;
}

static struct sley_graph *drawn(void)
{
	return graph_new(SLEY_GRAPH_OPTIONS(.picture = true));
}

TEST_WORKERS(s31_a_picture_has_each_node_and_what_it_depends_on)
{
	struct sley *rt = start();
	struct sley_graph *graph = drawn();
	sley_node a = submit(graph, SLEY_NODE_SPEC(.fn = pass, .name = "a"));
	sley_node b = submit(graph, SLEY_NODE_SPEC(.fn = pass, .name = "b",
						   .after = &a, .nr_after = 1));
	sley_node c = submit(graph, SLEY_NODE_SPEC(.fn = pass, .name = "c",
						   .order = &a, .nr_order = 1));

	(void)submit(graph,
		     SLEY_NODE_SPEC(.fn = pass,
				    .after = (sley_node[]){ b, c, b },
				    .nr_after = 3, .order = &c, .nr_order = 1));
	CHECK_EQ(sley_graph_wait(graph), 0);
	check_dump(graph);
	CHECK(strstr(text, "4 nodes, 4 edges") != NULL);
	CHECK_EQ(count(" -> "), 4);
	CHECK(line_has("n0 [label=\"a\\n", DONE));
	CHECK(line_has("n1 [label=\"b\\n", DONE));
	CHECK(line_has("n3 [", DONE));
	CHECK(line("n0 -> n1 ") && !line_has("n0 -> n1 ", DASHED));
	CHECK(line_has("n0 -> n2 ", DASHED));
	CHECK(line("n1 -> n3 ") && !line_has("n1 -> n3 ", DASHED));
	CHECK(line("n2 -> n3 ") && !line_has("n2 -> n3 ", DASHED));
	check_json_dump(graph);
	CHECK_EQ(count("{\"id\":"), 4);
	CHECK_EQ(count("{\"from\":"), 4);
	CHECK(json_node_has(0, "\"name\":\"a\",\"state\":\"done\""));
	CHECK(json_node_has(1, "\"name\":\"b\",\"state\":\"done\""));
	CHECK(json_node_has(3, "\"state\":\"done\",\"depth\":0,"));
	CHECK(json_edge_is(0, 1, "need") && json_edge_is(0, 2, "order"));
	CHECK(json_edge_is(1, 3, "need") && json_edge_is(2, 3, "need"));
	sley_graph_destroy(graph);
	stop(rt);
}

static void await_end(struct sley_graph *graph, sley_node id)
{
	while (sley_node_outcome(graph, id, NULL) == SLEY_OUTCOME_NONE)
		(void)sley_sleep(SLEY_MSEC / 10);
}

TEST_WORKERS(s31_edges_from_nodes_that_are_gone_are_drawn)
{
	struct sley *rt = start();
	struct sley_graph *graph = drawn();
	sley_node id = SLEY_NO_NODE, first = SLEY_NO_NODE;
	char name[32];
	int shared = 0;

	/* Their places are taken again and again. */
	for (int i = 0; i < 20; i++) {
		struct sley_access use = SLEY_INOUT(shared);

		id = submit(graph, SLEY_NODE_SPEC(.fn = pass, .access = &use,
						  .nr_access = 1));
		if (!i)
			first = id;
		await_end(graph, id);
	}
	(void)submit(graph, SLEY_NODE_SPEC(.fn = pass, .after = &first,
					   .nr_after = 1));
	CHECK_EQ(sley_graph_wait(graph), 0);
	check_dump(graph);
	CHECK_EQ(count(" -> "), 20);
	for (int i = 1; i < 20; i++) {
		(void)snprintf(name, sizeof(name), "n%d -> n%d ", i - 1, i);
		CHECK(line(name) != NULL);
	}
	CHECK(line("n0 -> n20 ") != NULL);
	sley_graph_destroy(graph);
	stop(rt);
}

/* Nobody would wait for them any more, and what they wrote would be forgotten. */
TEST_WORKERS(s31_what_those_that_are_gone_have_written_is_not_forgotten)
{
	static int cell[1000];
	struct sley *rt = start();
	struct sley_graph *graph = drawn();
	struct sley_access all[ARRAY_SIZE(cell)];

	for (size_t i = 0; i < ARRAY_SIZE(cell); i++) {
		struct sley_access use = SLEY_OUT(cell[i]);
		sley_node id =
			submit(graph, SLEY_NODE_SPEC(.fn = pass, .access = &use,
						     .nr_access = 1));

		all[i] = SLEY_IN(cell[i]);
		if (i % 50 == 0)
			await_end(graph, id);
	}
	(void)submit(graph, SLEY_NODE_SPEC(.fn = pass, .access = all,
					   .nr_access = ARRAY_SIZE(all)));
	CHECK_EQ(sley_graph_wait(graph), 0);
	dump(graph, SLEY_GRAPH_DUMP_DOT);
	CHECK_EQ(count(" -> "), ARRAY_SIZE(cell));
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s31_what_failed_and_what_it_took_along_is_marked)
{
	struct sley *rt = start();
	struct sley_graph *graph = drawn();
	sley_node a = submit(graph, SLEY_NODE_SPEC(.fn = pass));
	sley_node b = submit(graph, SLEY_NODE_SPEC(.fn = find_nothing,
						   .after = &a, .nr_after = 1));
	sley_node c = submit(graph, SLEY_NODE_SPEC(.fn = pass, .after = &b,
						   .nr_after = 1));

	(void)submit(graph,
		     SLEY_NODE_SPEC(.fn = pass, .after = (sley_node[]){ a, c },
				    .nr_after = 2));
	(void)submit(graph,
		     SLEY_NODE_SPEC(.fn = pass, .order = &b, .nr_order = 1));
	(void)submit(graph,
		     SLEY_NODE_SPEC(.fn = pass, .after = &c, .nr_after = 1,
				    .order = &b, .nr_order = 1));
	CHECK_EQ(sley_graph_wait(graph), -ENOENT);
	check_dump(graph);
	CHECK(line_has("n0 [", DONE));
	CHECK(line_has("n1 [", FAILED));
	CHECK(line_has("n1 [", "No such file"));
	CHECK(line_has("n2 [", SKIPPED));
	CHECK(line_has("n3 [", SKIPPED));
	CHECK(line_has("n4 [", DONE));
	CHECK(!line_has("n0 -> n1 ", POISONED));
	CHECK(line_has("n1 -> n2 ", POISONED));
	CHECK(line_has("n2 -> n3 ", POISONED));
	CHECK(!line_has("n0 -> n3 ", POISONED));
	CHECK(line("n1 -> n4 ") && !line_has("n1 -> n4 ", POISONED));
	CHECK(line("n1 -> n5 ") && !line_has("n1 -> n5 ", POISONED));
	CHECK(line_has("n2 -> n5 ", POISONED));
	check_json_dump(graph);
	CHECK(json_node_has(0, "\"state\":\"done\""));
	CHECK(json_node_has(0, "\"code\":0,\"error\":null}"));
	CHECK(json_node_has(1, "\"state\":\"failed\""));
	CHECK(json_node_has(1, "\"code\":-2,\"error\":\"No such file"));
	CHECK(json_node_has(2, "\"state\":\"skipped\""));
	CHECK(json_node_has(3, "\"state\":\"skipped\""));
	CHECK(json_node_has(3, "\"start_ns\":null,\"end_ns\":null"));
	CHECK(json_node_has(4, "\"state\":\"done\""));
	CHECK(json_edge_is(0, 1, "need") && json_edge_is(1, 2, "failure"));
	CHECK(json_edge_is(2, 3, "failure") && json_edge_is(0, 3, "need"));
	CHECK(json_edge_is(1, 4, "order") && json_edge_is(1, 5, "order"));
	CHECK(json_edge_is(2, 5, "failure"));
	sley_graph_destroy(graph);
	stop(rt);
}

struct meeting {
	atomic_bool came;
	struct sley_event go;
};

static int meet(void *arg)
{
	struct meeting *meeting = arg;

	atomic_store(&meeting->came, true);
	CHECK_EQ(sley_event_wait(&meeting->go), 0);
	return 0;
}

static void await_meeting(struct meeting *meeting)
{
	while (!atomic_load(&meeting->came))
		(void)sley_sleep(SLEY_MSEC / 10);
}

TEST_WORKERS(s31_a_picture_of_a_graph_that_runs_says_so)
{
	struct sley *rt = start();
	struct sley_graph *graph = drawn();
	struct meeting meeting = { .go = SLEY_EVENT_INIT };
	sley_node a = submit(graph, SLEY_NODE_SPEC(.fn = pass));
	sley_node b = submit(graph, SLEY_NODE_SPEC(.fn = meet, .arg = &meeting,
						   .after = &a, .nr_after = 1));

	(void)submit(graph,
		     SLEY_NODE_SPEC(.fn = pass, .after = &b, .nr_after = 1));
	await_meeting(&meeting);
	check_dump(graph);
	CHECK(line_has("n0 [", DONE));
	CHECK(line_has("n1 [", RUNNING));
	CHECK(line_has("n2 [", WAITING));
	check_json_dump(graph);
	CHECK(json_node_has(0, "\"state\":\"done\""));
	CHECK(json_node_has(1, "\"state\":\"running\""));
	CHECK(json_node_has(1, "\"end_ns\":null,\"worker\":null"));
	CHECK(!json_node_has(1, "\"start_ns\":null"));
	CHECK(json_node_has(2, "\"state\":\"waiting\""));
	CHECK(json_node_has(2, "\"start_ns\":null"));
	sley_event_set(&meeting.go);
	CHECK_EQ(sley_graph_wait(graph), 0);
	check_dump(graph);
	CHECK_EQ(count(DONE), 3);
	sley_graph_destroy(graph);
	stop(rt);
}

static int wait_at_gate(void *arg)
{
	gate_hold(arg);
	return 0;
}

TEST(s31_a_node_that_misses_nobody_and_has_no_worker_is_ready)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	struct sley_graph *graph = drawn();
	struct gate gate = { 0 };
	sley_node a;

	(void)submit(graph, SLEY_NODE_SPEC(.fn = wait_at_gate, .arg = &gate));
	CHECK_EVENTUALLY(atomic_load(&gate.held) == 1);
	a = submit(graph, SLEY_NODE_SPEC(.fn = pass));
	(void)submit(graph,
		     SLEY_NODE_SPEC(.fn = pass, .after = &a, .nr_after = 1));
	check_dump(graph);
	CHECK(line_has("n0 [", RUNNING));
	CHECK(line_has("n1 [", READY));
	CHECK(line_has("n2 [", WAITING));
	check_json_dump(graph);
	CHECK(json_node_has(0, "\"state\":\"running\""));
	CHECK(json_node_has(1, "\"state\":\"ready\""));
	CHECK(json_node_has(2, "\"state\":\"waiting\""));
	gate_open(&gate);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

static int nap(void *arg)
{
	(void)arg;
	return sley_sleep(800 * SLEY_MSEC);
}

TEST(s31_the_chain_that_took_longest_is_bold)
{
	struct sley *rt = start();
	struct sley_graph *graph = drawn();
	sley_node a = submit(graph, SLEY_NODE_SPEC(.fn = pass));
	sley_node b = submit(graph, SLEY_NODE_SPEC(.fn = pass, .after = &a,
						   .nr_after = 1));
	sley_node c = submit(graph, SLEY_NODE_SPEC(.fn = nap, .after = &a,
						   .nr_after = 1));

	(void)submit(graph,
		     SLEY_NODE_SPEC(.fn = pass, .after = (sley_node[]){ b, c },
				    .nr_after = 2));
	CHECK_EQ(sley_graph_wait(graph), 0);
	check_dump(graph);
	CHECK(line_has("n2 [", BOLD));
	CHECK(line_has("n0 -> n2 ", BOLD));
	CHECK(line_has("n2 -> n3 ", BOLD));
	CHECK(line("n1 [") && !line_has("n1 [", BOLD));
	CHECK(line("n0 -> n1 ") && !line_has("n0 -> n1 ", BOLD));
	CHECK(line("n1 -> n3 ") && !line_has("n1 -> n3 ", BOLD));
	CHECK(strstr(text, "critical path ") != NULL);
	check_json_dump(graph);
	CHECK(!json_is_critical(1) && json_is_critical(2));
	CHECK_GE(json_time(2, "end_ns") - json_time(2, "start_ns"),
		 (long)(800 * SLEY_MSEC));
	CHECK_GE(json_time(3, "start_ns"), json_time(2, "end_ns"));
	CHECK_EQ(json_time(0, "start_ns"), 0);
	CHECK(json_time(2, "worker") >= 0);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- its bounds --------------------------------------------------------------------------- */

TEST_WORKERS(s31_what_a_picture_has_no_room_for_is_counted)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(
		SLEY_GRAPH_OPTIONS(.picture = true, .max_picture = 4));
	sley_node last = SLEY_NO_NODE;

	for (int i = 0; i < 10; i++)
		last = submit(graph, SLEY_NODE_SPEC(.fn = pass, .after = &last,
						    .nr_after = 1));
	CHECK_EQ(sley_graph_wait(graph), 0);
	check_dump(graph);
	CHECK_EQ(count(" -> "), 3);
	CHECK_EQ(count(" [label="), 4);
	CHECK(strstr(text, "6 more nodes left out") != NULL);
	check_json_dump(graph);
	CHECK_EQ(count("{\"id\":"), 4);
	CHECK_EQ(count("{\"from\":"), 3);
	CHECK(strstr(text, "\n\"nodes_left_out\":6,\n") != NULL);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST(s31_edges_that_a_picture_has_no_room_for_are_counted)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(
		SLEY_GRAPH_OPTIONS(.picture = true, .max_picture = 40));
	sley_node all[40];

	/* 780 edges, and room for eight each. */
	for (uint32_t i = 0; i < 40; i++)
		all[i] = submit(graph, SLEY_NODE_SPEC(.fn = pass, .after = all,
						      .nr_after = i));
	CHECK_EQ(sley_graph_wait(graph), 0);
	check_dump(graph);
	CHECK_EQ(count(" -> "), 320);
	CHECK(strstr(text, "460 more edges left out") != NULL);
	check_json_dump(graph);
	CHECK_EQ(count("{\"from\":"), 320);
	CHECK(strstr(text, "\n\"edges_left_out\":460,\n") != NULL);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s31_a_picture_begins_anew_with_the_first_node_after_a_wait)
{
	struct sley *rt = start();
	struct sley_graph *graph = drawn();
	sley_node a;

	check_dump(graph);
	CHECK(strstr(text, "0 nodes, 0 edges") != NULL);
	a = submit(graph, SLEY_NODE_SPEC(.fn = pass, .name = "old"));
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	check_dump(graph);
	CHECK(strstr(text, "old") != NULL);
	(void)submit(graph, SLEY_NODE_SPEC(.fn = pass, .name = "new",
					   .after = &a, .nr_after = 1));
	(void)submit(graph, SLEY_NODE_SPEC(.fn = pass, .name = "new"));
	CHECK_EQ(sley_graph_wait(graph), 0);
	check_dump(graph);
	CHECK(strstr(text, "old") == NULL);
	CHECK(strstr(text, "2 nodes, 0 edges") != NULL);
	CHECK_EQ(count(DONE), 2);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s31_without_a_picture_there_is_no_memory_for_it)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	atomic_int done = 0;
	size_t before, after;

	for (int i = 0; i < 10; i++)
		(void)counts(graph, &done, NULL, 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	before = test_allocated();
	CHECK_EQ(sley_graph_dump(graph, SLEY_GRAPH_DUMP_DOT, take_text, NULL),
		 -EINVAL);
	for (int i = 0; i < 10; i++)
		(void)counts(graph, &done, NULL, 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	after = test_allocated();
	CHECK_EQ(after, before);
	sley_graph_destroy(graph);
	before = test_allocated();
	graph = drawn();
	CHECK_GT(test_allocated(), before + 4096 * sizeof(void *));
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- what is refused -------------------------------------------------------------------- */

static int nr_calls;

static int refuse(void *arg, const char *piece, size_t size)
{
	(void)arg;
	(void)piece;
	(void)size;
	nr_calls++;
	return -EPIPE;
}

TEST_WORKERS(s31_an_error_of_who_takes_the_text_ends_it)
{
	struct sley *rt = start();
	struct sley_graph *graph = drawn();

	for (int i = 0; i < 500; i++)
		(void)submit(graph, SLEY_NODE_SPEC(.fn = pass));
	for (int format = SLEY_GRAPH_DUMP_DOT; format <= SLEY_GRAPH_DUMP_JSON;
	     format++) {
		nr_calls = 0;
		CHECK_EQ(sley_graph_dump(graph, format, refuse, NULL), -EPIPE);
		CHECK_EQ(nr_calls, 1);
	}
	CHECK_EQ(sley_graph_dump(graph, 2, refuse, NULL), -EINVAL);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST(s31_a_picture_that_is_too_large_is_refused)
{
	struct sley *rt = start();
	struct sley_graph *graph = NULL;

	CHECK_EQ(sley_graph_create(&graph,
				   SLEY_GRAPH_OPTIONS(.picture = true,
						      .max_picture =
							      (1u << 20) + 1)),
		 -EINVAL);
	CHECK(graph == NULL);
	stop(rt);
}

/* The n-th allocation fails: all are tried. */
TEST(s31_a_picture_without_memory_leaves_nothing_behind)
{
	struct sley *rt = start();
	struct sley_graph *graph = drawn();
	int64_t before = test_allocated();
	int n, err = -ENOMEM;

	for (n = 0; err; n++) {
		struct sley_graph *other = NULL;

		CHECK_LT(n, 20);
		test_fail_allocation_after(n);
		err = sley_graph_create(&other,
					SLEY_GRAPH_OPTIONS(.picture = true));
		test_fail_allocation_after(-1);
		CHECK(err == 0 || err == -ENOMEM);
		CHECK(err == 0 || other == NULL);
		sley_graph_destroy(other);
		CHECK_EQ(test_allocated(), before);
	}
	CHECK_GT(n, 2); /* some have failed */
	(void)submit(graph, SLEY_NODE_SPEC(.fn = pass));
	CHECK_EQ(sley_graph_wait(graph), 0);
	before = test_allocated();
	err = -ENOMEM;
	for (n = 0; err; n++) {
		CHECK_LT(n, 20);
		length = 0;
		test_fail_allocation_after(n);
		err = sley_graph_dump(graph, SLEY_GRAPH_DUMP_JSON, take_text,
				      NULL);
		test_fail_allocation_after(-1);
		CHECK(err == 0 || err == -ENOMEM);
		CHECK(err == 0 || length == 0);
		CHECK_EQ(test_allocated(), before);
	}
	CHECK_GT(n, 1); /* the first has failed */
	check_json();
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- text ---------------------------------------------------------------------------------- */

TEST(s31_names_are_text_whatever_they_are)
{
	static char long_name[1000];
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.picture = true,
					     .name = "a \"<graph>\" & \\more"));

	memset(long_name, 'x', sizeof(long_name) - 1);
	(void)submit(graph,
		     SLEY_NODE_SPEC(.fn = pass,
				    .name = "<a href=\"\">&amp;\\n</a>"));
	(void)submit(graph,
		     SLEY_NODE_SPEC(.fn = pass,
				    .name = "\001\037\177\n\t\200\377\303("));
	(void)submit(graph, SLEY_NODE_SPEC(.fn = pass,
					   .name = "\357\277\277\355\240\200"));
	(void)submit(graph, SLEY_NODE_SPEC(.fn = pass,
					   .name = "\303\244\342\202\254"));
	(void)submit(graph, SLEY_NODE_SPEC(.fn = pass, .name = ""));
	(void)submit(graph, SLEY_NODE_SPEC(.fn = pass, .name = long_name));
	(void)submit(graph, SLEY_NODE_SPEC(.fn = pass));
	CHECK_EQ(sley_graph_wait(graph), 0);
	check_dump(graph);
	CHECK(line_has("n0 [", "<a href=\\\"\\\">&amp;amp;\\\\n</a>\\n"));
	CHECK(line_has("n1 [", "\"????\?\?\?\?(\\n"));
	CHECK(line_has("n2 [", "\"\?\?\?\?\\n"));
	CHECK(line_has("n3 [", "\"\303\244\342\202\254\\n"));
	CHECK(line_has("n5 [", "xxxx\\n"));
	check_json_dump(graph);
	CHECK(strstr(text, "\n\"name\":\"a \\\"<graph>\\\" & \\\\more\",\n"));
	CHECK(json_node_has(0, ":\"<a href=\\\"\\\">&amp;\\\\n</a>\","));
	CHECK(json_node_has(1, ":\"\\u0001\\u001f\\u007f\\u000a\\u0009"
			       "\\ufffd\\ufffd\\ufffd(\","));
	CHECK(json_node_has(2, ":\"\357\277\277\\ufffd\\ufffd\\ufffd\","));
	CHECK(json_node_has(3, ":\"\303\244\342\202\254\","));
	CHECK(json_node_has(4, "\"name\":\"\","));
	CHECK(json_node_has(5, long_name));
	CHECK(!json_node_has(6, "\"name\":\"\""));
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- while it runs --------------------------------------------------------------------------- */

static void dump_often(void *arg)
{
	for (int i = 0; i < 20; i++) {
		check_dump(arg);
		sley_yield();
	}
}

TEST_WORKERS(s31_a_graph_is_drawn_while_it_is_built_and_runs)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(
		SLEY_GRAPH_OPTIONS(.picture = true, .max_picture = 100));
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task artist;
	atomic_int done = 0;
	int nr = 0;

	sley_spawn(&group, &artist, dump_often, graph);
	for (int round = 0; round < test_scale(20); round++) {
		sley_node last[3] = { SLEY_NO_NODE };

		for (int i = 0; i < 150; i++, nr++)
			last[i % 3] = counts(graph, &done, last, 3);
		CHECK_EQ(sley_graph_wait(graph), 0);
		sley_yield();
	}
	sley_join(&group);
	check_dump(graph);
	CHECK_EQ(count(DONE), 100);
	CHECK_EQ(done, nr);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s31_a_gang_is_one_node_of_the_picture)
{
	struct sley *rt = start();
	struct sley_graph *graph = drawn();
	sley_node a =
		submit(graph, SLEY_NODE_SPEC(.fn = pass,
					     .gang = (uint32_t)nr_runners()));

	(void)submit(graph,
		     SLEY_NODE_SPEC(.fn = pass, .after = &a, .nr_after = 1));
	CHECK_EQ(sley_graph_wait(graph), 0);
	check_dump(graph);
	CHECK_EQ(count(" [label="), 2);
	CHECK_EQ(count(DONE), 2);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s31_a_graph_that_is_stepped_is_drawn_step_by_step)
{
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.picture = true, .stepped = true));
	sley_node a = submit(graph, SLEY_NODE_SPEC(.fn = pass));

	(void)submit(graph,
		     SLEY_NODE_SPEC(.fn = pass, .after = &a, .nr_after = 1));
	check_dump(graph);
	CHECK(line_has("n0 [", READY));
	CHECK(line_has("n1 [", WAITING));
	CHECK_EQ(sley_graph_step(graph), 1);
	check_dump(graph);
	CHECK(line_has("n0 [", DONE));
	CHECK(line_has("n1 [", READY));
	CHECK_EQ(sley_graph_wait(graph), 0);
	check_dump(graph);
	CHECK_EQ(count(DONE), 2);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- two texts ----------------------------------------------------------------------- */

static const struct {
	const char *colour;
	const char *state;
} state_of[] = {
	{ DONE, "\"state\":\"done\"" },
	{ FAILED, "\"state\":\"failed\"" },
	{ SKIPPED, "\"state\":\"skipped\"" },
};

/* What the DOT text has said of an edge or a node. */
struct said {
	int from, to; /* of an edge                */
	int state;    /* of a node: in state_of[]  */
	bool order, failure, critical;
};

static bool says(const char *at, const char *word)
{
	const char *found = strstr(at, word);

	return found && found < strchr(at, '\n');
}

static int read_edges(struct said *said, int max)
{
	int nr = 0;

	for (const char *at = text; (at = strstr(at, " -> n")); at++, nr++) {
		const char *begin = at;

		CHECK_LT(nr, max);
		while (*begin != 'n')
			begin--;
		said[nr] = (struct said){
			.from = (int)strtol(begin + 1, NULL, 10),
			.to = (int)strtol(at + 5, NULL, 10),
			.order = says(at, DASHED),
			.failure = says(at, POISONED),
		};
	}
	return nr;
}

static int read_nodes(struct said *said, int max)
{
	int nr = 0;

	for (const char *at = text; (at = strstr(at, " [label=")); at++, nr++) {
		CHECK_LT(nr, max);
		said[nr] = (struct said){ .critical = says(at, BOLD) };
		while (!says(at, state_of[said[nr].state].colour))
			CHECK_LT(++said[nr].state, ARRAY_SIZE(state_of));
	}
	return nr;
}

static void check_both_say_the_same(struct sley_graph *graph, int size)
{
	static struct said node[200], edge[2000];
	int nr_edges;

	check_dump(graph);
	CHECK_EQ(read_nodes(node, 200), size);
	nr_edges = read_edges(edge, 2000);
	dump(graph, SLEY_GRAPH_DUMP_JSON);
	CHECK_EQ(count("{\"id\":"), size);
	CHECK_EQ(count("{\"from\":"), nr_edges);
	for (int i = 0; i < size; i++) {
		CHECK(json_node_has(i, state_of[node[i].state].state));
		CHECK_EQ(json_is_critical(i), node[i].critical);
	}
	for (int i = 0; i < nr_edges; i++)
		CHECK(json_edge_is(edge[i].from, edge[i].to,
				   edge[i].order     ? "order"
				   : edge[i].failure ? "failure"
						     : "need"));
}

TEST(s31_json_says_what_dot_says_whatever_the_graph)
{
	struct sley *rt = start();
	struct sley_graph *graph = drawn();
	sley_node all[200];

	for (int size = 0; size <= 200; size = size * 2 + 1) {
		for (int i = 0; i < size; i++) {
			sley_node other[4];
			uint32_t nr = i ? (uint32_t)test_random(4) : 0;
			bool order = test_random(4) == 0;

			for (uint32_t k = 0; k < nr; k++)
				other[k] = all[test_random((uint64_t)i)];
			all[i] = submit(
				graph,
				SLEY_NODE_SPEC(.fn = test_random(20)
							     ? pass
							     : find_nothing,
					       .after = other,
					       .nr_after = order ? 0 : nr,
					       .order = other,
					       .nr_order = order ? nr : 0));
		}
		(void)!sley_graph_wait(graph);
		check_both_say_the_same(graph, size);
	}
	sley_graph_destroy(graph);
	stop(rt);
}
