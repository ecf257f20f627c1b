/* SPDX-License-Identifier: MIT */
/*
 * 13_set_priority.c - change your mind: tasks that wait in a queue are moved.
 *
 * Ten pages are to be drawn, in order.  Then the reader turns to page 7: this page
 * and the next page go first, and the pages behind the reader go last.
 *
 *   cc 13_set_priority.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>
#include <string.h>

enum { PAGES = 10 };

struct page {
	struct sley_task task;
	int number;
};

static char order[PAGES + 1];
static int nr;

static void draw(void *arg)
{
	struct page *page = arg;

	printf("page %d\n", page->number);
	order[nr++] = (char)('0' + page->number);
}

static void root(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct page pages[PAGES];
	int i, err = 0;

	(void)arg;
	for (i = 0; i < PAGES; i++) {
		pages[i].number = i;
		sley_spawn(&group, &pages[i].task, draw, &pages[i]);
	}
	/* No task has run yet: the only worker runs root() until the join. */
	for (i = 0; i < 6 && !err; i++)
		err = sley_set_priority(&pages[i].task, 10);
	if (!err)
		err = sley_set_priority(&pages[7].task, -10);
	if (!err)
		err = sley_set_priority(&pages[8].task, -9);
	sley_join(&group);
	if (err)
		order[0] = '?';
}

int main(void)
{
	int err = sley_run(SLEY_CONFIG(.workers = 1), root, NULL);

	return err || strcmp(order, "7869012345") != 0;
}
