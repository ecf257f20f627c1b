/* SPDX-License-Identifier: MIT */
/*
 * stock.c - row `stock`: borrow and return an object of a stock.  Objects keep
 * their contents, as in the peers.
 */
#include "rows.h"

static void root(void *arg)
{
	const struct measure *m = arg;
	uint64_t nr = measure_size(m, POOL_TURNS), right = 0, start;
	struct sley_stock *stock;

	MEASURE_CHECK(m, sley_stock_create(
				 &stock,
				 SLEY_STOCK_CONFIG(.object_size = 64,
						   .capacity = POOL_CAPACITY,
						   .preserve = true)) == 0);
	start = measure_now();
	for (uint64_t i = 0; i < nr; i++) {
		void *object;

		if (sley_stock_borrow(stock, &object))
			break;
		++*(uint64_t *)object;
		right++;
		sley_stock_return(object);
	}
	measure_report_each("ns", start, nr);
	MEASURE_CHECK(m, right == nr);
	sley_stock_destroy(stock);
}

void row_stock(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
