/* SPDX-License-Identifier: MIT */
/*
 * tree.h - task trees: a task, its forked children, and the groups that were put into
 * its tree.  They count as one owner of a re-entrant lock (sync/rwlock_tree.h).
 *
 * A tree is a number that is never used again.  A task belongs to the tree of
 * its group, if sley_group_in_tree() gave the group a tree.  Every other task is
 * the root of a tree; the number is made when the first caller asks for it, and is
 * kept on the strand.  Forked children are in the tree of their parent.  Most of
 * them run on the parent's strand anyway; a stolen child knows the strand of its
 * parent, which stays until the child is joined.  A plain thread is a tree, for
 * the life of the thread.
 *
 * So spawning and forking cost nothing.  A stolen child may make the number of
 * its parent while the parent does the same, hence the compare-and-swap.  Only the
 * task itself adds the cleanup that forgets the number at the end of the task, at
 * the latest when the task joins that child.
 */
#ifndef SLEY_CORE_TASK_TREE_H
#define SLEY_CORE_TASK_TREE_H

#include "core/task/cleanup.h"

#include <stdint.h>

struct strand;

/* In a strand: the tree of which the task on it is the root. */
struct tree {
	uint64_t id;            /* 0: no caller has asked                  */
	struct cleanup cleanup; /* forgets the number: the task's own      */
};

/* The tree of the calling task or thread; never 0. */
uint64_t tree_current(void);

/* By the task on @strand, after other tasks may have asked for its tree. */
void tree_keep(struct strand *strand);

#endif
