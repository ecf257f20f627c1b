/* SPDX-License-Identifier: MIT */
/*
 * scope.c - see scope.h for the protocol.
 */
#include "core/sched/place.h"
#include "core/life/scope.h"

#include "core/task/group.h"
#include "core/task/turn.h"
#include "core/wait/holder.h"
#include "core/wait/wait.h"
#include "core/sched/worker.h"
#include "os/clock.h"
#include "os/at_fork.h"

#include <errno.h>

static struct strand *strand_of(struct opener *opener)
{
	return container_of(opener, struct strand, opener);
}

static struct strand *strand_of_member(struct member *member)
{
	return container_of(member, struct strand, member);
}

/* Under the lock of the opener, or in its own task. */
static struct sley_scope *innermost_of(const struct opener *opener)
{
	/* relaxed: written under the lock, by the task itself. */
	return load_relaxed(&opener->innermost);
}

/* Under the lock of the opener, or in its own task. */
static int cause_of(const struct sley_scope *scope)
{
	/* relaxed: written under the lock. */
	return load_relaxed(&scope->cause);
}

/* The cause for the scopes and tasks within a scope that has @cause. */
static int cause_below(int cause)
{
	return cause == -ETIMEDOUT ? -ETIMEDOUT : -ECANCELED;
}

/* ---- lists of members, under the lock of the opener above ----------------- */

static void member_link(struct member **list, struct member *member)
{
	member->next = *list;
	member->slot = list;
	if (member->next)
		member->next->slot = &member->next;
	*list = member;
}

static void member_unlink(struct member *member)
{
	*member->slot = member->next;
	if (member->next)
		member->next->slot = member->slot;
}

/* The number of open scopes, from @scope on outwards: under the opener's lock. */
static unsigned int depth_of(const struct sley_scope *scope)
{
	unsigned int depth = 0;

	for (; scope; scope = scope->outer)
		depth++;
	return depth;
}

/* The members of a scope; NULL: the stolen children. */
static struct member **members_of(struct opener *opener,
				  struct sley_scope *scope)
{
	return scope ? (struct member **)&scope->members : &opener->children;
}

/* ---- buckets: from a task to its opener ----------------------------------- */

#define BUCKET_BITS 6

static struct bucket {
	struct spinlock lock;
	struct hash_node *first;
} cache_aligned buckets[1 << BUCKET_BITS];

/* In a child of fork(): the openers are tasks that never go on. */
static void empty_buckets(void)
{
	for (size_t i = 0; i < array_size(buckets); i++) {
		struct bucket *bucket = &buckets[i];

		/* A page that is not written is not copied. */
		/* relaxed: there is one thread. */
		if (bucket->first || load_relaxed(&bucket->lock.word))
			*bucket = (struct bucket){ .first = NULL };
	}
}

FORK_PART(FORK_SCOPES, .renew = empty_buckets);

static struct bucket *bucket_of(const struct sley_task *task)
{
	return &buckets[hash_slot(hash_word((uintptr_t)task), BUCKET_BITS)];
}

static void enroll(struct opener *opener, struct sley_task *task)
{
	struct bucket *bucket = bucket_of(task);

	spin_lock(&bucket->lock);
	if (!opener->nr_open++) {
		opener->node.word = (uintptr_t)task;
		hash_chain_add(&bucket->first, &opener->node);
	}
	spin_unlock(&bucket->lock);
}

static void strike_out(struct opener *opener)
{
	struct bucket *bucket = bucket_of(opener_task(opener));

	spin_lock(&bucket->lock);
	if (!--opener->nr_open)
		hash_chain_remove(&bucket->first, &opener->node);
	spin_unlock(&bucket->lock);
}

/* Under the lock of the bucket. */
static struct opener *look_up(const struct bucket *bucket,
			      const struct sley_task *task)
{
	struct hash_node *node =
		hash_chain_find(bucket->first, (uintptr_t)task);

	return node ? container_of(node, struct opener, node) : NULL;
}

/* ---- the tree --------------------------------------------------------------- */

