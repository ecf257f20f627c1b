/* SPDX-License-Identifier: MIT */
/*
 * pid.c - pids as text: <node.index.generation>, in decimal.
 *
 * Each pid has one text, and only that text is parsed: no blanks, no signs, no
 * leading zeros, nothing after it.  The node of the text has a bit more than
 * nodes have: the port of a caller that waits for a reply (actor/mail/call.h) has
 * a pid as well.
 */
#include "actor/process/process.h"

#include <errno.h>
#include <stdio.h>

#define NODE_BITS (64 - PID_INDEX_BITS - PID_GENERATION_BITS)

void sley_pid_format(sley_pid pid, char text[SLEY_PID_TEXT])
{
	(void)snprintf(text, SLEY_PID_TEXT, "<%u.%u.%u>",
		       (unsigned int)(pid >> (64 - NODE_BITS)), pid_index(pid),
		       pid_generation(pid));
}

/* Parse a number of @bits bits after @before; NULL: there is no such number. */
static const char *parse(const char *text, char before, unsigned int bits,
			 uint64_t *number)
{
	uint64_t n = 0;

	if (*text++ != before || *text < '0' || *text > '9')
		return NULL;
	if (text[0] == '0' && text[1] >= '0' && text[1] <= '9')
		return NULL;
	for (; *text >= '0' && *text <= '9'; text++) {
		n = n * 10 + (uint64_t)(*text - '0');
		if (n >> bits)
			return NULL;
	}
	*number = n;
	return text;
}

int sley_pid_parse(const char *text, sley_pid *pid)
{
	uint64_t node = 0, index = 0, generation = 0;

	if (text)
		text = parse(text, '<', NODE_BITS, &node);
	if (text)
		text = parse(text, '.', PID_INDEX_BITS, &index);
	if (text)
		text = parse(text, '.', PID_GENERATION_BITS, &generation);
	if (!text || text[0] != '>' || text[1])
		return -EINVAL;
	*pid = node << (64 - NODE_BITS) | generation << PID_INDEX_BITS | index;
	return 0;
}
