/* SPDX-License-Identifier: MIT */
/*
 * thread_wait.c - see thread_wait.h.
 */
#include "io/thread_wait.h"

#include "base/list.h"
#include "core/wait/wait.h"
#include "lf/spin.h"
#include "os/at_fork.h"
#include "os/clock.h"
#include "os/eventfd.h"
#include "os/shared_memory.h"

struct thread_waiter {
	struct list link;
	int fd;
	int eventfd;
};

static struct spinlock lock;
static struct list waiters = { &waiters, &waiters }; /* under the lock */

static void renew(void)
{
	lock = (struct spinlock){ 0 };
	list_init(&waiters);
}

FORK_PART(FORK_THREAD_WAITS, .renew = renew);

static void enter(struct thread_waiter *waiter)
{
	list_init(&waiter->link);
	spin_lock(&lock);
	list_append(&waiters, &waiter->link);
	spin_unlock(&lock);
}

static void leave(struct thread_waiter *waiter)
{
	spin_lock(&lock);
	list_remove(&waiter->link);
	spin_unlock(&lock);
}

void thread_waits_end(int fd)
{
	spin_lock(&lock);
	for (struct list *link = waiters.next; link != &waiters;
	     link = link->next) {
		const struct thread_waiter *waiter =
			container_of(link, struct thread_waiter, link);

		if (waiter->fd == fd)
			os_eventfd_signal(waiter->eventfd);
	}
	spin_unlock(&lock);
}

int thread_wait(struct io_descriptor *descriptor, int fd, short events,
		uint64_t deadline_ns)
{
	struct thread_waiter waiter = { .fd = fd };
	int err = wait_refused_slow(deadline_ns, 0);
	bool ready;

	if (err)
		return err;
	waiter.eventfd = os_eventfd_create();
	if (waiter.eventfd < 0)
		return waiter.eventfd;
	enter(&waiter);
	ready = !descriptor_closes(descriptor) &&
		os_fd_wait(fd, events, waiter.eventfd, deadline_ns);
	leave(&waiter);
	os_close(waiter.eventfd);
	if (descriptor_closes(descriptor))
		return -EBADF;
	return ready || os_now() < deadline_ns ? 0 : -ETIMEDOUT;
}
