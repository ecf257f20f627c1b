/* SPDX-License-Identifier: MIT */
/*
 * ring_call.c - see ring_call.h.
 */
#include "io/ring_call.h"

#include "core/sched/place.h"
#include "core/task/countdown.h"
#include "core/wait/wait.h"

#define TAKE_AT_ONCE 32
#define MARK_CANCEL                                                            \
	1u /* in the address of a record: the completion of a cancel */

/* In the frame of the caller. */
struct record {
	struct sley_waitq pending; /* counts completions */
	int result;
};

void ring_calls_init(struct ring_calls *calls)
{
	calls->nr_places = RING_PLACES;
}

/* ---- places --------------------------------------------------------------------------- */

/* A place that is given back goes to the first waiter. */
static int take_place(struct ring_calls *calls, uint64_t deadline_ns,
		      enum wait_flags flags)
{
	struct sley_waiter node;
	int result;

	(void)waitq_lock(&calls->room);
	if (likely(calls->nr_places)) {
		calls->nr_places--;
		waitq_unlock(&calls->room);
		return 0;
	}
	result = waitq_wait(&calls->room, &node, deadline_ns, flags);
	if (result < 0)
		waitq_unlock(&calls->room);
	return result < 0 ? result : 0;
}

static void give_place(struct ring_calls *calls)
{
	struct waitq_woken woken;

	(void)waitq_lock(&calls->room);
	woken = waitq_wake_first(&calls->room);
	if (!woken.any)
		calls->nr_places++;
	waitq_unlock(&calls->room);
	if (woken.task)
		task_enqueue(woken.task);
}

/* ---- the caller ------------------------------------------------------------------------ */

static bool is_passing(int err)
{
	return err == -EAGAIN || err == -ENOMEM || err == -EBUSY;
}

/* @file NULL: a cancel of @record.  True: the kernel has taken it. */
static bool submit(struct ring_calls *calls, const struct os_file_call *file,
		   struct record *record)
{
	uint64_t mark = (uintptr_t)record;
	int err;

	countdown_add(&record->pending, 1);
	(void)add_release(&calls->submitted, 1); /* RK1 */
	spin_lock(&calls->submitting);
	err = file ? os_uring_file_submit(&calls->kernel, file, mark)
		   : os_uring_file_cancel(&calls->kernel, mark,
					  mark | MARK_CANCEL);
	spin_unlock(&calls->submitting);
	if (!err)
		return true;
	(void)countdown_done(&record->pending);
	if (!is_passing(err))
		/* relaxed: a hint; the kernel says so to each submitter. */
		store_relaxed(&calls->denied, 1);
	return false;
}

static bool was_taken_back(const struct record *record)
{
	return record->result == -ECANCELED || record->result == -EINTR;
}

/* The call was submitted: 0, or the reason why nothing was done. */
static int await(struct ring_calls *calls, struct record *record,
		 uint64_t deadline_ns, enum wait_flags flags)
{
	int reason = countdown_wait(&record->pending, deadline_ns, flags);

	if (likely(!reason))
		return 0;
	(void)submit(calls, NULL, record);
	(void)!countdown_wait(&record->pending, UINT64_MAX, WAIT_SHIELDED);
	return was_taken_back(record) ? reason : 0;
}

/*
 * A result that asks for a second call: -EAGAIN of a file with O_NONBLOCK, and -EINTR
 * without a cancel, say that nothing was done.
 */
static bool asks_again(const struct record *record)
{
	return record->result == -EAGAIN || was_taken_back(record);
}

static int call_in_place(struct ring_calls *calls,
			 const struct os_file_call *file, uint64_t deadline_ns,
			 enum wait_flags flags, ssize_t *result)
{
	struct record record = { .result = 0 };
	int err;

	if (!submit(calls, file, &record))
		return RING_REFUSES;
	err = await(calls, &record, deadline_ns, flags);
	if (err)
		return err;
	*result = record.result;
	return asks_again(&record) ? RING_REFUSES : 0;
}

int ring_call(struct ring_calls *calls, const struct os_file_call *file,
	      uint64_t deadline_ns, enum wait_flags flags, ssize_t *result)
{
	int err = wait_refused_slow(deadline_ns, flags);

	if (err)
		return err;
	/* relaxed: see submit(). */
	if (!os_uring_file_takes(&calls->kernel, file) ||
	    load_relaxed(&calls->denied))
		return RING_REFUSES;
	err = take_place(calls, deadline_ns, flags);
	if (err)
		return err;
	err = call_in_place(calls, file, deadline_ns, flags, result);
	give_place(calls);
	return err;
}

/* ---- the taker ---------------------------------------------------------------------------- */

static void complete(const struct os_uring_done *done)
{
	struct record *record =
		(struct record *)(uintptr_t)(done->mark &
					     ~(uint64_t)MARK_CANCEL);

	if (!(done->mark & MARK_CANCEL))
		record->result = done->result;
	(void)countdown_done(&record->pending); /* C1 */
}

bool ring_calls_take(struct ring_calls *calls)
{
	struct os_uring_done done[TAKE_AT_ONCE];
	unsigned int nr =
		os_uring_file_take(&calls->kernel, done, TAKE_AT_ONCE);

	(void)load_acquire(&calls->submitted); /* RK1 */
	for (unsigned int i = 0; i < nr; i++)
		complete(&done[i]);
	return nr == TAKE_AT_ONCE;
}
