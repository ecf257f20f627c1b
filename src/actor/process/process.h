/* SPDX-License-Identifier: MIT */
/*
 * process.h - a process: its parts, its life and its end.
 *
 * A process is a task with an inbox.  Two kinds share this struct.  The task of a
 * step process runs in turns (core/task/turn.h), on the stack that its worker is
 * on.  The task of an actor is a function that receives messages.
 *
 * Everything that concerns a process reaches the process as a message, through
 * its inbox: messages of users, completions, the ends of other processes, a
 * deadline, and the order to end.  The process takes the messages out when it
 * runs (actor/mail/mail.h).  So a field belongs to the process alone, and needs
 * no lock, unless it is marked below.
 *
 * Identity.  Processes live in a table that is never freed
 * (actor/process/process_table.c).  The pid is {node, generation, index}.  process->pid
 * is the pid while the process lives, and 0 otherwise.  A look at process->pid is
 * a hint: the process may end right after the look.  Then its inbox refuses a
 * message.  If the place has a new tenant, the message gets into the inbox of the
 * tenant, which drops the message: each message carries the pid of its receiver.
 *
 * The lock is for changes by other threads: of relations
 * (actor/relation/relation.h), and to cancel the task.  A thread that holds the
 * lock and finds the expected process->pid knows that the process does not end
 * meanwhile.
 *
 * End, in the last turn (process_end):
 *   1. behaviour->close, called by the caller of process_end()
 *   2. under the lock: pid = 0, relations are taken out; the end of a joinable
 *      process is kept in the place (actor/process/exit_info.h)
 *   3. the process loses its names and leaves its topics
 *   4. the inbox is closed, the messages in it are freed; senders that wait are
 *      refused
 *   5. related processes and waiting calls are told, with the reason
 *   6. when the turn is over: memory goes back, the runtime counts one task less
 *
 * Edges:
 *
 *   A1  the pid is stored, at the start -> a reader finds it there : the fields of
 *       the process
 */
#ifndef SLEY_ACTOR_PROCESS_PROCESS_H
#define SLEY_ACTOR_PROCESS_PROCESS_H

#include "actor/mail/mail.h"
#include "base/compiler.h"
#include "core/sched/worker.h"
#include "lf/inbox.h"
#include "lf/spin.h"
#include "mem/table.h"

#include <sley/actor.h>
#include <sley/process.h>
#include <sley/step.h>

struct relations; /* actor/relation/relation.h  */
struct holding;   /* actor/name/holding.h   */
struct yields;    /* actor/command/command.h   */
struct bound;     /* actor/mail/bounded.h     */
struct call;      /* actor/mail/call.c      */

/* In ->flags: */
#define PROCESS_ACTOR (1u << 0)  /* has a function, not steps               */
#define PROCESS_ENDING (1u << 1) /* ->reason is why; no more steps          */
#define PROCESS_AGAIN (1u << 2)  /* a step is due, with or without messages */
#define PROCESS_ENDED (1u << 3)  /* the last turn has run                   */
#define PROCESS_SEEN (1u << 4)   /* ->current is still in the inbox         */
#define PROCESS_MANY (1u << 5)   /* ->delivery, not ->current               */
#define PROCESS_FRESH (1u << 6)  /* the behaviour has had no step           */
#define PROCESS_NEWS (1u << 7)   /* ->bound may have messages: bounded.h      */
#define PROCESS_SUPERVISES (1u << 8) /* the children that it links         */
#define PROCESS_ASKS (1u << 9) /* in the function of a selective receive  */
#define PROCESS_JOINABLE                                                       \
	(1u << 10) /* the end is kept: actor/process/exit_info.h     */

