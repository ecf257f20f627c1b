/* SPDX-License-Identifier: MIT */
/*
 * sley/select.h - wait for any of several channels.
 *
 * Each case is a send or a receive that the caller is ready for.  The call does
 * one of them; the others have no effect.  If several cases can go again and
 * again, each gets its turn.
 *
 *	struct sley_case cases[] = {
 *		SLEY_CASE_RECV(requests, &request),
 *		SLEY_CASE_SEND(replies, &reply),
 *	};
 *
 *	switch (sley_select(cases, 2)) {
 *	case 0:
 *		if (cases[0].status == -EPIPE)
 *			return;
 *		...
 */
#ifndef SLEY_SELECT_H
#define SLEY_SELECT_H

#include <sley/chan.h>
#include <sley/compiler.h>

SLEY_BEGIN_DECLS

enum sley_case_kind {
	SLEY_RECV = 0,
	SLEY_SEND = 1,
};

/*
 * Owned by the caller; other tasks and threads do not touch it.  The case that
 * goes gets a status: 0, or -EPIPE if its channel is closed (and empty, for a
 * receive).  The status of the other cases does not change.
 */
struct sley_case {
	struct sley_chan *chan; /* NULL: this case never goes          */
	void *value;            /* the value to send, or room to receive */
	enum sley_case_kind kind;
	int status; /* of the case that went: 0 or -EPIPE  */
};

/* Initialises a case: receive into *@value. */
#define SLEY_CASE_RECV(chan, value) { (chan), (value), SLEY_RECV, 0 }
/* Initialises a case: send a copy of *@value. */
#define SLEY_CASE_SEND(chan, value) { (chan), (void *)(value), SLEY_SEND, 0 }

/* The maximum number of cases. */
#define SLEY_SELECT_MAX 64

/*
 * sley_select - wait until one of @nr sends and receives can go, and do it.
 *
 * Returns the index of the case that went.  A closed channel can go, too: see
 * the status of the case.  The same channel may be listed more than once; a send
 * and a receive of one select never meet each other.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    the channels must live until the call returns.
 * Order:    as of the send or the receive that was done.
 * Errors:   -ECANCELED
 *           -ENOMEM  an unbounded channel could not grow
 *           -EINVAL  @nr is 0 or above SLEY_SELECT_MAX
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_select(struct sley_case *cases, size_t nr);

/*
 * sley_select_until - sley_select() with a deadline.
 *
 * A case that can go wins over a deadline that has passed.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, -ECANCELED, -ENOMEM, -EINVAL; nothing was sent or
 *           received then
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_select_until(struct sley_case *cases, size_t nr, uint64_t deadline_ns);

/*
 * sley_try_select - do one of @nr sends and receives if one can go now.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -EAGAIN (none can), -ENOMEM, -EINVAL
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_try_select(struct sley_case *cases, size_t nr);

SLEY_END_DECLS
#endif
