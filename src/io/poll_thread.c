/* SPDX-License-Identifier: MIT */
/*
 * poll_thread.c - see poll_thread.h.
 */
#include "io/poll_thread.h"

#include "core/life/sley.h"
#include "io/ready.h"
#include "os/epoll.h"
#include "os/eventfd.h"
#include "os/futex.h"
#include "os/shared_memory.h"
#include "os/thread.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define FIRST_CAPACITY 16u

struct poll_set {
	uint32_t capacity;
	struct pollfd entry[];
};

struct poll_thread {
	struct mem *mem;
	pthread_t pthread;
	int eventfd;
	uint32_t round;       /* odd: in poll(2); a futex                   */
	struct spinlock lock; /* of all that follows                        */
	bool ends;
	uint32_t nr;
	struct poll_set *set;  /* entry 0 is the eventfd                    */
	struct poll_set *copy; /* of the thread, in a round                 */
	struct poll_set *next; /* a larger copy, for the next round; or NULL */
};

/* ---- memory --------------------------------------------------------------------------- */

static size_t set_size(uint32_t capacity)
{
	return sizeof(struct poll_set) + capacity * sizeof(struct pollfd);
}

static struct poll_set *new_set(struct mem *mem, uint32_t capacity)
{
	struct poll_set *set = mem_alloc(mem, set_size(capacity));

	if (set)
		set->capacity = capacity;
	return set;
}

static void free_set(struct mem *mem, struct poll_set *set)
{
	if (set)
		mem_free(mem, set, set_size(set->capacity));
}

/* Without the lock: room for twice as many as @capacity.  0 or -ENOMEM. */
static int grow(struct poll_thread *thread, uint32_t capacity)
{
	struct poll_set *set = new_set(thread->mem, 2 * capacity);
	struct poll_set *copy = new_set(thread->mem, 2 * capacity);
	bool grows;

	if (!set || !copy) {
		free_set(thread->mem, set);
		free_set(thread->mem, copy);
		return -ENOMEM;
	}
	spin_lock(&thread->lock);
	grows = thread->set->capacity == capacity;
	if (grows) {
		struct poll_set *old_set = thread->set, *old = thread->next;

		memcpy(set->entry, old_set->entry,
		       thread->nr * sizeof(struct pollfd));
		thread->set = set;
		thread->next = copy;
		set = old_set;
		copy = old;
	}
	spin_unlock(&thread->lock);
	free_set(thread->mem, set);
	free_set(thread->mem, copy);
	return 0;
}

/* ---- the set, under the lock ------------------------------------------------------------ */

static struct pollfd *find(struct poll_thread *thread, int fd)
{
	for (uint32_t i = 1; i < thread->nr; i++) {
		if (thread->set->entry[i].fd == fd)
			return &thread->set->entry[i];
	}
	return NULL;
}

static short events_of(unsigned int bits)
{
	return (short)((bits & OS_EDGE_IN ? POLLIN : 0) |
		       (bits & OS_EDGE_OUT ? POLLOUT : 0));
}

/* @bits of @fd are not waited for any more. */
static void drop(struct poll_thread *thread, int fd, unsigned int bits)
{
	struct pollfd *entry = bits ? find(thread, fd) : NULL;

	if (!entry)
		return;
	entry->events &= (short)~events_of(bits);
	if (!(entry->events & (POLLIN | POLLOUT)))
		*entry = thread->set->entry[--thread->nr];
}

/* False: there is no room. */
static bool put(struct poll_thread *thread, int fd, short events)
{
	struct pollfd *entry = find(thread, fd);

	if (entry) {
		entry->events |= events;
		return true;
	}
	if (thread->nr == thread->set->capacity)
		return false;
	thread->set->entry[thread->nr++] =
		(struct pollfd){ .fd = fd, .events = events };
	return true;
}

/* ---- the thread ------------------------------------------------------------------------- */

/* The kernel reports these whether or not they are asked for. */
#define BOTH (POLLHUP | POLLERR | POLLNVAL)
#define SPECIAL (POLLRDHUP | POLLPRI | BOTH)

static unsigned int bits_of(short events)
{
	return (events & (POLLIN | SPECIAL) ? OS_EDGE_IN : 0u) |
	       (events & (POLLOUT | BOTH) ? OS_EDGE_OUT : 0u) |
	       (events & SPECIAL ? OS_EDGE_SPECIAL : 0u);
}

