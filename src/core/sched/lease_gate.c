/* SPDX-License-Identifier: MIT */
/*
 * lease_gate.c - see lease_gate.h.
 *
 * Edges:
 *
 *  LE2  see core/sched/lease.h
 */
#include "core/sched/lease_gate.h"

#include "os/clock.h"
#include "os/futex.h"

static struct worker_lease *own_of(struct list *link)
{
	return container_of(link, struct worker_lease, link);
}

static struct worker_lease *first_of(struct lease *lease)
{
	struct list *link = list_first(&lease->gate);

	return link ? own_of(link) : NULL;
}

/* ---- with the lock: each returns the worker that is to be woken without it ------------ */

/*
 * Also if the word says KICKED already: the worker, which takes the kick back by a
 * read-modify-write, sees what the last kicker did.
 */
static struct worker_lease *kick(struct worker_lease *own)
{
	uint32_t word;

	if (!own)
		return NULL;
	/* relaxed: but for its own WAITS, written under the lock. */
	word = load_relaxed(&own->word);
	if (word != GATE_WAITS && word != GATE_KICKED)
		return NULL;
	word = xchg_release(&own->word, GATE_KICKED); /* LE2 */
	return word == GATE_WAITS ? own : NULL;
}

static void tell(struct lease *lease)
{
	const struct worker_lease *first = first_of(lease);
	/* relaxed: written under the lock. */
	uint32_t overtaker = load_relaxed(&lease->overtaker);
	/* relaxed: the same. */
	uint32_t nr = load_relaxed(&lease->nr_waiting);
	uint32_t level = first ? first->level : LEASE_NO_LEVEL;

	if (overtaker && lease->insists) {
		nr++;
		if (overtaker - 1 < level)
			level = overtaker - 1;
	}
	if (nr == lease->told_nr && level == lease->told_level)
		return;
	lease->told_nr = nr;
	lease->told_level = level;
	lease->ops->want(lease->arg, nr, level);
}

/* Another worker may be first than @was, and then has to lead. */
static struct worker_lease *settle(struct lease *lease,
				   const struct worker_lease *was)
{
	struct worker_lease *first = first_of(lease);

	tell(lease);
	return first != was ? kick(first) : NULL;
}

static void insert(struct lease *lease, struct worker_lease *own)
{
	struct list *before = lease->gate.next;

	while (before != &lease->gate && own_of(before)->level <= own->level)
		before = before->next;
	list_append(before, &own->link);
}

static void count(struct lease *lease, uint32_t n)
{
	/* relaxed: under the lock; for others a hint. */
	store_relaxed(&lease->nr_waiting, lease->nr_waiting + n);
}

static void let_go(struct lease *lease, struct worker_lease *own,
		   enum lease_word word, int core)
{
	list_remove(&own->link);
	count(lease, -1u);
	/* relaxed: LE2 publishes it, too. */
	store_relaxed(&own->since_ns, os_now());
	if (core != LEASE_NO_CORE)
		lease_own(lease, own, core);
	/* relaxed: LE2 publishes it to the worker; for others a hint. */
	store_relaxed(&own->core, core);
	store_release(&own->word, word); /* LE2 */
}

/* By its own act. */
static void remove_from(struct lease *lease, struct worker_lease *own)
{
	list_remove(&own->link);
	count(lease, -1u);
	/* relaxed: other threads look under the lock. */
	store_relaxed(&own->word, GATE_AWAY);
}

static void need_of(struct worker_lease *own, struct lease_need need)
{
	own->level = need.level;
	own->bound = need.bound;
}

/* ---- without ----------------------------------------------------------------------- */

static void wake(struct worker_lease *own)
{
	if (own)
		os_futex_wake(&own->word, 1);
}

bool lease_gate_stand(struct lease *lease, struct worker_lease *own,
		      struct lease_need need)
{
	struct worker_lease *woken = NULL;
	bool on;

	spin_lock(&lease->lock);
	/* relaxed: written under the lock. */
	on = load_relaxed(&lease->on);
	if (on) {
		const struct worker_lease *was = first_of(lease);

		need_of(own, need);
		/* relaxed: other threads look under the lock. */
		store_relaxed(&own->word, GATE_WAITS);
		insert(lease, own);
		count(lease, 1);
		lease_count(&lease->counters.waits);
		woken = settle(lease, was);
	}
	spin_unlock(&lease->lock);
	if (woken != own)
		wake(woken);
	return on;
}

bool lease_gate_change(struct lease *lease, struct worker_lease *own,
		       struct lease_need need)
{
	struct worker_lease *woken = NULL;
	bool leads;

	spin_lock(&lease->lock);
	if (!list_empty(&own->link)) {
		const struct worker_lease *was = first_of(lease);
		uint32_t level = own->level;

		need_of(own, need);
		if (own->level != level) {
			list_remove(&own->link);
			insert(lease, own);
			woken = settle(lease, was);
		}
	}
	leads = first_of(lease) == own;
	spin_unlock(&lease->lock);
	if (woken != own)
		wake(woken);
	return leads;
}

bool lease_gate_leave(struct lease *lease, struct worker_lease *own)
{
	struct worker_lease *woken = NULL;
	bool there;

	spin_lock(&lease->lock);
	there = !list_empty(&own->link);
	if (there) {
		const struct worker_lease *was = first_of(lease);

		remove_from(lease, own);
		woken = settle(lease, was);
	}
	spin_unlock(&lease->lock);
	wake(woken);
	return there;
}

