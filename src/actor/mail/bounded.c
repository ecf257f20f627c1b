/* SPDX-License-Identifier: MIT */
/*
 * bounded.c - see bounded.h.
 */
#include "actor/mail/bounded.h"

#include "core/sched/place.h"
#include "core/wait/wait.h"
#include "mem/object_pool.h"

#include <errno.h>

#define WOKEN_BY_END 1 /* the index a sender is woken with */

struct bound {
	void *free[2];         /* the pool's                               */
	struct sley_waitq q;   /* senders; the lock is for all below       */
	struct process *owner; /* NULL: the process has ended             */
	struct mail_queue fifo;
	uint32_t nr;    /* in the fifo; read by others                   */
	uint32_t aside; /* taken, but neither delivered nor owed         */
	uint32_t owed;  /* put aside, to be dropped by the owner         */
	uint32_t limit; /* of nr + aside                                 */
	uint32_t overflow;
	bool told; /* the owner has been told, or will be                 */
	uint64_t dropped; /* or refused; read by others                   */
	struct sley_msg marker;
} cache_aligned;

static struct object_pool pool = { .object_size = sizeof(struct bound) };

/* Under the lock. */
static uint32_t length(const struct bound *bound)
{
	/* relaxed: under the lock. */
	return load_relaxed(&bound->nr);
}

/* Under the lock: @nr more. */
static void count(struct bound *bound, int nr)
{
	/* relaxed: a hint for others. */
	store_relaxed(&bound->nr, length(bound) + (uint32_t)nr);
}

/* Under the lock: @nr more. */
static void count_dropped(struct bound *bound, int nr)
{
	/* relaxed: as above. */
	uint64_t dropped = load_relaxed(&bound->dropped);

	/* relaxed: as above. */
	store_relaxed(&bound->dropped, dropped + (uint64_t)nr);
}

/* Under the lock. */
static void append(struct bound *bound, const struct batch *batch)
{
	mail_append_chain(&bound->fifo, batch->first, batch->last);
	count(bound, (int)batch->nr);
}

/* Under the lock. */
static struct sley_msg *take_oldest(struct bound *bound)
{
	struct sley_msg *msg = mail_take(&bound->fifo);

	if (msg)
		count(bound, -1);
	return msg;
}

int bound_create(struct process *process, uint32_t limit, unsigned int overflow)
{
	struct bound *bound = object_pool_get(&pool, NULL);

	if (!bound)
		return -ENOMEM;
	/* A sender to the last owner may be looking. */
	(void)waitq_lock(&bound->q);
	bound->owner = process;
	bound->limit = limit;
	bound->overflow = overflow;
	bound->aside = bound->owed = 0;
	bound->told = false;
	bound->fifo.last = NULL;
	/* relaxed: hints for others. */
	store_relaxed(&bound->nr, 0);
	/* relaxed: as above. */
	store_relaxed(&bound->dropped, 0);
	waitq_unlock(&bound->q);
	store_release(&process->bound, bound); /* BD1 */
	return 0;
}

/* ---- senders ------------------------------------------------------------------ */

/* Locked: the owner has to know. */
static enum inbox_answer tell(struct bound *bound, struct process *process,
			      sley_pid to)
{
	enum inbox_answer answer;

	if (bound->told)
		return INBOX_TAKEN;
	bound->marker = (struct sley_msg){ .kind = MAIL_BOUND,
					   .storage = MAIL_EMBEDDED,
					   .data = (void *)(uintptr_t)to };
	answer = inbox_put(&process->inbox, mail_node(&bound->marker));
	bound->told = answer != INBOX_REFUSED;
	return answer;
}

static void free_batch(const struct batch *batch)
{
	struct mail_queue queue = { NULL };

	mail_append_chain(&queue, batch->first, batch->last);
	mail_free_all(&queue);
}

/* Locked, and unlocks: there is room, or room was made. */
static int put(struct bound *bound, struct process *process, sley_pid to,
	       const struct batch *batch)
{
	enum inbox_answer answer = tell(bound, process, to);

	if (answer != INBOX_REFUSED)
		append(bound, batch);
	waitq_unlock(&bound->q);
	if (answer == INBOX_WAKE)
		process_wake(process);
	if (answer != INBOX_REFUSED)
		return 0;
	free_batch(batch);
	return -ESRCH;
}

static int refuse(struct bound *bound, const struct batch *batch)
{
	count_dropped(bound, (int)batch->nr);
	waitq_unlock(&bound->q);
	free_batch(batch);
	return -EAGAIN;
}

/* Locked. */
static bool has_room(const struct bound *bound, const struct batch *batch)
{
	return batch->nr <= bound->limit - length(bound) - bound->aside;
}

/* Messages put aside are older than messages in the fifo. */
static int drop_oldest(struct bound *bound, struct process *process,
		       sley_pid to, const struct batch *batch)
{
	struct mail_queue dropped = { NULL };
	int err;

	for (; !has_room(bound, batch); count_dropped(bound, 1)) {
		if (bound->aside) {
			bound->aside--;
			bound->owed++;
		} else {
			mail_append(&dropped, take_oldest(bound));
		}
	}
	err = put(bound, process, to, batch);
	mail_free_all(&dropped);
	return err;
}

static int wait_for_room(struct bound *bound, struct sley_msg *msg,
			 uint64_t deadline_ns)
{
	struct sley_waiter node = { .slot = msg };
	int result = waitq_wait(&bound->q, &node, deadline_ns, 0);

	if (result == 0)
		return 0;
	if (result < 0)
		waitq_unlock(&bound->q);
	mail_free(msg);
	return result == WOKEN_BY_END ? -ESRCH : result;
}

