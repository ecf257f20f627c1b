/* SPDX-License-Identifier: MIT */
/*
 * reactor.c - see reactor.h.
 */
#include "io/reactor.h"

#include "base/bits.h"
#include "core/sched/source.h"
#include "core/sched/worker.h"
#include "io/ready.h"
#include "os/at_fork.h"
#include "os/epoll.h"
#include "os/eventfd.h"
#include "os/shared_memory.h"

#define EDGES_AT_ONCE 64

struct reactor {
	struct runtime_part part; /* in rt->reactor */
	unsigned int index;
	int epoll;
	struct sley_source *source;
};

/*
 * The epolls of all reactors, for closers.  A bit of used_bits is taken before the entry
 * is written, and given back after no descriptor has the bit any more.
 */
struct reactor_set {
	uint64_t used_bits;
	int epoll[REACTORS_MAX];
};

static struct reactor_set reactors;

static void renew(void)
{
	reactors.used_bits = 0;
}

FORK_PART(FORK_REACTORS, .renew = renew);

/* ---- edges --------------------------------------------------------------------------- */

static bool take(void *arg)
{
	const struct reactor *reactor = arg;
	struct os_edge edges[EDGES_AT_ONCE];
	int nr = os_edges_take(reactor->epoll, edges, EDGES_AT_ONCE);

	for (int i = 0; i < nr; i++) {
		struct io_descriptor *descriptor =
			table_find(&descriptor_table, (uint32_t)edges[i].fd);

		ready_edge(descriptor, edges[i].bits);
	}
	return nr == EDGES_AT_ONCE;
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

static void free_reactor(struct sley *rt, struct reactor *reactor)
{
	uint64_t bit = 1ull << reactor->index;

	for (uint32_t fd = 0; fd < DESCRIPTOR_CHUNKS * DESCRIPTOR_CHUNK; fd++) {
		struct io_descriptor *place = table_find(&descriptor_table, fd);

		if (!place) {
			fd |= DESCRIPTOR_CHUNK - 1;
			continue;
		}
		if (descriptor_reactors(place) & bit)
			descriptor_drop_reactors(place, bit);
	}
	os_close(reactor->epoll);
	/* relaxed: see take_index(). */
	(void)and_relaxed(&reactors.used_bits, ~bit);
	mem_free(&rt->mem, reactor, sizeof(*reactor));
}

/* All threads of @rt have ended, and its sources, too. */
static void end(struct sley *rt, struct runtime_part *part)
{
	free_reactor(rt, container_of(part, struct reactor, part));
}

static int open_reactor(struct sley *rt, struct reactor *reactor)
{
	const struct source_ops ops = { .take = take, .fd = reactor->epoll };

	return source_add(rt, &reactor->source, &ops, reactor, false);
}

static int make_reactor(struct sley *rt, struct reactor **out)
{
	struct reactor *reactor = mem_alloc(&rt->mem, sizeof(*reactor));
	int index = reactor ? take_index() : -ENOMEM;
	int err = index;

	if (index >= 0) {
		reactor->part.end = end;
		reactor->index = (unsigned int)index;
		reactor->epoll = os_epoll_create();
		err = reactor->epoll < 0 ? reactor->epoll : 0;
		reactors.epoll[index] = reactor->epoll;
	}
	if (!err) {
		err = open_reactor(rt, reactor);
		if (!err) {
			*out = reactor;
			return 0;
		}
		os_close(reactor->epoll);
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
	struct runtime_part *winner = NULL;
	int err = make_reactor(rt, out);

	if (err)
		return err;
	if (runtime_publish_reactor(rt, &(*out)->part, &winner))
		return 0;
	source_remove((*out)->source);
	free_reactor(rt, *out);
	*out = container_of(winner, struct reactor, part);
	return 0;
}

int reactor_watch(struct worker *worker, struct io_descriptor *descriptor,
		  int fd)
{
	struct sley *rt = worker->rt;
	struct runtime_part *part = runtime_reactor(rt);
	struct reactor *reactor = NULL;
	uint64_t bit;
	int err = 0;

	if (likely(part))
		reactor = container_of(part, struct reactor, part);
	else
		err = publish_reactor(rt, &reactor);
	if (unlikely(err))
		return err;
	bit = 1ull << reactor->index;
	if (likely(descriptor_reactors(descriptor) & bit))
		return 0;
	err = os_edges_add(reactor->epoll, fd);
	if (!err)
		descriptor_add_reactors(descriptor, bit);
	return err;
}

/*
 * A reactor that ends meanwhile has closed its epoll, or is about to: a removal from a
 * number that is no epoll does nothing.
 */
void reactors_forget(struct io_descriptor *descriptor, int fd)
{
	uint64_t bits = descriptor_reactors(descriptor);

	/* There is no user, so no bit is set meanwhile. */
	descriptor_drop_reactors(descriptor, bits);
	for (; bits; bits &= bits - 1)
		os_edges_remove(reactors.epoll[bits_first(bits)], fd);
}
