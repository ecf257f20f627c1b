/* SPDX-License-Identifier: MIT */
/*
 * sley/parallel.h - several functions at the same time.
 */
#ifndef SLEY_PARALLEL_H
#define SLEY_PARALLEL_H

#include <sley/compiler.h>
#include <sley/how.h>
#include <sley/runtime.h>

SLEY_BEGIN_DECLS

/* A function and its argument. */
struct sley_invocation {
	sley_fn *fn;
	void *arg;
};

/* How many calls sley_parallelize() takes at most. */
#define SLEY_PARALLELIZE_MAX 256

/*
 * sley_parallelize - make @nr calls beside each other, and wait for all.
 *
 * The first call is made in place, on the caller's own stack, as part of the
 * caller.  Each other call is a task outside of the caller's task tree (see
 * <sley/rwlock.h>).  The calls may wait for each other.  The tasks live in the
 * caller's frame: about 80 bytes of stack for each call.  A cancel of the caller
 * does not cut the wait short.  Does nothing if @nr is 0.
 *
 * Context:  a task or a bound thread
 * Blocks:   the fiber; a bound thread sleeps
 * Owner:    @calls is borrowed for the call.
 * Order:    everything before the call happens before each function; everything
 *           in the functions happens before the return.
 * Errors:   -EINVAL          @nr is above SLEY_PARALLELIZE_MAX; no call is made
 *           -ECANCELED       sley_cancel_all() came first: some calls were not
 *                            made, and all others have returned
 *           SLEY_ENORUNTIME  the thread is not bound; no call is made
 *           SLEY_EFORKED     this process is a fork of the creator of the
 *                            runtime; no call is made
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_parallelize(const struct sley_invocation *calls, size_t nr);

#ifndef __cplusplus
/* SLEY_PARALLELIZE({ f, a }, { g, b }) - the same with the calls in place. */
#define SLEY_PARALLELIZE(...)                                                  \
	sley_parallelize(                                                      \
		(const struct sley_invocation[]){ __VA_ARGS__ },               \
		sizeof((const struct sley_invocation[]){ __VA_ARGS__ }) /      \
			sizeof(struct sley_invocation))
#endif

/*
 * sley_invoke - make @nr calls, some of them beside each other.
 *
 * The calls are forks, so they cost little more than plain calls, and there may
 * be any number.  But the calls must not wait for each other: no two of them are
 * guaranteed to run at the same time.  All are in the caller's task tree.  A
 * cancel of the caller does not cut the call short.
 *
 * Context:  any thread; without a runtime the calls are made one after the other
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @calls is borrowed for the call.
 * Order:    as sley_parallelize()
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_invoke(const struct sley_invocation *calls, size_t nr);

/*
 * sley_invoke_with - sley_invoke() with a priority, a grain, or cancellable.
 *
 * The grain is the minimum number of calls that are made one after the other.
 * @how may be NULL.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @calls and @how are borrowed for the call.
 * Order:    as sley_parallelize(), for the calls that were made
 * Errors:   -ECANCELED  some calls were not made; all others have returned
 *           SLEY_EPRIORITY, -E2BIG (a newer field is set)
 *           -EINVAL     how->size is zero; no call was made
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_invoke_with(const struct sley_invocation *calls, size_t nr,
		 const struct sley_how *how);

#ifndef __cplusplus
/* SLEY_INVOKE({ f, a }, { g, b }) - the same with the calls in place. */
#define SLEY_INVOKE(...)                                                       \
	sley_invoke((const struct sley_invocation[]){ __VA_ARGS__ },           \
		    sizeof((const struct sley_invocation[]){ __VA_ARGS__ }) /  \
			    sizeof(struct sley_invocation))
#endif

SLEY_END_DECLS
#endif
