/* SPDX-License-Identifier: MIT */
/*
 * explain.h - why a node has failed or was skipped, as a line of text: the node,
 * then its cause, then the cause of that, and so on.
 */
#ifndef SLEY_GRAPH_NODE_EXPLAIN_H
#define SLEY_GRAPH_NODE_EXPLAIN_H

#include "base/compiler.h"
#include "graph/node/failure.h"

#include <stddef.h>

struct explanation {
	char *at;
	size_t size;
	size_t length; /* of the whole text, also if cut off */
};

/* Appends @before, then @word; text that does not fit is only counted. */
void explanation_say(struct explanation *text, const char *before,
		     const char *word);

/* Appends the next node, which has ended with @failure.  @name may be NULL. */
void explain(struct explanation *text, const char *name,
	     const struct failure *failure);

/* The result of the public calls: the length, or -ESRCH if the text is empty. */
must_check int explanation_length(const struct explanation *text);

#endif
