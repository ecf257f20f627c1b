/* SPDX-License-Identifier: MIT */
/*
 * endpoint.h - runs nodes: workers, a subprocess; later a GPU or another machine.
 *
 * A graph knows two things about an endpoint: its abilities, in bits that are
 * compared and never interpreted, and how to let it run a node.  For the latter the
 * node's own task calls run(), in its turn, which blocks the task as a lock would.
 * The worker goes on with other tasks.  So an endpoint needs no queue of its own in
 * the graph, and its nodes have the same order of events as others.
 *
 * A node is refused when it is submitted, never later: its needs are compared with
 * caps, its argument with arg_max.
 *
 * width is the number of nodes that run there at once.  A node that names an endpoint
 * has neither a mask nor a gang: check_elsewhere() of graph/placement/placement.c
 * refuses both.
 *
 * Rejected: endpoints that poll a queue of ready nodes.  Each would need a thread
 * here, or a place in the workers' search.  A thread that waits for a subprocess has
 * nothing else to do.
 */
#ifndef SLEY_ENDPOINT_ENDPOINT_H
#define SLEY_ENDPOINT_ENDPOINT_H

#include "base/compiler.h"

#include <errno.h>
#include <sley/subprocess.h>
#include <sley/graph.h>

enum endpoint_caps {
	ENDPOINT_SEES_MEMORY = 1,  /* of the program: pointers are valid */
	ENDPOINT_ANY_FUNCTION = 2, /* of the program, by its address          */
	ENDPOINT_MAY_SUBMIT = 4,   /* more nodes to the same graph            */
	ENDPOINT_MAY_DIE = 8,      /* SLEY_OUTCOME_ENDPOINT                   */
	ENDPOINT_FAR = 16,         /* on another machine                      */
};

/* A node, for the endpoint. */
struct endpoint_work {
	sley_node_fn *fn;
	const void *arg; /* NULL, or arg_size bytes by value */
	uint32_t arg_size;
	uint64_t deadline_ns;
};

/* The result of a node. */
struct endpoint_end {
	enum sley_outcome outcome; /* SUCCESS, FAILURE, ENDPOINT or SKIPPED */
	int code;
	char text[SLEY_SUBPROCESS_TEXT_MAX]; /* the reason, if there is more */
};

struct endpoint_ops {
	uint32_t caps;
	uint32_t arg_max;
	/* Blocks the calling task or thread; the outcome is SKIPPED if cancelled. */
	void (*run)(struct sley_endpoint *endpoint,
		    const struct endpoint_work *work, struct endpoint_end *end);
};

struct sley_endpoint {
	const struct endpoint_ops *ops;
	const char *name;
	uint32_t width;
};

/* When a node is submitted: 0, or the error why this endpoint cannot run it. */
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
