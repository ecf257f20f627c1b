/* SPDX-License-Identifier: MIT */
/*
 * cholesky.h - the problem `cholesky`: a symmetric matrix of floats is factored,
 * tile by tile.
 *
 * The matrix has about 2048 or 4096 rows: a multiple of the size of a tile, since
 * StarPU's example gets a wrong result if the tiles are not all of one size.  A
 * metric is named after the sizes of the matrix and of a tile, as in 4k_192_gflops.
 */
#ifndef BENCH_CHOLESKY_H
#define BENCH_CHOLESKY_H

#include "../measure.h"

#define CHOLESKY_SMALL 2048
#define CHOLESKY_LARGE 4096
#define CHOLESKY_QUICK 8 /* the factor by which a quick run is smaller */

struct cholesky {
	const char *name; /* of the size of the matrix        */
	uint32_t tile;    /* rows and columns of a tile       */
	uint32_t nr;      /* tiles in each column             */
	bool small;       /* the smaller of the two           */
};

/* Calls @factor for each size of matrix and of tile. */
static inline void cholesky_each(const struct measure *m,
				 void (*factor)(const struct measure *m,
						const struct cholesky *c))
{
	static const uint32_t tiles[] = { 64, 128, 192, 256, 320, 512 };
	const size_t nr = sizeof(tiles) / sizeof(tiles[0]);

	for (size_t i = 0; i < 2 * nr; i++) {
		bool small = i < nr;
		uint32_t n = small ? CHOLESKY_SMALL : CHOLESKY_LARGE;
		struct cholesky c = { small ? "2k" : "4k", tiles[i % nr], 1,
				      small };

		if (m->quick)
			n /= CHOLESKY_QUICK;
		if (n > c.tile)
			c.nr = (n + c.tile / 2) / c.tile;
		factor(m, &c);
	}
}

static inline uint32_t cholesky_rows(const struct cholesky *c)
{
	return c->nr * c->tile;
}

/* Additions and multiplications, by the usual formula. */
static inline double cholesky_flops(const struct cholesky *c)
{
	double n = cholesky_rows(c);

	return n * n * n / 3 + n * n / 2 + n / 6;
}

static inline void cholesky_report(const struct cholesky *c, double gflops)
{
	char metric[32];

	snprintf(metric, sizeof(metric), "%s_%u_gflops", c->name, c->tile);
	measure_report(metric, gflops);
}

#endif