enum pass {
	PASS_MARK,
	PASS_CUT,
	PASS_CLEAR, /* stolen children only */
};

struct walk {
	enum pass pass;
	struct opener *root;       /* the caller has the root's lock          */
	struct sley_scope *target; /* of the root, and scopes within; NULL: all */
	unsigned int depth;        /* of the target                           */
	int cause;                 /* of the target                           */
	bool barrier;              /* a marked task relies on a barrier       */
};

/*
 * Is there no reason left?  The parent of a stolen child may be marked or cleared
 * right now.  Then the canceller or closer of the parent comes here next, and
 * decides again under our lock.
 */
static void clear(struct opener *opener, struct sley_task *task,
		  const struct member *member)
{
	const struct sley_task *parent = NULL;

	if (innermost_of(opener) && cause_of(innermost_of(opener)))
		return;
	if (member->above && !member->scope)
		/* A parent cannot end before its child. */
		parent = strand_task(strand_of(member->above));
	if (!parent || !(task_flags(parent) & TASK_CANCELLED))
		task_uncancel(task);
}

static void visit_task(struct walk *walk, struct sley_task *task, uint32_t bits)
{
	if (walk->pass == PASS_CUT) {
		if (task_cancel_wait(task))
			task_enqueue(task);
		return;
	}
	if (!(task_mark_cancelled(task, bits) & TASK_NO_BARRIER))
		walk->barrier = true;
}

/* Under the lock of the member's own opener, too. */
static void visit_member(struct walk *walk, struct member *member)
{
	if (walk->pass == PASS_CLEAR)
		clear(&strand_of_member(member)->opener, member->task, member);
	else
		visit_task(walk, member->task,
			   member->scope ? TASK_CANCEL : TASK_CANCELLED);
}

/* Returns the first member of @scope. */
static struct member *visit_scope(struct walk *walk, struct opener *opener,
				  struct sley_scope *scope)
{
	int cause = scope == walk->target ? walk->cause
					  : cause_below(walk->cause);

	if (scope && walk->pass == PASS_MARK && !cause_of(scope))
		store_release(&scope->cause, cause); /* X1 */
	return *members_of(opener, scope);
}

static struct sley_scope *first_scope(const struct walk *walk,
				      const struct opener *opener)
{
	return walk->pass == PASS_CLEAR ? NULL : innermost_of(opener);
}

/*
 * From @member on: the first member that knows the target, if the members are
 * children of the root.
 */
static struct member *within(const struct walk *walk,
			     const struct opener *opener,
			     const struct sley_scope *scope,
			     struct member *member)
{
	if (opener == walk->root && !scope) {
		while (member && member->depth < walk->depth)
			member = member->next;
	}
	return member;
}

/* Each scope from the innermost on, then (scope is NULL) the children. */
static void walk_below(struct walk *walk)
{
	struct opener *opener = walk->root;
	struct sley_scope *scope = first_scope(walk, opener);
	struct member *member = visit_scope(walk, opener, scope);

	for (;;) {
		member = within(walk, opener, scope, member);
		if (member) {
			opener = &strand_of_member(member)->opener;
			spin_lock(&opener->lock);
			visit_member(walk, member);
			scope = first_scope(walk, opener);
			member = visit_scope(walk, opener, scope);
		} else if (scope) {
			scope = scope == walk->target ? NULL : scope->outer;
			member = visit_scope(walk, opener, scope);
		} else if (opener == walk->root) {
			break;
		} else {
			member = &strand_of(opener)->member;
			spin_unlock(&opener->lock);
			opener = member->above;
			scope = member->scope;
			member = member->next;
		}
	}
}

static void walk_from_target(struct walk *walk)
{
	struct opener *opener = walk->root;

	if (opener_task(opener))
		visit_task(walk, opener_task(opener), TASK_CANCELLED);
	walk_below(walk);
}

/* Without a lock: the poke locks a process, whose owner may want our lock. */
static void poke(struct sley_task *task)
{
	if (task && (task_flags(task) & TASK_TURNS))
		turns_of(task)->poke(task);
}

