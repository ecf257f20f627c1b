/* SPDX-License-Identifier: MIT */
/*
 * mail.c - see mail.h.
 */
#include "actor/mail/mail.h"

#include "actor/mail/blob.h"
#include "actor/mail/call.h"
#include "actor/command/command.h"
#include "actor/process/process.h"
#include "actor/mail/receive.h"
#include "actor/relation/relation.h"
#include "core/sched/place.h"
#include "core/task/turn.h"

#include <errno.h>
#include <sley/error.h>
#include <string.h>

_Static_assert(sizeof(struct sley_msg) == CACHE_LINE,
	       "a message is one cache line");
_Static_assert(offsetof(struct sley_msg, next) == 0,
	       "a message is a push_node by its first member");

struct object_pool sley__messages = {
	.object_size = sizeof(struct sley_msg),
	.chunk_objects = 1024,
};

/* ---- making and freeing --------------------------------------------------------- */

struct sley_msg *mail_create(unsigned int kind, uint64_t tag)
{
	return mail_create_by(worker_current(), kind, tag);
}

static noinline int copy_outside(struct sley_msg *msg, const void *data,
				 size_t size)
{
	void *copy = mem_alloc(&sley__program_mem, size);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, data, size);
	msg->storage = MAIL_COPY;
	msg->space[0] = (uintptr_t)copy;
	return 0;
}

int mail_create_copy(struct sley_msg **out, unsigned int kind, uint64_t tag,
		     const void *data, size_t size)
{
	struct sley_msg *msg;

	if (unlikely(size > UINT32_MAX))
		return -EMSGSIZE;
	msg = mail_create(kind, tag);
	if (unlikely(!msg))
		return -ENOMEM;
	msg->size = (uint32_t)size;
	if (likely(size <= SLEY_MSG_INLINE)) {
		if (size)
			memcpy(msg->space, data, size);
	} else if (copy_outside(msg, data, size)) {
		mail_free(msg);
		return -ENOMEM;
	}
	*out = msg;
	return 0;
}

static noinline void free_storage(struct sley_msg *msg)
{
	void *data = (void *)(uintptr_t)msg->space[0];
	sley_free_fn *free_fn = (sley_free_fn *)(uintptr_t)msg->space[1];

	switch (msg->storage) {
	case MAIL_COPY:
		mem_free(&sley__program_mem, data, msg->size);
		break;
	case MAIL_OWNED:
		free_fn(data);
		break;
	case MAIL_BLOB:
		sley_blob_put(data);
		break;
	case MAIL_RELATION:
		relation_free(msg);
		break;
	}
}

void mail_free(struct sley_msg *msg)
{
	uint8_t storage = msg->storage;

	if (unlikely(storage != MAIL_INLINE))
		free_storage(msg);
	if (likely(storage < MAIL_RELATION))
		object_pool_put(&sley__messages, mail_cache(worker_current()),
				msg);
}

void mail_free_all(struct mail_queue *queue)
{
	struct sley_msg *msg;

	while ((msg = mail_take(queue)))
		mail_free(msg);
}

/* ---- sending ---------------------------------------------------------------------- */

void process_wake(struct process *process)
{
	struct sley_task *task = &process->task;

	if (task_strand(task)) {
		task_turn_ready(task);
		task_enqueue(task);
	} else {
		turn_wake(process->home, task);
	}
}

int mail_put_chain(struct process *process, struct push_node *newest,
		   struct push_node *oldest)
{
	enum inbox_answer answer =
		inbox_put_chain(&process->inbox, newest, oldest);

	if (answer == INBOX_WAKE)
		process_wake(process);
	return unlikely(answer == INBOX_REFUSED) ? -ESRCH : 0;
}

int mail_put(struct process *process, struct push_node *node)
{
	return mail_put_chain(process, node, node);
}

int mail_send_to(struct process *process, sley_pid to, struct sley_msg *msg)
{
	if (unlikely(to & PID_PORT) && process)
		return port_deliver(process, to, msg);
	/* The receiver, until the message is taken out. */
	msg->data = (const void *)(uintptr_t)to;
	if (likely(process && !mail_put(process, mail_node(msg))))
		return 0;
	mail_free(msg);
	return -ESRCH;
}

int mail_send(sley_pid to, struct sley_msg *msg)
{
	return mail_send_to(process_find(to), to, msg);
}

int mail_send_back(struct sley_msg *msg, const void *data, size_t size)
{
	sley_pid to = msg->from;

	sley_assert(size <= SLEY_MSG_INLINE && (msg->flags & MAIL_KEPT));
	if (msg->storage != MAIL_INLINE)
		free_storage(msg);
	msg->storage = MAIL_INLINE;
	msg->size = (uint32_t)size;
	if (size)
		memcpy(msg->space, data, size);
	msg->flags = 0;
	msg->from = process_pid(process_current());
	return mail_send(to, msg);
}

