/* SPDX-License-Identifier: MIT */
/*
 * neighbour.h - requests for containers on other machines: the seam.
 *
 * A router has a *neighbour* or none.  A neighbour is a table of functions, with the
 * transport behind it: it knows which machine has which container, and carries requests
 * there and answers back.  The library has none yet; tests have one.  A router without
 * a neighbour has all containers itself, and a request that names another machine
 * completes with -EHOSTUNREACH.
 *
 * A request for elsewhere is a task of this machine.  It hands the request over and
 * waits for the answer, as a request for a drained container waits (route/request.h).
 * So its deadline, its cancel and the end of the runtime are those of any wait.
 *
 * The neighbour may read the IN part while send() runs, and never writes to memory of
 * the submitter.  It knows the request by a *ticket*, {place, generation}.  An answer
 * brings the ticket back, and neighbour_answer() copies the answer, with the lock of
 * the place, if the ticket is still good.  An answer that comes twice, or too late, is a
 * *stray*: it is counted and dropped, whatever has become of the request's memory.
 *
 *   FREE ──take──► IDLE ──begin──► OUT ──answer, or the end of the pool──► OVER ──► FREE
 *                   ▲ │             │
 *                   │ └◄──withdraw──┤       deadline or cancel: the ticket is void
 *                   │               │
 *                   └──WAITS◄───────┘       send() said -EHOSTUNREACH: until the
 *                                           neighbour has changed, or out of time
 *
 * All of a place is under its lock.  A ticket is good for one begin: the generation
 * grows with each.  A place that is WAITS is told by neighbour_changed().  A change that
 * comes between the failure of send() and the wait is kept in `changed`, which is cleared
 * before the neighbour is asked for the machine: so no change is missed.
 *
 * The end of a pool.  The ender condemns the containers, then looks at every place, and
 * makes those of the pool OVER, with -ENOENT.  A place is taken under the lock of the
 * table, which the ender takes to look: either the ender finds the place, or the taker
 * finds the containers condemned.
 *
 * Time.  The time-out of the query bounds the wait for a machine that cannot be reached,
 * and the request completes with -EHOSTUNREACH; 0: send() is tried once.  The deadline of
 * the request bounds everything, with -ETIMEDOUT.  A neighbour that has taken a request
 * and learns that the machine is lost answers with a code; the library cannot know.
 *
 * A query is made concrete before it leaves: a dynamic query was answered here, a hash has
 * become the number of a container, and physical:n has become physical:0.  So the other
 * machine asks no module a second time (no request goes round in circles), and a request
 * that is tried again asks owner() again: the container may have come here meanwhile, and
 * then the request is submitted again, by its task.
 *
 * Rejected: the address of the request as the ticket (a late answer writes to memory
 * that is another's by then); a request without a stack while it is out (the wait, the
 * deadline and the cancel would be a second protocol, for a way that takes longer than
 * a switch in any case); to copy the answer under the lock of the table (a large answer
 * would hold up all others).
 */
#ifndef SLEY_ROUTE_NEIGHBOUR_H
#define SLEY_ROUTE_NEIGHBOUR_H

#include "route/router.h"

#include <sley/request.h>

/* One way of one request to another machine. */
struct ticket {
	uint32_t place;
	uint32_t generation;
};

/* What goes to the other machine.  Valid while send() runs, and so is the IN part. */
struct parcel {
	struct ticket ticket;
	uint64_t machine;
	const char *pool;
	struct sley_query query; /* an id, a range, or physical:0             */
	const void *in;
	size_t in_size;
	size_t out_size; /* room for the answer                               */
	uint32_t method;
	int32_t priority;
	uint64_t deadline_ns; /* of the clock of this machine; 0: none        */
	uint64_t group;
	uint64_t io_size;
};

/* The functions are called by any worker, several at a time. */
struct neighbour_ops {
	/* The machine of a container; 0: this machine.  Short, does not block. */
	uint64_t (*owner)(void *self, const char *pool, uint32_t container);
	/*
	 * Takes a request.  0: there will be one answer, perhaps before the return.
	 * -EHOSTUNREACH: not now; neighbour_changed() says when to try again.  Other
	 * errors are the code of the request.
	 */
	int (*send)(void *self, const struct parcel *parcel);
	/* No answer is waited for any more.  NULL: the neighbour need not know. */
	void (*drop)(void *self, struct ticket ticket);
	/* The router ends: no answer comes after the return.  May be NULL. */
	void (*stop)(void *self);
};

/*
 * Gives @router a neighbour, before its first pool.  @ops and @self are borrowed until
 * the router ends.  0, -EBUSY: there are pools, -EEXIST, -ENOMEM.
 */
must_check int neighbour_start(struct sley_router *router,
			       const struct neighbour_ops *ops, void *self);

/* All pools have ended. */
void neighbour_end(struct sley_router *router);

/* ---- for the neighbour ------------------------------------------------------------ */

/*
 * An answer of @size bytes, with the code of the method.  Any thread.  0, or -ESTALE: no
 * request waits for it, and nothing was touched; or SLEY_EFORKED.  An answer that is
 * larger than the OUT part completes the request with -EMSGSIZE.
 */
must_check int neighbour_answer(struct sley_router *router,
				struct ticket ticket, int code,
				const void *answer, size_t size);

/* A machine can be reached, or containers have moved: requests that wait try again. */
void neighbour_changed(struct sley_router *router);

/* How many answers no request waited for. */
uint64_t neighbour_nr_strays(const struct sley_router *router);

/* ---- for requests and pools ------------------------------------------------------- */

/* Is container @id of @pool on another machine?  The router has a neighbour. */
must_check bool neighbour_has(const struct sley_pool *pool, uint32_t id);

/*
 * Does @request, whose container was resolved, go to another machine?  Then its query
 * is made concrete.  The router has a neighbour.
 */
must_check bool neighbour_wants(struct sley_request *request);

/* Hands the request over and waits, in the task of the request.  Returns its code. */
must_check int neighbour_run(struct sley_request *request);

/* Ends the requests of @pool that are out, or wait, with -ENOENT. */
void neighbour_end_pool(const struct sley_pool *pool);

#endif
