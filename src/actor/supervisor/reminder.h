/* SPDX-License-Identifier: MIT */
/*
 * reminder.h - something that a supervisor has to do at a certain time.
 *
 * A reminder posts a message to the process that sets it (sley_post_at()), which
 * says which reminder it is.  What was called off too late comes all the same: it
 * is counted in ->stale, and ignored when it comes.  Messages of one reminder come
 * in the order in which they were posted, so the stale ones are the first.  Until
 * they have come the reminder must stay where it is.
 *
 * Where there is no memory for the post the reminder is put on a list, and tried
 * again (reminders_retry()).
 */
#ifndef SLEY_ACTOR_SUPERVISOR_REMINDER_H
#define SLEY_ACTOR_SUPERVISOR_REMINDER_H

#include "base/compiler.h"
#include "base/list.h"

#include <sley/message.h>
#include <sley/post.h>

#include <stdbool.h>
#include <stdint.h>

/* Of what. */
enum reminder_kind {
	REMINDER_NONE,    /* it is not set                           */
	REMINDER_START,   /* a child is to be started again          */
	REMINDER_KILL,    /* a child has not ended in its time       */
	REMINDER_REGROUP, /* several children are to be started again */
};

struct reminder {
	struct list late; /* no memory for its post              */
	sley_post post;   /* unless it is late                   */
	uint64_t when_ns;
	uint32_t kind;  /* enum reminder_kind                  */
	uint32_t stale; /* messages that will come for nothing */
};

void reminder_init(struct reminder *reminder);

/* It must not be set. */
void reminder_set(struct reminder *reminder, enum reminder_kind kind,
		  uint64_t when_ns, struct list *late);

/* It need not be. */
void reminder_clear(struct reminder *reminder);

/*
 * @msg is one of a reminder of the calling process: which?  NULL: it is something
 * else.
 */
must_check struct reminder *reminder_of(const struct sley_msg *msg);

/* The message of @reminder has come.  What is to be done; NONE: it is stale. */
must_check enum reminder_kind reminder_come(struct reminder *reminder);

/* Try to post those that are late.  False: some still are. */
must_check bool reminders_retry(struct list *late);

#endif
