/* SPDX-License-Identifier: MIT */
/*
 * 17_fractal.c - a task per row.
 *
 * Some rows cost far more than others; workers without rows steal.
 *
 *   cc 17_fractal.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>

/* 16 bits after the point: every machine draws the same picture. */
enum { WIDTH = 72, HEIGHT = 28, ONE = 1 << 16, STEPS = 1000 };

static char picture[HEIGHT][WIDTH + 1];

static char shade(int64_t cx, int64_t cy)
{
	int64_t x = 0, y = 0, next;
	int n = 0;

	for (; n < STEPS && x * x + y * y < 4LL * ONE * ONE; n++) {
		next = (x * x - y * y) / ONE + cx;
		y = 2 * x * y / ONE + cy;
		x = next;
	}
	return n == STEPS ? '#' : " .:-=+*%@"[n < 16 ? n / 2 : 8];
}

static void draw_row(void *arg)
{
	char(*row)[WIDTH + 1] = arg;
	int64_t cy = (row - picture) * 5 * ONE / (2 * HEIGHT) - 5 * ONE / 4;

	for (int x = 0; x < WIDTH; x++)
		(*row)[x] = shade(x * 3 * ONE / WIDTH - 2 * ONE, cy);
}

static void root(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[HEIGHT];
	uint32_t *sum = arg;

	for (int i = 0; i < HEIGHT; i++)
		sley_spawn(&group, &task[i], draw_row, &picture[i]);
	sley_join(&group);
	for (int i = 0; i < HEIGHT * WIDTH; i++)
		*sum = *sum * 31 + picture[i / WIDTH][i % WIDTH];
	for (int i = 0; i < HEIGHT; i++)
		puts(picture[i]);
}

int main(void)
{
	uint32_t sum = 0;

	return sley_run(NULL, root, &sum) != 0 || sum != 0x5f8cce78;
}
