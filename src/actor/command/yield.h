/* SPDX-License-Identifier: MIT */
/*
 * yield.h - the commands of one process that are not complete, by tag.
 *
 *      record:  a table, a few of them in the struct, then in memory of their own
 *      bucket:  by tag, chained
 *      first .. last:  all of them in the order they were yielded
 *      fresh:   the first that was not given to its handler
 *
 * All of it belongs to the process, but two words that others read, with the process
 * locked: how many there are, and the command of the oldest.
 *
 * Rejected: tags that we make up, the index of the record in them (faster, but
 * then the process cannot choose its tags, and who completes has to be told).
 */
#ifndef SLEY_ACTOR_COMMAND_YIELD_H
#define SLEY_ACTOR_COMMAND_YIELD_H

#include "actor/process/process.h"

struct command_timeout; /* actor/command/command_timeout.h */

#define YIELDS_FEW 4 /* a power of two */
#define YIELD_NONE UINT32_MAX

struct yield {
	uint64_t tag;
	void *payload;
	struct sley_msg *done; /* made early, so that it cannot fail        */
	struct command_timeout *timeout; /* NULL: none is running           */
	uint32_t command;
	uint32_t older, newer; /* YIELD_NONE: there is none                 */
	uint32_t chain;        /* in its bucket, or of the free ones        */
};

struct yields {
	struct yield *record; /* these two words are the pool's while it is */
	uint32_t *bucket;     /* free                                       */
	uint32_t nr;          /* read by others                             */
	uint32_t oldest;      /* its command; read by others                */
	uint32_t capacity;    /* of both arrays: a power of two             */
	uint32_t free;        /* records: chained                           */
	uint32_t first, last, fresh;
	uint32_t reserved;
	struct yield few[YIELDS_FEW];
	uint32_t few_bucket[YIELDS_FEW];
};

_Static_assert(sizeof(struct yields) == 256, "pools have multiples of 64");

/* 0, -EEXIST: there is one of that tag, or -ENOMEM. */
must_check int yields_add(struct process *process, uint32_t command,
			  uint64_t tag, void *payload);

/* The next one for its handler; NULL: all were given to theirs. */
struct yield *yields_next_fresh(struct process *process);

/* NULL: there is none of that tag. */
struct yield *yields_find(const struct process *process, uint64_t tag);

/* What it has is the caller's to free, or was. */
void yields_remove(struct process *process, struct yield *yield);

/* All of them are gone; so is the memory. */
void yields_free(struct process *process);

#endif