/* ---- taking out -------------------------------------------------------------------- */

/* A signal: the process ends, or is told. */
static void sort_signal(struct process *process, struct sley_msg *msg)
{
	bool ends = msg->flags & MAIL_ENDS;
	int reason = msg->error;

	if (ends)
		mail_free(msg);
	else if (msg->kind != SLEY_EXIT || relation_arrived(process, msg))
		mail_append(&process->control, msg);
	if (ends)
		process_condemn(process, reason);
}

static noinline void sort_control(struct process *process, struct sley_msg *msg)
{
	switch (msg->kind) {
	case SLEY_CANCEL:
	case SLEY_EXIT:
		sort_signal(process, msg);
		break;
	case SLEY_DOWN:
		if (relation_arrived(process, msg))
			mail_append(&process->control, msg);
		break;
	case SLEY_DONE:
		if (!(process->flags & PROCESS_ACTOR) &&
		    yields_complete(process, msg->tag)) {
			mail_append(&process->control, msg);
		} else {
			process_adjust(&process->stray, 1);
			mail_free(msg);
		}
		break;
	case MAIL_TIMEOUT:
		receive_timed_out(msg);
		break;
	case MAIL_BOUND:
		process->flags |= PROCESS_NEWS;
		break;
	}
}

/* The runtime stops: as if the process were cancelled. */
static void sort_stop(struct process *process, bool is_told)
{
	struct sley_msg *msg = NULL;

	if (is_told)
		msg = mail_create(SLEY_CANCEL, 0);
	if (!msg) {
		process_condemn(process, -ECANCELED);
		return;
	}
	msg->error = -ECANCELED;
	mail_deliver(msg);
	mail_append(&process->control, msg);
}

/* Take the orders up to now: ->order may be put into the inbox again. */
static noinline void sort_order(struct process *process)
{
	unsigned int signals;

	spin_lock(&process->lock);
	signals = process->signals;
	process->signals &= (uint16_t) ~(SIGNAL_ORDER | SIGNAL_STOP);
	spin_unlock(&process->lock);
	if (signals & SIGNAL_KILLED)
		process_condemn(process, SLEY_EKILLED);
	else if (signals & SIGNAL_STOP)
		sort_stop(process, !(signals & SIGNAL_ENDS));
}

/* Node by node, the oldest first. */
static noinline void sort_each(struct process *process, struct push_node *node)
{
	sley_pid pid = process_pid(process);

	while (node) {
		struct sley_msg *msg = node_mail(node);
		struct push_node *this = node;

		node = node->next;
		if (unlikely(mail_is_order(process, this))) {
			sort_order(process);
		} else if (unlikely((uintptr_t)msg->data != pid)) {
			mail_free(msg); /* for an earlier tenant */
		} else if (likely(msg->kind == SLEY_MESSAGE)) {
			mail_append(&process->user, msg);
			process_adjust(&process->nr_user, 1);
		} else {
			sort_control(process, msg);
		}
	}
}

/* Is @node a message that a user sent to @pid?  Nearly all nodes are. */
static inline bool is_plain(const struct process *process,
			    const struct push_node *node, sley_pid pid)
{
	const struct sley_msg *msg = (const void *)node;

	return !mail_is_order(process, node) && (uintptr_t)msg->data == pid &&
	       msg->kind == SLEY_MESSAGE;
}

/*
 * There may be many messages, from other cores.  So each message is read only
 * once, while the chain is reversed.  If all messages are plain, the chain is
 * queued as it is.
 */
void mail_sort_new(struct process *process, struct push_node *newest,
		   const struct push_node *seen)
{
	sley_pid pid = process_pid(process);
	struct push_node *node = newest, *chain = NULL;
	bool plain = true;
	int nr = 0;

	for (; node != seen; nr++) {
		struct push_node *older = node->next;

		plain &= is_plain(process, node, pid);
		node->next = chain;
		chain = node;
		node = older;
	}
	if (unlikely(!plain)) {
		sort_each(process, chain);
	} else if (chain) {
		mail_append_chain(&process->user, node_mail(chain),
				  node_mail(newest));
		process_adjust(&process->nr_user, nr);
	}
}

void mail_deliver_outside(struct sley_msg *msg)
{
	void *what = (void *)(uintptr_t)msg->space[0];

	switch (msg->storage) {
	case MAIL_COPY:
	case MAIL_OWNED:
		msg->data = what;
		break;
	case MAIL_BLOB:
		msg->data = sley_blob_data(what);
		break;
	case MAIL_RELATION:
		/* The result of the process that has ended: process_monitor.c. */
		msg->data = what ? sley_blob_data(what) : NULL;
		break;
	default:
		msg->data = NULL;
	}
}
