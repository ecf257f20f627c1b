/* SPDX-License-Identifier: MIT */
/*
 * reminder.c - see reminder.h.
 */
#include "actor/supervisor/reminder.h"

#include "base/assert.h"

#include <string.h>

#include <sley/process.h>

#define REMINDER_TAG 0x72656d696e646572u

void reminder_init(struct reminder *reminder)
{
	*reminder = (struct reminder){ .kind = REMINDER_NONE };
	list_init(&reminder->late);
}

/* False: no memory. */
static bool post(struct reminder *reminder)
{
	return sley_post_at(sley_self(), REMINDER_TAG, &reminder,
			    sizeof(struct reminder *), reminder->when_ns,
			    &reminder->post) == 0;
}

void reminder_set(struct reminder *reminder, enum reminder_kind kind,
		  uint64_t when_ns, struct list *late)
{
	sley_assert(reminder->kind == REMINDER_NONE);
	reminder->kind = kind;
	reminder->when_ns = when_ns;
	if (!post(reminder))
		list_append(late, &reminder->late);
}

void reminder_clear(struct reminder *reminder)
{
	if (reminder->kind == REMINDER_NONE)
		return;
	reminder->kind = REMINDER_NONE;
	if (!list_empty(&reminder->late))
		list_remove(&reminder->late);
	else if (sley_post_cancel(reminder->post) != 0)
		reminder->stale++;
}

struct reminder *reminder_of(const struct sley_msg *msg)
{
	struct reminder *reminder = NULL;

	/* No other process can send in the name of this process. */
	if (msg->kind == SLEY_MESSAGE && msg->tag == REMINDER_TAG &&
	    msg->from == sley_self() && msg->size == sizeof(reminder))
		memcpy(&reminder, msg->data, sizeof(reminder));
	return reminder;
}

enum reminder_kind reminder_come(struct reminder *reminder)
{
	enum reminder_kind kind = reminder->kind;

	if (reminder->stale) {
		reminder->stale--;
		return REMINDER_NONE;
	}
	reminder->kind = REMINDER_NONE;
	return kind;
}

bool reminders_retry(struct list *late)
{
	struct list *first;

	while ((first = list_first(late))) {
		if (!post(container_of(first, struct reminder, late)))
			return false;
		list_remove(first);
	}
	return true;
}
