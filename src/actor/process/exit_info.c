/* SPDX-License-Identifier: MIT */
/*
 * exit_info.c - see exit_info.h; and the result that a process leaves.
 */
#include "actor/process/exit_info.h"

#include "actor/mail/blob.h"
#include "actor/relation/relation.h"

#include <errno.h>
#include <string.h>

void exit_info_copy(struct exit_info *to, const struct exit_info *from)
{
	*to = *from;
	if (to->result)
		blob_get(to->result);
}

void exit_info_drop(struct exit_info *ending)
{
	if (ending->result)
		sley_blob_put(ending->result);
}

/* ---- in the place of the process ---------------------------------------------------- */

void exit_info_keep(struct process *process, sley_pid pid,
		    const struct exit_info *ending)
{
	exit_info_copy(&process->ended, ending);
	process->ended.left = false;
	/* No actor is left that process_poke() could wake. */
	process->signals = 0;
	/* Written under the lock, and relied on only there. */
	process_set_pid(process, exit_info_mark(pid));
}

bool exit_info_leave(struct process *process)
{
	bool mine;

	spin_lock(&process->lock);
	mine = process_pid(process) == SLEY_NO_PID;
	if (!mine)
		process->ended.left = true;
	spin_unlock(&process->lock);
	return mine;
}

bool exit_info_collect(sley_pid pid, struct exit_info *ending)
{
	struct process *place = process_table_at(pid_index(pid));
	struct exit_info found;
	bool is_there;

	if (!place)
		return false;
	spin_lock(&place->lock);
	is_there = process_pid(place) == exit_info_mark(pid);
	if (is_there) {
		found = place->ended;
		process_set_pid(place, SLEY_NO_PID);
	}
	spin_unlock(&place->lock);
	if (!is_there)
		return false;
	if (found.left)
		process_table_put(place);
	if (ending)
		*ending = found;
	else
		exit_info_drop(&found);
	return true;
}

/* ---- the result --------------------------------------------------------------------- */

int sley_process_result(const void *data, size_t size)
{
	struct sley_blob *blob, *old;
	struct process *self;
	int err = relations_own(SLEY_NO_PID, &self);

	if (err)
		return err;
	if (size > UINT32_MAX)
		return -EMSGSIZE;
	blob = size ? sley_blob_create(size) : NULL;
	if (size && !blob)
		return -ENOMEM;
	if (blob)
		memcpy(sley_blob_data(blob), data, size);
	/* The process's own: others look at the result after the end. */
	old = self->relations->result;
	self->relations->result = blob;
	if (old)
		sley_blob_put(old);
	return 0;
}
