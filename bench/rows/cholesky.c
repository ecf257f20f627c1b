/* SPDX-License-Identifier: MIT */
/*
 * cholesky.c - row `cholesky`: the program `sley-cholesky`.
 *
 * A task of the runtime submits a node for each operation on tiles, and waits for
 * all nodes.  A node names the tiles that the operation reads and writes.  The rest
 * is as in StarPU's example: the matrix is stored column by column, as a whole; the
 * operations are the same functions of OpenBLAS, on one thread each, submitted in
 * the same order; nodes that the next steps wait for are more urgent; each matrix is
 * factored in a new process, where no memory has been used before.
 *
 * A tile is not contiguous in memory, so the first element stands for the tile.
 *
 * The factor of the matrix is all ones, and each step is exact.  So a step that was
 * left out, made twice or made too early shows.
 */
#include "rows.h"

#include "../problems/cholesky.h"

#include <cblas-openblas.h>
#include <math.h>
#include <sys/wait.h>

#define AHEAD 6 /* tiles */

static struct {
	const struct measure *m;
	const struct cholesky *problem;
	struct sley_graph *graph;
	float *matrix;
	int stride; /* from a column to the next column */
	int tile;
} job;

static float *tile_at(uint32_t row, uint32_t column)
{
	size_t tile = (size_t)job.tile;

	return job.matrix + column * tile * (size_t)job.stride + row * tile;
}

/* ---- the operations ----------------------------------------------------------- */

struct operation {
	const float *left, *up;
	float *out;
};

/* Factors a tile of the diagonal, column by column. */
static int factor_tile(void *arg)
{
	const struct operation *op = arg;
	int stride = job.stride, n = job.tile;

	for (int i = 0; i < n; i++) {
		float *corner = op->out + i + (size_t)i * (size_t)stride;

		*corner = sqrtf(*corner);
		cblas_sscal(n - i - 1, 1 / *corner, corner + 1, 1);
		cblas_ssyr(CblasColMajor, CblasLower, n - i - 1, -1, corner + 1,
			   1, corner + 1 + stride, stride);
	}
	return 0;
}

/* Divides a tile below the diagonal by the tile of the diagonal. */
static int divide_tile(void *arg)
{
	const struct operation *op = arg;

	cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasTrans,
		    CblasNonUnit, job.tile, job.tile, 1, op->up, job.stride,
		    op->out, job.stride);
	return 0;
}

/* Subtracts the product of two such tiles from a tile at the right. */
static int subtract_product(void *arg)
{
	const struct operation *op = arg;

	cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, job.tile, job.tile,
		    job.tile, -1, op->left, job.stride, op->up, job.stride, 1,
		    op->out, job.stride);
	return 0;
}

/* ---- the graph ---------------------------------------------------------------- */

/*
 * A node is more urgent near the corner in which the step begins: the next steps
 * wait for such a node.  Other nodes stay with the worker that has the tile.
 */
static int32_t priority_at(uint32_t distance)
{
	return distance < AHEAD ? (int32_t)distance - AHEAD : 0;
}

static void submit(sley_node_fn *fn, uint32_t distance,
		   const struct operation *op)
{
	struct sley_access access[3];
	uint32_t nr = 0;
	int err;

	access[nr++] = SLEY_INOUT(*op->out);
	if (op->up != NULL)
		access[nr++] = SLEY_IN(*op->up);
	if (op->left != NULL && op->left != op->up)
		access[nr++] = SLEY_IN(*op->left);
	err = sley_graph_submit(
		job.graph, NULL,
		SLEY_NODE_SPEC(.fn = fn, .arg = (void *)op,
			       .arg_size = sizeof(*op), .access = access,
			       .nr_access = nr,
			       .priority = priority_at(distance)));
	MEASURE_CHECK(job.m, err == 0);
}

/* Submits the operations of column @k of tiles on the columns at the right. */
static void submit_products(uint32_t k, uint32_t nr)
{
	for (uint32_t j = k + 1; j < nr; j++) {
		for (uint32_t i = j; i < nr; i++)
			submit(subtract_product, i - k + j - k,
			       &(struct operation){ .left = tile_at(i, k),
						    .up = tile_at(j, k),
						    .out = tile_at(i, j) });
	}
}

static void factor(void)
{
	uint32_t nr = job.problem->nr;

	for (uint32_t k = 0; k < nr; k++) {
		submit(factor_tile, 0,
		       &(struct operation){ .out = tile_at(k, k) });
		for (uint32_t i = k + 1; i < nr; i++)
			submit(divide_tile, i - k,
			       &(struct operation){ .up = tile_at(k, k),
						    .out = tile_at(i, k) });
		submit_products(k, nr);
	}
	MEASURE_CHECK(job.m, sley_graph_wait(job.graph) == 0);
}

static void root(void *arg)
{
	uint64_t start;

	(void)arg;
	MEASURE_CHECK(job.m, sley_graph_create(&job.graph, NULL) == 0);
	start = measure_now();
	factor();
	cholesky_report(job.problem, cholesky_flops(job.problem) /
					     (double)(measure_now() - start));
	sley_graph_destroy(job.graph);
}

/* ---- the matrix --------------------------------------------------------------- */

static void fill(size_t n)
{
	job.matrix = malloc(n * n * sizeof(*job.matrix));
	MEASURE_CHECK(job.m, job.matrix != NULL);
	for (size_t i = 0; i < n * n; i++) {
		size_t row = i % n, column = i / n;

		job.matrix[i] = (float)(row < column ? row + 1 : column + 1);
	}
}

static void check(size_t n)
{
	for (size_t column = 0; column < n; column++) {
		for (size_t row = column; row < n; row++)
			MEASURE_CHECK(job.m, job.matrix[column * n + row] == 1);
	}
}

static void run(const struct measure *m, const struct cholesky *problem)
{
	uint32_t n = cholesky_rows(problem);

	job.m = m;
	job.problem = problem;
	job.stride = (int)n;
	job.tile = (int)problem->tile;
	fill(n);
	row_run(m, root, NULL);
	check(n);
	free(job.matrix);
}

static void run_apart(const struct measure *m, const struct cholesky *problem)
{
	pid_t pid;
	int status = -1;

	fflush(stdout); /* or both processes would print it */
	pid = fork();
	if (pid == 0) {
		run(m, problem);
		exit(0);
	}
	MEASURE_CHECK(m, pid > 0 && waitpid(pid, &status, 0) == pid);
	MEASURE_CHECK(m, status == 0);
}

static void row_cholesky(const struct measure *m)
{
	openblas_set_num_threads(1);
	cholesky_each(m, run_apart);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "cholesky", row_cholesky },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