/* In ->signals: */
#define SIGNAL_TRAPS (1u << 0)      /* CANCEL and EXIT are messages         */
#define SIGNAL_ACTOR (1u << 1)      /* PROCESS_ACTOR, for other threads     */
#define SIGNAL_SUPERVISED (1u << 2) /* a supervisor sees to the end         */
#define SIGNAL_KILLED (1u << 3)     /* was killed                           */
#define SIGNAL_STOPPED (1u << 4)    /* the runtime stops                    */
#define SIGNAL_STOP (1u << 5)       /* STOPPED, not yet taken out           */
#define SIGNAL_ENDS (1u << 6)       /* of STOP: did not trap at that time   */
#define SIGNAL_ORDER (1u << 7)      /* ->order is in the inbox              */

#define PROCESS_STATE 32 /* bytes of a step process that need no memory */

/* How a process ended: actor/process/exit_info.h. */
struct exit_info {
	int32_t reason;
	bool left; /* if it is kept: the last turn is over (lock)       */
	uint64_t time_ns;
	struct sley_blob *result; /* holds a reference; or NULL          */
};

/* The messages that a step is looking at. */
struct delivery {
	struct sley_msg *const *msg;
	uint32_t nr;
	uint32_t kept; /* bit i: the step has kept msg[i]             */
};

struct process {
	struct sley_task task;

	struct inbox inbox; /* any thread puts                             */
	sley_pid pid;       /* 0: free; written under the lock             */
	struct mail_queue control; /* taken out, not yet delivered         */
	struct mail_queue user;    /* the same, sent by users              */
	struct worker *home;       /* pinned to it, or any of the runtime  */

	union {
		const struct sley_behaviour *behaviour;
		sley_actor_fn *fn;
	};
	struct bound *bound; /* NULL: no limit                             */
	union {
		struct yields *yields; /* of a step process; NULL: not yet     */
		void *place;           /* of an actor: where its exit goes */
		struct call *call; /* of a port: actor/mail/call.h (lock)   */
	};
	union {                            /* what the code is looking at */
		struct sley_msg *current;  /* NULL: nothing                */
		struct delivery *delivery; /* PROCESS_MANY                 */
	};
	struct relations *relations; /* NULL: not made yet (lock)          */
	struct push_node order; /* in the inbox: SIGNAL_ORDER              */
	uint64_t handled;    /* messages; read by others                      */
	uint64_t steps;      /* the same                                      */
	uint32_t index;      /* in the table: constant                        */
	uint32_t generation; /* of the pid, or of the last pid             */

	struct spinlock lock;
	uint32_t flags;   /* PROCESS_*                                     */
	int32_t reason;   /* PROCESS_ENDING                                */
	uint16_t budget;  /* messages in one turn                          */
	uint16_t signals; /* SIGNAL_* (lock)                               */
	uint64_t start_ns;
	sley_pid parent;
	uint32_t stray;   /* stray completions; read by others               */
	uint32_t nr_user; /* in ->user; read by others                     */
	struct holding *holdings; /* names and topics (lock)               */
	union {
		uint64_t state[PROCESS_STATE / 8]; /* of a step process: small */
		uint32_t left; /* of an actor: messages until a yield      */
		struct exit_info ended; /* joinable, and has ended (lock)      */
	};
} cache_aligned;

_Static_assert(sizeof(struct process) == 256, "a million cost 256 MB");

/* Aborts: the code of @process broke @rule.  Names @process. */
cold noreturn_fn void process_misuse(const struct process *process,
				     const char *rule);

/* ---- pid -------------------------------------------------------------------- */

#define PID_INDEX_BITS 26
#define PID_GENERATION_BITS 26
#define PID_NODE_BITS 11
#define PID_PORT                                                               \
	(1ull << 63) /* a port, not a process: actor/mail/call.h      */

static inline uint32_t pid_index(sley_pid pid)
{
	return (uint32_t)(pid & ((1u << PID_INDEX_BITS) - 1));
}

static inline uint32_t pid_generation(sley_pid pid)
{
	return (uint32_t)(pid >> PID_INDEX_BITS) &
	       ((1u << PID_GENERATION_BITS) - 1);
}