/* With the lock, which is given back. */
static bool grant(struct lease *lease, struct worker_lease *to, int core)
{
	struct worker_lease *woken = NULL;

	if (to) {
		const struct worker_lease *was = first_of(lease);

		let_go(lease, to, GATE_GRANTED, core);
		woken = settle(lease, was);
	}
	spin_unlock(&lease->lock);
	wake(to);
	wake(woken);
	return to;
}

bool lease_gate_grant(struct lease *lease, int core)
{
	/* relaxed: a worker that comes to stand there tries to take a core then. */
	if (!load_relaxed(&lease->nr_waiting))
		return false;
	spin_lock(&lease->lock);
	return grant(lease, first_of(lease), core);
}

static struct worker_lease *turn_of(struct lease *lease, unsigned int level,
				    bool equal)
{
	struct list *link;

	for (link = lease->gate.next; link != &lease->gate; link = link->next) {
		struct worker_lease *own = own_of(link);

		if (own->bound < level ||
		    (equal && own->bound == level && level < LEASE_NO_LEVEL))
			return own;
	}
	return NULL;
}

bool lease_gate_turn(struct lease *lease, int core, unsigned int level,
		     bool equal)
{
	spin_lock(&lease->lock);
	return grant(lease, turn_of(lease, level, equal), core);
}

bool lease_gate_has_turn(struct lease *lease, unsigned int level, bool equal)
{
	bool has;

	spin_lock(&lease->lock);
	has = turn_of(lease, level, equal);
	spin_unlock(&lease->lock);
	return has;
}

void lease_gate_kick(struct lease *lease)
{
	struct worker_lease *woken;

	spin_lock(&lease->lock);
	/* relaxed: written under the lock. */
	woken = load_relaxed(&lease->on) ? kick(first_of(lease)) : NULL;
	spin_unlock(&lease->lock);
	wake(woken);
}

void lease_gate_call(struct lease *lease, struct worker_lease *own)
{
	struct worker_lease *woken = NULL;

	spin_lock(&lease->lock);
	/* relaxed: written under the lock. */
	if (load_relaxed(&lease->on) && !list_empty(&own->link))
		woken = kick(own);
	spin_unlock(&lease->lock);
	wake(woken);
}

bool lease_gate_raise(struct lease *lease, struct worker_lease *own,
		      unsigned int level)
{
	struct worker_lease *woken = NULL, *first;
	bool raised;

	spin_lock(&lease->lock);
	/* relaxed: written under the lock. */
	first = load_relaxed(&lease->on) ? first_of(lease) : NULL;
	if (!own)
		own = first;
	raised = first && !list_empty(&own->link) && level < own->level;
	if (raised) {
		own->level = level;
		list_remove(&own->link);
		insert(lease, own);
		tell(lease);
		woken = kick(own);
	}
	spin_unlock(&lease->lock);
	wake(woken);
	return raised;
}

/* With the lock. */
static void begin_overtaking(struct lease *lease, unsigned int level,
			     bool insists)
{
	lease->insists = insists;
	lease->overtakes_ns = os_now();
	/* relaxed: written under the lock; for others a hint. */
	store_relaxed(&lease->overtaker, 1 + level);
	lease_count(&lease->counters.overtook);
}

bool lease_gate_overtake(struct lease *lease, struct worker_lease *own)
{
	struct worker_lease *woken = NULL;
	bool may;

	spin_lock(&lease->lock);
	/* relaxed: written under the lock. */
	may = !load_relaxed(&lease->overtaker) && !list_empty(&own->link);
	if (may) {
		const struct worker_lease *was = first_of(lease);

		remove_from(lease, own);
		begin_overtaking(lease, own->level, true);
		woken = settle(lease, was);
	}
	spin_unlock(&lease->lock);
	wake(woken);
	return may;
}

bool lease_gate_pass_by(struct lease *lease, unsigned int level)
{
	const struct worker_lease *first;
	bool may;

	spin_lock(&lease->lock);
	/* relaxed: written under the lock. */
	may = load_relaxed(&lease->on) && !load_relaxed(&lease->overtaker);
	first = may ? first_of(lease) : NULL;
	if (first && first->level <= level)
		may = false;
	if (may)
		begin_overtaking(lease, level, false);
	spin_unlock(&lease->lock);
	return may;
}

void lease_gate_insist(struct lease *lease, uint64_t now_ns)
{
	spin_lock(&lease->lock);
	if (now_ns - lease->overtakes_ns >= lease->terms.patience_ns) {
		lease->insists = true;
		tell(lease);
	}
	spin_unlock(&lease->lock);
}

void lease_gate_come_back(struct lease *lease)
{
	struct worker_lease *woken = NULL;

	spin_lock(&lease->lock);
	/* relaxed: written under the lock; for others a hint. */
	store_relaxed(&lease->overtaker, 0);
	/* relaxed: written under the lock. */
	if (load_relaxed(&lease->on)) {
		tell(lease);
		woken = kick(first_of(lease));
	}
	spin_unlock(&lease->lock);
	wake(woken);
}

void lease_gate_open(struct lease *lease)
{
	struct worker_lease *own;

	do {
		spin_lock(&lease->lock);
		/* relaxed: others take it for a hint, or have the lock. */
		store_relaxed(&lease->on, 0);
		own = first_of(lease);
		if (own)
			let_go(lease, own, GATE_OPEN, LEASE_NO_CORE);
		spin_unlock(&lease->lock);
		wake(own);
	} while (own);
}
