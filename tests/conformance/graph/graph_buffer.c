/* SPDX-License-Identifier: MIT */
/*
 * graph_buffer.c - buffers that the graph owns: S15, S16, S17, R-S2.
 */
#include <sley/error.h>

#include "conformance/graph/graph.h"

#define KIB ((size_t)1024)

static int buffer(struct sley_graph *graph, size_t size, void **out)
{
	return sley_graph_buffer(graph, NULL, size, out);
}

static int fill(void *arg)
{
	memset(arg, 0x5a, KIB);
	return 0;
}

static atomic_int nr_right;

/* Each buffer has bytes of its own: if two share memory, one of them is wrong. */
struct content {
	void *memory;
	unsigned char byte;
};

static int write_content(void *arg)
{
	const struct content *content = arg;

	memset(content->memory, content->byte, KIB);
	return 0;
}

static int check_content(void *arg)
{
	const struct content *content = arg;
	const unsigned char *byte = content->memory;

	for (size_t i = 0; i < KIB; i++)
		CHECK_EQ(byte[i], content->byte);
	atomic_fetch_add(&nr_right, 1);
	return 0;
}

/* Others are under way while this one waits for its turn. */
static int check_late(void *arg)
{
	for (int i = 0; i < 3; i++)
		sley_yield();
	return check_content(arg);
}

static int use(struct sley_graph *graph, sley_node_fn *fn,
	       struct content content, enum sley_access_mode mode)
{
	struct sley_access access = sley_access_of(content.memory, KIB, mode);

	return sley_graph_submit(graph, NULL,
				 SLEY_NODE_SPEC(.fn = fn, .arg = &content,
						.arg_size = sizeof(content),
						.access = &access,
						.nr_access = 1));
}

/* R-S2: dropped right after it was submitted, it is there until it was read. */
TEST_WORKERS(rs2_a_buffer_stays_until_the_last_node_that_uses_it_has_ended)
{
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.arena_bytes = 16 * KIB));
	int n = test_scale(2000);
	struct content content;

	atomic_store(&nr_right, 0);
	for (int i = 0; i < n; i++) {
		void *memory;

		CHECK_EQ(buffer(graph, KIB, &memory), 0);
		content = (struct content){ memory, (unsigned char)i };
		CHECK_EQ(use(graph, write_content, content, SLEY_ACCESS_WRITE),
			 0);
		CHECK_EQ(use(graph, check_content, content, SLEY_ACCESS_READ),
			 0);
		CHECK_EQ(use(graph, check_late, content, SLEY_ACCESS_READ), 0);
		sley_graph_buffer_drop(graph, memory);
	}
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(nr_right, 2 * n);
	sley_graph_destroy(graph);
	stop(rt);
}

static struct sley_event may_read;

static int check_when_told(void *arg)
{
	CHECK_EQ(sley_event_wait(&may_read), 0);
	return check_content(arg);
}

/*
 * All that is left of the arena is taken and written to, by no node: so nothing but the
 * buffer's own life keeps it from being given to another one.
 */
