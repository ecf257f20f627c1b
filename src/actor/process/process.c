/* SPDX-License-Identifier: MIT */
/*
 * process.c - see process.h: the beginning and the end of a process.
 */
#include "actor/process/process.h"

#include "actor/mail/bounded.h"
#include "actor/command/command.h"
#include "actor/process/exit_info.h"
#include "actor/name/name.h"
#include "actor/relation/relation.h"
#include "actor/process/stop.h"
#include "core/life/drain.h"
#include "core/life/after_fork.h"
#include "core/task/spawn.h"
#include "core/task/turn.h"
#include "os/clock.h"

#include <errno.h>
#include <sley/error.h>

#define BUDGET_DEFAULT 64

/* ---- turns --------------------------------------------------------------------- */

/* Nothing of it is known to anybody: the last of its end. */
static void release(struct worker *worker, struct process *process)
{
	if (!(process->flags & PROCESS_ACTOR))
		process_free_self(process, process_self(process),
				  process->behaviour);
	if (likely(!(process->flags & PROCESS_JOINABLE)) ||
	    exit_info_leave(process))
		table_put(process);
	drain_count_finished(worker);
}

static inline bool has_more(const struct process *process)
{
	/* What it has seen was all there was. */
	if (likely(process->flags == PROCESS_SEEN))
		return false;
	return !mail_empty(&process->user) || !mail_empty(&process->control) ||
	       (process->flags &
		(PROCESS_AGAIN | PROCESS_NEWS | PROCESS_ENDING));
}

/*
 * What it was looking at is freed after it has parked, and may run elsewhere: as
 * long as that is in the inbox, its memory must not be used again.
 */
static bool park(struct worker *worker, struct process *process)
{
	struct sley_msg *msg = process->current;
	struct push_node *seen = process_seen(process);

	process->current = NULL;
	process->flags &= ~PROCESS_SEEN;
	turn_park(&process->task);
	if (likely(inbox_rest(&process->inbox, seen))) {
		if (msg)
			mail_done(worker, msg);
		return true;
	}
	process->current = msg;
	if (seen)
		process->flags |= PROCESS_SEEN;
	return false;
}

static struct sley_task *after_turn(struct worker *worker,
				    struct sley_task *task)
{
	struct process *process = container_of(task, struct process, task);

	if (unlikely(process->flags & PROCESS_ENDED))
		release(worker, process);
	else if (unlikely(has_more(process) || !park(worker, process)))
		turn_again(worker, task);
	return NULL;
}

static const struct turns turns = { after_turn, process_poke };

/* ---- the beginning --------------------------------------------------------------- */

static int runtime_for(struct sley **out, struct sley *given)
{
	struct worker *worker = worker_current();
	struct sley *rt = given;

	if (!rt)
		rt = worker ? worker->rt : sley__self.bound;
	*out = rt;
	if (!rt)
		return after_fork_error();
	if (runtime_is_lost(rt))
		return SLEY_EFORKED;
	if (!rt->nr_workers && (!worker || worker->rt != rt))
		return SLEY_ENOWORKER;
	return 0;
}

static struct worker *home_in(struct sley *rt)
{
	struct worker *worker = worker_current();

	return worker && worker->rt == rt ? worker : rt->worker[0];
}

static void fill(struct process *process, struct sley *rt,
		 const struct sley_process_options *options)
{
	const struct process *parent = process_current();
	uint32_t budget = options->budget ? options->budget : BUDGET_DEFAULT;

	process->control.last = process->user.last = NULL;
	process->home = home_in(rt);
	process->task.name = options->label;
	process->task.arg = NULL;
	process->behaviour = NULL;
	process->relations = NULL;
	process->yields = NULL;
	process->current = NULL;
	process->flags = options->joinable ? PROCESS_JOINABLE : 0;
	process->reason = 0;
	process->budget = (uint16_t)(budget < UINT16_MAX ? budget : UINT16_MAX);
	process->signals = options->traps ? SIGNAL_TRAPS : 0;
	if (options->link && parent && (parent->flags & PROCESS_SUPERVISES) &&
	    process_runtime(parent) == rt)
		process->signals |= SIGNAL_SUPERVISED;
	process->start_ns = os_now();
	/* relaxed: its own. */
	process->parent = parent ? load_relaxed(&parent->pid) : SLEY_NO_PID;
	process->stray = process->nr_user = 0;
	process->holdings = NULL;
	/* relaxed: statistics. */
	store_relaxed(&process->handled, 0);
	/* relaxed: statistics. */
	store_relaxed(&process->steps, 0);
	/* relaxed: the pid publishes it. */
	store_relaxed(&process->bound, NULL);
}

/* One more, if that is not one too many.  Exact: nobody is refused in vain. */
static int admit(struct sley *rt)
{
	uint32_t max = rt->config.max_processes;
	/* relaxed: a number, checked by the swap. */
	uint32_t nr = max ? load_relaxed(&rt->nr_processes) : 0;

	if (likely(!max))
		return 0;
	do {
		if (nr >= max)
			return -EAGAIN;
		/* relaxed: it publishes nothing. */
	} while (chaos_says(CHAOS_LOSE) ||
		 !cas_relaxed(&rt->nr_processes, &nr, nr + 1));
	return 0;
}

/* Before others are told of its end: they may want to replace it. */
static void dismiss(struct sley *rt)
{
	if (unlikely(rt->config.max_processes))
		/* relaxed: it publishes nothing. */
		(void)sub_relaxed(&rt->nr_processes, 1);
}

static int create(struct process **out, struct sley *rt,
		  const struct sley_process_options *options)
{
	struct process *process = table_get();
	int err = 0;

	if (!process)
		return -ENOMEM;
	fill(process, rt, options);
	if (options->mailbox)
		err = bound_create(process, options->mailbox,
				   options->overflow);
	if (err)
		table_put(process);
	*out = process;
	return err;
}

