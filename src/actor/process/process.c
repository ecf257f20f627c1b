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
#include "core/wait/loan.h"
#include "os/clock.h"

#include <errno.h>
#include <sley/error.h>

#define BUDGET_DEFAULT 64

/* ---- turns --------------------------------------------------------------------- */

/* Step 6 of the end: no other thread knows @process. */
static void release(struct worker *worker, struct process *process)
{
	if (!(process->flags & PROCESS_ACTOR))
		process_free_self(process, process_self(process),
				  process->behaviour);
	if (likely(!(process->flags & PROCESS_JOINABLE)) ||
	    exit_info_leave(process))
		process_table_put(process);
	drain_count_finished(worker);
}

static inline bool has_more(const struct process *process)
{
	/* The message that was seen is the only message. */
	if (likely(process->flags == PROCESS_SEEN))
		return false;
	return !mail_empty(&process->user) || !mail_empty(&process->control) ||
	       (process->flags &
		(PROCESS_AGAIN | PROCESS_NEWS | PROCESS_ENDING));
}

/*
 * The message that @process was looking at is freed after the park, when @process
 * may run elsewhere.  Before that the message is in the inbox, and its memory
 * must not be used again.
 */
static bool park(struct worker *worker, struct process *process)
{
	struct sley_msg *msg = process->current;
	struct push_node *seen = process_seen(process);

	process->current = NULL;
	process->flags &= ~PROCESS_SEEN;
	task_turn_park(&process->task);
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
	process->parent = parent ? process_pid(parent) : SLEY_NO_PID;
	process->stray = process->nr_user = 0;
	process->holdings = NULL;
	/* relaxed: statistics. */
	store_relaxed(&process->handled, 0);
	/* relaxed: statistics. */
	store_relaxed(&process->steps, 0);
	/* relaxed: published by the pid. */
	store_relaxed(&process->bound, NULL);
}

/*
 * Count one more process, unless the limit is reached.  Exact: no process is
 * refused while there is room.
 */
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
		/* relaxed: publishes nothing. */
	} while (chaos_says(CHAOS_LOSE) ||
		 !cas_relaxed(&rt->nr_processes, &nr, nr + 1));
	return 0;
}

/* Before others are told of the end: they may want to replace the process. */
static void dismiss(struct sley *rt)
{
	if (unlikely(rt->config.max_processes))
		/* relaxed: publishes nothing. */
		(void)sub_relaxed(&rt->nr_processes, 1);
}

static int create(struct process **out, struct sley *rt,
		  const struct sley_process_options *options)
{
	struct process *process = process_table_get();
	int err = 0;

	if (!process)
		return -ENOMEM;
	fill(process, rt, options);
	if (options->mailbox)
		err = bound_create(process, options->mailbox,
				   options->overflow);
	if (err)
		process_table_put(process);
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
	process_table_put(process);
}

/* From here on other threads can find @process. */
static sley_pid publish(struct process *process)
{
	sley_pid pid = pid_make(0, process->index, process->generation);

	/* The init may have waited, and continued on a different worker. */
	process->home = home_in(process_runtime(process));
	inbox_open(&process->inbox);
	spin_lock(&process->lock);
	store_release(&process->pid, pid); /* A1 */
	spin_unlock(&process->lock);
	process_table_count(1);
	return pid;
}

/* Before any thread but the caller knows @process. */
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

	/* The init may have waited, and continued on a different worker. */
	process->home = home_in(process_runtime(process));
	err = introduce(process, &made, options);
	if (err && err != -EEXIST)
		made = SLEY_NO_PID;
	if (pid)
		*pid = made; /* before @process runs: it may look there */
	if (!err) {
		stop_newcomer(process);
		err = queue(process, fn, options);
		if (err && options->monitor)
			sley_unmonitor(*options->monitor);
		if (err && pid)
			*pid = SLEY_NO_PID;
	}
	if (err) {
		/* No thread has seen @process: there is no end to wait for. */
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
	*pid = process_pid(process);
	/* Written under the lock, and relied on only there. */
	process_set_pid(process, SLEY_NO_PID);
	relations = relations_take(process, ending);
	if (relations || (process->flags & PROCESS_JOINABLE))
		ending->time_ns = os_now();
	if (unlikely(process->flags & PROCESS_JOINABLE))
		exit_info_keep(process, *pid, ending);
	spin_unlock(&process->lock);
	if (*pid)
		process_table_count(-1);
	return relations;
}

static void free_mail(struct process *process)
{
	struct push_node *node =
		inbox_close(&process->inbox, process_seen(process));
	struct sley_msg *msg = process->current;

	/* A user's free function may receive, and is refused. */
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

	/* From now on no caller lends the process its level. */
	if (task_flags(&process->task) & TASK_OWES)
		loan_forgive(&process->task);
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

/* ---- about the caller ---------------------------------------------------------------- */

sley_pid sley_self(void)
{
	const struct process *process = process_current();

	return process ? process_pid(process) : SLEY_NO_PID;
}
