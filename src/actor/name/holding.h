/* SPDX-License-Identifier: MIT */
/*
 * holding.h - the names of a process and its places in topics, which the process
 * has to leave when it ends.
 *
 * The holdings are a list in the process, under its lock.  An addition finds the
 * process alive under that lock; so when process_end() has taken the pid, the
 * list belongs to the ending process alone.
 */
#ifndef SLEY_ACTOR_NAME_HOLDING_H
#define SLEY_ACTOR_NAME_HOLDING_H

#include "actor/process/process.h"

enum holding_kind {
	HOLDS_NAME,
	HOLDS_SEAT, /* in a topic */
};

struct holding {
	struct holding *next;
	struct holding **slot; /* the pointer to this */
	enum holding_kind kind;
};

/* @process is locked. */
static inline void holding_add(struct process *process, struct holding *holding)
{
	struct holding **slot = &process->holdings;

	holding->next = *slot;
	holding->slot = slot;
	if (holding->next)
		holding->next->slot = &holding->next;
	*slot = holding;
}

/* The same, or the caller is the process, which has ended. */
static inline void holding_remove(struct holding *holding)
{
	*holding->slot = holding->next;
	if (holding->next)
		holding->next->slot = holding->slot;
}

/*
 * By the ending process: remove a holding of @kind; NULL: no such holding is
 * left.
 */
static inline struct holding *holding_take(struct process *process,
					   enum holding_kind kind)
{
	struct holding *holding = process->holdings;

	while (holding && holding->kind != kind)
		holding = holding->next;
	if (holding)
		holding_remove(holding);
	return holding;
}

#endif
