/* SPDX-License-Identifier: MIT */
/*
 * rwlock_line.h - tasks that wait in line for a reader-writer lock.
 *
 * In a single-threaded runtime, so that the order in which the tasks come is known.
 */
#ifndef SLEY_TESTS_CONFORMANCE_SYNC_RWLOCK_LINE_H
#define SLEY_TESTS_CONFORMANCE_SYNC_RWLOCK_LINE_H

#include "conformance/bound.h"

static inline bool can_read(struct sley_rwlock *lock)
{
	bool can = sley_rwlock_try_read_lock(lock);

	if (can)
		sley_rwlock_read_unlock(lock);
	return can;
}

static inline bool can_write(struct sley_rwlock *lock)
{
	bool can = sley_rwlock_try_write_lock(lock);

	if (can)
		sley_rwlock_write_unlock(lock);
	return can;
}

struct line {
	struct sley_rwlock *lock;
	struct sley_event leave; /* manual: a task may release the lock */
	char order[32];          /* the names of the tasks that got it */
	int n;
};

struct place {
	struct sley_task task;
	struct sley_group group;
	struct line *line;
	char name; /* upper case writes */
	int result;
};

static inline void stand_in_line(void *arg)
{
	struct place *p = arg;
	struct line *line = p->line;
	bool write = p->name < 'a';

	p->result =
		write ? sley_rwlock_write_lock_until(line->lock, SLEY_FOREVER)
		      : sley_rwlock_read_lock_until(line->lock, SLEY_FOREVER);
	if (p->result)
		return;
	line->order[line->n++] = p->name;
	CHECK_EQ(sley_event_wait(&line->leave), 0);
	if (write)
		sley_rwlock_write_unlock(line->lock);
	else
		sley_rwlock_read_unlock(line->lock);
}

/*
 * A task for each of @names comes, in this order, and gets the lock or waits;
 * "+" before a name: a task of the caller's tree.
 */
static inline void line_up(struct sley *rt, struct line *line,
			   struct place *places, const char *names)
{
	for (; *names; names++, places++) {
		*places = (struct place){ .line = line };
		if (*names == '+') {
			sley_group_in_tree(&places->group);
			names++;
		}
		places->name = *names;
		sley_spawn(&places->group, &places->task, stand_in_line,
			   places);
		CHECK_EQ(sley_run_one(rt), 1);
	}
}

/* All leave, and the lock is free. */
static inline void end_line(struct sley *rt, struct line *line)
{
	sley_event_set(&line->leave);
	run_all(rt);
	CHECK(can_write(line->lock));
	stop(rt);
}

#endif
