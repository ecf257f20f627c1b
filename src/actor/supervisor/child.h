/* SPDX-License-Identifier: MIT */
/*
 * child.h - a child of a supervisor: its description, and the process that was
 * started last from the description, if that process is alive.
 *
 *           child_start          the process ends
 *   IDLE ───────────────► ALIVE ───────────────────┐
 *    ▲ ▲                    │ child_end            │
 *    │ │   ended            ▼                      ▼
 *    │ └───────────────── ENDING     is it to be started again?
 *    │                                 no │        │ later: child_pause
 *    └────────────────────────────────────┘        ▼
 *                                             PAUSED ──► child_start
 *
 * The history of a child is kept here, over all its processes, to judge the next
 * failure: the length of the last pause, and the times of the failures.  So the
 * pauses really grow.
 */
#ifndef SLEY_ACTOR_SUPERVISOR_CHILD_H
#define SLEY_ACTOR_SUPERVISOR_CHILD_H

#include "actor/mail/mail.h"
#include "actor/supervisor/reminder.h"
#include "core/life/intensity.h"
#include "base/compiler.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/rand.h"
#include "mem/alloc.h"

#include <errno.h>
#include <sley/supervisor.h>

enum child_state {
	CHILD_IDLE, /* has ended, or has not begun               */
	CHILD_ALIVE,
	CHILD_ENDING, /* was asked to end                          */
	CHILD_PAUSED, /* has ended, and will be started again      */
};

struct child {
	struct list order; /* in the list of children, or of gone children */
	struct hash_node node; /* in the table of children, by pid          */
	struct sley_child spec;
	sley_pid pid;             /* of its present or last process; or 0     */
	sley_pid first;           /* of its first process                     */
	uint64_t monitor;         /* of its present process                   */
	uint64_t start_ns;        /* of its present process                   */
	uint64_t pause_ns;        /* the last, without the random part; or 0  */
	struct reminder reminder; /* ENDING, PAUSED                  */
	struct intensity restarts;  /* if the child has an intensity   */
	struct mail_queue removers; /* calls that wait for the end     */
	uint32_t state;         /* enum child_state                         */
	bool removed;           /* to be forgotten after the end            */
	bool restarts_in_group; /* is being ended to be started again       */
	bool complained;        /* a failed start was reported              */
	bool gone;              /* forgotten, but reminders are to come     */
};

/* NULL: no memory. */
must_check struct child *child_create(struct mem *mem,
				      const struct sley_child *spec);

/* @child is on no list, and no stale reminder will come. */
void child_free(struct child *child, struct mem *mem);

static inline bool child_lives(const struct child *child)
{
	return child->state == CHILD_ALIVE || child->state == CHILD_ENDING;
}

/*
 * Spawn @child, linked with and monitored by the calling supervisor.  May wait,
 * if @child is a supervisor.  The caller puts the new pid into the table of
 * children.
 */
must_check int child_start(struct child *child);

/*
 * Ask @child, which is ALIVE, to end, and set the reminder that kills it.  False:
 * there was no memory to ask @child, and it was killed.
 */
must_check bool child_end(struct child *child, struct list *late);

/* @child has not ended in time. */
void child_kill(struct child *child);

/* SLEY_DOWN came.  The state is IDLE now. */
void child_ended(struct child *child);

/*
 * How long @child should wait before it is started again, at @now_ns.  @started:
 * it ran; else it could not be started.  @stable_ns is a long run, after which
 * the pauses begin anew.
 */
must_check uint64_t child_next_pause(struct child *child, bool started,
				     uint64_t now_ns, uint64_t stable_ns,
				     struct rand *rand);

/* Start @child again at @when_ns. */
void child_pause(struct child *child, uint64_t when_ns, struct list *late);

/* Has @child to be started again, after an end for @reason? */
static inline bool child_wants_restart(const struct child *child, int reason)
{
	if (child->spec.restart == SLEY_TRANSIENT)
		return reason != 0 && reason != -ECANCELED;
	return child->spec.restart == SLEY_PERMANENT;
}

#endif
