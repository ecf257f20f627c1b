/* SPDX-License-Identifier: MIT */
/*
 * spec.c - see spec.h.
 */
#include "graph/node/spec.h"

#include "base/options.h"

#include <errno.h>
#include <sley/error.h>
#include <stdbool.h>

static bool modes_are_known(const struct sley_node_spec *spec)
{
	for (uint32_t i = 0; i < spec->nr_access; i++) {
		if ((unsigned int)spec->access[i].mode > SLEY_ACCESS_UPDATE)
			return false;
	}
	return true;
}

int spec_check(const struct sley_node_spec **out, struct sley_node_spec *copy,
	       const struct sley_node_spec *given)
{
	const struct sley_node_spec *spec = given;

	if (unlikely(!given || given->size != sizeof(*given))) {
		int err = options_take(copy, given);

		if (err)
			return err;
		spec = copy;
	}
	if (unlikely(!options_are_clear(spec->reserved)))
		return -E2BIG;
	if (spec->priority < SLEY_PRIORITY_MIN ||
	    spec->priority > SLEY_PRIORITY_MAX)
		return SLEY_EPRIORITY;
	if (!spec->fn || spec->arg_size > SLEY_NODE_ARG_MAX ||
	    !modes_are_known(spec))
		return -EINVAL;
	*out = spec;
	return 0;
}
