/* SPDX-License-Identifier: MIT */
/*
 * handler.h - who sees to which command: a table by number, for the program.
 *
 * Looking is what each yield does, on all workers; registering is rare.  So the
 * table is read without a lock, and without writing:
 *
 *   version   odd: there is a handler; even: there is none
 *   function, argument, timeout
 *
 * Who registers, under a lock, finds an even version, writes the three, then the
 * version.  Who takes the handler away makes it even.  A reader takes the version,
 * the three, and looks at the version again.  If it has changed, what was read may
 * be of two handlers.  But between two handlers there is always none, so the
 * reader may say that there was none, and never tries twice.
 *
 * Places are in chunks that are made for the first command among them, and are
 * never freed.
 *
 * Edges:
 *
 *   H1  register makes the version odd -> find sees it : the three
 *   H2  register writes one of the three -> find reads it : the version is not the
 *       one it has read before
 *   H3  register publishes a chunk -> find reads its address : the chunk is mapped
 *
 * Rejected: a record for each handler, found by one pointer (it can be freed only
 * when no reader has it; to know that, readers have to write); a table that cannot
 * change once it is in use (a plugin comes and goes).
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

/* Any thread.  False: @command has none. */
must_check bool handler_find(uint32_t command, struct handler *out);

#endif
