/* SPDX-License-Identifier: MIT */
/*
 * loan.c - see loan.h.
 */
#include "core/wait/loan.h"

#include "base/bits.h"
#include "core/sched/place.h"
#include "core/sched/worker.h"
#include "lf/spin.h"
#include "mem/alloc.h"
#include "os/at_fork.h"

#include <string.h>

#define TABLE_BITS 8

/* A task that the waiters of a thing wait for. */
struct debtor {
	struct hash_node node; /* by the task      */
	struct list link;      /* in ->thing       */
	struct sley_task *task;
	struct loan_thing *thing;
};

struct loan_thing {
	struct hash_node node; /* by its address                     */
	struct list debtors;
	struct list loans;
	struct debtor holder;   /* ->task is NULL: no task is        */
	uint64_t bitmap;        /* of the levels that are counted    */
	uint32_t nr[NR_LEVELS]; /* loans of each level               */
};

/* The debtor is a debtor from its spawn to its end. */
struct promise {
	struct debtor debtor;
};

uint32_t sley__nr_promises;

static struct {
	struct spinlock lock;
	/* By address, all under the lock: */
	struct hash_node *thing[1u << TABLE_BITS];
	struct hash_node *debtor[1u << TABLE_BITS];
	struct hash_node *loan[1u << TABLE_BITS];
} table;

/* Another thread may have been in the middle of a change, and is gone. */
static void forget_loans(void)
{
	memset(&table, 0, sizeof(table));
}

FORK_PART(FORK_LOANS, .renew = forget_loans);

static struct hash_node **chain_of(struct hash_node **bucket, const void *key)
{
	uint64_t word = (uintptr_t)key;

	return &bucket[hash_slot(hash_word(word), TABLE_BITS)];
}

static void add(struct hash_node **bucket, struct hash_node *node,
		const void *key)
{
	node->word = (uintptr_t)key;
	hash_chain_add(chain_of(bucket, key), node);
}

static void drop(struct hash_node **bucket, const struct hash_node *node)
{
	hash_chain_remove(chain_of(bucket, (const void *)(uintptr_t)node->word),
			  node);
}

static struct hash_node *first_of(struct hash_node **bucket, const void *key)
{
	return hash_chain_find(*chain_of(bucket, key), (uintptr_t)key);
}

static struct loan_thing *find_thing(const void *key)
{
	struct hash_node *node = first_of(table.thing, key);

	return node ? container_of(node, struct loan_thing, node) : NULL;
}

/* ---- the counts ------------------------------------------------------------------ */

static void count(struct loan *loan, unsigned int level)
{
	loan->level = level;
	if (!loan->thing->nr[level]++)
		loan->thing->bitmap |= 1ull << level;
}

static void discount(struct loan *loan)
{
	if (!--loan->thing->nr[loan->level])
		loan->thing->bitmap &= ~(1ull << loan->level);
}

static unsigned int most_urgent(const struct loan_thing *thing)
{
	return (unsigned int)bits_first(thing->bitmap);
}

static unsigned int level_lent_to(const struct sley_task *task)
{
	unsigned int level = NR_LEVELS;

	for (const struct hash_node *node = first_of(table.debtor, task); node;
	     node = hash_next_same(node)) {
		const struct loan_thing *thing =
			container_of(node, struct debtor, node)->thing;
		unsigned int lent = thing->bitmap ? most_urgent(thing) : level;

		if (lent < level)
			level = lent;
	}
	return level;
}

/* ---- from debtor to debtor ------------------------------------------------------- */

static void settle(struct sley_task *task, unsigned int depth);

static void settle_debtors(const struct loan_thing *thing, unsigned int depth)
{
	struct list *link = thing->debtors.next;

	for (; link != &thing->debtors; link = link->next)
		settle(container_of(link, struct debtor, link)->task, depth);
}

