/* SPDX-License-Identifier: MIT */
/*
 * ring.c - see ring.h.
 */
#include "io/ring.h"

#include "core/life/sley.h"
#include "core/sched/source.h"
#include "io/backend.h"

#include <errno.h>

struct ring {
	struct sley *rt;
	struct ring_calls calls;
	struct sley_source *source;
};

/* ---- the source ----------------------------------------------------------------------- */

static bool has(void *arg)
{
	const struct ring *ring = arg;

	return os_uring_file_has(&ring->calls.kernel);
}

static bool take(void *arg)
{
	struct ring *ring = arg;

	return ring_calls_take(&ring->calls);
}

/* ---- its life --------------------------------------------------------------------------- */

/* The source has ended, and no call is under way. */
static void end(void *arg)
{
	struct ring *ring = arg;

	os_uring_file_destroy(&ring->calls.kernel);
	mem_free(&ring->rt->mem, ring, sizeof(*ring));
}

/* In place of a ring, where there will never be one. */
static struct ring denied;

static int add_source(struct sley *rt, struct ring *ring)
{
	const struct source_ops ops = { .has = has,
					.take = take,
					.end = end,
					.fd = ring->calls.kernel.queue.fd };

	return source_add(rt, &ring->source, &ops, ring, false);
}

static int make_ring(struct sley *rt, struct ring **out)
{
	struct ring *ring = mem_alloc(&rt->mem, sizeof(*ring));
	int err;

	if (!ring)
		return -ENOMEM;
	ring->rt = rt;
	ring_calls_init(&ring->calls);
	err = os_uring_file_create(&ring->calls.kernel, RING_COMPLETIONS);
	if (err) {
		mem_free(&rt->mem, ring, sizeof(*ring));
		return err;
	}
	err = add_source(rt, ring);
	if (err) {
		end(ring);
		/* There may be room later, and a runtime that ends asks no more. */
		return -EAGAIN;
	}
	*out = ring;
	return 0;
}

static bool is_for_good(int err)
{
	return err == -EPERM || err == -ENOSYS || err == -EACCES;
}

/* Two tasks may make one at the same time: the first that is done wins. */
static struct ring *publish(struct sley *rt)
{
	struct ring *ring = &denied;
	void *winner;
	int err = -EPERM;

	if (backend_of(rt) == SLEY_IO_URING)
		err = make_ring(rt, &ring);
	if (err && !is_for_good(err))
		return &denied;
	if (runtime_publish_part(rt, RUNTIME_RING, ring, &winner))
		return ring;
	if (!err) {
		source_remove(ring->source);
		end(ring);
	}
	return winner;
}

struct ring_calls *ring_of(struct sley *rt)
{
	struct ring *ring = runtime_part(rt, RUNTIME_RING);

	if (unlikely(!ring))
		ring = publish(rt);
	return ring == &denied ? NULL : &ring->calls;
}
