/* SPDX-License-Identifier: MIT */
/*
 * ready.c - see ready.h.
 */
#include "io/ready.h"

#include "core/sched/place.h"
#include "core/wait/wait.h"
#include "io/reactor.h"
#include "io/thread_wait.h"
#include "os/epoll.h"

#include <poll.h>

/* How a waiter was woken: the index that its node has. */
#define WOKEN_BY_EDGE 0
#define WOKEN_BY_CLOSER 1

/*
 * Under the lock of a side: is there no need to wait?  A closer that has woken all
 * waiters before has set CLOSING before.
 */
static bool is_over(const struct io_descriptor *descriptor, uint64_t word,
		    const struct side_look *look)
{
	return side_number(word) != look->number ||
	       descriptor_closes(descriptor);
}

static int wait_in_list(struct io_descriptor *descriptor, struct io_side *side,
			const struct side_look *look, uint64_t deadline_ns)
{
	struct sley_waiter node;
	uint64_t word = waitq_lock(&side->q);
	int result;

	if (is_over(descriptor, word, look)) {
		waitq_unlock_as(&side->q, word);
		return WOKEN_BY_EDGE;
	}
	result = waitq_wait(&side->q, &node, deadline_ns, 0);
	if (result < 0)
		waitq_unlock(&side->q);
	return result;
}

/* What a wait that returned @result means for the caller. */
static int after_wait(const struct io_descriptor *descriptor, int result)
{
	if (result < 0)
		return result;
	return result == WOKEN_BY_CLOSER || descriptor_closes(descriptor)
		       ? -EBADF
		       : 0;
}

int ready_wait(struct io_descriptor *descriptor, int fd,
	       enum io_direction direction, const struct side_look *look,
	       uint64_t deadline_ns)
{
	struct worker *worker = worker_current();
	int err;

	if (!worker)
		return thread_wait(descriptor, fd,
				   direction == IO_IN ? POLLIN : POLLOUT,
				   deadline_ns);
	err = reactor_watch(worker, descriptor, fd,
			    direction == IO_IN ? OS_EDGE_IN : OS_EDGE_OUT);
	if (err)
		return err;
	return after_wait(descriptor,
			  wait_in_list(descriptor, &descriptor->side[direction],
				       look, deadline_ns));
}

/*
 * Link @node, unless there was an edge: then the wait is decided, by this caller or by
 * the waker of a node that was linked before.  True: link no more nodes.
 */
static bool link_or_decide(struct io_descriptor *descriptor,
			   struct io_side *side, struct sley_waiter *node,
			   struct sley_task *task, const struct side_look *look)
{
	uint64_t word = waitq_lock(&side->q);
	bool over = is_over(descriptor, word, look);

	*node = (struct sley_waiter){ .task = task, .q = &side->q };
	if (over)
		(void)!task_decide(task, VERDICT_WOKEN, WOKEN_BY_EDGE);
	else
		waitq_link(&side->q, node);
	waitq_unlock_as(&side->q, word);
	return over;
}

int ready_wait_both(struct io_descriptor *descriptor, int fd,
		    const struct side_look *look, uint64_t deadline_ns)
{
	struct worker *worker = worker_current();
	struct sley_waiter node[NR_IO_DIRECTIONS];
	struct sley_task *task;
	unsigned int nr = 0;
	int err;

	if (!worker)
		return thread_wait(descriptor, fd, POLLIN | POLLOUT,
				   deadline_ns);
	err = wait_refused(deadline_ns);
	if (!err)
		err = reactor_watch(worker, descriptor, fd,
				    OS_EDGE_IN | OS_EDGE_OUT);
	if (err)
		return err;
	task = worker->strand->task;
	task_announce_wait(task);
	while (nr < NR_IO_DIRECTIONS) {
		bool over = link_or_decide(descriptor, &descriptor->side[nr],
					   &node[nr], task, &look[nr]);

		nr++;
		if (over)
			break;
	}
	return after_wait(descriptor, waitq_wait_any(node, nr, deadline_ns));
}

/* ---- the other side ------------------------------------------------------------------- */

static void wake_all(struct io_side *side, uint64_t bits, unsigned int how)
{
	uint64_t word = waitq_lock(&side->q);
	struct sley_task *chain;

	if (how != WOKEN_BY_EDGE)
		waitq_mark_all(&side->q, how);
	chain = waitq_wake_all(&side->q);
	waitq_unlock_as(&side->q, (word + SIDE_EDGE) | bits); /* W1 */
	task_enqueue_chain(chain);
}

void ready_edge(struct io_descriptor *descriptor, unsigned int bits)
{
	uint64_t special = bits & OS_EDGE_SPECIAL ? SIDE_SPECIAL : 0;

	if (bits & OS_EDGE_IN)
		wake_all(&descriptor->side[IO_IN], special, WOKEN_BY_EDGE);
	if (bits & OS_EDGE_OUT)
		wake_all(&descriptor->side[IO_OUT], special, WOKEN_BY_EDGE);
}

void ready_close(struct io_descriptor *descriptor)
{
	for (int i = 0; i < NR_IO_DIRECTIONS; i++)
		wake_all(&descriptor->side[i], 0, WOKEN_BY_CLOSER);
}