void scope_cancel(struct sley_scope *scope, int cause)
{
	struct opener *opener = scope->opener;
	struct walk walk = { .root = opener, .target = scope, .cause = cause };
	struct sley_task *task;
	bool first;

	spin_lock(&opener->lock);
	first = !cause_of(scope);
	walk.depth = depth_of(scope);
	if (first)
		walk_from_target(&walk);
	spin_unlock(&opener->lock);
	if (!first)
		return;
	if (walk.barrier)
		os_membarrier();
	walk.pass = PASS_CUT;
	spin_lock(&opener->lock);
	walk_from_target(&walk);
	task = opener_task(opener);
	spin_unlock(&opener->lock);
	poke(task);
}

/* False: @task has no open scope. */
static bool walk_task(struct walk *walk, const struct sley_task *task)
{
	struct bucket *bucket = bucket_of(task);
	struct opener *opener;

	spin_lock(&bucket->lock);
	opener = look_up(bucket, task);
	if (opener) {
		spin_lock(&opener->lock);
		walk->root = opener;
		walk_below(walk);
		spin_unlock(&opener->lock);
	}
	spin_unlock(&bucket->lock);
	return opener;
}

void scope_cancel_task(struct sley_task *task)
{
	struct walk walk = { .cause = -ECANCELED };

	if (!walk_task(&walk, task))
		return;
	if (walk.barrier)
		os_membarrier();
	walk.pass = PASS_CUT;
	(void)walk_task(&walk, task);
}

bool scope_is_cancelled(const struct sley_scope *scope)
{
	return load_acquire(&scope->cause) || /* X1 */
	       (scope->deadline_ns != UINT64_MAX &&
		scope->deadline_ns <= os_now());
}

struct sley_scope *scope_innermost(const struct strand *strand)
{
	/* relaxed: only the task itself, the caller, writes the pointer. */
	return load_relaxed(&strand->opener.innermost);
}

/* ---- open and close ------------------------------------------------------------ */

static void complain(struct cleanup *cleanup)
{
	struct opener *opener = container_of(cleanup, struct opener, cleanup);

	if (innermost_of(opener))
		holder_misuse(__func__,
			      "%s ended with an open scope: call "
			      "sley_scope_close() first",
			      holder_current());
}

static void watch(struct strand *strand)
{
	struct opener *opener = &strand->opener;

	if (cleanup_is_added(&opener->cleanup))
		return;
	cleanup_add_last(&strand->cleanups, &opener->cleanup, complain);
}

void scope_open(struct sley_scope *scope, uint64_t deadline_ns)
{
	struct strand *strand = strand_current();
	struct opener *opener = strand ? &strand->opener : &sley__self.opener;
	struct sley_scope *outer = innermost_of(opener);

	*scope = (struct sley_scope){
		.outer = outer,
		.opener = opener,
		.deadline_ns = deadline_ns,
	};
	if (strand) {
		watch(strand);
		enroll(opener, strand->task);
	}
	spin_lock(&opener->lock);
	if (outer && cause_of(outer))
		scope->cause = cause_below(cause_of(outer));
	else if (strand && wait_is_cancelled(strand))
		scope->cause = -ECANCELED;
	/* relaxed: a hint to thieves; all other readers have the lock. */
	store_relaxed(&opener->innermost, scope);
	spin_unlock(&opener->lock);
	if (deadline_ns != UINT64_MAX && !cause_of(scope))
		scope_deadline_set(scope, strand);
}

/* Never inlined: a function that waits must not keep an address of the thread. */
static noinline void check_innermost(const struct sley_scope *scope)
{
	struct strand *strand = strand_current();
	const struct opener *opener = strand ? &strand->opener
					     : &sley__self.opener;

	if (unlikely(scope->opener != opener || innermost_of(opener) != scope))
		sley__misuse("sley_scope_close",
			     "only the task or thread that opened a scope may "
			     "close it, and only its innermost open scope");
}

