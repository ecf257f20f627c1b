/* SPDX-License-Identifier: MIT */
/*
 * lives.c - a subprocess is started, has ended, or is started again: each start
 * begins a new life.
 *
 * Phases: see subprocess.h.  Only the collector runs this; the lock is for callers.
 */
#include "subprocess/collector.h"
#include "subprocess/subprocess.h"

#include "os/eventfd.h"
#include "os/pidfd.h"

#include <errno.h>
#include <sley/error.h>
#include <stdio.h>
#include <string.h>

#define GRACE_NS 1000000000ull /* from STOP to the end */
#define NS_PER_MS 1000000ull

/* Work for after the lock is released. */
struct afterwards {
	struct subprocess_calls ended;
	bool wake;
	bool kill;
	bool start;
	bool started;       /* or never will */
	struct crate *left; /* by callers that gave up */
};

static void afterwards_init(struct afterwards *then)
{
	*then = (struct afterwards){ .kill = false };
	subprocess_calls_init(&then->ended);
}

static void remember_start(struct sley_subprocess *subprocess)
{
	uint32_t start_size = (uint32_t)subprocess->options.start_size;

	subprocess->life++;
	call_ring_reset(subprocess->ring, subprocess->life,
			subprocess->collected);
	/* The previous life may have written there. */
	subprocess->ring->depth = subprocess->options.depth;
	subprocess->ring->spin_ns = subprocess->options.spin_ns;
	subprocess->ring->on_start = subprocess->on_start;
	subprocess->ring->slot[0].arg_size = start_size;
	if (start_size)
		memcpy(subprocess->ring->slot[0].arg,
		       subprocess->options.start_arg, start_size);
	subprocess->asked = subprocess->collected;
	subprocess->phase = LIFE_STARTING;
	subprocess->signals = 0;
	subprocess->broken = false;
	subprocess->noisy = false;
	subprocess->killed = false;
	subprocess->since_ns = os_now();
}

/* ---- the end of a life ----------------------------------------------------------- */

/*
 * Called without the lock: it allocates memory, and only the collector changes the
 * fields it uses.  Restarts without success in between are counted by themselves,
 * too: without memory the intensity forgets.
 */
static bool is_tolerated(struct sley_subprocess *subprocess)
{
	const struct sley_subprocess_options *options = &subprocess->options;

	return subprocess->was_ready &&
	       options->max_restarts != SLEY_SUBPROCESS_NEVER &&
	       subprocess->nr_in_vain++ < options->max_restarts &&
	       intensity_take(&subprocess->restarts, &sley__program_mem,
			      options->max_restarts, options->within_ns,
			      os_now());
}

/* Under the lock: crates that were given up, and whose calls have ended. */
static void take_left(struct sley_subprocess *subprocess,
		      struct afterwards *then)
{
	then->left = subprocess->crates.left;
	subprocess->crates.left = NULL;
}

static void give_left_back(struct sley_subprocess *subprocess,
			   struct crate *left)
{
	while (left) {
		struct crate *next = left->next_left;

		subprocess_give_back(subprocess, left);
		left = next;
	}
}

/* Under the lock.  @error is for the creator; @again: a restart is allowed. */
static void end_life(struct sley_subprocess *subprocess, int error, bool again,
		     struct afterwards *then)
{
	subprocess_take_back(subprocess, &then->ended);
	take_left(subprocess, then);
	subprocess->pid = 0;
	if (subprocess->closing || !subprocess->was_ready) {
		subprocess->start_error = error;
		subprocess->phase = LIFE_GONE;
	} else if (again && !subprocess->last_life) {
		subprocess->nr_restarts++;
		remember_start(subprocess);
		subprocess_send_spoilt_back(subprocess, &then->ended);
		then->start = true;
		return;
	} else {
		subprocess->phase = LIFE_DOWN;
	}
	subprocess_fail_queue(subprocess, &then->ended);
}

static int order_start(const struct sley_subprocess *subprocess)
{
	const int fds[NR_FORK_SERVER_FDS] = {
		[FORK_SERVER_RING] = subprocess->segment,
		[FORK_SERVER_COLLECTOR] = subprocess->eventfd,
		[FORK_SERVER_WORKER] = subprocess->answers,
		[FORK_SERVER_CRATES] = subprocess->crates.file,
	};
	uint32_t nr_fds = NR_FORK_SERVER_FDS - (subprocess->crates.file < 0);
	struct fork_server_order order = { .kind = FORK_SERVER_START,
					   .id = subprocess->id,
					   .life = subprocess->life,
					   .depth = subprocess->options.depth };

	(void)snprintf(order.name, sizeof(order.name), "%s",
		       subprocess->endpoint.name);
	return collector_start(&order, fds, nr_fds);
}