/* How many entries the round has; 0: the thread ends. */
static uint32_t begin_round(struct poll_thread *thread)
{
	struct poll_set *old = NULL;
	uint32_t nr;

	spin_lock(&thread->lock);
	if (thread->next) {
		old = thread->copy;
		thread->copy = thread->next;
		thread->next = NULL;
	}
	nr = thread->ends ? 0 : thread->nr;
	memcpy(thread->copy->entry, thread->set->entry,
	       nr * sizeof(struct pollfd));
	/* A closer of the last round may miss its end, and find this. */
	store_release(&thread->round, thread->round + 1); /* PT1 */
	spin_unlock(&thread->lock);
	free_set(thread->mem, old);
	return nr;
}

static void end_round(struct poll_thread *thread, uint32_t nr)
{
	spin_lock(&thread->lock);
	for (uint32_t i = 1; i < nr; i++) {
		const struct pollfd *entry = &thread->copy->entry[i];

		drop(thread, entry->fd, bits_of(entry->revents));
	}
	store_release(&thread->round, thread->round + 1); /* PT1 */
	spin_unlock(&thread->lock);
	os_futex_wake(&thread->round, INT_MAX);
}

static void report_edges(struct poll_thread *thread, uint32_t nr)
{
	for (uint32_t i = 1; i < nr; i++) {
		const struct pollfd *entry = &thread->copy->entry[i];

		if (entry->revents)
			ready_edge(table_find(&descriptor_table,
					      (uint32_t)entry->fd),
				   bits_of(entry->revents));
	}
}

static void *thread_main(void *arg)
{
	struct poll_thread *thread = arg;
	uint32_t nr;

	while ((nr = begin_round(thread))) {
		os_poll_many(thread->copy->entry, nr);
		if (thread->copy->entry[0].revents)
			os_eventfd_clear(thread->eventfd);
		end_round(thread, nr);
		report_edges(thread, nr);
	}
	return NULL;
}

/* ---- the others -------------------------------------------------------------------------- */

int poll_thread_watch(struct poll_thread *thread, int fd, unsigned int bits)
{
	short events =
		(short)(POLLRDHUP | POLLPRI | (bits & OS_EDGE_IN ? POLLIN : 0) |
			(bits & OS_EDGE_OUT ? POLLOUT : 0));
	uint32_t capacity;
	bool fits;
	int err = 0;

	do {
		spin_lock(&thread->lock);
		fits = put(thread, fd, events);
		capacity = thread->set->capacity;
		spin_unlock(&thread->lock);
		if (!fits)
			err = grow(thread, capacity);
	} while (!fits && !err);
	if (!err)
		os_eventfd_signal(thread->eventfd);
	return err;
}

void poll_thread_forget(struct poll_thread *thread, int fd)
{
	uint32_t round;

	spin_lock(&thread->lock);
	drop(thread, fd, OS_EDGE_IN | OS_EDGE_OUT);
	round = thread->round;
	spin_unlock(&thread->lock);
	if (!(round % 2))
		return;
	os_eventfd_signal(thread->eventfd);
	while (load_acquire(&thread->round) == round) /* PT1 */
		(void)os_futex_wait(&thread->round, round, UINT64_MAX);
}

static void free_thread(struct sley *rt, struct poll_thread *thread)
{
	if (thread->eventfd >= 0)
		os_close(thread->eventfd);
	free_set(&rt->mem, thread->set);
	free_set(&rt->mem, thread->copy);
	free_set(&rt->mem, thread->next);
	mem_free(&rt->mem, thread, sizeof(*thread));
}

static int begin(struct sley *rt, struct poll_thread *thread)
{
	char name[32];

	thread->mem = &rt->mem;
	thread->set = new_set(&rt->mem, FIRST_CAPACITY);
	thread->copy = new_set(&rt->mem, FIRST_CAPACITY);
	thread->eventfd = os_eventfd_create();
	if (!thread->set || !thread->copy)
		return -ENOMEM;
	if (thread->eventfd < 0)
		return thread->eventfd;
	thread->set->entry[0] =
		(struct pollfd){ .fd = thread->eventfd, .events = POLLIN };
	thread->nr = 1;
	(void)snprintf(name, sizeof(name), "%.10s-io", rt->config.name);
	return os_thread_start(&thread->pthread, name, thread_main, thread);
}

int poll_thread_start(struct sley *rt, struct poll_thread **out)
{
	struct poll_thread *thread = mem_alloc(&rt->mem, sizeof(*thread));
	int err;

	if (!thread)
		return -ENOMEM;
	err = begin(rt, thread);
	if (err)
		free_thread(rt, thread);
	else
		*out = thread;
	return err;
}

void poll_thread_end(struct sley *rt, struct poll_thread *thread)
{
	spin_lock(&thread->lock);
	thread->ends = true;
	spin_unlock(&thread->lock);
	os_eventfd_signal(thread->eventfd);
	os_thread_join(thread->pthread);
	free_thread(rt, thread);
}
