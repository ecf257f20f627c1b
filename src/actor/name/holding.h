/* SPDX-License-Identifier: MIT */
/*
 * holding.h - what a process has elsewhere, and has to leave when it ends: its
 * names, and its places in topics.
 *
 * A list in the process, under its lock.  Who adds finds the process alive under
 * that lock; so when process_end() has taken the pid, the list is the dying
 * process's alone.
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
	struct holding **slot; /* what points here */
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

/* The same, or the process has ended and is the caller. */
static inline void holding_remove(struct holding *holding)
{
	*holding->slot = holding->next;
	if (holding->next)
		holding->next->slot = holding->slot;
}

/* The dying process: one of that kind is removed; NULL: there is none left. */
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
