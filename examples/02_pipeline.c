/* SPDX-License-Identifier: MIT */
/*
 * 02_pipeline.c - tasks that hand values to each other over channels.
 *
 * A full channel suspends the sender, an empty channel suspends the receiver; a
 * worker is never suspended.  Closing a channel ends the next stage.
 *
 *   cc 02_pipeline.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>

static struct sley_chan *numbers, *squares;

static void generate(void *arg)
{
	for (long x = 1; x <= *(long *)arg; x++)
		sley_chan_send(numbers, &x);
	sley_chan_close(numbers);
}

static void square(void *arg)
{
	long x;

	(void)arg;
	while (sley_chan_recv(numbers, &x) == 0) {
		x *= x;
		sley_chan_send(squares, &x);
	}
	sley_chan_close(squares);
}

static void root(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[2];
	long x, last = 1000, *sum = arg;

	sley_spawn(&group, &tasks[0], generate, &last);
	sley_spawn(&group, &tasks[1], square, NULL);
	while (sley_chan_recv(squares, &x) == 0)
		*sum += x;
	sley_join(&group);
}

int main(void)
{
	long sum = 0;

	if (sley_chan_create(&numbers, sizeof(long), 16) ||
	    sley_chan_create(&squares, sizeof(long), 0) ||
	    sley_run(NULL, root, &sum))
		return 1;
	printf("the squares of 1 to 1000 add up to %ld\n", sum);
	sley_chan_destroy(numbers);
	sley_chan_destroy(squares);
	return sum != 333833500;
}