/* Tells the fork server; if that fails, the life ends as by a death. */
static void send_start(struct sley_subprocess *subprocess)
{
	struct afterwards then;
	int err;

	while ((err = order_start(subprocess)) != 0) {
		bool again = err != -EPIPE && is_tolerated(subprocess);

		afterwards_init(&then);
		spin_lock(&subprocess->lock);
		(void)snprintf(subprocess->death, sizeof(subprocess->death),
			       "could not be started: %s", sley_strerror(err));
		end_life(subprocess, err == -EPIPE ? SLEY_ECHILD : err, again,
			 &then);
		spin_unlock(&subprocess->lock);
		give_left_back(subprocess, then.left);
		subprocess_calls_end(&then.ended);
		if (!then.start)
			return;
	}
}

static void do_afterwards(struct sley_subprocess *subprocess,
			  struct afterwards *then)
{
	const struct fork_server_order kill = { .kind = FORK_SERVER_KILL,
						.id = subprocess->id,
						.life = subprocess->life };

	if (then->wake)
		call_ring_wake(subprocess->ring);
	give_left_back(subprocess, then->left);
	subprocess_calls_end(&then->ended);
	if (then->started)
		sley_event_set(&subprocess->started);
	if (then->kill)
		collector_kill(&kill);
	if (then->start)
		send_start(subprocess);
}

void subprocess_orphaned(struct sley_subprocess *subprocess)
{
	struct afterwards then;

	afterwards_init(&then);
	spin_lock(&subprocess->lock);
	if (subprocess->phase == LIFE_STARTING ||
	    subprocess->phase == LIFE_RUNNING) {
		(void)snprintf(subprocess->death, sizeof(subprocess->death),
			       "has ended with the fork server");
		end_life(subprocess, SLEY_ECHILD, false, &then);
	}
	spin_unlock(&subprocess->lock);
	do_afterwards(subprocess, &then);
}

/* ---- messages of the fork server ------------------------------------------------- */

/* The reason of the death: from the status, unless the collector knows it. */
static void explain(struct sley_subprocess *subprocess,
		    const struct fork_server_notice *notice)
{
	if (subprocess->killed)
		return; /* kill_for() wrote it */
	if (notice->kind == FORK_SERVER_FAILED)
		(void)snprintf(subprocess->death, sizeof(subprocess->death),
			       "could not be started: %s",
			       sley_strerror(notice->status));
	else
		os_explain_end(subprocess->death, sizeof(subprocess->death),
			       notice->status);
}

/* The result of sley_subprocess_create(). */
static int error_of(const struct sley_subprocess *subprocess,
		    const struct fork_server_notice *notice)
{
	if (notice->kind == FORK_SERVER_FAILED)
		return notice->status;
	if (subprocess->killed)
		return subprocess->start_error ? subprocess->start_error
					       : SLEY_ECHILD;
	if (call_ring_readiness(subprocess->ring) == CALL_RING_REFUSES) {
		/* relaxed: CR1 of call_ring.h; any value is an error. */
		int refusal = load_relaxed(&subprocess->ring->refusal);

		return refusal < 0 ? refusal : SLEY_ECHILD;
	}
	return SLEY_ECHILD;
}

void subprocess_notice(struct sley_subprocess *subprocess,
		       const struct fork_server_notice *notice)
{
	bool again = notice->kind != FORK_SERVER_STARTED &&
		     is_tolerated(subprocess);
	struct afterwards then;

	if (notice->life != subprocess->life)
		return;
	afterwards_init(&then);
	spin_lock(&subprocess->lock);
	if (notice->kind == FORK_SERVER_STARTED) {
		subprocess->pid = notice->pid;
	} else {
		explain(subprocess, notice);
		end_life(subprocess, error_of(subprocess, notice), again,
			 &then);
	}
	spin_unlock(&subprocess->lock);
	do_afterwards(subprocess, &then);
}

/* ---- care --------------------------------------------------------------------------- */

static void kill_for(struct sley_subprocess *subprocess, const char *reason,
		     uint64_t ns, struct afterwards *then)
{
	if (subprocess->killed)
		return;
	subprocess->killed = true;
	then->kill = true;
	(void)snprintf(subprocess->death, sizeof(subprocess->death), reason,
		       (unsigned long long)(ns / NS_PER_MS));
}

