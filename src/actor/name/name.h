/* SPDX-License-Identifier: MIT */
/*
 * name.h - names and topics, at the start and at the end of a process.
 */
#ifndef SLEY_ACTOR_NAME_NAME_H
#define SLEY_ACTOR_NAME_NAME_H

#include "actor/process/process.h"

/*
 * sley_name_register(), for a process whose options have a name.  If the process
 * has no label, the name is its label as well, for its whole life.
 */
must_check int name_register(const char *text, sley_pid pid, sley_pid *owner);

/*
 * Step 3 of process_end(): @process, whose pid is not found any more, loses its
 * names and leaves its topics.  Cheap for a process without names and topics.
 */
void names_forget(struct process *process);
void topics_forget(struct process *process);

/* A name of @pid, or "". */
void name_of(sley_pid pid, char text[SLEY_NAME_MAX + 1]);

#endif
