/* SPDX-License-Identifier: MIT */
/*
 * core_scope.c - src/core/life/scope.c: a cancel finds every task in the scope and
 * no task that has left, and the scope is gone when its close has returned.
 *
 * Threads are tasks on a worker each.  Thread 0 opened the scope; the other threads
 * are members, a stolen child, or cancel from outside.  A waiter waits for ever, so
 * that a cancel that misses the waiter is a deadlock.  The scope is freed right
 * after the close.  The canceller writes plain memory first, which the cancelled
 * tasks read.  Some scenes begin in the middle: a member is linked, or has opened a
 * scope of its own.
 *
 * Complete for one scope with one member and one canceller: the opener, the member,
 * an alarm or a thread that cancels the opener; for one stolen child, of the opener
 * or of the member; and for a scope within the scope of a member.  Two members that
 * start at once are searched with two delays only (a complete search takes minutes).
 * Not seen: three levels of scopes; the walk holds all locks on its way, and does
 * the same at each level.
 */
#include "tasks_only.h"

#include "core/sched/place.h"
#include "core/life/scope.c" /* buckets */

static struct sley_scope *scope, *inner;
static int reason; /* plain: written before a cancel */
static struct sley_waitq done;
static uint32_t opened;
static struct ledger {
	int refused, cut, closed;
} ledger;

static struct sley_task *task_of(int id)
{
	return &task_threads[id].task;
}

static struct strand *strand_at(int id)
{
	return &task_threads[id].strand;
}

static uint32_t cancelled_bits(int id)
{
	return task_flags(task_of(id)) & TASK_CANCEL;
}

void holder_misuse(const char *function, const char *rule, uint64_t holder)
{
	(void)holder;
	sley__misuse(function, rule);
}

uint64_t holder_current(void)
{
	return 0;
}

/* ---- in setup ------------------------------------------------------------------ */

static struct sley_scope *open_as(int id, uint64_t deadline_ns)
{
	struct sley_scope *fresh = model_alloc(sizeof(*fresh));

	sley__self.worker = &task_threads[id].worker;
	scope_open(fresh, deadline_ns);
	sley__self.worker = NULL;
	model_lock_word(&fresh->group.q.word);
	return fresh;
}

static int job(void *arg);

/* Spawned, not started. */
static void enlist(int id, struct sley_scope *in)
{
	struct sley_task *task = task_of(id);

	task->flags |= TASK_MEMBER;
	task->group = &in->group;
	task->fn = (sley_fn *)(void (*)(void))job;
	task->arg = (void *)(intptr_t)0;
	group_add(&in->group);
}

static void setup_with(uint64_t deadline_ns, enum tasks_flags flags)
{
	tasks_setup(flags);
	memset(buckets, 0, sizeof(buckets));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	reason = 0;
	done = (struct sley_waitq){ 0 };
	inner = NULL;
	opened = 0;
	for (int i = 0; i < TASKS_MAX; i++) {
		struct opener *opener = &strand_at(i)->opener;

		model_name(&opener->lock.word, "opener%d", i);
		model_lock_word(&opener->lock.word);
		model_lock_word(&bucket_of(task_of(i))->lock.word);
	}
	scope = open_as(0, deadline_ns);
	model_name(&scope->group.q.word, "scope.pending");
	model_name(&scope->cause, "scope.cause");
}

static void setup_empty(void)
{
	setup_with(UINT64_MAX, 0);
}

static void setup(void)
{
	setup_with(UINT64_MAX, 0);
	enlist(1, scope);
}

static void setup_barrier(void)
{
	setup_with(UINT64_MAX, TASKS_BARRIER);
	enlist(1, scope);
}

/* The member has started. */
static void setup_linked(void)
{
	setup();
	MODEL_CHECK(scope_start(strand_at(1), task_of(1), false));
}

static void setup_linked_barrier(void)
{
	setup_barrier();
	MODEL_CHECK(scope_start(strand_at(1), task_of(1), false));
}

static void setup_failing(void)
{
	setup_linked();
	task_of(1)->arg = (void *)(intptr_t)-EIO;
}

/* The member has opened a scope, too, with thread 2 as its member. */
static void setup_nested(void)
{
	setup_linked();
	inner = open_as(1, UINT64_MAX);
	enlist(2, inner);
}

static void setup_alarm(void)
{
	setup_with(LATER, TASKS_TIMED);
}

