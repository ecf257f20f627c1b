/* SPDX-License-Identifier: MIT */
/*
 * roster.c - see roster.h.
 */
#include "actor/roster.h"

#include "base/assert.h"

void roster_init(struct roster *roster)
{
	*roster = (struct roster){ .nr_buckets = ROSTER_FEW };
	roster->bucket = roster->few;
	list_init(&roster->order);
	list_init(&roster->gone);
}

static void free_buckets(struct roster *roster, struct mem *mem)
{
	if (roster->bucket != roster->few)
		mem_free(mem, roster->bucket,
			 roster->nr_buckets * sizeof(*roster->bucket));
}

void roster_fini(struct roster *roster, struct mem *mem)
{
	struct list *node;

	while ((node = list_take_first(&roster->order)) ||
	       (node = list_take_first(&roster->gone)))
		child_free(roster_child(node), mem);
	free_buckets(roster, mem);
}

/* ---- by pid --------------------------------------------------------------------- */

static struct child **bucket_of(const struct roster *roster, sley_pid pid)
{
	/* Pids differ in their low bits, and so do products. */
	uint64_t hash = pid * 0x9e3779b97f4a7c15u;

	return &roster->bucket[(hash >> 32) & (roster->nr_buckets - 1)];
}

static void put(const struct roster *roster, struct child *child)
{
	struct child **bucket = bucket_of(roster, child->pid);

	child->next = *bucket;
	*bucket = child;
}

static void take_out(struct roster *roster, struct child *child)
{
	struct child **slot = bucket_of(roster, child->pid);

	if (!child->pid)
		return;
	while (*slot != child)
		slot = &(*slot)->next;
	*slot = child->next;
	roster->nr--;
}

static void grow(struct roster *roster, struct mem *mem)
{
	uint32_t nr_buckets = 2 * roster->nr_buckets;
	struct child **bucket;
	struct list *node;

	if (!nr_buckets)
		return;
	bucket = mem_alloc(mem, nr_buckets * sizeof(struct child *));
	if (!bucket)
		return;
	free_buckets(roster, mem);
	roster->bucket = bucket;
	roster->nr_buckets = nr_buckets;
	for (node = roster->order.next; node != &roster->order;
	     node = node->next) {
		if (roster_child(node)->pid)
			put(roster, roster_child(node));
	}
}

struct child *roster_find(const struct roster *roster, sley_pid pid)
{
	struct child *child = *bucket_of(roster, pid);

	while (child && child->pid != pid)
		child = child->next;
	return child;
}

struct child *roster_find_ever(const struct roster *roster, sley_pid pid)
{
	struct child *child = roster_find(roster, pid);

	if (child || !pid)
		return child;
	for (child = roster_first(roster); child && child->first != pid;
	     child = roster_next(roster, child))
		;
	return child;
}

/* ---- come and go ------------------------------------------------------------------ */

void roster_append(struct roster *roster, struct child *child)
{
	sley_assert(!child->pid);
	list_append(&roster->order, &child->order);
}

int roster_start(struct roster *roster, struct child *child, struct mem *mem)
{
	sley_pid old = child->pid;
	int err;

	take_out(roster, child);
	err = child_start(child);
	if (!child->pid)
		return err;
	put(roster, child);
	roster->nr++;
	if (!old && roster->nr > roster->nr_buckets)
		grow(roster, mem);
	return err;
}

void roster_forget(struct roster *roster, struct child *child, struct mem *mem)
{
	sley_assert(!child_lives(child));
	reminder_clear(&child->reminder);
	take_out(roster, child);
	list_remove(&child->order);
	if (child->reminder.stale) {
		child->gone = true;
		list_append(&roster->gone, &child->order);
		return;
	}
	child_free(child, mem);
}

void roster_sweep(struct child *child, struct mem *mem)
{
	sley_assert(child->gone);
	if (child->reminder.stale)
		return;
	list_remove(&child->order);
	child_free(child, mem);
}
