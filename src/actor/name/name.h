/* SPDX-License-Identifier: MIT */
/*
 * name.h - names and topics, as far as the life of a process concerns them.
 */
#ifndef SLEY_ACTOR_NAME_NAME_H
#define SLEY_ACTOR_NAME_NAME_H

#include "actor/process/process.h"

/*
 * sley_name_register(), for who has options with a name in them.  If the process has no
 * label, its name is that as well, for all its life.
 */
must_check int name_register(const char *text, sley_pid pid, sley_pid *owner);

/*
 * Step 3 of process_end(): @process, whose pid nobody finds any more, loses its
 * names and leaves its topics.  Cheap for who has none.
 */
void names_forget(struct process *process);
void topics_forget(struct process *process);

/* One of the names of @pid, or "". */
void name_of(sley_pid pid, char text[SLEY_NAME_MAX + 1]);

#endif