static void setup_child(void)
{
	setup_empty();
	countdown_add(&done, 1);
	model_lock_word(&done.word);
}

/* ---- the threads --------------------------------------------------------------- */

/* Waits until cancelled. */
static void wait_for_the_end(void)
{
	MODEL_CHECK(wait_until(UINT64_MAX) == -ECANCELED);
	MODEL_CHECK(reason == 7);
	ledger.cut++;
}

static int job(void *arg)
{
	int err = (int)(intptr_t)arg;

	if (err)
		reason = 7;
	else
		wait_for_the_end();
	return err;
}

static void run_linked(int id)
{
	struct sley_group *group = task_of(id)->group;

	scope_run(strand_at(id), task_of(id));
	group_done(group);
}

static void member(int id)
{
	struct sley_group *group = task_of(id)->group;

	task_begin(id);
	if (scope_start(strand_at(id), task_of(id), false)) {
		run_linked(id);
		return;
	}
	ledger.refused++;
	group_done(group);
}

static void member_linked(int id)
{
	task_begin(id);
	run_linked(id);
}

static void close_it(struct sley_scope *own, int cause)
{
	MODEL_CHECK(scope_close(own) == cause);
	model_free(own);
	ledger.closed++;
}

static void cancel_and_close(int id)
{
	task_begin(id);
	reason = 7;
	scope_cancel(scope, -EIO);
	close_it(scope, -EIO);
	MODEL_CHECK(!cancelled_bits(id));
}

static void cut_and_close(int id)
{
	task_begin(id);
	wait_for_the_end();
	MODEL_CHECK(wait_until(UINT64_MAX) == -ECANCELED);
	close_it(scope, -EIO);
	MODEL_CHECK(!cancelled_bits(id));
}

static void cancel_opener(int id)
{
	bool woken;

	task_begin(id);
	reason = 7;
	woken = task_cancel(task_of(0));
	scope_cancel_task(task_of(0));
	if (woken)
		task_enqueue(task_of(0));
}

static void all_ended(void)
{
	MODEL_CHECK(ledger.cut + ledger.refused == 1);
	MODEL_CHECK(ledger.closed == 1);
	MODEL_CHECK(!innermost_of(&strand_at(0)->opener));
	MODEL_CHECK(!bucket_of(task_of(0))->first);
	tasks_check();
}

MODEL(a_member_is_refused_or_cut, .setup = setup,
      .threads = { cancel_and_close, member }, .finish = all_ended);

MODEL(a_member_is_refused_or_cut_with_membarrier, .setup = setup_barrier,
      .threads = { cancel_and_close, member }, .finish = all_ended);

MODEL(a_failure_cuts_the_opener, .setup = setup_failing,
      .threads = { cut_and_close, member_linked }, .finish = all_ended);

/* Two members, which may be linked at the same time. */
static void setup_two(void)
{
	setup();
	enlist(2, scope);
}

static void two_ended(void)
{
	MODEL_CHECK(ledger.cut + ledger.refused == 2);
	if (ledger.cut)
		ledger.cut--;
	else
		ledger.refused--;
	all_ended();
}

MODEL(two_members_are_refused_or_cut, .setup = setup_two,
      .threads = { cancel_and_close, member, member }, .finish = two_ended,
      .delays = 2, .slow_modes = MODEL_RA);

/* ---- the opener is cancelled ------------------------------------------------------- */

static void close_cancelled(int id)
{
	task_begin(id);
	close_it(scope, -ECANCELED);
}

static void for_good(void)
{
	MODEL_CHECK(cancelled_bits(0) == TASK_CANCEL);
	all_ended();
}

MODEL(cancelling_the_opener_cuts_the_member, .setup = setup_linked,
      .threads = { close_cancelled, member_linked, cancel_opener },
      .finish = for_good);

static void cancel_self_and_close(int id)
{
	cancel_opener(id);
	close_cancelled(id);
}

MODEL(cancelling_itself_cuts_the_member_with_membarrier,
      .setup = setup_linked_barrier,
      .threads = { cancel_self_and_close, member_linked }, .finish = for_good);

static void open_and_wait(int id)
{
	struct sley_scope *own = model_alloc(sizeof(*own));

	task_begin(id);
	scope_open(own, UINT64_MAX);
	wait_for_the_end();
	close_it(own, -ECANCELED);
	close_it(scope, -ECANCELED);
	MODEL_CHECK(cancelled_bits(id) == TASK_CANCEL);
	ledger.closed--;
}

