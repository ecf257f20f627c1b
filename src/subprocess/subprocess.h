/* SPDX-License-Identifier: MIT */
/*
 * subprocess.h - a subprocess, as the program sees it: its calls, its lives.
 *
 * A call waits in the queue until there is room in the ring, and then in the ring
 * until it is done.  The caller *collects*, under the lock: it takes all answers
 * that are there, and puts queued calls into the ring.  It does so while it spins.
 * When it goes to sleep, it asks the subprocess to signal an eventfd.  A task asks for
 * the signal that its workers listen to, and one of them collects (listener.h).  For
 * a plain thread, and where no worker can listen, the collector of collector.h
 * collects.  The callers of collected calls are woken without the lock.  A call is on
 * the stack of its caller, and is not touched afterwards.
 *
 *           START sent          it is ready           STOP, or killed
 *     NEW ------------> STARTING ------------> RUNNING --------------> GONE
 *                          ^   |                  |
 *                          |   '------ died ------|---> DOWN --------> GONE
 *                          '------- restarted ----'       (destroyed)
 *
 * The death of a subprocess: answered calls count.  Begun calls fail, since it is
 * not known how much of them was done.  Other calls are queued again, with the
 * argument of the caller and not with the copy in the ring, which the subprocess
 * could write to.  If the argument is in a crate (crate.h), the caller itself is told
 * to call again.  All of this happens after the fork server has reaped the subprocess.
 */
#ifndef SLEY_SUBPROCESS_SUBPROCESS_H
#define SLEY_SUBPROCESS_SUBPROCESS_H

#include "core/life/intensity.h"
#include "core/wait/waitq.h"
#include "subprocess/call_ring.h"
#include "subprocess/fork_server.h"
#include "subprocess/crate.h"
#include "endpoint/endpoint.h"
#include "lf/spin.h"

#include <sley/sync.h>

struct listener;

/* What a caller asks for. */
struct call_spec {
	int fn; /* a number of function_table.h, or an error               */
	uint32_t head_size; /* at most CALL_HEAD_MAX                       */
	const void *head;   /* goes before the argument                    */
	const void *arg;
	size_t arg_size;
	size_t room; /* for a result by a crate, if that fits no slot       */
	uint64_t deadline_ns;
	enum wait_flags flags; /* WAIT_SHIELDED: a cancel does not end it  */
};

struct subprocess_call {
	struct subprocess_call *next;
	struct listener *listener; /* hears the answer; NULL: the collector */
	struct sley_event ended;
	struct call_spec spec;
	struct sley_subprocess_result *result;
	struct crate *crate; /* or NULL                            */
	uint32_t number;     /* in the ring                        */
	bool in_ring;
	bool waits;    /* the caller sleeps, or is about to          */
	bool finished; /* in a list of calls to end                  */
	bool again;    /* finished without a result: call again      */
};

/* A slot of the ring, in private memory. */
struct asked_call {
	struct subprocess_call *call; /* NULL: the caller gave up        */
	struct crate *crate;          /* of the call; or NULL            */
};

struct subprocess_calls {
	struct subprocess_call *first;
	struct subprocess_call **last;
};

/* Of one subprocess: runtimes whose workers listen to it. */
#define LISTENERS_MAX 4

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
	uint32_t on_start;       /* function number, or 0                  */
	int segment;             /* a descriptor, as those below      */
	int eventfd;             /* for the collector                 */
	int answers;             /* an eventfd for listeners          */
	struct call_ring *ring;
	struct crates crates;      /* its lists: lock                */
	struct sley_event started; /* or never will                  */
	struct sley_event gone;
	int start_error;

	cache_aligned struct spinlock lock; /* of all below          */
	enum subprocess_phase phase;
	uint32_t life;
	uint32_t asked;     /* as in the ring, but trusted           */
	uint32_t collected; /* answers taken, up to here             */
	uint32_t nr_waiting;
	uint32_t nr_heard; /* of these: calls with a listener        */
	struct subprocess_calls queue;
	uint32_t signals;     /* CALL_RING_*: will be signalled, or was  */
	bool timed;           /* the collector knows of a call           */
	bool broken;          /* its answers make no sense               */
	bool noisy;           /* it signals without answers              */
	bool deaf;            /* it was noisy once: no worker listens    */
	uint32_t nr_noises;   /* signals since the last answer       */
	uint32_t noise_since; /* collected at the last signal        */
	struct listener *listeners[LISTENERS_MAX]; /* or NULL        */
	bool last_life; /* it is not started again                   */
	bool closing;
	bool killed;
	bool was_ready;    /* in any life                           */
	int pid;           /* or 0                                  */
	uint64_t since_ns; /* the time of the start, oldest call, or stop */
	uint64_t nr_restarts;
	uint32_t nr_in_vain; /* ends since it was ready; by the collector */
	struct intensity restarts;
	char death[SLEY_SUBPROCESS_TEXT_MAX]; /* "was killed by ..."       */
	struct asked_call calls[];            /* in the ring               */
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

