/* SPDX-License-Identifier: MIT */
/*
 * sley/parallel.h - several functions at the same time.
 */
#ifndef SLEY_PARALLEL_H
#define SLEY_PARALLEL_H

#include <sley/compiler.h>
#include <sley/runtime.h>

SLEY_BEGIN_DECLS

/* A function and its argument. */
struct sley_call {
	sley_fn *fn;
	void *arg;
};

/* How many calls sley_parallelize() takes at most. */
#define SLEY_PARALLELIZE_MAX 256

/*
 * sley_parallelize - make @nr calls beside each other, and wait for all.
 *
 * The first one is made in place, on the caller's own stack, as part of the
 * caller; each other one is a task, and outside of the caller's task tree (see
 * <sley/rwlock.h>).  They may wait for each other.  The tasks live in the
 * caller's frame: about 80 bytes of stack for each call.  Cancelling the caller
 * does not cut the wait short.  Does nothing if @nr is 0.
 *
 * Context:  a task or a bound thread
 * Blocks:   the fiber; a bound thread sleeps
 * Owner:    @calls is borrowed for the call.
 * Order:    everything before the call happens before each function, everything
 *           in them happens before the return.
 * Errors:   -EINVAL          @nr is above SLEY_PARALLELIZE_MAX; none is made
 *           -ECANCELED       sley_cancel_all() came first: all that were made
 *                            have returned, but some were not
 *           SLEY_ENORUNTIME  the thread is not bound; none is made
 *           SLEY_EFORKED     this process is a fork of the one that created
 *                            the runtime; none is made
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_parallelize(const struct sley_call *calls, size_t nr);

#ifndef __cplusplus
/* SLEY_PARALLELIZE({ f, a }, { g, b }) - the same with the calls in place. */
#define SLEY_PARALLELIZE(...)                                                  \
	sley_parallelize((const struct sley_call[]){ __VA_ARGS__ },            \
			 sizeof((const struct sley_call[]){ __VA_ARGS__ }) /   \
				 sizeof(struct sley_call))
#endif

SLEY_END_DECLS
#endif