/* Locked. */
static bool is_of(const struct bound *bound, const struct process *process,
		  sley_pid pid)
{
	/* If the process ends after this look, bound_close() waits. */
	return bound->owner == process && process_pid(process) == pid;
}

/*
 * A process that waits for itself would wait for ever.  And where timers fire
 * there is no task to wait, but a user's free function may be called there, and
 * send.
 */
static bool may_wait(const struct process *process, uint64_t deadline_ns)
{
	if (!deadline_ns || process == process_current() || timers_ringing())
		return false;
	return deadline_ns != UINT64_MAX || strand_current();
}

/* The bound of @to, locked; NULL: @to is gone. */
static struct bound *lock_bound(struct process *process, sley_pid to)
{
	struct bound *bound = load_acquire(&process->bound); /* BD1 */

	if (!bound)
		return NULL;
	(void)waitq_lock(&bound->q);
	if (is_of(bound, process, to))
		return bound;
	waitq_unlock(&bound->q);
	return NULL;
}

int bound_send(struct process *process, sley_pid to, struct sley_msg *msg,
	       uint64_t deadline_ns)
{
	struct bound *bound = lock_bound(process, to);
	struct batch batch = { msg, msg, 1 };

	if (!bound) {
		mail_free(msg);
		return -ESRCH;
	}
	if (has_room(bound, &batch))
		return put(bound, process, to, &batch);
	if (bound->overflow == SLEY_DROP_OLDEST)
		return drop_oldest(bound, process, to, &batch);
	if (bound->overflow == SLEY_REFUSE || !may_wait(process, deadline_ns))
		return refuse(bound, &batch);
	return wait_for_room(bound, msg, deadline_ns);
}

int bound_send_batch(struct process *process, sley_pid to,
		     const struct batch *batch)
{
	struct bound *bound = lock_bound(process, to);
	bool too_many = bound && batch->nr > bound->limit;

	if (!bound || too_many) {
		if (bound)
			waitq_unlock(&bound->q);
		free_batch(batch);
		return too_many ? -EMSGSIZE : -ESRCH;
	}
	if (has_room(bound, batch))
		return put(bound, process, to, batch);
	if (bound->overflow == SLEY_DROP_OLDEST)
		return drop_oldest(bound, process, to, batch);
	return refuse(bound, batch);
}

/* ---- the owner ------------------------------------------------------------------ */

/* Locked. */
static struct sley_msg *next(struct bound *bound, struct process *process)
{
	struct sley_msg *msg = take_oldest(bound);

	/* A marker that is still in the inbox makes the process look again. */
	if (!msg && (process->flags & PROCESS_NEWS)) {
		process->flags &= ~PROCESS_NEWS;
		bound->told = false;
	}
	return msg;
}

/*
 * Locked: there is room.  Take over the message of the first sender that waits.
 * Returns the task of that sender, to be queued, or NULL.
 */
static must_check struct sley_task *let_in(struct bound *bound,
					   struct process *process)
{
	struct waitq_woken woken = waitq_wake_first(&bound->q);

	if (!woken.any)
		return NULL;
	append(bound, &(struct batch){ woken.slot, woken.slot, 1 });
	/* The owner knows of the message: the owner is the caller. */
	if (!bound->told)
		process->flags |= PROCESS_NEWS;
	bound->told = true;
	return woken.task;
}

struct sley_msg *bound_take(struct process *process)
{
	struct bound *bound = process->bound;
	struct sley_task *task = NULL;
	struct sley_msg *msg;

	(void)waitq_lock(&bound->q);
	msg = next(bound, process);
	if (msg)
		task = let_in(bound, process);
	waitq_unlock(&bound->q);
	if (task)
		task_enqueue(task);
	return msg;
}

struct sley_msg *bound_take_aside(struct process *process, uint32_t *owed)
{
	struct bound *bound = process->bound;
	struct sley_msg *msg;

	(void)waitq_lock(&bound->q);
	*owed = bound->owed;
	bound->owed = 0;
	msg = next(bound, process);
	if (msg) {
		bound->aside++;
		msg->flags |= MAIL_COUNTED;
	}
	waitq_unlock(&bound->q);
	return msg;
}

void bound_delivered(struct process *process, struct sley_msg *msg)
{
	struct bound *bound = process->bound;
	struct sley_task *task = NULL;

	msg->flags &= (uint16_t)~MAIL_COUNTED;
	(void)waitq_lock(&bound->q);
	if (bound->owed) {
		bound->owed--;
		count_dropped(bound, -1);
	} else {
		bound->aside--;
		task = let_in(bound, process);
	}
	waitq_unlock(&bound->q);
	if (task)
		task_enqueue(task);
}

void bound_close(struct process *process)
{
	struct bound *bound = process->bound;
	struct sley_task *chain;
	struct mail_queue fifo;

	if (!bound)
		return;
	(void)waitq_lock(&bound->q);
	fifo = bound->fifo;
	bound->fifo.last = NULL;
	bound->owner = NULL;
	waitq_mark_all(&bound->q, WOKEN_BY_END);
	chain = waitq_wake_all(&bound->q);
	waitq_unlock(&bound->q);
	/* relaxed: a late sender finds the bound, or not; see is_of(). */
	store_relaxed(&process->bound, NULL);
	task_enqueue_chain(chain);
	mail_free_all(&fifo);
	object_pool_put(&pool, NULL, bound);
}

/* ---- others ----------------------------------------------------------------------- */

uint32_t bound_length(const struct process *process, uint64_t *dropped)
{
	const struct bound *bound = load_acquire(&process->bound); /* BD1 */

	*dropped = 0;
	if (!bound)
		return 0;
	/* relaxed: hints; the memory stays a bound, see bounded.h. */
	*dropped = load_relaxed(&bound->dropped);
	/* relaxed: as above. */
	return load_relaxed(&bound->nr);
}
