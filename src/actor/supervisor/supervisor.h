/* SPDX-License-Identifier: MIT */
/*
 * supervisor.h - a step process that looks after others.
 *
 * It traps, and is linked with each child, so that none outlives it; what it hears
 * of their ends it hears by monitors.  What it has to do later it is reminded of
 * (actor/supervisor/reminder.h), what others want of it are calls.  It waits nowhere, except
 * for a child that is a supervisor to start.
 *
 *           a child has failed      all of those have ended
 *   UP ───────────────► ENDS ──────────────────────► PAUSES
 *   ▲ │  (one-for-one: that          ▲                 │
 *   │ │   child pauses alone)        │ another failed  │ the time has come:
 *   │ │                              └─────────────────┤ they are started
 *   │ │                                                │
 *   └─┼────────────────────────────────────────────────┘
 *     │ cancelled, its parent failed, too many restarts: from any of these
 *     ▼
 *   STOPS ─────────► OVER      all children have ended
 *
 * The group that is started again is all children from ->first to the last.  They are ended one by
 * one, from the last to the first: ->cursor is the one that is waited for.  One of
 * them that ends by itself meanwhile did what it was going to be asked for.  If one
 * before them fails, it is the first from then on.
 *
 * Calls to remove a child are served at once in all phases but the last two, calls
 * to add one when it is UP.  In STOPS nothing is served: who calls gets the reason
 * of the supervisor's end.
 */
#ifndef SLEY_ACTOR_SUPERVISOR_SUPERVISOR_H
#define SLEY_ACTOR_SUPERVISOR_SUPERVISOR_H

#include "actor/supervisor/child.h"
#include "actor/mail/mail.h"
#include "actor/supervisor/reminder.h"
#include "actor/supervisor/children.h"
#include "core/life/intensity.h"
#include "base/compiler.h"
#include "base/rand.h"

#include <sley/supervisor.h>

enum supervisor_phase {
	SUPERVISOR_UP,
	SUPERVISOR_ENDS,
	SUPERVISOR_PAUSES,
	SUPERVISOR_STOPS,
	SUPERVISOR_OVER,
};

struct supervisor {
	enum sley_strategy strategy;
	uint32_t intensity;
	uint64_t within_ns;
	sley_pid parent; /* linked with it; 0: none               */
	struct sley *rt; /* NULL: it has had no step              */
	struct children children;
	struct list late; /* reminders without memory              */
	struct intensity restarts;
	struct rand rand;
	struct mail_queue adds; /* wait until it is UP                   */
	struct child *first; /* that restarts_in_group                         */
	struct child *cursor;     /* the next to end; NULL: all have       */
	struct reminder reminder; /* PAUSES                              */
	uint64_t due_ns;          /* when the group may start again     */
	uint32_t phase;           /* enum supervisor_phase                 */
	int reason;               /* of its end: STOPS, OVER               */
	bool short_of_memory;     /* that was reported                  */
	bool unstarted;           /* its first children cannot be started  */
};

/* What init gets. */
struct supervisor_input {
	struct sley_supervisor_options options;
	sley_pid parent;
};

extern const struct sley_behaviour sley__supervisor;

/* What it is called for: tags. */
#define SUPERVISOR_START 0x7375706572000001u  /* struct sley_child[]      */
#define SUPERVISOR_ADD 0x7375706572000002u    /* struct sley_child        */
#define SUPERVISOR_REMOVE 0x7375706572000003u /* sley_pid                 */

/* And answers, except to SUPERVISOR_START: that all is well. */
struct supervisor_answer {
	int32_t error;
	sley_pid pid;
};

/* ---- restart.c: one child has failed ------------------------------------------- */

/*
 * @child ended for @reason, or could not be started for it, and is to be started
 * again.
 */
void supervisor_failed(struct supervisor *supervisor, struct child *child,
		       int reason, bool started);

/* Start it; if that fails, it has failed. */
void supervisor_start_child(struct supervisor *supervisor, struct child *child);

/* Ask it to end; it is ALIVE. */
void supervisor_end_child(struct supervisor *supervisor, struct child *child);

/* End all, and itself. */
void supervisor_stop(struct supervisor *supervisor, int reason);

/* ---- restart_group.c: several children, in order -------------------------------------- */

/* End those that @failed takes along, and start them again in @pause_ns. */
void supervisor_restart_group(struct supervisor *supervisor,
			      struct child *failed, uint64_t pause_ns);

/* The pause is over. */
void supervisor_start_again(struct supervisor *supervisor);

/* Go on with what it is doing to several children, as far as that goes. */
void supervisor_proceed(struct supervisor *supervisor);

/* @child, which does not live, is no child any more. */
void supervisor_forget(struct supervisor *supervisor, struct child *child);

/* ---- add_remove.c: children come and go ------------------------------------------- */

void supervisor_start(struct supervisor *supervisor, struct sley_msg *msg);
void supervisor_add(struct supervisor *supervisor, struct sley_msg *msg);
void supervisor_remove(struct supervisor *supervisor, struct sley_msg *msg);

/* It is UP: serve those who had to wait. */
void supervisor_serve_adds(struct supervisor *supervisor);

/* @child, which has ended, was removed: tell those who wait for that. */
void supervisor_removed(struct supervisor *supervisor, struct child *child);

#endif
