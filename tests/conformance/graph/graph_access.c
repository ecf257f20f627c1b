/* SPDX-License-Identifier: MIT */
/*
 * graph_access.c - nodes that are ordered by what they use: S03 to S06, R-S13.
 */
#include "conformance/graph/graph.h"

/* ---- random programs --------------------------------------------------------------- */

#define CELLS 64
#define STEPS 1000
#define USES 3

struct use {
	unsigned int first, nr;
	enum sley_access_mode mode;
};

/* What comes out of it depends on the order of any two that conflict. */
struct step {
	uint32_t *cell;
	struct use use[USES];
	uint32_t salt;
	bool yields;
};

static int take_step(void *arg)
{
	const struct step *step = arg;
	uint32_t value = step->salt;

	for (int i = 0; i < USES; i++) {
		const struct use *use = &step->use[i];

		for (unsigned int k = 0; k < use->nr; k++) {
			if (use->mode & SLEY_ACCESS_READ)
				value = value * 31 + step->cell[use->first + k];
		}
	}
	if (step->yields)
		sley_yield();
	for (int i = 0; i < USES; i++) {
		const struct use *use = &step->use[i];

		for (unsigned int k = 0; k < use->nr; k++) {
			if (use->mode & SLEY_ACCESS_WRITE)
				step->cell[use->first + k] = value + k;
		}
	}
	return 0;
}

static void make_step(struct step *step, uint32_t *cell)
{
	*step = (struct step){ .cell = cell };
	step->salt = (uint32_t)test_random(UINT32_MAX);
	step->yields = test_random(4) == 0;
	for (uint32_t i = 0; i < test_random(USES + 1); i++) {
		struct use *use = &step->use[i];
		unsigned int most = test_random(10) ? 6 : CELLS;

		use->nr = (unsigned int)test_random(most);
		use->first = (unsigned int)test_random(CELLS - use->nr);
		use->mode = (enum sley_access_mode)(1 + test_random(3));
	}
}

static void submit_step(struct sley_graph *graph, struct step *step)
{
	struct sley_access access[USES];

	for (int i = 0; i < USES; i++) {
		const struct use *use = &step->use[i];

		access[i] = sley_access_of(step->cell + use->first,
					   use->nr * sizeof(*step->cell),
					   use->mode);
	}
	CHECK_EQ(sley_graph_submit(graph, NULL,
				   SLEY_NODE_SPEC(.fn = take_step, .arg = step,
						  .access = access,
						  .nr_access = USES)),
		 0);
}

TEST_WORKERS(s03_what_comes_out_is_what_one_after_the_other_gives)
{
	static struct step step[STEPS];
	struct sley *rt = start();
	uint32_t cell[CELLS] = { 0 }, other[CELLS] = { 0 };
	int rounds = test_scale(16);

	for (int round = 0; round < rounds; round++) {
		struct sley_graph *graph = graph_new(
			SLEY_GRAPH_OPTIONS(.max_nodes = round % 2 ? 20 : 0));

		for (int i = 0; i < STEPS; i++) {
			make_step(&step[i], cell);
			submit_step(graph, &step[i]);
			if (i == STEPS / 2 && round % 4 == 0)
				CHECK_EQ(sley_graph_wait(graph), 0);
		}
		CHECK_EQ(sley_graph_wait(graph), 0);
		for (int i = 0; i < STEPS; i++) {
			step[i].cell = other;
			step[i].yields = false;
			CHECK_EQ(take_step(&step[i]), 0);
		}
		CHECK_EQ(memcmp(cell, other, sizeof(cell)), 0);
		sley_graph_destroy(graph);
	}
	stop(rt);
}

/* ---- who waits for whom, and who does not -------------------------------------------- */

/* All of them are at the same place at once. */
struct meeting {
	atomic_int missing;
	struct sley_event all;
};

static int meet(void *arg)
{
	struct meeting *meeting = arg;

	if (atomic_fetch_sub(&meeting->missing, 1) == 1)
		sley_event_set(&meeting->all);
	return sley_event_wait_until(&meeting->all, in_ms(10000));
}

static void meeting_init(struct meeting *meeting, int nr)
{
	atomic_store(&meeting->missing, nr);
	sley_event_init(&meeting->all, false, false);
}

