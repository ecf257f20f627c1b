/* SPDX-License-Identifier: MIT */
/*
 * add_remove.c - add and remove children of a supervisor; see supervisor.h.
 */
#include "actor/supervisor/supervisor.h"

#include "core/sched/worker.h"

#include <errno.h>
#include <string.h>

/* Add a child: 0, or an error; then there is no such child. */
static int enlist(struct supervisor *supervisor, const struct sley_child *spec,
		  struct child **out)
{
	struct mem *mem = &supervisor->rt->mem;
	struct child *child = child_create(mem, spec);
	int err;

	*out = child;
	if (!child)
		return -ENOMEM;
	children_append(&supervisor->children, child);
	err = children_start(&supervisor->children, child, mem);
	if (err && spec->optional) {
		supervisor_failed(supervisor, child, err, false);
		return 0;
	}
	if (err)
		supervisor_forget(supervisor, child);
	return err;
}

/* ---- the first children ----------------------------------------------------------- */

static int enlist_all(struct supervisor *supervisor,
		      const struct sley_child *spec, size_t nr)
{
	struct child *child;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		uint32_t count = spec[i].count ? spec[i].count : 1;

		while (count-- && !err)
			err = enlist(supervisor, &spec[i], &child);
	}
	return err;
}

void supervisor_start(struct supervisor *supervisor, struct sley_msg *msg)
{
	int err = enlist_all(supervisor, msg->data,
			     msg->size / sizeof(struct sley_child));

	if (!err) {
		sley_msg_keep(msg);
		(void)mail_send_back(msg, NULL, 0);
		return;
	}
	/* The caller gets the reason of the supervisor's end. */
	supervisor->unstarted = true;
	supervisor_stop(supervisor, err);
}

/* ---- adding ----------------------------------------------------------------------- */

/* Consumes @msg, which is kept.  -ESRCH: the caller does not wait any more. */
static int answer(struct sley_msg *msg, int error, sley_pid pid)
{
	struct supervisor_answer text = { .error = error, .pid = pid };

	_Static_assert(sizeof(text) <= SLEY_MSG_INLINE, "needs no memory");
	return mail_send_back(msg, &text, sizeof(text));
}

/* End @child, if it lives, and forget it then. */
static void discharge(struct supervisor *supervisor, struct child *child)
{
	child->removed = true;
	if (child->state == CHILD_ALIVE)
		supervisor_end_child(supervisor, child);
	if (!child_lives(child))
		supervisor_removed(supervisor, child);
}

static void add(struct supervisor *supervisor, struct sley_msg *msg)
{
	struct child *child;
	int err = enlist(supervisor, msg->data, &child);

	/* A caller that does not wait any more does not want the child. */
	if (answer(msg, err, err ? SLEY_NO_PID : child->pid) != 0 && !err)
		discharge(supervisor, child);
}

void supervisor_add(struct supervisor *supervisor, struct sley_msg *msg)
{
	sley_msg_keep(msg);
	if (supervisor->phase == SUPERVISOR_UP)
		add(supervisor, msg);
	else
		mail_append(&supervisor->adds, msg);
}

void supervisor_serve_adds(struct supervisor *supervisor)
{
	struct sley_msg *msg;

	while (supervisor->phase == SUPERVISOR_UP &&
	       (msg = mail_take(&supervisor->adds)))
		add(supervisor, msg);
}

/* ---- removing --------------------------------------------------------------------- */

void supervisor_removed(struct supervisor *supervisor, struct child *child)
{
	struct sley_msg *msg;

	while ((msg = mail_take(&child->removers)))
		(void)answer(msg, 0, child->pid);
	supervisor_forget(supervisor, child);
}

void supervisor_remove(struct supervisor *supervisor, struct sley_msg *msg)
{
	struct child *child;
	sley_pid pid;

	memcpy(&pid, msg->data, sizeof(pid));
	child = children_find_ever(&supervisor->children, pid);
	sley_msg_keep(msg);
	if (!child) {
		(void)answer(msg, -ENOENT, SLEY_NO_PID);
		return;
	}
	mail_append(&child->removers, msg);
	discharge(supervisor, child);
}
