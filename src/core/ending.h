/* SPDX-License-Identifier: MIT */
/*
 * ending.h - what is to be done when the task on a strand has returned.
 *
 * Most tasks own nothing but their frames.  Some come to own more while they
 * run: fiber-local values, a waker, the identity of a task tree.  Each such
 * thing contains an ending and hangs it on the strand, so that a task that
 * owns nothing pays one look at a pointer.
 *
 * Endings run on the strand, while the task still counts as running; they may
 * block, and may hang up new ones.  Those that call the user's code come first,
 * the newest before the older ones: for that code the task has not ended, and
 * must have all that it had.  What it had, its waker and its tree, goes last.
 * Only the task itself touches the list.
 */
#ifndef SLEY_CORE_ENDING_H
#define SLEY_CORE_ENDING_H

#include <stddef.h>

struct ending {
	struct ending *next;
	void (*fn)(struct ending *ending); /* may free what contains it */
};

static inline void ending_add(struct ending **list, struct ending *ending,
			      void (*fn)(struct ending *ending))
{
	ending->fn = fn;
	ending->next = *list;
	*list = ending;
}

/* Behind all that are there: it takes away what those may still use. */
static inline void ending_add_last(struct ending **list, struct ending *ending,
				   void (*fn)(struct ending *ending))
{
	while (*list)
		list = &(*list)->next;
	ending_add(list, ending, fn);
}

static inline void endings_run(struct ending **list)
{
	struct ending *ending;

	while ((ending = *list)) {
		*list = ending->next;
		ending->fn(ending);
	}
}

#endif
