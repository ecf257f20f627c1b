/* SPDX-License-Identifier: MIT */
/*
 * name.h - names and topics, as far as the end of a process concerns them.
 */
#ifndef SLEY_ACTOR_NAME_H
#define SLEY_ACTOR_NAME_H

#include "actor/process.h"

/*
 * Step 3 of process_end(): @pid, which process->pid is no longer, loses its names
 * and leaves its topics.  Cheap for who has none.
 */
void names_forget(struct process *process, sley_pid pid);
void topics_forget(struct process *process, sley_pid pid);

/* As sley_register(). */
must_check int name_register(const char *name, sley_pid pid, sley_pid *owner);

/* One of the names of @pid, or "". */
void name_of(sley_pid pid, char name[SLEY_NAME_MAX + 1]);

#endif