/*
 * The level of @task has changed, and so have the loans of @task.  In a ring of tasks the
 * level may change again meanwhile.
 */
static void lend_on(const struct sley_task *task, unsigned int depth)
{
	for (struct hash_node *node = first_of(table.loan, task); node;
	     node = hash_next_same(node)) {
		struct loan *loan = container_of(node, struct loan, node);

		discount(loan);
		count(loan, task_level(task));
		settle_debtors(loan->thing, depth + 1);
	}
}

/* @task has the level that is right by the table. */
static void settle(struct sley_task *task, unsigned int depth)
{
	unsigned int base, level;

	if (!task || depth == LOAN_DEPTH)
		return;
	base = task_base_level(task_flags(task));
	level = level_lent_to(task);
	if (level > base)
		level = base;
	if (level == task_level(task))
		return;
	task_keep_base(task, base);
	place_lend(task, level);
	if (level == base)
		task_forget_base(task);
	lend_on(task, depth);
}

/* ---- things --------------------------------------------------------------------- */

struct loan_thing *loan_prepare(void)
{
	return mem_alloc(&sley__program_mem, sizeof(struct loan_thing));
}

void loan_free(struct loan_thing *thing)
{
	mem_free(&sley__program_mem, thing, sizeof(*thing));
}

static void add_debtor(struct loan_thing *thing, struct debtor *debtor,
		       struct sley_task *task)
{
	debtor->task = task;
	debtor->thing = thing;
	list_init(&debtor->link);
	list_append(&thing->debtors, &debtor->link);
	add(table.debtor, &debtor->node, task);
	task_mark_owing(task);
}

static void drop_debtor(struct debtor *debtor)
{
	struct sley_task *task = debtor->task;

	debtor->task = NULL;
	list_remove(&debtor->link);
	drop(table.debtor, &debtor->node);
	if (!first_of(table.debtor, task))
		task_mark_clear(task);
}

static void set_holder(struct loan_thing *thing, struct sley_task *task)
{
	if (thing->holder.task)
		drop_debtor(&thing->holder);
	if (task)
		add_debtor(thing, &thing->holder, task);
}

static void add_thing(struct loan_thing *thing, const void *key)
{
	list_init(&thing->debtors);
	list_init(&thing->loans);
	add(table.thing, &thing->node, key);
}

/* @thing, if @thing is to be freed: a thing is not kept for a holder alone. */
static struct loan_thing *free_of(struct loan_thing *thing)
{
	if (!list_empty(&thing->loans))
		return NULL;
	set_holder(thing, NULL);
	if (!list_empty(&thing->debtors))
		return NULL;
	drop(table.thing, &thing->node);
	return thing;
}

static void take_back(struct loan *loan)
{
	discount(loan);
	list_remove(&loan->link);
	if (loan->from)
		drop(table.loan, &loan->node);
	loan->thing = NULL;
}

/* ---- what waiters do ------------------------------------------------------------- */

static void link_loan(struct loan *loan, struct loan_thing *thing)
{
	loan->thing = thing;
	list_init(&loan->link);
	list_append(&thing->loans, &loan->link);
	if (loan->from)
		add(table.loan, &loan->node, loan->from);
	count(loan, loan->from ? task_level(loan->from) : LEVEL_DEFAULT);
}

struct loan_thing *loan_begin(struct loan *loan, const void *key,
			      struct sley_task *to, struct loan_thing *memory)
{
	const struct strand *strand = strand_current();
	struct loan_thing *thing;

	loan->from = strand ? strand_task(strand) : NULL;
	loan->thing = NULL;
	spin_lock(&table.lock);
	thing = find_thing(key);
	if (!thing && memory) {
		thing = memory;
		memory = NULL;
		add_thing(thing, key);
		set_holder(thing, to);
	}
	if (thing) {
		link_loan(loan, thing);
		settle_debtors(thing, 0);
	}
	spin_unlock(&table.lock);
	return memory;
}

