/* SPDX-License-Identifier: MIT */
/*
 * dag.h - the problems `dag-chain`, `dag-wavefront`, `dag-tree` and `dag-random`:
 * graphs whose nodes have next to nothing to do.
 *
 * Nodes are numbered from 1 on, in the order of submission.  Each node has a cell.
 * The node adds 1 and the values of the cells that it reads to this cell.  So the
 * cells show whether each node ran once, and after its predecessors: the check
 * compares the cells with the result of running the nodes in order.
 *
 * A node of a chain or of a tree reads one more cell, the input of the node, which
 * is never written.  So such a node uses three cells, as in the wavefront and, on
 * average, in the random graph.  Nodes with explicit edges do not name inputs.
 *
 * There is one problem in a process.
 */
#ifndef BENCH_DAG_H
#define BENCH_DAG_H

#include "../measure.h"
#include "splitmix.h"

#define DAG_CHAIN 50000
#define DAG_CHAIN_SMALL 20000
#define DAG_WIDTH 256 /* of the wavefront, as high as wide */
#define DAG_WIDTH_SMALL 100
#define DAG_WIDTH_QUICK 16
#define DAG_LEVELS 16
#define DAG_LEVELS_SMALL 13
#define DAG_LEVELS_QUICK 8
#define DAG_RANDOM 50000
#define DAG_RANDOM_SMALL 20000
#define DAG_RANDOM_BACK 1000 /* distance to a predecessor, at most */
#define DAG_QUICK 500
#define DAG_SEED 7
#define DAG_READS 4
#define DAG_NODES_MAX 65536
#define DAG_CELLS 66560 /* the wavefront has a border, above and to the left */

#define DAG_TURNS 20
#define DAG_TURNS_SLOW 5

/* Slow peers get fewer nodes: the time is per node. */
enum dag_size { DAG_FULL, DAG_SMALL };

/* The cells that a node uses, by number: see dag_cell(). */
struct dag_node {
	uint32_t read[DAG_READS]; /* cells of predecessors come first        */
	uint32_t nr_read;
	uint32_t nr_after; /* how many of the cells are of predecessors     */
};

static struct {
	uint32_t nr;
	uint32_t width;           /* of the wavefront, or 0                 */
	int (*visit)(void *cell); /* the function of a node; returns 0      */
	struct dag_node node[DAG_NODES_MAX + 1];
	uint64_t cell[2 * DAG_CELLS]; /* [0] is always 0; the second half is
	                                 for inputs                        */
} dag;

#define DAG_INPUT DAG_CELLS /* from a cell to its input */

/* The cell @number: of a node, or of an input. */
static inline uint64_t *dag_cell(uint32_t number)
{
	uint32_t width = dag.width;

	if (width)
		number += width + 1 + (number - 1) / width;
	return &dag.cell[number];
}

/* ---- the functions of the nodes --------------------------------------------------- */

static inline int dag_visit_chain(void *arg)
{
	uint64_t *cell = (uint64_t *)arg;

	cell[0] += cell[-1] + cell[DAG_INPUT] + 1;
	return 0;
}

static inline int dag_visit_wavefront(void *arg)
{
	uint64_t *cell = (uint64_t *)arg;

	cell[0] += cell[-1] + *(cell - dag.width - 1) + 1;
	return 0;
}

static inline int dag_visit_tree(void *arg)
{
	uint64_t *cell = (uint64_t *)arg;
	size_t number = (size_t)(cell - dag.cell);

	cell[0] += dag.cell[number / 2] + cell[DAG_INPUT] + 1;
	return 0;
}

static inline int dag_visit_random(void *arg)
{
	uint64_t *cell = (uint64_t *)arg;
	const uint32_t *read = dag.node[cell - dag.cell].read;

	/* Unused entries of @read are 0. */
	cell[0] += dag.cell[read[0]] + dag.cell[read[1]] + dag.cell[read[2]] +
		   dag.cell[read[3]] + 1;
	return 0;
}

/* ---- the four graphs -------------------------------------------------------------- */

/* Node @number reads the cell of node @from. */
static inline void dag_read(uint32_t number, uint32_t from)
{
	struct dag_node *node = &dag.node[number];

	for (uint32_t i = 0; i < node->nr_read; i++) {
		if (node->read[i] == from)
			return;
	}
	node->read[node->nr_read++] = from;
	node->nr_after = node->nr_read;
}

static inline void dag_read_input(uint32_t number)
{
	struct dag_node *node = &dag.node[number];

	dag.cell[number + DAG_INPUT] = number;
	node->read[node->nr_read++] = number + DAG_INPUT;
}

