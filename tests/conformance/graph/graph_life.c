/* SPDX-License-Identifier: MIT */
/*
 * graph_life.c - graphs that are full, waited for and destroyed, and who may submit
 * to them: S15, S19, S20, S29, R-S17; and each error of the header.
 */
#include <sys/wait.h>

#include "conformance/graph/graph.h"

#include <sley/error.h>

struct event_node {
	struct sley_event event;
	atomic_int waiting;
};

static int wait_for_event(void *arg)
{
	struct event_node *e = arg;

	atomic_fetch_add(&e->waiting, 1);
	return sley_event_wait(&e->event);
}

/* ---- S15: full ---------------------------------------------------------------------- */

TEST_WORKERS(s15_a_full_graph_lets_who_submits_wait)
{
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.max_nodes = 3));
	atomic_int count = 0;
	sley_node last = SLEY_NO_NODE;

	for (int i = 0; i < 1000; i++)
		last = counts(graph, &count, &last, 1);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(atomic_load(&count), 1000);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s15_a_graph_that_stays_full_is_an_error_at_the_deadline)
{
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.max_nodes = 2));
	struct event_node gate = { SLEY_EVENT_INIT, 0 };
	atomic_int count = 0;
	sley_node id = 1;

	(void)submit_in(graph, NULL, wait_for_event, &gate);
	(void)submit_in(graph, NULL, wait_for_event, &gate);
	for (unsigned int ms = 0; ms < 20; ms += 10) {
		uint64_t deadline_ns = in_ms(ms);

		CHECK_EQ(sley_graph_submit_until(graph, &id,
						 SLEY_NODE_SPEC(.fn = count_up,
								.arg = &count),
						 deadline_ns),
			 -EAGAIN);
		CHECK_GE(sley_now(), deadline_ns);
		CHECK_EQ(id, SLEY_NO_NODE);
	}
	sley_event_set(&gate.event);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(atomic_load(&count), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

struct submitter {
	struct sley_graph *graph;
	atomic_int count;
	atomic_int err;
	atomic_bool begun;
};

static void submit_one(void *arg)
{
	struct submitter *s = arg;

	atomic_store(&s->begun, true);
	atomic_store(&s->err, try_submit(s->graph, (struct sley_node_spec){
							   .fn = count_up,
							   .arg = &s->count }));
}

TEST_WORKERS(s15_who_waits_for_room_can_be_cancelled)
{
	struct sley *rt = start();
	struct submitter s = { .graph = graph_new(
				       SLEY_GRAPH_OPTIONS(.max_nodes = 1)) };
	struct event_node gate = { SLEY_EVENT_INIT, 0 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	(void)submit_in(s.graph, NULL, wait_for_event, &gate);
	sley_spawn(&group, &task, submit_one, &s);
	CHECK_SOON(atomic_load(&s.begun));
	sley_cancel(&task);
	sley_join(&group);
	CHECK_EQ(atomic_load(&s.err), -ECANCELED);
	sley_event_set(&gate.event);
	CHECK_EQ(sley_graph_wait(s.graph), 0);
	CHECK_EQ(atomic_load(&s.count), 0);
	sley_graph_destroy(s.graph);
	stop(rt);
}

static int submit_ten(void *arg)
{
	struct submitter *s = arg;
	int err = 0;

	for (int i = 0; i < 10 && !err; i++)
		err = try_submit(s->graph,
				 (struct sley_node_spec){ .fn = count_up,
							  .arg = &s->count });
	return err;
}

TEST_WORKERS(s15_its_own_nodes_do_not_wait_for_room)
{
	struct sley *rt = start();
	struct submitter s = { .graph = graph_new(
				       SLEY_GRAPH_OPTIONS(.max_nodes = 2)) };

	for (int i = 0; i < 20; i++)
		(void)submit_in(s.graph, NULL, submit_ten, &s);
	CHECK_EQ(sley_graph_wait(s.graph), 0);
	CHECK_EQ(atomic_load(&s.count), 200);
	sley_graph_destroy(s.graph);
	stop(rt);
}

/* ---- S19, S20, S29: waiting, and the end --------------------------------------------- */

TEST_WORKERS(s19_a_wait_that_times_out_leaves_the_graph_alive)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct event_node gate = { SLEY_EVENT_INIT, 0 };
	atomic_int count = 0;

	(void)submit_in(graph, NULL, wait_for_event, &gate);
	for (int i = 0; i < 10; i++) {
		CHECK_EQ(sley_graph_wait_until(graph, i % 2 ? in_ms(2) : 0),
			 -ETIMEDOUT);
		(void)counts(graph, &count, NULL, 0);
	}
	sley_event_set(&gate.event);
	CHECK_EQ(sley_graph_wait_until(graph, SLEY_FOREVER), 0);
	CHECK_EQ(atomic_load(&count), 10);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s20_there_is_nothing_to_wait_for_in_an_empty_graph)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);

	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(sley_graph_wait_until(graph, 0), 0);
	sley_graph_cancel(graph);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	sley_graph_destroy(NULL);
	sley_graph_destroy(graph_new(NULL));
	stop(rt);
}

