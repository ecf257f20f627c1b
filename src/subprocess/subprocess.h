/* SPDX-License-Identifier: MIT */
/*
 * subprocess.h - a child, as the program sees it: its calls, its lives.
 *
 * A call waits in the queue until there is room in the ring, and then there until it
 * is done.  Whoever calls *collects*, under the lock: takes all answers that are
 * there, brings what is queued.  It does so while it spins; when it goes to sleep it
 * has the child ring its bell, and the collector of collector.h does it.  Those
 * whose calls were collected are told without the lock; a call is on the stack of
 * who made it, and nothing of it is touched afterwards.
 *
 *           START sent          it is ready           STOP, or killed
 *     NEW ------------> STARTING ------------> RUNNING --------------> GONE
 *                          ^   |                  |
 *                          |   '------ died ------|---> DOWN --------> GONE
 *                          '------- tolerated ----'       (destroyed)
 *
 * Its death: what it had answered counts; what it had begun fails, since nobody knows
 * how much of it was done; what it had not begun is queued again, with the argument of
 * the caller and not with that in the ring, which the child could write to.  None of
 * this happens before the server has reaped it.
 */
#ifndef SLEY_SUBPROCESS_SUBPROCESS_H
#define SLEY_SUBPROCESS_SUBPROCESS_H

#include "core/life/intensity.h"
#include "subprocess/call_ring.h"
#include "subprocess/fork_server.h"
#include "endpoint/endpoint.h"
#include "lf/spin.h"

#include <sley/sync.h>

struct subprocess_call {
	struct subprocess_call *next;
	struct sley_event ended;
	uint32_t fn;
	uint32_t arg_size;
	const void *arg;
	struct sley_subprocess_result *result;
	uint32_t number; /* in the ring                              */
	bool in_ring;
	bool waits;    /* sleeps, or is about to                     */
	bool finished; /* somebody has it, and sets ended            */
};

struct subprocess_calls {
	struct subprocess_call *first;
	struct subprocess_call **last;
};

enum subprocess_phase {
	LIFE_NEW,
	LIFE_STARTING,
	LIFE_RUNNING,
	LIFE_DOWN,
	LIFE_GONE,
};

struct sley_subprocess {
	struct sley_endpoint endpoint;
	struct sley_subprocess_options options;
	uint32_t id;
	unsigned int generation; /* of the process that it belongs to */
	uint32_t on_start;       /* its number, or 0                       */
	int segment;             /* descriptors */
	int bell;
	struct call_ring *ring;
	struct sley_event started; /* or never will be               */
	struct sley_event gone;
	int start_error;

	cache_aligned struct spinlock lock; /* of all below          */
	enum subprocess_phase phase;
	uint32_t life;
	uint32_t asked;     /* as in the ring, but believed          */
	uint32_t collected; /* up to here                            */
	uint32_t nr_waiting;
	struct subprocess_calls queue;
	bool watched; /* it rings the bell, or has rung it           */
	bool timed;   /* the collector knows that there is a call    */
	bool broken;  /* it lies                                     */
	bool closing;
	bool killed;
	bool was_ready; /* once, in any life                     */
	int pid;        /* 0: none                               */
	uint64_t since_ns; /* when it started, began the oldest call or was stopped */
	uint64_t nr_restarts;
	uint32_t nr_in_vain; /* since it was ready, by the collector */
	struct intensity restarts;
	char death[SLEY_SUBPROCESS_TEXT_MAX]; /* "was killed by ..."       */
	struct subprocess_call *calls[]; /* in the ring; NULL: given up   */
};

static inline void subprocess_calls_init(struct subprocess_calls *calls)
{
	calls->first = NULL;
	calls->last = &calls->first;
}

static inline void subprocess_calls_add(struct subprocess_calls *calls,
					struct subprocess_call *call)
{
	call->next = NULL;
	*calls->last = call;
	calls->last = &call->next;
}

/* Without the lock: those who made them go on. */
void subprocess_calls_end(struct subprocess_calls *calls);

static inline uint32_t subprocess_in_ring(const struct sley_subprocess *child)
{
	return call_ring_distance(child->collected, child->asked);
}

/* sley_subprocess_call() of a number of function_table.h, which may be an error. */
must_check int subprocess_call(struct sley_subprocess *child, int fn,
			       const void *arg, size_t size,
			       struct sley_subprocess_result *result,
			       uint64_t deadline_ns);

/* A child as an endpoint: subprocess_endpoint.c. */
extern const struct endpoint_ops subprocess_endpoint_ops;

/* ---- under the lock ------------------------------------------------------------- */

/* Takes the answers that are there. */
void subprocess_collect(struct sley_subprocess *child,
			struct subprocess_calls *ended);

/* What is queued goes into the ring, as far as it fits.  True: call_ring_wake(). */
must_check bool subprocess_bring(struct sley_subprocess *child);

/* @call is over, and it was the child's fault; why is in child->death. */
void subprocess_fail_call(struct sley_subprocess *child,
			  struct subprocess_call *call,
			  struct subprocess_calls *ended);

/* It has ended: all that it held fails, or is queued again. */
void subprocess_take_back(struct sley_subprocess *child,
			  struct subprocess_calls *ended);

/* All that is queued fails. */
void subprocess_fail_queue(struct sley_subprocess *child,
			   struct subprocess_calls *ended);

/* ---- by the collector ------------------------------------------------------------- */

/* Whatever is to be done; returns until when nothing is.  It may be GONE then. */
must_check uint64_t subprocess_look_after(struct sley_subprocess *child);

/* The server says. */
void fork_server_notice(struct sley_subprocess *child,
			const struct fork_server_notice *notice);

/* The server has ended, and so have all children. */
void subprocess_orphaned(struct sley_subprocess *child);

/* It is out of the family: whoever waits for that may free it. */
void subprocess_release(struct sley_subprocess *child);

#endif
