/* SPDX-License-Identifier: MIT */
/*
 * event.h - sets an event whose lock the caller holds.  For objects that contain an
 * event, as a future does.
 */
#ifndef SLEY_SYNC_EVENT_H
#define SLEY_SYNC_EVENT_H

#include <sley/sync.h>

/*
 * Set the event, which the caller has locked (waitq_lock() gave @word), unlock it
 * and wake the waiters.  The event is not touched after the unlock.
 */
void event_set_locked(struct sley_event *event, uint64_t word);

#endif
