/* SPDX-License-Identifier: MIT */
/*
 * endpoint.h - whatever runs a node: the workers, a child process; later a GPU, or
 * another machine.
 *
 * A graph knows two things of it: what it can do, in bits that are compared and never
 * interpreted, and how to have it run one node.  The latter is called by the node's
 * own task, in its turn, and blocks it as a lock would: the worker goes on with
 * others, so an endpoint needs no queue of its own in the graph, and a node there has
 * one order of events as any other has.
 *
 * That a node is refused is said when it is submitted, and never later: what it
 * needs is compared with caps, its argument with arg_max.
 *
 * A mask of who may run a node has a bit for each of several endpoints of a kind; a
 * gang has as many members as the widths of those allow.  width is how many nodes run
 * there at once: that many members of one gang can be there and make progress.
 *
 * Rejected: endpoints that poll a queue of ready nodes.  Each would need a thread
 * here, or a place in the workers' search; and who waits for a child has nothing to
 * do but to wait.
 */
#ifndef SLEY_ENDPOINT_ENDPOINT_H
#define SLEY_ENDPOINT_ENDPOINT_H

#include "base/compiler.h"

#include <errno.h>
#include <sley/subprocess.h>
#include <sley/graph.h>

enum endpoint_caps {
	ENDPOINT_SEES_MEMORY = 1,  /* of the program: pointers lead somewhere */
	ENDPOINT_ANY_FUNCTION = 2, /* that the program has, by its address    */
	ENDPOINT_MAY_SUBMIT = 4,   /* more nodes to the same graph            */
	ENDPOINT_MAY_DIE = 8,      /* SLEY_OUTCOME_ENDPOINT                   */
	ENDPOINT_FAR = 16,         /* on another machine                      */
};

/* A node, for the one who runs it. */
struct endpoint_work {
	sley_node_fn *fn;
	const void *arg; /* NULL, or so many bytes by value */
	uint32_t arg_size;
	uint64_t deadline_ns;
};

/* What became of it. */
struct endpoint_end {
	enum sley_outcome outcome; /* SUCCESS, FAILURE, ENDPOINT or SKIPPED */
	int code;
	char text[SLEY_SUBPROCESS_TEXT_MAX]; /* why, if there is more to say    */
};

struct endpoint_ops {
	uint32_t caps;
	uint32_t arg_max;
	/* A task or a thread, which blocks; the outcome is SKIPPED if cancelled. */
	void (*run)(struct sley_endpoint *endpoint,
		    const struct endpoint_work *work, struct endpoint_end *end);
};

struct sley_endpoint {
	const struct endpoint_ops *ops;
	const char *name;
	uint32_t width;
};

/* When a node is submitted: 0, or why this endpoint cannot run it. */
static inline int endpoint_refuses(const struct sley_endpoint *endpoint,
				   const void *arg, uint32_t arg_size)
{
	if (arg_size > endpoint->ops->arg_max)
		return -EMSGSIZE;
	if (arg && !arg_size && !(endpoint->ops->caps & ENDPOINT_SEES_MEMORY))
		return -EFAULT;
	return 0;
}

#endif
