/* SPDX-License-Identifier: MIT */
/*
 * mail.h - messages: how they are made, put into an inbox, and taken out again.
 *
 * A message is in these places, in turn:
 *
 *   the sender's hands   mail_create(), mail_send()
 *   an inbox             of the receiver.  Until the message is taken out, ->data is
 *                        the receiver's pid.  If the receiver has ended and another
 *                        process has its place in the table, that process gets the
 *                        message, finds a pid that is not its own, and drops it
 *   a queue              control or user, of the receiver: mail_sort()
 *   the receiver's code  delivered: freed after the step, or at the next receive,
 *                        unless the code keeps it: then the process forgets it
 *
 * A message of the runtime to a process has a kind of its own.  The code of the
 * process never sees these kinds:
 *
 *   MAIL_TIMEOUT  the deadline of a receive
 *   MAIL_BOUND    there are messages in the bounded mailbox (actor/mail/bounded.h)
 *
 * A SLEY_CANCEL or SLEY_EXIT with MAIL_ENDS ends the process instead
 * (actor/process/exit_signal.c).  One node in an inbox is not a message:
 * process->order, the order to end.
 *
 * SLEY_EXIT and SLEY_DOWN are parts of relations (actor/relation/relation.h),
 * which exist from the beginning, so that telling of an end needs no memory.
 */
#ifndef SLEY_ACTOR_MAIL_MAIL_H
#define SLEY_ACTOR_MAIL_MAIL_H

#include "base/compiler.h"
#include "core/sched/worker.h"
#include "lf/push_list.h"
#include "mem/object_pool.h"

#include <sley/message.h>

struct process;

enum mail_kind {
	MAIL_TIMEOUT = 16,
	MAIL_BOUND,
};

/* Where the bytes are, and which memory is freed with the message. */
enum mail_storage {
	MAIL_INLINE,   /* in ->space                                        */
	MAIL_COPY,     /* space[0]: where                                   */
	MAIL_OWNED,    /* space[0]: where, space[1]: the function that frees */
	MAIL_BLOB,     /* space[0]: the blob                                */
	MAIL_RELATION, /* the message is part of a relation                 */
	MAIL_EMBEDDED, /* the message is part of something else: not freed  */
};

#define MAIL_KEPT (1u << 0)    /* flags: the user's code has kept it      */
#define MAIL_ENDS (1u << 1)    /* the receiver ends                       */
#define MAIL_COUNTED (1u << 2) /* put aside: see actor/mail/bounded.h         */

/* First in, first out: a ring, in which the last message leads to the first. */
struct mail_queue {
	struct sley_msg *last; /* NULL: empty */
};

static inline bool mail_empty(const struct mail_queue *queue)
{
	return !queue->last;
}

static inline void mail_append(struct mail_queue *queue, struct sley_msg *msg)
{
	if (queue->last) {
		msg->next = queue->last->next;
		queue->last->next = msg;
	} else {
		msg->next = msg;
	}
	queue->last = msg;
}

/* Ahead of all other messages. */
static inline void mail_prepend(struct mail_queue *queue, struct sley_msg *msg)
{
	if (queue->last) {
		msg->next = queue->last->next;
		queue->last->next = msg;
	} else {
		msg->next = msg;
		queue->last = msg;
	}
}

/* All messages from @first to @last, which are linked. */
static inline void mail_append_chain(struct mail_queue *queue,
				     struct sley_msg *first,
				     struct sley_msg *last)
{
	if (queue->last) {
		last->next = queue->last->next;
		queue->last->next = first;
	} else {
		last->next = first;
	}
	queue->last = last;
}

/* Take out the message after @before, which is in the queue. */
static inline struct sley_msg *mail_take_after(struct mail_queue *queue,
					       struct sley_msg *before)
{
	struct sley_msg *msg = before->next;

	if (msg == before)
		queue->last = NULL;
	else if (msg == queue->last)
		queue->last = before;
	before->next = msg->next;
	return msg;
}

static inline struct sley_msg *mail_take(struct mail_queue *queue)
{
	return mail_empty(queue) ? NULL : mail_take_after(queue, queue->last);
}

/* @msg as a node of an inbox. */
static inline struct push_node *mail_node(struct sley_msg *msg)
{
	return (struct push_node *)(void *)msg;
}

static inline struct sley_msg *node_mail(struct push_node *node)
{
	return (struct sley_msg *)(void *)node;
}

extern struct object_pool sley__messages;

/* The cache of the calling thread; NULL: the thread is no worker. */
static inline struct object_pool_cache *mail_cache(struct worker *worker)
{
	return likely(worker) ? &worker->cache[CACHE_MESSAGES] : NULL;
}

/* A message of @kind without bytes; NULL: no memory. */
static inline must_check struct sley_msg *
mail_create_by(struct worker *worker, unsigned int kind, uint64_t tag)
{
	struct sley_msg *msg =
		object_pool_get(&sley__messages, mail_cache(worker));

	if (unlikely(!msg))
		return NULL;
	msg->from = SLEY_NO_PID;
	msg->tag = tag;
	msg->size = 0;
	msg->error = 0;
	msg->kind = (uint8_t)kind;
	msg->storage = MAIL_INLINE;
	msg->flags = 0;
	return msg;
}

must_check struct sley_msg *mail_create(unsigned int kind, uint64_t tag);

/* The same with a copy of @size bytes.  0, -ENOMEM or -EMSGSIZE. */
must_check int mail_create_copy(struct sley_msg **out, unsigned int kind,
				uint64_t tag, const void *data, size_t size);

/* Free @msg, of any kind and storage, with its bytes; also MAIL_RELATION. */
void mail_free(struct sley_msg *msg);

/* The user's code is done with @msg, and has not kept it. */
static inline void mail_done(struct worker *worker, struct sley_msg *msg)
{
	if (likely(msg->storage == MAIL_INLINE))
		object_pool_put(&sley__messages, mail_cache(worker), msg);
	else
		mail_free(msg);
}

void mail_free_all(struct mail_queue *queue);

/*
 * Put @msg into the inbox of @to, and wake @to.  The caller has set ->from.  0,
 * or -ESRCH: then @msg was freed.  Never waits, and knows no limits.
 */
int mail_send(sley_pid to, struct sley_msg *msg);

/* The same where process_find() has found @process, or NULL. */
int mail_send_to(struct process *process, sley_pid to, struct sley_msg *msg);

/* The same for any node, also process->order: 0, or -ESRCH; nothing is freed. */
must_check int mail_put(struct process *process, struct push_node *node);

/* The same for several nodes at once, linked from the newest to the oldest. */
must_check int mail_put_chain(struct process *process, struct push_node *newest,
			      struct push_node *oldest);

/*
 * Send @msg, which is kept, back to its sender, with up to SLEY_MSG_INLINE other
 * bytes: an answer that needs no memory.  As mail_send().
 */
int mail_send_back(struct sley_msg *msg, const void *data, size_t size);

/* @process was parked, and the caller has to wake it. */
void process_wake(struct process *process);

/*
 * By the process: sort the messages that came out of the inbox, from @newest down
 * to @seen.  Act on messages of the runtime, and queue the messages that the
 * user's code is to see.
 */
void mail_sort_new(struct process *process, struct push_node *newest,
		   const struct push_node *seen);

void mail_deliver_outside(struct sley_msg *msg);

/* From now on the user's code looks at @msg. */
static inline void mail_deliver(struct sley_msg *msg)
{
	if (likely(msg->storage == MAIL_INLINE))
		msg->data = msg->size ? msg->space : NULL;
	else
		mail_deliver_outside(msg);
}

#endif
