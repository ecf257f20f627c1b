/* SPDX-License-Identifier: MIT */
/*
 * child.h - one child of a supervisor: a description that lives now and then.
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
 * What is needed to judge the next failure is kept here, over all its lives: how
 * long it waited last, and when it failed.  So the pauses really grow.
 */
#ifndef SLEY_ACTOR_SUPERVISOR_CHILD_H
#define SLEY_ACTOR_SUPERVISOR_CHILD_H

#include "actor/mail/mail.h"
#include "actor/supervisor/reminder.h"
#include "core/life/intensity.h"
#include "base/compiler.h"
#include "base/list.h"
#include "base/rand.h"
#include "mem/alloc.h"

#include <errno.h>
#include <sley/supervisor.h>

enum child_state {
	CHILD_IDLE, /* it has come to its end, or has not begun  */
	CHILD_ALIVE,
	CHILD_ENDING, /* it was asked to end                       */
	CHILD_PAUSED, /* it has ended, and will be started again   */
};

struct child {
	struct list order;  /* of its children, or of those that are gone */
	struct child *next; /* in its bucket of the children              */
	struct sley_child spec;
	sley_pid pid;             /* of its life, or of the last one; 0: none */
	sley_pid first;           /* of its first life                        */
	uint64_t monitor;         /* of its life                              */
	uint64_t start_ns;        /* of its life                              */
	uint64_t pause_ns;        /* before it, without chance; 0: none       */
	struct reminder reminder; /* ENDING, PAUSED                  */
	struct intensity restarts;  /* if it has an intensity          */
	struct mail_queue removers; /* who wait for its end            */
	uint32_t state;         /* enum child_state                         */
	bool removed;           /* to be forgotten when it has ended        */
	bool restarts_in_group; /* is being ended to be started again       */
	bool complained;        /* that it cannot be started                */
	bool gone;              /* forgotten, but reminders are to come     */
};

/* NULL: no memory. */
must_check struct child *child_create(struct mem *mem,
				      const struct sley_child *spec);

/* It is on no list, and no stale reminder will come. */
void child_free(struct child *child, struct mem *mem);

static inline bool child_lives(const struct child *child)
{
	return child->state == CHILD_ALIVE || child->state == CHILD_ENDING;
}

/*
 * Spawn it, linked with and monitored by the calling supervisor.  May wait, if it
 * is a supervisor.  The caller puts its new pid into the table of children.
 */
must_check int child_start(struct child *child);

/*
 * Ask it to end, and see to it that it does; it must be ALIVE.  False: there was no
 * memory to ask it, and it was killed.
 */
must_check bool child_end(struct child *child, struct list *late);

/* It has not ended in its time. */
void child_kill(struct child *child);

/* SLEY_DOWN came.  Its state is IDLE now, or PAUSED if its group is started again. */
void child_ended(struct child *child);

/*
 * How long it should wait before it is started again, at @now_ns.  @started: it
 * lived; else it could not be started.  @stable_ns is a long life.
 */
must_check uint64_t child_next_pause(struct child *child, bool started,
				     uint64_t now_ns, uint64_t stable_ns,
				     struct rand *rand);

/* Start it again at @when_ns. */
void child_pause(struct child *child, uint64_t when_ns, struct list *late);

/* Does it have to be started again, having ended for @reason? */
static inline bool child_wants_restart(const struct child *child, int reason)
{
	if (child->spec.restart == SLEY_TRANSIENT)
		return reason != 0 && reason != -ECANCELED;
	return child->spec.restart == SLEY_PERMANENT;
}

#endif