static int is_slow(void *arg)
{
	CHECK_EQ(sley_sleep(2 * SLEY_MSEC), 0);
	return count_up(arg);
}

/* The graph itself has no node: all are in a scope of a scope. */
TEST_WORKERS(s20_who_waits_for_a_graph_waits_for_its_scopes)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_graph_scope *outer, *inner;
	atomic_int count = 0;

	CHECK_EQ(sley_graph_scope_begin(&outer, graph, NULL), 0);
	CHECK_EQ(sley_graph_scope_begin(&inner, graph, outer), 0);
	for (int i = 1; i <= 5; i++) {
		CHECK_EQ(sley_graph_submit(graph, NULL,
					   SLEY_NODE_SPEC(.fn = is_slow,
							  .arg = &count,
							  .scope = inner)),
			 0);
		CHECK_EQ(sley_graph_wait(graph), 0);
		CHECK_EQ(atomic_load(&count), i);
	}
	sley_graph_scope_end(inner);
	sley_graph_scope_end(outer);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s29_a_busy_graph_is_destroyed_when_it_has_ended)
{
	struct sley *rt = start();
	struct submitter s = { .count = 0 };

	for (int i = 0; i < 50; i++) {
		s.graph = graph_new(NULL);
		(void)submit_in(s.graph, NULL, submit_ten, &s);
		(void)submit_in(s.graph, NULL, submit_ten, &s);
		sley_graph_destroy(s.graph);
		CHECK_EQ(atomic_load(&s.count), 20 * (i + 1));
	}
	stop(rt);
}

/* ---- who submits ------------------------------------------------------------------------ */

static void *submit_from_a_thread(void *arg)
{
	struct submitter *s = arg;

	for (int i = 0; i < 100; i++)
		(void)submit_in(s->graph, NULL, count_up, &s->count);
	CHECK_EQ(sley_graph_wait(s->graph), 0);
	return NULL;
}

TEST_WORKERS(m33_foreign_threads_submit_and_wait)
{
	struct sley *rt = start();
	struct submitter s = { .graph = graph_new(
				       SLEY_GRAPH_OPTIONS(.max_nodes = 8)) };

	if (is_single()) {
		sley_graph_destroy(s.graph);
		stop(rt);
		test_skip("nobody to run it");
	}
	run_threads(4, submit_from_a_thread, &s);
	CHECK_EQ(sley_graph_wait(s.graph), 0);
	CHECK_EQ(atomic_load(&s.count), 400);
	sley_graph_destroy(s.graph);
	stop(rt);
}

struct pair {
	struct sley *rt;
	struct sley_graph *graph;
	atomic_int bound, count;
	sley_node last;
	atomic_bool handed, done;
};

static int bump(void *arg)
{
	CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	return count_up(arg);
}

/* Each runs what it submitted, also if the other one has let it go. */
static void *bound_thread(void *arg)
{
	struct pair *p = arg;

	CHECK_EQ(sley_bind(p->rt), 0);
	for (int i = 0; i < 50; i++) {
		CHECK_EVENTUALLY(atomic_load(&p->handed));
		CHECK_EQ(sley_graph_submit(p->graph, &p->last,
					   SLEY_NODE_SPEC(.fn = bump,
							  .arg = &p->count,
							  .after = &p->last,
							  .nr_after = 1)),
			 0);
		atomic_store(&p->handed, false);
	}
	CHECK_EQ(sley_graph_wait(p->graph), 0);
	sley_unbind(p->rt);
	return NULL;
}

TEST(m33_two_bound_threads_without_workers_share_a_graph)
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct pair p = { .rt = start_with(&config) };
	pthread_t other;

	p.graph = graph_new(NULL);
	other = test_thread(bound_thread, &p);
	for (int i = 0; i < 50; i++) {
		CHECK_EQ(sley_graph_submit(p.graph, &p.last,
					   SLEY_NODE_SPEC(.fn = bump,
							  .arg = &p.count,
							  .after = &p.last,
							  .nr_after = 1)),
			 0);
		atomic_store(&p.handed, true);
		CHECK_SOON(!atomic_load(&p.handed));
	}
	CHECK_EQ(sley_graph_wait(p.graph), 0);
	CHECK_EQ(atomic_load(&p.count), 100);
	pthread_join(other, NULL);
	sley_graph_destroy(p.graph);
	stop(p.rt);
}