MODEL(cancelling_who_opens_a_scope, .setup = setup_empty,
      .threads = { open_and_wait, cancel_opener }, .finish = for_good);

/* A canceller of the opener then finds the scope, or the cancel came before. */
static void open_and_close(int id)
{
	struct sley_scope *own = model_alloc(sizeof(*own));

	task_begin(id);
	scope_open(own, UINT64_MAX);
	enlist(1, own);
	store_release(&opened, 1);
	close_it(own, -ECANCELED);
	close_it(scope, -ECANCELED);
	ledger.closed--;
}

static void member_later(int id)
{
	while (!load_acquire(&opened))
		spin_hint(&opened);
	member(id);
}

MODEL(cancelling_who_opens_a_scope_for_a_member, .setup = setup_empty,
      .threads = { open_and_close, member_later, cancel_opener },
      .finish = for_good);

/* The task takes back its own flag only. */
static void cancel_own_and_close(int id)
{
	int cause;

	task_begin(id);
	scope_cancel(scope, -EIO);
	cause = scope_close(scope);
	MODEL_CHECK(cause == -EIO || cause == -ECANCELED);
	model_free(scope);
	ledger.closed++;
	ledger.cut++;
}

MODEL(closing_keeps_a_cancel_of_the_task, .setup = setup_empty,
      .threads = { cancel_own_and_close, cancel_opener }, .finish = for_good);

/* ---- asking whether cancelled -------------------------------------------------------- */

static void ask(int id)
{
	task_begin(id);
	if (scope_is_cancelled(scope))
		MODEL_CHECK(reason == 7);
	(void)add_acq_rel(&done.word, 1);
}

static void cancel_alone(int id)
{
	task_begin(id);
	reason = 7;
	scope_cancel(scope, -EIO);
	(void)add_acq_rel(&done.word, 1);
}

static void nobody_in_it(void)
{
	MODEL_CHECK(scope_is_cancelled(scope));
	model_free(scope);
}

MODEL(who_sees_it_cancelled_sees_why, .setup = setup_empty,
      .threads = { ask, cancel_alone }, .finish = nobody_in_it);

/* ---- down --------------------------------------------------------------------------- */

static void member_closes(int id)
{
	task_begin(id);
	close_it(inner, -ECANCELED);
	leave(&strand_at(id)->member);
	group_done(&scope->group);
}

static void two_scopes_ended(void)
{
	ledger.closed--;
	all_ended();
	MODEL_CHECK(cancelled_bits(1) == TASK_CANCEL);
}

MODEL(a_cancel_goes_down, .setup = setup_nested,
      .threads = { cancel_and_close, member_closes, member },
      .finish = two_scopes_ended, .slow = true);

static void setup_inner(void)
{
	setup_linked();
	inner = open_as(1, UINT64_MAX);
}

static void member_closes_in_time(int id)
{
	int cause;

	task_begin(id);
	cause = scope_close(inner);
	MODEL_CHECK(cause == 0 || cause == -ECANCELED);
	model_free(inner);
	ledger.cut++;
	leave(&strand_at(id)->member);
	group_done(&scope->group);
}

MODEL(a_cancel_meets_a_scope_that_is_being_closed, .setup = setup_inner,
      .threads = { cancel_and_close, member_closes_in_time },
      .finish = all_ended);

/* A stolen child of a member: at the same depth. */
static void setup_child_of_member(void)
{
	setup_linked();
	countdown_add(&done, 1);
	model_lock_word(&done.word);
}

static void member_joins(int id)
{
	task_begin(id);
	(void)!countdown_wait(&done, UINT64_MAX, WAIT_SHIELDED);
	leave(&strand_at(id)->member);
	group_done(&scope->group);
}

static void grandchild(int id);

MODEL(a_cancel_goes_down_to_a_stolen_child, .setup = setup_child_of_member,
      .threads = { cancel_and_close, member_joins, grandchild },
      .finish = all_ended, .slow = true);

/* ---- the alarm ----------------------------------------------------------------------- */

static void close_maybe_late(int id)
{
	int cause;

	task_begin(id);
	cause = scope_close(scope);
	MODEL_CHECK(cause == 0 || cause == -ETIMEDOUT);
	model_free(scope);
	MODEL_CHECK(!cancelled_bits(id));
	ledger.closed++;
	ledger.cut++;
}