TEST_WORKERS(s04_who_uses_slices_that_only_touch_runs_at_once)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct meeting meeting;
	char text[100];

	meeting_init(&meeting, 10);
	for (int i = 0; i < 10; i++)
		CHECK_EQ(sley_graph_add(graph, meet, &meeting,
					SLEY_INOUT_N(text + 10 * i, 10)),
			 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s03_who_reads_the_same_runs_at_once)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct meeting meeting;
	atomic_int value = 0;

	CHECK_EQ(sley_graph_add(graph, count_up, &value, SLEY_OUT(value)), 0);
	meeting_init(&meeting, 30);
	for (int i = 0; i < 30; i++)
		CHECK_EQ(sley_graph_add(graph, meet, &meeting, SLEY_IN(value)),
			 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s03_what_is_only_named_orders_nothing)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct meeting meeting;
	int value = 0;

	meeting_init(&meeting, 2);
	CHECK_EQ(sley_graph_add(graph, meet, &meeting, SLEY_INOUT(value)), 0);
	CHECK_EQ(sley_graph_add(graph, meet, &meeting,
				sley_access_of(&value, sizeof(value),
					       SLEY_ACCESS_NONE),
				SLEY_INOUT_N(&value, 0)),
		 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

struct move {
	const int *from;
	int *to;
	int times, add;
};

/* Slow enough to be overtaken by who does not wait for it. */
static int move_slowly(void *arg)
{
	const struct move *move = arg;

	CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	*move->to = *move->from * move->times + move->add;
	return 0;
}

static void moves(struct sley_graph *graph, const int *from, int *to, int times,
		  int add)
{
	struct move move = { from, to, times, add };
	struct sley_access access[] = { SLEY_IN(*from), SLEY_OUT(*to) };

	CHECK_EQ(sley_graph_submit(
			 graph, NULL,
			 SLEY_NODE_SPEC(.fn = move_slowly, .arg = &move,
					.arg_size = sizeof(move),
					.access = access, .nr_access = 2)),
		 0);
}

/* Every worker has run a node that was submitted after all others. */
static void pass_all_workers(struct sley_graph *graph)
{
	for (int i = 0; i < nr_runners(); i++) {
		atomic_int count = 0;

		CHECK_EQ(sley_graph_submit(
				 graph, NULL,
				 SLEY_NODE_SPEC(.fn = count_up, .arg = &count,
						.affinity = SLEY_ON_WORKER(i),
						.priority = SLEY_PRIORITY_MIN)),
			 0);
		CHECK_SOON(count == 1);
	}
}

static int reads_later(void *arg)
{
	return sley_event_wait(arg);
}

/* The reader is in the middle of it: the writer has every chance to be too early. */
TEST_WORKERS(s05_who_writes_does_not_start_while_another_reads)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_event event = SLEY_EVENT_INIT;
	atomic_int written = 0;
	char data[8];

	for (int readers = 1; readers <= 6; readers++) {
		written = 0;
		sley_event_clear(&event);
		for (int i = 0; i < readers; i++)
			CHECK_EQ(sley_graph_add(graph, reads_later, &event,
						SLEY_IN_N(data + i % 3, 3)),
				 0);
		CHECK_EQ(sley_graph_add(graph, count_up, &written,
					SLEY_OUT_N(data + 2, 1)),
			 0);
		for (int i = 0; i < 3; i++)
			pass_all_workers(graph);
		CHECK_EQ(written, 0);
		sley_event_set(&event);
		CHECK_EQ(sley_graph_wait(graph), 0);
		CHECK_EQ(written, 1);
	}
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s05_who_writes_waits_for_those_who_read)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	int one = 1, two = 2, a = 0, b = 0;

	moves(graph, &one, &a, 1, 0); /* a = 1  */
	moves(graph, &a, &b, 1, 10);  /* b = 11 */
	moves(graph, &two, &a, 1, 0); /* a = 2  */
	moves(graph, &a, &two, 1, 5); /* two = 7 */
	moves(graph, &b, &a, 1, 100); /* a = 111 */
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(b, 11);
	CHECK_EQ(two, 7);
	CHECK_EQ(a, 111);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s03_updates_are_done_in_the_order_of_submission)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	int value = 0, expected = 0;

	for (int i = 1; i <= 10; i++) {
		moves(graph, &value, &value, 2, i);
		expected = expected * 2 + i;
	}
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(value, expected);
	sley_graph_destroy(graph);
	stop(rt);
}

#define PARTS 200

struct whole {
	atomic_int part[PARTS];
	int sum;
};

static int add_up(void *arg)
{
	struct whole *whole = arg;

	for (int i = 0; i < PARTS; i++)
		whole->sum += whole->part[i];
	return 0;
}

