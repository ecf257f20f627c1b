/* SPDX-License-Identifier: MIT */
/*
 * starpu_cholesky.c - the peer StarPU in the row `cholesky`: Debian's build of
 * StarPU's own example, which finds the order from the tiles that a task uses.
 *
 * The example runs once for each matrix, and prints a heading and then the number of
 * rows, milliseconds and GFLOP/s.  On request the example checks the result, which
 * takes longer than to factor a large matrix.  The example uses the BLAS that it
 * finds: here OpenBLAS, with one thread.
 */
#include "../measure.h"
#include "../problems/cholesky.h"

static void run(const struct measure *m, const struct cholesky *problem)
{
	uint32_t n = cholesky_rows(problem), rows = 0;
	char command[1024], line[256] = "";
	double ms, gflops = 0;
	FILE *out;
	int status;

	snprintf(command, sizeof(command),
		 "STARPU_SILENT=1 STARPU_NCPU=%d STARPU_NCUDA=0 "
		 "STARPU_NOPENCL=0 OPENBLAS_NUM_THREADS=1 LD_PRELOAD='%s' "
		 "exec '%s' -size %u -nblocks %u%s 2>&1",
		 m->workers, STARPU_BLAS, STARPU_CHOLESKY, n, problem->nr,
		 problem->small || m->quick ? " -check" : "");
	out = popen(command, "r");
	MEASURE_CHECK(m, out != NULL);
	while (fgets(line, sizeof(line), out) != NULL)
		(void)sscanf(line, "%u %lf %lf", &rows, &ms, &gflops);
	status = pclose(out);
	if (status != 0)
		fprintf(stderr, "%s: %s", STARPU_CHOLESKY, line);
	MEASURE_CHECK(m, status == 0 && rows == n);
	cholesky_report(problem, gflops);
}

static void starpu_cholesky(const struct measure *m)
{
	cholesky_each(m, run);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "cholesky", starpu_cholesky },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
