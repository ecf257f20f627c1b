/* SPDX-License-Identifier: MIT */
/*
 * 32_graph_picture.c - who waits for whom when Cholesky factors a matrix of tiles.
 *
 *   cc 32_graph_picture.c $(pkg-config --cflags --libs sley); ./a.out | sley draw - >a.svg
 */
#include <sley/sley.h>
#include <stdio.h>

enum { T = 5, ALL = T * T * T, COST = 200000 };
static int tile[T][T], err; /* how often each was written */
static char name[ALL][40];

static int work(void *arg)
{
	int k = ((int *)arg)[0], y = ((int *)arg)[1], x = ((int *)arg)[2];

	for (volatile int i = 0; i < COST << (y > x) << (x > k);)
		i++;
	++tile[y][x]; /* and those it has read were ready */
	return tile[y][k] > k && tile[x][k] > k ? 0 : -1;
}

static int put(void *file, const char *text, size_t length)
{
	return fwrite(text, 1, length, file) == length ? 0 : -1;
}

static void root(void *file)
{
	static const char *const kind[] = { "gemm", "trsm", "syrk", "potrf" };
	struct sley_graph *g;

	err = sley_graph_create(&g, SLEY_GRAPH_OPTIONS(.picture = true,
						       .name = "Cholesky"));
	for (int i = 0; i < ALL && !err; i++) {
		int k = i / T / T, x = i / T % T, y = i % T, at[] = { k, y, x };
		struct sley_access use[] = { SLEY_INOUT(tile[y][x]),
					     SLEY_IN(tile[y][k]),
					     SLEY_IN(tile[x][k]) };

		if (x < k || y < x)
			continue;
		(void)snprintf(name[i], sizeof(name[i]), "%s %d,%d",
			       kind[(x == k) + 2 * (x == y)], y, x);
		err = sley_graph_submit(
			g, NULL,
			SLEY_NODE_SPEC(.fn = work, .name = name[i], .arg = at,
				       .arg_size = sizeof(at), .access = use,
				       .nr_access = 3));
	}
	err = err ? err : sley_graph_wait(g);
	err = err ? err : sley_graph_dump(g, SLEY_GRAPH_DUMP_JSON, put, file);
	sley_graph_destroy(g);
}

int main(void)
{
	return sley_run(NULL, root, stdout) || err;
}
