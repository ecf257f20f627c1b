/* SPDX-License-Identifier: MIT */
/*
 * spec.h - checks the description of a node that is added to a graph or a plan.
 */
#ifndef SLEY_GRAPH_NODE_SPEC_H
#define SLEY_GRAPH_NODE_SPEC_H

#include "base/compiler.h"

#include <sley/graph.h>

/*
 * Sets *@spec to @given; or to @copy, if the caller was built with an older or newer
 * header.  0, -EINVAL, -E2BIG or SLEY_EPRIORITY.  Named nodes are not checked.
 */
must_check int spec_check(const struct sley_node_spec **spec,
			  struct sley_node_spec *copy,
			  const struct sley_node_spec *given);

#endif
