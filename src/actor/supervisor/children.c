/* SPDX-License-Identifier: MIT */
/*
 * children.c - see children.h.
 */
#include "actor/supervisor/children.h"

#include "base/assert.h"

void children_init(struct children *children)
{
	*children = (struct children){ .nr_buckets = CHILDREN_FEW };
	children->bucket = children->few;
	list_init(&children->order);
	list_init(&children->gone);
}

static void free_buckets(struct children *children, struct mem *mem)
{
	if (children->bucket != children->few)
		mem_free(mem, children->bucket,
			 children->nr_buckets * sizeof(*children->bucket));
}

void children_fini(struct children *children, struct mem *mem)
{
	struct list *node;

	while ((node = list_take_first(&children->order)) ||
	       (node = list_take_first(&children->gone)))
		child_free(children_child(node), mem);
	free_buckets(children, mem);
}

/* ---- by pid --------------------------------------------------------------------- */

static struct child **bucket_of(const struct children *children, sley_pid pid)
{
	/* Pids differ in their low bits, and so do products. */
	uint64_t hash = pid * 0x9e3779b97f4a7c15u;

	return &children->bucket[(hash >> 32) & (children->nr_buckets - 1)];
}

static void put(const struct children *children, struct child *child)
{
	struct child **bucket = bucket_of(children, child->pid);

	child->next = *bucket;
	*bucket = child;
}

static void take_out(struct children *children, struct child *child)
{
	struct child **slot = bucket_of(children, child->pid);

	if (!child->pid)
		return;
	while (*slot != child)
		slot = &(*slot)->next;
	*slot = child->next;
	children->nr--;
}

static void grow(struct children *children, struct mem *mem)
{
	uint32_t nr_buckets = 2 * children->nr_buckets;
	struct child **bucket;
	struct list *node;

	if (!nr_buckets)
		return;
	bucket = mem_alloc(mem, nr_buckets * sizeof(struct child *));
	if (!bucket)
		return;
	free_buckets(children, mem);
	children->bucket = bucket;
	children->nr_buckets = nr_buckets;
	for (node = children->order.next; node != &children->order;
	     node = node->next) {
		if (children_child(node)->pid)
			put(children, children_child(node));
	}
}

struct child *children_find(const struct children *children, sley_pid pid)
{
	struct child *child = *bucket_of(children, pid);

	while (child && child->pid != pid)
		child = child->next;
	return child;
}

struct child *children_find_ever(const struct children *children, sley_pid pid)
{
	struct child *child = children_find(children, pid);

	if (child || !pid)
		return child;
	for (child = children_first(children); child && child->first != pid;
	     child = children_next(children, child))
		;
	return child;
}

/* ---- come and go ------------------------------------------------------------------ */

void children_append(struct children *children, struct child *child)
{
	sley_assert(!child->pid);
	list_append(&children->order, &child->order);
}

int children_start(struct children *children, struct child *child,
		   struct mem *mem)
{
	sley_pid old = child->pid;
	int err;

	take_out(children, child);
	err = child_start(child);
	if (!child->pid)
		return err;
	put(children, child);
	children->nr++;
	if (!old && children->nr > children->nr_buckets)
		grow(children, mem);
	return err;
}

void children_forget(struct children *children, struct child *child,
		     struct mem *mem)
{
	sley_assert(!child_lives(child));
	reminder_clear(&child->reminder);
	take_out(children, child);
	list_remove(&child->order);
	if (child->reminder.stale) {
		child->gone = true;
		list_append(&children->gone, &child->order);
		return;
	}
	child_free(child, mem);
}

void children_sweep(struct child *child, struct mem *mem)
{
	sley_assert(child->gone);
	if (child->reminder.stale)
		return;
	list_remove(&child->order);
	child_free(child, mem);
}
