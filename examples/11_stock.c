/* SPDX-License-Identifier: MIT */
/*
 * 11_stock.c - a hundred tasks share three connections.
 *
 * A connection (here a counter) is made on demand, and kept.  When all connections
 * are out, the next borrower waits for its turn, and the worker runs other tasks.
 *
 *   cc 11_stock.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>

static int nr_closed, nr_requests;

static void close_connection(void *object, void *self)
{
	(void)self;
	nr_closed++;
	nr_requests += *(int *)object;
}

static void ask(void *stock)
{
	void *object;

	if (sley_stock_borrow(stock, &object))
		return;
	++*(int *)object;      /* plain: one borrower at a time */
	sley_sleep(SLEY_MSEC); /* for the answer */
	sley_stock_return(object);
}

static void root(void *stock)
{
	static struct sley_task task[100];
	struct sley_group group = SLEY_GROUP_INIT;

	for (int i = 0; i < 100; i++)
		sley_spawn(&group, &task[i], ask, stock);
	sley_join(&group);
}

int main(void)
{
	struct sley_stock *stock;
	struct sley_stock_config config = {
		.size = sizeof(config),
		.object_size = sizeof(int),
		.capacity = 3,
		.preserve = true,
		.destruct = close_connection,
	};

	if (sley_stock_create(&stock, &config) || sley_run(NULL, root, stock))
		return 1;
	sley_stock_destroy(stock);
	printf("%d requests, %d connections\n", nr_requests, nr_closed);
	return nr_requests != 100 || nr_closed > 3;
}
