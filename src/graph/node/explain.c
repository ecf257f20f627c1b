/* SPDX-License-Identifier: MIT */
/*
 * explain.c - see explain.h.
 */
#include "graph/node/explain.h"

#include <errno.h>
#include <sley/error.h>
#include <stdio.h>

void explanation_say(struct explanation *text, const char *before,
		     const char *word)
{
	size_t left = text->length < text->size ? text->size - text->length : 0;
	int n = snprintf(left ? text->at + text->length : NULL, left, "%s%s",
			 before, word);

	if (n > 0)
		text->length += (size_t)n;
}

void explain(struct explanation *text, const char *name,
	     const struct failure *failure)
{
	explanation_say(text, text->length ? " <- " : "",
			name ? name : "a node");
	if (failure->outcome != SLEY_OUTCOME_SKIPPED)
		explanation_say(text,
				" failed: ", sley_strerror(failure->code));
	else if (failure_has_cause(failure))
		explanation_say(text, " was skipped", "");
	else
		explanation_say(text, " was cancelled", "");
}

int explanation_length(const struct explanation *text)
{
	return text->length ? (int)text->length : -ESRCH;
}
