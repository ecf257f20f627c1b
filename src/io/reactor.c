/* SPDX-License-Identifier: MIT */
/*
 * reactor.c - see reactor.h.
 *
 * has() of the source asks the kernel for edges and keeps them in a *batch*, which
 * take() empties: one system call finds out that there are edges, and gets them.
 *
 *   EMPTY ──has() asks──► ASKING ──edges came──► FULL ──take()──► EMPTY
 *                            └────none came────► EMPTY
 *
 * While the batch is not EMPTY, the worker that made it so is awake, or a taker is
 * (SR6 of core/sched/source.h).  While the batch is EMPTY, edges are in the kernel, and
 * the worker in the poller listens.
 *
 * A worker that searches asks again and again.  If descriptors are silent, but other work
 * keeps the worker awake, these system calls are most of its search.  So after ASKS_VAIN
 * asks in vain, more than one search makes, the kernel is asked once in ASK_NS at most,
 * until an edge comes or the worker in the poller has heard one.  A worker that parks
 * needs no ask: the poller listens.
 *
 * Edges:
 *
 *   RC1  the asker fills the batch -> the taker finds it FULL : the edges
 *   RC2  the taker has emptied the batch -> the next asker finds it EMPTY
 */
#include "io/reactor.h"

#include "base/bits.h"
#include "core/sched/poller.h"
#include "core/sched/source.h"
#include "core/sched/worker.h"
#include "io/backend.h"
#include "io/poll_thread.h"
#include "io/ready.h"
#include "lf/spin.h"
#include "os/at_fork.h"
#include "os/clock.h"
#include "os/epoll.h"
#include "os/eventfd.h"
#include "os/shared_memory.h"

#ifndef EDGES_AT_ONCE
#define EDGES_AT_ONCE 64
#endif

#define ASKS_VAIN 256u
#define ASK_NS 10000u

enum batch_state {
	BATCH_EMPTY,
	BATCH_ASKING,
	BATCH_FULL,
};

struct reactor {
	struct sley *rt;
	unsigned int index;
	int epoll;                  /* -1: there is a thread in its place */
	struct poll_thread *thread; /* or NULL                            */
	struct sley_source *source;
	uint32_t batch;    /* enum batch_state                       */
	int nr_edges;      /* of the asker, and then of the taker    */
	uint32_t nr_vain;  /* asks in a row without an edge          */
	uint64_t asked_ns; /* if they are many: the last             */
	struct os_edge edge[EDGES_AT_ONCE];
};

/*
 * The epolls and threads of all reactors, for closers.  A bit of used_bits is taken before the entry
 * is written, and given back after no descriptor has the bit any more.  A closer takes
 * the bit of its descriptor, and the descriptor out of the epoll, under the lock of the
 * entry; a reactor that ends takes all bits under that lock, and then closes the epoll.
 * So no closer has the number of an epoll that is closed.
 */
struct reactor_set {
	uint64_t used_bits;
	int epoll[REACTORS_MAX];
	struct poll_thread *thread[REACTORS_MAX];
	struct spinlock lock[REACTORS_MAX];
};

static struct reactor_set reactors;

static void renew(void)
{
	reactors = (struct reactor_set){ 0 };
}

FORK_PART(FORK_REACTORS, .renew = renew);

/* ---- edges --------------------------------------------------------------------------- */

static bool left(void *arg)
{
	const struct reactor *reactor = arg;

	/*
	 * An asker is awake, and takes what it gets: no reason not to sleep.
	 * relaxed: SR6 of core/sched/source.h orders it.
	 */
	return load_relaxed(&reactor->batch) == BATCH_FULL;
}

/* May the kernel have an edge, as far as is known? */
static bool is_time(struct reactor *reactor)
{
	uint64_t now_ns;

	/* relaxed: hints, as all below; two askers that ask at once do no harm. */
	if (likely(load_relaxed(&reactor->nr_vain) < ASKS_VAIN) ||
	    worker_now()->poll.heard)
		return true;
	now_ns = os_now();
	/* relaxed: see above. */
	if (now_ns - load_relaxed(&reactor->asked_ns) < ASK_NS)
		return false;
	/* relaxed: see above. */
	store_relaxed(&reactor->asked_ns, now_ns);
	return true;
}

static void count_ask(struct reactor *reactor, bool vain)
{
	/* relaxed: a hint. */
	uint32_t nr = load_relaxed(&reactor->nr_vain);

	if (vain ? nr < ASKS_VAIN : nr > 0)
		/* relaxed: a hint. */
		store_relaxed(&reactor->nr_vain, vain ? nr + 1 : 0);
}

static bool has(void *arg)
{
	struct reactor *reactor = arg;
	uint32_t state = BATCH_EMPTY;

	if (!is_time(reactor))
		return left(reactor);
	if (!cas_acquire(&reactor->batch, &state, BATCH_ASKING)) /* RC2 */
		return state == BATCH_FULL;
	reactor->nr_edges =
		os_edges_take(reactor->epoll, reactor->edge, EDGES_AT_ONCE);
	state = reactor->nr_edges ? BATCH_FULL : BATCH_EMPTY;
	count_ask(reactor, state == BATCH_EMPTY);
	store_release(&reactor->batch, state); /* RC1 RC2 */
	return state == BATCH_FULL;
}

static bool take(void *arg)
{
	struct reactor *reactor = arg;
	bool full;

	if (load_acquire(&reactor->batch) != BATCH_FULL) /* RC1 */
		return false;
	for (int i = 0; i < reactor->nr_edges; i++) {
		const struct os_edge *edge = &reactor->edge[i];

		ready_edge(table_find(&descriptor_table, (uint32_t)edge->fd),
			   edge->bits);
	}
	poller_count_edges(worker_now(), (uint32_t)reactor->nr_edges);
	full = reactor->nr_edges == EDGES_AT_ONCE;
	store_release(&reactor->batch, BATCH_EMPTY); /* RC2 */
	return full && has(reactor);
}