struct loan_thing *loan_end(struct loan *loan)
{
	struct loan_thing *thing, *freed = NULL;

	/* The waker took the loan out before it woke the caller. */
	if (!loan->thing)
		return NULL;
	spin_lock(&table.lock);
	thing = loan->thing;
	take_back(loan);
	settle_debtors(thing, 0);
	freed = free_of(thing);
	spin_unlock(&table.lock);
	return freed;
}

/* ---- what debtors do ------------------------------------------------------------- */

/* @task waits for @thing no more. */
static void take_back_from(struct loan_thing *thing,
			   const struct sley_task *task)
{
	struct hash_node *node = first_of(table.loan, task);

	while (node) {
		struct loan *loan = container_of(node, struct loan, node);

		node = hash_next_same(node);
		if (loan->thing == thing)
			take_back(loan);
	}
}

struct loan_thing *loan_pass(const void *key, struct sley_task *from,
			     struct sley_task *to)
{
	struct loan_thing *thing, *freed = NULL;

	spin_lock(&table.lock);
	thing = find_thing(key);
	if (thing) {
		if (to)
			take_back_from(thing, to);
		set_holder(thing, to);
		freed = free_of(thing);
	}
	/* Also in a child of fork(), which has forgotten what was lent. */
	settle(from, 0);
	settle(to, 0);
	spin_unlock(&table.lock);
	return freed;
}

void loan_promise(struct sley_task *task, const void *key)
{
	struct promise *promise =
		mem_alloc(&sley__program_mem, sizeof(*promise));
	struct loan_thing *memory = loan_prepare(), *thing;

	if (!promise || !memory) {
		mem_free(&sley__program_mem, promise, sizeof(*promise));
		loan_free(memory);
		return;
	}
	spin_lock(&table.lock);
	thing = find_thing(key);
	if (!thing) {
		thing = memory;
		memory = NULL;
		add_thing(thing, key);
	}
	add_debtor(thing, &promise->debtor, task);
	settle(task, 0);
	spin_unlock(&table.lock);
	/* relaxed: a waiter that begins later has been told of @task before. */
	(void)add_relaxed(&sley__nr_promises, 1);
	loan_free(memory);
}

/* The @debtor was taken out of @thing; with the lock. */
static bool was_promise(const struct loan_thing *thing,
			const struct debtor *debtor)
{
	return debtor != &thing->holder;
}

/* One of the debts of @task.  False: there was none. */
static bool forgive_one(struct sley_task *task)
{
	struct loan_thing *thing, *freed = NULL;
	struct debtor *promised = NULL;
	struct hash_node *node;

	spin_lock(&table.lock);
	node = first_of(table.debtor, task);
	if (node) {
		struct debtor *debtor = container_of(node, struct debtor, node);

		thing = debtor->thing;
		drop_debtor(debtor);
		if (was_promise(thing, debtor))
			promised = debtor;
		freed = free_of(thing);
	}
	settle(task, 0);
	spin_unlock(&table.lock);
	loan_free(freed);
	if (promised) {
		/* relaxed: see loans_are_promised(). */
		(void)sub_relaxed(&sley__nr_promises, 1);
		mem_free(&sley__program_mem,
			 container_of(promised, struct promise, debtor),
			 sizeof(struct promise));
	}
	return node;
}

void loan_forgive(struct sley_task *task)
{
	while (forgive_one(task))
		;
}

/* ---- a level that is set --------------------------------------------------------- */

void loan_set_level(struct sley_task *task, unsigned int level)
{
	unsigned int lent;

	spin_lock(&table.lock);
	lent = level_lent_to(task);
	if (lent < level) {
		task_keep_base(task, level);
		level = lent;
	} else {
		task_forget_base(task);
	}
	if (level != task_level(task)) {
		place_set_level(task, level);
		lend_on(task, 0);
	}
	spin_unlock(&table.lock);
}
