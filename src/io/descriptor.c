/* SPDX-License-Identifier: MIT */
/*
 * descriptor.c - see descriptor.h.
 */
#include "io/descriptor.h"

#include "core/sched/place.h"
#include "core/trace/report.h"
#include "core/wait/wait.h"
#include "io/file.h"
#include "io/reactor.h"
#include "io/ready.h"
#include "io/thread_wait.h"
#include "os/at_fork.h"
#include "os/network.h"

void *sley__descriptors[DESCRIPTOR_CHUNKS];

static struct io_descriptor *find(int fd)
{
	return fd < 0 ? NULL : table_find(&descriptor_table, (uint32_t)fd);
}

/* ---- users -------------------------------------------------------------------------- */

int descriptor_enter_slow(int fd, struct io_descriptor **out)
{
	int err;

	if (fd < 0 || (uint32_t)fd >= DESCRIPTOR_CHUNKS * DESCRIPTOR_CHUNK)
		return -EBADF;
	err = table_make(&descriptor_table, (uint32_t)fd);
	return err ? err : descriptor_enter(fd, out);
}

/* Until the closer has taken the bits away. */
static void wait_until_gone(struct io_descriptor *descriptor)
{
	struct sley_waitq *q = &descriptor->side[IO_IN].q;
	struct sley_waiter node;

	for (;;) {
		(void)waitq_lock(q);
		/* relaxed: the lock, as in is_over(); the entry has DS2. */
		if (!(load_relaxed(&descriptor->users) & DESCRIPTOR_GOING))
			break;
		(void)!waitq_wait(q, &node, UINT64_MAX, WAIT_SHIELDED);
	}
	waitq_unlock(q);
}

int descriptor_enter_later(int fd, struct io_descriptor **out)
{
	wait_until_gone(*out);
	return descriptor_enter(fd, out);
}

static void wake_list(struct sley_waitq *q)
{
	uint64_t word = waitq_lock(q);
	struct sley_task *chain = waitq_wake_all(q);

	waitq_unlock_as(q, word);
	task_enqueue_chain(chain);
}

/* The closer is the only waiter of this list by now. */
void descriptor_wake_closer(struct io_descriptor *descriptor)
{
	wake_list(&descriptor->side[IO_OUT].q);
}

/* By the closer, which is no user. */
static void wait_for_users(struct io_descriptor *descriptor)
{
	struct sley_waitq *q = &descriptor->side[IO_OUT].q;
	struct sley_waiter node;

	for (;;) {
		(void)waitq_lock(q);
		if (load_acquire(&descriptor->users) == /* DS1 */
		    DESCRIPTOR_CLOSING)
			break;
		(void)!waitq_wait(q, &node, UINT64_MAX, WAIT_SHIELDED);
	}
	waitq_unlock(q);
}

/* ---- traits ------------------------------------------------------------------------- */

uint32_t descriptor_ask_traits(struct io_descriptor *descriptor, int fd)
{
	struct os_fd_traits found = os_fd_traits(fd);
	/*
	 * An append is one write: it is not tried, since a try may end halfway.
	 * And past the page cache a try waits for the disk: the kernel refuses
	 * only where the request could not even be queued.
	 */
	uint32_t traits =
		TRAIT_KNOWN | (uint32_t)found.kind |
		(found.nonblocking ? TRAIT_NONBLOCKING : 0) |
		(found.writable ? TRAIT_WRITABLE : 0) |
		(found.appends ? TRAIT_NO_TRY_WRITE : 0) |
		(found.direct ? TRAIT_NO_TRY_READ | TRAIT_NO_TRY_WRITE : 0);

	if (found.kind != OS_FD_CLOSED)
		/* relaxed: see descriptor_traits(). */
		store_relaxed(&descriptor->traits, traits);
	return traits;
}

/* ---- its life ----------------------------------------------------------------------- */

/* Nothing of the last file is left; but the numbers of edges go on. */
static void make_empty(struct io_descriptor *descriptor)
{
	/* relaxed: DS2 publishes it; a reader of today uses a closed number. */
	store_relaxed(&descriptor->traits, 0);
	for (int i = 0; i < NR_IO_DIRECTIONS; i++)
		side_renew(&descriptor->side[i]);
}