static inline uint32_t pid_node(sley_pid pid)
{
	return (uint32_t)((pid & ~PID_PORT) >>
			  (PID_INDEX_BITS + PID_GENERATION_BITS));
}

static inline sley_pid pid_make(uint32_t node, uint32_t index,
				uint32_t generation)
{
	return (uint64_t)node << (PID_INDEX_BITS + PID_GENERATION_BITS) |
	       (uint64_t)generation << PID_INDEX_BITS | index;
}

/* ---- table.c ------------------------------------------------------------------ */

#ifndef TABLE_CHUNK_BITS
#define TABLE_CHUNK_BITS 8
#endif
#define TABLE_CHUNKS (1u << (PID_INDEX_BITS - TABLE_CHUNK_BITS))

/* Processes are found by index in chunks that are never freed: mem/table.h. */
extern void *sley__process_table[TABLE_CHUNKS];

static const struct table process_table = {
	.chunk = sley__process_table,
	.max_chunks = TABLE_CHUNKS,
	.length = 1u << TABLE_CHUNK_BITS,
	.place_size = sizeof(struct process),
};

/* A place in the table, with its index and generation; NULL: no memory. */
must_check struct process *process_table_get(void);
void process_table_put(struct process *process);

/* How many places were ever used: indices below this may be looked at. */
uint32_t process_table_length(void);

/* Count a process that has got its pid, 1, or has lost it, -1. */
void process_table_count(int by);

/* How many processes have a pid.  Exact unless processes begin or end meanwhile. */
uint64_t process_table_nr(void);

/* The place of @index; NULL: never used, or only before a fork(). */
static inline struct process *process_table_at(uint32_t index)
{
	return table_find(&process_table, index);
}

/*
 * The pid of @process now; 0: it does not live.  Exact for the process itself and for
 * a caller that holds its lock; else a hint.
 */
static inline sley_pid process_pid(const struct process *process)
{
	/* relaxed: written under the lock, and relied on only there; or A1. */
	return load_relaxed(&process->pid);
}

/* With the lock. */
static inline void process_set_pid(struct process *process, sley_pid pid)
{
	/* relaxed: as above. */
	store_relaxed(&process->pid, pid);
}

/* A hint: the process may end at any time.  NULL: no such process (any more). */
static inline struct process *process_find(sley_pid pid)
{
	struct process *process = process_table_at(pid_index(pid));

	if (likely(process && pid &&
		   load_acquire(&process->pid) == pid)) /* A1 */
		return process;
	return NULL;
}

/* The same, locked: the process does not end until it is unlocked. */
must_check struct process *process_lock(sley_pid pid);
void process_unlock(struct process *process);

/* ---- process.c ------------------------------------------------------------------ */

/* The state of a step process, or the argument of an actor. */
static inline void *process_self(const struct process *process)
{
	return process->task.arg;
}

/* The calling process; NULL: the caller is no process. */
static inline struct process *process_current(void)
{
	struct strand *strand = strand_current();
	struct sley_task *task = strand ? strand->task : NULL;

	if (!task || !(task_flags(task) & TASK_PROCESS))
		return NULL;
	return container_of(task, struct process, task);
}

static inline struct sley *process_runtime(const struct process *process)
{
	return process->home->rt;
}

static inline bool mail_is_order(const struct process *process,
				 const struct push_node *node)
{
	return node == &process->order;
}

/* The message that @process has looked at and left in its inbox; or NULL. */
static inline struct push_node *process_seen(const struct process *process)
{
	return process->flags & PROCESS_SEEN ? mail_node(process->current)
					     : NULL;
}

/* A glance: is there a message that @process has not looked at? */
static inline bool process_has_mail(const struct process *process)
{
	return !mail_empty(&process->user) || !mail_empty(&process->control) ||
	       inbox_has_more(&process->inbox, process_seen(process)) ||
	       unlikely(process->flags & PROCESS_NEWS);
}