/* ---- priorities ---------------------------------------------------------------------------- */

TEST(urgent_nodes_run_first)
{
	struct sley *rt = start_single();
	struct sley_graph *graph = graph_new(NULL);
	struct order order = { .nr = 0 };

	for (int i = 0; i < 3; i++) {
		struct entry entry = { &order, i, 0 };

		CHECK_EQ(sley_graph_submit(
				 graph, NULL,
				 SLEY_NODE_SPEC(.fn = write_down, .arg = &entry,
						.arg_size = sizeof(entry),
						.priority = 1 - i)),
			 0);
	}
	CHECK_EQ(sley_graph_wait(graph), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(atomic_load(&order.what[i]), 2 - i);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- the runtime ends ------------------------------------------------------------------------ */

TEST_WORKERS(s21_a_runtime_that_is_cancelled_takes_the_graph_along)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct event_node gate = { SLEY_EVENT_INIT, 0 };
	atomic_int count = 0;
	sley_node first;

	first = submit(graph,
		       SLEY_NODE_SPEC(.fn = wait_for_event, .arg = &gate));
	for (int i = 0; i < 10; i++)
		CHECK_EQ(sley_graph_submit(graph, NULL,
					   SLEY_NODE_SPEC(.fn = count_up,
							  .arg = &count,
							  .order = &first,
							  .nr_order = 1)),
			 0);
	CHECK_SOON(atomic_load(&gate.waiting) == 1);
	sley_cancel_all(rt);
	CHECK_EQ(sley_graph_wait(graph), -ECANCELED);
	CHECK_EQ(atomic_load(&count), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST(s29_a_forked_child_cannot_submit)
{
	struct sley_graph *graph, *other;
	atomic_int count = 0;
	struct sley *rt;
	int status;
	pid_t pid;

	if (test_sanitizer() || test_emulated())
		test_skip("fork() with threads");
	rt = start();
	graph = graph_new(NULL);
	pid = fork();
	CHECK_GE(pid, 0);
	if (!pid) {
		int err = try_submit(graph,
				     (struct sley_node_spec){ .fn = count_up,
							      .arg = &count });

		_exit(err != SLEY_EFORKED ||
		      sley_graph_create(&other, NULL) != SLEY_EFORKED);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	(void)submit_in(graph, NULL, count_up, &count);
	sley_graph_destroy(graph);
	CHECK_EQ(atomic_load(&count), 1);
	stop(rt);
}

/* 0: it got nothing but errors, and at once. */
static int use_in_child(struct sley_graph *graph)
{
	struct sley_graph_scope *scope;
	void *buffer;
	bool refused = true;

	alarm(20);
	refused &= sley_graph_wait(graph) == SLEY_EFORKED;
	refused &= sley_graph_wait_until(graph, 0) == SLEY_EFORKED;
	refused &= sley_graph_run_begin(&scope, graph) == SLEY_EFORKED;
	refused &= sley_graph_scope_begin(&scope, graph, NULL) == SLEY_EFORKED;
	refused &= sley_graph_buffer(graph, NULL, 64, &buffer) == SLEY_EFORKED;
	sley_graph_destroy(graph);
	return !refused;
}

TEST(s29_nor_does_it_wait_for_nodes_of_its_parent)
{
	struct sley_event later = SLEY_EVENT_INIT;
	struct sley_graph *graph;
	struct sley *rt;
	int status;
	pid_t pid;

	if (test_sanitizer() || test_emulated())
		test_skip("fork() with threads");
	rt = start();
	graph = graph_new(NULL);
	(void)submit_in(graph, NULL, waits_for, &later);
	pid = fork();
	CHECK_GE(pid, 0);
	if (!pid)
		_exit(use_in_child(graph));
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	sley_event_set(&later);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- what is wrong with it ---------------------------------------------------------------------- */

TEST(a_graph_that_cannot_be_is_refused)
{
	struct {
		struct sley_graph_options options;
		uint64_t newer;
	} newer = { { .size = sizeof(newer) }, 1 };
	struct sley_graph *graph = (void *)&newer;
	struct sley *rt;

	CHECK_EQ(sley_graph_create(&graph, NULL), SLEY_ENORUNTIME);
	CHECK(!graph);
	rt = start();
	CHECK_EQ(sley_graph_create(&graph,
				   SLEY_GRAPH_OPTIONS(.max_nodes =
							      (1 << 24) + 1)),
		 -EINVAL);
	CHECK_EQ(sley_graph_create(&graph,
				   &(struct sley_graph_options){ .size = 0 }),
		 -EINVAL);
	CHECK_EQ(sley_graph_create(&graph, &newer.options), -E2BIG);
	CHECK_EQ(sley_graph_create(&graph,
				   SLEY_GRAPH_OPTIONS(.reserved[1] = 1)),
		 -E2BIG);
	CHECK_EQ(sley_graph_create(
			 &graph,
			 SLEY_GRAPH_OPTIONS(.nr_classes = 1,
					    .classes =
						    &(struct sley_worker_class){
							    .reserved0 = 1 })),
		 -E2BIG);
	test_fail_allocation_after(0);
	CHECK_EQ(sley_graph_create(&graph, NULL), -ENOMEM);
	test_fail_allocation_after(-1);
	CHECK(!graph);
	stop(rt);
}

TEST_WORKERS(s21_a_number_that_was_never_a_node_is_not_cancelled)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct event_node gate = { SLEY_EVENT_INIT, 0 };
	atomic_int count = 0;
	sley_node id;

	CHECK_EQ(sley_node_cancel(graph, SLEY_NO_NODE), -ESRCH);
	CHECK_EQ(sley_node_cancel(graph, 7), -ESRCH);
	CHECK_EQ(sley_node_cancel(graph, 1ull << 32 | 7), -ESRCH);
	CHECK_EQ(sley_node_cancel(graph, UINT64_MAX), -ESRCH);
	(void)submit_in(graph, NULL, wait_for_event, &gate);
	id = counts(graph, &count, NULL, 0);
	CHECK_EQ(sley_node_cancel(graph, (uint32_t)id), -ESRCH);
	CHECK_EQ(sley_node_cancel(graph, id + (1ull << 32)), -ESRCH);
	CHECK_EQ(sley_node_cancel(graph, id + 1), -ESRCH);
	sley_event_set(&gate.event);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, 1);
	CHECK_EQ(sley_node_cancel(graph, id), -ESRCH);
	sley_graph_destroy(graph);
	stop(rt);
}

#define CHECK_REFUSED(graph, err, ...)                                         \
	CHECK_EQ(sley_graph_submit((graph), NULL,                              \
				   SLEY_NODE_SPEC(__VA_ARGS__)),               \
		 (err))

TEST_WORKERS(rs17_a_node_that_cannot_be_leaves_nothing)
{
	static const char text[SLEY_NODE_ARG_MAX + 1];
	struct sley_access strange = { text, 1, (enum sley_access_mode)4 };
	struct {
		struct sley_node_spec spec;
		uint64_t newer;
	} newer = { { .size = sizeof(newer), .fn = count_up }, 1 };
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.max_nodes = 8));
	sley_node future = 50000;
	atomic_int count = 0;

	CHECK_EQ(sley_graph_submit(graph, NULL, NULL), -EINVAL);
	CHECK_EQ(sley_graph_submit(graph, NULL, &newer.spec), -E2BIG);
	CHECK_REFUSED(graph, -EINVAL, .fn = NULL);
	for (int i = 0; i < 3; i++)
		CHECK_REFUSED(graph, -E2BIG, .fn = count_up, .arg = &count,
			      .reserved = { i == 0, i == 1, i == 2 });
	CHECK_EQ(sley_graph_submit(graph, NULL,
				   &(struct sley_node_spec){ .fn = count_up }),
		 -EINVAL);
	CHECK_REFUSED(graph, -EINVAL, .fn = count_up, .arg = (void *)text,
		      .arg_size = sizeof(text));
	CHECK_REFUSED(graph, -EINVAL, .fn = count_up, .access = &strange,
		      .nr_access = 1);
	CHECK_REFUSED(graph, -EINVAL, .fn = count_up, .after = &future,
		      .nr_after = 1);
	CHECK_REFUSED(graph, -EINVAL, .fn = count_up, .order = &future,
		      .nr_order = 1);
	/* Nor does it keep a place: there are fewer than these. */
	for (int i = 0; i < 10; i++)
		CHECK_REFUSED(graph, -EINVAL, .fn = count_up, .after = &future,
			      .nr_after = 1);
	CHECK_REFUSED(graph, SLEY_EPRIORITY, .fn = count_up,
		      .priority = SLEY_PRIORITY_MAX + 1);
	CHECK_REFUSED(graph, SLEY_EPRIORITY, .fn = count_up,
		      .priority = SLEY_PRIORITY_MIN - 1);
	CHECK_EQ(sley_graph_wait(graph), 0);
	(void)counts(graph, &count, NULL, 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(atomic_load(&count), 1);
	sley_graph_destroy(graph);
	stop(rt);
}
