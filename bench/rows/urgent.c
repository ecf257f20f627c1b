/* SPDX-License-Identifier: MIT */
/*
 * urgent.c - row `urgent`: from the submission of the most urgent task by a plain
 * thread to the first line of that task, while all workers compute.
 *
 * Four computations, one after the other, each with metrics of its own: fork and join
 * (fib), a loop over a million tiny pieces, turns of processes, and empty nodes of a
 * graph.  Each goes on until the last urgent task has run.
 */
#include "rows.h"

struct urgent {
	const struct measure *m;
	struct sley *rt;
	struct sley_graph *graph;
	int nr_roots; /* that came to make the graph */
	bool over;
	uint64_t first; /* when the urgent task began */
	uint64_t ran;
};

static bool is_over(const struct urgent *u)
{
	return __atomic_load_n(&u->over, __ATOMIC_RELAXED);
}

static void arrive(void *arg)
{
	struct urgent *u = arg;

	u->first = measure_now();
	__atomic_fetch_add(&u->ran, 1, __ATOMIC_RELEASE);
}

/* ---- computations ------------------------------------------------------------- */

struct fib {
	unsigned int n;
	uint64_t result;
};

static void fib(void *arg)
{
	struct fib *f = arg, left = { f->n - 1, 0 }, right = { f->n - 2, 0 };
	struct sley_forked child;

	if (f->n < 2) {
		f->result = f->n;
		return;
	}
	sley_fork(&child, fib, &left);
	fib(&right);
	sley_fork_join(&child);
	f->result = left.result + right.result;
}

static void fork_on(void *arg)
{
	struct urgent *u = arg;

	while (!is_over(u)) {
		struct fib f = { URGENT_FIB, 0 };

		fib(&f);
		MEASURE_CHECK(u->m, f.result == URGENT_FIB_IS);
	}
}

static void tiny(size_t begin, size_t end, void *arg)
{
	(void)begin;
	(void)end;
	(void)arg;
}

static void loop_on(void *arg)
{
	struct urgent *u = arg;

	while (!is_over(u))
		MEASURE_CHECK(u->m, sley_for_with(0, URGENT_PIECES, tiny, NULL,
						  SLEY_HOW(.grain = 1)) == 0);
}

static enum sley_step turn(void *self, struct sley_msg *const *msg, size_t nr,
			   struct sley_out *out)
{
	const struct urgent *u = *(struct urgent **)self;

	(void)msg;
	(void)nr;
	return is_over(u) ? sley_out_done(out, 0) : SLEY_CONTINUE;
}

static int turn_init(void *self, const char *method, const void *input,
		     size_t size)
{
	(void)method;
	memcpy(self, input, size);
	return 0;
}

static void turn_on(void *arg)
{
	static const struct sley_behaviour behaviour = { .size = sizeof(void *),
							 .init = turn_init,
							 .step = turn };
	struct urgent *u = arg;

	for (int i = 0; i < 100; i++)
		MEASURE_CHECK(u->m, sley_process_spawn(NULL, &behaviour, &arg,
						       sizeof(arg), NULL) == 0);
}

/* Each node submits the next. */
static int node(void *arg)
{
	struct urgent *u = arg;

	if (is_over(u))
		return 0;
	return sley_graph_submit(u->graph, NULL,
				 SLEY_NODE_SPEC(.fn = node, .arg = u));
}

static void submit_on(void *arg)
{
	struct urgent *u = arg;

	if (__atomic_fetch_add(&u->nr_roots, 1, __ATOMIC_RELAXED) > 0)
		return;
	MEASURE_CHECK(u->m, sley_graph_create(&u->graph, NULL) == 0);
	for (int i = 0; i < 100; i++)
		MEASURE_CHECK(u->m, node(u) == 0);
	MEASURE_CHECK(u->m, sley_graph_wait(u->graph) == 0);
	sley_graph_destroy(u->graph);
}

/* ---- the submitter --------------------------------------------------------------- */

static void submit_urgent(struct urgent *u, uint64_t *samples, uint64_t nr)
{
	struct sley_group group = SLEY_GROUP_INIT;

	for (uint64_t i = 0; i < nr; i++) {
		struct sley_task task;
		uint64_t start;

		measure_sleep_until(measure_now() + URGENT_PAUSE_NS);
		start = measure_now();
		MEASURE_CHECK(
			u->m,
			sley_spawn_on(
				u->rt, &group, &task, arrive, u,
				SLEY_OPTIONS(.priority = SLEY_PRIORITY_MIN)) ==
				0);
		sley_join(&group);
		samples[i] = u->first - start;
	}
	MEASURE_CHECK(u->m, u->ran == nr);
}

static void measure_beside(const struct measure *m, const char *name,
			   sley_fn *compute)
{
	static uint64_t samples[URGENT_SAMPLES];
	struct urgent u = { .m = m };

	MEASURE_CHECK(m, sley_create(&u.rt,
				     SLEY_CONFIG(.workers = m->workers)) == 0);
	for (int i = 0; i < m->workers; i++)
		MEASURE_CHECK(m,
			      sley_schedule_on(u.rt, compute, &u, NULL) == 0);
	usleep(20000);
	submit_urgent(&u, samples, m->quick ? 10 : URGENT_SAMPLES);
	__atomic_store_n(&u.over, true, __ATOMIC_RELAXED);
	sley_destroy(u.rt);
	measure_report_tail(name, samples, m->quick ? 10 : URGENT_SAMPLES);
}

void row_urgent(const struct measure *m)
{
	measure_beside(m, "fork", fork_on);
	measure_beside(m, "for", loop_on);
	measure_beside(m, "turn", turn_on);
	measure_beside(m, "node", submit_on);
}