/* By the process: move all messages from the inbox to the queues. */
static inline void mail_sort(struct process *process)
{
	struct push_node *seen = process_seen(process);

	if (!seen && inbox_quiet(&process->inbox))
		return;
	process->flags &= ~PROCESS_SEEN;
	mail_sort_new(process, inbox_grab(&process->inbox, seen), seen);
}

/*
 * By the process, which is looking at no message.  If there is exactly one
 * message, and a user sent it, return this message to be looked at; it stays in
 * the inbox.  Else NULL.
 *
 * Only a message without memory outside stays in the inbox, since such a message
 * is freed late: by an actor when it is woken, and by a step process after its
 * turn, where the user's free function could not wait.
 */
static inline struct sley_msg *mail_peek(struct process *process)
{
	struct push_node *node;
	struct sley_msg *msg;

	if (unlikely(!mail_empty(&process->user) ||
		     !mail_empty(&process->control)))
		return NULL;
	node = inbox_peek(&process->inbox);
	if (!node || unlikely(mail_is_order(process, node)))
		return NULL;
	msg = node_mail(node);
	if (unlikely((uintptr_t)msg->data != process_pid(process) ||
		     msg->kind != SLEY_MESSAGE || msg->storage != MAIL_INLINE))
		return NULL;
	process->current = msg;
	process->flags |= PROCESS_SEEN;
	mail_deliver(msg);
	return msg;
}

/* By the process, which does not look at ->current any more: free it. */
static inline void mail_put_away(struct worker *worker, struct process *process)
{
	struct sley_msg *msg = process->current;

	if (!msg)
		return;
	if (process->flags & PROCESS_SEEN)
		mail_sort(process);
	process->current = NULL;
	mail_done(worker, msg);
}

/* For sums that others read. */
static inline void process_adjust(uint32_t *number, int by)
{
	/* relaxed: one writer at a time; a statistic. */
	store_relaxed(number, load_relaxed(number) + (uint32_t)by);
}

static inline void process_count(uint64_t *counter, uint64_t n)
{
	/* relaxed: one writer at a time; a statistic. */
	store_relaxed(counter, load_relaxed(counter) + n);
}

/*
 * Make a new process as @options say (checked, not NULL).  It is not started, and
 * no other thread knows it.  The caller fills in the fields of its kind.  0 or an
 * error.
 */
must_check int process_create(struct process **out,
			      const struct sley_process_options *options);

/* Undo process_create(). */
void process_forget(struct process *process);

/* The state of a step process, zeroed.  0 or -ENOMEM. */
must_check int process_create_self(struct process *process, void **self,
				   const struct sley_behaviour *behaviour);
void process_free_self(struct process *process, void *self,
		       const struct sley_behaviour *behaviour);

/*
 * Start @process: @fn is its turn.  After a failure it is not started, and the
 * caller calls process_forget().
 */
must_check int process_start(struct process *process, sley_fn *fn,
			     const struct sley_process_options *options,
			     sley_pid *pid);

/*
 * The end of @process, in its last turn: steps 2 to 5 above.  after_turn() does
 * step 6.
 */
void process_end(struct process *process, int reason);

/*
 * Ask @process, which is locked and alive, to end.  If @process traps, it is told
 * instead.  @msg is a SLEY_CANCEL or SLEY_EXIT with the reason in ->error; it is
 * put into the inbox.  If @process is an actor and does not trap, its waits are
 * cut short.  exit_signal.c
 */
void process_signal(struct process *process, struct sley_msg *msg);

/* The same by ->order: @signal is SIGNAL_KILLED or SIGNAL_STOPPED. */
void process_order(struct process *process, unsigned int signal);

/* @task is in a scope that was cancelled: wake its receive.  Any thread. */
void process_poke(struct sley_task *task);

/*
 * By the process, when it takes messages out: it ends for @reason, unless it is
 * ending already.
 */
void process_condemn(struct process *process, int reason);

#endif
