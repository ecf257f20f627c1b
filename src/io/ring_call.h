/* SPDX-License-Identifier: MIT */
/*
 * ring_call.h - a task waits for a call that the kernel carries out in a ring.
 *
 * The kernel reads the caller's description and path, and writes to the caller's
 * memory, until it completes the call.  So a caller leaves only after the completion,
 * whatever ends its wait: *the completion always comes first*.
 *
 *   caller                                taker, a source of the runtime
 *   1. takes a place in the ring; there   1. takes a completion from the kernel
 *      is none: waits for a place         2. of a call: notes its result
 *   2. pending = 1, submits the call,     3. pending - 1 (C1); the frame of the
 *      under the lock                        caller may be gone from here on
 *   3. waits until pending is 0; a
 *      deadline or a cancel comes first:
 *      4. pending + 1, submits a cancel
 *      5. waits, shielded, until
 *         pending is 0
 *   6. gives the place back
 *
 * The result that the taker noted decides.  If the kernel says that it has taken the
 * call back, nothing was done, and the caller returns the reason of its cancel.
 * Otherwise the call is complete, and its result is returned, also after the deadline.
 *
 * A cancel has a completion of its own.  The caller waits for both: so a cancel that is
 * on its way never meets a later call whose record is at the same address, and there
 * is room for two completions for each place.  The kernel never has more completions
 * than room for them.
 *
 * A submission that the kernel does not take has left nothing behind: the call is done
 * elsewhere (io/file.h).  If the kernel does not take a cancel, the caller waits.
 *
 * Rejected: a record on the heap, which outlives the caller (it saves the record, but
 * not the memory that the kernel writes to); a linked timeout of the kernel in place of
 * the deadline (a second entry for each call, and no help for cancels).
 *
 * Edges:
 *
 *   RK1  a caller has written its record -> the taker completes it.  The kernel has
 *        this order, too, but neither C nor a tool that looks for races knows it
 *   C1   see core/task/countdown.h: here from the taker, which has read the completion,
 *       to the caller
 */
#ifndef SLEY_IO_RING_CALL_H
#define SLEY_IO_RING_CALL_H

#include "core/wait/waitq.h"
#include "lf/spin.h"
#include "os/uring_file.h"

#ifndef RING_PLACES
#define RING_PLACES 256u
#endif
#define RING_COMPLETIONS (2 * RING_PLACES)

/* The calls of a runtime that are under way in the kernel. */
struct ring_calls {
	struct os_uring_file kernel;
	struct spinlock submitting;
	uint32_t submitted; /* how often; RK1                          */
	uint32_t denied;    /* the kernel takes no submission any more */
	struct sley_waitq room;
	uint32_t nr_places; /* (room) free                             */
};

/* ->kernel is made by the caller. */
void ring_calls_init(struct ring_calls *calls);

/* Not begun: do it elsewhere. */
#define RING_REFUSES (-ENOSYS)

/*
 * 0: *@result is that of the call; -ETIMEDOUT, -ECANCELED: nothing was done; or
 * RING_REFUSES.
 */
must_check int ring_call(struct ring_calls *calls,
			 const struct os_file_call *file, uint64_t deadline_ns,
			 enum wait_flags flags, ssize_t *result);

/* By the taker.  True: there is more. */
must_check bool ring_calls_take(struct ring_calls *calls);

#endif
