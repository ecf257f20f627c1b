/* SPDX-License-Identifier: MIT */
/*
 * lease_gate.h - the workers that wait for a core, and the cores that they are handed.
 *
 * See core/sched/lease.h for the protocol.  Everything here is under one lock of the
 * runtime, lease.lock, which is held for a few dozen instructions, and while ops->want()
 * is told of a change.  No thread is woken with the lock held.
 */
#ifndef SLEY_CORE_SCHED_LEASE_GATE_H
#define SLEY_CORE_SCHED_LEASE_GATE_H

#include "core/sched/lease.h"

static inline void lease_count(uint64_t *counter)
{
#ifndef SLEY_MODEL
	/* relaxed: statistics. */
	(void)add_relaxed(counter, 1);
#else
	(void)counter;
#endif
}

/* True: @own, of the calling worker, stands at the gate.  False: switched off. */
must_check bool lease_gate_stand(struct lease *lease, struct worker_lease *own,
				 struct lease_need need);

/*
 * Of a worker that stood there: what it could run may have changed.  True: it is first, so
 * that it sleeps in ops->wait().
 */
must_check bool lease_gate_change(struct lease *lease, struct worker_lease *own,
				  struct lease_need need);

/* False: a giver, or switching off, was faster. */
must_check bool lease_gate_leave(struct lease *lease, struct worker_lease *own);

/* Hand @core, which a worker had, to the first at the gate.  False: nobody waits. */
must_check bool lease_gate_grant(struct lease *lease, int core);

/*
 * The same at the end of a turn: to a worker with a task of its own that is more urgent
 * than @level, or @equal if that will do.
 */
must_check bool lease_gate_turn(struct lease *lease, int core,
				unsigned int level, bool equal);

/* Would lease_gate_turn() find a worker? */
bool lease_gate_has_turn(struct lease *lease, unsigned int level, bool equal);

/* The first looks for a core. */
void lease_gate_kick(struct lease *lease);

/* @own, if it stands there, looks again at what it could run. */
void lease_gate_call(struct lease *lease, struct worker_lease *own);

/*
 * The first, or @own if not NULL, could run a task of @level.  True: this is more urgent
 * than all that it could run, and it looks again.
 */
bool lease_gate_raise(struct lease *lease, struct worker_lease *own,
		      unsigned int level);

/*
 * @own, which stands there for an urgent task, leaves to run without a core.  False: another
 * worker does so, or @own does not stand there any more.
 */
must_check bool lease_gate_overtake(struct lease *lease,
				    struct worker_lease *own);

/*
 * The calling worker, which does not stand there, runs a task of @level without a core.
 * False: another worker does so, or waits for a task as urgent.
 */
must_check bool lease_gate_pass_by(struct lease *lease, unsigned int level);

/* The patience of a worker that runs without a core may be at its end. */
void lease_gate_insist(struct lease *lease, uint64_t now_ns);

/* That worker has a core now, or has no urgent task. */
void lease_gate_come_back(struct lease *lease);

/* All leave, without cores, and none comes any more. */
void lease_gate_open(struct lease *lease);

#endif
