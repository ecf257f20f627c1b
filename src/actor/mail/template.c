/* SPDX-License-Identifier: MIT */
/*
 * template.c - see template.h.
 */
#include "actor/mail/template.h"

#include "actor/mail/blob.h"
#include "actor/mail/bounded.h"
#include "actor/process/process.h"

#include <errno.h>
#include <string.h>

/* The bytes, if they do not fit into @msg. */
static int fill_outside(struct sley_msg *msg, const void *data, size_t size)
{
	struct sley_blob *blob = sley_blob_create(size);

	if (!blob)
		return -ENOMEM;
	memcpy(sley_blob_data(blob), data, size);
	msg->storage = MAIL_BLOB;
	msg->space[0] = (uintptr_t)blob;
	return 0;
}

int template_create(struct sley_msg **pattern, uint64_t tag, const void *data,
		    size_t size)
{
	struct sley_msg *msg;
	int err = 0;

	if (size > UINT32_MAX)
		return -EMSGSIZE;
	msg = mail_create(SLEY_MESSAGE, tag);
	if (!msg)
		return -ENOMEM;
	if (size > SLEY_MSG_INLINE)
		err = fill_outside(msg, data, size);
	else if (size)
		memcpy(msg->space, data, size);
	if (err) {
		mail_free(msg);
		return err;
	}
	msg->size = (uint32_t)size;
	msg->from = sley_self();
	*pattern = msg;
	return 0;
}

struct sley_msg *template_copy(const struct sley_msg *pattern)
{
	struct sley_msg *msg = mail_create(pattern->kind, pattern->tag);

	if (!msg)
		return NULL;
	msg->from = pattern->from;
	msg->size = pattern->size;
	msg->storage = pattern->storage;
	memcpy(msg->space, pattern->space, sizeof(msg->space));
	if (msg->storage == MAIL_BLOB)
		blob_get((struct sley_blob *)(uintptr_t)msg->space[0]);
	return msg;
}

int template_send(sley_pid to, struct sley_msg *msg)
{
	struct process *process = process_find(to);

	/* relaxed: as in send.c. */
	if (process && !(to & PID_PORT) && load_relaxed(&process->bound))
		return bound_send(process, to, msg, 0);
	return mail_send(to, msg);
}