TEST_WORKERS(s04_who_reads_the_whole_waits_for_each_part)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct whole whole = { .sum = 0 };

	for (int i = 0; i < 2 * PARTS; i++) {
		atomic_int *part = &whole.part[i % PARTS];

		if (i == PARTS)
			CHECK_EQ(sley_graph_add(graph, add_up, &whole,
						SLEY_IN(whole.part),
						SLEY_OUT(whole.sum)),
				 0);
		CHECK_EQ(sley_graph_add(graph, count_up, part,
					SLEY_INOUT(*part)),
			 0);
	}
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(whole.sum, PARTS);
	CHECK_EQ(add_up(&whole), 0);
	CHECK_EQ(whole.sum, 3 * PARTS);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s06_who_wrote_several_of_them_is_waited_for_once)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	atomic_int count = 0;
	int a = 0, b = 0, c = 0;

	for (int i = 0; i < 1000; i++)
		CHECK_EQ(sley_graph_add(graph, count_up, &count, SLEY_OUT(a),
					SLEY_INOUT(b), SLEY_INOUT(c),
					SLEY_IN(a)),
			 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, 1000);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- failures --------------------------------------------------------------------------- */

TEST_WORKERS(s05_who_fails_takes_those_along_that_read_what_it_writes)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	atomic_int read = 0, written = 0, again = 0;
	int value = 0, other = 0;

	CHECK_EQ(sley_graph_add(graph, fail, NULL, SLEY_OUT(value)), 0);
	CHECK_EQ(sley_graph_add(graph, count_up, &read, SLEY_IN(value)), 0);
	CHECK_EQ(sley_graph_add(graph, count_up, &read, SLEY_INOUT(value),
				SLEY_OUT(other)),
		 0);
	CHECK_EQ(sley_graph_add(graph, count_up, &read, SLEY_IN(other)), 0);
	/* It needs none of it, and with it all is well. */
	CHECK_EQ(sley_graph_add(graph, count_up, &written, SLEY_OUT(value)), 0);
	CHECK_EQ(sley_graph_add(graph, count_up, &again, SLEY_IN(value)), 0);
	CHECK_EQ(sley_graph_wait(graph), -EIO);
	CHECK_EQ(read, 0);
	CHECK_EQ(written, 1);
	CHECK_EQ(again, 1);
	CHECK_EQ(sley_graph_add(graph, count_up, &again, SLEY_IN(other)), 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(again, 2);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s05_a_reader_that_fails_takes_no_writer_along)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	atomic_int count = 0;
	int value = 0;

	CHECK_EQ(sley_graph_add(graph, count_up, &count, SLEY_OUT(value)), 0);
	CHECK_EQ(sley_graph_add(graph, fail, NULL, SLEY_IN(value)), 0);
	CHECK_EQ(sley_graph_add(graph, count_up, &count, SLEY_INOUT(value)), 0);
	CHECK_EQ(sley_graph_add(graph, count_up, &count, SLEY_IN(value)), 0);
	CHECK_EQ(sley_graph_wait(graph), -EIO);
	CHECK_EQ(count, 3);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- R-S13: what is forgotten ------------------------------------------------------------- */

static int pass_on(void *arg)
{
	uint32_t *value = arg;

	*value = *value * 3 + 1;
	return 0;
}

/* The map makes room for the ranges of others again and again, while one writes. */
TEST_WORKERS(rs13_a_writer_is_remembered_until_it_has_ended)
{
	enum { MANY = 2000 };
	static char others[MANY];
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley_graph_scope_stats stats;
	atomic_int count = 0, read = 0;
	int value = 0;

	CHECK_EQ(sley_graph_add(graph, reads_later, &event, SLEY_OUT(value)),
		 0);
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(sley_graph_add(graph, count_up, &count,
					SLEY_OUT(others[i])),
			 0);
	CHECK_EQ(sley_graph_add(graph, count_up, &read, SLEY_IN(value)), 0);
	sley_graph_scope_get_stats(graph, NULL, &stats);
	CHECK_EQ(stats.edges, 1);
	pass_all_workers(graph);
	CHECK_EQ(read, 0);
	sley_event_set(&event);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(read, 1);
	CHECK_EQ(count, MANY);
	sley_graph_destroy(graph);
	stop(rt);
}

/*
 * Places of nodes and entries of the map are used again and again, while the sum
 * is passed on from one to the next.
 */
TEST_WORKERS(rs13_what_is_over_is_forgotten_and_what_is_newer_is_not)
{
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.max_nodes = 8));
	uint32_t value = 0, expected = 0;
	int n = test_scale(20000);
	char *memory = (char *)&value + sizeof(value);
	int64_t before = 0;

	for (int i = 0; i < n; i++) {
		CHECK_EQ(sley_graph_add(graph, pass_on, &value,
					SLEY_INOUT(value),
					SLEY_OUT_N(memory + 40ull * i, 40)),
			 0);
		(void)pass_on(&expected);
		if (i == n / 4)
			before = test_allocated();
	}
	CHECK_LE(test_allocated(), before + 10000);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(value, expected);
	sley_graph_destroy(graph);
	stop(rt);
}
