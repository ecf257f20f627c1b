/* SPDX-License-Identifier: MIT */
/*
 * stencil.h - the problem `dag-stencil`: a row of cells, step by step.
 *
 * In each step a task for each cell computes the cell from three cells of the step
 * before: the cell in the same place and its two neighbours.  The first and the last
 * cell of a row are neighbours.  A task then does a number of operations; each
 * operation needs the result of the operation before.
 *
 * The loss is the part of the time in which the workers did not do these operations:
 * a loss of 50 % is an efficiency of 50 %.  The time of the operations is measured
 * first, on one thread.  metg_ns is the smallest task, in ns, with a loss of at most
 * one half ("minimum effective task granularity").
 *
 * kernel_lcg_jump() does many operations at once: so the result is checked without
 * computing the operations again.
 */
#ifndef BENCH_STENCIL_H
#define BENCH_STENCIL_H

#include "../measure.h"
#include "kernels.h"

#define STENCIL_STEPS 1000
#define STENCIL_STEPS_SLOW 100 /* for slow peers */
#define STENCIL_STEPS_QUICK 20
#define STENCIL_WIDTH 64   /* at most                           */
#define STENCIL_TRIES 2    /* the better try counts             */
#define STENCIL_HALVINGS 4 /* of the interval that contains metg */
#define STENCIL_METG_MIN 8 /* ns */
#define STENCIL_METG_MAX 200000
#define STENCIL_METG_WORK_NS 100000000 /* the most work of a try */

struct stencil_cell {
	uint64_t value;
	uint64_t padding[7]; /* a cache line for each cell */
};

static struct {
	uint32_t width;
	uint32_t steps;
	uint64_t operations; /* of one task */
	/* The first step reads row 0. */
	struct stencil_cell cell[STENCIL_STEPS + 1][STENCIL_WIDTH];
} stencil;

/* The task of a cell reads three cells: the left neighbour comes first. */
static inline struct stencil_cell *stencil_left(uint32_t step, uint32_t i)
{
	return &stencil.cell[step - 1][i > 0 ? i - 1 : stencil.width - 1];
}

static inline struct stencil_cell *stencil_middle(uint32_t step, uint32_t i)
{
	return &stencil.cell[step - 1][i];
}

static inline struct stencil_cell *stencil_right(uint32_t step, uint32_t i)
{
	return &stencil.cell[step - 1][i + 1 < stencil.width ? i + 1 : 0];
}

static inline int stencil_visit(void *cell)
{
	struct stencil_cell *out = (struct stencil_cell *)cell;
	uint32_t at = (uint32_t)(out - stencil.cell[0]);
	uint32_t step = at / STENCIL_WIDTH, i = at % STENCIL_WIDTH;
	uint64_t x = stencil_left(step, i)->value +
		     3 * stencil_middle(step, i)->value +
		     5 * stencil_right(step, i)->value;

	out->value = kernel_lcg(x, stencil.operations);
	return 0;
}

static inline void stencil_clear(void)
{
	memset(stencil.cell, 0, sizeof(stencil.cell));
	for (uint32_t i = 0; i < stencil.width; i++)
		stencil.cell[0][i].value = i;
}

static inline void stencil_check(const struct measure *m)
{
	uint64_t now[STENCIL_WIDTH], next[STENCIL_WIDTH];
	uint32_t width = stencil.width;
	uint64_t factor, plus;

	kernel_lcg_jump(stencil.operations, &factor, &plus);
	for (uint32_t i = 0; i < width; i++)
		now[i] = i;
	for (uint32_t step = 1; step <= stencil.steps; step++) {
		for (uint32_t i = 0; i < width; i++) {
			next[i] = now[(i + width - 1) % width] + 3 * now[i] +
				  5 * now[(i + 1) % width];
			next[i] = next[i] * factor + plus;
			MEASURE_CHECK(m,
				      stencil.cell[step][i].value == next[i]);
		}
		memcpy(now, next, sizeof(now));
	}
}

/* ---- measuring ----------------------------------------------------------------------- */

struct stencil_peer {
	const struct measure *m;
	uint32_t steps;
	void (*run)(void *arg); /* runs and awaits all steps */
	void *arg;
	double operation_ns;
};

/* The time of one operation; the best of a few measurements. */
static inline double stencil_operation_ns(void)
{
	const uint64_t nr = 1000000;
	double best = 1e9;

	for (int i = 0; i < 5; i++) {
		volatile uint64_t start = measure_now(), result;
		double ns;

		result = kernel_lcg(start, nr);
		(void)result;
		ns = (double)(measure_now() - start) / (double)nr;
		if (ns < best)
			best = ns;
	}
	return best;
}

/* The ns of a task; @work_ns of them are operations. */
static inline double stencil_time(const struct stencil_peer *peer,
				  uint32_t width, uint32_t steps,
				  double work_ns)
{
	double best = 0;

	stencil.width = width;
	stencil.steps = steps;
	stencil.operations = (uint64_t)(work_ns / peer->operation_ns);
	for (int i = 0; i < STENCIL_TRIES; i++) {
		uint64_t start;
		double ns;

		stencil_clear();
		start = measure_now();
		peer->run(peer->arg);
		ns = (double)(measure_now() - start) / width / steps;
		stencil_check(peer->m);
		if (i == 0 || ns < best)
			best = ns;
	}
	return best;
}

/* The loss: 1 - efficiency. */
static inline double stencil_loss(const struct stencil_peer *peer,
				  uint32_t width, uint32_t steps,
				  double work_ns)
{
	double ns = stencil_time(peer, width, steps, work_ns);

	return 1 - work_ns / peer->m->workers / ns;
}

/* Is the loss at most one half with such tasks? */
static inline bool stencil_holds(const struct stencil_peer *peer,
				 uint32_t width, double work_ns)
{
	uint32_t steps = peer->steps;
	double most = STENCIL_METG_WORK_NS / work_ns / width;

	if (most < steps)
		steps = (uint32_t)most;
	return stencil_loss(peer, width, steps, work_ns) <= 0.5;
}

static inline double stencil_metg(const struct stencil_peer *peer,
				  uint32_t width)
{
	double high = 256, low;

	while (high > STENCIL_METG_MIN && stencil_holds(peer, width, high))
		high /= 2;
	while (high < STENCIL_METG_MAX && !stencil_holds(peer, width, high))
		high *= 2;
	low = high / 2;
	for (int i = 0; i < STENCIL_HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (stencil_holds(peer, width, middle))
			high = middle;
		else
			low = middle;
	}
	return high;
}

static inline void stencil_report(const char *what, uint32_t width,
				  const char *unit, double value)
{
	char metric[32];

	snprintf(metric, sizeof(metric), "%s%u_%s", what, width, unit);
	measure_report(metric, value);
}

static inline void stencil_measure(struct stencil_peer *peer)
{
	static const uint32_t widths[] = { 8, 64 };

	uint32_t steps;

	if (peer->m->quick)
		peer->steps = STENCIL_STEPS_QUICK;
	steps = peer->steps;
	peer->operation_ns = stencil_operation_ns();
	for (int i = 0; i < 2; i++) {
		uint32_t width = widths[i];

		stencil_report("empty", width, "ns",
			       stencil_time(peer, width, steps, 0));
		stencil_report("lost1us", width, "pct",
			       100 * stencil_loss(peer, width, steps, 1000));
		stencil_report("lost10us", width, "pct",
			       100 * stencil_loss(peer, width, steps, 10000));
		stencil_report("metg", width, "ns", stencil_metg(peer, width));
	}
}

#endif
