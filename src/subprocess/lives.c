/* SPDX-License-Identifier: MIT */
/*
 * lives.c - the lives of a subprocess, as the collector handles them.
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
	bool started; /* or never will */
};

static void afterwards_init(struct afterwards *then)
{
	*then = (struct afterwards){ .kill = false };
	subprocess_calls_init(&then->ended);
}

static void remember_start(struct sley_subprocess *child)
{
	child->life++;
	call_ring_reset(child->ring, child->life, child->collected);
	/* The previous life may have written there. */
	child->ring->depth = child->options.depth;
	child->ring->spin_ns = child->options.spin_ns;
	child->ring->on_start = child->on_start;
	child->asked = child->collected;
	child->phase = LIFE_STARTING;
	child->watched = false;
	child->broken = false;
	child->killed = false;
	child->since_ns = os_now();
}

/* ---- the end of a life ----------------------------------------------------------- */

/*
 * Called without the lock: it allocates memory, and only the collector changes the
 * fields it uses.  Restarts without success in between are counted by themselves,
 * too: without memory the intensity forgets.
 */
static bool is_tolerated(struct sley_subprocess *child)
{
	const struct sley_subprocess_options *options = &child->options;

	return child->was_ready &&
	       options->max_restarts != SLEY_SUBPROCESS_NEVER &&
	       child->nr_in_vain++ < options->max_restarts &&
	       intensity_take(&child->restarts, &sley__program_mem,
			      options->max_restarts, options->within_ns,
			      os_now());
}

/* Under the lock.  @error is for the creator; @again: a restart is allowed. */
static void end_life(struct sley_subprocess *child, int error, bool again,
		     struct afterwards *then)
{
	subprocess_take_back(child, &then->ended);
	child->pid = 0;
	if (child->closing || !child->was_ready) {
		child->start_error = error;
		child->phase = LIFE_GONE;
	} else if (again) {
		child->nr_restarts++;
		remember_start(child);
		then->start = true;
		return;
	} else {
		child->phase = LIFE_DOWN;
	}
	subprocess_fail_queue(child, &then->ended);
}

static int order_start(const struct sley_subprocess *child)
{
	const int fds[] = { child->segment, child->bell };
	struct fork_server_order order = { .kind = FORK_SERVER_START,
					   .id = child->id,
					   .life = child->life,
					   .depth = child->options.depth };

	(void)snprintf(order.name, sizeof(order.name), "%s",
		       child->endpoint.name);
	return collector_start(&order, fds);
}

/* Tells the fork server; if that fails, the life ends as by a death. */
static void send_start(struct sley_subprocess *child)
{
	struct afterwards then;
	int err;

	while ((err = order_start(child)) != 0) {
		bool again = err != -EPIPE && is_tolerated(child);

		afterwards_init(&then);
		spin_lock(&child->lock);
		(void)snprintf(child->death, sizeof(child->death),
			       "could not be started: %s", sley_strerror(err));
		end_life(child, err == -EPIPE ? SLEY_ECHILD : err, again,
			 &then);
		spin_unlock(&child->lock);
		subprocess_calls_end(&then.ended);
		if (!then.start)
			return;
	}
}

static void do_afterwards(struct sley_subprocess *child,
			  struct afterwards *then)
{
	const struct fork_server_order kill = { .kind = FORK_SERVER_KILL,
						.id = child->id,
						.life = child->life };

	if (then->wake)
		call_ring_wake(child->ring);
	subprocess_calls_end(&then->ended);
	if (then->started)
		sley_event_set(&child->started);
	if (then->kill)
		collector_kill(&kill);
	if (then->start)
		send_start(child);
}

void subprocess_orphaned(struct sley_subprocess *child)
{
	struct afterwards then;

	afterwards_init(&then);
	spin_lock(&child->lock);
	if (child->phase == LIFE_STARTING || child->phase == LIFE_RUNNING) {
		(void)snprintf(child->death, sizeof(child->death),
			       "has ended with the fork server");
		end_life(child, SLEY_ECHILD, false, &then);
	}
	spin_unlock(&child->lock);
	do_afterwards(child, &then);
}

/* ---- messages of the fork server ------------------------------------------------- */

/* The reason of the death: from the status, unless the collector knows it. */
static void explain(struct sley_subprocess *child,
		    const struct fork_server_notice *notice)
{
	if (child->killed)
		return; /* kill_for() wrote it */
	if (notice->kind == FORK_SERVER_FAILED)
		(void)snprintf(child->death, sizeof(child->death),
			       "could not be started: %s",
			       sley_strerror(notice->status));
	else
		os_explain_end(child->death, sizeof(child->death),
			       notice->status);
}

