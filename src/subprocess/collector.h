/* SPDX-License-Identifier: MIT */
/*
 * collector.h - all children of a program, and the thread that looks after them.
 *
 * One thread, the *collector*, sleeps until a child rings its bell, the server says
 * that one has started or died, or a deadline comes.  Everything that happens to a
 * child in its life is done by this thread: so it is one thing after the other, and
 * what is told by several (it is late, it lies, it has died, it shall end) needs no
 * further order.  Calls are brought to a child and taken back by whoever comes by,
 * see subprocess.h.
 *
 * Rejected: a thread for each child, which would cost a stack and a wake-up more; a
 * worker that sleeps for children, which could not be woken by another process.
 */
#ifndef SLEY_SUBPROCESS_COLLECTOR_H
#define SLEY_SUBPROCESS_COLLECTOR_H

#include "base/compiler.h"
#include "subprocess/fork_server.h"

#include <sley/subprocess.h>
#include <stdbool.h>

/* Is there a server, and is it ours? */
must_check bool collector_exists(void);

/* Does the server of a parent of this process look after our family? */
must_check bool collector_is_lost(void);

/* In a child: it has none of the program's. */
void collector_forget(void);

/* @child has a number from now on, and is looked after: 0 or -errno. */
must_check int collector_join(struct sley_subprocess *child);

/* Somebody wants the collector to look. */
void collector_nudge(void);

/* By the collector: the server starts a child; 0 or -errno. */
must_check int collector_start(const struct fork_server_order *order,
			       const int *fds);

/* The same: it kills one.  If it cannot be told it ends, and all with it. */
void collector_kill(const struct fork_server_order *order);

#endif