/* Without the lock: wakes the callers. */
void subprocess_calls_end(struct subprocess_calls *calls);

static inline uint32_t
subprocess_in_ring(const struct sley_subprocess *subprocess)
{
	return count_word_distance(subprocess->collected, subprocess->asked);
}

/* Under the lock: is the collector wanted, to kill it, or for crates that were left? */
static inline bool
subprocess_wants_care(const struct sley_subprocess *subprocess)
{
	return ((subprocess->broken || subprocess->noisy) &&
		!subprocess->killed) ||
	       subprocess->crates.left;
}

/* As sley_subprocess_create(); @large: its calls may have crates. */
must_check int subprocess_create(struct sley_subprocess **out,
				 const struct sley_subprocess_options *options,
				 bool large);

/* As sley_subprocess_call_until(). */
must_check int subprocess_call(struct sley_subprocess *subprocess,
			       const struct call_spec *spec,
			       struct sley_subprocess_result *result);

/* If the subprocess ends from now on, it is down. */
void subprocess_restart_no_more(struct sley_subprocess *subprocess);

/* Is it not started again? */
must_check bool subprocess_is_down(struct sley_subprocess *subprocess);

/* A subprocess as an endpoint: subprocess_endpoint.c. */
extern const struct endpoint_ops subprocess_endpoint_ops;

/* @crate is not used any more; without the lock. */
void subprocess_give_back(struct sley_subprocess *subprocess,
			  struct crate *crate);

/* ---- under the lock ------------------------------------------------------------- */

/* Queues @call; it fails if the subprocess is down. */
void subprocess_enqueue(struct sley_subprocess *subprocess,
			struct subprocess_call *call,
			struct subprocess_calls *ended);

/* Takes the answers that are there. */
void subprocess_collect(struct sley_subprocess *subprocess,
			struct subprocess_calls *ended);

/* Asks for the signals that waiting calls need, and that are not asked for yet. */
void subprocess_ask_signals(struct sley_subprocess *subprocess);

/* The caller of @call begins to wait; or the call is over, or given up. */
void subprocess_begin_wait(struct sley_subprocess *subprocess,
			   struct subprocess_call *call);
void subprocess_end_wait(struct sley_subprocess *subprocess,
			 struct subprocess_call *call);

/* Puts queued calls into the ring, as far as they fit.  True: call_ring_wake(). */
must_check bool subprocess_bring(struct sley_subprocess *subprocess);

/* Fails @call, by a fault of the subprocess; the reason is in ->death. */
void subprocess_fail_call(struct sley_subprocess *subprocess,
			  struct subprocess_call *call,
			  struct subprocess_calls *ended);

/* The subprocess has ended: its calls fail, or are queued again. */
void subprocess_take_back(struct sley_subprocess *subprocess,
			  struct subprocess_calls *ended);

/* A new life: queued calls whose crate the last life could write to are called again. */
void subprocess_send_spoilt_back(struct sley_subprocess *subprocess,
				 struct subprocess_calls *ended);

/* Fails all queued calls. */
void subprocess_fail_queue(struct sley_subprocess *subprocess,
			   struct subprocess_calls *ended);

/* ---- by the collector ------------------------------------------------------------- */

/* Handles all events of @subprocess, which may be GONE then.  The next deadline. */
must_check uint64_t subprocess_look_after(struct sley_subprocess *subprocess);

/* Handles a message from the fork server. */
void subprocess_notice(struct sley_subprocess *subprocess,
		       const struct fork_server_notice *notice);

/* The fork server has ended, and so have all subprocesses. */
void subprocess_orphaned(struct sley_subprocess *subprocess);

/* The collector has forgotten @subprocess: lets its creator or destroyer free it. */
void subprocess_release(struct sley_subprocess *subprocess);

#endif
