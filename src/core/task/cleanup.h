/* SPDX-License-Identifier: MIT */
/*
 * cleanup.h - functions to be called when the task on a strand has returned.
 *
 * Most tasks own nothing but their frames.  Some tasks come to own more while they
 * run: fiber-local values, a waker, the identity of a task tree.  Each such
 * thing contains a cleanup and adds the cleanup to the list of the strand, so that
 * a task that owns nothing pays one look at a pointer.
 *
 * Cleanups run on the strand, while the task still counts as running; cleanups may
 * block, and may add new cleanups.  The cleanups that call the user's code come
 * first, the newest before the older: for the user's code the task has not ended,
 * and must still have its waker and its tree.  The waker and the tree go last.
 * Only the task itself touches the list.
 */
#ifndef SLEY_CORE_TASK_CLEANUP_H
#define SLEY_CORE_TASK_CLEANUP_H

#include <stdbool.h>
#include <stddef.h>

struct cleanup {
	struct cleanup *next;
	/* May free its container.  NULL: in no list. */
	void (*fn)(struct cleanup *cleanup);
};

/* Zeroed memory is a cleanup that is in no list. */
static inline bool cleanup_is_added(const struct cleanup *cleanup)
{
	return cleanup->fn;
}

static inline void cleanup_add(struct cleanup **list, struct cleanup *cleanup,
			       void (*fn)(struct cleanup *cleanup))
{
	cleanup->fn = fn;
	cleanup->next = *list;
	*list = cleanup;
}

/*
 * Behind all cleanups of the list: @fn takes away things that the others may
 * still use.
 */
static inline void cleanup_add_last(struct cleanup **list,
				    struct cleanup *cleanup,
				    void (*fn)(struct cleanup *cleanup))
{
	while (*list)
		list = &(*list)->next;
	cleanup_add(list, cleanup, fn);
}

static inline void cleanups_run(struct cleanup **list)
{
	struct cleanup *cleanup;

	while ((cleanup = *list)) {
		void (*fn)(struct cleanup * cleanup) = cleanup->fn;

		*list = cleanup->next;
		cleanup->fn = NULL;
		fn(cleanup);
	}
}

#endif
