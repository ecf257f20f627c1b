/* SPDX-License-Identifier: MIT */
/*
 * call.c - see call.h.
 */
#include "io/call.h"

#include "core/sched/worker.h"
#include "io/ready.h"

/* A task gives way to others after so many calls that did not wait. */
#define CALLS_IN_A_ROW 64

/*
 * There was no wait, or it ended early, and the last attempt was spared: something may
 * have come since then, whose edge is still on its way.
 */
static ssize_t try_at_last(struct io_call *call, ssize_t reason)
{
	ssize_t result;

	if (reason == -EBADF)
		return reason;
	result = call->attempt(call);
	return result == -EAGAIN ? reason : result;
}

static ssize_t try_and_wait(struct io_call *call,
			    struct io_descriptor *descriptor)
{
	struct io_side *side = &descriptor->side[call->direction];

	for (;;) {
		struct side_look look = side_look(side);
		bool tries = !look.empty || call->tries_first || call->apart ||
			     call->never_waits;
		ssize_t result = -EAGAIN;

		if (tries) {
			result = call->attempt(call);
			if ((result == -EAGAIN || call->emptied) &&
			    !call->apart)
				side_note_empty(side, &look);
		}
		if (likely(result != -EAGAIN || call->never_waits))
			return result;
		result = ready_wait(descriptor, call->fd, call->direction,
				    &look, call->deadline_ns);
		if (unlikely(result))
			return tries ? result : try_at_last(call, result);
	}
}

/* A caller that never has to wait would keep other tasks from its worker. */
void io_give_way(void)
{
	struct worker *worker = worker_now();

	if (!worker || ++worker->io_calls % CALLS_IN_A_ROW)
		return;
	worker_yield(worker);
}

int io_call_become_nonblocking(struct io_call *call)
{
	int err;

	if (likely(call->traits & TRAIT_NONBLOCKING))
		return 0;
	err = os_fd_set_nonblocking(call->fd);
	if (err)
		return err;
	call->traits |= TRAIT_NONBLOCKING;
	/* If the number was not open when it was asked for, nothing is known. */
	if (traits_kind(call->traits) != OS_FD_CLOSED)
		descriptor_add_traits(call->descriptor, TRAIT_NONBLOCKING);
	return 0;
}

ssize_t io_call(struct io_call *call)
{
	struct io_descriptor *descriptor;
	ssize_t result = descriptor_enter(call->fd, &descriptor);

	if (unlikely(result))
		return result;
	call->descriptor = descriptor;
	call->traits = descriptor_traits(descriptor, call->fd);
	if (unlikely(!worker_current()))
		call->tries_first = true;
	if (call->on_file && traits_kind(call->traits) == OS_FD_FILE)
		result = call->on_file(call);
	else
		result = try_and_wait(call, descriptor);
	descriptor_leave(descriptor);
	if (result < 0)
		return call->done ? (ssize_t)call->done : result;
	io_give_way();
	return result;
}