/* A plain thread has no runtime to report to. */
static void report_plain_close(int fd, const char *call)
{
	const struct worker *worker = worker_current();

	if (worker)
		report(worker->rt,
		       "%s() got descriptor %d, which was closed by close(): a "
		       "descriptor that a call of <sley/io.h> has used is "
		       "closed by sley_io_close(), or a later wait for it may "
		       "never end",
		       call, fd);
}

int descriptor_is_new(int fd, const char *call)
{
	struct io_descriptor *descriptor = find(fd);

	if (!descriptor)
		return table_make(&descriptor_table, (uint32_t)fd);
	/* relaxed: the number is new, and no thread but this one has it. */
	if (likely(!(load_relaxed(&descriptor->traits) & TRAIT_KNOWN) &&
		   !descriptor_reactors(descriptor))) {
		/* relaxed: as above. */
		store_relaxed(&descriptor->traits, 0);
		return 0;
	}
	reactors_forget(descriptor, fd);
	make_empty(descriptor);
	report_plain_close(fd, call);
	return 0;
}

void descriptor_note_reading(int fd)
{
	descriptor_add_traits(find(fd), TRAIT_OPENED_TO_READ);
}

/* A place also for a number that no call has used: the first may come meanwhile. */
static struct io_descriptor *find_or_make(int fd)
{
	if (fd >= 0 && !find(fd) && table_make(&descriptor_table, (uint32_t)fd))
		return NULL;
	return find(fd);
}

/* Does the close of @fd wait for its peer? */
static bool lingers(int fd, uint32_t traits)
{
	enum os_fd_kind kind = traits_kind(traits);

	return (!traits || kind == OS_FD_TCP || kind == OS_FD_SOCKET) &&
	       os_lingers(fd);
}

/*
 * Steps 5 and 6.  A socket that lingers gets a second number, which no caller has, and
 * which is closed last: so the first number is free at once.  If there is no second
 * number, the next owner of the first waits, too.
 */
static int give_back(struct io_descriptor *descriptor, int fd, uint32_t traits)
{
	bool slow = lingers(fd, traits);
	int second = slow ? os_dup(fd) : -1, err, err_second;

	/* relaxed: a caller that finds it goes to sleep for DS2. */
	(void)or_relaxed(&descriptor->users, DESCRIPTOR_GOING);
	err = slow && second < 0 ? file_close_slowly(fd)
				 : file_close(fd, traits);
	(void)and_release(&descriptor->users, /* DS2 */
			  ~(DESCRIPTOR_CLOSING | DESCRIPTOR_GOING));
	wake_list(&descriptor->side[IO_IN].q);
	if (second < 0)
		return err;
	err_second = file_close_slowly(second);
	return err ? err : err_second;
}

int descriptor_close(int fd)
{
	struct io_descriptor *descriptor = find_or_make(fd);
	uint32_t users, traits;

	if (!descriptor)
		return file_close(fd, 0);
	while ((users = or_release(&descriptor->users, /* DS3 */
				   DESCRIPTOR_CLOSING)) &
	       DESCRIPTOR_CLOSING) {
		if (!(users & DESCRIPTOR_GOING))
			return -EBADF;
		wait_until_gone(descriptor);
	}
	ready_close(descriptor);
	thread_waits_end(fd);
	wait_for_users(descriptor);
	reactors_forget(descriptor, fd);
	/* relaxed: DS1. */
	traits = load_relaxed(&descriptor->traits);
	make_empty(descriptor);
	return give_back(descriptor, fd, traits);
}

/* ---- fork() --------------------------------------------------------------------------- */

static void renew_place(void *place)
{
	*(struct io_descriptor *)place = (struct io_descriptor){ 0 };
}

static void renew(void)
{
	table_walk(&descriptor_table, DESCRIPTOR_CHUNKS * DESCRIPTOR_CHUNK,
		   renew_place);
}

FORK_PART(FORK_DESCRIPTORS, .renew = renew);
