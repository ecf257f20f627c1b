/* SPDX-License-Identifier: MIT */
/*
 * reminder.h - something that a supervisor has to do at a certain time.
 *
 * A reminder sends a delayed message (sley_post_at()) to the process that sets
 * the reminder.  The message says which reminder it belongs to.  A message that
 * was cancelled too late comes all the same: it is counted in ->stale, and
 * ignored when it comes.  The messages of a reminder come in the order in which
 * they were sent, so the stale messages are the first.  Until they have come the
 * reminder must stay where it is.
 *
 * Where there is no memory for the delayed message the reminder is put on a list,
 * and tried again (reminders_retry()).
 */
#ifndef SLEY_ACTOR_SUPERVISOR_REMINDER_H
#define SLEY_ACTOR_SUPERVISOR_REMINDER_H

#include "base/compiler.h"
#include "base/list.h"

#include <sley/message.h>
#include <sley/post.h>

#include <stdbool.h>
#include <stdint.h>

/* The work that is due. */
enum reminder_kind {
	REMINDER_NONE,    /* not set                                 */
	REMINDER_START,   /* a child is to be started again          */
	REMINDER_KILL,    /* a child has not ended in time           */
	REMINDER_REGROUP, /* several children are to be started again */
};

struct reminder {
	struct list late; /* no memory for the message           */
	sley_post post;   /* unless late                         */
	uint64_t when_ns;
	uint32_t kind;  /* enum reminder_kind                  */
	uint32_t stale; /* messages that will come for nothing */
};

void reminder_init(struct reminder *reminder);

/* @reminder must not be set. */
void reminder_set(struct reminder *reminder, enum reminder_kind kind,
		  uint64_t when_ns, struct list *late);

/* @reminder need not be set. */
void reminder_clear(struct reminder *reminder);

/*
 * The reminder of the calling process that @msg belongs to; NULL: @msg is a
 * different message.
 */
must_check struct reminder *reminder_of(const struct sley_msg *msg);

/* A message of @reminder has come: the work that is due; NONE: it is stale. */
must_check enum reminder_kind reminder_come(struct reminder *reminder);

/* Try to send the late messages.  False: some are still late. */
must_check bool reminders_retry(struct list *late);

#endif
