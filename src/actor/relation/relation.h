/* SPDX-License-Identifier: MIT */
/*
 * relation.h - telling of the end of a process: links, monitors, calls.
 *
 *   link     both ends are processes; told by SLEY_EXIT (actor/relation/link.c)
 *   monitor  a process is told by SLEY_DOWN (actor/relation/process_monitor.c)
 *   watch    a port (actor/mail/call.h) is told by port_ended()
 *            (actor/relation/call_watch.c)
 *
 * Links and monitors contain the message that tells, so that an end needs no
 * memory.  They come from pools of the program, not from the memory of a runtime:
 * the two processes may belong to different runtimes, and the last process to let
 * go may belong to the runtime that still exists.
 */
#ifndef SLEY_ACTOR_RELATION_RELATION_H
#define SLEY_ACTOR_RELATION_RELATION_H

#include "actor/process/process.h"
#include "base/list.h"

/* ---- for the engine ----------------------------------------------------------- */

/*
 * Step 2 of process_end(), under the lock: take the relations out of @process,
 * for relations_tell(); NULL: it has no relations.  The result that the process
 * has given, if any, belongs to @ending from now on.
 */
struct relations *relations_take(struct process *process,
				 struct exit_info *ending);

/*
 * Step 5: tell all related processes and calls of the end of @pid, and free
 * @relations, or NULL.
 */
void relations_tell(struct relations *relations, sley_pid pid,
		    const struct exit_info *ending);

/*
 * @process has taken a SLEY_EXIT or SLEY_DOWN out of its inbox.  False: the
 * message does not concern @process (any more), and was freed.
 */
must_check bool relation_arrived(struct process *process, struct sley_msg *msg);

/* Free @msg, of storage MAIL_RELATION, delivered or not. */
void relation_free(struct sley_msg *msg);

/* For sley_process_inspect(), with @process locked. */
void relations_count(const struct process *process, uint32_t *links,
		     uint32_t *monitors);

/* ---- for calls ------------------------------------------------------------------ */

/*
 * A port waits for a process, and wants to know of its end.  Lives in the frame
 * of the call.  No message is under way at any time: the ending process takes the
 * watch out under its lock, notes the pid of the port, and then calls
 * port_ended().
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
 * When this returns no process looks at @watch any more.  Never waits.  A
 * port_ended() may still be under way: it has only the pid.  Also after
 * port_ended().
 */
void relation_unwatch(struct watch *watch);

/*
 * In actor/mail/call.c: @target, which @port watched, has ended.  Called by any
 * worker, with no lock held.  As with any pid, the port may be closed by now, or
 * its place have a new tenant; then this does nothing.
 */
void port_ended(sley_pid port, sley_pid target, const struct exit_info *ending);

/* ---- of one process ------------------------------------------------------------- */

/*
 * Made when it is first needed, and there until the process ends.  Fields that
 * others use are under the lock of the process, that is, of its place: watches
 * are taken out one by one after the end.
 */
struct relations {
	struct list links;    /* the process's sides (lock)                 */
	struct list watchers; /* monitors by others (lock)                  */
	struct list watches;  /* calls that wait (lock)                     */
	struct list watching; /* monitors of others: no lock                */
	uint32_t nr_links;    /* (lock)                                     */
	uint32_t nr_watchers; /* (lock)                                     */
	struct sley_blob *result; /* sley_process_result(): no lock; or NULL */
};

/* process_lock() for processes: ports have no relations. */
static inline must_check struct process *related_lock(sley_pid pid)
{
	return pid & PID_PORT ? NULL : process_lock(pid);
}

/*
 * The same, and make a struct relations if there is none.  0, -ESRCH or -ENOMEM:
 * after an error nothing is locked.
 */
must_check int relations_lock(sley_pid pid, struct process **process);

/*
 * The calling process, for a relation with @pid: it has a struct relations from
 * now on.  0; -EINVAL: the caller is @pid, or is no process, or has ended and
 * frees its messages; -ENOMEM.
 */
must_check int relations_own(sley_pid pid, struct process **self);

/*
 * By @process: free the queued messages of @kind: SLEY_EXIT from @key, or
 * SLEY_DOWN with the number @key.
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