static inline void dag_make_chain(bool quick, enum dag_size size)
{
	dag.visit = dag_visit_chain;
	dag.nr = quick ? DAG_QUICK
		       : (size == DAG_SMALL ? DAG_CHAIN_SMALL : DAG_CHAIN);
	for (uint32_t i = 1; i <= dag.nr; i++) {
		if (i > 1)
			dag_read(i, i - 1);
		dag_read_input(i);
	}
}

static inline void dag_make_wavefront(bool quick, enum dag_size size)
{
	uint32_t width = size == DAG_SMALL ? DAG_WIDTH_SMALL : DAG_WIDTH;

	if (quick)
		width = DAG_WIDTH_QUICK;
	dag.visit = dag_visit_wavefront;
	dag.width = width;
	dag.nr = width * width;
	for (uint32_t i = 1; i <= dag.nr; i++) {
		if ((i - 1) % width > 0)
			dag_read(i, i - 1);
		if (i > width)
			dag_read(i, i - width);
	}
}

static inline void dag_make_tree(bool quick, enum dag_size size)
{
	uint32_t levels = size == DAG_SMALL ? DAG_LEVELS_SMALL : DAG_LEVELS;

	dag.visit = dag_visit_tree;
	dag.nr = (1u << (quick ? DAG_LEVELS_QUICK : levels)) - 1;
	for (uint32_t i = 1; i <= dag.nr; i++) {
		if (i > 1)
			dag_read(i, i / 2);
		dag_read_input(i);
	}
}

static inline void dag_make_random(bool quick, enum dag_size size)
{
	uint64_t seed = DAG_SEED;

	dag.visit = dag_visit_random;
	dag.nr = quick ? DAG_QUICK
		       : (size == DAG_SMALL ? DAG_RANDOM_SMALL : DAG_RANDOM);
	for (uint32_t i = 2; i <= dag.nr; i++) {
		uint32_t back = i - 1 < DAG_RANDOM_BACK ? i - 1
							: DAG_RANDOM_BACK;
		uint64_t nr = splitmix(seed += SPLITMIX_STEP) % (DAG_READS + 1);

		while (nr-- > 0) {
			seed += SPLITMIX_STEP;
			dag_read(i, i - 1 - (uint32_t)(splitmix(seed) % back));
		}
	}
}

/* The graph of the row. */
static inline void dag_make(const struct measure *m, enum dag_size size)
{
	static const struct {
		const char *row;
		void (*make)(bool quick, enum dag_size size);
	} shapes[] = {
		{ "dag-chain", dag_make_chain },
		{ "dag-wavefront", dag_make_wavefront },
		{ "dag-tree", dag_make_tree },
		{ "dag-random", dag_make_random },
	};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (strcmp(m->row, shapes[i].row) == 0)
			shapes[i].make(m->quick, size);
	}
}

/* ---- measuring ----------------------------------------------------------------------- */

static inline void dag_clear(void)
{
	memset(dag.cell, 0, DAG_CELLS * sizeof(dag.cell[0]));
}

/* Checks that the cells have the values after @turns turns. */
static inline void dag_check(const struct measure *m, int turns)
{
	size_t size = DAG_CELLS * sizeof(dag.cell[0]);
	void *found = malloc(size);

	MEASURE_CHECK(m, found != NULL);
	memcpy(found, dag.cell, size);
	dag_clear();
	for (int turn = 0; turn < turns; turn++) {
		for (uint32_t i = 1; i <= dag.nr; i++)
			(void)dag.visit(dag_cell(i));
	}
	MEASURE_CHECK(m, memcmp(found, dag.cell, size) == 0);
	free(found);
}

/* Times the first @turn of the process. */
static inline void dag_measure_first(const struct measure *m,
				     const char *metric,
				     void (*turn)(void *arg), void *arg)
{
	uint64_t start;

	dag_clear();
	start = measure_now();
	turn(arg);
	measure_report_each(metric, start, dag.nr);
	dag_check(m, 1);
}

/* Times @turns of @turn, all nodes each, after an untimed turn. */
static inline void dag_measure(const struct measure *m, const char *metric,
			       int turns, void (*turn)(void *arg), void *arg)
{
	uint64_t start;

	dag_clear();
	turn(arg);
	start = measure_now();
	for (int i = 0; i < turns; i++)
		turn(arg);
	measure_report_each(metric, start, (uint64_t)turns * dag.nr);
	dag_check(m, turns + 1);
}

#endif
