/* SPDX-License-Identifier: MIT */
/*
 * listener.c - see listener.h.
 */
#include "subprocess/listener.h"

#include "core/sched/source.h"
#include "core/sched/worker.h"
#include "os/eventfd.h"
#include "os/shared_memory.h"
#include "subprocess/collector.h"
#include "subprocess/subprocess.h"

#define TAGS_MAX 16

static struct sley_mutex joining;

/* ---- hearing ------------------------------------------------------------------------ */

/* Under the lock, after an attempt to collect: did the signal come for an answer? */
static void judge_signal(struct sley_subprocess *subprocess)
{
	if (subprocess->collected != subprocess->noise_since) {
		subprocess->noise_since = subprocess->collected;
		subprocess->nr_noises = 0;
		return;
	}
	if (subprocess->deaf || ++subprocess->nr_noises < NOISES_MAX)
		return;
	subprocess->deaf = true;
	if (subprocess->phase != LIFE_RUNNING)
		return;
	subprocess->noisy = true;
	subprocess_ask_signals(subprocess); /* for calls that had a listener */
}

/* Under the lock of @listener.  True: nudge the collector. */
static bool collect(const struct listener *listener,
		    struct sley_subprocess *subprocess,
		    struct subprocess_calls *ended)
{
	bool wake = false, nudge, deaf;

	spin_lock(&subprocess->lock);
	if (subprocess->phase == LIFE_RUNNING) {
		/* Before the look: an answer that comes after it signals again. */
		subprocess->signals &= ~CALL_RING_WORKER;
		subprocess_ask_signals(subprocess);
		subprocess_collect(subprocess, ended);
		wake = subprocess_bring(subprocess);
	}
	judge_signal(subprocess);
	nudge = subprocess_wants_care(subprocess);
	deaf = subprocess->deaf;
	spin_unlock(&subprocess->lock);
	if (unlikely(deaf))
		os_epoll_remove(listener->epoll, subprocess->answers);
	if (wake)
		call_ring_wake(subprocess->ring);
	return nudge;
}

static void hear(struct listener *listener, uint32_t id)
{
	struct sley_subprocess *subprocess;
	struct subprocess_calls ended;
	bool nudge = false;

	subprocess_calls_init(&ended);
	spin_lock(&listener->lock);
	subprocess = listener->subprocesses[id];
	if (subprocess)
		nudge = collect(listener, subprocess, &ended);
	spin_unlock(&listener->lock);
	if (nudge)
		collector_nudge();
	subprocess_calls_end(&ended);
}

/* ---- the source ---------------------------------------------------------------------- */

/* A signal without a call that waits can stay, until a worker in the poller hears it. */
static bool has(void *arg)
{
	const struct listener *listener = arg;

	/* relaxed: see listener_expect(). */
	return load_relaxed(&listener->nr_expected) &&
	       os_fd_is_readable(listener->epoll);
}

static bool take(void *arg)
{
	struct listener *listener = arg;
	uint32_t tags[TAGS_MAX];
	int nr = os_epoll_wait(listener->epoll, tags, TAGS_MAX, 0);

	for (int i = 0; i < nr; i++)
		hear(listener, tags[i]);
	return nr == TAGS_MAX;
}

static void free_listener(struct listener *listener)
{
	os_close(listener->epoll);
	mem_free(&listener->rt->mem, listener, sizeof(*listener));
}

static void set_place(struct sley_subprocess *subprocess,
		      struct listener **place, struct listener *listener)
{
	spin_lock(&subprocess->lock);
	*place = listener;
	spin_unlock(&subprocess->lock);
}

/* The place of @listener, or a free place for NULL; or NULL. */
static struct listener **slot_of(struct sley_subprocess *subprocess,
				 const struct listener *listener)
{
	for (int i = 0; i < LISTENERS_MAX; i++) {
		if (subprocess->listeners[i] == listener)
			return &subprocess->listeners[i];
	}
	return NULL;
}

/* The runtime has no tasks any more, so no call waits. */
static void end(void *arg)
{
	struct listener *listener = arg;

	sley_mutex_lock(&joining);
	for (int i = 0; i < SLEY_SUBPROCESSES_MAX; i++) {
		struct sley_subprocess *subprocess = listener->subprocesses[i];

		if (subprocess)
			set_place(subprocess, slot_of(subprocess, listener),
				  NULL);
	}
	sley_mutex_unlock(&joining);
	free_listener(listener);
}

/* ---- joining and leaving ------------------------------------------------------------- */

/* With the mutex: a new listener, or NULL. */
static struct listener *open_listener(struct sley *rt)
{
	struct listener *listener = mem_alloc(&rt->mem, sizeof(*listener));
	struct source_ops ops = { .has = has, .take = take, .end = end };

	if (!listener)
		return NULL;
	listener->rt = rt;
	listener->epoll = ops.fd = os_epoll_create();
	/* A source cannot have the descriptor 0. */
	if (ops.fd > 0 &&
	    source_add(rt, &listener->source, &ops, listener, false) == 0)
		return listener;
	free_listener(listener);
	return NULL;
}

static void set_subprocess(struct listener *listener, uint32_t id,
			   struct sley_subprocess *subprocess)
{
	spin_lock(&listener->lock);
	listener->subprocesses[id] = subprocess;
	spin_unlock(&listener->lock);
}

/* With the mutex.  False: no room or no memory. */
static bool add(struct listener *listener, struct sley_subprocess *subprocess)
{
	struct listener **place = slot_of(subprocess, NULL);

	if (slot_of(subprocess, listener))
		return true; /* another task of the runtime was faster */
	if (!place)
		return false;
	set_subprocess(listener, subprocess->id, subprocess);
	if (os_epoll_add_edge(listener->epoll, subprocess->answers,
			      subprocess->id) != 0) {
		set_subprocess(listener, subprocess->id, NULL);
		return false;
	}
	set_place(subprocess, place, listener);
	return true;
}

static struct listener *join(struct sley *rt,
			     struct sley_subprocess *subprocess)
{
	struct listener *listener;

	sley_mutex_lock(&joining);
	listener = source_find(rt, take);
	if (!listener)
		listener = open_listener(rt);
	if (listener && !add(listener, subprocess))
		listener = NULL;
	sley_mutex_unlock(&joining);
	return listener;
}

struct listener *listener_of_caller(struct sley_subprocess *subprocess)
{
	const struct worker *worker = worker_current();
	struct listener *listener = NULL;
	bool room = false;
	struct sley *rt;

	if (!worker)
		return NULL;
	rt = worker->rt;
	spin_lock(&subprocess->lock);
	for (int i = 0; i < LISTENERS_MAX && !subprocess->deaf; i++) {
		struct listener *other = subprocess->listeners[i];

		room = room || !other;
		if (other && other->rt == rt)
			listener = other;
	}
	spin_unlock(&subprocess->lock);
	return listener || !room ? listener : join(rt, subprocess);
}

void listeners_leave(struct sley_subprocess *subprocess)
{
	sley_mutex_lock(&joining);
	for (int i = 0; i < LISTENERS_MAX; i++) {
		struct listener *listener = subprocess->listeners[i];

		if (!listener)
			continue;
		/* Its eventfd may stay open elsewhere: see listener.h. */
		os_epoll_remove(listener->epoll, subprocess->answers);
		set_subprocess(listener, subprocess->id, NULL);
		set_place(subprocess, &subprocess->listeners[i], NULL);
	}
	sley_mutex_unlock(&joining);
}

void listeners_forget(void)
{
	joining = (struct sley_mutex)SLEY_MUTEX_INIT;
}