/* The time until which the subprocess may go on without progress. */
static uint64_t deadline_of(const struct sley_subprocess *subprocess)
{
	uint64_t ns = UINT64_MAX;

	if (subprocess->killed)
		return UINT64_MAX;
	if (subprocess->closing)
		ns = GRACE_NS;
	else if (subprocess->phase == LIFE_STARTING)
		ns = subprocess->options.start_ns;
	else if (subprocess->phase == LIFE_RUNNING &&
		 subprocess_in_ring(subprocess) && subprocess->options.call_ns)
		ns = subprocess->options.call_ns;
	return ns > UINT64_MAX - subprocess->since_ns
		       ? UINT64_MAX
		       : subprocess->since_ns + ns;
}

static void kill_late(struct sley_subprocess *subprocess,
		      struct afterwards *then)
{
	if (subprocess->closing) {
		kill_for(subprocess, "was killed: it did not stop for %llu ms",
			 GRACE_NS, then);
	} else if (subprocess->phase == LIFE_STARTING) {
		subprocess->start_error = -ETIMEDOUT;
		kill_for(subprocess,
			 "was killed: it was not ready after %llu ms",
			 subprocess->options.start_ns, then);
	} else {
		kill_for(subprocess,
			 "was killed: a call took longer than %llu ms",
			 subprocess->options.call_ns, then);
	}
}

static void look_at_running(struct sley_subprocess *subprocess,
			    struct afterwards *then)
{
	/* One signal stands for all answers; earlier ones are collected here. */
	subprocess->signals &= ~CALL_RING_COLLECTOR;
	subprocess_ask_signals(subprocess);
	subprocess_collect(subprocess, &then->ended);
	take_left(subprocess, then);
	then->wake = subprocess_bring(subprocess);
	subprocess->timed = subprocess->options.call_ns &&
			    subprocess_in_ring(subprocess);
	if (subprocess->broken)
		kill_for(subprocess, "was killed: what it wrote makes no sense",
			 0, then);
	else if (subprocess->noisy)
		kill_for(subprocess,
			 "was killed: it signals answers and has none", 0,
			 then);
}

static void look_at_starting(struct sley_subprocess *subprocess,
			     struct afterwards *then)
{
	/* It may be faster than the message of the fork server that has its pid. */
	if (!subprocess->pid ||
	    call_ring_readiness(subprocess->ring) != CALL_RING_READY)
		return;
	subprocess->phase = LIFE_RUNNING;
	subprocess->nr_in_vain = 0;
	then->started = !subprocess->was_ready;
	subprocess->was_ready = true;
}

/* The subprocess shall end.  May be called again. */
static void close_it(struct sley_subprocess *subprocess,
		     struct afterwards *then)
{
	if (subprocess->phase == LIFE_DOWN || subprocess->phase == LIFE_NEW) {
		subprocess->phase = LIFE_GONE;
	} else if (subprocess->phase == LIFE_STARTING) {
		kill_for(subprocess, "was killed: it is destroyed", 0, then);
	} else if (subprocess->phase == LIFE_RUNNING && subprocess->was_ready) {
		call_ring_stop(subprocess->ring);
	}
}

uint64_t subprocess_look_after(struct sley_subprocess *subprocess)
{
	struct afterwards then;
	uint64_t deadline;

	afterwards_init(&then);
	spin_lock(&subprocess->lock);
	if (subprocess->phase == LIFE_NEW && !subprocess->closing) {
		remember_start(subprocess);
		then.start = true;
	}
	if (subprocess->phase == LIFE_STARTING)
		look_at_starting(subprocess, &then);
	if (subprocess->phase == LIFE_RUNNING)
		look_at_running(subprocess, &then);
	if (subprocess->closing)
		close_it(subprocess, &then);
	deadline = deadline_of(subprocess);
	if (deadline <= os_now()) {
		kill_late(subprocess, &then);
		deadline = UINT64_MAX;
	}
	spin_unlock(&subprocess->lock);
	do_afterwards(subprocess, &then);
	return deadline;
}

void subprocess_release(struct sley_subprocess *subprocess)
{
	bool closing;

	spin_lock(&subprocess->lock);
	closing = subprocess->closing;
	spin_unlock(&subprocess->lock);
	/* The waiter is the creator or the destroyer. */
	if (closing)
		sley_event_set(&subprocess->gone);
	else
		sley_event_set(&subprocess->started);
}
