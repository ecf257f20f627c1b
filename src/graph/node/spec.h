/* SPDX-License-Identifier: MIT */
/*
 * spec.h - checks a struct sley_node_spec, in which the user describes a node: its
 * function, argument, accesses and priority.
 *
 * Graphs and plans call this before they add a node.  A spec of an older or newer
 * header is brought to the size that this library knows.
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