/* The result of sley_subprocess_create(). */
static int error_of(const struct sley_subprocess *child,
		    const struct fork_server_notice *notice)
{
	if (notice->kind == FORK_SERVER_FAILED)
		return notice->status;
	if (child->killed)
		return child->start_error ? child->start_error : SLEY_ECHILD;
	if (call_ring_readiness(child->ring) == CALL_RING_REFUSES) {
		/* relaxed: CR3 of call_ring.h; any value is an error. */
		int refusal = load_relaxed(&child->ring->refusal);

		return refusal < 0 ? refusal : SLEY_ECHILD;
	}
	return SLEY_ECHILD;
}

void subprocess_notice(struct sley_subprocess *child,
		       const struct fork_server_notice *notice)
{
	bool again = notice->kind != FORK_SERVER_STARTED && is_tolerated(child);
	struct afterwards then;

	if (notice->life != child->life)
		return;
	afterwards_init(&then);
	spin_lock(&child->lock);
	if (notice->kind == FORK_SERVER_STARTED) {
		child->pid = notice->pid;
	} else {
		explain(child, notice);
		end_life(child, error_of(child, notice), again, &then);
	}
	spin_unlock(&child->lock);
	do_afterwards(child, &then);
}

/* ---- care --------------------------------------------------------------------------- */

static void kill_for(struct sley_subprocess *child, const char *reason,
		     uint64_t ns, struct afterwards *then)
{
	if (child->killed)
		return;
	child->killed = true;
	then->kill = true;
	(void)snprintf(child->death, sizeof(child->death), reason,
		       (unsigned long long)(ns / NS_PER_MS));
}

/* The time until which the subprocess may go on without progress. */
static uint64_t deadline_of(const struct sley_subprocess *child)
{
	uint64_t ns = UINT64_MAX;

	if (child->killed)
		return UINT64_MAX;
	if (child->closing)
		ns = GRACE_NS;
	else if (child->phase == LIFE_STARTING)
		ns = child->options.start_ns;
	else if (child->phase == LIFE_RUNNING && subprocess_in_ring(child) &&
		 child->options.call_ns)
		ns = child->options.call_ns;
	return ns > UINT64_MAX - child->since_ns ? UINT64_MAX
						 : child->since_ns + ns;
}

static void kill_late(struct sley_subprocess *child, struct afterwards *then)
{
	if (child->closing) {
		kill_for(child, "was killed: it did not stop for %llu ms",
			 GRACE_NS, then);
	} else if (child->phase == LIFE_STARTING) {
		child->start_error = -ETIMEDOUT;
		kill_for(child, "was killed: it was not ready after %llu ms",
			 child->options.start_ns, then);
	} else {
		kill_for(child, "was killed: a call took longer than %llu ms",
			 child->options.call_ns, then);
	}
}

static void look_at_running(struct sley_subprocess *child,
			    struct afterwards *then)
{
	/* One signal stands for all answers; earlier ones are collected here. */
	child->watched = child->nr_waiting;
	if (child->watched)
		(void)call_ring_watch(child->ring);
	subprocess_collect(child, &then->ended);
	then->wake = subprocess_bring(child);
	child->timed = child->options.call_ns && subprocess_in_ring(child);
	if (child->broken)
		kill_for(child, "was killed: what it wrote makes no sense", 0,
			 then);
}

static void look_at_starting(struct sley_subprocess *child,
			     struct afterwards *then)
{
	/* It may be faster than the message of the fork server that has its pid. */
	if (!child->pid || call_ring_readiness(child->ring) != CALL_RING_READY)
		return;
	child->phase = LIFE_RUNNING;
	child->nr_in_vain = 0;
	then->started = !child->was_ready;
	child->was_ready = true;
}

/* The subprocess shall end.  May be called again. */
static void close_it(struct sley_subprocess *child, struct afterwards *then)
{
	if (child->phase == LIFE_DOWN || child->phase == LIFE_NEW) {
		child->phase = LIFE_GONE;
	} else if (child->phase == LIFE_STARTING) {
		kill_for(child, "was killed: it is destroyed", 0, then);
	} else if (child->phase == LIFE_RUNNING && child->was_ready) {
		call_ring_stop(child->ring);
	}
}

uint64_t subprocess_look_after(struct sley_subprocess *child)
{
	struct afterwards then;
	uint64_t deadline;

	afterwards_init(&then);
	spin_lock(&child->lock);
	if (child->phase == LIFE_NEW && !child->closing) {
		remember_start(child);
		then.start = true;
	}
	if (child->phase == LIFE_STARTING)
		look_at_starting(child, &then);
	if (child->phase == LIFE_RUNNING)
		look_at_running(child, &then);
	if (child->closing)
		close_it(child, &then);
	deadline = deadline_of(child);
	if (deadline <= os_now()) {
		kill_late(child, &then);
		deadline = UINT64_MAX;
	}
	spin_unlock(&child->lock);
	do_afterwards(child, &then);
	return deadline;
}

void subprocess_release(struct sley_subprocess *child)
{
	bool closing;

	spin_lock(&child->lock);
	closing = child->closing;
	spin_unlock(&child->lock);
	/* The waiter is the creator or the destroyer. */
	if (closing)
		sley_event_set(&child->gone);
	else
		sley_event_set(&child->started);
}
