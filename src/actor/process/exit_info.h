/* SPDX-License-Identifier: MIT */
/*
 * exit_info.h - the end of a process: why, when, and with which result.
 *
 * Everybody who is told of an end (actor/relation/relation.h) is told this.
 *
 * The end of a joinable process is also kept in its place, until somebody has waited
 * for it.  The place then has no process and is not used again:
 *
 *   pid     that of the process, inverted: it is the pid of nobody, and a look for it
 *           leads to another place
 *   ended   what there is to be told
 *
 * Two have to be done with the place before it goes back to the table, in any order:
 * its process, whose last turn has to be over, and the one who collects the end.
 * Under the lock of the place, each finds out whether it is the second:
 *
 *   the end          exit_info_keep():     the pid is inverted
 *   the last turn    exit_info_leave():    still inverted: says so in ->left, and
 *                                       leaves the place to the collector
 *   the collector    exit_info_collect():  the pid becomes 0; it gives the place back if
 *                                       the process has left it
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

/* @to is another one of the same: with a reference of its own. */
void exit_info_copy(struct exit_info *to, const struct exit_info *from);

/* Not needed any more. */
void exit_info_drop(struct exit_info *ending);

/* @process, which is locked and has the pid @pid no more, keeps its end. */
void exit_info_keep(struct process *process, sley_pid pid,
		    const struct exit_info *ending);

/* The last turn of @process is over.  False: its place is left to the collector. */
must_check bool exit_info_leave(struct process *process);

/*
 * The end of @pid, which was kept: to @ending, or nowhere if that is NULL.  False: it
 * was not, or somebody has it already.
 */
must_check bool exit_info_collect(sley_pid pid, struct exit_info *ending);

#endif
