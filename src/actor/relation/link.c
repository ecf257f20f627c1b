/* SPDX-License-Identifier: MIT */
/*
 * link.c - links: two processes that share their fate.
 *
 * A link is one object with two sides.  The side of a process is on the list of
 * that process, under its lock, and contains the SLEY_EXIT that the process gets
 * when its peer fails.
 *
 * While both processes live, and are locked, the link is on both lists or on no
 * list: it is made and undone with both locks held, taken in the order of their
 * places.  When a process ends, no other process uses its list any more.  For
 * each link the ending process locks the peer:
 *
 *   the peer has ended, too      the peer sees to its side itself
 *   its side is on no list       the peer has unlinked meanwhile: nothing is sent
 *   the reason is 0              its side is taken off its list
 *   else                         the message is sent; its side stays on its list
 *
 * In the last case the side is on the list until the message is taken out of the
 * inbox.  If the side is on no list by then, the peer has unlinked, and the
 * message is dropped.  So the list alone decides.
 *
 * The link is freed by the last of two references, one for each side.  The side
 * of an ended process hands its reference to the message.
 *
 * A search for a link looks through the shorter of two lists: supervisors have
 * long lists, their children do not.
 *
 * Edges, besides those of locks and inboxes:
 *
 *   LK1  a reference is dropped -> the last drop frees the link : all uses of it
 *
 * Rejected: two objects, one for each side (256 bytes, and neither side knows
 * whether the other is still there).
 */
#include "actor/relation/relation.h"

#include "mem/object_pool.h"

#include <errno.h>

struct side {
	struct sley_msg msg; /* from: the peer                              */
	struct list node;    /* on the list of its process                  */
	bool second;         /* of the link                                 */
};

struct link {
	struct side sides[2];
	uint32_t refs;
};

static struct object_pool pool = { .object_size = 192 };

_Static_assert(sizeof(struct link) <= 192, "an object of the pool");

static struct link *link_of(struct side *side)
{
	return container_of(side - side->second, struct link, sides[0]);
}

static struct side *other(struct side *side)
{
	return side->second ? side - 1 : side + 1;
}

static struct side *side_of(struct list *node)
{
	return container_of(node, struct side, node);
}

static struct link *create(sley_pid first, sley_pid second)
{
	struct link *link = object_pool_get(&pool, NULL);

	if (!link)
		return NULL;
	for (int i = 0; i < 2; i++) {
		struct side *side = &link->sides[i];

		*side = (struct side){ .second = i };
		side->msg.kind = SLEY_EXIT;
		side->msg.storage = MAIL_RELATION;
		side->msg.from = i ? first : second;
		list_init(&side->node);
	}
	link->refs = 2;
	return link;
}

static void drop(struct link *link, uint32_t refs)
{
	if (sub_acq_rel(&link->refs, refs) == refs) /* LK1 */
		object_pool_put(&pool, NULL, link);
}

/* ---- lists, locked ------------------------------------------------------------- */

static void attach(struct process *process, struct side *side)
{
	list_append(&process->relations->links, &side->node);
	process->relations->nr_links++;
}

/* False: @side was on no list. */
static bool detach(struct process *process, struct side *side)
{
	if (list_empty(&side->node))
		return false;
	list_remove(&side->node);
	process->relations->nr_links--;
	return true;
}

static struct side *find(const struct relations *relations, sley_pid peer)
{
	const struct list *head = &relations->links;

	for (struct list *node = head->next; node != head; node = node->next)
		if (side_of(node)->msg.from == peer)
			return side_of(node);
	return NULL;
}

/* Both locked: the side of @self. */
static struct side *find_between(struct process *self, sley_pid own,
				 struct process *peer, sley_pid pid)
{
	struct relations *mine = self->relations, *its = peer->relations;
	struct side *side;

	if (!mine || !its)
		return NULL;
	if (mine->nr_links <= its->nr_links)
		return find(mine, pid);
	side = find(its, own);
	return side ? other(side) : NULL;
}

/* Locks @self in any case.  NULL: @pid is gone. */
static struct process *lock_both(struct process *self, sley_pid pid)
{
	struct process *peer;

	if (pid_index(pid) > self->index) {
		spin_lock(&self->lock);
		return related_lock(pid);
	}
	peer = related_lock(pid);
	spin_lock(&self->lock);
	return peer;
}

static void unlock_both(struct process *self, struct process *peer)
{
	if (peer)
		process_unlock(peer);
	spin_unlock(&self->lock);
}

/* ---- to link ------------------------------------------------------------------- */

/* Both have relations.  Consumes @link. */
static int join(struct process *self, sley_pid pid, struct link *link)
{
	struct process *peer = lock_both(self, pid);
	bool joined = false;

	if (peer && !find_between(self, link->sides[1].msg.from, peer, pid)) {
		attach(self, &link->sides[0]);
		attach(peer, &link->sides[1]);
		joined = true;
	}
	unlock_both(self, peer);
	if (!joined)
		drop(link, 2);
	return peer ? 0 : -ESRCH;
}

int sley_link(sley_pid pid)
{
	struct process *self, *peer;
	struct link *link;
	int error = relations_own(pid, &self);

	if (error)
		return error;
	error = relations_lock(pid, &peer);
	if (error)
		return error;
	process_unlock(peer);
	link = create(sley_self(), pid);
	return link ? join(self, pid, link) : -ENOMEM;
}

void sley_unlink(sley_pid pid)
{
	struct process *self = process_current(), *peer;
	struct side *side = NULL;
	uint32_t refs = 1;

	sley_check(self, "only a process can unlink");
	if (pid == sley_self())
		return;
	peer = lock_both(self, pid);
	if (peer)
		side = find_between(self, sley_self(), peer, pid);
	else if (self->relations)
		side = find(self->relations, pid);
	if (side)
		detach(self, side);
	if (side && peer)
		refs += detach(peer, other(side));
	unlock_both(self, peer);
	if (side)
		drop(link_of(side), refs);
	relations_withdraw(self, SLEY_EXIT, pid);
}

/* ---- the end ------------------------------------------------------------------- */

/*
 * @side belongs to the process that has ended; @peer is locked.  Returns how many
 * references the caller has to drop.
 */
static uint32_t tell(struct process *peer, struct side *side, int reason)
{
	struct side *its = other(side);

	if (list_empty(&its->node))
		return 1; /* @peer has unlinked meanwhile */
	if (!reason) {
		detach(peer, its);
		return 2;
	}
	its->msg.error = reason;
	process_signal(peer, &its->msg);
	return 0;
}

void links_tell(struct relations *relations, int reason)
{
	struct list *node;

	while ((node = list_take_first(&relations->links))) {
		struct side *side = side_of(node);
		struct process *peer = process_lock(side->msg.from);
		uint32_t refs = 1; /* the peer has ended, too */

		if (peer) {
			refs = tell(peer, side, reason);
			process_unlock(peer);
		}
		if (refs)
			drop(link_of(side), refs);
	}
}

bool link_arrived(struct process *process, struct sley_msg *msg)
{
	struct side *side = container_of(msg, struct side, msg);
	bool linked;

	spin_lock(&process->lock);
	linked = detach(process, side);
	spin_unlock(&process->lock);
	drop(link_of(side), 1);
	return linked;
}

void link_free(struct sley_msg *msg)
{
	drop(link_of(container_of(msg, struct side, msg)), 1);
}