static void fire(int id)
{
	task_begin(id);
	task_fire_timers(0);
}

MODEL(an_alarm_against_the_close, .setup = setup_alarm,
      .threads = { close_maybe_late, fire }, .finish = all_ended);

static void open_and_close_late(int id)
{
	struct sley_scope *own = model_alloc(sizeof(*own));
	int cause;

	task_begin(id);
	scope_open(own, LATER);
	cause = scope_close(own);
	MODEL_CHECK(cause == 0 || cause == -ETIMEDOUT);
	model_free(own);
	ledger.cut++;
	close_it(scope, 0);
}

static void setup_timed(void)
{
	setup_with(UINT64_MAX, TASKS_TIMED);
}

MODEL(an_alarm_against_the_open, .setup = setup_timed,
      .threads = { open_and_close_late, fire }, .finish = all_ended);

/* The closing task fires the alarm, while it holds the lock of the group. */
static void fire_own(struct worker *worker)
{
	timers_fire(&worker->timers, LATER);
}

static void setup_alarm_at_close(void)
{
	setup_alarm();
	enlist(1, scope);
	task_of(1)->arg = (void *)(intptr_t)-EIO; /* and does not wait */
	task_picks = fire_own;
}

static void close_late(int id)
{
	int cause;

	task_begin(id);
	cause = scope_close(scope);
	MODEL_CHECK(cause == -EIO || cause == -ETIMEDOUT);
	model_free(scope);
	MODEL_CHECK(!cancelled_bits(id));
	ledger.closed++;
	ledger.cut += !ledger.refused;
}

MODEL(an_alarm_is_fired_by_the_closing_task, .setup = setup_alarm_at_close,
      .threads = { close_late, member }, .finish = all_ended);

static void cut_by_alarm(int id)
{
	task_begin(id);
	MODEL_CHECK(wait_until(UINT64_MAX) == -ECANCELED);
	close_it(scope, -ETIMEDOUT);
	MODEL_CHECK(!cancelled_bits(id));
	ledger.cut++;
}

MODEL(an_alarm_cuts_the_opener, .setup = setup_alarm,
      .threads = { cut_by_alarm, fire }, .finish = all_ended);

/* ---- stolen children ------------------------------------------------------------------ */

static void child_ends(int id)
{
	scope_child_ends(strand_at(id));
	(void)countdown_done(&done);
}

static void child_waits(int id)
{
	task_begin(id);
	scope_child_starts(strand_at(id), strand_at(0));
	wait_for_the_end();
	child_ends(id);
}

static void grandchild(int id)
{
	task_begin(id);
	scope_child_starts(strand_at(id), strand_at(1));
	wait_for_the_end();
	child_ends(id);
}

static void join_child(void)
{
	(void)!countdown_wait(&done, UINT64_MAX, WAIT_SHIELDED);
}

static void cancel_join_close(int id)
{
	task_begin(id);
	reason = 7;
	scope_cancel(scope, -EIO);
	join_child();
	close_it(scope, -EIO);
}

MODEL(a_stolen_child_is_cut, .setup = setup_child,
      .threads = { cancel_join_close, child_waits }, .finish = all_ended);

static void child_passes(int id)
{
	task_begin(id);
	scope_child_starts(strand_at(id), strand_at(0));
	child_ends(id);
	ledger.cut++;
}

static void cancel_close_join(int id)
{
	task_begin(id);
	scope_cancel(scope, -EIO);
	close_it(scope, -EIO);
	join_child();
}

/* A linked child has the flag as long as its parent has the flag. */
static void child_stays(int id)
{
	task_begin(id);
	scope_child_starts(strand_at(id), strand_at(0));
	(void)countdown_done(&done);
	ledger.cut++;
}

static void child_is_cleared(void)
{
	MODEL_CHECK(!cancelled_bits(1));
	scope_child_ends(strand_at(1));
	all_ended();
}

MODEL(a_stolen_child_ends_while_the_scope_does, .setup = setup_child,
      .threads = { cancel_close_join, child_passes }, .finish = all_ended);

MODEL(closing_clears_a_stolen_child, .setup = setup_child,
      .threads = { cancel_close_join, child_stays },
      .finish = child_is_cleared);
