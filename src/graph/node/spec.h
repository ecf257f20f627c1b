/* SPDX-License-Identifier: MIT */
/*
 * spec.h - what a caller asks for when it adds a node, to a graph or to a plan.
 */
#ifndef SLEY_GRAPH_NODE_SPEC_H
#define SLEY_GRAPH_NODE_SPEC_H

#include "base/compiler.h"

#include <sley/graph.h>

/*
 * *@spec is what is @given; or @copy, if an older or newer caller gave it.  0,
 * -EINVAL, -E2BIG or SLEY_EPRIORITY.  Who is named in it is not looked at.
 */
must_check int spec_check(const struct sley_node_spec **spec,
			  struct sley_node_spec *copy,
			  const struct sley_node_spec *given);

#endif
