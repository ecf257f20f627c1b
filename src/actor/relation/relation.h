/* SPDX-License-Identifier: MIT */
/*
 * relation.h - who is told of the end of a process: links, monitors, calls.
 *
 *   link     both ends are processes; told by SLEY_EXIT (actor/relation/link.c)
 *   monitor  a process is told by SLEY_DOWN (actor/relation/process_monitor.c)
 *   watch    a port (actor/mail/call.h) is told by port_ended() (actor/relation/call_watch.c)
 *
 * Links and monitors contain the message that tells, so that an end needs no
 * memory.  They come from pools of the program, not from the memory of a runtime:
 * both ends may be of different runtimes, and the last one to let go may be the
 * runtime that still exists.
 */
#ifndef SLEY_ACTOR_RELATION_RELATION_H
#define SLEY_ACTOR_RELATION_RELATION_H

#include "actor/process/process.h"
#include "base/list.h"

/* ---- for the engine ----------------------------------------------------------- */

/*
 * Step 2 of process_end(), under the lock: @process has none any more.  Returns
 * what it had, for relations_tell(); NULL: nothing.  The result that the process has
 * given, if any, is that of @ending from now on.
 */
struct relations *relations_take(struct process *process,
				 struct exit_info *ending);

/* Step 5: tell everybody of the end of @pid, and free @relations, or NULL. */
void relations_tell(struct relations *relations, sley_pid pid,
		    const struct exit_info *ending);

/*
 * @process has taken a SLEY_EXIT or SLEY_DOWN out of its inbox.  False: it does not
 * concern it (any more), and was freed.
 */
must_check bool relation_arrived(struct process *process, struct sley_msg *msg);

/* Free @msg, of storage MAIL_RELATION, delivered or not. */
void relation_free(struct sley_msg *msg);

/* For sley_process_inspect(), with @process locked. */
void relations_count(const struct process *process, uint32_t *links,
		     uint32_t *monitors);

/* ---- for calls ------------------------------------------------------------------ */

/*
 * A port waits for a process, and wants to know if that ends.  Lives in the frame
 * of the call.  No message is under way at any time: the process that ends takes
 * the watch out under its lock, notes the port's pid, and then calls port_ended().
 */
struct watch {
	struct list node; /* of the target: under the lock of its place */
	sley_pid target;
	sley_pid port;
};

/*
 * From now on port_ended(@port, @target, ...) is called once, when @target ends,
 * unless relation_unwatch() comes first.  0; -ESRCH: there is no such process (any
 * more); -ENOMEM.  After an error there is nothing to unwatch.
 */
must_check int relation_watch(struct watch *watch, sley_pid target,
			      sley_pid port);

/*
 * Nobody looks at @watch any more when it returns.  Never waits.  A port_ended()
 * may still be on its way: it has the pid alone.  Also after port_ended().
 */
void relation_unwatch(struct watch *watch);

/*
 * In actor/mail/call.c: @target, which @port watched, has ended.  Called by any worker,
 * with no lock held.  As with any pid, the port may be nobody's by now, or its place
 * somebody else's; then it does nothing.
 */
void port_ended(sley_pid port, sley_pid target, const struct exit_info *ending);

/* ---- of one process ------------------------------------------------------------- */

/*
 * Made when it is first needed, and there until the process ends.  Whatever others
 * find here is under the lock of the process: of its place, since watches are taken
 * out one by one after the end.
 */
struct relations {
	struct list links;    /* its sides of them (lock)                   */
	struct list watchers; /* monitors that others have (lock)           */
	struct list watches;  /* calls that wait for it (lock)              */
	struct list watching; /* monitors that it has: its own              */
	uint32_t nr_links;    /* (lock)                                     */
	uint32_t nr_watchers; /* (lock)                                     */
	struct sley_blob *result; /* sley_process_result(): its own; or NULL */
};

/* process_lock() for what can have relations: ports cannot. */
static inline must_check struct process *related_lock(sley_pid pid)
{
	return pid & PID_PORT ? NULL : process_lock(pid);
}

/*
 * The same for a process that has a struct relations, if need be from now
 * on.  0, -ESRCH or -ENOMEM: then nothing is locked.
 */
must_check int relations_lock(sley_pid pid, struct process **process);

/*
 * The calling process, which relates itself with @pid: it has one from now on.  0;
 * -EINVAL: it is @pid, or nobody, as one that has ended, and frees its mail; -ENOMEM.
 */
must_check int relations_own(sley_pid pid, struct process **self);

/*
 * By @process: free what is queued of @kind, SLEY_EXIT from @key, or SLEY_DOWN with
 * that number.
 */
void relations_withdraw(struct process *process, unsigned int kind,
			uint64_t key);

/* ---- link.c, process_monitor.c, call_watch.c -------------------------------------------------- */

/* @pid, which had @relations, has ended. */
void links_tell(struct relations *relations, int reason);
void process_monitors_tell(struct relations *relations,
			   const struct exit_info *ending);
void process_monitors_leave(struct relations *relations);
void watches_tell(struct relations *relations, sley_pid pid,
		  const struct exit_info *ending);

/* relation_arrived() and relation_free(), by the kind of @msg. */
must_check bool link_arrived(struct process *process, struct sley_msg *msg);
must_check bool process_monitor_arrived(struct sley_msg *msg);
void link_free(struct sley_msg *msg);
void process_monitor_free(struct sley_msg *msg);

#endif
