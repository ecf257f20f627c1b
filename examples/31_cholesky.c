/* SPDX-License-Identifier: MIT */
/*
 * 31_cholesky.c - a matrix is factored tile by tile; each node names its tiles.
 *
 *   cc 31_cholesky.c $(pkg-config --cflags --libs sley) -lm
 */
#include <math.h>
#include <sley/sley.h>

enum { TILES = 6, SIZE = 16, N = TILES * SIZE };
static double tile[TILES][TILES][SIZE][SIZE]; /* the lower half is used */
static struct job {
	double (*out)[SIZE], (*left)[SIZE], (*up)[SIZE];
} jobs[TILES * TILES * TILES];

/* Applies a column of tiles to the columns at the right, and to itself. */
static int update(void *arg)
{
	const struct job *t = arg;
	int own = t->out == t->left, corner = t->out == t->up;

	for (int x = 0; x < SIZE; x++)
		for (int y = corner ? x : 0; y < SIZE; y++) {
			for (int z = 0; z < (own ? x : SIZE); z++)
				t->out[y][x] -= t->left[y][z] * t->up[x][z];
			if (own)
				t->out[y][x] /= corner && x == y
							? sqrt(t->out[y][x])
							: t->up[x][x];
		}
	return 0;
}

static void root(void *arg)
{
	struct sley_graph *graph;
	struct job *job = arg;
	int err = sley_graph_create(&graph, NULL);

	for (int n = 0; n < TILES * TILES * TILES && !err; n++) {
		int k = n / TILES / TILES, j = n / TILES % TILES, i = n % TILES;

		if (k > j || j > i)
			continue;
		*job = (struct job){ tile[i][j], tile[i][k], tile[j][k] };
		err = sley_graph_add(graph, update, job++, SLEY_IN(tile[i][k]),
				     SLEY_IN(tile[j][k]),
				     SLEY_INOUT(tile[i][j]));
	}
	sley_graph_destroy(graph); /* waits for all nodes */
}

int main(void)
{
	for (int n = 0; n < N * N; n++) /* the factor: all ones */
		tile[n / N / SIZE][n % N / SIZE][n / N % SIZE][n % SIZE] =
			n / N < n % N ? n / N + 1 : n % N + 1;
	return sley_run(NULL, root, jobs) ||
	       tile[TILES - 1][TILES - 1][SIZE - 1][SIZE - 1] != 1;
}