int process_create(struct process **out,
		   const struct sley_process_options *options)
{
	struct sley *rt;
	int err = runtime_for(&rt, options->runtime);

	if (err)
		return err;
	if ((options->link || options->monitor) && !process_current())
		return -EINVAL;
	if (options->overflow > SLEY_DROP_OLDEST)
		return -EINVAL;
	if (options->priority < SLEY_PRIORITY_MIN ||
	    options->priority > SLEY_PRIORITY_MAX)
		return SLEY_EPRIORITY;
	err = admit(rt);
	if (err)
		return err;
	err = create(out, rt, options);
	if (err)
		dismiss(rt);
	return err;
}

static void drop_bound(struct process *process)
{
	if (!process->bound)
		return;
	bound_close(process);
	/* relaxed: a late sender's look is a hint. */
	store_relaxed(&process->bound, NULL);
}

void process_forget(struct process *process)
{
	drop_bound(process);
	if (!(process->flags & PROCESS_ENDED))
		dismiss(process_runtime(process));
	table_put(process);
}

/* From here on it can be found. */
static sley_pid publish(struct process *process)
{
	sley_pid pid = pid_make(0, process->index, process->generation);

	/* Its init may have waited, and come back on another worker. */
	process->home = home_in(process_runtime(process));
	inbox_open(&process->inbox);
	spin_lock(&process->lock);
	store_release(&process->pid, pid); /* A1 */
	spin_unlock(&process->lock);
	table_count(1);
	return pid;
}

/* Before anybody but the caller knows it. */
static int introduce(struct process *process, sley_pid *pid,
		     const struct sley_process_options *options)
{
	int err = 0;

	*pid = publish(process);
	if (options->name)
		err = name_register(options->name, *pid, pid);
	if (!err && options->link)
		err = sley_link(*pid);
	if (!err && options->monitor)
		err = sley_monitor(*pid, options->monitor);
	return err;
}

static int queue(struct process *process, sley_fn *fn,
		 const struct sley_process_options *options)
{
	const struct sley_options task = {
		.priority = options->priority,
		.stack_kib = options->stack_kib,
		.pinned = options->pinned,
	};
	struct sley_group *group = (struct sley_group *)(uintptr_t)&turns;
	struct sley *rt = process_runtime(process);

	process->task.fn = fn;
	return spawn_into_as(rt, group, &process->task, &task,
			     TASK_PROCESS | TASK_TURNS |
				     (rt->nr_workers ? 0 : TASK_PINNED));
}

int process_start(struct process *process, sley_fn *fn,
		  const struct sley_process_options *options, sley_pid *pid)
{
	sley_pid made = SLEY_NO_PID;
	int err;

	/* Its init may have waited, and come back on another worker. */
	process->home = home_in(process_runtime(process));
	err = introduce(process, &made, options);
	if (err && err != -EEXIST)
		made = SLEY_NO_PID;
	if (pid)
		*pid = made; /* before it runs: it may look there */
	if (!err) {
		stop_newcomer(process);
		err = queue(process, fn, options);
		if (err && options->monitor)
			sley_unmonitor(*options->monitor);
		if (err && pid)
			*pid = SLEY_NO_PID;
	}
	if (err) {
		/* Nobody has seen it: there is nothing to wait for. */
		process->flags &= ~PROCESS_JOINABLE;
		process_end(process, 0);
	}
	return err;
}

/* ---- the end ----------------------------------------------------------------------- */

static struct relations *withdraw(struct process *process, sley_pid *pid,
				  struct exit_info *ending)
{
	struct relations *relations;

	spin_lock(&process->lock);
	/* relaxed: its own. */
	*pid = load_relaxed(&process->pid);
	/* relaxed: written under the lock, by which it is also believed. */
	store_relaxed(&process->pid, SLEY_NO_PID);
	relations = relations_take(process, ending);
	if (relations || (process->flags & PROCESS_JOINABLE))
		ending->time_ns = os_now();
	if (unlikely(process->flags & PROCESS_JOINABLE))
		exit_info_keep(process, *pid, ending);
	spin_unlock(&process->lock);
	if (*pid)
		table_count(-1);
	return relations;
}

static void free_mail(struct process *process)
{
	struct push_node *node =
		inbox_close(&process->inbox, process_seen(process));
	struct sley_msg *msg = process->current;

	/* The user's functions that free may receive, and are told no. */
	process->flags &= ~PROCESS_SEEN;
	process->flags |= PROCESS_ENDING;
	process->current = NULL;
	while (node) {
		struct push_node *this = node;

		node = node->next;
		if (!mail_is_order(process, this))
			mail_free(node_mail(this));
	}
	mail_free_all(&process->control);
	mail_free_all(&process->user);
	if (msg)
		mail_free(msg);
}

void process_end(struct process *process, int reason)
{
	struct exit_info ending = { .reason = reason };
	sley_pid pid;
	struct relations *relations = withdraw(process, &pid, &ending);

	dismiss(process_runtime(process));
	names_forget(process);
	topics_forget(process);
	free_mail(process);
	drop_bound(process);
	if (!(process->flags & PROCESS_ACTOR))
		yields_drop(process);
	if (relations)
		relations_tell(relations, pid, &ending);
	exit_info_drop(&ending);
	process->flags |= PROCESS_ENDED;
}

/* ---- about oneself ------------------------------------------------------------------- */

sley_pid sley_self(void)
{
	const struct process *process = process_current();

	/* relaxed: its own. */
	return process ? load_relaxed(&process->pid) : SLEY_NO_PID;
}
