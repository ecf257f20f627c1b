/* SPDX-License-Identifier: MIT */
/*
 * exit_info.h - the end of a process: why, when, and with which result.
 *
 * Each process and call that is told of an end (actor/relation/relation.h) gets
 * this.
 *
 * The end of a joinable process is also kept in the place of the process, until a
 * caller has waited for the end.  The place then has no process and is not used
 * again:
 *
 *   pid     the pid of the process, inverted: no process has this pid, and a look
 *           for it leads to a different place
 *   ended   how the process ended
 *
 * Two parties have to be done with the place before it goes back to the table, in
 * any order: the process, whose last turn has to be over, and the collector of
 * the end.  Under the lock of the place, each party finds out whether it is the
 * second:
 *
 *   the end          exit_info_keep():     the pid is inverted
 *   the last turn    exit_info_leave():    the pid is still inverted: says so in
 *                                          ->left, leaves the place to the
 *                                          collector
 *   the collector    exit_info_collect():  the pid becomes 0; gives the place
 *                                          back if the process has left it
 *
 * Edges: L1 of lf/spin.h.
 */
#ifndef SLEY_ACTOR_PROCESS_EXIT_INFO_H
#define SLEY_ACTOR_PROCESS_EXIT_INFO_H

#include "actor/process/process.h"

static inline sley_pid exit_info_mark(sley_pid pid)
{
	return ~pid;
}

/* Copy @from to @to, which gets a reference to the result, too. */
void exit_info_copy(struct exit_info *to, const struct exit_info *from);

/* @ending is not needed any more: give up its reference. */
void exit_info_drop(struct exit_info *ending);

/* Keep the end of @process, which is locked and has lost its pid, @pid. */
void exit_info_keep(struct process *process, sley_pid pid,
		    const struct exit_info *ending);

/* The last turn of @process is over.  False: the place is left to the collector. */
must_check bool exit_info_leave(struct process *process);

/*
 * Collect the end of @pid into @ending, or drop it if @ending is NULL.  False: no
 * end was kept, or it was collected before.
 */
must_check bool exit_info_collect(sley_pid pid, struct exit_info *ending);

#endif
