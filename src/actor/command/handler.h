/* SPDX-License-Identifier: MIT */
/*
 * handler.h - the handler of each command: a table by number, for the program.
 *
 * Each yield looks a handler up, on all workers; registering is rare.  So the
 * table is read without a lock, and without writing:
 *
 *   version   odd: there is a handler; even: there is no handler
 *   function, argument, timeout
 *
 * The registrar, under a lock, finds an even version, writes the three fields,
 * then the version.  To remove the handler, it makes the version even.  A reader
 * takes the version, the three fields, and looks at the version again.  If the
 * version has changed, the fields may belong to two handlers.  But between two
 * handlers there is always a time without a handler, so the reader may say that
 * there was no handler, and never tries twice.
 *
 * The places are those of a table (mem/table.h).  A chunk is made for the first
 * command in it, and is never freed.  A place has no tenants one after the other,
 * and so no generation: the number of the command is all.
 *
 * Edges:
 *
 *   H1  register makes the version odd -> find sees it : the three fields
 *   H2  register writes one of the three -> find reads it : the version is not the
 *       version that find has read before
 *
 * Rejected: a record for each handler, found by a pointer (the record can be
 * freed only when no reader has it; to know that, readers have to write); a table
 * that cannot change once it is in use (a plugin comes and goes).
 */
#ifndef SLEY_ACTOR_COMMAND_HANDLER_H
#define SLEY_ACTOR_COMMAND_HANDLER_H

#include "base/compiler.h"

#include <sley/step.h>

struct handler {
	sley_handler *fn;
	void *arg;
	uint64_t timeout_ns; /* 0: never */
};

/* Any thread.  False: @command has no handler. */
must_check bool handler_find(uint32_t command, struct handler *out);

#endif
