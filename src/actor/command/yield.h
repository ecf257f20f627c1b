/* SPDX-License-Identifier: MIT */
/*
 * yield.h - the commands of a process that are not complete, by tag.
 *
 *      record:  a table, a few records in the struct, then in memory of their own
 *      by_tag:  a hash table of the records
 *      first .. last:  all records, in the order of the yields
 *      fresh:   the first record that was not given to its handler
 *
 * All of this belongs to the process, except two words that others read, with the
 * process locked: how many commands there are, and the oldest command.
 *
 * When the records move to larger memory, their nodes are added to a new table.
 *
 * Rejected: tags that the library makes up, with the index of the record in them
 * (faster, but then the process cannot choose its tags, and has to tell them to
 * the code that completes the command).
 */
#ifndef SLEY_ACTOR_COMMAND_YIELD_H
#define SLEY_ACTOR_COMMAND_YIELD_H

#include "actor/process/process.h"
#include "base/hash.h"

struct command_timeout; /* actor/command/command_timeout.h */

#define YIELDS_FEW_BITS 2
#define YIELDS_FEW (1u << YIELDS_FEW_BITS)
#define YIELD_NONE UINT32_MAX

struct yield {
	struct hash_node node; /* by tag, or in the chain of free records   */
	void *payload;
	struct sley_msg *done; /* made early: completing cannot fail        */
	struct command_timeout *timeout; /* NULL: no timeout is running     */
	uint32_t command;
	uint32_t older, newer; /* YIELD_NONE: the end                       */
};

struct yields {
	struct yield *record;     /* these two words are the pool's while */
	struct hash_table by_tag; /* it is free                           */
	struct hash_node *free;   /* records                              */
	uint32_t nr;              /* read by others                       */
	uint32_t oldest;          /* the first command; read by others    */
	uint32_t capacity;        /* records: a power of two              */
	uint32_t first, last, fresh;
	struct yield few[YIELDS_FEW];
	struct hash_node *few_bucket[YIELDS_FEW];
	uint64_t reserved;
};

_Static_assert(sizeof(struct yields) == 320, "pools have multiples of 64");

static inline uint64_t yield_tag(const struct yield *yield)
{
	return yield->node.word;
}

/* 0, -EEXIST: a command has that tag, or -ENOMEM. */
must_check int yields_add(struct process *process, uint32_t command,
			  uint64_t tag, void *payload);

/* The next command for its handler; NULL: all were given to their handlers. */
struct yield *yields_next_fresh(struct process *process);

/* NULL: no command has that tag. */
struct yield *yields_find(const struct process *process, uint64_t tag);

/* The caller frees ->done and ->timeout. */
void yields_remove(struct process *process, struct yield *yield);

/* All commands were removed: free the memory. */
void yields_free(struct process *process);

#endif