TEST_WORKERS(rs2_a_dropped_buffer_is_nobody_elses_while_it_is_read)
{
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.arena_bytes = 16 * KIB));
	struct content content = { NULL, 0x33 };
	void *other;
	int nr = 0;

	sley_event_init(&may_read, false, false);
	atomic_store(&nr_right, 0);
	CHECK_EQ(buffer(graph, KIB, &content.memory), 0);
	CHECK_EQ(use(graph, write_content, content, SLEY_ACCESS_WRITE), 0);
	CHECK_EQ(use(graph, check_when_told, content, SLEY_ACCESS_READ), 0);
	sley_graph_buffer_drop(graph, content.memory);
	while (!sley_graph_buffer_until(graph, NULL, KIB, in_ms(5), &other)) {
		CHECK_EQ(fill(other), 0);
		nr++;
	}
	CHECK_GE(nr, 13);
	sley_event_set(&may_read);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(nr_right, 1);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s15_a_request_larger_than_the_arena_is_refused)
{
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.arena_bytes = 16 * KIB));
	void *memory = graph, *other;

	CHECK_EQ(buffer(graph, 0, &memory), -EINVAL);
	CHECK(memory == NULL);
	CHECK_EQ(buffer(graph, 16 * KIB - 63, &memory), SLEY_EARENA);
	CHECK_EQ(buffer(graph, SIZE_MAX, &memory), SLEY_EARENA);
	CHECK_EQ(buffer(graph, 16 * KIB - 64, &memory), 0);
	memset(memory, 1, 16 * KIB - 64);
	/* All of it, and nobody is about to give any back. */
	CHECK_EQ(buffer(graph, 1, &other), SLEY_EARENA);
	sley_graph_buffer_drop(graph, memory);
	CHECK_EQ(buffer(graph, 1, &other), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

static int waits_for_given(void *arg)
{
	return sley_event_wait(*(struct sley_event **)arg);
}

TEST_WORKERS(s15_who_finds_the_arena_full_waits_until_a_buffer_leaves)
{
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.arena_bytes = 4 * KIB));
	struct sley_event later = SLEY_EVENT_INIT;
	struct sley_event **memory;
	void *other;

	CHECK_EQ(buffer(graph, 3 * KIB, (void **)&memory), 0);
	*memory = &later;
	CHECK_EQ(sley_graph_add(graph, waits_for_given, memory,
				SLEY_INOUT_N(memory, 3 * KIB)),
		 0);
	sley_graph_buffer_drop(graph, memory);
	CHECK_EQ(sley_graph_buffer_until(graph, NULL, 2 * KIB, in_ms(2),
					 &other),
		 -EAGAIN);
	sley_event_set(&later);
	CHECK_EQ(buffer(graph, 2 * KIB, &other), 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

/* S17: one that stays long holds up nobody. */
TEST_WORKERS(s17_a_buffer_that_stays_does_not_hold_up_the_others)
{
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.arena_bytes = 8 * KIB));
	struct sley_graph_scope *outer, *inner;
	struct content content;
	void *stays;

	CHECK_EQ(sley_graph_scope_begin(&outer, graph, NULL), 0);
	CHECK_EQ(sley_graph_buffer(graph, outer, KIB, &stays), 0);
	content = (struct content){ stays, 0x33 };
	CHECK_EQ(write_content(&content), 0);
	for (int i = 0; i < 200; i++) {
		void *memory;

		CHECK_EQ(sley_graph_scope_begin(&inner, graph, outer), 0);
		CHECK_EQ(sley_graph_buffer(graph, inner, 2 * KIB, &memory), 0);
		CHECK_EQ(sley_graph_add(graph, fill, memory,
					SLEY_OUT_N(memory, KIB)),
			 0);
		sley_graph_scope_end(inner);
	}
	CHECK_EQ(check_content(&content), 0);
	sley_graph_scope_end(outer);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(buffer(graph, 8 * KIB - 64, &stays), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(rs3_buffers_come_back_from_nodes_that_failed_or_were_skipped)
{
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.arena_bytes = 4 * KIB));

	for (int i = 0; i < 50; i++) {
		void *memory;
		int err;

		CHECK_EQ(buffer(graph, 2 * KIB, &memory), 0);
		CHECK_EQ(sley_graph_add(graph, fail, memory,
					SLEY_OUT_N(memory, KIB)),
			 0);
		CHECK_EQ(sley_graph_add(graph, fill, memory,
					SLEY_IN_N(memory, KIB)),
			 0);
		if (i % 3 == 0)
			sley_graph_cancel(graph);
		sley_graph_buffer_drop(graph, memory);
		err = sley_graph_wait(graph);
		/* The cancel may come before the first node starts. */
		CHECK(err == -EIO || (err == -ECANCELED && i % 3 == 0));
	}
	sley_graph_destroy(graph);
	stop(rt);
}

static int wants_a_buffer(void *arg)
{
	struct sley_graph *graph = arg;
	void *memory;
	int err = buffer(graph, 3 * KIB, &memory);

	if (!err)
		sley_graph_buffer_drop(graph, memory);
	return err == -EAGAIN || err == SLEY_EARENA ? 0 : err;
}

TEST_WORKERS(rs11_a_node_that_wants_a_buffer_does_not_wait_for_itself)
{
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.arena_bytes = 4 * KIB));

	for (int i = 0; i < 100; i++)
		CHECK_EQ(sley_graph_submit(graph, NULL,
					   SLEY_NODE_SPEC(.fn = wants_a_buffer,
							  .arg = graph)),
			 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_ABORTS(s16_a_buffer_is_dropped_once,
	    "no buffer of the graph begins there, or it was dropped before")
{
	struct sley_graph *graph;
	void *memory;

	(void)start();
	graph = graph_new(NULL);
	CHECK_EQ(buffer(graph, KIB, &memory), 0);
	sley_graph_buffer_drop(graph, (char *)memory + 64);
}
