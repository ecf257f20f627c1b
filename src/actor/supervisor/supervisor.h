/* SPDX-License-Identifier: MIT */
/*
 * supervisor.h - a step process that looks after its children.
 *
 * A supervisor traps, and is linked with each child, so that no child outlives
 * it.  Monitors tell it of the ends of the children, reminders
 * (actor/supervisor/reminder.h) of work that is due, and calls of the wishes of
 * others.  It waits nowhere, except for the start of a child that is a
 * supervisor.
 *
 *           a child has failed      the whole group has ended
 *   UP ───────────────► ENDS ──────────────────────► PAUSES
 *   ▲ │  (one-for-one: that          ▲                 │
 *   │ │   child pauses alone)        │ a child failed  │ the time has come:
 *   │ │                              └─────────────────┤ the group is started
 *   │ │                                                │
 *   └─┼────────────────────────────────────────────────┘
 *     │ cancelled, the parent failed, too many restarts: from any of these
 *     ▼
 *   STOPS ─────────► OVER      all children have ended
 *
 * The group that is started again is all children from ->first to the last.  The
 * supervisor ends the group child by child, from the last to the first, and waits
 * for the child at ->cursor.  A child of the group that ends by itself meanwhile
 * need not be asked to end.  If a child before the group fails, that child is
 * ->first from then on.
 *
 * Calls to remove a child are served at once in all phases but the last two,
 * calls to add a child when the phase is UP.  In STOPS no call is served: the
 * caller gets the reason of the supervisor's end.
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
	sley_pid parent; /* linked with it; 0: no parent          */
	struct sley *rt; /* NULL: no step so far                  */
	struct children children;
	struct list late; /* reminders without memory              */
	struct intensity restarts;
	struct rand rand;
	struct mail_queue adds; /* calls that wait for UP                */
	struct child *first; /* of the group                                   */
	struct child *cursor;     /* the next to end; NULL: all ended      */
	struct reminder reminder; /* PAUSES                              */
	uint64_t due_ns;          /* when the group may start again     */
	uint32_t phase;           /* enum supervisor_phase                 */
	int reason;               /* of the end: STOPS, OVER               */
	bool short_of_memory;     /* was reported                       */
	bool unstarted;           /* the first children cannot be started  */
};

/* The input of init. */
struct supervisor_input {
	struct sley_supervisor_options options;
	sley_pid parent;
};

extern const struct sley_behaviour sley__supervisor;

/* The tags of calls to a supervisor. */
#define SUPERVISOR_START 0x7375706572000001u  /* struct sley_child[]      */
#define SUPERVISOR_ADD 0x7375706572000002u    /* struct sley_child        */
#define SUPERVISOR_REMOVE 0x7375706572000003u /* sley_pid                 */

/* The answer to a call; the answer to SUPERVISOR_START has no bytes. */
struct supervisor_answer {
	int32_t error;
	sley_pid pid;
};

/* ---- restart.c: a child has failed --------------------------------------------- */

/*
 * @child ended for @reason, or could not be started for @reason, and is to be
 * started again.
 */
void supervisor_failed(struct supervisor *supervisor, struct child *child,
		       int reason, bool started);

/* Start @child; if that fails, the child has failed. */
void supervisor_start_child(struct supervisor *supervisor, struct child *child);

/* Ask @child, which is ALIVE, to end. */
void supervisor_end_child(struct supervisor *supervisor, struct child *child);

/* End all children, then the supervisor. */
void supervisor_stop(struct supervisor *supervisor, int reason);

/* ---- restart_group.c: several children, in order -------------------------------------- */

/* End the group of @failed, and start it again in @pause_ns. */
void supervisor_restart_group(struct supervisor *supervisor,
			      struct child *failed, uint64_t pause_ns);

/* The pause is over: start the group. */
void supervisor_start_again(struct supervisor *supervisor);

/* Go on with ending or restarting several children, as far as possible. */
void supervisor_proceed(struct supervisor *supervisor);

/* @child, which does not live, is no child any more. */
void supervisor_forget(struct supervisor *supervisor, struct child *child);

/* ---- add_remove.c: children come and go ------------------------------------------- */

void supervisor_start(struct supervisor *supervisor, struct sley_msg *msg);
void supervisor_add(struct supervisor *supervisor, struct sley_msg *msg);
void supervisor_remove(struct supervisor *supervisor, struct sley_msg *msg);

/* The supervisor is UP: serve the calls that had to wait. */
void supervisor_serve_adds(struct supervisor *supervisor);

/* @child, which has ended, was removed: answer the calls that wait for this. */
void supervisor_removed(struct supervisor *supervisor, struct child *child);

#endif
