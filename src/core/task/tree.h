/* SPDX-License-Identifier: MIT */
/*
 * tree.h - task trees: tasks that may count as one.
 *
 * A tree is a number that is never used again.  A task belongs to the tree of
 * its group, if sley_group_in_tree() gave it one; else it is the root of a tree
 * of its own, whose number is made when somebody asks for it and kept on the
 * strand.  Forked children are in the tree of their parent: those that run on
 * its strand anyway; a stolen one knows its parent's strand, which stays until
 * it is joined.  A plain thread is a tree of its own, for its life.
 *
 * So spawning and forking cost nothing.  A stolen child may make the number of
 * its parent while the parent does, hence the compare-and-swap; but only the
 * task itself hangs up what forgets the number at its end, at the latest when
 * it joins that child.
 */
#ifndef SLEY_CORE_TASK_TREE_H
#define SLEY_CORE_TASK_TREE_H

#include "core/task/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct strand;

/* In a strand: the tree of which the task on it is the root. */
struct tree {
	uint64_t id;            /* 0: nobody has asked                     */
	bool kept;              /* the cleanup is hung up: the task's own   */
	struct cleanup cleanup; /* forgets it                              */
};

/* The tree of the calling task or thread; never 0. */
uint64_t tree_current(void);

/* By the task on @strand, after others may have asked for its tree. */
void tree_keep(struct strand *strand);

#endif
