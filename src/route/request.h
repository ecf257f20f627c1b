/* SPDX-License-Identifier: MIT */
/*
 * request.h - a request, from its acceptance to its completion.
 *
 * A request goes through the same steps, on whichever way:
 *
 *   fill       the spec is copied; the request is in nobody's queue
 *   enter      the door of its container (route/door.h)
 *   map        the policy chooses a worker
 *   run        the method; in a task of its own, or on the stack of the submitter
 *   leave      the group, the door
 *   complete   the future, or the parts (route/parts.h) that it belongs to, or it is freed,
 *              or the server of another process is told
 *
 * The request is a task in turns (core/task/turn.h), for the sake of its end: the worker
 * completes it in after(), when it does not touch the task any more.  So the memory of
 * the request belongs to its submitter again from the moment of completion.
 *
 * A request whose container is shut has not entered.  Its task enters (REQUEST_WAITS)
 * before it runs the method, and waits there as any task.  So does the task of a request
 * for another machine (REQUEST_ELSEWHERE, route/neighbour.h), which enters nothing.
 *
 * A request with a period (REQUEST_REPEATS) goes from enter to leave many times; the series
 * of its runs is in route/series.h.
 */
#ifndef SLEY_ROUTE_REQUEST_H
#define SLEY_ROUTE_REQUEST_H

#include "route/router.h"

#include <sley/request.h>

enum request_flags {
	REQUEST_ENTERED =
		1 << 0, /* it is inside the door of its container      */
	REQUEST_WAITS =
		1 << 1, /* its task has to enter first, or it has parts  */
	REQUEST_GROUPED =
		1 << 2, /* its group counts it                          */
	REQUEST_PART =
		1 << 3, /* of parts: no future is completed             */
	REQUEST_FREED =
		1 << 4, /* no caller waits: freed when complete          */
	REQUEST_ENQUEUED =
		1 << 5, /* never on the stack of the submitter          */
	REQUEST_CALLED =
		1 << 6, /* the submitter waits: any method may run there */
	REQUEST_MEASURED =
		1 << 7, /* its run teaches what the method costs         */
	REQUEST_PINNED =
		1 << 8, /* only the worker that the policy chose runs it */
	REQUEST_REPEATS =
		1 << 9, /* has a period, and is counted by the pool      */
	REQUEST_IDLE =
		1 << 10, /* the method had nothing to do                  */
	REQUEST_ELSEWHERE =
		1 << 11, /* the container is on another machine           */
	REQUEST_SERVED =
		1 << 12, /* a struct served_request: of another process   */
};

/*
 * A request that a server of other processes submits (ipc/serve_request.h).  Its policy is
 * asked by client_map(), and its completion is a call: @served belongs to the server
 * again.  The call comes in the middle of a scheduler's step: it must not wait.
 */
struct served_request {
	struct sley_request request;
	void (*complete)(struct served_request *served);
	int32_t process; /* the pid of the submitter */
};

static inline struct served_request *
request_served(const struct sley_request *request)
{
	return container_of((struct sley_request *)request,
			    struct served_request, request);
}

/* The memory of a request of sley_submit_and_forget(): its IN part follows. */
static inline size_t request_forgotten_size(const struct sley_request *request)
{
	return sizeof(*request) + request->in_size;
}

/*
 * Submits a request of another process, as sley_submit() does, which it fails as.  The
 * server has checked and copied all of @spec, but for its priority.
 */
must_check int request_serve(struct sley_pool *pool,
			     struct served_request *served,
			     const struct sley_request_spec *spec);

/* Copies @spec, which was checked. */
void request_fill(struct sley_request *request,
		  const struct sley_request_spec *spec, uint32_t flags);

/* The door of the container was entered, for the method to run. */
void request_entered(struct sley_request *request);

/* The group, and the door. */
void request_leave_container(struct sley_request *request);

/* What was asked for, as a spec; without a parent. */
struct sley_request_spec request_spec(const struct sley_request *request);

/* Until when a request may wait to be taken: by the query, and by the deadline. */
uint64_t request_patience(const struct sley_request *request);

/* Runs the method, of which the caller has to keep the container. */
must_check int request_run(struct sley_request *request);

/* Leaves everything that was entered, and completes with @code.  Not touched then. */
void request_complete(struct sley_router *router, struct sley_request *request,
		      int code);

/* Accepts @request, which entered nothing, and completes the request with @code.  0. */
must_check int request_refuse(struct sley_router *router,
			      struct sley_request *request, int code);

/*
 * Queues the request as a task, toward @to or SLEY_NO_WORKER.  0, or the errors of
 * sley_submit(): then nothing was done.
 */
must_check int request_queue(struct sley_router *router, struct worker *here,
			     struct sley_request *request, uint32_t to);

/*
 * The request of @task, which the caller has taken out of a queue, if it is a request
 * of @router that has not begun; or NULL.
 */
struct sley_request *request_queued(const struct sley_router *router,
				    const struct sley_task *task);

/* Cancels the task of a request that is not complete, and has no parts. */
void request_cancel_task(struct sley_request *request);

/* The container of the request was resolved: enters, maps, runs or queues. */
must_check int request_send(struct sley_router *router,
			    struct sley_request *request);

/* Queues the task of a request whose container is on another machine. */
must_check int request_send_elsewhere(struct sley_router *router,
				      struct sley_request *request);

#endif
