/* SPDX-License-Identifier: MIT */
/*
 * explain.h - why a node has failed or was skipped, as a line of text: the node, then
 * the one that took it along, and so on.
 */
#ifndef SLEY_GRAPH_NODE_EXPLAIN_H
#define SLEY_GRAPH_NODE_EXPLAIN_H

#include "base/compiler.h"

#include <sley/graph.h>
#include <stdbool.h>

struct explanation {
	char *at;
	size_t size;
	size_t length; /* of all there is to say */
};

/* @before, then @word: what does not fit is only counted. */
void explanation_say(struct explanation *text, const char *before,
		     const char *word);

/* The next one: @name may be NULL.  @caused: another one took it along. */
void explain(struct explanation *text, const char *name,
	     enum sley_outcome outcome, int code, bool caused);

/* What is returned for it: the length, or -ESRCH if there was nothing to say. */
must_check int explanation_length(const struct explanation *text);

#endif