static void wait_for_members(struct sley_scope *scope)
{
	/* relaxed: only the caller sets an alarm. */
	bool alarmed = load_relaxed(&scope->alarmed);
	/* A thread need not rely on the worker that was poked: see search.c. */
	bool relies = alarmed && worker_current();
	uint64_t deadline_ns = relies ? UINT64_MAX : scope->deadline_ns;

	while (countdown_wait(&scope->group.q, deadline_ns, WAIT_SHIELDED)) {
		scope_cancel(scope, -ETIMEDOUT);
		deadline_ns = UINT64_MAX;
	}
	if (alarmed)
		scope_deadline_stop(scope);
}

/* Under the lock: @scope ends, and its children forget it. */
static void forget(struct opener *opener, const struct sley_scope *scope)
{
	struct member *member = opener->children;
	unsigned int depth = depth_of(scope);

	for (; member; member = member->next) {
		if (member->depth >= depth)
			member->depth = depth - 1;
	}
}

int scope_close(struct sley_scope *scope)
{
	struct opener *opener = scope->opener;
	struct walk walk = { .pass = PASS_CLEAR, .root = opener };
	int cause;

	check_innermost(scope);
	wait_for_members(scope);
	spin_lock(&opener->lock);
	if (unlikely(opener->children))
		forget(opener, scope);
	/* relaxed: a hint to thieves; all other readers have the lock. */
	store_relaxed(&opener->innermost, scope->outer);
	cause = cause_of(scope);
	/* The canceller of the task may not have come to the scope yet. */
	if (!cause && opener_task(opener) &&
	    wait_is_cancelled(strand_of(opener)))
		cause = -ECANCELED;
	if (cause && opener_task(opener)) {
		clear(opener, opener_task(opener), &strand_of(opener)->member);
		walk_below(&walk);
	}
	spin_unlock(&opener->lock);
	if (opener_task(opener))
		strike_out(opener);
	if (!cause && scope_is_cancelled(scope))
		cause = -ETIMEDOUT;
	return cause;
}

/* ---- members --------------------------------------------------------------------- */

bool scope_start(struct strand *strand, struct sley_task *task, bool cancelled)
{
	struct sley_scope *scope =
		container_of(task->group, struct sley_scope, group);
	struct opener *opener = scope->opener;
	struct member *member = &strand->member;
	bool starts;

	if (cancelled)
		scope_cancel(scope, -ECANCELED);
	spin_lock(&opener->lock);
	starts = !cause_of(scope);
	if (starts) {
		member->above = opener;
		member->scope = scope;
		member->task = task;
		member_link(members_of(opener, scope), member);
	}
	spin_unlock(&opener->lock);
	return starts;
}

static void leave(struct member *member)
{
	struct opener *above = member->above;

	spin_lock(&above->lock);
	member_unlink(member);
	spin_unlock(&above->lock);
	member->above = NULL;
}

void scope_run(struct strand *strand, struct sley_task *task)
{
	struct member *member = &strand->member;
	sley_job *job = (sley_job *)(void (*)(void))task->fn;
	int err = job(task->arg);

	if (err < 0)
		scope_cancel(member->scope, err);
	cleanups_run(&strand->cleanups);
	leave(member);
}

/* ---- stolen children --------------------------------------------------------------- */

void scope_child_starts(struct strand *strand, struct strand *parent)
{
	struct member *member = &strand->member;
	struct opener *above = &parent->opener;

	/* relaxed: a scope opened from here on does not contain the child. */
	if (likely(!load_relaxed(&above->innermost) && !parent->member.above))
		return;
	/* A canceller of a parent without scopes finds the child, too. */
	/* A parent cannot end before its child. */
	enroll(above, strand_task(parent));
	spin_lock(&above->lock);
	member->above = above;
	member->scope = NULL;
	member->task = strand->task;
	member->depth = depth_of(innermost_of(above));
	member_link(&above->children, member);
	/* A parent cannot end before its child. */
	if (task_is_cancelled(strand_task(parent)))
		(void)task_mark_cancelled(member->task, TASK_CANCELLED);
	spin_unlock(&above->lock);
}

void scope_child_ends(struct strand *strand)
{
	struct opener *above = strand->member.above;

	if (likely(!above))
		return;
	leave(&strand->member);
	strike_out(above);
}