/* ---- its life ------------------------------------------------------------------------ */

static int take_index(void)
{
	/* relaxed: the number alone; what has the bit is forgotten before. */
	uint64_t used = load_relaxed(&reactors.used_bits), first;

	do {
		if (!~used)
			return -ENOSPC;
		first = ~used & (used + 1);
		/* relaxed: as above. */
	} while (!cas_relaxed(&reactors.used_bits, &used, used | first));
	return bits_first(first);
}

/* ---- the kernel's side ----------------------------------------------------------------- */

/* An epoll, or a thread: 0 or -errno. */
static int open_kernel_side(struct reactor *reactor)
{
	reactor->thread = NULL;
	reactor->epoll = -1;
	if (backend_of(reactor->rt) == SLEY_IO_THREADS)
		return poll_thread_start(reactor->rt, &reactor->thread);
	reactor->epoll = os_epoll_create();
	return reactor->epoll < 0 ? reactor->epoll : 0;
}

static void close_kernel_side(struct reactor *reactor)
{
	if (reactor->thread)
		poll_thread_end(reactor->rt, reactor->thread);
	else
		os_close(reactor->epoll);
}

/* The source has ended: no task of the runtime is left, or none knows the reactor. */
static void end(void *arg)
{
	struct reactor *reactor = arg;
	uint64_t bit = 1ull << reactor->index;

	spin_lock(&reactors.lock[reactor->index]);
	for (uint32_t fd = 0; fd < DESCRIPTOR_CHUNKS * DESCRIPTOR_CHUNK; fd++) {
		struct io_descriptor *place = table_find(&descriptor_table, fd);

		if (!place) {
			fd |= DESCRIPTOR_CHUNK - 1;
			continue;
		}
		if (descriptor_reactors(place) & bit)
			(void)descriptor_drop_reactors(place, bit);
	}
	spin_unlock(&reactors.lock[reactor->index]);
	close_kernel_side(reactor);
	/* relaxed: see take_index(). */
	(void)and_relaxed(&reactors.used_bits, ~bit);
	mem_free(&reactor->rt->mem, reactor, sizeof(*reactor));
}

/* The thread makes tasks ready by itself: a source for its end alone. */
static bool has_nothing(void *arg)
{
	(void)arg;
	return false;
}

static int open_reactor(struct sley *rt, struct reactor *reactor)
{
	const struct source_ops ops = {
		.has = reactor->thread ? has_nothing : has,
		.left = reactor->thread ? NULL : left,
		.take = take,
		.end = end,
		.fd = reactor->thread ? 0 : reactor->epoll,
	};

	return source_add(rt, &reactor->source, &ops, reactor, false);
}

static int make_reactor(struct sley *rt, struct reactor **out)
{
	struct reactor *reactor = mem_alloc(&rt->mem, sizeof(*reactor));
	int index = reactor ? take_index() : -ENOMEM;
	int err = index;

	if (index >= 0) {
		reactor->rt = rt;
		reactor->index = (unsigned int)index;
		err = open_kernel_side(reactor);
		reactors.epoll[index] = reactor->epoll;
		reactors.thread[index] = reactor->thread;
	}
	if (!err) {
		err = open_reactor(rt, reactor);
		if (!err) {
			*out = reactor;
			return 0;
		}
		close_kernel_side(reactor);
	}
	if (index >= 0)
		/* relaxed: see take_index(). */
		(void)and_relaxed(&reactors.used_bits, ~(1ull << index));
	if (reactor)
		mem_free(&rt->mem, reactor, sizeof(*reactor));
	return err;
}

/* Two tasks may make one at the same time: the first that is done wins. */
static int publish_reactor(struct sley *rt, struct reactor **out)
{
	void *winner;
	int err = make_reactor(rt, out);

	if (err)
		return err;
	if (runtime_publish_part(rt, RUNTIME_REACTOR, *out, &winner))
		return 0;
	source_remove((*out)->source);
	end(*out);
	*out = winner;
	return 0;
}

int reactor_watch(struct worker *worker, struct io_descriptor *descriptor,
		  int fd, unsigned int bits)
{
	struct sley *rt = worker->rt;
	struct reactor *reactor = runtime_part(rt, RUNTIME_REACTOR);
	uint64_t bit;
	int err = 0;

	if (unlikely(!reactor))
		err = publish_reactor(rt, &reactor);
	if (unlikely(err))
		return err;
	bit = 1ull << reactor->index;
	if (unlikely(reactor->thread)) {
		descriptor_add_reactors(descriptor, bit);
		return poll_thread_watch(reactor->thread, fd, bits);
	}
	if (likely(descriptor_reactors(descriptor) & bit))
		return 0;
	err = os_edges_add(reactor->epoll, fd);
	if (!err)
		descriptor_add_reactors(descriptor, bit);
	return err;
}

/* Under the lock of reactor @i, which exists. */
static void forget(int i, int fd)
{
	if (reactors.thread[i])
		poll_thread_forget(reactors.thread[i], fd);
	else
		os_edges_remove(reactors.epoll[i], fd);
}

void reactors_forget(struct io_descriptor *descriptor, int fd)
{
	uint64_t bits = descriptor_reactors(descriptor);

	/* There is no user, so no bit is set meanwhile. */
	for (; bits; bits &= bits - 1) {
		int i = bits_first(bits);

		spin_lock(&reactors.lock[i]);
		/* Its reactor may have ended. */
		if (descriptor_drop_reactors(descriptor, 1ull << i))
			forget(i, fd);
		spin_unlock(&reactors.lock[i]);
	}
}
