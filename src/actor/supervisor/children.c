/* SPDX-License-Identifier: MIT */
/*
 * children.c - see children.h.
 */
#include "actor/supervisor/children.h"

#include "base/assert.h"

void children_init(struct children *children)
{
	*children = (struct children){ 0 };
	hash_init(&children->by_pid, children->few, CHILDREN_FEW_BITS);
	list_init(&children->order);
	list_init(&children->gone);
}

static void free_buckets(struct children *children, struct mem *mem,
			 struct hash_node **bucket, uint32_t bits)
{
	if (bucket != children->few)
		mem_free(mem, bucket, sizeof(*bucket) << bits);
}

void children_fini(struct children *children, struct mem *mem)
{
	struct list *node;

	while ((node = list_take_first(&children->order)) ||
	       (node = list_take_first(&children->gone)))
		child_free(children_child(node), mem);
	free_buckets(children, mem, children->by_pid.bucket,
		     children->by_pid.bits);
}

/* ---- by pid --------------------------------------------------------------------- */

/* One bucket for each child, if there is memory. */
static void grow(struct children *children, struct mem *mem)
{
	struct hash_table *table = &children->by_pid;
	uint32_t bits = table->bits;
	struct hash_node **bucket;

	if (table->nr <= hash_nr_buckets(table))
		return;
	bucket = mem_alloc(mem, sizeof(*bucket) << (bits + 1));
	if (bucket)
		free_buckets(children, mem, hash_move(table, bucket, bits + 1),
			     bits);
}

struct child *children_find(const struct children *children, sley_pid pid)
{
	struct hash_node *node = hash_find(&children->by_pid, pid);

	return node ? container_of(node, struct child, node) : NULL;
}

static void take_out(struct children *children, struct child *child)
{
	if (child->pid)
		hash_remove(&children->by_pid, &child->node);
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
	hash_add(&children->by_pid, &child->node, child->pid);
	if (!old)
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
