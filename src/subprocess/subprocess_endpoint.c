/* SPDX-License-Identifier: MIT */
/*
 * subprocess_endpoint.c - a subprocess that runs nodes of a graph: see endpoint.h.
 *
 * It runs any function of the program, by its address, which is the same there.
 * Pointers to data lead to the state when the fork server was forked, so arguments
 * go by value.
 */
#include "subprocess/subprocess.h"
#include "subprocess/function_table.h"

#include <errno.h>
#include <string.h>

static void run(struct sley_endpoint *endpoint,
		const struct endpoint_work *work, struct endpoint_end *end)
{
	struct sley_subprocess *subprocess =
		container_of(endpoint, struct sley_subprocess, endpoint);
	struct subprocess_node node = { .fn = work->fn,
					.has_arg = work->arg_size != 0 };
	const struct call_spec spec = { .fn = FUNCTION_TABLE_NODE,
					.arg = &node,
					.arg_size = sizeof(node),
					.deadline_ns = work->deadline_ns };
	struct sley_subprocess_result result = { .data = NULL };

	if (work->arg_size)
		memcpy(node.arg, work->arg, work->arg_size);
	end->code = subprocess_call(subprocess, &spec, &result);
	end->outcome = result.outcome;
	memcpy(end->text, result.text, sizeof(end->text));
}

const struct endpoint_ops subprocess_endpoint_ops = {
	.caps = ENDPOINT_ANY_FUNCTION | ENDPOINT_MAY_DIE,
	.arg_max = SLEY_NODE_ARG_MAX,
	.run = run,
};

struct sley_endpoint *
sley_subprocess_endpoint(struct sley_subprocess *subprocess)
{
	return &subprocess->endpoint;
}
