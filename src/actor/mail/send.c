/* SPDX-License-Identifier: MIT */
/*
 * send.c - messages that users send.
 */
#include "actor/mail/send.h"

#include "actor/mail/blob.h"
#include "actor/mail/bounded.h"
#include "core/task/turn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int send_message(sley_pid to, struct sley_msg *msg, uint64_t deadline_ns)
{
	struct process *process = process_find(to);

	/* relaxed: A1 of process.h; a later tenant's bound is never freed. */
	if (unlikely(process && load_relaxed(&process->bound) &&
		     !(to & PID_PORT)))
		return bound_send(process, to, msg, deadline_ns);
	return mail_send_to(process, to, msg);
}

static int send_copy(sley_pid to, uint64_t tag, const void *data, size_t size,
		     uint64_t deadline_ns)
{
	struct sley_msg *msg;
	int err = mail_create_copy(&msg, SLEY_MESSAGE, tag, data, size);

	if (err)
		return err;
	msg->from = sley_self();
	return send_message(to, msg, deadline_ns);
}

static noinline int send_slow(sley_pid to, uint64_t tag, const void *data,
			      size_t size)
{
	return send_copy(to, tag, data, size, UINT64_MAX);
}

static noinline int refused(struct sley_msg *msg)
{
	mail_free(msg);
	return -ESRCH;
}

static noinline int wake_slow(struct process *process)
{
	process_wake(process);
	return 0;
}

/* Up to 16 bytes, without a call. */
static inline void copy_inline(void *to, const void *from, size_t size)
{
	if (size >= 8) {
		memcpy(to, from, 8);
		memcpy((char *)to + size - 8, (const char *)from + size - 8, 8);
	} else if (size >= 4) {
		memcpy(to, from, 4);
		memcpy((char *)to + size - 4, (const char *)from + size - 4, 4);
	} else {
		for (size_t i = 0; i < size; i++)
			((char *)to)[i] = ((const char *)from)[i];
	}
}

static inline sley_pid sender(const struct worker *worker)
{
	struct sley_task *task = worker->strand->task;

	if (!task || !(task_flags(task) & TASK_PROCESS))
		return SLEY_NO_PID;
	return process_pid(container_of(task, struct process, task));
}

/*
 * The usual case in a single function without a frame: the unusual cases are left
 * to tail calls.
 */
int sley_send(sley_pid to, uint64_t tag, const void *data, size_t size)
{
	struct worker *worker = worker_current();
	struct process *process = process_find(to);
	enum inbox_answer answer;
	struct sley_msg *msg;

	/* relaxed: A1 of process.h; a later tenant's bound is never freed. */
	if (unlikely(!worker || !process || load_relaxed(&process->bound) ||
		     (to & PID_PORT) || size > SLEY_MSG_INLINE ||
		     !worker->cache[CACHE_MESSAGES].loaded.nr))
		return send_slow(to, tag, data, size);
	msg = mail_create_by(worker, SLEY_MESSAGE, tag);
	msg->data = (const void *)(uintptr_t)to;
	msg->from = sender(worker);
	msg->size = (uint32_t)size;
	copy_inline(msg->space, data, size);
	answer = inbox_put(&process->inbox, mail_node(msg));
	if (likely(answer == INBOX_TAKEN))
		return 0;
	if (likely(answer == INBOX_WAKE)) {
		if (likely(turn_wake_own(worker, process->home,
					 &process->task)))
			return 0;
		return wake_slow(process);
	}
	return refused(msg);
}

int sley_send_until(sley_pid to, uint64_t tag, const void *data, size_t size,
		    uint64_t deadline_ns)
{
	/* Plain threads wait, too; and 0 is a deadline that has passed. */
	if (deadline_ns == UINT64_MAX)
		deadline_ns = SEND_AT_LENGTH;
	return send_copy(to, tag, data, size, deadline_ns ? deadline_ns : 1);
}

/*
 * A message with @size bytes elsewhere.  After an error the bytes are the
 * caller's.
 */
static int create_outside(struct sley_msg **out, uint64_t tag, size_t size,
			  enum mail_storage storage, void *what)
{
	struct sley_msg *msg;

	if (size > UINT32_MAX)
		return -EMSGSIZE;
	msg = mail_create(SLEY_MESSAGE, tag);
	if (!msg)
		return -ENOMEM;
	msg->size = (uint32_t)size;
	msg->storage = (uint8_t)storage;
	msg->space[0] = (uintptr_t)what;
	*out = msg;
	return 0;
}

int sley_send_owned(sley_pid to, uint64_t tag, void *data, size_t size,
		    sley_free_fn *free_fn)
{
	struct sley_msg *msg;
	int err = create_outside(&msg, tag, size, MAIL_OWNED, data);

	if (!free_fn)
		free_fn = free;
	if (err) {
		free_fn(data);
		return err;
	}
	msg->space[1] = (uintptr_t)free_fn;
	msg->from = sley_self();
	return send_message(to, msg, UINT64_MAX);
}

int sley_send_blob(sley_pid to, uint64_t tag, struct sley_blob *blob)
{
	struct sley_msg *msg;
	int err = create_outside(&msg, tag, blob->size, MAIL_BLOB, blob);

	if (err)
		return err;
	blob_get(blob);
	msg->from = sley_self();
	return send_message(to, msg, UINT64_MAX);
}

static bool keep_of_many(struct delivery *delivery, const struct sley_msg *msg)
{
	for (uint32_t i = 0; i < delivery->nr; i++) {
		if (delivery->msg[i] == msg) {
			delivery->kept |= 1u << i;
			return true;
		}
	}
	return false;
}

/* A kept message may be freed at any time, and must not be in an inbox then. */
static bool keep_single(struct process *process, const struct sley_msg *msg)
{
	if (process->current != msg)
		return false;
	mail_sort(process);
	process->current = NULL;
	return true;
}

/*
 * The process forgets the message now: at the end of the step, or at the next
 * receive, the message may be freed, or its memory used for a new message.
 */
void sley_msg_keep(struct sley_msg *msg)
{
	struct process *process = process_current();

	if (msg->flags & MAIL_KEPT)
		return;
	sley_check(process && ((process->flags & PROCESS_MANY)
				       ? keep_of_many(process->delivery, msg)
				       : keep_single(process, msg)),
		   "the calling process did not receive this message, or has "
		   "received others since; keep a message in the step that got "
		   "it, or before the next receive");
	msg->flags |= MAIL_KEPT;
}

static void check_kept(const char *function, const struct sley_msg *msg)
{
	if (unlikely(!(msg->flags & MAIL_KEPT)))
		sley__misuse(function, "the message was not kept: call "
				       "sley_msg_keep() first");
}

void sley_msg_free(struct sley_msg *msg)
{
	if (!msg)
		return;
	check_kept(__func__, msg);
	mail_free(msg);
}

int sley_msg_forward(sley_pid to, struct sley_msg *msg)
{
	check_kept(__func__, msg);
	sley_check(msg->kind == SLEY_MESSAGE,
		   "only a message of the kind SLEY_MESSAGE can be forwarded");
	msg->flags &= (uint16_t)~MAIL_KEPT;
	return send_message(to, msg, UINT64_MAX);
}
