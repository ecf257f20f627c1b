/* SPDX-License-Identifier: MIT */
/*
 * event.h - for objects that contain an event, as a future does: sets an event whose
 * lock the caller holds, and waits that no cancel ends.
 */
#ifndef SLEY_SYNC_EVENT_H
#define SLEY_SYNC_EVENT_H

#include "base/compiler.h"
#include "core/wait/waitq.h"

#include <sley/sync.h>

/*
 * Set the event, which the caller has locked (waitq_lock() gave @word), unlock it
 * and wake the waiters.  The event is not touched after the unlock.
 */
void event_set_locked(struct sley_event *event, uint64_t word);

/* sley_event_wait_until() with flags, such as WAIT_SHIELDED. */
must_check int event_wait(struct sley_event *event, uint64_t deadline_ns,
			  enum wait_flags flags);

#endif
